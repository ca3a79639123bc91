# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The recorder writes every message as it came; the bag is whole however the recorder ends."""

from contextlib import contextmanager
import json
import resource
import shutil
import signal
import threading
import time
from types import SimpleNamespace

from builders import custom_data_of, topics_of
from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.srv import SelfTest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
import numpy as np
import pytest
from rclpy.qos import QoSProfile, ReliabilityPolicy
from robot_identification import __version__
from robot_identification.errors import BagError
from robot_identification.nodes.bag_recorder import OPTIONAL_TOPICS
from robot_identification.nodes.recording_session import _identity_of, RecordingSession
from robot_identification.nodes.status import STATUS_TIMEOUT
from robot_identification.recording import DRIVER, DriverRecord, read_driver_record
from robot_identification.recording.bag import read_recording
from ros_helpers import (
    acknowledged, BEST_EFFORT, deserialized, joint_state, LATCHED, own_graph, paused, RELIABLE,
    state_in, state_message, wait_until,
)
from rosbags.highlevel import AnyReader
from rosbags.typesys import get_typestore, Stores
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64, String

JOINTS = [f'joint_{i}' for i in range(6)]
START, STOP = '/bag_recorder/start', '/bag_recorder/stop'
SHA256 = 'ab' * 32
DESCRIPTION = """<robot name="ur5e"><link name="base_link"/>
<ros2_control name="ur5e" type="system"><hardware>
<plugin>ur_robot_driver/URPositionHardwareInterface</plugin>
<param name="ur_type">ur5e</param><param name="kinematics/hash">calib_42</param>
<param name="use_currents_as_efforts">true</param>
</hardware></ros2_control></robot>"""
# What a test of the shared recorder may change.
DEFAULTS = {
    'start.topics': ['joint_states'],
    'start.optional_topics': list(OPTIONAL_TOPICS),
    'start.robot': '',
    'start.effort_unit': '',
    'start.trajectory_sha256': '',
    'start.payload': '',
    'start.until_runner_ends': False,
    'start.expected_duration': 60.0,
    'start.topic_timeout': 5.0,
    'minimum_free_space': 1.0,
}


def numbered(number):
    """Return a message that carries its number, stamped 2 ms after the one before."""
    return joint_state(
        5_000_000_000 + number * 2_000_000, JOINTS, [number + i for i in range(6)],
        [number * 0.1] * 6, [-number * 0.2] * 6,
    )


class Recorder:
    """The recorder's process, a publisher of joint states and the bag to be."""

    def __init__(self, graph, process, bag, states):
        self.graph, self.process, self.bag, self.states = graph, process, bag, states
        self.qos = RELIABLE
        self._publisher = None

    @property
    def publisher(self):
        """Of joint states; made when it is needed first."""
        if self._publisher is None:
            self._publisher = self.graph.node.create_publisher(
                JointState, '/joint_states', self.qos
            )
        return self._publisher

    def configure(self, **values):
        assert not self.graph.configure(
            'bag_recorder', {f'start.{name}': value for name, value in values.items()}
        )

    def start(self, *, publish=True):
        """Start recording; return what is said to that when the recorder listens."""
        if publish:
            assert self.publisher
        message = self.graph.done(START)
        if publish:
            wait_until(self.publisher.get_subscription_count, 'the recorder to listen')
        return message

    def refusal(self):
        return self.graph.refused(START)

    def publish(self, count, first=0):
        messages = [numbered(number) for number in range(first, first + count)]
        for message in messages:
            self.publisher.publish(message)
        return messages

    def stop(self):
        """Stop recording when the recorder has acknowledged what was published."""
        assert acknowledged(self.publisher)
        message = self.graph.done(STOP)
        wait_until(lambda: not self.publisher.get_subscription_count(), 'the recorder to leave')
        return message

    def state(self):
        return state_in(self.states[-1]) if self.states else {}

    def written(self):
        """Return the number of messages in the bag, as ~/state has it."""
        return int(self.state().get('messages', 0))

    def wait_for(self, **wanted):
        def said():
            state = self.state()
            wanted_texts = {key: str(value) for key, value in wanted.items()}
            return state if state.items() >= wanted_texts.items() else None

        return wait_until(said, f'~/state to say {wanted}')

    def restore(self):
        """Leave the process as it was found."""
        if self.state().get('state') == 'RECORDING':
            self.graph.call(STOP)
        if self._publisher is not None:
            self.graph.end_publisher(self._publisher)
        assert not self.graph.configure('bag_recorder', DEFAULTS)


@pytest.fixture(scope='module')
def shared(tmp_path_factory):
    """Return a graph with a recorder that many tests use one after the other."""
    folder = tmp_path_factory.mktemp('shared')
    with own_graph(folder) as graph:
        process = graph.start('bag_recorder', {**DEFAULTS, 'start.output': str(folder / 'bag')})
        states = graph.hear(DiagnosticArray, '/bag_recorder/state', LATCHED)
        wait_until(lambda: states, 'the recorder')
        yield graph, process, states


@pytest.fixture
def recorder(shared, tmp_path):
    """Return the shared recorder, which does not record yet."""
    graph, process, states = shared
    found = Recorder(graph, process, tmp_path / 'bag', states)
    found.configure(output=str(found.bag))
    yield found
    found.restore()


@contextmanager
def streaming(publisher):
    """Publish at 500 Hz meanwhile."""
    going = threading.Event()

    def stream():
        begun, number = time.monotonic(), 0
        while not going.is_set():
            publisher.publish(numbered(number))
            number += 1
            # A publisher that was held up catches up.
            going.wait(max(begun + 0.002 * number - time.monotonic(), 0.0))

    thread = threading.Thread(target=stream)
    thread.start()
    try:
        yield
    finally:
        going.set()
        thread.join()


def messages_in(states):
    return int(state_in(states[-1])['messages']) if states else 0


def read_prefix(bag):
    """Return the numbers of the messages in a bag that is still being written."""
    try:
        return read_recording(bag, JOINTS).q[:, 0].tolist()
    except BagError:
        return []


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


def test_notes_what_was_recorded(recorder):
    """What is known of run and driver is in the bag from the beginning; metadata.yaml is right."""
    publisher = recorder.graph.node.create_publisher(String, '/robot_description', LATCHED)
    publisher.publish(String(data=DESCRIPTION))
    assert acknowledged(publisher)
    driver = DriverRecord(
        'ur_robot_driver', hardware='ur_robot_driver/URPositionHardwareInterface',
        robot_type='ur5e', use_currents_as_efforts=True, calibration_hash='calib_42',
    )
    notes = {
        'robot': 'ur5', 'effort_unit': 'A', 'trajectory_sha256': SHA256, 'serial': '12e34',
        'payload': 'gripper, 0.9 kg', 'configuration_hash': 'cd' * 32, 'mounting': '0 3.1416 0',
    }
    recorder.configure(**notes)
    recorder.start()
    # At low rates, too, what arrived is in the file soon, while the recording goes on.
    for number in range(3):
        recorder.publish(1, first=number)
        wait_until(
            lambda last=number: read_prefix(recorder.bag)[-1:] == [last],
            'the message to be in the file', deadline=5.0,
        )
    early = read_recording(recorder.bag, JOINTS).metadata
    recorder.stop()
    recorder.graph.end_publisher(publisher)
    recorder.configure(**dict.fromkeys(notes, ''))
    noted = custom_data_of(recorder.bag)
    assert read_driver_record(early) == read_driver_record(noted) == driver
    del noted[DRIVER]
    assert noted == {
        **notes, 'recorder': f'robot_identification {__version__}',
        'lost_messages': '{"/joint_states": 0}', 'duplicate_messages': '{"/joint_states": 0}',
    }
    assert topics_of(recorder.bag) == {'/joint_states': ('sensor_msgs/msg/JointState', 3)}


def test_records_topics_of_any_type_and_qos(recorder):
    """A latched text that comes later, a best-effort driver and a plain number."""
    node = recorder.graph.node
    recorder.qos = BEST_EFFORT
    number = node.create_publisher(Float64, '/number', RELIABLE)
    # Empty names are left out, and one that is named twice is recorded once.
    recorder.configure(
        topics=['joint_states', '', 'number'], optional_topics=['/number', 'late', 'never'],
    )
    assert recorder.start().endswith('has a publisher: /late, /never')
    late = node.create_publisher(String, '/late', LATCHED)
    late.publish(String(data='said before anybody listened'))
    for publisher in number, late:
        wait_until(publisher.get_subscription_count, 'the recorder to listen')
    number.publish(Float64(data=4.0))
    # Best effort has no acknowledgement: some of many arrive.
    for message in range(100):
        recorder.publisher.publish(numbered(message))
        time.sleep(0.002)
    for publisher in number, late:
        assert acknowledged(publisher)
    recorder.graph.done(STOP)
    for publisher in number, late:
        recorder.graph.end_publisher(publisher)
    topics = topics_of(recorder.bag)
    kind, count = topics.pop('/joint_states')
    assert kind == 'sensor_msgs/msg/JointState' and count > 0
    assert topics == {
        '/number': ('std_msgs/msg/Float64', 1), '/late': ('std_msgs/msg/String', 1),
    }


def test_a_recording_begins_with_all_its_arguments_or_not_at_all(recorder, tmp_path):
    """One call of ~/start_with sets them and begins; one that is refused sets none."""
    def start(**values):
        return recorder.graph.call_with(
            START, {f'start.{name}': value for name, value in values.items()}
        )

    assert recorder.publisher.topic_name == '/joint_states'
    other = tmp_path / 'other'
    for wrong, words in (
        ({'payload': 'a', 'trajectory_sha256': 'short'}, 'no SHA-256'),
        ({'output': str(other), 'duration': 3.0}, 'start.duration'),
    ):
        refused = start(**wrong)
        assert not refused.successful
        assert words in refused.reason
    assert not other.exists()
    answer = start(output=str(other), payload='1.5 0 0 0', trajectory_sha256=SHA256)
    assert answer.successful, answer.reason
    assert f'recording to {other}' in answer.reason
    # What is recorded keeps its arguments: a busy recorder takes none.
    assert 'BUSY' in start(payload='2.5 0 0 0').reason
    assert recorder.graph.parameter('bag_recorder', 'start.payload') == '1.5 0 0 0'
    recorder.stop()
    noted = custom_data_of(other)
    assert (noted['payload'], noted['trajectory_sha256']) == ('1.5 0 0 0', SHA256)
    assert 'BUSY' not in recorder.graph.call(STOP).message


def test_what_is_lost_is_counted(recorder):
    """Exactly what is not in the bag: in ~/state, in diagnostics and in the bag."""
    recorder.qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    reports = recorder.graph.hear(DiagnosticArray, '/diagnostics')
    recorder.start()

    # The recorder stands still while more comes than a best-effort queue of 2000 keeps.
    sent = []

    def publish(number):
        sent.extend(recorder.publish(number, first=len(sent)))

    def is_heard(before):
        """Publish one more message; best effort does not promise that the first one arrives."""
        publish(1)
        return recorder.written() > before

    wait_until(lambda: is_heard(0), 'the first message')
    with paused(recorder.process):
        publish(4000)
    wait_until(lambda: recorder.written() > 100, 'what was not lost')
    before = recorder.written()
    wait_until(lambda: is_heard(before), 'the next message')
    # The stamp of the last one once more.
    recorder.publish(1, first=len(sent) - 1)

    def report():
        for array in reports:
            (status,) = array.status
            values = {value.key: value.value for value in status.values}
            if values.get('/joint_states duplicates') == '1':
                return status, values
        return None

    status, values = wait_until(report, 'diagnostics that tell of the duplicate')
    recorder.graph.done(STOP)
    found = [int(value) for _, value in read_by_mcap(recorder.bag)]
    lost = len(sent) - found[0] - len(set(found))
    assert lost > 100
    assert status.name == 'bag_recorder: recording'
    assert status.message == f'{lost} messages lost'
    assert values['/joint_states lost'] == str(lost)
    assert {'/joint_states rate [Hz]', 'bytes', 'free [MB]', 'lag [s]'} <= set(values)
    noted = custom_data_of(recorder.bag)
    assert json.loads(noted['lost_messages']) == {'/joint_states': lost}
    assert json.loads(noted['duplicate_messages']) == {'/joint_states': 1}


# Messages that a recorder has when it is ended: at 500 Hz, from 0.3 to 0.95 s.
ENDED_AT = {'killed_early': 150, 'killed_late': 341, 'interrupted': 478}


def test_a_recorder_that_is_ended_keeps_what_it_has_written(graph, tmp_path):
    """Of a killed one each bag is good up to 0.5 s of stamps before, and says what was noted."""
    processes, states = {}, {}
    publisher = graph.node.create_publisher(JointState, '/joint_states', RELIABLE)
    for name in ENDED_AT:
        processes[name] = graph.start('bag_recorder', {
            'start.output': str(tmp_path / name), 'start.topics': ['/joint_states'],
            'start.optional_topics': [''], 'start.effort_unit': 'Nm',
            'start.trajectory_sha256': SHA256,
        }, None, f'__ns:=/{name}')
        states[name] = graph.hear(DiagnosticArray, f'/{name}/bag_recorder/state', LATCHED)
    for name in ENDED_AT:
        wait_until(lambda name=name: states[name], f'the recorder of {name}')
        graph.done(f'/{name}/bag_recorder/start')
    wait_until(
        lambda: publisher.get_subscription_count() == len(ENDED_AT), 'the recorders to listen'
    )
    received = {}
    with streaming(publisher):
        for name, least in ENDED_AT.items():
            heard = states[name]
            wait_until(lambda heard=heard, n=least: messages_in(heard) >= n, 'messages')
            if name == 'interrupted':
                processes[name].process.send_signal(signal.SIGINT)
                assert graph.exit_code(processes[name]) == 0
            else:
                graph.kill(processes[name])
            received[name] = messages_in(heard)
    for name, count in received.items():
        bag = tmp_path / name
        recording = read_recording(bag, JOINTS)
        found = recording.q[:, 0].astype(int).tolist()
        # No gap from the first to the last.
        assert found == list(range(len(found)))
        assert recording.metadata['effort_unit'] == 'Nm'
        assert recording.metadata['trajectory_sha256'] == SHA256
        assert (bag / 'metadata.yaml').exists() == (name == 'interrupted')
        if name == 'interrupted':
            assert len(found) >= count
            assert recording.completeness.state == 'complete'
        else:
            # The heartbeat that told the count is up to 0.1 s old: 0.4 s of stamps remain.
            assert 0.002 * (count - len(found)) <= 0.4, (name, count, len(found))
            assert recording.completeness.state == 'recovered'


def test_a_full_disk_ends_the_recording_with_a_reason(recorder):
    """The bag is good up to then, ~/state tells why, and the next recording succeeds."""
    pid = recorder.process.process.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    recorder.start()
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        recorder.publish(1500)
        state = recorder.wait_for(state='FAULT')
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
    assert 'make room' in state['reason']
    assert str(recorder.bag) in state['reason']
    recording = read_recording(recorder.bag, JOINTS)
    assert recording.q[:, 0].tolist() == list(range(len(recording)))
    # A message takes about 310 bytes.
    assert 400 < len(recording) < 700
    assert recording.completeness.state == 'recovered'
    assert 'make room' in recorder.graph.call(STOP).message
    recorder.bag = recorder.bag.with_name('next')
    recorder.configure(output=str(recorder.bag))
    recorder.start()
    recorder.publish(5)
    recorder.stop()
    assert len(read_recording(recorder.bag, JOINTS)) == 5


def replace(bag):
    """Put another bag of the same name, with a file of another program, at its place."""
    bag.rename(bag.with_name('elsewhere'))
    bag.mkdir()
    (bag / f'{bag.name}_0.mcap').write_bytes(bytes(1_000_000))


@pytest.mark.parametrize('take_away', [shutil.rmtree, replace])
def test_a_bag_that_is_taken_away_is_noticed_at_once(recorder, take_away):
    """Before a runner stops for want of a heartbeat; what is put at its place stays."""
    recorder.start()
    with streaming(recorder.publisher):
        wait_until(lambda: recorder.written() > 100, 'messages')
        take_away(recorder.bag)
        taken_at = time.monotonic()
        state = recorder.wait_for(state='FAULT')
        assert time.monotonic() - taken_at < STATUS_TIMEOUT
    assert str(recorder.bag) in state['reason']
    assert 'record again into a new folder' in state['reason']
    assert 'messages in' not in state['reason']
    left = sorted(path.name for path in recorder.bag.glob('*'))
    assert left == ([f'{recorder.bag.name}_0.mcap'] if recorder.bag.exists() else [])
    assert 'can be read there' in recorder.graph.refused(STOP)


def test_a_bag_that_grows_while_it_is_looked_at_is_at_its_place(tmp_path):
    """The thread writes after the size was read: the check must not compare it with what came."""
    path = tmp_path / 'bag.mcap'
    path.write_bytes(b'head')

    class Growing:
        """A file of which a record is written as soon as its size is known."""

        byte_count = 4

        def stat(self):
            found = path.stat()
            path.write_bytes(path.read_bytes() + b'more')
            self.byte_count += 4
            return found

        @property
        def file(self):
            return self

    session = SimpleNamespace(writer=Growing(), _identity=_identity_of(path))
    assert all(RecordingSession._is_at_its_place(session) for _ in range(3))
    path.write_bytes(b'')
    assert not RecordingSession._is_at_its_place(session)


def test_too_little_space_is_refused_or_ends_the_recording(recorder):
    """Less than the minimum, or than twice the estimate; a bag that is ended is whole."""
    assert recorder.publisher
    assert not recorder.graph.configure('bag_recorder', {'minimum_free_space': 1e9})
    assert '1000000000 MB are needed' in recorder.refusal()
    assert not recorder.graph.configure('bag_recorder', {'minimum_free_space': 1.0})
    recorder.configure(expected_duration=1e6)
    # Twice a million seconds of one topic at 0.25 MB/s.
    assert '500000 MB are needed' in recorder.refusal()
    assert not recorder.bag.exists()
    recorder.configure(expected_duration=1.0)
    recorder.start()
    recorder.publish(50)
    recorder.wait_for(messages=50)
    assert not recorder.graph.configure('bag_recorder', {'minimum_free_space': 1e9})
    state = recorder.wait_for(state='FAULT')
    assert 'less than minimum_free_space' in state['reason']
    recording = read_recording(recorder.bag, JOINTS)
    assert len(recording) == 50
    assert recording.completeness.state == 'complete'


MOVING = 'APPROACHING', 'EXECUTING', 'STOPPING'


class Runner:
    """A node that stands where the experiment runner does."""

    def __init__(self, graph):
        self.graph = graph
        self.node = graph.add_node('experiment_runner')
        self.state, self.motions, self.asked = 'IDLE', 0, 0
        self.node.create_service(SelfTest, '~/status', self._answer)

    def _answer(self, request, response):
        self.asked += 1
        response.passed = bytes([self.state in MOVING])
        response.status = state_message(self.state, reason='', motions=self.motions).status
        return response

    def enter(self, state):
        """Enter a state; wait until the recorder knows."""
        self.motions += state == MOVING[0]
        self.state, asked = state, self.asked
        wait_until(lambda: self.asked > asked + 1, 'the recorder to ask')

    def leave(self):
        self.graph.remove_node(self.node)


def replay_runner(graph, *states):
    """Play a bag with states of a runner, as fast as it goes."""
    publisher = graph.node.create_publisher(
        DiagnosticArray, '/experiment_runner/state', QoSProfile(
            depth=10, reliability=ReliabilityPolicy.RELIABLE,
            durability=LATCHED.durability,
        )
    )
    for state in states:
        publisher.publish(state_message(state, reason=''))
    assert acknowledged(publisher)
    return publisher


def test_a_recording_ends_with_the_motion_of_the_runner(recorder):
    """Half a second after it, whatever the runner was before, and what comes until then is in."""
    runner = Runner(recorder.graph)
    runner.state, runner.motions = 'DONE', 3
    recorder.configure(until_runner_ends=True)
    recorder.start()
    runner.enter('ARMED')
    # Of another run, beside this one.
    replay_runner(recorder.graph, 'EXECUTING', 'DONE')
    for state in MOVING:
        runner.enter(state)
        heard = len(recorder.states)
        wait_until(lambda heard=heard: len(recorder.states) > heard + 6, 'heartbeats')
        assert recorder.state()['state'] == 'RECORDING'
    recorder.publish(40)
    runner.enter('FAULT')
    recorder.publish(10, first=40)
    state = recorder.wait_for(state='IDLE')
    assert 'the motion of the runner ended: FAULT' in state['reason']
    assert [number for _, number in read_by_mcap(recorder.bag)] == list(range(50))
    # One that is shorter than the time between two questions: the runner counts its motions.
    recorder.configure(output=str(recorder.bag.with_name('next')))
    recorder.start()
    runner.motions += 1
    runner.enter('FAULT')
    recorder.wait_for(state='IDLE')
    runner.leave()


def test_a_recording_ends_when_the_runner_is_gone(recorder):
    """Nobody is there to tell of an end; the bag is whole."""
    runner = Runner(recorder.graph)
    recorder.configure(until_runner_ends=True)
    recorder.start()
    runner.enter('EXECUTING')
    # The player of a bag is no runner.
    replay_runner(recorder.graph, 'EXECUTING')
    recorder.publish(20)
    recorder.wait_for(messages=20)
    runner.leave()
    state = recorder.wait_for(state='IDLE')
    assert '/experiment_runner has ended' in state['reason']
    assert len(read_recording(recorder.bag, JOINTS)) == 20


def test_refuses_what_it_cannot_do(recorder, tmp_path):
    """No output, no such folder, a bag that exists, no topic: each is told, nothing is written."""
    existing = tmp_path / 'existing'
    existing.mkdir()
    (existing / 'precious').write_text('data')
    before = sorted(tmp_path.rglob('*'))
    assert 'nothing is being recorded' in recorder.graph.refused(STOP)
    assert recorder.publisher
    for output, words in (('', ''), ('/proc/no/bag', ''), (existing, f'{existing} exists')):
        recorder.configure(output=str(output))
        assert words in recorder.refusal()
    recorder.configure(output=str(recorder.bag), topics=['joint states'])
    assert 'start.topics' in recorder.refusal()
    recorder.configure(topics=['joint_states', 'nobody'], topic_timeout=0.2)
    reason = recorder.refusal()
    assert '/nobody' in reason
    assert '/joint_states' not in reason
    assert sorted(tmp_path.rglob('*')) == before
    assert recorder.process.exit_code is None
    assert recorder.wait_for(state='IDLE')
