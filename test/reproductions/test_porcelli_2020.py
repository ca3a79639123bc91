# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Porcelli 2020: the numbers that the page rests on."""

from dataclasses import replace

import numpy as np
import pytest
from reproductions.paper import Paper
from reproductions.porcelli_2020 import (
    add_claims, add_misprints, BASE_RATE, base_rows, changes_of_text, condition_at_zero,
    Conditions, conservative_bounds, corrected, corrections, counts_rows, ends_rows, errors_rows,
    exchange_friction, EXPERIMENT, Findings, fit_models, GROUPS, identify_whole_arm, moving_joints,
    reached, refusal_of_the_caption, rests, series, SimulatedGroup, solve_joint, thesis,
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


def test_the_other_reading_of_table_2_4_is_refused():
    """About the frame the shoulder is no body."""
    words = refusal_of_the_caption()
    assert 'shoulder_lift_joint' in words
    assert 'center_of_mass' in words


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


def test_the_restored_list_has_the_tables_values():
    """Numbers B10: m2, mx2, mz2 and m3 are parts of the whole arm's with the wrist left out."""
    rows = list(base_rows('BSE', load_robot('ur5_porcelli_bse')))
    assert len(rows) == 15
    by_name = {text.split()[0]: value for _, _, text, value in rows}
    assert by_name['m2'] == pytest.approx(5.023291, abs=1e-5)
    assert by_name['mx2'] == pytest.approx(0.055756, abs=1e-5)
    assert by_name['m3'] == pytest.approx(4.2603 - 2 * 1.219 - 0.1879, abs=1e-4)


def test_the_printed_motion_is_not_at_rest_in_three_joints():
    """Numbers C2."""
    rows = list(ends_rows())
    assert [row[5] for row in rows] == ['yes', 'no', 'no', 'yes', 'yes', 'no']
    assert rows[1][1] == pytest.approx(1.0174, abs=1e-9)
    assert rows[1][3] == pytest.approx(0.959, abs=5e-4)


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


def test_a_digit_that_is_right_is_not_corrected():
    """Changed back, each correction is found again; joints at rest need none."""
    assert moving_joints() == [1, 2, 5]
    assert rests(*corrected()).all()
    for change in corrections():
        back = f'{change.printed:.4f}'
        assert back in changes_of_text(f'{change.changed:.4f}')


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


def test_bounds_are_met_and_motions_stay_below_them():
    """Numbers C3, to three digits after the point, and what the corrected motion reaches."""
    printed = conservative_bounds(thesis.sines, thesis.cosines, BASE_RATE)[2]
    assert printed == pytest.approx([2.972, 3.141, 2.248, 3.1416, 3.1406, 2.826], abs=1e-3)
    bounds = conservative_bounds(*corrected(), BASE_RATE)
    for bound, largest in zip(bounds, reached(*corrected()), strict=True):
        assert np.all(largest <= bound)


def test_derivatives_are_those_of_the_series():
    """By differences."""
    a, b = corrected()
    # Away from t = 0, where speeds of rounding are set to zero.
    t, h = np.linspace(0.1, 6.0, 40), 1e-5
    motion = series(a, b, t, np.zeros(6))
    after, before = (series(a, b, t + step, np.zeros(6)) for step in (h, -h))
    # Of central differences at 1e-5 s: 1e-10 relative truncation, rounding of 1e-16 / 1e-5.
    np.testing.assert_allclose((after.q - before.q) / (2 * h), motion.dq, atol=1e-8)
    np.testing.assert_allclose((after.dq - before.dq) / (2 * h), motion.ddq, atol=1e-8)


def test_model_a_is_exact_and_friction_is_not_in_the_bodies(fits):
    """
    Two engines, to rounding; model B is off by the size of friction.

    Where friction is among the parameters, all of them are found, without noise to rounding.
    """
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


def test_misprints_name_what_is_right():
    """Those of the coefficients among them, one for each joint that does not start at rest."""
    paper = Paper('porcelli_2020')
    add_misprints(paper)
    misprints = paper.content()['misprints']
    assert all(one['where'] and one['correct'] and one['shown_by'] for one in misprints)
    assert all(one['printed'] != one['correct'] for one in misprints)
    assert sum(one['where'].startswith('table 4.') and ', ' in one['where']
               and 'labels' not in one['where'] for one in misprints) == 3


def test_the_same_numbers_again(groups, fits, findings):
    """Tables, made twice from the start."""
    again = {name: fit_models(group) for name, group in groups.items()}
    for kind in ('errors', 'validation'):
        assert list(errors_rows(kind, again)) == list(errors_rows(kind, fits))
    assert findings.whole.wrist[1] > 5.0
