# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tracking of the planned motion by the recorded one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation import Trajectory
from robot_identification.processing.dataset import Dataset
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
