# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What all nodes share: the executor of several threads, and the command line."""

import subprocess
import sys

import pytest
import rclpy
from rclpy.executors import MultiThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from robot_identification.nodes.common import PatientExecutor


@pytest.fixture
def executor():
    """Return one on a context of its own, which no node joins."""
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    made = PatientExecutor(2, context=context)
    yield made
    made.shutdown()
    rclpy.shutdown(context=context)


def test_a_subscription_that_is_destroyed_while_others_wait_ends_no_node(executor, monkeypatch):
    """The wait ends without work. An error of a callback, the same one even, is raised."""
    destroyed = rclpy_implementation.InvalidHandle('destruction was requested')

    def fail(*_):
        raise destroyed

    with monkeypatch.context() as patch:
        patch.setattr(MultiThreadedExecutor, 'wait_for_ready_callbacks', fail)
        executor.spin_once(timeout_sec=0.1)
    task = executor.create_task(fail, 0)
    with pytest.raises(rclpy_implementation.InvalidHandle):
        while not task.done():
            executor.spin_once(timeout_sec=1.0)
        task.result()


@pytest.mark.parametrize(('words', 'code', 'stream', 'said'), [
    (['--help'], 0, 'stdout', 'A simulated robot that stands where'),
    (['-h', '--ros-args', '-p', 'robot:=ur5'], 0, 'stdout', 'docs/parameters.md'),
    (['--robot', 'ur5'], 2, 'stderr', 'error: unknown argument --robot of simulated_robot'),
    (['--ros-args', '--nope'], 2, 'stderr', '--nope'),
])
def test_a_node_answers_what_is_not_of_ros(graph, words, code, stream, said):
    """It does not start: help names where parameters are documented, the rest is refused."""
    found = subprocess.run(
        [sys.executable, '-m', 'robot_identification.nodes.simulated_robot', *words],
        env=graph.environment, capture_output=True, text=True, timeout=60,
    )
    assert found.returncode == code, found.stderr
    assert said in getattr(found, stream)
