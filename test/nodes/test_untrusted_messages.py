# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Texts of topics that anybody may publish on: what cannot be understood ends no node."""

import json
from types import SimpleNamespace

import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes.graph_guard import GraphGuard
from robot_identification.nodes.json_text import LONGEST_JSON, parse_json
from robot_identification.nodes.motion_interface import MotionInterface
from std_msgs.msg import String

DEEP = 8000 * '['
LARGE = json.dumps({'id': 'x', 'node': 'x', 'scope': '', 'keys': ['x'], 'age': 10**400})
NESTED = json.dumps({'id': json.loads(400 * '[' + 400 * ']'), 'node': 'x', 'age': 1.0})
TEXTS = ['', 'null', '3', '[]', '{}', '[{}]', '"x"', '{"age": NaN}', DEEP, LARGE, NESTED]


class Graph:
    """A node that hears what a test says."""

    def __init__(self):
        self.heard = []

    def create_subscription(self, kind, topic, callback, qos):
        self.heard.append(callback)

    def resolve_topic_name(self, name):
        return f'/{name}'


@pytest.mark.parametrize('text', TEXTS, ids=lambda text: text[:20])
@pytest.mark.parametrize('make', [
    lambda graph: GraphGuard(graph, 'joint_states', 'token'),
    lambda graph: MotionInterface(
        graph, SimpleNamespace(simulated=True), lambda event: None, controller='',
        interface='auto', lock=None,
    ),
], ids=['guard', 'interface'])
def test_no_text_raises(make, text):
    graph = Graph()
    make(graph)
    for callback in graph.heard:
        callback(String(data=text))


def test_the_identity_of_an_earlier_simulation_is_not_heeded():
    """A bag that is replayed ends no simulated motion."""
    graph = Graph()
    guard = GraphGuard(graph, 'joint_states', 'ours')
    hear, = graph.heard
    hear(String(data=json.dumps({'token': 'theirs', 'node': '/simulated_robot'})))
    with pytest.raises(UnsafeMotionError, match='no simulated robot with our simulation_token'):
        guard.check_identity()
    for token in 'ours', 'theirs':
        hear(String(data=json.dumps({'token': token, 'node': '/simulated_robot'})))
        guard.check_identity()


def test_what_is_too_long_is_not_parsed():
    assert parse_json(json.dumps('x' * (LONGEST_JSON - 2))) is not None
    assert parse_json(json.dumps('x' * (LONGEST_JSON - 1))) is None


def test_a_commander_that_was_seen_is_remembered_until_a_later_look(monkeypatch):
    """Between two looks the arm is as contested as at the last one."""
    guard = GraphGuard(Graph(), 'joint_states', '')
    looks, others = [], ['/other']

    def look(commands):
        looks.append(commands)
        if others:
            raise UnsafeMotionError(f'{others} command the arm')

    monkeypatch.setattr(guard, '_check_real', look)
    for _ in range(3):
        with pytest.raises(UnsafeMotionError, match='other'):
            guard.check_again('commands', 1000.0)
    assert len(looks) == 1
    others.clear()
    guard.check_again('commands', 0.0)
    guard.check_again('commands', 1000.0)
    assert len(looks) == 2
