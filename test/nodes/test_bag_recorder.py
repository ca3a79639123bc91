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

"""The recorder writes every message as it came; the bag is whole however the recorder ends."""

import signal
import threading
import time

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
import numpy as np
import pytest
from robot_identification.experiment.bag import read_recording
from robot_identification.experiment.bag import RosbagsBackend
from ros_helpers import acknowledged
from ros_helpers import BEST_EFFORT
from ros_helpers import deserialized
from ros_helpers import LATCHED
from ros_helpers import RELIABLE
from ros_helpers import wait_until
from rosbags.highlevel import AnyReader
from rosbags.typesys import get_typestore
from rosbags.typesys import Stores
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from std_msgs.msg import String
from std_srvs.srv import Trigger
import yaml

JOINTS = [f'joint_{i}' for i in range(6)]
START, STOP = '/bag_recorder/start', '/bag_recorder/stop'


def joint_state(number):
    """Return a message that carries its number."""
    message = JointState(
        name=JOINTS,
        position=[float(number + i) for i in range(6)],
        velocity=[number * 0.1] * 6,
        effort=[-number * 0.2] * 6,
    )
    nanoseconds = 5_000_000_000 + number * 2_000_000
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(nanoseconds, 10**9)
    return message


class Recorder:
    """The recorder's process, a publisher of joint states and the bag to be."""

    def __init__(self, graph, folder, qos=RELIABLE):
        self.graph, self.bag = graph, folder / 'bag'
        self.process = graph.start('bag_recorder', {'start.output': str(self.bag)})
        self.publisher = graph.node.create_publisher(JointState, '/joint_states', qos)

    def start(self):
        """Start recording; return when the recorder listens."""
        answer = self.graph.call(START)
        assert answer.success, answer.message
        wait_until(self.publisher.get_subscription_count, 'the recorder to listen')

    def publish(self, count):
        """Publish so many messages; return them."""
        messages = [joint_state(number) for number in range(count)]
        for message in messages:
            self.publisher.publish(message)
        return messages

    def stop(self):
        """Stop recording when the recorder has acknowledged what was published."""
        assert acknowledged(self.publisher)
        answer = self.graph.call(STOP)
        assert answer.success, answer.message
        wait_until(lambda: not self.publisher.get_subscription_count(), 'the recorder to leave')
        return answer.message


@pytest.fixture
def recorder(graph, tmp_path):
    """Return a recorder that does not record yet."""
    return Recorder(graph, tmp_path)


def read_by_rosbags(bag):
    """Return (topic, number in the message) of every message."""
    with AnyReader([bag], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        return [
            (connection.topic, reader.deserialize(raw, connection.msgtype).position[0])
            for connection, _, raw in reader.messages()
        ]


def read_by_mcap(bag):
    """Return the same by another library, which brings its own decoder."""
    (path,) = bag.glob('*.mcap')
    with path.open('rb') as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        return [
            (channel.topic, message.position[0])
            for _, channel, _, message in reader.iter_decoded_messages()
        ]


def test_nothing_is_lost_or_changed(recorder):
    """What was published is in the bag, to the last bit, for four readers."""
    recorder.start()
    sent = recorder.publish(500)
    assert '500 messages' in recorder.stop()
    expected = [('/joint_states', float(number)) for number in range(500)]
    assert read_by_rosbags(recorder.bag) == expected
    assert read_by_mcap(recorder.bag) == expected
    recording = read_recording(recorder.bag, JOINTS)
    np.testing.assert_array_equal(recording.q, [message.position for message in sent])
    np.testing.assert_array_equal(recording.dq, [message.velocity for message in sent])
    np.testing.assert_array_equal(recording.effort, [message.effort for message in sent])
    np.testing.assert_allclose(recording.stamps, 0.002 * np.arange(500), rtol=0, atol=1e-12)
    assert recording.start == 5_000_000_000
    (path,) = recorder.bag.glob('*.mcap')
    with path.open('rb') as stream:
        raw = [message.data for _, _, message in make_reader(stream).iter_messages()]
    assert [deserialized(JointState, data) for data in raw] == sent


def test_stop_writes_what_has_arrived(graph, recorder):
    """Messages that wait to be read when ~/stop is called belong to the recording."""
    client = graph.node.create_client(Trigger, STOP)
    wait_until(client.service_is_ready, 'the service to stop')
    assert not graph.answer(client.call_async(Trigger.Request())).success
    recorder.start()
    # Messages and call wait together until the process may run again.
    recorder.process.process.send_signal(signal.SIGSTOP)
    try:
        recorder.publish(200)
        future = client.call_async(Trigger.Request())
    finally:
        recorder.process.process.send_signal(signal.SIGCONT)
    assert '200 messages' in graph.answer(future).message
    assert [number for _, number in read_by_mcap(recorder.bag)] == list(range(200))


def test_notes_what_was_recorded(graph, recorder):
    """Robot, unit and trajectory are in the bag itself; metadata.yaml counts right."""
    assert not graph.configure('bag_recorder', {
        'start.robot': 'ur5', 'start.effort_unit': 'A', 'start.trajectory_sha256': 'ab' * 32,
    })
    recorder.start()
    recorder.publish(10)
    recorder.stop()
    noted = RosbagsBackend().metadata(recorder.bag)
    assert noted['robot'] == 'ur5'
    assert noted['effort_unit'] == 'A'
    assert noted['trajectory_sha256'] == 'ab' * 32
    content = yaml.safe_load((recorder.bag / 'metadata.yaml').read_text())
    information = content['rosbag2_bagfile_information']
    assert information['message_count'] == 10
    assert information['storage_identifier'] == 'mcap'
    (topic,) = information['topics_with_message_count']
    assert topic['topic_metadata']['name'] == '/joint_states'
    assert topic['topic_metadata']['type'] == 'sensor_msgs/msg/JointState'
    assert topic['message_count'] == 10


def test_records_topics_of_any_type_and_qos(graph, tmp_path):
    """A latched description, a best-effort driver and a plain number go into one bag."""
    recorder = Recorder(graph, tmp_path, BEST_EFFORT)
    description = graph.node.create_publisher(String, '/robot_description', LATCHED)
    description.publish(String(data='<robot/>'))
    number = graph.node.create_publisher(Float64, '/number', RELIABLE)
    assert not graph.configure('bag_recorder', {
        'start.topics': ['joint_states', '/robot_description', '/number'],
    })
    recorder.start()
    wait_until(number.get_subscription_count, 'the recorder to listen')
    number.publish(Float64(data=4.0))
    # Best effort has no acknowledgement: some of many arrive.
    for message in range(100):
        recorder.publisher.publish(joint_state(message))
        time.sleep(0.002)
    assert acknowledged(number)
    answer = graph.call(STOP)
    assert answer.success, answer.message
    topics = RosbagsBackend().topics(recorder.bag)
    assert {topic: kind for topic, (kind, _) in topics.items()} == {
        '/joint_states': 'sensor_msgs/msg/JointState',
        '/robot_description': 'std_msgs/msg/String',
        '/number': 'std_msgs/msg/Float64',
    }
    assert topics['/robot_description'][1] == topics['/number'][1] == 1
    assert topics['/joint_states'][1] > 0


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_whole_bag(graph, recorder, number):
    """Whoever ends the recorder while it records keeps every message up to then."""
    recorder.start()
    going, sent = threading.Event(), []

    def publish():
        while not going.is_set():
            recorder.publisher.publish(joint_state(len(sent)))
            sent.append(time.monotonic())
            going.wait(0.002)

    publisher = threading.Thread(target=publish)
    publisher.start()
    try:
        wait_until(lambda: len(sent) > 500, 'messages')
        known = len(sent)
        signalled = time.monotonic()
        recorder.process.process.send_signal(number)
        assert graph.exit_code(recorder.process) == 0
        assert time.monotonic() - signalled < 5.0
    finally:
        going.set()
        publisher.join()
    assert (recorder.bag / 'metadata.yaml').is_file()
    found = [value for _, value in read_by_mcap(recorder.bag)]
    # No gap from the first to the last, which is not half a second before the signal, even where
    # the recorder has to wait for its share of a busy machine.
    assert found == [float(value) for value in range(len(found))]
    assert len(found) > known - 250
    assert read_by_rosbags(recorder.bag) == read_by_mcap(recorder.bag)
    content = yaml.safe_load((recorder.bag / 'metadata.yaml').read_text())
    assert content['rosbag2_bagfile_information']['message_count'] == len(found)


def test_does_not_touch_what_exists(graph, recorder):
    """An existing bag is refused by name and stays as it is; so does a file in the way."""
    recorder.bag.mkdir()
    (recorder.bag / 'precious').write_text('data')
    answer = graph.call(START)
    assert not answer.success
    assert str(recorder.bag) in answer.message
    assert 'exists' in answer.message
    assert [path.name for path in recorder.bag.iterdir()] == ['precious']
    # It is still of use.
    recorder.bag = recorder.bag.with_name('another')
    assert not graph.configure('bag_recorder', {'start.output': str(recorder.bag)})
    recorder.start()
    recorder.publish(3)
    recorder.stop()
    assert len(read_by_rosbags(recorder.bag)) == 3


def test_refuses_what_it_cannot_do(graph, recorder, tmp_path):
    """No output, no such folder, nothing to stop: each has its answer, nothing is written."""
    before = sorted(tmp_path.iterdir())
    answer = graph.call(STOP)
    assert not answer.success
    assert 'nothing is being recorded' in answer.message
    for output in ('', '/proc/no/bag'):
        assert not graph.configure('bag_recorder', {'start.output': output})
        answer = graph.call(START)
        assert not answer.success
        assert answer.message
    assert sorted(tmp_path.iterdir()) == before
    assert recorder.process.exit_code is None


def test_a_topic_nobody_publishes_is_refused(graph, recorder):
    """The topic is named and no bag is left behind."""
    assert not graph.configure('bag_recorder', {'start.topics': ['joint_states', 'nobody']})
    answer = graph.call(START)
    assert not answer.success
    assert '/nobody' in answer.message
    assert '/joint_states' not in answer.message
    assert not recorder.bag.exists()
    assert 'nothing is being recorded' in graph.call(STOP).message


def test_a_second_start_is_busy(graph, recorder):
    """The recording goes on as if nothing had happened."""
    recorder.start()
    recorder.publish(5)
    answer = graph.call(START)
    assert not answer.success
    assert 'BUSY' in answer.message
    assert str(recorder.bag) in answer.message
    recorder.stop()
    assert len(read_by_rosbags(recorder.bag)) == 5


def test_of_many_starts_one_succeeds(graph, recorder):
    """Eight at the same moment: one records, the others are told BUSY."""
    futures = [graph.request(Trigger, START, Trigger.Request()) for _ in range(8)]
    answers = [graph.answer(future) for future in futures]
    assert sum(answer.success for answer in answers) == 1
    assert all('BUSY' in answer.message for answer in answers if not answer.success)
    wait_until(recorder.publisher.get_subscription_count, 'the recorder to listen')
    recorder.publish(5)
    recorder.stop()
    assert len(read_by_rosbags(recorder.bag)) == 5


def test_records_one_bag_after_the_other(graph, recorder):
    """A second recording begins empty."""
    for number, count in enumerate((20, 7)):
        recorder.bag = recorder.bag.with_name(f'bag_{number}')
        assert not graph.configure('bag_recorder', {'start.output': str(recorder.bag)})
        recorder.start()
        recorder.publish(count)
        assert f'{count} messages' in recorder.stop()
        assert len(read_by_rosbags(recorder.bag)) == count
