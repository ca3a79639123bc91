# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The live torque predictor: the same numbers as offline, and silence rather than nonsense."""

import time

from diagnostic_msgs.msg import DiagnosticArray
from known_models import known_model
import numpy as np
import pytest
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from robot_identification.files import dump_yaml, file_sha256
from robot_identification.model.model_file import dump_model, load_model
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.monitoring.collision import CollisionThresholds
from robot_identification.monitoring.collision_file import CollisionCalibration
from robot_identification.monitoring.contact_observer import observe_recording
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.joint_states import find_problem
from robot_identification.prediction.feed_forward import FeedForward, FeedForwardOptions
from robot_identification.prediction.sample_torque import RigidTorque
from robot_identification.prediction.torque_predictor import TorquePredictor
from robot_identification.recording.bag import read_recording
from ros_helpers import acknowledged, joint_state, own_graph, seconds, told_in, wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

PREFIX = 'left_'
TEMPERATURES = np.arange(30.0, 36.0)  # of the joints [deg C]
FIRST = 100
ATTEMPTS = 100


class Predictor:
    """The node, and what publishes recorded samples to it and hears its answers."""

    def __init__(self, graph, recording, parameters):
        self.graph, self.recording = graph, recording
        self.joints = [PREFIX + joint for joint in recording.joint_names]
        # What is added to the recorded stamps [ns].
        self.later = 0
        self.begun = 0
        self.node = graph.start('torque_predictor', {'tf_prefix': PREFIX, **parameters})
        self.torques, self.residuals, self.external, self.bands, self.forward = (
            graph.hear_matched(JointState, f'/torque_predictor/{name}') for name in (
                'torque', 'residual', 'external_torque', 'external_torque_band', 'feed_forward',
            )
        )
        self.collisions = graph.hear_matched(Bool, '/torque_predictor/collision', LATCHED)
        self.statuses = graph.hear_matched(DiagnosticArray, '/diagnostics')
        self.publisher = graph.publisher(JointState, '/joint_states')

    def begin_anew(self):
        """Forget what was heard, and go on with later stamps than ever, also in a second try."""
        self.begun += 1
        self.later = self.begun * 1000 * 10**9
        for heard in (
            self.torques, self.residuals, self.external, self.bands, self.forward,
            self.collisions, self.statuses,
        ):
            heard.clear()

    def told(self):
        return told_in(self.statuses, 'torque_predictor: prediction')

    def counts(self):
        """Wait for what it tells after now; return its counts."""
        now, already = time.time(), len(self.statuses)
        wait_until(
            lambda: any(
                seconds(message.header.stamp) > now
                and message.status[0].name == 'torque_predictor: prediction'
                for message in self.statuses[already:]
            ), 'diagnostics',
        )
        return self.told()[-1][2]

    def message(self, k, shift=0):
        """Return a recorded sample as a message, its joints in another order every time."""
        recording = self.recording
        order = np.roll(np.arange(len(self.joints)), k + shift)
        nanoseconds = recording.start + round(recording.stamps[k] * 1e9) + self.later
        return joint_state(
            nanoseconds, [self.joints[i] for i in order], recording.q[k, order],
            recording.dq[k, order], recording.effort[k, order],
        )

    def wait_for(self, words):
        wait_until(
            lambda: any(
                level in (b'\1', b'\2') and words in text for level, text, _ in self.told()
            ), words,
        )

    def in_order(self, answer):
        """Return the efforts of an answer in kinematic order."""
        assert sorted(answer.name) == sorted(self.joints)
        return np.array([answer.effort[list(answer.name).index(name)] for name in self.joints])

    def on_stamp(self, heard, message):
        """Wait for what was published for a message; return its efforts, kinematic order."""
        def answers():
            return [one for one in heard if one.header.stamp == message.header.stamp]

        return self.in_order(wait_until(answers, 'what belongs to a joint state')[-1])

    def ask(self, message):
        """Publish a message; return torque and residual, kinematic order."""
        def answers():
            """Return what came for this very message; samples before it may be answered, too."""
            return [
                answer for heard in (self.torques, self.residuals) for answer in heard[-10:]
                if answer.header.stamp == message.header.stamp
            ]

        for _ in range(ATTEMPTS):
            # What a sensor's listener lost is lost.
            self.publisher.publish(message)
            published = time.monotonic()
            wait_until(
                lambda since=published: len(answers()) == 2 or time.monotonic() > since + 1.0,
                'an answer',
            )
            if len(answers()) == 2:
                return [self.in_order(answer) for answer in answers()]
        pytest.fail(f'no answer; the node tells {self.told()[-1:]}')


@pytest.fixture(scope='module')
def model(model_file):
    return load_model(model_file)


@pytest.fixture(scope='module')
def recording(bag, ur5):
    return read_recording(bag, ur5.joint_names)


@pytest.fixture(scope='module')
def running(recording, model_file, tmp_path_factory):
    """Return a predictor with a model, for all tests that do not end it."""
    with own_graph(tmp_path_factory.mktemp('predictor')) as graph:
        yield Predictor(
            graph, recording, {
                'model_file': str(model_file), 'feed_forward': 'kinetic',
                'allowed_read_roots': ['/tmp', str(tmp_path_factory.getbasetemp())],
            },
        )


@pytest.fixture
def predictor(running):
    """Return the same at a time of the test's own."""
    running.begin_anew()
    return running


def offline(model, predictor, rows):
    """Return torque and residual of the class that the node wraps, on the stamps of messages."""
    recording = predictor.recording
    stamps = np.array([seconds(predictor.message(k).header.stamp) for k in rows])
    predicted = TorquePredictor(model).run(stamps, recording.q[rows], recording.dq[rows])
    effort = predicted.effort
    torque = effort / model.effort_per_torque
    return torque, recording.effort[rows] / model.effort_per_torque - torque


def test_predicts_live_what_is_predicted_offline(predictor, model):
    """Sample by sample to rounding, whatever the order of the joints."""
    rows = np.arange(FIRST, FIRST + 30)
    live = np.array([predictor.ask(predictor.message(k)) for k in rows])
    torque, residual = offline(model, predictor, rows)
    np.testing.assert_allclose(live[:, 0], torque, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(live[:, 1], residual, rtol=1e-12, atol=1e-10)
    # Joint torque, not current, and a prediction: the residual is the smaller part.
    assert np.std(residual) < 0.3 * np.std(torque)


def test_a_jump_of_the_clock_starts_the_filters_anew(predictor):
    """Forth and back: the very same numbers as the first time; the order of joints is nothing."""
    rows = range(FIRST, FIRST + 8)
    passes = []
    for shift, later in ((0, 0.0), (1, 100.0), (2, -50.0)):
        predictor.later += round(later * 1e9)
        passes.append([predictor.ask(predictor.message(k, shift)) for k in rows])
    np.testing.assert_array_equal(passes[1], passes[0])
    np.testing.assert_array_equal(passes[2], passes[0])
    assert np.all(np.isfinite(passes))
    before = predictor.counts()
    predictor.wait_for('started anew')
    predictor.later += 10**12
    predictor.ask(predictor.message(FIRST))
    assert int(predictor.counts()['restarts']) == int(before['restarts']) + 1


def observed(model, predictor, rows, push=0.0):
    """Return external torques and deviations of the class that the node wraps."""
    recording = predictor.recording
    stamps = np.array([seconds(predictor.message(k).header.stamp) for k in rows])
    torque = recording.effort[rows] / model.effort_per_torque + push
    found = observe_recording(model, stamps, recording.q[rows], recording.dq[rows], torque)
    return found.external, found.deviation


def test_external_torque_is_observed_live_as_offline(predictor, model):
    """To rounding, with its band of 95 %; nothing is said while the observer settles."""
    rows = np.arange(FIRST, FIRST + 40)
    external, deviation = observed(model, predictor, rows)
    settled = np.flatnonzero(np.isfinite(external[:, 0]))
    messages = [predictor.message(k) for k in rows]
    for message in messages:
        predictor.ask(message)
    for k in settled:
        np.testing.assert_allclose(
            predictor.on_stamp(predictor.external, messages[k]), external[k], rtol=1e-9, atol=1e-9
        )
        np.testing.assert_allclose(
            predictor.on_stamp(predictor.bands, messages[k]), 1.96 * deviation[k], rtol=1e-9
        )
    assert 0 < len(settled) < len(rows)
    assert len(predictor.external) == len(settled)


def test_a_push_is_a_collision(predictor, model, model_file, tmp_path):
    """From thresholds in a file of this model; the joint is named, and then it is over."""
    calibration = CollisionCalibration(
        model.robot.name, file_sha256(model_file), ('free',), 60.0, 0.1, 25.0,
        CollisionThresholds(np.full(6, 10.0)), tuple(model.robot.joint_names), np.full(6, 9.0),
    )
    other = {**calibration.content(), 'model_sha256': 'b' * 64}
    for name, content in (('mine', calibration.content()), ('other', other)):
        (tmp_path / f'{name}.yaml').write_text(dump_yaml(content))
    graph = predictor.graph
    (reason,) = graph.configure(
        'torque_predictor', {'collision_file': str(tmp_path / 'other.yaml')}
    )
    assert 'another model' in reason
    assert not graph.configure(
        'torque_predictor', {'collision_file': str(tmp_path / 'mine.yaml')}
    )
    lift = predictor.joints.index(f'{PREFIX}shoulder_lift_joint')
    pushed = range(FIRST + 40, FIRST + 60)
    for k in range(FIRST, FIRST + 90):
        message = predictor.message(k)
        if k in pushed:
            place = list(message.name).index(predictor.joints[lift])
            message.effort[place] += 200.0 * model.effort_per_torque[lift]
        predictor.ask(message)
        if k == pushed[-1]:
            wait_until(
                lambda: any(
                    'shoulder_lift_joint' in values.get('touched', '')
                    for _, _, values in predictor.told()
                ),
                'the joint in diagnostics',
            )
    assert [said.data for said in predictor.collisions] == [False, True, False]
    assert int(predictor.counts()['collisions']) == 1
    assert not graph.configure('torque_predictor', {'collision_file': ''})


def test_feeds_forward_what_is_wanted(predictor, model):
    """Friction of the direction that the reference has; an old reference is none."""
    publisher = predictor.graph.publisher(JointState, '/torque_predictor/reference')
    wanted = np.array([0.5, -0.5, 0.4, -0.3, 0.2, 0.1])
    forward = FeedForward(model, FeedForwardOptions(friction='kinetic'))
    expected, found = [], []
    for k in range(FIRST, FIRST + 20):
        message = predictor.message(k)
        if k < FIRST + 8:
            publisher.publish(JointState(
                header=message.header, name=predictor.joints, velocity=wanted.tolist()
            ))
            assert acknowledged(publisher)
        predictor.ask(message)
        found.append(predictor.on_stamp(predictor.forward, message))
        recording = predictor.recording
        expected.append(forward.step(
            seconds(message.header.stamp), recording.q[k], recording.dq[k],
            wanted if k < FIRST + 8 else np.zeros(6),
        ))
    # The reference may be heard after the joint state of its time, where friction has not come
    # yet; a tenth of a second later it is old, and friction goes within 20 ms.
    np.testing.assert_allclose(found[5:8], expected[5:8], rtol=1e-9, atol=1e-9)
    rigid = RigidTorque(model)
    assert not np.allclose(found[7], rigid.gravity(predictor.recording.q[FIRST + 7]), atol=0.5)
    predictor.ask(predictor.message(FIRST + 40))


def test_friction_that_needs_a_temperature_gets_it(predictor, ur5, model_file, tmp_path):
    """Without, nothing is predicted, and what is missing is said; with it, it is."""
    warm = known_model(
        ur5, 'viscous,temperature_viscous', prior_inertial_parameters(ur5), fv=3.0, fvT=-0.03
    )
    path = tmp_path / 'warm.yaml'
    path.write_text(dump_model(warm))
    graph = predictor.graph
    assert not graph.configure('torque_predictor', {'model_file': str(path)})
    try:
        for k in range(FIRST, FIRST + 5):
            predictor.publisher.publish(predictor.message(k))
        predictor.wait_for('needs a joint temperature')
        assert not predictor.torques
        publisher = graph.publisher(JointState, '/rtde/joint_temperatures')

        # A broken message is no temperature.
        publisher.publish(JointState(
            name=predictor.joints, effort=[30.0, 1e160, -1e20, 30.0, 30.0, 30.0]
        ))
        assert acknowledged(publisher)
        predictor.statuses.clear()
        predictor.publisher.publish(predictor.message(FIRST + 5))
        predictor.wait_for('needs a joint temperature')
        assert not predictor.torques

        def answers_to_both():
            """Say it again: the node listens as one does to a sensor."""
            # Joints are found by name, whatever their order.
            publisher.publish(JointState(
                name=predictor.joints[::-1], effort=TEMPERATURES[::-1].tolist()
            ))
            predictor.publisher.publish(predictor.message(FIRST + 10))
            return predictor.torques

        wait_until(answers_to_both, 'a prediction')
        rows = np.arange(FIRST + 10, FIRST + 14)
        rest = [predictor.ask(predictor.message(k))[0] for k in rows[1:]]
        live = np.array([predictor.on_stamp(predictor.torques, predictor.message(rows[0])), *rest])
        stamps = np.array([seconds(predictor.message(k).header.stamp) for k in rows])
        expected = TorquePredictor(warm).run(
            stamps, predictor.recording.q[rows], predictor.recording.dq[rows],
            np.tile(TEMPERATURES, (4, 1)),
        ).effort
        np.testing.assert_allclose(live, expected, rtol=1e-12, atol=1e-12)
    finally:
        assert not graph.configure('torque_predictor', {'model_file': str(model_file)})


@pytest.mark.parametrize(
    ('names', 'positions', 'words'),
    [
        (['a', 'b'], 2, 'lacks c; it names a, b'),
        ([], 0, 'lacks a, b, c; it names nothing'),
        (['c', 'gripper', 'b', 'a'], 3, '3 values of position for 4 joints'),
        (['c', 'gripper', 'b', 'a'], 4, ''),
    ],
)
def test_a_joint_state_is_told_what_is_wrong_with_it(names, positions, words):
    """Other joints are welcome; missing ones are named, with those that are there."""
    message = JointState(
        name=names, position=[0.0] * positions, velocity=[0.0] * len(names)
    )
    found = find_problem(message, ('a', 'b', 'c'))
    assert words in found
    assert bool(found) == bool(words)


def test_a_set_that_is_refused_leaves_the_model_as_it_was(predictor, ur5, model, tmp_path):
    """An atomic set, refused for what is checked last: nothing begins anew, either."""
    other = tmp_path / 'other.yaml'
    other.write_text(dump_model(
        known_model(ur5, 'viscous', prior_inertial_parameters(ur5), fv=30.0)
    ))
    rows = np.arange(FIRST, FIRST + 6)
    live = [predictor.ask(predictor.message(k))[0] for k in rows[:3]]
    answer = predictor.graph.answer(predictor.graph.request(
        SetParametersAtomically, '/torque_predictor/set_parameters_atomically',
        SetParametersAtomically.Request(parameters=[
            Parameter('model_file', value=path).to_parameter_msg()
            for path in ('\a', str(other))
        ]),
    ))
    assert not answer.result.successful
    live += [predictor.ask(predictor.message(k))[0] for k in rows[3:]]
    np.testing.assert_allclose(live, offline(model, predictor, rows)[0], rtol=1e-12, atol=1e-12)
