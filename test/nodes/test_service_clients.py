# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Services of other nodes, whose answer the middleware drops while it does not know a client."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from rclpy.task import Future
from robot_identification.errors import DataError
from robot_identification.nodes import service_clients
from robot_identification.nodes.service_clients import ServiceClients
from std_srvs.srv import Trigger


class Client:
    """Loses the answers to its first requests."""

    def __init__(self, lost):
        self.lost, self.requests, self.pending = lost, [], 0

    def service_is_ready(self):
        return True

    def call_async(self, request):
        self.requests.append(request)
        self.pending += 1
        future = Future()
        if len(self.requests) > self.lost:
            results = [SimpleNamespace(successful=True)] * len(getattr(request, 'parameters', ()))
            future.set_result(SimpleNamespace(success=True, message='done', results=results))
        return future

    def remove_pending_request(self, future):
        self.pending -= 1


class Node:
    def __init__(self, lost=0):
        self.clients, self._lost = {}, lost

    def create_client(self, kind, name, *, callback_group):
        assert name not in self.clients, 'a second client has to be found anew'
        return self.clients.setdefault(name, Client(self._lost))


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(service_clients, 'REPEATED_AFTER', 0.05)


def test_parameters_are_set_again_where_an_answer_is_lost():
    """To set the same values twice does no harm."""
    node = Node(lost=1)
    ServiceClients(node).set_parameters('bag_recorder', {'start.output': 'bag', 'speed': 0.5})
    client = node.clients['bag_recorder/set_parameters']
    first, second = client.requests
    assert first is second
    assert client.pending == 0


def test_a_motion_is_asked_for_once():
    """Nobody knows whether the first call has begun it."""
    node = Node(lost=1)
    with pytest.raises(DataError, match='for an answer of experiment_runner/execute'):
        ServiceClients(node).call('experiment_runner/execute', 0.3)
    client = node.clients['experiment_runner/execute']
    assert len(client.requests) == 1
    assert client.pending == 0


# Of a process that imports rclpy and finds its peer, on a machine that does something else [s].
LONGEST = 60.0
# With shorter patience than a person has.
CALL = """
import sys
from robot_identification.nodes import call_trigger
call_trigger.GONE = 1.0
sys.exit(call_trigger.main(sys.argv[1:]))
"""


def call(graph, *arguments):
    return subprocess.run(
        [sys.executable, '-c', CALL, *arguments], env=graph.environment, capture_output=True,
        text=True, timeout=LONGEST,
    )


@pytest.mark.parametrize('success, code', [(True, 0), (False, 1)])
def test_the_answer_is_the_exit_code(success, code, graph):
    """`ros2 service call` ends with 0 in both cases."""
    def answer(request, response):
        response.success, response.message = success, 'as it was asked'
        return response

    graph.node.create_service(Trigger, 'identifier/listen', answer)
    ended = call(graph, '/identifier/listen')
    assert ended.returncode == code
    said = ended.stdout if success else ended.stderr
    assert said.endswith('/identifier/listen: as it was asked\n')
