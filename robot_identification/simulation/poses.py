# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Static poses reached from below and from above, with what the controller asked for in them.

Friction holds an arm in a pose by another torque from below than from above; their mean is the
gravity torque, which the controller's own model knows (Tika et al. 2020, eq. 32, and both
directions of approach).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.model import Motion, RobotModel
from robot_identification.simulation.controller import quintic, QUINTIC_PEAK
from robot_identification.simulation.ground_truth import GroundTruth
from robot_identification.simulation.mujoco_robot import (
    MujocoRobot, rigid_inverse_dynamics, Sensors,
)
from robot_identification.simulation.run import driver_period, record_motion, SimulatedRun


@dataclass(frozen=True)
class PoseOptions:
    """Options of the visit of poses."""

    dwell: float = 2.0  # in a pose [s]
    approach: float = 0.05  # way of every joint in one direction before the dwell [rad]
    approach_time: float = 1.0  # of that way [s]
    travel_speed: float = 1.5  # largest velocity from pose to pose [rad/s]
    torque_error: float = 0.0  # of the controller's own model, as a share

    def __post_init__(self) -> None:
        for name in ('dwell', 'approach', 'approach_time', 'travel_speed'):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise UsageError(f'poses: {name} is {value:g}, it must be finite and > 0')


def simulate_poses(
    robot: RobotModel,
    truth: GroundTruth,
    sensors: Sensors,
    poses: FloatArray,
    options: PoseOptions | None = None,
) -> SimulatedRun:
    """
    Visit poses (P, n) [rad] on a simulated robot, each from below and from above, and record.

    The run is at the driver's rate, with target torques and currents; ``dwells[p]`` are start and
    end of the stays in pose p. `with_static_friction` makes joints of the truth stick.
    """
    options = PoseOptions() if options is None else options
    poses = np.asarray(poses, dtype=float)
    if poses.ndim != 2 or poses.shape[1] != robot.n or not len(poses):
        raise UsageError(
            f'poses have shape {poses.shape}, needed is one row of {robot.n} joints for each'
        )
    if not np.all(np.isfinite(poses)):
        raise UsageError('poses are not all finite')
    period = driver_period(robot)
    reference, dwells = plan_poses(poses, options, period)
    stamps = period * np.arange(len(reference.q), dtype=np.float64)
    simulator = MujocoRobot(robot, truth, sensors, reference.q[0])
    run = record_motion(robot, simulator, reference, stamps, period)
    target = (1.0 + options.torque_error) * rigid_inverse_dynamics(robot, truth, reference)
    return replace(
        run, target_torque=target, target_current=target / truth.drive_gain, dwells=dwells
    )


def plan_poses(
    poses: FloatArray, options: PoseOptions, period: float
) -> tuple[Motion, FloatArray]:
    """
    Return the motion through all poses (P, n), and start and end of the dwells [s], (P, 2, 2).

    The dwells' second index is from below and from above; `period` is that of the samples [s].
    """
    rows: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    zero = np.zeros(poses.shape[1])
    here = poses[0] - options.approach

    def go(target: FloatArray, duration: float) -> None:
        count = max(round(duration / period), 1)
        rows.extend(
            quintic((here, zero, zero), (target, zero, zero), count * period, k * period)
            for k in range(count)
        )

    dwells = np.empty((len(poses), 2, 2))
    for index, pose in enumerate(poses):
        for side, direction in enumerate((1.0, -1.0)):
            start = pose - direction * options.approach
            way = float(np.abs(start - here).max())
            if way > 0.0:
                go(start, max(QUINTIC_PEAK * way / options.travel_speed, 0.5))
            here = start
            go(pose, options.approach_time)
            here = pose
            dwells[index, side, 0] = len(rows) * period
            rows.extend([(pose, zero, zero)] * max(round(options.dwell / period), 1))
            dwells[index, side, 1] = len(rows) * period
    q, dq, ddq = (np.array(column) for column in zip(*rows, strict=True))
    return Motion(q, dq, ddq), dwells
