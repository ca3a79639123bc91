# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A message that is too large is left out before it is built; all others come as they are."""

import pytest
from ros_helpers import RELIABLE, wait_until
from sensor_msgs.msg import JointState

MANY = 1_000_000


@pytest.mark.parametrize('field', ['name', 'position'])
def test_only_small_messages_are_built(graph, monkeypatch, field):
    """A million names, or numbers, between two messages of six joints, which come unchanged."""
    from robot_identification.nodes import direct_subscription

    built, heard = [], []
    build = direct_subscription.deserialize_message

    def note(data, kind):
        built.append(len(data))
        return build(data, kind)

    monkeypatch.setattr(direct_subscription, 'deserialize_message', note)
    direct_subscription.create_bounded_subscription(
        graph.add_node('listener'), JointState, 'joint_states', heard.append, RELIABLE
    )
    publisher = graph.publisher(JointState, '/joint_states')
    small = [
        JointState(
            name=[f'joint_{i}' for i in range(6)], position=[0.1 * number] * 6,
            velocity=[float('nan')] * 6,
        ) for number in (1, 2)
    ]
    large = JointState(**{field: ['j'] * MANY if field == 'name' else [0.0] * MANY})
    for message in (small[0], large, small[1]):
        publisher.publish(message)
    wait_until(lambda: len(heard) == 2, 'the small messages')
    assert [message.position for message in heard] == [message.position for message in small]
    assert [message.name for message in heard] == [message.name for message in small]
    assert len(built) == 2
    assert max(built) < direct_subscription.LARGEST_JOINT_STATE
