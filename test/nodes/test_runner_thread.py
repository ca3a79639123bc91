# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The runner watches in a thread of its own: here nobody turns its executor at all."""

import math
import threading
import time

import numpy as np
import pytest
import rclpy
from robot_identification.execution.events import InternalError, Send, StopOutdated
from robot_identification.execution.states import (
    Armed, BY_ITSELF, Fault, Moving, Starting, Stopping, StopUndecided,
)
from robot_identification.nodes import joint_states
from robot_identification.nodes.experiment_runner import ExperimentRunner
from robot_identification.nodes.motion_interface import Controller, KIND
from ros_helpers import joint_state, RELIABLE, wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

COUNT = 500
SCALING = '/speed_scaling_state_broadcaster/speed_scaling'


@pytest.fixture
def runner(graph, tmp_path, monkeypatch):
    """Return a runner in this process, whose executor's thread is never free."""
    monkeypatch.chdir(tmp_path)
    rclpy.init(args=[], domain_id=graph.domain)
    node = ExperimentRunner()
    yield node
    node.destroy_node()
    rclpy.try_shutdown()


def test_joint_states_are_heard_and_not_built(graph, runner, ur5, monkeypatch):
    """Five hundred, each with its own stamp, of which the last one is the robot's state."""
    monkeypatch.setattr(joint_states, 'deserialize_message', None)
    publisher = graph.publisher(JointState, '/joint_states', RELIABLE)
    scaling = graph.publisher(Float64, SCALING, RELIABLE)
    names = sorted(ur5.joint_names)
    for number in range(COUNT):
        q = [0.001 * number + k for k in range(6)]
        publisher.publish(joint_state(number * 2_000_000, names, q, [0.0] * 6, [0.0] * 6))
        time.sleep(0.0005)
    machine = runner._machine
    last = (COUNT - 1) * 0.002
    wait_until(lambda: machine.latest and machine.latest.stamp == pytest.approx(last), 'the last')
    order = [names.index(name) for name in ur5.joint_names]
    np.testing.assert_allclose(machine.latest.q, [q[k] for k in order])

    def is_scaled():
        # The runner may not have met a publisher yet that has met the runner: it sends on.
        scaling.publish(Float64(data=50.0))
        return runner._driver.scaling == 0.5

    wait_until(is_scaled, 'the speed scaling')
    # The watch looks on: with the silence of the driver the state gets old. Those that a busy
    # machine published too slowly for their stamps are late before.
    wait_until(lambda: 'no joint state for' in machine.silence(time.monotonic()), 'silence')


def test_what_is_decided_there_is_published_in_order(runner, monkeypatch):
    """States wait for the executor, each of them, the first one first."""
    published = []
    monkeypatch.setattr(runner, '_publish_state', published.append)
    looks = []

    def look():
        if len(looks) < 3:
            looks.append(0)
            runner._machine._state = Fault(f'fault {len(looks)}')
            runner._handle(InternalError('anything'))

    monkeypatch.setattr(runner._thread, '_poll', look)
    wait_until(lambda: len(looks) == 3 and len(runner._later) == 3, 'three states')
    assert not published
    runner._drain()
    assert [state.reason for state in published] == [f'fault {number}' for number in (1, 2, 3)]


def test_the_sign_of_life_comes_behind_what_was_decided_before(runner, monkeypatch):
    """A state that waits for the executor is not published after a later one."""
    published = []
    monkeypatch.setattr(runner, '_publish_state', lambda state: published.append(state.cause))
    monkeypatch.setattr(runner._thread, '_poll', lambda: None)
    motion = Moving(None, None, 'EXECUTING', '', None, 1, 0.0, 0.0)
    earlier, later = (
        Stopping(motion, cause, BY_ITSELF, math.inf, StopUndecided())
        for cause in ('earlier', 'later')
    )
    runner._machine._state = earlier
    runner._tell_state()
    runner._machine._state = later
    runner._refresh()
    assert published == ['earlier', 'later']


def test_no_other_controller_is_found_while_a_motion_begins(runner, monkeypatch):
    """It begins in the thread of the watch, in the middle of what the executor does, too."""
    interface = runner._interface
    monkeypatch.setattr(interface, '_listed_at', math.inf)
    asked = threading.Event()

    class Lock:
        """Tells when it is asked for."""

        def __enter__(self):
            asked.set()
            runner._lock.acquire()

        def __exit__(self, *_):
            runner._lock.release()

    def list_active(name):
        interface._listed = [Controller(name, KIND, 'active')]

    list_active('first')
    runner._refresh()
    assert interface.controller == 'first'
    list_active('second')
    monkeypatch.setattr(interface, '_lock', Lock())
    refreshing = threading.Thread(target=runner._refresh)
    with runner._lock:
        refreshing.start()
        wait_until(lambda: asked.is_set() or not refreshing.is_alive(), 'the executor')
        armed = Armed(None, 1, math.inf, 'in this test')
        runner._machine._state = Starting(armed, None, math.inf)
    refreshing.join()
    assert interface.controller == 'first'
    runner._machine._state = Fault('in this test')
    runner._refresh()
    assert interface.controller == 'second'


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
