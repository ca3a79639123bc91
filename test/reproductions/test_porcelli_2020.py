# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Porcelli 2020: the numbers that the page rests on."""

from dataclasses import replace

import numpy as np
import pytest
from reproductions.paper import Paper
from reproductions.porcelli_2020 import (
    add_claims, BASE_RATE, condition_at_zero, Conditions, conservative_bounds, corrected,
    counts_rows, exchange_friction, EXPERIMENT, Findings, fit_models, GROUPS, identify_whole_arm,
    SimulatedGroup, solve_joint, thesis,
)
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.information import BaseColumns
from robot_identification.model.registry import load_robot

TEN = np.linspace(-1.0, 1.0, 10)
CONDITIONS = Conditions(
    99.9, 99.97, 149.6, tuple(200.0 + TEN), tuple(60.0 + TEN), tuple(43.0 + TEN)
)


@pytest.fixture(scope='module')
def arm():
    return load_robot('ur5_porcelli')


@pytest.fixture(scope='module')
def groups():
    return {
        name: SimulatedGroup(load_robot(robot), joints)
        for name, (robot, joints) in GROUPS.items()
    }


@pytest.fixture(scope='module')
def fits(groups):
    return {name: fit_models(group) for name, group in groups.items()}


@pytest.fixture(scope='module')
def findings(fits):
    exchanged = {
        name: exchange_friction(name, load_robot(robot))
        for name, (robot, _) in GROUPS.items()
    }
    return Findings(
        {'BSE': 15, 'W': 15}, {'BSE': 17, 'W': 17}, {'BSE': CONDITIONS}, fits, exchanged,
        identify_whole_arm(),
    )


def test_numbers_of_base_parameters(arm, groups):
    """15 each, 17 on a tilted base, 36 and 52 for the whole arm (numbers.md B1, B6)."""
    rows = list(counts_rows(arm, {name: group.robot for name, group in groups.items()}))
    found = {row[0]: row[2] for row in rows}
    assert [value for name, value in found.items() if 'random points' in name] == [15] * 4
    assert found['W, first axis not vertical'] == 17
    assert found['whole arm, rigid'] == 36
    assert found['whole arm with friction and rotors'] == 52
    for _, printed, here, _ in rows:
        assert printed in (None, here)


def test_the_corrected_motion_has_the_printed_costs():
    """99.97 and 26.62 about zero (printed 99.9 and 26.6); bounds of joints 3 and 6 meet pi."""
    experiment = load_experiment(find_experiment(EXPERIMENT))
    a, b = corrected()
    for group, cost in (('BSE', 99.97), ('W', 26.62)):
        robot, joints = GROUPS[group]
        columns = BaseColumns(load_robot(robot), experiment)
        assert condition_at_zero(columns, a[joints], b[joints]) == pytest.approx(cost, abs=5e-3)
    bounds = conservative_bounds(a, b, BASE_RATE)[2]
    assert bounds[1:] == pytest.approx([3.1410, 3.1352, 3.1416, 3.1406, 3.1332], abs=1e-4)


def test_model_a_is_exact_and_friction_is_not_in_the_bodies(fits):
    """Two engines, to rounding; model B is off by the size of friction."""
    for found in fits.values():
        assert found['A'].errors.max() < 1e-9
        assert found['A'].validation_errors.max() < 1e-9
        np.testing.assert_allclose(found['A'].found, found['A'].true, atol=1e-9)
        assert np.all(found['B'].errors > 1.0)
        np.testing.assert_allclose(found['B fitted'].found, found['B fitted'].true, atol=1e-9)
        assert found['B fitted'].validation_errors.max() < 1e-9


def outcomes_of(found):
    """Return the outcomes that follow from some findings."""
    paper = Paper('porcelli_2020')
    add_claims(paper, found)
    return {claim.what: claim.outcome for claim in paper.claims}


def test_claims_follow_from_numbers(findings):
    """Outcomes turn with the numbers, and without a control that fails nothing agrees."""
    outcomes = outcomes_of(findings)
    cost = 'cost f of BSE, taken as cond(Y_B), q0 = 0'
    assert outcomes[cost] == 'agrees'
    assert outcomes['for t = 0 the robot is stationary'] == 'agrees'
    assert outcomes['model A: torques exactly overlapping'] == 'agrees'
    assert outcomes['cond(Y_B) of BSE, same limits'] == 'better'
    assert outcomes['friction of joints 1 to 3 over that of joints 4 to 6'] == 'differs'
    assert outcomes['neglecting the wrist leads to estimation mistakes'] == 'agrees'
    other = replace(
        findings, conditions={'BSE': replace(
            CONDITIONS, corrected=110.0, genetic=tuple(60.0 + TEN)
        )}, counts={'BSE': 16, 'W': 15}, tilted={'BSE': 17, 'W': 15},
    )
    changed = outcomes_of(other)
    assert changed[cost] == 'differs'
    assert changed['base parameters of BSE'] == 'differs'
    assert changed['base parameters of W'] == 'untested'
    assert changed['cond(Y_B) of BSE, same limits'] == 'untested'


def test_one_change_of_a_character_puts_each_joint_at_rest():
    """
    All changes of one character, again and by other means: of texts and of sums.

    A joint's sum changes by l or l² times what its coefficient changes by, which must undo it.
    """
    for joint, letter, harmonic, right in (
        (1, 'a', 4, -0.1018), (2, 'b', 0, 1.6786), (5, 'b', 0, 0.7662),
    ):
        tried, (change,) = solve_joint(joint)
        assert (change.letter, change.harmonic, change.changed) == (letter, harmonic, right)
        # Ten coefficients, five digits each that can be nine others, and a sign.
        assert tried >= 10 * (5 * 9 + 1)
        orders = np.arange(1, 6)
        sums = {'a': orders @ thesis.sines[joint], 'b': orders**2 @ thesis.cosines[joint]}
        power = {'a': 1, 'b': 2}[letter]
        undone = sums[letter] + (harmonic + 1) ** power * (right - change.printed)
        assert abs(undone) <= 0.0011
