# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The delay between position and effort is found, with an error that can be believed."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.processing import process

# The simulator's effort is that of the step that led to the state [s], simulation/mujoco_robot.py.
TWIN = 0.0005


def late(recording, delay):
    at = recording.stamps - delay
    effort = np.column_stack([np.interp(at, recording.stamps, c) for c in recording.effort.T])
    return replace(recording, effort=effort)


def run(recording, robot, **options):
    return process(recording, KinematicFilter(), 'A', robot=robot, **options)


@pytest.mark.parametrize('delay', [-0.010, -0.003, 0.0, 0.004, 0.008, 0.016])
def test_a_known_delay_of_the_twin_is_found(simulated, delay):
    """Within three standard errors, which are less than a millisecond."""
    robot, _, recording = simulated
    dataset = run(late(recording, delay), robot)
    found = dataset.found_delay
    assert found.standard_error < 0.001
    assert abs(found.value - delay - TWIN) < 3.0 * found.standard_error
    # What is not sure, or does not matter, is known but no warning.
    assert (found.describe() in dataset.notes) == (abs(delay) > 0.0)
    assert dataset.delay == 0.0


def stops(q, radius):
    """Return stop operators along positions (N,), one sample after the other."""
    z = np.zeros(len(q))
    for k in range(1, len(q)):
        z[k] = min(max(z[k - 1] + q[k] - q[k - 1], -radius), radius)
    return z / radius


@pytest.mark.parametrize('delay', [0.0, 0.008])
def test_hysteresis_is_no_delay(simulated, delay):
    """Friction that follows displacement, of 6 % of the torque limit at two distances."""
    robot, truth, recording = simulated
    size = 0.04 * robot.limits.effort / truth.drive_gain
    added = np.column_stack([
        scale * (stops(q, 0.003) + 0.5 * stops(q, 0.03))
        for scale, q in zip(size, recording.q.T, strict=True)
    ])
    found = run(late(replace(recording, effort=recording.effort + added), delay), robot)
    error = found.found_delay.value - delay - TWIN
    assert abs(error) < 0.003
    assert abs(error) < 3.0 * found.found_delay.standard_error


def test_what_is_taken_off_is_found_no_more(simulated):
    robot, _, recording = simulated
    delayed = late(recording, 0.008)
    rest = run(delayed, robot, delay=0.008)
    assert rest.delay == 0.008
    assert abs(rest.found_delay.value - TWIN) < 3.0 * rest.found_delay.standard_error
    assert rest.notes == ()
    more = run(delayed, robot, delay=-0.002)
    assert any('beyond -2.0 ms taken off' in note for note in more.notes)
    np.testing.assert_array_equal(rest.effort, delayed.effort)


def test_a_noisy_velocity_does_not_matter(simulated):
    """The position is used where it is the quieter one."""
    robot, _, recording = simulated
    noise = 0.05 * np.random.default_rng(0).normal(size=recording.dq.shape)
    found = run(late(replace(recording, dq=recording.dq + noise), 0.008), robot).found_delay
    assert abs(found.value - 0.008 - TWIN) < 0.0025


def test_without_the_arm_or_motion_there_is_no_delay(simulated, rows_of):
    robot, _, recording = simulated
    assert process(recording, KinematicFilter(), 'A').found_delay is None
    short = rows_of(recording, slice(100, 400))
    assert run(short, robot).found_delay is None
    resting = replace(recording, q=0.0 * recording.q, dq=0.0 * recording.dq)
    assert run(resting, robot).found_delay is None


def test_parts_between_gaps_count_together(simulated, rows_of):
    """
    Three parts of three seconds are too short each: their columns would explain noise.

    The longest part alone was looked at, and a Panda at 1 kHz with gaps every 5 s was said to
    have effort 11.6 +- 2.3 ms early, where all of it says 0 +- 2 ms.
    """
    robot, _, recording = simulated
    kept = np.mod(recording.stamps, 3.3) < 3.2
    found = run(rows_of(late(recording, 0.008), np.flatnonzero(kept)), robot).found_delay
    assert abs(found.value - 0.008 - TWIN) < 3.0 * found.standard_error
    assert found.standard_error < 0.002


def test_joints_that_differ_make_the_common_delay_uncertain(simulated):
    """Half of the joints 30 ms late: there is no delay of all, and each has its own."""
    robot, _, recording = simulated
    lagging = late(recording, 0.03)
    effort = np.where(np.arange(robot.n) % 2, lagging.effort, recording.effort)
    found = run(replace(recording, effort=effort), robot).found_delay
    assert found is None or not found.is_significant
    if found is not None:
        of_joints = [one.value for one in found.of_joints]
        expected = np.where(np.arange(robot.n) % 2, 0.03, 0.0)
        # To the step of `validation.hypotheses`.
        np.testing.assert_allclose(of_joints, expected + TWIN, atol=0.006)


def test_a_delay_beyond_the_range_is_not_found(simulated):
    """Fifty milliseconds: the joints that see anything see it at the end of the range."""
    robot, _, recording = simulated
    assert run(late(recording, 0.05), robot).found_delay is None


@pytest.mark.parametrize('name', ['ur10_exciting_trajectory', 'panda_exciting_trajectory'])
def test_real_arms_have_no_more_delay_than_the_error_says(real, name):
    """Nothing is known of their true delay, but tens of milliseconds would be seen."""
    robot, recording = real(name)
    found = process(recording, KinematicFilter(), 'Nm', robot=robot).found_delay
    assert abs(found.value) < 3.0 * found.standard_error
    assert found.standard_error < 0.010
