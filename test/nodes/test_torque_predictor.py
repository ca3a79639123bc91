# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""The live torque predictor: the same numbers as offline, and silence rather than nonsense."""

import time

import numpy as np
import pytest
from robot_identification.experiment.bag import read_recording
from robot_identification.model.model_file import load_identified_model
from robot_identification.prediction.torque_predictor import TorquePredictor
from ros_helpers import seconds
from ros_helpers import wait_until
from sensor_msgs.msg import JointState

TORQUE, RESIDUAL = '/torque_predictor/torque', '/torque_predictor/residual'
FIRST = 100
ATTEMPTS = 100


class Predictor:
    """The node, and what publishes recorded samples to it and hears its answers."""

    def __init__(self, graph, recording, parameters=None):
        self.graph, self.recording = graph, recording
        self.joints = list(recording.joint_names)
        self.attempts = 0
        self.node = graph.start('torque_predictor', parameters)
        self.torques = graph.hear_matched(JointState, TORQUE)
        self.residuals = graph.hear_matched(JointState, RESIDUAL)
        self.publisher = graph.publisher(JointState, '/joint_states')

    def message(self, k, shift=0):
        """Return a recorded sample as a message, its joints in another order every time."""
        recording = self.recording
        order = np.roll(np.arange(len(self.joints)), k + shift)
        message = JointState(
            name=[self.joints[i] for i in order],
            position=recording.q[k, order].tolist(),
            velocity=recording.dq[k, order].tolist(),
            effort=recording.effort[k, order].tolist(),
        )
        nanoseconds = recording.start + round(recording.stamps[k] * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(nanoseconds, 10**9)
        return message

    def publish_until(self, message, condition):
        """
        Publish a message until a condition holds.

        The node listens as one does to a sensor: what is lost is not sent again by DDS. What was
        only late is ignored when it comes again, because it repeats a stamp.
        """
        while not condition():
            self.publisher.publish(message)
            published = time.monotonic()
            wait_until(
                lambda since=published: condition() or time.monotonic() > since + 1.0, 'an answer'
            )
            self.attempts += 1
            assert self.attempts < ATTEMPTS, 'the node does not answer'

    def ask(self, message):
        """Publish a message; return torque and residual, kinematic order."""
        residuals, torques = len(self.residuals), len(self.torques)
        self.publish_until(
            message, lambda: len(self.residuals) > residuals and len(self.torques) > torques
        )
        answers = self.torques[-1], self.residuals[-1]
        for answer in answers:
            assert answer.header.stamp == message.header.stamp
            assert sorted(answer.name) == sorted(self.joints)
        return [
            np.array([answer.effort[list(answer.name).index(joint)] for joint in self.joints])
            for answer in answers
        ]


@pytest.fixture(scope='module')
def model(model_file):
    """Return the identified model."""
    return load_identified_model(model_file)


@pytest.fixture(scope='module')
def recording(bag, ur5):
    """Return the samples of the bag."""
    return read_recording(bag, ur5.joint_names)


def offline(model, predictor, rows):
    """Return torque and residual of the class that the node wraps, on the stamps of messages."""
    recording = predictor.recording
    stamps = np.array([seconds(predictor.message(k).header.stamp) for k in rows])
    effort = TorquePredictor(model).run(stamps, recording.q[rows], recording.dq[rows])
    torque = effort / model.effort_per_torque
    return torque, recording.effort[rows] / model.effort_per_torque - torque


def test_predicts_live_what_is_predicted_offline(graph, recording, model, model_file):
    """Sample by sample to rounding, whatever the order of the joints."""
    predictor = Predictor(graph, recording, {'model_file': str(model_file)})
    rows = np.arange(FIRST, FIRST + 60)
    live = np.array([predictor.ask(predictor.message(k)) for k in rows])
    torque, residual = offline(model, predictor, rows)
    np.testing.assert_allclose(live[:, 0], torque, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(live[:, 1], residual, rtol=1e-12, atol=1e-10)
    # Joint torque, not current, and a prediction: the residual is the smaller part.
    assert np.std(residual) < 0.3 * np.std(torque)


def spoiled_messages(predictor, k):
    """Yield messages that must not be predicted from, one for each sample from k on."""
    for field in ('position', 'velocity'):
        for value in (float('nan'), float('inf')):
            message = predictor.message(k)
            getattr(message, field)[2] = value
            yield message
            k += 1
        message = predictor.message(k)
        setattr(message, field, [])
        yield message
        k += 1
    message = predictor.message(k)
    message.name[0] = 'gripper_joint'
    yield message
    yield JointState(header=predictor.message(k + 1).header)
    yield predictor.message(k + 1)  # repeats the stamp of the sample before


def test_nothing_comes_out_of_nonsense(graph, recording, model, model_file):
    """NaN, a joint missing, a repeated stamp, no position: no output, and then it goes on."""
    predictor = Predictor(graph, recording, {'model_file': str(model_file)})
    answers = [predictor.ask(predictor.message(FIRST))]
    for k, message in enumerate(spoiled_messages(predictor, FIRST + 1), start=FIRST + 1):
        predictor.publisher.publish(message)
        answers.append(predictor.ask(predictor.message(k)))
    assert len(predictor.torques) == len(predictor.residuals) == len(answers)
    rows = np.arange(FIRST, FIRST + len(answers))
    torque, _ = offline(model, predictor, rows)
    np.testing.assert_allclose(
        [answer[0] for answer in answers], torque, rtol=1e-12, atol=1e-12
    )
    # Without effort there is a torque, but no residual.
    message = predictor.message(rows[-1] + 1)
    message.effort = []
    predictor.publish_until(message, lambda: len(predictor.torques) > len(answers))
    predictor.ask(predictor.message(rows[-1] + 2))
    assert len(predictor.torques) == len(answers) + 2
    assert len(predictor.residuals) == len(answers) + 1
    for answer in (*predictor.torques, *predictor.residuals):
        assert np.all(np.isfinite(answer.effort))


def test_is_silent_until_a_model_is_set(graph, recording, model_file, tmp_path):
    """A wrong file is refused where it is set, and does not disturb the model in use."""
    predictor = Predictor(graph, recording)
    for k in range(FIRST, FIRST + 5):
        predictor.publisher.publish(predictor.message(k))
    (tmp_path / 'wrong.yaml').write_text('schema_version: 1\nhello: world\n')
    missing, wrong = str(tmp_path / 'missing.yaml'), str(tmp_path / 'wrong.yaml')
    for path in (missing, wrong, str(tmp_path)):
        reasons = graph.configure('torque_predictor', {'model_file': path})
        assert len(reasons) == 1
        assert path in reasons[0]
    assert not predictor.torques
    assert not graph.configure('torque_predictor', {'model_file': str(model_file)})
    torque, _ = predictor.ask(predictor.message(FIRST + 10))
    assert np.all(np.isfinite(torque))
    assert len(graph.configure('torque_predictor', {'model_file': wrong})) == 1
    again, _ = predictor.ask(predictor.message(FIRST + 11))
    assert np.max(np.abs(again - torque)) < 20.0
    assert predictor.node.exit_code is None
