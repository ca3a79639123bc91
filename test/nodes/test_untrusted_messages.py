# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Messages that anybody may publish: what cannot be understood ends no node and frees nothing."""

from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes.graph import GraphGuard
from robot_identification.nodes.motion_interface import MotionInterface

MESSAGES = {
    'empty': [],
    'nameless': [DiagnosticStatus()],
    'many': [DiagnosticStatus(name=str(number), hardware_id='x') for number in range(1000)],
}


def identity(*tokens):
    """Return what simulated robots with these tokens publish of themselves."""
    return DiagnosticArray(status=[
        DiagnosticStatus(name='/simulated_robot', hardware_id=token) for token in tokens
    ])


class Graph:
    """A node that hears what a test says."""

    def __init__(self):
        self.heard = []

    def create_subscription(self, kind, topic, callback, qos):
        self.heard.append(callback)

    def resolve_topic_name(self, name):
        return f'/{name}'


@pytest.mark.parametrize('message', MESSAGES)
@pytest.mark.parametrize('make', [
    lambda graph: GraphGuard(graph, 'token'),
    lambda graph: MotionInterface(
        graph, SimpleNamespace(simulated=True), lambda event: None, controller='',
        interface='auto', lock=None,
    ),
], ids=['guard', 'interface'])
def test_no_message_raises_or_is_an_identity(make, message):
    graph = Graph()
    made = make(graph)
    for callback in graph.heard:
        callback(DiagnosticArray(status=MESSAGES[message]))
    if isinstance(made, GraphGuard):
        with pytest.raises(UnsafeMotionError, match='no simulated robot'):
            made.check_identity()


def test_the_identity_of_an_earlier_simulation_is_not_heeded():
    """A bag that is replayed ends no simulated motion."""
    graph = Graph()
    guard = GraphGuard(graph, 'ours')
    hear, = graph.heard
    hear(identity('theirs'))
    hear(identity('ours', 'theirs'))
    with pytest.raises(UnsafeMotionError, match='no simulated robot with our simulation_token'):
        guard.check_identity()
    for token in 'ours', 'theirs':
        hear(identity(token))
        guard.check_identity()


def test_a_commander_that_was_seen_is_remembered_until_a_later_look(monkeypatch):
    """Between two looks the arm is as contested as at the last one."""
    guard = GraphGuard(Graph(), '')
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
