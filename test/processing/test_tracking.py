# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A planned motion is found in a recording, and what differs is the tracking error."""

import numpy as np
import pytest
from robot_identification.excitation import FourierParametrization, Trajectory
from robot_identification.model.identified_model import KinematicFilter
from robot_identification.processing import process, track
from robot_identification.recording.recording import Recording

JOINTS = ('shoulder', 'elbow')


@pytest.fixture
def trajectory(rng):
    """Return a motion of two joints, four seconds."""
    form = FourierParametrization(harmonics=3, base_period=4.0)
    return Trajectory('arm', JOINTS, form, 0.3 * rng.normal(size=(2, form.n_coefficients)), 1, {})


def recorded(trajectory, start, duration, speed=1.0, error=0.0):
    """Return the dataset of a run that begins at `start`, with a constant error of joint 2."""
    stamps = np.arange(0.0, duration, 0.008)
    t = np.clip(speed * (stamps - start), 0.0, trajectory.duration)
    motion = trajectory.sample(t)
    moving = (t > 0.0) & (t < trajectory.duration)
    q = motion.q + np.array([0.0, error]) * np.sin(2 * np.pi * 5.0 * t)[:, None]
    recording = Recording(
        'bag', '/joint_states', JOINTS, stamps, q, speed * motion.dq * moving[:, None],
        np.ones_like(motion.q),
    )
    return process(recording, KinematicFilter(), 'Nm')


@pytest.mark.parametrize('start', [0.0, 0.7, 1.2345])
def test_the_start_is_found_and_nothing_is_left(trajectory, start):
    """A shift by the tolerance of the search, 1e-5 s, at 3 rad/s leaves 3e-5 rad."""
    found = track(trajectory, recorded(trajectory, start, 6.0))
    assert found.start == pytest.approx(start, abs=1e-4)
    assert found.worst.max() < 5e-4


def test_an_error_is_that_of_its_joint(trajectory):
    """A sine of 0.02 rad, of 5 Hz so that no shift takes anything off: 0.0141 rad rms."""
    found = track(trajectory, recorded(trajectory, 1.0, 6.0, error=0.02))
    assert found.rms[1] == pytest.approx(0.02 / np.sqrt(2), rel=0.02)
    assert found.worst[1] == pytest.approx(0.02, rel=0.02)
    assert found.rms[0] < 0.05 * found.rms[1]


def test_what_is_not_the_planned_motion_has_no_error(trajectory):
    """Too short, or executed at a third of its speed."""
    assert track(trajectory, recorded(trajectory, 0.5, 3.0)) is None
    assert track(trajectory, recorded(trajectory, 0.5, 14.0, speed=1.0 / 3.0)) is None
