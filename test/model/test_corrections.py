# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Corrections: what every group promises, and the columns of each by hand."""

from dataclasses import replace

from known_models import known_model
import numpy as np
import pytest
from robot_identification.model import (
    correction_blocks, CORRECTIONS, Corrections, CorrectionSignals, dump_model, FastVelocity,
    find_ripple_order, JointCorrection, JointDeviation, load_model, Motion, PositionSeries,
    Residuals, rigid_torque,
)

RATE = 500.0


def signals_of(rng, samples=400, starts=(0,)):
    """Return the signals of three joints that move at random."""
    q, dq, ddq = rng.normal(size=(3, samples, 3))
    return CorrectionSignals(
        Motion(q, dq, ddq, starts=starts), dq + 0.1 * rng.normal(size=dq.shape), RATE
    )


def groups_of(robot, signals, rng, causal=False):
    """Return one or more groups of each kind for the second joint."""
    rows = np.ones(len(signals.motion), dtype=bool)
    # A ripple that there is, so that its kind has something to offer.
    torque = np.sin(160 * signals.motion.q) + 0.01 * rng.normal(size=signals.motion.q.shape)
    residuals = Residuals(
        robot, (signals,), (rows,), (torque,), tuple(range(10 * robot.n)), causal
    )
    return [group for kind in CORRECTIONS.values() for group in kind.candidates(residuals, 1)]


def test_every_group_has_the_columns_it_says_and_can_be_made_of_its_constants(robots, rng):
    robot, signals = robots['mixed'], signals_of(rng)
    offered = groups_of(robot, signals, rng)
    assert {(type(group).name, type(group)) for group in offered} == set(CORRECTIONS.items())
    for group in offered:
        columns = group.columns(robot, signals, 1)
        assert columns.shape == (400, group.size)
        again = type(group)(**group.constants())
        assert again == group
        np.testing.assert_array_equal(again.columns(robot, signals, 1), columns)


def test_causal_groups_do_not_look_ahead(robots, rng):
    """Other signals after a sample change nothing before and at it."""
    robot, signals = robots['mixed'], signals_of(rng)
    other = signals_of(rng)
    changed = CorrectionSignals(
        Motion(*(
            np.vstack([getattr(signals.motion, name)[:200], getattr(other.motion, name)[200:]])
            for name in ('q', 'dq', 'ddq')
        )),
        np.vstack([signals.measured_dq[:200], other.measured_dq[200:]]), RATE,
    )
    for group in groups_of(robot, signals, rng, causal=True):
        np.testing.assert_array_equal(
            group.columns(robot, signals, 1)[:200], group.columns(robot, changed, 1)[:200]
        )


@pytest.mark.parametrize('starts', [(0,), (0, 137, 255)])
def test_blocks_are_parts_of_the_whole(robots, rng, starts):
    """Whatever their size: filters begin anew only where the recording does."""
    robot, signals = robots['mixed'], signals_of(rng, 5000, starts)
    corrections = [
        JointCorrection(1, group, rng.normal(size=group.size))
        for group in groups_of(robot, signals, rng)
    ]
    whole = sum(one.torque(robot, signals) for one in corrections)
    by_block = np.zeros((5000, 3))
    for rows, torque in correction_blocks(corrections, robot, signals):
        by_block[rows] += torque
    # Sums in another order: rounding of numbers of some tens.
    np.testing.assert_allclose(by_block[:, 1], whole, atol=1e-11)
    np.testing.assert_array_equal(by_block[:, [0, 2]], 0.0)
    limit = np.full(3, np.median(np.abs(whole)))
    for rows, torque in correction_blocks(corrections, robot, signals, limit):
        np.testing.assert_array_equal(torque, np.clip(by_block[rows], -limit, limit))


def test_fast_velocity_by_hand(robots):
    """Differences of 1, 2, 4, 8 in a part and 16 after a gap; the last lags are summed."""
    difference = np.array([1.0, 2.0, 4.0, 8.0, 16.0])[:, None]
    signals = CorrectionSignals(
        Motion(np.zeros((5, 1)), np.zeros((5, 1)), np.zeros((5, 1)), starts=(0, 4)), difference,
        RATE,
    )
    group = FastVelocity(((-1, -1), (0, 0), (1, 2)))
    np.testing.assert_array_equal(group.columns(robots['mixed'], signals, 0), [
        [2.0, 1.0, 0.0], [4.0, 2.0, 1.0], [8.0, 4.0, 3.0], [0.0, 8.0, 6.0], [0.0, 16.0, 0.0],
    ])


def test_lags_cover_twenty_milliseconds_once(robots, rng):
    """At every rate of real drivers, on both sides, without a lag that is missing or twice."""
    for rate, longest in ((30.0, 1), (125.0, 2), (500.0, 10), (1000.0, 20), (2000.0, 40)):
        signals = replace(signals_of(rng), rate=rate)
        past, both = FastVelocity.candidates(Residuals(
            robots['mixed'], (signals,), (np.ones(400, dtype=bool),), (np.zeros((400, 3)),), (),
            False,
        ), 1)
        for group, first in ((past, 0), (both, -longest)):
            lags = [lag for low, high in group.bins for lag in range(low, high + 1)]
            assert lags == list(range(first, longest + 1))
        assert past.size <= 13


def test_position_series_by_hand(robots):
    signals = CorrectionSignals(Motion(*np.full((3, 1, 1), 0.3)), np.zeros((1, 1)), RATE)
    np.testing.assert_allclose(
        PositionSeries((1, 4)).columns(robots['mixed'], signals, 0)[0],
        [np.sin(0.3), np.sin(1.2), np.cos(0.3), np.cos(1.2)], rtol=1e-15,
    )


def test_deviation_with_the_parameters_of_the_urdf_is_the_torque_of_the_bodies(robots, rng):
    """Bodies by Pinocchio's recursive algorithm, columns by its regressor."""
    robot, signals = robots['mixed'], signals_of(rng, 20)
    group = JointDeviation(tuple(range(30)))
    torque = rigid_torque(robot, signals.motion)
    parameters = np.concatenate([
        inertia.toDynamicParameters() for inertia in robot.pinocchio.inertias[1:]
    ])
    for joint in range(3):
        # Rounding of torques of some tens of newton metres.
        np.testing.assert_allclose(
            group.columns(robot, signals, joint) @ parameters, torque[:, joint], atol=1e-10
        )


def test_the_order_of_a_ripple_is_found_and_none_in_noise(rng):
    q = np.cumsum(rng.normal(scale=0.02, size=5000)) + np.linspace(0.0, 3.0, 5000)
    noise = rng.normal(size=5000)
    for order in (100, 160, 202):
        assert find_ripple_order(q, 0.5 * np.cos(order * q + 0.4) + noise) == order
    assert find_ripple_order(q, noise) is None


def test_a_model_file_keeps_them(robots, rng, tmp_path):
    """To the last bit, of every group; a file without them is as before."""
    model = known_model(robots['mixed'], 'viscous', fv=2.0)
    groups = groups_of(model.robot, signals_of(rng), rng)
    joint_corrections = tuple(
        JointCorrection(1, group, rng.normal(size=group.size), 0.1) for group in groups
    )
    path = tmp_path / 'model.yaml'
    path.write_text(dump_model(replace(
        model, corrections=Corrections(
            RATE, joint_corrections, joint_corrections[:2], np.array([0.0, 0.1, 0.0]),
            np.array([0.0, 1.0 / 3.0, 0.0]),
        )
    )))
    again = load_model(path).corrections
    np.testing.assert_array_equal(again.offline_limit, [0.0, 0.1, 0.0])
    np.testing.assert_array_equal(again.live_limit, [0.0, 1.0 / 3.0, 0.0])
    assert again.rate == RATE
    assert [one.group for one in again.offline] == groups
    for one, other in zip(again.offline, joint_corrections, strict=True):
        np.testing.assert_array_equal(one.coefficients, other.coefficients)
        assert (one.joint, one.decrease) == (1, 0.1)
    assert [one.group for one in again.live] == groups[:2]
    path.write_text(dump_model(model))
    assert load_model(path).corrections.offline == ()


def test_recordings_of_another_rate_are_not_corrected():
    corrections = Corrections(500.0)
    assert [corrections.fit_rate(rate) for rate in (450.1, 549.9, 449.0, 551.0, 125.0)] == [
        True, True, False, False, False,
    ]
