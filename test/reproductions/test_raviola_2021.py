# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Raviola et al. 2021: identities of what is printed, and the claims that take no search."""

import re

from long_tests import long_test
import pytest
from reproductions.paper import Paper
from reproductions.raviola_2021 import (
    claim_arithmetic, claim_structure, draw_validation, find_structure, identify_run, load_arm,
    MOUNTINGS, printed, random_singular_values, record, ROBOTS, shares_of,
)
from robot_identification.excitation.trajectory import Trajectory
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
