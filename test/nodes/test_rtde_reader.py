# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The RTDE reader: what a robot tells is on topics, and what is wrong is on /diagnostics."""

import re
import signal

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from fake_rtde_server import Behaviour, FakeRtdeServer, FIELDS, value
import numpy as np
import pytest
from robot_identification.nodes.rtde_reader import JOINT_KEYS, JOINTS, judge, MESSAGES
from robot_identification.rtde.client import TYPES
from robot_identification.rtde.stream import Arrivals, CONNECTING, RECEIVING, REFUSED, StreamStatus
from ros_helpers import own_graph, seconds, told_in, wait_until
from sensor_msgs.msg import JointState

RATE = 50.0
OK, WARN, ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR
ALL_KEYS = [key for key in FIELDS if key != 'timestamp']


class Reader:
    """The node, the robot that it reads, and what is heard of both."""

    def __init__(self, graph, server):
        self.graph, self.server = graph, server
        self.statuses = graph.hear(DiagnosticArray, '/diagnostics')
        self.temperatures = graph.hear(JointState, '/rtde/joint_temperatures')
        self.node = graph.start('rtde_reader', {
            'robot_ip': '127.0.0.1', 'port': server.port, 'keys': ALL_KEYS, 'frequency': RATE,
            'reconnect_period': 0.05, 'longest_reconnect_period': 0.1, 'timeout': 1.0,
            # A busy machine must not drop what is not late.
            'longest_delay': 10.0,
        })

    def told(self):
        return told_in(self.statuses, 'rtde_reader: reading')

    def wait_for(self, level, words):
        """Wait until it says something new of a level; return message and values."""
        first = len(self.told())

        def found():
            return next(
                ((message, values) for said, message, values in self.told()[first:]
                 if said == level and re.search(words, message)), None,
            )

        return wait_until(found, f'diagnostics of {words!r}; the last are {self.told()[-3:]}')

    def become(self, **behaviour):
        """Let the robot be another one from the next connection on, which is now."""
        self.server.behaviour = Behaviour(**behaviour)
        self.server.cut()

    def numbers(self):
        """Return the numbers of the samples whose temperatures were heard, in their order."""
        first = value('joint_temperatures', 0)[0]
        return [round((message.effort[0] - first) / 1e-4) for message in list(self.temperatures)]


@pytest.fixture(scope='module')
def shared(tmp_path_factory):
    """Return a reader that many tests use one after the other."""
    with FakeRtdeServer() as server, own_graph(tmp_path_factory.mktemp('rtde')) as graph:
        yield Reader(graph, server)
        # Whatever happened, the robot was asked to tell, and nothing of it was set.
        assert {letter for asked in server.requests for letter in asked} <= {*'VvOSP'}


@pytest.fixture
def reader(shared):
    """Return the reader as it reads a robot with which nothing is wrong."""
    another = shared.server.behaviour != Behaviour()
    if another:
        shared.become()
    if another or not shared.told():
        shared.wait_for(OK, 'receiving')
    return shared


def test_each_field_is_a_topic_of_its_type(reader):
    """With the values that the robot sent, in kinematic order, and the robot's own time."""
    times = reader.graph.hear(Time, '/rtde/timestamp')
    currents = reader.graph.hear(JointState, '/rtde/target_current')
    wait_until(lambda: len(times) > 20 and len(currents) > 20, 'samples')
    kinds = dict(reader.graph.node.get_topic_names_and_types())
    for key in ALL_KEYS:
        message = MESSAGES[FIELDS[key]][0]
        assert kinds[f'/rtde/{key}'] == [
            'sensor_msgs/msg/JointState' if key in JOINT_KEYS
            else f'std_msgs/msg/{message.__name__}'
        ]
    assert kinds['/rtde/timestamp'] == ['builtin_interfaces/msg/Time']
    for heard, key in (
        (reader.temperatures, 'joint_temperatures'), (currents, 'target_current'),
    ):
        first = value(key, 0)[0]
        for message in list(heard):
            number = round((message.effort[0] - first) / 1e-4)
            assert tuple(message.effort) == value(key, number)
            assert tuple(message.name) == JOINTS
    # The robot's time, whatever that of this computer is: no interval but the period.
    stamps = np.array([seconds(stamp) for stamp in list(times)])
    assert 100.0 < stamps[0] < 10_000.0
    assert np.diff(stamps)[:20] == pytest.approx(1.0 / RATE, abs=1e-6)


def test_after_a_cut_nothing_stale_is_published(reader):
    """It says so, asks again, and every sample that is published is a new one."""
    wait_until(lambda: reader.temperatures, 'samples')
    reader.server.behaviour = Behaviour(answers={'V': b''})
    reader.server.cut()
    _, values = reader.wait_for(WARN, 'connecting, next attempt .* after the last')
    silent_since = len(reader.temperatures)
    reader.wait_for(WARN, 'nothing whole for 1 s')
    assert len(reader.temperatures) == silent_since
    assert int(values['connections']) < int(reader.told()[-1][2]['attempts'])
    reader.become()
    reader.wait_for(OK, 'receiving')
    wait_until(lambda: len(reader.temperatures) > silent_since, 'new samples')
    numbers = reader.numbers()
    assert len(numbers) == len(set(numbers))
    assert numbers == sorted(numbers)


def test_a_missing_field_is_named_and_the_others_come(reader):
    reader.become(fields={key: kind for key, kind in FIELDS.items() if key != 'target_moment'})
    _, values = reader.wait_for(WARN, r'does not give target_moment \(NOT_FOUND\)')
    assert values['not given by the robot'] == 'target_moment'
    heard = len(reader.temperatures)
    wait_until(lambda: len(reader.temperatures) > heard, 'temperatures')


def test_what_is_not_finite_is_not_published(reader):
    reader.become(not_finite=('joint_temperatures',))
    wait_until(lambda: int(reader.told()[-1][2]['not finite']) > 0, 'values that are not finite')
    assert all(np.all(np.isfinite(message.effort)) for message in list(reader.temperatures))


def test_a_signal_ends_it_while_it_waits_for_an_answer(graph):
    with FakeRtdeServer(Behaviour(answers={'V': b''})) as server:
        node = graph.start('rtde_reader', {
            'robot_ip': '127.0.0.1', 'port': server.port, 'timeout': 60.0,
        })
        wait_until(lambda: server.requests and server.requests[0], 'a request')
        node.process.send_signal(signal.SIGTERM)
        assert graph.exit_code(node) == 0


GOOD = StreamStatus(state=RECEIVING, frequency=125.0, missing={})
STEADY = Arrivals(125, 125.0, 0, 0.008)


@pytest.mark.parametrize(('status', 'arrivals', 'age', 'late', 'level', 'words'), [
    (GOOD, STEADY, 0.001, 0, OK, r'^receiving 125 Hz$'),
    (GOOD, STEADY, 0.001, 3, WARN, r'3 samples came too late'),
    (GOOD, Arrivals(0, 0.0, 0, 0.0), 0.5, 0, WARN, r'no sample came for 0.5 s'),
    (GOOD, Arrivals(60, 62.5, 0, 0.016), 0.001, 0, WARN, r'62.5 Hz instead of the 125 Hz'),
    (GOOD, Arrivals(120, 125.0, 5, 0.048), 0.001, 0, WARN, r'5 samples .* up to 0.048 s'),
    (StreamStatus(state=RECEIVING, frequency=1.0, missing={}), Arrivals(0, 0.0, 0, 0.0), 0.9, 0,
     OK, r'^receiving 1 Hz$'),
    (StreamStatus(), Arrivals(0, 0.0, 0, 0.0), np.nan, 0, WARN, r'^connecting$'),
    (StreamStatus(state=CONNECTING, reason='cut', pause=4.0), STEADY, 9.0, 0, WARN,
     r'connecting, next attempt 4 s after the last: cut'),
    (StreamStatus(state=REFUSED, reason='old', pause=30.0), STEADY, 9.0, 0, ERROR,
     r'refused, next attempt 30 s after the last: old'),
])
def test_levels(status, arrivals, age, late, level, words):
    """What is worst comes first, each with its figure."""
    found, message = judge(status, arrivals, age, late)
    assert found == level
    assert re.search(words, message)


def test_every_type_has_its_message():
    """Of std_msgs, with values that it takes."""
    assert set(MESSAGES) == set(TYPES)
    for key, kind in FIELDS.items():
        message, convert = MESSAGES[kind]
        sent = value(key, 3)
        found = message(data=convert(sent)).data
        assert (tuple(found) if isinstance(sent, tuple) else found) == sent
