# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tika et al.: the printed numbers, and the order of their list."""

from dataclasses import replace

import numpy as np
import pytest
from reproductions.paper import Paper
from reproductions.tika_2020 import (
    add_claims, Findings, Found, Generation, LARGE, least_inertia, paper_experiment, PLAIN,
    printed, RotorRun, Searches, simulated_arm, SMALL,
)
from robot_identification.excitation.information import BaseColumns
from robot_identification.model.identified_model import IdentifiedModel, SignalSource

RANDOM = Generation(True, ((60.0, True), (90.0, False), (80.0, False)), 1, 60.0, 300)
BRED = Generation(False, ((50.0, True), (45.0, True)), 2, 45.0, 500)
# Its halves do not differ in the mean.
SCATTER = 1.0 + 0.01 * np.array([-1.0, 1.0, -0.5, 0.5, 0.2, 1.0, -1.0, -0.2, 0.4, -0.4])
CONTROLS = {'base': 54, 'inertial': 38, 'friction': 6, 'rotors': 1, 'rows': 37500}


@pytest.fixture(scope='module')
def columns(robots):
    return BaseColumns(robots['ur5_tika'], paper_experiment())


def found(condition):
    return Found((RANDOM, BRED), np.zeros(3), condition, condition - 2.0, 1000)


def searches(memetic=41.0, random=67.0, default=36.0):
    """Return searches with ten seeds that scatter by a hundredth."""
    return tuple(
        Searches(found(memetic * one), found(random * one), found(default * one))
        for one in SCATTER
    )


def runs(ordinary=-0.02, constrained=0.0, cost=1.001, poses=3):
    """Return ten fits of an arm, all alike."""
    return tuple(RotorRun((0.1, ordinary), (0.1, constrained), cost, 2.0, poses) for _ in SCATTER)


def findings(**changes):
    """Return numbers with which every claim of the paper holds, or with some changed."""
    deviations = np.full(52, 0.005)
    deviations[40], deviations[35] = 0.0142, 0.000915
    return replace(
        Findings(
            base=52, drives={'friction': 12, 'rotors': 4},
            controls=CONTROLS,
            rules=(1e-12, np.inf), searches=searches(),
            deviations=tuple(deviations * one for one in SCATTER),
            errors={
                name: (np.array(joints), printed.totals[name])
                for name, joints in printed.errors.items()
            },
            runs={SMALL: runs(), PLAIN: runs(), LARGE: runs(ordinary=0.8, poses=0)},
            inertia={'OLS': 3, 'CLS': 0, 'physically consistent': 0},
            beyond_errors=0, rows=150000,
        ),
        **changes,
    )


def outcomes(**changes):
    paper = Paper('tika_2020')
    add_claims(paper, findings(**changes))
    return {claim.what: claim.outcome for claim in paper.claims}


def test_mass_matrix_of_the_truth_is_positive_and_of_a_negative_rotor_is_not(robots, columns):
    """True parameters are those of bodies; with A6 far below its link's, no pose is left."""
    arm = simulated_arm(robots['ur5_tika'], 1.0)
    reduction = columns.reduction
    model = IdentifiedModel(
        arm.robot, 'A', reduction, np.zeros(reduction.rank),
        np.zeros((reduction.rank, reduction.rank)), None, '', SignalSource(), {}, {},
    )
    model = replace(model, theta_base=arm.true_values(model))
    least, count = least_inertia(model)
    assert least > 0.0
    assert count == 0
    wrong = model.theta_base.copy()
    wrong[reduction.names.index('Ia6')] = -0.1
    least, count = least_inertia(replace(model, theta_base=wrong))
    assert least < 0.0
    assert count == 1000


def test_all_claims_hold_for_the_papers_own_numbers():
    assert 'differs' not in outcomes().values()


@pytest.mark.parametrize(('what', 'changes'), [
    ('base parameters', {'base': 54}),
    ('of these rotor inertias', {'drives': {'friction': 12, 'rotors': 6}}),
    ('the rules of reference 15 give the base parameters in closed form', {'rules': (0.1, 1.0)}),
    ('rows of the regression', {'rows': 140000}),
    ('condition number, memetic', {'searches': searches(memetic=50.0)}),
    ('condition number, random starts only', {'searches': searches(random=75.0)}),
    ('memetic finds less than random only with the same evaluations',
     {'searches': searches(memetic=70.0)}),
    ('largest standard deviation, unit noise', {
        'deviations': tuple(np.linspace(0.001, 0.02, 52) * one for one in SCATTER)}),
    ('the largest standard deviation is one of friction',
     {'deviations': tuple(np.arange(1.0, 53.0) * one for one in SCATTER)}),
    ('OLS makes rotor inertias negative', {'runs': findings().runs | {SMALL: runs(0.1)}}),
    ('constrained least squares does not',
     {'runs': findings().runs | {PLAIN: runs(constrained=-0.1)}}),
    ('the constraint costs next to nothing', {'runs': findings().runs | {PLAIN: runs(cost=1.05)}}),
    ('the mass matrix of ordinary least squares is not positive definite',
     {'runs': findings().runs | {SMALL: runs(poses=0)}}),
])
def test_no_claim_agrees_where_its_numbers_differ(what, changes):
    assert outcomes()[what] == 'agrees'
    assert outcomes(**changes)[what] == 'differs'
