# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Messages speak the driver's readings, arrays the model's positions."""

import numpy as np
import pytest
from robot_identification.errors import DataError, UnsafeMotionError
from robot_identification.model.registry import load_robot
from robot_identification.model.robot_model import JointEncoders, plain_encoders
from robot_identification.nodes.conversions import (
    joint_state, joint_values, knots_to_message, message_to_knots, to_time,
)
from robot_identification.simulation.controller import TrajectoryPoints
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

ENCODERS = JointEncoders(np.array([1.0, -1.0, 1.0]), np.array([0.5, 0.25, -2.0]))


def test_joint_values_are_the_models():
    """Q = sign * reading - zero; velocity and effort turn with the sign; order is by name."""
    message = joint_state(
        Header(), ['c', 'a', 'b', 'x'], np.array([3.0, 1.0, 2.0, 9.0]),
        np.array([0.3, 0.1, 0.2, 0.9]), np.array([30.0, 10.0, 20.0, 90.0]),
    )
    q, dq, effort = joint_values(message, ['a', 'b', 'c'], ENCODERS)
    np.testing.assert_allclose(q, [0.5, -2.25, 5.0])
    np.testing.assert_allclose(dq, [0.1, -0.2, 0.3])
    np.testing.assert_allclose(effort, [10.0, -20.0, 30.0])
    with pytest.raises(DataError, match='lacks d'):
        joint_values(message, ['a', 'd'], plain_encoders(2))


@pytest.mark.parametrize('nanoseconds', [0, 1, 1_790_000_000_123_456_789, 2**31 * 10**9 - 1])
def test_a_stamp_is_the_one_that_came(nanoseconds):
    """To the last nanosecond, also of this century."""
    stamp = to_time(nanoseconds)
    assert stamp.sec * 10**9 + stamp.nanosec == nanoseconds


def test_a_trajectory_comes_back_through_the_driver(rng):
    """Sent in readings, it is followed in the model's positions, in whatever order it comes."""
    robot = load_robot('youbot')
    times = np.array([0.02, 0.5, 1.25])
    knots = TrajectoryPoints(times, *(rng.uniform(-1, 1, (3, 5)) for _ in range(3)))
    message = knots_to_message(robot, knots)
    readings = np.array([point.positions for point in message.points])
    # Readings are rounded to the last bit of 3 rad, times to nanoseconds.
    np.testing.assert_allclose(robot.encoders.to_model(readings), knots.q, atol=1e-14)
    assert np.abs(readings - knots.q).min() > 1.0, 'every zero of the youBot is over 65 deg'
    order = [3, 0, 4, 1, 2]
    message.joint_names = [message.joint_names[i] for i in order]
    for point in message.points:
        for field in ('positions', 'velocities', 'accelerations'):
            setattr(point, field, [getattr(point, field)[i] for i in order])
    back = message_to_knots(message, robot.joint_names, robot.encoders)
    np.testing.assert_allclose(back.times, times, atol=1e-9)
    for field in ('q', 'dq', 'ddq'):
        np.testing.assert_allclose(getattr(back, field), getattr(knots, field), atol=1e-14)


@pytest.mark.parametrize(('names', 'points', 'reason'), [
    ('ab', [([0.0, 0.0], [])], 'names a, b, needed are a, b, c'),
    ('abx', [([0.0] * 3, [])], 'names a, b, x'), ('aba', [([0.0] * 3, [])], 'names a, b, a'),
    ('abc', [([0.0] * 2, [])], 'positions do not have 3 values'),
    ('abc', [([0.0] * 3, [0.0] * 3), ([0.0] * 3, [])], 'velocities do not have 3 values'),
    ('abc', [], 'no positions'), ('abc', [([], [0.0] * 3)], 'no positions'),
])
def test_a_trajectory_of_other_joints_or_unequal_points_is_refused(names, points, reason):
    message = JointTrajectory(joint_names=list(names), points=[
        JointTrajectoryPoint(positions=q, velocities=dq) for q, dq in points
    ])
    with pytest.raises(UnsafeMotionError, match=reason):
        message_to_knots(message, ['a', 'b', 'c'], ENCODERS)
