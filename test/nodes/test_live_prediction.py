# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the torque predictor publishes for a joint state, and what garbage does to it."""

from collections import Counter
from dataclasses import replace
import math
from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from robot_identification.nodes import joint_states
from robot_identification.nodes.joint_states import VectorMessage, VectorPublisher
from robot_identification.nodes.live_prediction import LivePrediction, Outputs
from robot_identification.nodes.prepared_model import FEED_FORWARD, PredictorOptions, prepare_model
from robot_identification.recording.bag import read_recording
from ros_helpers import deserialized, joint_state
from sensor_msgs.msg import JointState

TOPICS = ('torque', 'residual', 'deviation', 'external', 'band', 'forward')
START = 10**12  # of the stamps [ns]
FIRST, COUNT = 100, 40
OPTIONS = PredictorOptions(feed_forward='kinetic')


class Bench:
    """A live prediction, and what it publishes by topic."""

    def __init__(self, model_file, recording):
        self.recording, self.published, vectors = recording, {}, {}
        for topic in TOPICS:
            self.published[topic] = []
            publisher = SimpleNamespace(
                get_subscription_count=lambda: 1, publish=self.published[topic].append
            )
            node = SimpleNamespace(create_publisher=lambda *_, made=publisher: made)
            vectors[topic] = VectorPublisher(node, topic)
        self.warnings = []
        self.live = LivePrediction(
            Outputs(**vectors, touched=lambda touched: None, warn=self.warnings.append),
            lambda: 0.0, lambda: None,
        )
        self.live.prepared = prepare_model(model_file, OPTIONS, None)

    def data(self, k):
        recording = self.recording
        return serialize_message(joint_state(
            START + round(recording.stamps[k] * 1e9), recording.joint_names, recording.q[k],
            recording.dq[k], recording.effort[k],
        ))


@pytest.fixture(scope='module')
def recording(bag, ur5):
    return read_recording(bag, ur5.joint_names)


@pytest.mark.parametrize('joints', [1, 2, 7])
@pytest.mark.parametrize('frame', ['', 'b', 'base', 'base_link'])
def test_a_vector_is_the_message_that_ros_would_write(joints, frame):
    """Byte by byte, whatever the lengths of names and frame, which move the numbers."""
    names = tuple('j' * (1 + 3 * index) for index in range(joints))
    vector = VectorMessage(names)
    for seconds, effort in ((3, np.arange(joints) - 0.5), (-4, np.full(joints, np.nan))):
        expected = joint_state(seconds * 10**9 + 17, names, [], [], effort)
        expected.header.frame_id = frame
        vector.begin(joint_states.JointReading(
            seconds, 17, frame, ('other',), *np.zeros((3, 1))
        ))
        assert vector.with_effort(effort) == serialize_message(expected)


def test_friction_alone_is_fed_forward_to_robots_that_add_gravity(model_file, recording):
    """`kinetic` less gravity, to rounding."""
    torque = {
        what: prepare_model(model_file, replace(OPTIONS, feed_forward=what), None)
        .feed_forward.step(0.0, recording.q[FIRST], recording.dq[FIRST], recording.dq[FIRST])
        for what in FEED_FORWARD
    }
    gravity = torque['gravity']
    assert np.abs(gravity).max() > 10.0
    np.testing.assert_allclose(torque['friction'], torque['kinetic'] - gravity, atol=1e-9)


GARBAGE = [1e160, -1e20, 1e308, 1e5, -math.inf, math.nan]


@pytest.mark.parametrize('seed', range(6))
def test_garbage_leaves_no_trace(model_file, recording, seed):
    """What is published afterwards is what would be without it, and at once."""
    rng = np.random.default_rng(seed)
    bench, usual = (Bench(model_file, recording) for _ in range(2))
    expected = Counter()
    for k in range(FIRST, FIRST + 2 * COUNT):
        message = deserialized(JointState, bench.data(k))
        if rng.integers(6) == 0:
            field, value = rng.choice(['position', 'velocity', 'effort']), rng.choice(GARBAGE)
            getattr(message, field)[rng.integers(6)] = value
            expected['impossible' if math.isfinite(value) else 'not finite'] += 1
            bench.live.receive(serialize_message(message))
            if field == 'effort':
                # The torque is predicted all the same.
                message.effort = []
                usual.live.receive(serialize_message(message))
            continue
        for each in (bench, usual):
            each.live.receive(serialize_message(message))
    for what in ('impossible', 'not finite'):
        assert bench.live.counts[what] == expected[what]
    assert len(bench.warnings) == expected.total()
    for topic in TOPICS:
        found, wanted = (
            np.array([deserialized(JointState, one).effort for one in each.published[topic]])
            for each in (bench, usual)
        )
        np.testing.assert_array_equal(found, wanted, err_msg=topic)
        assert np.isfinite(found).all()


def test_a_value_is_refused_from_a_hundred_limits_on(model_file, recording):
    """Of position and velocity by the description, of effort in the driver's unit."""
    bench = Bench(model_file, recording)
    model = bench.live.prepared.model
    limits = model.robot.limits
    effort = 100.0 * limits.effort[1] * abs(model.effort_per_torque[1])
    joint = list(recording.joint_names).index(model.robot.joint_names[1])
    for field, largest in (
        ('velocity', 100.0 * limits.velocity[1]), ('position', 100.0 * limits.upper[1]),
        ('effort', effort),
    ):
        for k, share in enumerate((0.99, 1.01)):
            message = deserialized(JointState, bench.data(FIRST + k))
            getattr(message, field)[joint] = share * largest
            before = bench.live.counts['impossible']
            bench.live.receive(serialize_message(message))
            assert bench.live.counts['impossible'] - before == k
        assert f'the {field} of {model.robot.joint_names[1]}' in bench.live.problem
