# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Drift of a simulation from a recording: how long it stays near the arm under the same torques.

A rollout begins at a measured state and is driven by the measured effort. A torque error grows to
``1/2 (M^-1 error) t^2`` in an open loop; under a servo it ends at error over stiffness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import math

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.model import joint_axes, RobotModel, tool_frame
from robot_identification.processing import Dataset
from robot_identification.simulation import Drive
import scipy

# After which times drift is stated [s]: a step of a controller, a movement, a task.
HORIZONS = (0.1, 0.5, 2.0)
# Between the instants that are kept of a rollout [s]; all horizons are multiples.
SPACING = 0.02
# A joint that is so far from the recording is somewhere else: half a turn [rad], or a metre of a
# prismatic joint [m].
LOST_ANGLE, LOST_WAY = math.pi, 1.0


@dataclass(frozen=True, eq=False)
class RolloutPlan:
    """Starts of the rollouts of a recording, and the times that are stated."""

    bag: str
    joints: tuple[str, ...]
    rows: IntArray  # (S,): rows of the recording that they begin at
    stamps: FloatArray  # (S,): seconds after the first joint state
    horizons: tuple[float, ...]  # those that fit the recording [s]

    @property
    def times(self) -> FloatArray:
        """Instants (T,) that are kept, from the start [s]."""
        last = self.horizons[-1] if self.horizons else 0.0
        return SPACING * np.arange(round(last / SPACING) + 1.0)

    @property
    def stated(self) -> IntArray:
        """Return the indices (H,) of the horizons among the times."""
        return np.array([round(one / SPACING) for one in self.horizons], dtype=int)


@dataclass(frozen=True, eq=False)
class Simulated:
    """Rollouts of one model in one loop."""

    name: str  # {'model', 'urdf', 'mjcf', 'constant_velocity'}
    loop: str  # {'open', 'closed'}
    q: FloatArray  # (T, S, n): simulated positions [rad]; NaN where the simulation broke down
    drift: FloatArray  # (T, S, n): simulated less measured [rad]; infinite where a joint is lost
    tool: FloatArray  # (T, S): of the tool from the measured one [m]; infinite where q is NaN


def plan_rollouts(
    dataset: Dataset, starts: int, horizons: Sequence[float] = HORIZONS
) -> RolloutPlan:
    """
    Return where rollouts begin: evenly spread where scored samples go on for long enough.

    Horizons that no part of the recording is long enough for are left out, and where even the
    shortest is, the plan is empty.
    """
    for fitting in range(len(horizons), 0, -1):
        candidates = _long_enough(dataset, horizons[fitting - 1])
        if candidates.size:
            chosen = np.linspace(0, candidates.size - 1, min(starts, candidates.size))
            rows: IntArray = candidates[np.round(chosen).astype(int)]
            return RolloutPlan(
                dataset.source, dataset.joint_names, rows, dataset.stamps[rows],
                tuple(horizons[:fitting]),
            )
    none = np.zeros(0, dtype=int)
    return RolloutPlan(dataset.source, dataset.joint_names, none, np.zeros(0), ())


def _long_enough(dataset: Dataset, horizon: float) -> IntArray:
    """Return the rows after which everything is scored, without a gap, for a time [s]."""
    usable = dataset.scored & np.isfinite(dataset.effort).all(axis=1)
    lacking = np.concatenate([[0], np.cumsum(~usable)])
    found = []
    for segment in dataset.segments:
        stamps = dataset.stamps[segment]
        first = segment.start or 0
        # Rounding of stamps must not cost a recording that is as long as the horizon its start.
        end = first + np.searchsorted(stamps, stamps + horizon - 1e-6, side='left')
        row = first + np.arange(len(stamps))
        inside = end < first + len(stamps)
        whole = lacking[np.minimum(end + 1, len(dataset))] == lacking[row]
        found.append(row[inside & whole])
    return np.concatenate(found) if found else np.zeros(0, dtype=int)


class Measurement:
    """Effort, position and velocity of a recording between its stamps."""

    def __init__(self, dataset: Dataset, plan: RolloutPlan) -> None:
        self._plan = plan
        first, last = int(plan.rows.min()), int(plan.rows.max())
        until = dataset.stamps[last] + plan.times[-1] + 2.0 / dataset.rate
        rows = slice(first, int(np.searchsorted(dataset.stamps, until, side='right')))
        # Of samples with the same stamp the first one counts.
        stamps, kept = np.unique(dataset.stamps[rows], return_index=True)
        self._stamps = stamps
        self._effort = np.array(dataset.effort[rows][kept])
        motion = dataset.motion
        self._q = scipy.interpolate.CubicHermiteSpline(
            stamps, np.array(motion.q[rows][kept]), np.array(motion.dq[rows][kept])
        )

    def position(self, times: FloatArray) -> FloatArray:
        """Return positions (T, S, n) [rad] at times (T,) after the starts [s]."""
        q: FloatArray = self._q(self._at(times))
        return q

    def velocity(self, times: FloatArray) -> FloatArray:
        """Return velocities (T, S, n) [rad/s] at times (T,) after the starts [s]."""
        dq: FloatArray = self._q(self._at(times), 1)
        return dq

    def effort(self, times: FloatArray) -> FloatArray:
        """Return efforts (T, S, n), straight between two samples, in the recording's unit."""
        at = self._at(times)
        columns = [np.interp(at, self._stamps, column) for column in self._effort.T]
        return np.stack(columns, axis=-1)

    def drive(
        self, torque_per_effort: FloatArray, step: float, servo: tuple[FloatArray, FloatArray]
    ) -> Drive:
        """
        Return what drives the rollouts to the last time of the plan, in steps of a time [s].

        `servo` has stiffness and damping (n,) of the servo [N m/rad], [N m s/rad].
        """
        ends = step * np.arange(round(float(self._plan.times[-1]) / step) + 1.0)
        return Drive(
            step, self.effort(ends[:-1] + 0.5 * step) * torque_per_effort,
            self.position(ends), self.velocity(ends), *servo,
        )

    def _at(self, times: FloatArray) -> FloatArray:
        at: FloatArray = times[:, None] + self._plan.stamps
        return np.clip(at, self._stamps[0], self._stamps[-1])


def measure_drift(
    robot: RobotModel, name: str, loop: str, q: FloatArray, measured: FloatArray
) -> Simulated:
    """Return simulated and measured positions (T, S, n) [rad] as rollouts with their drift."""
    known = np.isfinite(q).all(axis=2)
    tool = np.full(known.shape, np.inf)
    frame = tool_frame(robot)
    tool[known] = np.linalg.norm(
        tool_positions(robot, frame, q[known]) - tool_positions(robot, frame, measured[known]),
        axis=1,
    )
    return Simulated(name, loop, q, joint_drift(robot, q, measured), tool)


def joint_drift(robot: RobotModel, q: FloatArray, measured: FloatArray) -> FloatArray:
    """Return simulated less measured positions [rad]; infinite from where a joint is lost on."""
    _, _, prismatic = joint_axes(robot.pinocchio)
    difference = q - measured
    with np.errstate(invalid='ignore'):
        far = ~(np.abs(difference) < np.where(prismatic, LOST_WAY, LOST_ANGLE))
    return np.where(np.logical_or.accumulate(far, axis=0), np.inf, difference)


def tool_positions(robot: RobotModel, frame: str, q: FloatArray) -> FloatArray:
    """Return where a frame is in the root frame (N, 3) [m], at positions (N, n) [rad]."""
    model = robot.pinocchio
    data, index = model.createData(), model.getFrameId(frame)
    places = np.empty((len(q), 3))
    for place, one in zip(places, q, strict=True):
        pin.forwardKinematics(model, data, one)
        place[:] = pin.updateFramePlacement(model, data, index).translation
    return places
