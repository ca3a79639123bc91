# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""One commander of one arm, on the topics as they are remapped."""

import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes.graph import EFFORT_COMMANDS, GraphGuard
from ros_helpers import wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray


def refusal(guard):
    """Return why the guard refuses, empty where it does not."""
    try:
        guard.check(EFFORT_COMMANDS)
    except UnsafeMotionError as error:
        return str(error)
    return ''


@pytest.fixture
def guard(graph):
    node = graph.add_node(
        'commander', '', 'joint_states:=/ur/joint_states', f'{EFFORT_COMMANDS}:=/ur/effort',
    )
    return GraphGuard(node, '')


def test_a_second_publisher_of_remapped_joint_states_is_refused(graph, guard):
    """Publishers of the topic before the remapping are those of another arm."""
    arms = [graph.add_node(name) for name in ('driver', 'player')]
    for arm in arms:
        arm.create_publisher(JointState, '/joint_states', 1)
    arms[0].create_publisher(JointState, '/ur/joint_states', 1)
    assert not refusal(guard)
    arms[1].create_publisher(JointState, '/ur/joint_states', 1)
    wait_until(lambda: 'all publish /ur/joint_states' in refusal(guard), 'a refusal')


def test_a_second_commander_on_remapped_commands_is_refused(graph, guard):
    other = graph.add_node('other')
    other.create_publisher(Float64MultiArray, EFFORT_COMMANDS, 1)
    assert not refusal(guard)
    other.create_publisher(Float64MultiArray, '/ur/effort', 1)
    wait_until(lambda: '/other publishes /ur/effort' in refusal(guard), 'a refusal')


def test_a_remapping_that_leads_on_is_refused(graph):
    """The subscription is remapped once, and what rclpy is asked about twice."""
    node = graph.add_node('chained', '', 'joint_states:=first', 'first:=second')
    assert '/first, and that to /second' in refusal(GraphGuard(node, ''))
