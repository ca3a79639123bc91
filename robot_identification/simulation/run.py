# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Runs of a simulated arm: joint states at its driver's rate, with what else a robot records.

Static poses are reached from below and from above. Friction holds an arm in a pose by another
torque from below than from above; their mean is the gravity torque, which the controller's own
model knows (Tika et al. 2020, eq. 32, and both directions of approach).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.model import EFFORT_UNITS, Motion, RobotModel
from robot_identification.simulation.controller import quintic, QUINTIC_PEAK
from robot_identification.simulation.ground_truth import GroundTruth
from robot_identification.simulation.mujoco_robot import (
    MujocoRobot, PHYSICS_STEP, published_unit, rigid_inverse_dynamics, Sensors,
)

# Rate of a simulated driver whose robot's YAML names none [Hz].
DEFAULT_RATE = 500.0


@dataclass(frozen=True, eq=False)
class SimulatedRun:
    """Joint states of a simulated robot, at its driver's rate, kinematic order."""

    stamps: FloatArray  # (N,): seconds from the start of the motion
    # (N, n): position [rad], velocity [rad/s] and effort in the driver's unit, with and without
    # sensor noise.
    measured: tuple[FloatArray, FloatArray, FloatArray]
    true: tuple[FloatArray, FloatArray, FloatArray]
    # (N, n): position [rad] and velocity [rad/s] of the rotors of elastic joints, on the joint's
    # side, with and without sensor noise.
    rotors: tuple[FloatArray, FloatArray] | None = None
    true_rotors: tuple[FloatArray, FloatArray] | None = None
    temperature: FloatArray | None = None  # (N, n): of the joints [deg C], where they warm up
    # (N, n): what the controller's own model asks of the joints [N m] and of the motors [A].
    target_torque: FloatArray | None = None
    target_current: FloatArray | None = None
    # (P, 2, 2): start and end of the stay in each of P poses, reached from below and from above
    # [s].
    dwells: FloatArray | None = None
    unit: str = 'A'  # of the effort, see `published_effort`; one of EFFORT_UNITS

    def rows(self, kept: slice) -> SimulatedRun:
        """Return some of the joint states, without the dwells; stamps remain."""
        def cut(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(cut(one) for one in value)
            return value[kept] if isinstance(value, np.ndarray) else value

        parts = {one.name: cut(getattr(self, one.name)) for one in fields(self)}
        return replace(self, **{**parts, 'dwells': None})


def driver_period(robot: RobotModel) -> float:
    """Return the time between two joint states [s], a multiple of the physics step."""
    rate = robot.sampling_rate if np.isfinite(robot.sampling_rate) else DEFAULT_RATE
    return max(round(1.0 / rate / PHYSICS_STEP), 1) * PHYSICS_STEP


def published_effort(robot: RobotModel, current: FloatArray) -> FloatArray:
    """
    Return the effort in `published_unit` that a driver publishes for a sample's effort [A].

    It is (..., n). Drive gains are the nominal ones: a driver that publishes torque does
    not know the true gains.
    """
    is_current = EFFORT_UNITS[published_unit(robot)].is_current
    return current if is_current else robot.drives.to_torque(current)


def record_motion(
    robot: RobotModel, simulator: MujocoRobot, reference: Motion, stamps: FloatArray, period: float
) -> SimulatedRun:
    """
    Follow a motion with a simulated arm, and record it.

    `robot` is the arm as the driver knows it; the simulator must be near the motion's start.
    `reference` has N samples at `stamps` (N,) [s], with a `period` [s] that is a multiple of the
    physics step.
    """
    samples = []
    for q, dq, ddq in zip(reference.q, reference.dq, reference.ddq, strict=True):
        samples.append(simulator.measure())
        simulator.advance(q, dq, ddq, period)

    measured, true = zip(*samples, strict=True)
    rotors = tuple(
        None if measured[0].rotor_q is None else (
            np.array([sample.rotor_q for sample in side]),
            np.array([sample.rotor_dq for sample in side]),
        )
        for side in (measured, true)
    )
    states = [
        (
            np.array([sample.q for sample in side]),
            np.array([sample.dq for sample in side]),
            published_effort(robot, np.array([sample.effort for sample in side])),
        )
        for side in (measured, true)
    ]
    temperature = np.array([sample.temperature for sample in measured])
    return SimulatedRun(
        stamps, states[0], states[1], rotors[0], rotors[1],
        temperature=temperature if simulator.warms_up else None,
        unit=published_unit(robot),
    )


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
