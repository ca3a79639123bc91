# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The live estimator over DDS: payload, friction and advice from joint states in any order."""

import json
import re
import time

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import InertiaStamped
import numpy as np
import pytest
from recordings import fourier_motion
from robot_identification.nodes.online_estimator import LONGEST_REST
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics
from ros_helpers import joint_state, LATCHED, own_graph, told_in, wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from studies.payload_cases import BODY, carrying, true_arm

RATE = 125.0
# Joint states published at once: what comes faster than it is read may be lost.
TOGETHER, PAUSE = 10, 0.01
LONGEST = 60.0
NODE = '/online_estimator'
# Of the driver's stamps [ns], of which a float of seconds would lose the end.
EPOCH = 1_790_000_000_123_456_789


class Estimator:
    """The node, a simulated arm that publishes to it, and what it says."""

    def __init__(self, graph, robot, model_file):
        self.graph, self.robot, self.truth = graph, robot, draw_truth(robot, 3)
        self.rng = np.random.default_rng(0)
        self.order = self.rng.permutation(robot.n)
        self.stamp, self.sent = 1000.0, set()
        self.node = graph.start('online_estimator', {
            'model_file': str(model_file), 'advice_period': 0.5,
            'publish_period': 0.1,
        })
        self.payloads = graph.hear_matched(InertiaStamped, f'{NODE}/payload')
        self.coulomb = graph.hear_matched(JointState, f'{NODE}/friction/coulomb')
        self.states = graph.hear_matched(String, f'{NODE}/state', LATCHED)
        self.advice = graph.hear_matched(String, f'{NODE}/advice', LATCHED)
        self.statuses = graph.hear_matched(DiagnosticArray, '/diagnostics')
        self.joint_states = graph.publisher(JointState, '/joint_states')
        self.temperatures = graph.publisher(Float64MultiArray, '/joint_temperatures')

    def torque(self, motion, body):
        """Return the torque by MuJoCo; the body by itself, as the arm's factors would scale it."""
        tau = inverse_dynamics(self.robot, self.truth, motion)
        if body:
            truth = true_arm(self.robot)
            tau += inverse_dynamics(carrying(self.robot, BODY), truth, motion)
            tau -= inverse_dynamics(self.robot, truth, motion)
        return tau

    def message(self, stamp, q, dq, effort):
        """Return a joint state in an order of its own."""
        self.sent.add(EPOCH + round(stamp * 1e9))
        return joint_state(
            EPOCH + round(stamp * 1e9), [self.robot.joint_names[i] for i in self.order],
            q[self.order], dq[self.order], effort[self.order],
        )

    def work_until(self, condition, body, what):
        """Go on moving until a condition holds."""
        started = time.monotonic()
        while not condition():
            times = self.stamp + np.arange(1, round(5.0 * RATE) + 1) / RATE
            motion = fourier_motion(self.robot.n, 3, times)
            effort = self.torque(motion, body) / self.truth.drive_gain
            effort += 0.02 * self.rng.normal(size=effort.shape)
            for k, stamp in enumerate(times):
                self.joint_states.publish(
                    self.message(stamp, motion.q[k], motion.dq[k], effort[k])
                )
                if k % TOGETHER == 0:
                    self.pause()
            self.stamp = float(times[-1])
            assert time.monotonic() < started + LONGEST, f'waited {LONGEST:g} s for {what}'

    def pause(self):
        """Let the node read: it is a sensor's listener, to which nothing is sent again."""
        until = time.monotonic() + PAUSE
        wait_until(lambda: time.monotonic() > until, 'the node to read')

    def state(self):
        return json.loads(self.states[-1].data) if self.states else None

    def verdict(self):
        state = self.state()
        return None if state is None else state['payload']['verdict']

    def minutes(self):
        """Return how long to wait by the newest advice, NaN where that does not tell."""
        text = self.advice[-1].data if self.advice else ''
        found = re.match(r'still heating, wait about (\d+) minutes? \(', text)
        return float(found[1]) if found else float('nan')

    def diagnosed(self, what):
        """Return the newest value of its diagnostics with this name, None before there is one."""
        return next((
            float(value.value) for message in reversed(self.statuses)
            for status in message.status for value in status.values if value.key == what
        ), None)

    def told(self):
        return told_in(self.statuses, 'online_estimator: estimation')


@pytest.fixture(scope='module')
def running(ur5, model_file, tmp_path_factory):
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    with own_graph(tmp_path_factory.mktemp('online')) as graph:
        yield Estimator(graph, ur5, model_file)


def test_a_payload_is_found_and_its_coming_is_told(running):
    """None, then one that is taken, within the model's own errors; friction beside it."""
    running.work_until(lambda: running.verdict() == 'none', False, 'the bare arm')
    assert running.payloads[-1].inertia.m == 0.0
    taken = running.stamp
    running.work_until(
        lambda: running.verdict() == 'payload' and running.state()['changes'], True, 'the payload'
    )
    # How soon is tested without DDS: on a busy machine joint states are lost.
    change = running.state()['changes'][0]
    assert change['stamp'] > 1e-9 * EPOCH + taken
    assert abs(change['mass_before']) < 0.5
    found = running.state()['payload']
    # A model of five seconds: its own errors are in those that are stated.
    assert abs(found['mass'] - BODY.mass) < 4.0 * found['standard_errors']['mass']
    assert found['mass'] == pytest.approx(BODY.mass, rel=0.15)
    running.work_until(
        lambda: running.payloads[-1].inertia.m > 0.0 and running.coulomb, True, 'messages'
    )
    message = running.payloads[-1]
    assert message.header.frame_id == BODY.frame
    for published in running.payloads + running.coulomb:
        stamp = published.header.stamp
        assert stamp.sec * 10**9 + stamp.nanosec in running.sent
    assert sorted(running.coulomb[-1].name) == sorted(running.robot.joint_names)
    assert any(
        level == b'\1' and 'payload changed' in text for level, text, _ in running.told()
    )


def test_nonsense_is_refused_and_a_jump_of_the_clock_survived(running):
    """NaN, a joint missing, no effort; stamps that go back; then it goes on."""
    message = running.message(running.stamp, *np.zeros((3, 6)))
    for spoil in ('position', 'effort'):
        spoiled = running.message(running.stamp, *np.zeros((3, 6)))
        getattr(spoiled, spoil)[1] = float('nan')
        running.joint_states.publish(spoiled)
    message.effort = []
    running.joint_states.publish(message)
    running.joint_states.publish(JointState(name=['gripper'], header=message.header))
    wait_until(
        lambda: any(level == b'\2' and 'refused' in text for level, text, _ in running.told()),
        'the error',
    )
    (reason,) = running.graph.configure(NODE, {'model_file': '/no/such/model.yaml'})
    assert '/no/such/model.yaml' in reason
    running.stamp -= 500.0
    before = running.state()['payload']['samples']
    running.work_until(
        lambda: running.state()['payload']['samples'] > before, True, 'more samples'
    )
    assert running.node.exit_code is None


def test_advice_by_temperatures(running):
    """An arm that warms up: how long to wait; temperatures that are none are refused."""
    running.temperatures.publish(Float64MultiArray(data=[20.0, float('nan')]))
    wait_until(lambda: running.diagnosed('temperatures refused'), 'the refusal')
    # After a pause another curve begins, whatever was read before.
    running.stamp += 2.0 * LONGEST_REST
    for k in range(16):
        # Temperatures have no stamp: they get that of the newest joint state, which therefore
        # has to be read first. 110 s are less than the pause after which a curve begins.
        running.stamp += 110.0
        running.joint_states.publish(running.message(running.stamp, *np.zeros((3, 6))))
        newest = pytest.approx(1e-9 * EPOCH + running.stamp, rel=0.0, abs=2e-3)
        wait_until(
            lambda newest=newest: running.diagnosed('newest stamp [s]') == newest, 'it to be read'
        )
        read = running.diagnosed('temperatures') or 0.0
        warm = 38.0 - 14.0 * np.exp(-110.0 * k / 1200.0)
        running.temperatures.publish(Float64MultiArray(data=[warm] * 6))
        wait_until(
            lambda read=read: (running.diagnosed('temperatures') or 0.0) > read, 'temperatures'
        )
    running.advice.clear()
    # The end is 14 exp(-1650 s / 1200 s) = 3.5 K away, and within 0.5 K after 39 minutes.
    wait_until(lambda: abs(running.minutes() - 39.0) < 3.0, 'the advice')
    assert any(
        level == b'\2' and 'joint temperatures are' in text for level, text, _ in running.told()
    )


def test_reset_begins_anew(running):
    """Nothing is known of the payload then."""
    running.graph.done(f'{NODE}/reset')
    wait_until(lambda: running.verdict() == 'not enough yet', 'a state without a payload')
