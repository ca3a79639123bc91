# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The payload that the torque predictor publishes over DDS, from joint states in any order."""

import time

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import InertiaStamped
import numpy as np
import pytest
from recordings import fourier_motion
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics
from ros_helpers import joint_state, own_graph, told_in, wait_until
from sensor_msgs.msg import JointState
from studies.payload_cases import BODY, carrying, true_arm

RATE = 125.0
# Joint states published at once: what comes faster than it is read may be lost.
TOGETHER, PAUSE = 10, 0.01
LONGEST = 60.0
TOPIC = '/torque_predictor/payload'
# Of the driver's stamps [ns], of which a float of seconds would lose the end.
EPOCH = 1_790_000_000_123_456_789


class Arm:
    """A simulated arm that publishes to the node, and what that publishes."""

    def __init__(self, graph, robot, model_file):
        self.robot, self.truth = robot, draw_truth(robot, 3)
        self.rng = np.random.default_rng(0)
        self.order = self.rng.permutation(robot.n)
        self.stamp, self.sent = 1000.0, set()
        graph.start('torque_predictor', {'model_file': str(model_file), 'payload': True})
        self.payloads = graph.hear_matched(InertiaStamped, TOPIC)
        self.statuses = graph.hear_matched(DiagnosticArray, '/diagnostics')
        self.joint_states = graph.publisher(JointState, '/joint_states')

    def torque(self, motion, body):
        """Return the torque by MuJoCo; the body by itself, as the arm's factors would scale it."""
        tau = inverse_dynamics(self.robot, self.truth, motion)
        if body:
            truth = true_arm(self.robot)
            tau += inverse_dynamics(carrying(self.robot, BODY), truth, motion)
            tau -= inverse_dynamics(self.robot, truth, motion)
        return tau

    def work_until(self, condition, body, what):
        """Go on moving until a condition holds."""
        started = time.monotonic()
        while not condition():
            times = self.stamp + np.arange(1, round(5.0 * RATE) + 1) / RATE
            motion = fourier_motion(self.robot.n, 3, times)
            effort = self.torque(motion, body) / self.truth.drive_gain
            effort += 0.02 * self.rng.normal(size=effort.shape)
            for k, stamp in enumerate(times):
                self.publish(stamp, motion.q[k], motion.dq[k], effort[k])
                if k % TOGETHER == 0:
                    self.pause()
            self.stamp = float(times[-1])
            assert time.monotonic() < started + LONGEST, f'waited {LONGEST:g} s for {what}'

    def publish(self, stamp, q, dq, effort):
        """Publish a joint state in an order of its own."""
        nanoseconds = EPOCH + round(stamp * 1e9)
        self.sent.add(nanoseconds)
        self.joint_states.publish(joint_state(
            nanoseconds, [self.robot.joint_names[i] for i in self.order],
            q[self.order], dq[self.order], effort[self.order],
        ))

    def pause(self):
        """Let the node read: it is a sensor's subscriber, to which nothing is sent again."""
        until = time.monotonic() + PAUSE
        wait_until(lambda: time.monotonic() > until, 'the node to read')

    def told(self):
        return told_in(self.statuses, 'torque_predictor: prediction')

    def verdict(self):
        return next((
            values['payload'] for _, _, values in reversed(self.told()) if 'payload' in values
        ), None)


def test_a_payload_is_published_and_its_coming_is_told(graph, ur5, model_file):
    """None, then one that is taken, within 15 %: the model is one of five seconds."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    arm = Arm(graph, ur5, model_file)
    arm.work_until(lambda: arm.verdict() == 'none' and arm.payloads, False, 'the bare arm')
    assert arm.payloads[-1].inertia.m == 0.0
    arm.work_until(
        lambda: arm.verdict() == 'payload' and arm.payloads[-1].inertia.m > 0.0, True,
        'the payload',
    )
    message = arm.payloads[-1]
    assert message.inertia.m == pytest.approx(BODY.mass, rel=0.15)
    assert message.header.frame_id == BODY.frame
    for published in arm.payloads:
        stamp = published.header.stamp
        assert stamp.sec * 10**9 + stamp.nanosec in arm.sent
    # How soon is tested without DDS: on a busy machine joint states are lost.
    assert any(
        level == b'\1' and 'payload changed' in text for level, text, _ in arm.told()
    )


def test_no_payload_is_published_unless_it_is_asked_for(tmp_path, model_file):
    """And a link that is not fixed to the last one is told where no payload can be stated."""
    with own_graph(tmp_path) as graph:
        graph.start('torque_predictor', {'model_file': str(model_file)})
        statuses = graph.hear_matched(DiagnosticArray, '/diagnostics')
        wait_until(lambda: told_in(statuses, 'torque_predictor: prediction'), 'diagnostics')
        assert not graph.node.get_publishers_info_by_topic(TOPIC)
    with own_graph(tmp_path) as graph:
        graph.start('torque_predictor', {
            'model_file': str(model_file), 'payload': True, 'payload_link': 'forearm_link',
        })
        statuses = graph.hear_matched(DiagnosticArray, '/diagnostics')
        wait_until(
            lambda: any(
                'no payload: no link forearm_link is fixed' in values.get('remarks', '')
                for _, _, values in told_in(statuses, 'torque_predictor: prediction')
            ), 'the remark',
        )
