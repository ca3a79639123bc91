# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Rajagopal 2017: the numbers that the page rests on, and claims that follow from numbers."""

from dataclasses import replace

import numpy as np
import pytest
from reproductions import rajagopal_2017_data as printed
from reproductions.rajagopal_2017 import (
    counts_table, model_positions, plausibility_table, range_error, rigid_reduction,
    seen_parameters,
)
from reproductions.rajagopal_2017_break_away import (
    BOUNDED, run_test, step_responses, SUMMED, tested_constants,
)
from reproductions.rajagopal_2017_estimate import (
    Identified, POSSIBLE, random_motion, REPORT, SimulatedYoubot,
)
from reproductions.rajagopal_2017_figures import draw_step_responses
from reproductions.rajagopal_2017_findings import all_claims, all_misprints, Findings
from robot_identification.model.registry import load_robot


@pytest.fixture(scope='module')
def youbot():
    """Return the arm."""
    return load_robot('youbot')


@pytest.fixture(scope='module')
def wheel():
    """Return the tests of a wheel."""
    return run_test('wheel 3', tested_constants()['wheel 3'], seed=5)


@pytest.fixture(scope='module')
def ridge(youbot):
    """Return what eq. 3.73 does without noise."""
    return SimulatedYoubot(youbot).judge_ridge()


def test_ranges_are_those_of_the_shipped_robot(youbot):
    """Numbers A11: the table, but for the minus sign of its last row."""
    assert range_error(youbot) < 1e-9
    off = model_positions() - np.array(printed.POSITIONS)
    assert np.argwhere(off).tolist() == [[4, 0]]


def test_numbers_of_parameters(youbot):
    """50 unknowns, 29 combinations (numbers B5), of link 1 Izz alone (B14)."""
    rigid = rigid_reduction(youbot)
    assert [row[2] for row in counts_table(youbot, rigid).rows[::2]][:2] == [50, 29]
    assert seen_parameters(rigid, 1) == ('Izz1',)


def test_table_4_1_is_found_implausible(youbot):
    """Numbers D10: links 1, 3 and 4 by mass, all as bodies and against the maker."""
    rules = {row[0]: row[5].split(', ') for row in plausibility_table(youbot).rows}
    assert [link for link, broken in rules.items() if 'mass' in broken] == [
        'link 1', 'link 3', 'link 4'
    ]
    assert all({'pseudo-inertia', 'maker'} <= set(broken) for broken in rules.values())


def test_ridge_halves_the_weakest_direction(ridge):
    """Numbers D11; the rest to rounding of a condition of 1e4 or less."""
    assert ridge.eigenvalues == 29
    assert ridge.weakest_share == pytest.approx(0.5, abs=1e-6)
    assert ridge.outside < 1e-9


def test_random_motions_keep_limits_and_join_at_rest(youbot):
    """Speeds and accelerations of quintics below the limits, no jump from sample to sample."""
    motion = random_motion(youbot, 30.0, seed=4)
    assert len(motion) == 30 * 50
    assert np.all(np.abs(motion.dq).max(axis=0) <= youbot.limits.velocity)
    assert np.all(np.abs(motion.ddq).max(axis=0) <= youbot.limits.acceleration)
    # The mean of two speeds over a sample, of jerks of some rad/s^3: 1e-4 of a sample's way.
    steps = np.diff(motion.q, axis=0) * youbot.sampling_rate
    np.testing.assert_allclose(0.5 * (motion.dq[1:] + motion.dq[:-1]), steps, atol=2e-3)


def test_the_onset_is_what_was_set_and_the_threshold_is_above(wheel):
    """Numbers E1: within 2 % of the set value; the published way has an excess."""
    assert len(wheel.corrected.run.repeats) == 2 * printed.EXPERIMENTS
    assert abs(wheel.remaining) < 0.02
    assert wheel.excess > abs(wheel.remaining)
    assert wheel.corrected.torque == pytest.approx(printed.WHEELS['wheel 3'], rel=0.02)


def test_the_sum_of_errors_winds_up():
    """As in figure 4.2; bounded and taken over time it stays within a thousandth."""
    responses = step_responses()
    assert responses[SUMMED].overshoot > 0.1
    assert responses[BOUNDED].overshoot < 1e-3
    assert all(response.q[-1] == pytest.approx(1.0, abs=1e-2) for response in responses.values())


def findings_of(wheel, ridge, errors):
    """Return findings whose identification has these errors at every joint."""
    def way(error):
        return Identified(np.zeros(50), np.full(5, error), np.zeros((1, 5)), 0, np.ones(29))

    return Findings(
        50, ('Izz1',), 0.0, (3, 4), (1,), ridge, {REPORT: way(1.0), POSSIBLE: way(errors)},
        np.ones(5), [wheel], step_responses(),
    )


def test_claims_follow_from_numbers(wheel, ridge):
    found = findings_of(wheel, ridge, 0.1)
    outcomes = [claim.outcome for claim in all_claims(found)]
    assert outcomes == ['agrees'] * 8 + ['differs', 'better']
    worse = replace(
        findings_of(wheel, ridge, 2.0), unknowns=48, seen_of_first=('m1',), range_error=1.0,
        negative=(3,), beyond=(), ridge=replace(ridge, outside=0.1),
    )
    assert [claim.outcome for claim in all_claims(worse)] == (
        ['differs'] * 6 + ['agrees'] * 2 + ['differs'] * 2
    )


def test_misprints_and_a_picture_are_the_same_again():
    responses = step_responses()
    misprints = all_misprints(responses)
    assert all(one.printed != one.correct and one.shown_by for one in misprints)
    assert all_misprints(step_responses()) == misprints
    first, second = (draw_step_responses(step_responses()).png for _ in range(2))
    assert first == second
    assert len(first) < 60_000
