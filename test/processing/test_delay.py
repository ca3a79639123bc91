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


@pytest.mark.parametrize('name', ['ur10_exciting_trajectory', 'panda_exciting_trajectory'])
def test_real_arms_have_no_more_delay_than_the_error_says(real, name):
    """Nothing is known of their true delay, but tens of milliseconds would be seen."""
    robot, recording = real(name)
    found = process(recording, KinematicFilter(), 'Nm', robot=robot).found_delay
    assert abs(found.value) < 3.0 * found.standard_error
    assert found.standard_error < 0.010
