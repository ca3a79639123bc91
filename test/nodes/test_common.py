# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What all nodes share: the command line, and the end of a node of several threads."""

from array import array
from contextlib import nullcontext
import math
import re
import subprocess
import sys
from threading import Event
import time
from types import SimpleNamespace
from typing import ClassVar

from diagnostic_msgs.srv import SelfTest
from hypothesis import given, strategies as st
import numpy as np
import pytest
import rclpy
from rclpy.serialization import deserialize_message, serialize_message
from robot_identification.errors import DataError, UnsafeMotionError
from robot_identification.execution.events import Send, StopOutdated
from robot_identification.model.registry import load_robot
from robot_identification.model.robot_model import JointEncoders, plain_encoders
from robot_identification.nodes import common, controller
from robot_identification.nodes.bounds import LONGEST_LIST, LONGEST_TEXT, ParameterBounds
from robot_identification.nodes.command_line import options_as_parameters
from robot_identification.nodes.controller import ControllerState
from robot_identification.nodes.conversions import (
    joint_state, joint_values, knots_to_message, message_to_knots, to_time,
)
from robot_identification.nodes.driver_notes import describe_driver
from robot_identification.nodes.experiment_runner import ExperimentRunner
from robot_identification.nodes.joint_states import JointStateReader
from robot_identification.nodes.status import RecorderWatch
from robot_identification.nodes.topic_thread import TopicThread
from robot_identification.simulation.controller import TrajectoryPoints
from ros_helpers import RELIABLE, state_message, wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Header, Int32
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


@pytest.mark.parametrize(('words', 'code', 'stream', 'said'), [
    (['--help'], 0, 'stdout', 'A simulated robot that stands where'),
    (['-h', '--ros-args', '-p', 'robot:=ur5'], 0, 'stdout', 'docs/parameters.md'),
    (['--robot', 'ur5'], 2, 'stderr', 'error: unknown argument --robot of simulated_robot'),
    (['--ros-args', '--nope'], 2, 'stderr', '--nope'),
    (['--ros-args', '-p', 'truthseed:=3'], 2, 'stderr', 'truthseed (did you mean truth_seed?)'),
    (['--ros-args', '-p', 'robot:=ur5e'], 2, 'stderr', 'are unknown: give them with drive_gains'),
])
def test_a_node_answers_what_is_not_of_ros(graph, words, code, stream, said):
    """It does not start: help names where parameters are documented, the rest is refused."""
    found = subprocess.run(
        [sys.executable, '-m', 'robot_identification.nodes.simulated_robot', *words],
        env=graph.environment, capture_output=True, text=True, timeout=60,
    )
    assert found.returncode == code, found.stderr
    assert said in getattr(found, stream)


def test_messages_of_nodes_name_parameters():
    """The one with the name of the option, or below a service; commands and others stay."""
    parameters = ['start.output', 'identify.start', 'identify.drive_gains', 'drive_gains', 'stop']
    assert options_as_parameters(
        'give --drive-gains, or --start/--stop; or --urdf FILE by `excite --drive-gains`',
        parameters,
    ) == 'give drive_gains, or identify.start/stop; or --urdf FILE by `excite --drive-gains`'


SHARE = ParameterBounds(0.0, 1.0)


@given(values=st.lists(st.floats(), max_size=5))
def test_numbers_of_a_list_are_inside_and_finite(values):
    """What is not refused is finite and in the range, each number of it."""
    inside = all(math.isfinite(value) and 0.0 <= value <= 1.0 for value in values)
    assert (SHARE.refusal('shares', array('d', values)) == '') == inside


@pytest.mark.parametrize(
    ('bounds', 'value', 'reason'),
    [
        (SHARE, 1.5, 'x is 1.5, allowed are 0 to 1'),
        (SHARE, array('d', [0.0, -1.0]), r'x\[1\] is -1.0, allowed are 0 to 1'),
        (SHARE, math.nan, 'x is nan, a finite number is needed'),
        (ParameterBounds(choices=('A', 'Nm')), 'mA', "x is 'mA', it must be 'A' or 'Nm'"),
        (ParameterBounds(), 'x' * (LONGEST_TEXT + 1), 'x has 4097 characters, at most 4096'),
        (ParameterBounds(), ['a', 'b\n'], r"x\[1\] is 'b\\n': control characters"),
        (ParameterBounds(), [0] * (LONGEST_LIST + 1), 'x has 257 entries, at most 256'),
    ],
)
def test_a_reason_names_value_and_limit(bounds, value, reason):
    assert re.search(reason, bounds.refusal('x', value))


DESCRIPTION = """<robot name="arm"><link name="base"/><ros2_control name="arm" type="system">
<hardware><plugin>ur_robot_driver/URPositionHardwareInterface</plugin></hardware></ros2_control>
</robot>"""


def test_driver_and_version_are_named_or_said_to_be_unknown(tmp_path, monkeypatch):
    """No version is guessed: the package is that of the hardware interface, as installed."""
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    assert describe_driver('').startswith('driver: not known')
    assert describe_driver(DESCRIPTION).startswith('driver: ur_robot_driver, version not known')
    index = tmp_path / 'share/ament_index/resource_index/packages'
    index.mkdir(parents=True)
    (index / 'ur_robot_driver').touch()
    share = tmp_path / 'share/ur_robot_driver'
    share.mkdir()
    (share / 'package.xml').write_text('<package><version>3.8.0</version></package>')
    assert describe_driver(DESCRIPTION) == 'driver: ur_robot_driver 3.8.0, as installed here'


class Unanswered:
    """A node whose clients find no service."""

    def create_client(self, kind, service):
        return SimpleNamespace(service_is_ready=lambda: False)

    def destroy_client(self, client):
        """Do nothing."""


class States:
    """A subscription to a controller's states, which come when a test puts them here."""

    arrived: ClassVar[list] = []

    def __init__(self, *_):
        self.arrived.clear()

    def take(self, most):
        taken = [(one, {}) for one in self.arrived[-most:]]
        self.arrived.clear()
        return taken

    def destroy(self):
        """Do nothing."""


@pytest.mark.parametrize(('publishers', 'names', 'found'), [
    (1, ('left_lift', 'left_turn'), [0.1, 0.2]), (2, ('left_lift', 'left_turn'), None),
    (1, ('left_turn', 'left_lift'), [0.2, 0.1]), (1, ('left_lift', 'gripper'), None),
    (1, ('left_lift',), None),
])
def test_where_a_controller_holds_the_arm_is_found_by_names(
    publishers, names, found, monkeypatch
):
    """Not where a bag that is replayed may be what states it."""
    for name, value in {
        'DirectSubscription': States, 'SpeedScalingFactor': None,
        'JointTrajectoryControllerState': object(), 'deserialize_message': lambda data, kind: data,
    }.items():
        monkeypatch.setattr(controller, name, value)
    monkeypatch.setattr(
        controller, 'publishers', lambda node, topic: ['/jtc', '/player'][:publishers]
    )
    stating = ControllerState(Unanswered(), ('left_lift', 'left_turn'))
    stating.refresh('jtc')
    States.arrived.append(SimpleNamespace(
        joint_names=names, reference=SimpleNamespace(positions=[0.1, 0.2]),
    ))
    stated = stating.commanded()
    assert stated is found if found is None else stated.tolist() == found


ENCODERS = JointEncoders(np.array([1.0, -1.0, 1.0]), np.array([0.5, 0.25, -2.0]))


def test_joint_values_are_the_models():
    """Q = sign * reading - zero; velocity and effort turn with the sign; order is by name."""
    message = joint_state(
        Header(), ['c', 'a', 'b', 'x'], np.array([3.0, 1.0, 2.0, 9.0]),
        np.array([0.3, 0.1, 0.2, 0.9]), np.array([30.0, 10.0, 20.0, 90.0]),
    )
    q, dq, effort = joint_values(message, ['a', 'b', 'c'], ENCODERS)
    np.testing.assert_allclose(q, [0.5, -2.25, 5.0])
    np.testing.assert_allclose(dq, [0.1, -0.2, 0.3])
    np.testing.assert_allclose(effort, [10.0, -20.0, 30.0])
    with pytest.raises(DataError, match='lacks d'):
        joint_values(message, ['a', 'd'], plain_encoders(2))


@pytest.mark.parametrize('nanoseconds', [0, 1, 1_790_000_000_123_456_789, 2**31 * 10**9 - 1])
def test_a_stamp_is_the_one_that_came(nanoseconds):
    """To the last nanosecond, also of this century."""
    stamp = to_time(nanoseconds)
    assert stamp.sec * 10**9 + stamp.nanosec == nanoseconds


def test_a_trajectory_comes_back_through_the_driver(rng):
    """Sent in readings, it is followed in the model's positions, in whatever order it comes."""
    robot = load_robot('youbot')
    times = np.array([0.02, 0.5, 1.25])
    knots = TrajectoryPoints(times, *(rng.uniform(-1, 1, (3, 5)) for _ in range(3)))
    message = knots_to_message(robot, knots)
    readings = np.array([point.positions for point in message.points])
    # Readings are rounded to the last bit of 3 rad, times to nanoseconds.
    np.testing.assert_allclose(robot.encoders.to_model(readings), knots.q, atol=1e-14)
    assert np.abs(readings - knots.q).min() > 1.0, 'every zero of the youBot is over 65 deg'
    order = [3, 0, 4, 1, 2]
    message.joint_names = [message.joint_names[i] for i in order]
    for point in message.points:
        for field in ('positions', 'velocities', 'accelerations'):
            setattr(point, field, [getattr(point, field)[i] for i in order])
    back = message_to_knots(message, robot.joint_names, robot.encoders)
    np.testing.assert_allclose(back.times, times, atol=1e-9)
    for field in ('q', 'dq', 'ddq'):
        np.testing.assert_allclose(getattr(back, field), getattr(knots, field), atol=1e-14)


@pytest.mark.parametrize(('names', 'points', 'reason'), [
    ('ab', [([0.0, 0.0], [])], 'names a, b, needed are a, b, c'),
    ('abx', [([0.0] * 3, [])], 'names a, b, x'), ('aba', [([0.0] * 3, [])], 'names a, b, a'),
    ('abc', [([0.0] * 2, [])], 'positions do not have 3 values'),
    ('abc', [([0.0] * 3, [0.0] * 3), ([0.0] * 3, [])], 'velocities do not have 3 values'),
    ('abc', [], 'no positions'), ('abc', [([], [0.0] * 3)], 'no positions'),
])
def test_a_trajectory_of_other_joints_or_unequal_points_is_refused(names, points, reason):
    message = JointTrajectory(joint_names=list(names), points=[
        JointTrajectoryPoint(positions=q, velocities=dq) for q, dq in points
    ])
    with pytest.raises(UnsafeMotionError, match=reason):
        message_to_knots(message, ['a', 'b', 'c'], ENCODERS)


NAMES = ['elbow_joint', 'shoulder_lift_joint', 'ä']


def message(rng, names=NAMES, counts=(3, 3, 3), frame='base_link'):
    """Return a joint state with random numbers, so many for each quantity."""
    made = JointState(name=names, **{
        field: rng.normal(size=count).tolist()
        for field, count in zip(('position', 'velocity', 'effort'), counts, strict=True)
    })
    made.header.frame_id = frame
    made.header.stamp.sec = int(rng.integers(-2**31, 2**31))
    made.header.stamp.nanosec = int(rng.integers(0, 10**9))
    return made


def check_equal(reading, expected):
    stamp = expected.header.stamp
    assert (reading.seconds, reading.nanoseconds) == (stamp.sec, stamp.nanosec)
    assert reading.stamp == stamp.sec + stamp.nanosec * 1e-9
    assert reading.frame == expected.header.frame_id
    assert list(reading.name) == list(expected.name)
    for field in ('position', 'velocity', 'effort'):
        assert getattr(reading, field).tolist() == list(getattr(expected, field))


@pytest.mark.parametrize('names, counts', [
    (NAMES, (3, 3, 3)), (NAMES, (3, 0, 0)), (NAMES, (0, 3, 2)), ([], (2, 0, 0)),
    ([], (0, 0, 0)), ([''], (1, 1, 1)),
])
@pytest.mark.parametrize('frame', ['', 'a', 'base_link'])
def test_reads_what_rclpy_builds(rng, names, counts, frame):
    reader = JointStateReader()
    for _ in range(3):
        data = serialize_message(message(rng, names, counts, frame))
        check_equal(reader.read(data), deserialize_message(data, JointState))
    assert reader.walked == 1


def test_other_names_of_the_same_length_are_other_joints(rng):
    """An arm, another one, and one whose lists have other lengths take turns on one topic."""
    reader = JointStateReader()
    kinds = [
        (['a', 'b', 'c'], (3, 3, 0)), (['a', 'c', 'b'], (3, 3, 0)), (['a', 'b', 'c'], (3, 0, 3)),
        (['a', 'b', 'c'], (0, 3, 3)),
    ]
    for names, counts in kinds * 3:
        made = message(rng, names, counts)
        check_equal(reader.read(serialize_message(made)), made)


def test_big_endian_bytes_are_read(rng):
    """The same numbers, each with its bytes turned round; bytes 4 apart are aligned alike."""
    made = message(rng, ['abc'], (1, 1, 1), frame='abc')
    little = serialize_message(made)
    big = bytearray(little)
    big[1] = 0
    # Stamp, length and text of the frame, count of names, length and text of one, three lists.
    for first, size in [(4, 4), (8, 4), (12, 4), (20, 4), (24, 4), (32, 4), (44, 4), (60, 4)]:
        big[first:first + size] = little[first:first + size][::-1]
    for first in (36, 52, 68):
        big[first:first + 8] = little[first:first + 8][::-1]
    check_equal(JointStateReader().read(bytes(big)), made)


@pytest.fixture
def runner(graph, tmp_path, monkeypatch):
    """Return a runner in this process, whose executor's thread is never free."""
    monkeypatch.chdir(tmp_path)
    rclpy.init(args=[], domain_id=graph.domain)
    node = ExperimentRunner()
    yield node
    node.destroy_node()
    rclpy.try_shutdown()


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


PERIOD = 0.01


@pytest.fixture
def watch(graph):
    """Return the watch of a node, which ends with the test, and its switch interval with it."""
    made, interval = TopicThread(graph.add_node('watcher'), PERIOD), sys.getswitchinterval()
    yield made
    made.stop()
    sys.setswitchinterval(interval)


def fail(error):
    raise AssertionError(error)


def test_a_blocked_executor_does_not_delay_the_watch(graph, watch):
    """Its callback waits until the watch has heard twenty messages and looked ten times."""
    heard, looks, enough, freed = [], [], Event(), []
    watch.subscribe(Int32, '/number', RELIABLE, lambda message: heard.append(message.data))

    def look():
        looks.append(time.monotonic())
        if len(looks) >= 10 and len(heard) >= 20:
            enough.set()

    blocked = Event()

    def block():
        blocked.set()
        freed.append(enough.wait(20.0))

    timer = watch.node.create_timer(0.001, lambda: timer.cancel() or block())
    publisher = graph.node.create_publisher(Int32, '/number', RELIABLE)
    wait_until(publisher.get_subscription_count, 'the watch to listen')
    assert blocked.wait(20.0)
    watch.start(look, fail)
    for number in range(20):
        publisher.publish(Int32(data=number))
    wait_until(lambda: freed, 'the executor')
    assert freed == [True]
    assert heard == list(range(20))


@pytest.mark.parametrize('on_error', [fail, None])
def test_an_error_that_nothing_takes_is_the_nodes(watch, on_error):
    """As an error of a callback is: `run_node` raises it, the first of them."""
    looks = []

    def look():
        looks.append(0)
        raise RuntimeError(f'blind {len(looks)}')

    watch.subscribe(Int32, '/number', RELIABLE, fail)
    watch.start(look, on_error)
    wait_until(lambda: len(looks) > 1, 'two looks')
    with pytest.raises((RuntimeError, AssertionError), match='blind 1'):
        common._raise_failure(watch)


class Handle(nullcontext):
    """A client of rclpy's core, whose service answers a question when the test wants it."""

    def __init__(self):
        super().__init__()
        self.asked, self.answers = [], []

    def send_request(self, request):
        self.asked.append(len(self.asked))
        return self.asked[-1]

    def take_response(self, kind):
        return self.answers.pop(0) if self.answers else (None, None)

    def answer(self, number, success, **content):
        header = SimpleNamespace(request_id=SimpleNamespace(sequence_number=number))
        self.answers.append((header, SelfTest.Response(
            passed=bytes([success]), status=state_message(**content).status
        )))


@pytest.fixture
def watch_of_status(monkeypatch):
    """Return a watch on a recorder, the handle of its client, and a clock."""
    handle, clock = Handle(), [100.0]
    monkeypatch.setattr(time, 'monotonic', lambda: clock[0])
    client = SimpleNamespace(handle=handle, service_is_ready=lambda: True)
    node = SimpleNamespace(create_client=lambda *_, **__: client)
    recorder = RecorderWatch(node, 'bag_recorder')
    recorder.poll()
    return recorder, handle, clock


def test_silence_is_a_fault_with_its_usual_cause(watch_of_status):
    """An answer that comes late tells of the time of its question at best."""
    recorder, handle, clock = watch_of_status
    with pytest.raises(UnsafeMotionError, match='bag_recorder/status does not answer'):
        recorder.check()
    clock[0] += 0.9
    handle.answer(0, True, state='RECORDING')
    recorder.poll()
    with pytest.raises(UnsafeMotionError, match=(
        r'no sign of life for 0\.90 s, at most 0\.8 s .* Usually the computer was too busy .* end '
    )):
        recorder.check()
    # What this process itself missed is no silence of the recorder.
    recorder.check(lambda age, now: age - 0.5)
    # The question that was asked meanwhile is answered.
    handle.answer(1, True, state='RECORDING')
    recorder.poll()
    recorder.check()


def test_a_recorder_that_fails_is_believed_at_once(watch_of_status):
    recorder, handle, _ = watch_of_status
    handle.answer(0, False, state='FAULT', reason='the disk is full')
    recorder.poll()
    with pytest.raises(UnsafeMotionError, match='is FAULT, not RECORDING: the disk is full'):
        recorder.check()


@pytest.mark.parametrize('is_started', [True, False])
def test_a_motion_begins_by_a_new_answer(watch_of_status, monkeypatch, is_started):
    """An answer from before ~/start, taken late, does not refuse the motion after it."""
    recorder, handle, clock = watch_of_status
    handle.answer(0, False, state='IDLE', reason='nothing was recorded yet')
    recorder.poll()
    clock[0] += 0.05

    def sleep(seconds):
        clock[0] += seconds
        recorder.poll()
        if is_started and len(handle.asked) == 2:
            handle.answer(1, True, state='RECORDING')

    monkeypatch.setattr(time, 'sleep', sleep)
    began = clock[0]
    with nullcontext() if is_started else pytest.raises(UnsafeMotionError, match='is IDLE'):
        recorder.check_anew()
    # A recorder that answers is not waited for; one that does not, for the accepted silence.
    assert clock[0] - began == pytest.approx(0.05 if is_started else 0.8, abs=0.03)
