# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Madsen et al.: counts of parameters, and the simulated gears."""

from dataclasses import replace
import re
from types import SimpleNamespace

from long_tests import long_test
import numpy as np
import pytest
from reproductions import madsen_2020 as arms
from reproductions.madsen_2020 import add_claims, Findings
from reproductions.paper import Paper
from reproductions.raviola_2021 import (
    claim_arithmetic, claim_structure, draw_validation, find_structure, identify_run, load_arm,
    MOUNTINGS, printed, random_singular_values, record, ROBOTS, shares_of,
)
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.studies.comparison.comparison import compare_models

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')


@pytest.fixture(scope='module')
def arm():
    return arms.elastic_arm()


def calibration(*nmse, deviation=1.0, cad=0.4):
    """Return a calibration with some NMSE on four motions, and one with the bodies of CAD."""
    # Errors of CAD that make an NMSE of `cad`, and those of the model that make the others.
    measured = np.full((4, 6), 30.0)
    scores = tuple(
        arms.Scored(
            value, cad, 90.0, np.zeros(4), measured,
            measured - np.sqrt(5.0 * value), measured - np.sqrt(5.0 * cad),
        )
        for value in nmse
    )
    figures = {'two_encoders': {
        'stiffness': np.full(6, 9.9e3), 'stiffness_standard_errors': np.full(6, 100.0),
    }}
    return arms.Calibration(
        SimpleNamespace(quality=figures), 1550, np.full(36, deviation), scores
    )


def findings(**changes):
    """Return numbers with which every claim of the paper holds, or with some changed."""
    return replace(
        Findings(
            appear=49, appear_standard=51, base=36, wall=38, bound=36, bound_wall=38, step=20,
            step_twice=10, samples=1550, wrong_sign=calibration(2.0, 2.0, 2.0, 2.0),
            fits={
                'two encoders, compensated': calibration(0.0744, 0.32, 0.3, 0.288),
                'one encoder, compensated': calibration(0.08, 0.328, 0.32, 0.292),
                'one encoder, not compensated': calibration(0.16, 0.36, 0.36, 0.36),
            },
            relative=np.array([*34 * [2.0], 19.0, 20.0]), stiffness=1.0e4,
        ),
        **changes,
    )


def outcomes(**changes):
    paper = Paper('madsen_2020')
    add_claims(paper, findings(**changes))
    return {claim.what: claim.outcome for claim in paper.claims}


def test_recording_has_both_sides_of_the_springs(arm):
    """Rotors run ahead of the links by torque over stiffness."""
    # Without rotor inertia and friction the motor's torque is that of the springs; to rounding.
    nothing = np.zeros(6)
    bare = replace(arm, truth=replace(
        arm.truth, coulomb=nothing, static=None, load_share=None, viscous=nothing,
        reflected_inertia=np.full(6, 1e-12),
    ))
    form = FourierParametrization(harmonics=2, base_period=arms.DURATION)
    coefficients = np.zeros((6, form.n_coefficients))
    coefficients[:, :2] = 0.3
    run = arms.record(
        bare, Trajectory('ur5e', arm.robot.joint_names, form, coefficients, 1, {}), 0
    )
    torque = run.true[2] * arm.robot.drives.drive_gain
    bend = run.true_rotors[0] - run.true[0]
    np.testing.assert_allclose(arms.STIFFNESS * bend, torque, rtol=0, atol=1e-6)
    assert np.abs(torque).max() > 10.0
    assert len(run.stamps) == 31000
    # Rotors are read ten times as well as links, as their gears divide what is wrong.
    noise = [np.std(a[0] - b[0]) for a, b in (
        (run.measured, run.true), (run.rotors, run.true_rotors)
    )]
    assert noise[1] == pytest.approx(0.1 * noise[0], rel=0.05)


def test_all_claims_hold_for_numbers_like_the_papers():
    assert 'differs' not in outcomes().values()


@pytest.mark.parametrize(('what', 'changes'), [
    ('inertial parameters that appear', {'appear': 51}),
    ('base parameters, axis 1 along gravity', {'base': 35}),
    ('base parameters, axis 1 not along gravity', {'wall': 36}),
    ('rows of each joint after decimation', {'samples': 1631}),
    (
        'parameters with a relative standard deviation of 19 % and more',
        {'relative': np.full(36, 30.0)},
    ),
    (
        'every unseen motion is predicted better than with CAD',
        {'fits': findings().fits | {
            'two encoders, compensated': calibration(0.0744, 0.32, 0.44, 0.288)
        }},
    ),
    (
        'NMSE with the identified bodies, estimation: size',
        {'fits': findings().fits | {
            'two encoders, compensated': calibration(0.2, 0.32, 0.3, 0.288)
        }},
    ),
    (
        'compensating the drives reduces the error',
        {'fits': findings().fits | {
            'one encoder, not compensated': calibration(0.07, 0.36, 0.36, 0.36)
        }},
    ),
])
def test_no_claim_agrees_where_its_numbers_differ(what, changes):
    assert outcomes()[what] == 'agrees'
    assert outcomes(**changes)[what] == 'differs'


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


@pytest.mark.parametrize('name', ROBOTS)
def test_table_7_follows_from_tables_2_and_6(name):
    """To half of its last digit."""
    shares = shares_of(printed.largest_torque_change, name)
    assert shares.keys() == printed.share_of_largest_torque[name].keys()
    for size, share in printed.share_of_largest_torque[name].items():
        assert shares[size] == pytest.approx(share, abs=0.05)


# --- structure ------------------------------------------------------------------------------


def test_counts_and_lists_are_the_papers(claims):
    """All but row 2 of (A1), which has the UR5's number."""
    differing = [claim.what for claim in claims[0] if claim.outcome != 'agrees']
    assert differing == ['(A1), row 2: coefficient of Jxz2']
    assert {claim.outcome for claim in claims[0]} == {'agrees', 'differs'}


# --- simulated arms -------------------------------------------------------------------------


@long_test
def test_bodies_stay_and_viscous_friction_falls(models):
    """As the paper says of figure 7; the motion is the same, its noise is not."""
    moved = {group.group: group.moved for group in compare_models(*models).groups}
    assert not moved['inertial']
    assert not moved['rotor']
    assert moved['viscous']


# --- claims ---------------------------------------------------------------------------------


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
