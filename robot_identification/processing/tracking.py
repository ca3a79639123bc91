# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Tracking of a planned motion by the recorded one, and commands of proportional servos.

A servo that is only told where to be drives its motor by ``gain (command - position)``: the error
stands for a current of an unknown gain, once it is known how late commands arrive. The delay is
that which leaves least of the error to be explained by bodies and plain friction. A wrong one adds
velocity, which friction takes, and acceleration, which rotors take; what the error itself changes
by meanwhile decides. More friction terms would imitate a delay, as those before sliding do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.excitation import Trajectory
from robot_identification.model import (
    inertial_regressor, KinematicFilter, Motion, POSITION_ERROR, RobotModel,
)
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.effort_hypotheses import orthonormal
from robot_identification.processing.plausibility import SMALLEST_MOTION
from robot_identification.processing.processing import process
from robot_identification.recording import COMMAND_CHANNEL, Recording
import scipy

# Starts are tried at this distance first [s], and then found between two of them.
STEP = 0.02
# Of the start before, and of the end after the recording [s]: the arm rests there.
SLACK = 0.5
# What differs by more than this from the planned motion is another one [rad].
ANOTHER_MOTION = 0.3


@dataclass(frozen=True, eq=False)
class Tracking:
    """Planned against executed positions."""

    # When the planned motion began, by the least error, seconds after the first joint state; the
    # mean delay of the drives is part of it.
    start: float
    # (n,): error of each joint [rad].
    rms: FloatArray
    worst: FloatArray


def track(trajectory: Trajectory, dataset: Dataset) -> Tracking | None:
    """
    Find a planned motion, with all its periods, in a recording by one shift in time.

    Returns None if the recording is shorter than the motion by more than `SLACK`, or holds another
    motion, such as a slower execution of the planned one.
    """
    t, q = dataset.stamps, dataset.motion.q
    if t[-1] - t[0] + SLACK < trajectory.duration:
        return None
    start = _coarse_start(trajectory, t, q)
    found = scipy.optimize.minimize_scalar(
        lambda at: float(np.mean(_errors(trajectory, t, q, at) ** 2)),
        bounds=(start - STEP, start + STEP), method='bounded', options={'xatol': 1e-5},
    )
    errors = _errors(trajectory, t, q, float(found.x))
    rms = np.sqrt(np.mean(errors**2, axis=0))
    if rms.max() > ANOTHER_MOTION:
        return None
    return Tracking(float(found.x), rms, np.abs(errors).max(axis=0))


def _coarse_start(trajectory: Trajectory, t: FloatArray, q: FloatArray) -> float:
    """Return the start on a grid at which the sum of squared errors is least."""
    # Before and after the recording the arm is taken to stand where it was seen last.
    grid = np.arange(t[0] - SLACK, t[-1] + SLACK, STEP)
    recorded = np.column_stack([np.interp(grid, t, column) for column in q.T])
    planned = trajectory.sample(np.arange(0.0, trajectory.duration, STEP)).q[: len(recorded)]
    # Sum over a window of (recorded - planned)^2, less what does not depend on the window.
    middle = planned.mean(axis=0)
    recorded, planned = recorded - middle, planned - middle
    squares = np.concatenate([[0.0], np.cumsum(np.sum(recorded**2, axis=1))])
    energy = squares[len(planned):] - squares[: -len(planned)]
    product = sum(
        scipy.signal.correlate(one, other, mode='valid')
        for one, other in zip(recorded.T, planned.T, strict=True)
    )
    return float(grid[int(np.argmin(energy - 2.0 * np.asarray(product)))])


def _errors(trajectory: Trajectory, t: FloatArray, q: FloatArray, start: float) -> FloatArray:
    """Return executed less planned positions, shape (samples, n)."""
    during = (t >= start) & (t <= start + trajectory.duration)
    errors: FloatArray = q[during] - trajectory.sample(t[during] - start).q
    return errors


# Delays that are tried [s]: buses and loops of hobby servos take up to a tenth of a second, and
# programs log a command before or after they read the position.
DELAYS = np.arange(-0.05, 0.2001, 0.001)
# Rows of a recording that the delay is taken from; chosen: minutes at 30 Hz.
MOST_ROWS = 10_000
# Cut-off of the kinematics over the rate of the recording, at most that of the default filter:
# differences of positions have noise up to half the rate.
CUTOFF_SHARE = 0.25
# Velocity at which the sign of the dry friction reverses [rad/s].
SLIDING = 0.01


@dataclass(frozen=True)
class CommandDelay:
    """Delay from a logged command to the servo's torque [s]."""

    value: float
    joints: tuple[float, float]  # the smallest and largest that one joint would have alone

    def describe(self) -> str:
        """Return the delay in words."""
        low, high = (1e3 * one for one in self.joints)
        return (
            f'effort is the position error of the servos: commands act {1e3 * self.value:.0f} ms '
            f'after they were logged (found; single joints {low:.0f} to {high:.0f} ms). What the '
            'delay is off by is viscous friction in the model'
        )


def with_position_error(recording: Recording, delay: float) -> Recording:
    """
    Return a recording with commands whose effort is command less position [rad].

    Commands are taken `delay` [s] before the positions, straight between two of them.
    """
    return replace(
        recording,
        effort=_commands(recording, recording.stamps - delay) - recording.q,
        metadata={**recording.metadata, 'effort_unit': POSITION_ERROR},
    )


def _commands(recording: Recording, times: FloatArray) -> FloatArray:
    """Return the commanded positions (N, n) at some times [rad]."""
    command = recording.channels[COMMAND_CHANNEL]
    known = np.isfinite(command.values).all(axis=1)
    if not known.any():
        raise DataError(f'{recording.source} has no row with the commands of all joints')
    return np.column_stack([
        np.interp(times, command.stamps[known], column) for column in command.values[known].T
    ])


def find_command_delay(
    robot: RobotModel, recordings: Sequence[Recording],
    window: tuple[float | None, float | None] = (None, None),
) -> CommandDelay:
    """
    Return the delay of the commands of recordings.

    The window is as in `process` [s]. Raises DataError where it is beyond DELAYS, or no joint
    moves.
    """
    misfits = np.sum([_misfits(robot, recording, window) for recording in recordings], axis=0)
    moving = misfits[np.any(misfits != 0.0, axis=1)]
    sources = ', '.join(recording.source for recording in recordings)
    if not len(moving):
        raise DataError(f'{sources}: no joint moves, so that the delay of its command is unknown')
    at = int(np.argmin(moving.sum(axis=0)))
    if at in (0, len(DELAYS) - 1):
        raise DataError(
            f'{sources}: no delay from {1e3 * DELAYS[0]:.0f} to {1e3 * DELAYS[-1]:.0f} ms makes '
            'positions follow their commands: check which columns are commands, and that the '
            'servos are proportional'
        )
    alone = DELAYS[np.argmin(moving, axis=1)]
    return CommandDelay(float(DELAYS[at]), (float(alone.min()), float(alone.max())))


def _misfits(
    robot: RobotModel, recording: Recording, window: tuple[float | None, float | None]
) -> FloatArray:
    """Return minus the log-likelihood of each of DELAYS (n, d); zero of a joint at rest."""
    rate = 1.0 / float(np.median(np.diff(recording.stamps)))
    smoothing = KinematicFilter(cutoff=min(KinematicFilter().cutoff, CUTOFF_SHARE * rate))
    dataset = process(
        recording, smoothing, POSITION_ERROR, start=window[0], stop=window[1], with_effort=False
    )
    rows = np.flatnonzero(dataset.fitted)[:MOST_ROWS]
    whole = dataset.motion
    motion = Motion(*(np.array(one[rows]) for one in (whole.q, whole.dq, whole.ddq)))
    commands = np.stack([_commands(recording, dataset.stamps[rows] - delay) for delay in DELAYS])
    bodies = inertial_regressor(robot, motion).reshape(len(rows), robot.n, -1)
    misfits = np.zeros((robot.n, len(DELAYS)))
    for joint, speed in enumerate(motion.dq.T):
        if np.ptp(motion.q[:, joint]) <= SMALLEST_MOTION:
            continue
        basis = orthonormal(np.column_stack([
            bodies[:, joint], np.ones(len(rows)), motion.ddq[:, joint], speed,
            np.tanh(speed / SLIDING),
        ]))
        errors = commands[:, :, joint] - motion.q[:, joint]
        squares = np.sum(errors**2, axis=1) - np.sum((errors @ basis) ** 2, axis=1)
        misfits[joint] = 0.5 * len(rows) * np.log(np.maximum(squares, np.finfo(float).tiny))
    return misfits
