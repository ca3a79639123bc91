# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Record a simulated robot without ROS, faster than real time, once or repeatedly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.excitation import Trajectory
from robot_identification.model import Motion, RobotModel
from robot_identification.recording.bag_writer import (
    joint_state_maker, Maker, new_bag, write_samples,
)
from robot_identification.simulation import (
    driver_period, GroundTruth, MujocoRobot, quintic, QUINTIC_PEAK, record_motion, Sensors,
    SimulatedRun,
)

# Simulated stamps start here [s]: a stamp of zero would mean that it was not set.
SIMULATED_EPOCH = 1.0
# Largest velocity on the way back to the start of a motion [rad/s], the least time for it [s], and
# what is no way at all [rad].
RETURN_SPEED = 0.8
SHORTEST_RETURN = 0.5  # [s]
SHORTEST_WAY = 1.0e-6  # [rad]


def simulate(
    robot: RobotModel,
    trajectory: Trajectory,
    truth: GroundTruth,
    sensors: Sensors,
    *,
    seed: int = 0,
) -> SimulatedRun:
    """Execute a trajectory on a simulated robot, faster than real time and without ROS."""
    return simulate_repeats(robot, trajectory, truth, sensors, 1, seed=seed)[0]


def simulate_repeats(
    robot: RobotModel,
    trajectory: Trajectory,
    truth: GroundTruth,
    sensors: Sensors,
    repeats: int,
    *,
    seed: int = 0,
) -> tuple[SimulatedRun, list[SimulatedRun]]:
    """
    Execute a trajectory repeatedly on a simulated robot that keeps its temperature.

    Returns the whole run and each repetition alone, with stamps that continue from one to the
    next. If the motion does not end at its start, the robot moves back between two repetitions;
    only the whole run has these moves. Raises UsageError if `repeats` is not positive.
    """
    if repeats < 1:
        raise UsageError(f'a motion is repeated {repeats} times: needed is at least once')
    period = driver_period(robot)
    motion = trajectory.sample(np.arange(0.0, trajectory.duration, period))
    back = _way_back(trajectory, period)
    count, cycle = len(motion.q), len(motion.q) + len(back.q)
    reference = Motion(*(
        np.vstack([there, here] * (repeats - 1) + [there])
        for there, here in ((motion.q, back.q), (motion.dq, back.dq), (motion.ddq, back.ddq))
    ))
    stamps = period * np.arange(len(reference.q), dtype=np.float64)
    simulator = MujocoRobot(robot, truth, sensors, reference.q[0], seed)
    whole = record_motion(robot, simulator, reference, stamps, period)
    return whole, [
        whole.rows(slice(k * cycle, k * cycle + count)) for k in range(repeats)
    ]


def _way_back(trajectory: Trajectory, period: float) -> Motion:
    """Return the motion from the end of another to its start; nothing where these are one."""
    ends = trajectory.sample(np.array([0.0, trajectory.duration]))
    start, end = ((ends.q[k], ends.dq[k], ends.ddq[k]) for k in (0, 1))
    way = float(np.abs(start[0] - end[0]).max())
    if way < SHORTEST_WAY:
        nothing = np.empty((0, len(start[0])))
        return Motion(nothing, nothing, nothing)
    duration = max(QUINTIC_PEAK * way / RETURN_SPEED, SHORTEST_RETURN)
    count = max(round(duration / period), 1)
    rows = [quintic(end, start, count * period, k * period) for k in range(count)]
    return Motion(*(np.array(column) for column in zip(*rows, strict=True)))


def write_simulated_bag(
    path: Path, robot: RobotModel, run: SimulatedRun, trajectory: Trajectory | None = None
) -> None:
    """
    Write a simulated run as recorded from a UR driver: joints in alphabetical order.

    Effort is in A, or in N m for an arm whose YAML says so. Besides `joint_states`, the quantities
    that the run has of `rotor_states`, `joint_temperatures`, `target_moment` and `target_current`
    are written, each with the names of the joints. The hash of the trajectory is noted in the bag.
    Raises UsageError if `path`, the folder of the bag, exists.
    """
    metadata = {'robot': robot.name, 'effort_unit': run.unit, 'simulated': 'true'}
    if trajectory is not None:
        metadata['trajectory_sha256'] = trajectory.sha256
    makers = {'/joint_states': _joint_states(robot, *run.measured)}
    if run.rotors is not None:
        makers['/rotor_states'] = _joint_states(
            robot, *run.rotors, np.empty((len(run.stamps), 0))
        )
    sign, none = robot.encoders.sign, np.empty((len(run.stamps), 0))
    for topic, values in (
        ('/joint_temperatures', run.temperature),
        ('/target_moment', None if run.target_torque is None else sign * run.target_torque),
        ('/target_current', None if run.target_current is None else sign * run.target_current),
    ):
        if values is not None:
            makers[topic] = joint_state_maker(robot.joint_names, none, none, values)
    with new_bag(path, metadata) as writer:
        write_samples(
            writer, np.round((SIMULATED_EPOCH + run.stamps) * 1e9).astype(np.int64), makers
        )


def _joint_states(robot: RobotModel, q: FloatArray, dq: FloatArray, effort: FloatArray) -> Maker:
    """Return what makes joint states, in alphabetical order, as the driver reads them."""
    order, sign = np.argsort(robot.joint_names), robot.encoders.sign
    return joint_state_maker(
        [robot.joint_names[i] for i in order], robot.encoders.to_reading(q)[:, order],
        (sign * dq)[:, order], (sign * effort)[:, order] if effort.size else effort,
    )
