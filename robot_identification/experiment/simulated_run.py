# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Record a simulated robot without ROS, faster than real time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.experiment.bag import write_joint_states
from robot_identification.experiment.recording import FloatArray
from robot_identification.model.robot_model import RobotModel
from robot_identification.simulation.truth import Truth
from robot_identification.simulation.twin import PHYSICS_STEP
from robot_identification.simulation.twin import Sensors
from robot_identification.simulation.twin import Twin

# Rate of a simulated driver whose robot's YAML names none [Hz].
DEFAULT_RATE = 500.0
# Simulated stamps start here [s]: a stamp of zero would mean that nobody set it.
SIMULATED_EPOCH = 1.0


@dataclass(frozen=True, eq=False)
class SimulatedRun:
    """
    Joint states of a simulated robot, at its driver's rate, kinematic order.

    Attributes
    ----------
    stamps : ndarray, shape (N,)
        Seconds from the start of the motion.
    measured, true : tuple of ndarray, shape (N, n)
        Position [rad], velocity [rad/s], current [A], with and without sensor noise.

    """

    stamps: FloatArray
    measured: tuple[FloatArray, FloatArray, FloatArray]
    true: tuple[FloatArray, FloatArray, FloatArray]


def simulate(
    robot: RobotModel,
    trajectory: Trajectory,
    truth: Truth,
    sensors: Sensors,
    *,
    seed: int = 0,
) -> SimulatedRun:
    """
    Execute a trajectory on a simulated robot, faster than real time and without ROS.

    Parameters
    ----------
    robot : RobotModel
        Description, mounting and limits.
    trajectory : Trajectory
        The motion; the robot stands at its start.
    truth : Truth
        What the robot really is.
    sensors : Sensors
        Noise of the measurement.
    seed : int
        Of the noise.

    """
    rate = robot.sampling_rate if np.isfinite(robot.sampling_rate) else DEFAULT_RATE
    period = max(round(1.0 / rate / PHYSICS_STEP), 1) * PHYSICS_STEP
    stamps = np.arange(0.0, trajectory.duration, period)
    reference = trajectory.sample(stamps)
    twin = Twin(robot, truth, sensors, reference.q[0], seed)
    rows = []
    for q, dq, ddq in zip(reference.q, reference.dq, reference.ddq, strict=True):
        measured, true = twin.measure()
        rows.append((
            measured.q, measured.dq, measured.effort, true.q, true.dq, true.effort,
        ))
        twin.advance(q, dq, ddq, period)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return SimulatedRun(
        stamps,
        (columns[0], columns[1], columns[2]),
        (columns[3], columns[4], columns[5]),
    )


def write_simulated_bag(
    path: Path, robot: RobotModel, run: SimulatedRun, trajectory: Trajectory
) -> None:
    """
    Write a simulated run as a UR driver would have been recorded: joints in alphabetical order.

    Raises
    ------
    UsageError
        If `path` exists.

    """
    order = np.argsort(robot.joint_names)
    q, dq, effort = run.measured
    sign = robot.encoders.sign
    readings, speeds, efforts = (
        values[:, order]
        for values in (robot.encoders.to_reading(q), sign * dq, sign * effort)
    )
    write_joint_states(
        path,
        [robot.joint_names[i] for i in order],
        SIMULATED_EPOCH + run.stamps,
        {'/joint_states': (readings, speeds, efforts)},
        {
            'robot': robot.name,
            'effort_unit': 'A',
            'simulated': 'true',
            'trajectory_sha256': trajectory.sha256,
        },
    )
