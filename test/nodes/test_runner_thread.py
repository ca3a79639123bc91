# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The runner watches in a thread of its own: here nobody turns its executor at all."""

import time

import pytest
import rclpy
from robot_identification.execution.events import Send, StopOutdated
from robot_identification.nodes.experiment_runner import ExperimentRunner
from ros_helpers import wait_until


@pytest.fixture
def runner(graph, tmp_path, monkeypatch):
    """Return a runner in this process, whose executor's thread is never free."""
    monkeypatch.chdir(tmp_path)
    rclpy.init(args=[], domain_id=graph.domain)
    node = ExperimentRunner()
    yield node
    node.destroy_node()
    rclpy.try_shutdown()


def test_a_stop_that_is_late_is_not_sent(runner, monkeypatch):
    """The state machine hears of it, and proves another."""
    sent, heard = [], []
    monkeypatch.setattr(runner._interface, 'send', lambda number, knots: sent.append(number))
    monkeypatch.setattr(runner, '_handle', lambda event, response=None: heard.append(event))
    now = time.monotonic()
    for number, until in (1, now - 0.001), (2, now + 60.0):
        runner._carry_out(Send(number, None, until), None)
    assert sent == [2]
    assert StopOutdated(1) in heard
    assert StopOutdated(2) not in heard


def test_an_error_of_the_watch_ends_the_node(runner, monkeypatch):
    """One that cannot be handled is raised where the node runs."""
    assert runner.failure is None

    def fail(event, response=None):
        raise RuntimeError('no decision')

    monkeypatch.setattr(runner, '_handle', fail)
    wait_until(lambda: runner.failure is not None, 'a failure')
    assert str(runner.failure) == 'no decision'
