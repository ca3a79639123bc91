# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Porcelli 2020: the numbers that the page rests on, and claims that follow from numbers."""

from dataclasses import replace

import numpy as np
import pytest
from reproductions import porcelli_2020_data as thesis
from reproductions.porcelli_2020 import (
    errors_table, exchange_friction, fit_models, parameters_table, wrist_tables,
)
from reproductions.porcelli_2020_corrections import (
    changes_of_text, corrected, corrections, moving_joints, rests, solve_joint,
)
from reproductions.porcelli_2020_energy import check_lagrangian
from reproductions.porcelli_2020_figures import draw_noise
from reproductions.porcelli_2020_findings import all_claims, all_misprints, Findings
from reproductions.porcelli_2020_models import (
    count_inside, FITTED_FRICTION, identify_whole_arm, SimulatedGroup,
)
from reproductions.porcelli_2020_motion import (
    bounds_table, condition_at_zero, Conditions, derivative_errors, ends_table, EXPERIMENT, series,
)
from reproductions.porcelli_2020_structure import (
    base_list, bodies_table, counts_table, flange_at_zero, printed_geometry_table,
    refusal_of_the_caption, torques_table,
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
        for name, (robot, joints) in thesis.GROUPS.items()
    }


@pytest.fixture(scope='module')
def fits(groups):
    return {name: fit_models(group) for name, group in groups.items()}


@pytest.fixture(scope='module')
def findings(fits):
    exchanged = {
        name: exchange_friction(name, load_robot(robot))
        for name, (robot, _) in thesis.GROUPS.items()
    }
    return Findings(
        {'BSE': 15, 'W': 15}, {'BSE': 17, 'W': 17}, {'BSE': CONDITIONS}, fits, exchanged,
        identify_whole_arm(),
    )


def column(table, name):
    return [row[table.columns.index(name)] for row in table.rows]


def test_the_shipped_robot_is_that_of_the_tables(arm):
    """Tables 2.2 to 2.4, and where they put the flange (numbers.md A1, to its digits)."""
    for row in printed_geometry_table(arm).rows:
        assert row[1::2] == pytest.approx(row[2::2], abs=1e-9)
    bodies = bodies_table(arm)
    assert column(bodies, 'mass here [kg]') == pytest.approx(thesis.MASSES)
    assert max(column(bodies, 'largest difference of the centre [m]')) < 1e-9
    np.testing.assert_allclose(flange_at_zero(), [-0.81725, -0.19145, -0.005491], atol=1e-9)


def test_one_reading_of_table_2_4_gives_bodies(arm):
    """About the centre all six exist, about the frame links 2 and 3 do not (numbers.md A5)."""
    bodies = bodies_table(arm)
    assert min(bodies.rows, key=lambda row: row[4])[4] > 0.0
    assert [row[0] for row in bodies.rows if row[5] < 0.0] == ['Shoulder', 'Elbow']
    assert bodies.rows[1][6] == pytest.approx(-0.263, abs=5e-4)
    words = refusal_of_the_caption()
    assert 'shoulder_lift_joint' in words
    assert 'center_of_mass' in words


def test_numbers_of_base_parameters():
    """15 each, 17 on a tilted base, 36 and 52 for the whole arm (numbers.md B1, B6)."""
    found = {row[0]: row[2] for row in counts_table().rows}
    assert [value for name, value in found.items() if 'random points' in name] == [15] * 4
    assert found['W, first axis not vertical'] == 17
    assert found['whole arm, rigid'] == 36
    assert found['whole arm with friction and rotors'] == 52
    for _, printed, here, _ in counts_table().rows:
        assert printed in (None, here)


def test_the_restored_list_has_the_tables_values():
    """Numbers B10: m2, mx2, mz2 and m3 are parts of the whole arm's with the wrist left out."""
    found = base_list(load_robot('ur5_porcelli_bse'))
    assert len(found.expressions) == 15
    by_name = dict(zip(
        (text.split()[0] for text in found.expressions), found.values, strict=True
    ))
    assert by_name['m2'] == pytest.approx(5.023291, abs=1e-5)
    assert by_name['mx2'] == pytest.approx(0.055756, abs=1e-5)
    assert by_name['m3'] == pytest.approx(4.2603 - 2 * 1.219 - 0.1879, abs=1e-4)


def test_torques_of_two_engines_are_those_of_the_notes(arm):
    """Numbers B11, to its digits; engines agree to rounding."""
    rows = torques_table(arm).rows
    assert [row[1] for row in rows][1:3] == pytest.approx([-53.800216, -15.641572], abs=1e-6)
    assert rows[0][3] == pytest.approx(1.161150, abs=1e-6)
    for row in rows:
        assert row[1::2] == pytest.approx(row[2::2], abs=1e-8)


def test_the_printed_motion_is_not_at_rest_in_three_joints():
    """Numbers C2."""
    ends = ends_table()
    assert column(ends, 'at rest') == ['yes', 'no', 'no', 'yes', 'yes', 'no']
    assert column(ends, 'Σ l a_l [rad]')[1] == pytest.approx(1.0174, abs=1e-9)
    assert column(ends, 'velocity at t = 0 [rad/s]')[1] == pytest.approx(0.959, abs=5e-4)


def test_one_change_of_a_character_puts_each_joint_at_rest():
    """
    All changes of one character, again and by other means: of texts and of sums.

    A joint's sum changes by l or l² times what its coefficient changes by, which must undo it.
    """
    for joint, letter, harmonic, right in (
        (1, 'a', 4, -0.1018), (2, 'b', 0, 1.6786), (5, 'b', 0, 0.7662),
    ):
        solved = solve_joint(joint)
        change, = solved.at_rest
        assert (change.letter, change.harmonic, change.changed) == (letter, harmonic, right)
        # Ten coefficients, five digits each that can be nine others, and a sign.
        assert solved.tried >= 10 * (5 * 9 + 1)
        orders = np.arange(1, 6)
        sums = {'a': orders @ thesis.SINES[joint], 'b': orders**2 @ thesis.COSINES[joint]}
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
        robot, joints = thesis.GROUPS[group]
        columns = BaseColumns(load_robot(robot), experiment)
        assert condition_at_zero(columns, a[joints], b[joints]) == pytest.approx(cost, abs=5e-3)
    bounds = column(bounds_table(), 'acceleration, bound corrected [rad/s²]')
    assert bounds[1:] == pytest.approx([3.1410, 3.1352, 3.1416, 3.1406, 3.1332], abs=1e-4)


def test_bounds_are_met_and_motions_stay_below_them():
    """Numbers C3, to three digits after the point, and what the corrected motion reaches."""
    bounds = bounds_table()
    printed = column(bounds, 'acceleration, bound as printed [rad/s²]')
    assert printed == pytest.approx([2.972, 3.141, 2.248, 3.1416, 3.1406, 2.826], abs=1e-3)
    for what, unit in (('acceleration', 'rad/s²'), ('velocity', 'rad/s')):
        bound = column(bounds, f'{what}, bound [{unit}]' if what == 'velocity'
                       else f'{what}, bound corrected [{unit}]')
        assert np.all(np.array(column(bounds, f'{what}, reached [{unit}]')) <= bound)


def test_derivatives_are_those_of_the_series():
    """By differences; the printed ones are off by twice the terms of b."""
    a, b = corrected()
    # Away from t = 0, where speeds of rounding are set to zero.
    t, h = np.linspace(0.1, 6.0, 40), 1e-5
    motion = series(a, b, t, np.zeros(6))
    after, before = (series(a, b, t + step, np.zeros(6)) for step in (h, -h))
    # Of central differences at 1e-5 s: 1e-10 relative truncation, rounding of 1e-16 / 1e-5.
    np.testing.assert_allclose((after.q - before.q) / (2 * h), motion.dq, atol=1e-8)
    np.testing.assert_allclose((after.dq - before.dq) / (2 * h), motion.ddq, atol=1e-8)
    # The wrong sign of b counts twice.
    t = np.linspace(0.0, 20.0 / 3.0, 4001)
    rate = 0.3 * np.pi * np.arange(1, 6)
    twice = 2.0 * np.abs((np.sin(np.outer(t, rate)) * rate) @ b.T).max()
    assert derivative_errors()[0] == pytest.approx(twice, abs=0.01)


def test_energy_terms_are_right_where_mended(arm):
    """Momentum to rounding, its gradient to that of differences; as printed it is not."""
    check = check_lagrangian(arm)
    assert check.momentum < 1e-12
    assert check.gradient < 1e-8
    assert check.printed_momentum > 1e-3


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


def test_intervals_contain_the_truth_where_the_model_is_right(groups, fits):
    """95 % over 75 intervals to four standard errors of that count; without friction far less."""
    for model, laws in (('C', 'none'), ('D', FITTED_FRICTION)):
        share = count_inside(groups['W'], model, laws, repeats=5)
        assert share == pytest.approx(0.95, abs=4.0 * np.sqrt(0.95 * 0.05 / 75.0))
    assert all(found['D'].inside < 0.7 * thesis.GROUP_BASE for found in fits.values())


def test_claims_follow_from_numbers(findings):
    """Outcomes turn with the numbers, and without a control that fails nothing agrees."""
    outcomes = {claim.what: claim.outcome for claim in all_claims(findings)}
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
    changed = {claim.what: claim.outcome for claim in all_claims(other)}
    assert changed[cost] == 'differs'
    assert changed['base parameters of BSE'] == 'differs'
    assert changed['base parameters of W'] == 'untested'
    assert changed['cond(Y_B) of BSE, same limits'] == 'untested'


def test_misprints_name_what_is_right(arm):
    misprints = all_misprints(check_lagrangian(arm), refusal_of_the_caption())
    assert all(one.where and one.correct and one.shown_by for one in misprints)
    assert all(one.printed != one.correct for one in misprints)


def test_the_same_bytes_again(groups, fits, findings):
    """Tables and a picture, made twice from the start."""
    again = {name: fit_models(group) for name, group in groups.items()}
    for name in ('errors', 'validation'):
        assert errors_table(name, name, again) == errors_table(name, name, fits)
    assert parameters_table(again) == parameters_table(fits)
    assert wrist_tables(findings.whole)[0].rows[0][2] > 5.0
    first, second = (draw_noise(groups['BSE']) for _ in range(2))
    assert first.png == second.png
    assert len(first.png) < 60_000
