# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Messages to arrays and back; joints always by name."""

from __future__ import annotations

from collections.abc import Sequence

from builtin_interfaces.msg import Duration, Time
import numpy as np
from robot_identification.errors import DataError, UnsafeMotionError
from robot_identification.model import IdentifiedModel, JointEncoders, RobotModel
from robot_identification.nodes.joint_states import JointReading
from robot_identification.simulation import TrajectoryPoints
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


def to_seconds(stamp) -> float:
    """Return a time or duration message in seconds."""
    return stamp.sec + stamp.nanosec * 1e-9


def to_time(nanoseconds: int, kind: type = Time) -> Time | Duration:
    """
    Return a time [ns] as a stamp, or as a message of another kind with its fields.

    Seconds since 1970 in a float are off by up to 120 ns.
    """
    return kind(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def joint_values(
    message: JointState | JointReading, joints: Sequence[str], encoders: JointEncoders
) -> tuple[np.ndarray, ...]:
    """
    Return position, velocity and effort (n,) of some joints, as the model has them.

    NaN where the message has no such array. Raises DataError if it lacks a joint.
    """
    index = {name: i for i, name in enumerate(message.name)}
    missing = [joint for joint in joints if joint not in index]
    if missing:
        raise DataError(
            f'a joint state lacks {", ".join(missing)}; it names {", ".join(message.name)}'
        )
    order = [index[joint] for joint in joints]
    readings, speeds, efforts = (
        np.asarray(values)[order]
        if len(values) == len(message.name)
        else np.full(len(order), np.nan)
        for values in (message.position, message.velocity, message.effort)
    )
    return encoders.to_model(readings), encoders.sign * speeds, encoders.sign * efforts


def driver_names(model: IdentifiedModel, tf_prefix: str) -> tuple[str, ...]:
    """Return what the driver calls a model's joints: its own names, or a prefix before ours."""
    called = {ours: theirs for theirs, ours in model.source.joint_names.items()}
    return tuple(called.get(name, tf_prefix + name) for name in model.robot.joint_names)


def joint_state(
    header: Header,
    joints: Sequence[str],
    q: np.ndarray | None = None,
    dq: np.ndarray | None = None,
    effort: np.ndarray | None = None,
) -> JointState:
    """Return a joint-state message; arrays have shape (n,)."""
    return JointState(
        header=header,
        name=list(joints),
        **{
            field: values.tolist()
            for field, values in (('position', q), ('velocity', dq), ('effort', effort))
            if values is not None
        },
    )


def knots_to_message(robot: RobotModel, knots: TrajectoryPoints) -> JointTrajectory:
    """Return a trajectory for a driver; its header stamp is zero, which means now."""
    message = JointTrajectory(joint_names=list(robot.joint_names))
    readings, sign = robot.encoders.to_reading(knots.q), robot.encoders.sign
    for k, time in enumerate(knots.times):
        point = JointTrajectoryPoint(
            time_from_start=to_time(round(1e9 * time), Duration), positions=readings[k].tolist()
        )
        if knots.dq is not None:
            point.velocities = (sign * knots.dq[k]).tolist()
        if knots.ddq is not None:
            point.accelerations = (sign * knots.ddq[k]).tolist()
        message.points.append(point)
    return message


def message_to_knots(
    message: JointTrajectory, joints: Sequence[str], encoders: JointEncoders
) -> TrajectoryPoints:
    """
    Return a trajectory for a driver as points of the model, joints re-sorted by name.

    Raises UnsafeMotionError if joints are missing or unknown, or points carry unequal fields.
    """
    if sorted(message.joint_names) != sorted(joints):
        raise UnsafeMotionError(
            f'the trajectory names {", ".join(message.joint_names)}, needed are '
            f'{", ".join(joints)}'
        )
    order = [list(message.joint_names).index(joint) for joint in joints]
    fields = {}
    for field in ('positions', 'velocities', 'accelerations'):
        rows = [list(getattr(point, field)) for point in message.points]
        if not any(rows):
            fields[field] = None
            continue
        if any(len(row) != len(joints) for row in rows):
            raise UnsafeMotionError(f'{field} do not have {len(joints)} values at every point')
        fields[field] = np.array(rows)[:, order] * encoders.sign
    if fields['positions'] is None:
        raise UnsafeMotionError('the trajectory has no positions')
    times = np.array([to_seconds(point.time_from_start) for point in message.points])
    # The sign is its own inverse: the readings are back.
    q = encoders.to_model(fields['positions'] * encoders.sign)
    return TrajectoryPoints(times, q, fields['velocities'], fields['accelerations'])
