# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What an execution showed is measured as what its plan was to show."""

import numpy as np
import pytest
from robot_identification.execution.executed import compare_execution


def run(trajectory, speed=1.0, rate=100.0, first=0.0):
    t = np.linspace(0.0, trajectory.duration, round(trajectory.duration * rate) + 1)
    motion = trajectory.sample(t)
    return first + t / speed, motion.q, speed * motion.dq


@pytest.mark.parametrize('first', [0.0, 1.7e9])
def test_a_perfect_execution_shows_what_was_planned(ur5, trajectory, first):
    """Also by stamps of this century; interpolation over 10 ms costs a thousandth."""
    found = compare_execution(ur5, trajectory, *run(trajectory, first=first))
    assert set(found.planned) == {'condition_number_scaled', 'log_determinant'}
    for name, planned in found.planned.items():
        assert np.isfinite(planned)
        # One of the two is a logarithm, near zero here.
        assert found.executed[name] == pytest.approx(planned, rel=2e-3, abs=1e-3)


def test_repeated_measurements_change_nothing(ur5, trajectory):
    """A driver that publishes old values again, and one that delivers them in another order."""
    stamps, q, dq = run(trajectory)
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(len(stamps)), 2))
    once = compare_execution(ur5, trajectory, stamps, q, dq)
    again = compare_execution(ur5, trajectory, stamps[order], q[order], dq[order])
    assert again.executed == once.executed


@pytest.mark.parametrize('joint', range(6))
def test_a_joint_that_stood_still_is_seen(ur5, trajectory, joint):
    """Its parameters are not: both grow, and may be infinite."""
    stamps, q, dq = run(trajectory)
    q[:, joint], dq[:, joint] = q[0, joint], 0.0
    found = compare_execution(ur5, trajectory, stamps, q, dq)
    planned, executed = found.planned, found.executed
    assert executed['log_determinant'] > planned['log_determinant'] + 0.1
    assert executed['condition_number_scaled'] > 10.0 * planned['condition_number_scaled']


@pytest.mark.parametrize('rate', [50.0, 100.0])
def test_stamps_that_jitter_show_no_more(ur5, trajectory, rate):
    """Noise looks like accelerations, which would excite; 4e-4 is what a perfect one is off by."""
    stamps, q, dq = run(trajectory, rate=rate)
    noise = np.random.default_rng(5).normal(size=len(stamps))
    for jitter in (0.001, 0.005):
        moved = stamps + np.clip(jitter * noise, -0.4 / rate, 0.4 / rate)
        found = compare_execution(ur5, trajectory, moved, q, dq)
        gained = found.planned['log_determinant'] - found.executed['log_determinant']
        # The logarithm is of the mean over some thirty parameters: 5 ms cost 0.0065 before.
        assert -0.005 < gained < 4e-4


def test_what_was_not_measured_is_bridged(ur5, trajectory):
    """Half a second without measurements, longer than a piece of the spline."""
    stamps, q, dq = run(trajectory)
    kept = (stamps < 3.0) | (stamps > 3.5)
    found = compare_execution(ur5, trajectory, stamps[kept], q[kept], dq[kept])
    # A straight line instead of a twentieth of the motion.
    assert found.executed['log_determinant'] == pytest.approx(
        found.planned['log_determinant'], abs=0.05
    )


def test_too_few_measurements_are_not_judged(ur5, trajectory):
    """Neither few, nor many of one instant."""
    stamps, q, dq = run(trajectory, rate=9.0)
    assert compare_execution(ur5, trajectory, stamps, q, dq) is None
    many = np.full(500, stamps[5]), np.tile(q[5], (500, 1)), np.tile(dq[5], (500, 1))
    assert compare_execution(ur5, trajectory, *many) is None
