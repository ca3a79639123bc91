# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Joint states of a simulated arm at its driver's rate, with what else a robot records."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import EFFORT_UNITS, Motion, RobotModel
from robot_identification.simulation.mujoco_robot import (
    MujocoRobot, PHYSICS_STEP, published_unit,
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
