# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What a joint state costs the torque predictor, counted in calls; and the bytes it publishes."""

from collections import Counter
from dataclasses import replace
import math
from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.serialization import serialize_message
from robot_identification.nodes import joint_states, live_prediction
from robot_identification.nodes.joint_states import VectorMessage, VectorPublisher
from robot_identification.nodes.live_prediction import LivePrediction, Outputs
from robot_identification.nodes.prepared_model import (
    FEED_FORWARD, PredictorOptions, prepare_model,
)
from robot_identification.recording.bag import read_recording
from ros_helpers import deserialized, joint_state
from sensor_msgs.msg import JointState

TOPICS = ('torque', 'residual', 'deviation', 'external', 'band', 'forward')
START = 10**12  # of the stamps [ns]
FIRST, COUNT = 100, 40
OPTIONS = PredictorOptions(feed_forward='kinetic')


class Publisher:
    """Stands where one of rclpy stands."""

    def __init__(self, calls, topic, listeners):
        self._calls, self._topic, self._listeners = calls, topic, listeners
        self.published = []

    def get_subscription_count(self):
        self._calls['polls'] += 1
        return self._listeners

    def publish(self, data):
        self._calls[self._topic] += 1
        self.published.append(data)


class Bench:
    """A live prediction between publishers that count."""

    def __init__(self, model_file, recording, listened=TOPICS):
        self.calls, self.recording = Counter(), recording
        self.publishers, vectors = {}, {}
        for topic in TOPICS:
            publisher = Publisher(self.calls, topic, int(topic in listened))
            self.publishers[topic] = publisher
            node = SimpleNamespace(create_publisher=lambda *_, made=publisher: made)
            vectors[topic] = VectorPublisher(node, topic)
        self.warnings = []
        self.live = LivePrediction(
            Outputs(**vectors, touched=self.note_touched, warn=self.warnings.append),
            lambda: 0.0, self.poll_reference,
        )
        self.live.prepared = prepare_model(model_file, OPTIONS, None)

    def note_touched(self, touched):
        self.calls['touched'] += 1

    def poll_reference(self):
        self.calls['references'] += 1

    def data(self, k):
        recording = self.recording
        return serialize_message(joint_state(
            START + round(recording.stamps[k] * 1e9), recording.joint_names, recording.q[k],
            recording.dq[k], recording.effort[k],
        ))

    def run(self):
        """Take the samples; return what was called at all but the first one."""
        self.live.receive(self.data(FIRST))
        samples = [self.data(k) for k in range(FIRST + 1, FIRST + COUNT)]
        self.calls.clear()
        for data in samples:
            self.live.receive(data)
        return self.calls


@pytest.fixture(scope='module')
def recording(bag, ur5):
    return read_recording(bag, ur5.joint_names)


@pytest.mark.parametrize('listened', [(), ('torque',), ('residual', 'band'), TOPICS])
def test_publishes_what_somebody_listens_to(model_file, recording, listened):
    """Once per joint state each; the observer is silent while it settles."""
    bench = Bench(model_file, recording, listened)
    calls = bench.run()
    assert bench.live.counts['predicted'] == COUNT
    for topic in TOPICS:
        published = calls[topic]
        if topic not in listened:
            assert published == 0, topic
        elif topic in ('external', 'band'):
            assert 0 < published < COUNT - 1, topic
        else:
            assert published == COUNT - 1, topic


def test_builds_no_message_for_a_joint_state(model_file, recording, monkeypatch):
    """Neither of what comes nor of what goes; and nobody is asked each time whether he listens."""
    bench = Bench(model_file, recording)
    bench.live.receive(bench.data(FIRST - 1))
    built = Counter()

    def counted(module, name):
        original = getattr(module, name)

        def call(*given, **options):
            built[name] += 1
            return original(*given, **options)

        monkeypatch.setattr(module, name, call)

    counted(joint_states, 'serialize_message')
    counted(joint_states, 'JointState')
    counted(joint_states, 'deserialize_message')
    counted(live_prediction, 'joint_values')
    monkeypatch.setattr(live_prediction, 'POLL_PERIOD', 1000.0)
    calls = bench.run()
    assert not built
    assert calls['polls'] == 0
    assert calls['references'] == COUNT - 1
    assert calls['touched'] == 0


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


def test_friction_health_is_computed_elsewhere(model_file, recording, monkeypatch):
    """By the thread that diagnoses; a joint state does not wait for it."""
    taken = []
    bench = Bench(model_file, recording)
    health = bench.live.prepared.health
    monkeypatch.setattr(health, 'step', lambda *sample: taken.append(sample))
    bench.run()
    assert not taken
    assert len(bench.live.deferred) == COUNT
    while bench.live.deferred:
        bench.live.deferred.popleft()()
    assert len(taken) == COUNT
    stamp, *rows, temperature = taken[-1]
    assert stamp == pytest.approx(START * 1e-9 + recording.stamps[FIRST + COUNT - 1], abs=1e-6)
    assert [row.shape for row in rows] == [(6,)] * 5
    np.testing.assert_allclose(rows[0], recording.q[FIRST + COUNT - 1])
    assert temperature is None


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


def spoiled_messages(bench, k):
    """Yield messages that must not be predicted from, with how they are counted."""
    for field in ('position', 'velocity'):
        for value in (np.nan, np.inf, -np.inf):
            message = deserialized(JointState, bench.data(k))
            getattr(message, field)[3] = value
            yield message, 'not finite'
        message = deserialized(JointState, bench.data(k))
        setattr(message, field, [])
        yield message, 'unusable'
    message = deserialized(JointState, bench.data(k))
    message.name[0] = 'gripper_joint'
    yield message, 'unusable'
    yield JointState(header=message.header), 'unusable'
    yield deserialized(JointState, bench.data(k - 1)), 'repeated'


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
            np.array([deserialized(JointState, one).effort
                      for one in each.publishers[topic].published])
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


def test_nothing_comes_out_of_nonsense(model_file, recording):
    """It is counted and told, and what comes after it is predicted as without it."""
    bench, usual = (Bench(model_file, recording) for _ in range(2))
    for each in (bench, usual):
        each.run()
    bench.calls.clear()
    before, spoiled = Counter(bench.live.counts), Counter()
    for message, kind in spoiled_messages(bench, FIRST + COUNT):
        spoiled[kind] += 1
        bench.live.receive(serialize_message(message))
    assert not bench.calls
    assert Counter(bench.live.counts) - before == spoiled + Counter(received=spoiled.total())
    assert len(bench.warnings) == spoiled['not finite'] + spoiled['unusable'] == 10
    assert 'lacks' in bench.live.problem
    # Without effort there is a torque, but no residual.
    message = deserialized(JointState, bench.data(FIRST + COUNT))
    message.effort = []
    for each in (bench, usual):
        each.calls.clear()
        each.live.receive(serialize_message(message))
        assert (each.calls['torque'], each.calls['residual']) == (1, 0)
        each.live.receive(each.data(FIRST + COUNT + 1))
    for topic in TOPICS:
        # Not byte by byte: what fills the message between its fields is left as it was in memory.
        found, expected = (
            [deserialized(JointState, data) for data in each.publishers[topic].published[-2:]]
            for each in (bench, usual)
        )
        assert found == expected, topic
