# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings whose motion is known exactly, and recordings of real arms."""

from dataclasses import dataclass, replace
import os
from pathlib import Path

import numpy as np
import pytest
from robot_identification.model import make_robot_model, parse_urdf
from robot_identification.recording.recording import Recording

RATE = 125.0
FREQUENCIES = 2.0 * np.pi * np.array([0.5, 0.35, 0.22])
DATA = Path(__file__).resolve().parents[3] / 'shared' / 'data'


@dataclass(frozen=True)
class ExactMotion:
    """Three joints that swing for ever, each at its own frequency."""

    rate: float = RATE

    def at(self, t):
        """Return position, velocity and acceleration at times (N,)."""
        phase = FREQUENCIES * t[:, None] + np.arange(3)
        return np.sin(phase), FREQUENCIES * np.cos(phase), -FREQUENCIES**2 * np.sin(phase)

    def times(self, duration=8.0):
        """Return the stamps of a driver that loses nothing."""
        return np.arange(int(duration * self.rate)) / self.rate

    def record(self, t=None, **changes):
        """Return a recording with random effort."""
        t = self.times() if t is None else t
        q, dq, _ = self.at(t)
        effort = np.random.default_rng(0).normal(size=q.shape)
        made = Recording('bag', '/joint_states', ('a', 'b', 'c'), t, q, dq, effort)
        return replace(made, **changes)


def pick(recording, rows):
    """Return a recording of some rows in some order."""
    return replace(
        recording, stamps=recording.stamps[rows], q=recording.q[rows], dq=recording.dq[rows],
        effort=recording.effort[rows],
    )


@pytest.fixture(scope='session')
def exact():
    """Return the motion that is known exactly."""
    return ExactMotion()


@pytest.fixture(scope='session')
def rows_of():
    """Return the function that picks rows of a recording."""
    return pick


@pytest.fixture(scope='session')
def simulated(scene):
    """Return robot, truth and a recording of the simulated UR5, with noise and effort in A."""
    made = scene('ur5')
    run = made.runs[0]
    recording = Recording(
        'simulated', '/joint_states', made.robot.joint_names, run.stamps, *run.measured
    )
    return made.robot, made.truth, recording


@pytest.fixture(scope='session')
def real(robots, panda_urdf):
    """Return a function that reads a recording of a real arm: robot and recording by its name."""
    from robot_identification.recording.bag import read_recording

    folder = Path(os.environ.get('ROBOT_IDENTIFICATION_DATA') or DATA)
    joints = [f'panda_joint{i}' for i in range(1, 8)]
    arms = {
        'ur10_exciting_trajectory': (robots['ur10'], {}),
        'panda_exciting_trajectory': (
            make_robot_model(parse_urdf(panda_urdf.read_text(), 'panda'), joints=joints),
            {f'fer_joint{i}': f'panda_joint{i}' for i in range(1, 8)},
        ),
    }

    def read(name):
        if not (folder / name).is_dir():
            pytest.skip(f'no recording {name} in {folder}: set ROBOT_IDENTIFICATION_DATA')
        robot, names = arms[name]
        return robot, read_recording(folder / name, robot.joint_names, names=names)

    return read
