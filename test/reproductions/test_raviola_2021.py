# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Raviola et al. 2021: identities of what is printed, and the claims that take no search."""

from dataclasses import replace
import re

from long_tests import long_test
import numpy as np
import pytest
from reproductions.paper import Paper
from reproductions.raviola_2021 import (
    claim_arithmetic, claim_structure, delay_effort, deviation_of_lists, draw_validation,
    experiment_of, find_structure, identify_run, implied_viscous, load_arm,
    manufacturer_parameters, manufacturer_torque, MOUNTINGS, parse_row, printed,
    published_observations, random_singular_values, rank_of, record, REFLECTED_INERTIA, ROBOTS,
    rotor_inertias, Score, shares_of, similar, temperatures_at, true_slopes, unit_errors,
    viscous_at,
)
from robot_identification.excitation.certificate import experiment_content
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.base_parameters import random_motion
from robot_identification.model.regressor import rigid_torque
from robot_identification.studies.comparison.comparison import compare_models


@pytest.fixture(scope='module')
def claims():
    """Return the claims that take no search and no simulation."""
    structures = {
        (name, mounting): find_structure(name, mounting)
        for name in ROBOTS for mounting in MOUNTINGS
    }
    singular = {
        mounting: random_singular_values(structures['ur5', mounting])
        for mounting in ('ground', 'wall')
    }
    paper = Paper('raviola_2021')
    claim_structure(paper, structures, singular)
    structural = len(paper.claims)
    claim_arithmetic(paper)
    return paper.claims[:structural], paper.claims


@pytest.fixture(scope='module')
def trajectory():
    drawn = draw_validation('ur5')
    return Trajectory('ur5', drawn.joint_names, drawn.form, drawn.coefficients, 1, {})


@pytest.fixture(scope='module')
def runs(trajectory):
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    robot = load_arm('ur5')
    return [
        record(robot, trajectory, share=share, seed=seed)
        for seed, share in enumerate((0.0, 1.0), start=1)
    ]


@pytest.fixture(scope='module')
def models(runs):
    return [identify_run(load_arm('ur5'), run).model for run in runs]


# --- what is printed ------------------------------------------------------------------------


def test_a_row_of_the_lists_is_read():
    numbers = {'1/a2': 2.0, '2 d4': 0.3}
    assert parse_row('mz2 + 1/a2 Ixz2 - 2 d4 my4 - Iyy3', numbers) == {
        'mz2': 1.0, 'Ixz2': 2.0, 'my4': -0.3, 'Iyy3': -1.0,
    }


@pytest.mark.parametrize('name', ROBOTS)
def test_robots_of_the_package_are_those_of_tables_1_and_2(name):
    robot = load_arm(name)
    assert robot.drives.torque_constant.tolist() == list(printed.torque_constants[name])
    assert robot.limits.effort.tolist() == list(printed.largest_torques[name])
    assert robot.drives.gear_ratio.tolist() == [101.0] * 6
    assert robot.sampling_rate == 125.0


@pytest.mark.parametrize('name', ROBOTS)
def test_table_7_follows_from_tables_2_and_6(name):
    """To half of its last digit."""
    shares = shares_of(printed.largest_torque_change, name)
    assert shares.keys() == printed.share_of_largest_torque[name].keys()
    for size, share in printed.share_of_largest_torque[name].items():
        assert shares[size] == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize('name', ROBOTS)
def test_implied_friction_gives_tables_4_and_6_back(name):
    """Change of viscous friction times the largest speed is the largest change of torque."""
    cold, warm = viscous_at(name, 0.0), viscous_at(name, 1.0)
    assert cold == pytest.approx(implied_viscous(name))
    assert 100.0 * (warm / cold - 1.0) == pytest.approx(printed.viscous_change[name])
    assert (cold - warm) * np.pi == pytest.approx(printed.largest_torque_change[name])
    warming = np.array(printed.warm) - printed.cold
    assert true_slopes(name) * warming == pytest.approx(warm - cold)


def test_temperatures_go_from_the_cold_to_the_warm_arm():
    assert temperatures_at(0.0).tolist() == list(printed.cold)
    assert temperatures_at(1.0) == pytest.approx(printed.warm)


def test_mountings_differ_in_nothing_but_gravity():
    ground, ceiling = experiment_of('ur5'), experiment_of('ur5', 'ceiling')
    # A turn by pi leaves rounding in gravity.
    assert ceiling.gravity == pytest.approx(-ground.gravity, abs=1e-12)
    turned = replace(ceiling, gravity=ground.gravity)
    assert experiment_content(turned) == experiment_content(ground)


# --- structure ------------------------------------------------------------------------------


def test_counts_and_lists_are_the_papers(claims):
    """All but row 2 of (A1), which has the UR5's number."""
    differing = [claim.what for claim in claims[0] if claim.outcome != 'agrees']
    assert differing == ['(A1), row 2: coefficient of Jxz2']
    assert {claim.outcome for claim in claims[0]} == {'agrees', 'differs'}


def test_lists_of_another_arm_are_told_apart():
    """The UR3's numbers are not those of a UR5: 1/a3^2 is more than three times as large."""
    ur5 = find_structure('ur5')
    assert deviation_of_lists(ur5, printed.coefficients['ur5']) < 6e-4
    assert deviation_of_lists(ur5, printed.coefficients['ur3']) > 0.5
    wall = find_structure('ur5', 'wall')
    assert deviation_of_lists(wall, printed.coefficients['ur5']) == float('inf')


def test_rank_is_where_singular_values_step_down():
    assert rank_of(np.array([10.0, 1.0, 1e-12, 1e-13])) == 2
    assert rank_of(np.array([10.0, 1.0, 0.1])) == 3


@pytest.mark.parametrize('name', ROBOTS)
def test_bodies_of_the_maker_are_points(name, rng):
    """No inertia about the centre of mass, and the weight of the URDF's bodies."""
    robot = load_arm(name)
    for m, *rest in manufacturer_parameters(robot).reshape(6, 10):
        c, (xx, xy, yy, xz, yz, zz) = np.array(rest[:3]) / m, rest[3:]
        about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert about_origin == pytest.approx(m * (c @ c * np.eye(3) - np.outer(c, c)), abs=1e-12)
    motion = random_motion(robot, 5, rng)
    still = replace(motion, dq=np.zeros_like(motion.dq), ddq=np.zeros_like(motion.ddq))
    # Torques of up to 100 N m, by rounding alone.
    assert manufacturer_torque(robot, still) == pytest.approx(
        rigid_torque(robot, still), abs=1e-10
    )


def test_unit_errors_are_the_root_of_the_inverse(rng):
    """In the order of the appendix; the condition number squared of the inverse is 1e4."""
    structure = find_structure('ur5')
    motion = random_motion(structure.robot, 100, rng)
    W = published_observations(structure, motion)[:, structure.reduction.independent]
    expected = np.sqrt(np.diag(np.linalg.inv(W.T @ W)))[structure.rows]
    found = unit_errors(structure, Score(np.arange(100.0), motion, np.zeros((100, 6))))
    assert found == pytest.approx(expected, rel=1e-8)


# --- simulated arms -------------------------------------------------------------------------


@long_test
def test_bodies_stay_and_viscous_friction_falls(models):
    """As the paper says of figure 7; the motion is the same, its noise is not."""
    moved = {group.group: group.moved for group in compare_models(*models).groups}
    assert not moved['inertial']
    assert not moved['rotor']
    assert moved['viscous']


@long_test
def test_rotors_are_positive_unless_currents_are_late(models, runs):
    """Late friction looks like a negative rotor: a tenth of a second hides most of them."""
    true = np.array(REFLECTED_INERTIA['ur5'])[2:]
    # A random motion shows them to a tenth of a kg m^2 or better.
    assert rotor_inertias(models[0]) == pytest.approx(true, abs=0.3)
    late = identify_run(load_arm('ur5'), delay_effort(runs[0], 12)).model
    assert np.sum(rotor_inertias(late) - rotor_inertias(models[0])) < 0.0
    assert rotor_inertias(late).min() < 0.0


def test_late_effort_is_that_of_earlier_positions(runs):
    late = delay_effort(runs[0], 5)
    assert np.array_equal(late.measured[0], runs[0].measured[0][5:])
    assert np.array_equal(late.measured[2], runs[0].measured[2][:-5])
    assert np.array_equal(late.stamps, runs[0].stamps[5:])


# --- claims ---------------------------------------------------------------------------------


def test_similar_numbers_are_nearer_to_each_other_than_to_others():
    assert similar([2.0, 2.2], [4.0, 1.0])[0]
    assert not similar([2.0, 3.0], [3.1])[0]
    assert '1.10' in similar([2.0, 2.2], [4.2])[1]


def test_no_claim_agrees_whose_numbers_differ(claims):
    """Beyond half a printed digit a claim that agrees says why."""
    _, claims = claims
    assert sum(claim.outcome == 'agrees' for claim in claims) > 15
    for claim in claims:
        if claim.outcome == 'agrees' and not claim.why and '/' not in claim.printed:
            value, ours = (
                float(re.match(r'-?[\d.]+', text).group()) for text in (claim.printed, claim.ours)
            )
            decimals = len(claim.printed.split()[0].partition('.')[2])
            # Zeros at the end are not kept: 2.0 is printed as 2.
            assert abs(ours - value) <= 0.5 * 10.0 ** -max(decimals, 1), claim
