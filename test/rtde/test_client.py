# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The RTDE client against a server written from the protocol: what it asks, takes and refuses."""

from contextlib import contextmanager
import math
import socket
import struct
import threading
import time
from types import SimpleNamespace

from fake_rtde_server import Behaviour, CUT, FakeRtdeServer, FIELDS, frame, HALF, text, value
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robot_identification.rtde import dashboard, stream
from robot_identification.rtde.client import (
    connect, decode, RtdeLostError, RtdeOptions, RtdeRefusedError, TYPES,
)
from robot_identification.rtde.dashboard import main, robot_mode, wait_for_controller
from robot_identification.rtde.stream import (
    CONNECTING, Delay, judge_arrivals, RECEIVING, REFUSED, RtdeStream,
)

KEYS = ('joint_temperatures', 'target_moment')
# Short for a test that waits for it to pass [s].
SHORT = 0.2
# Long enough for what comes before, on a busy computer.
LONGER = 0.5
# Everything that can be sent to a robot without changing anything in it.
READING = {'V', 'v', 'O', 'S', 'P'}


@pytest.fixture
def serve():
    """Return a function that starts a server; whatever happens, it was asked to tell only."""
    servers = []

    def start(**behaviour):
        servers.append(FakeRtdeServer(Behaviour(**{'paced': False, **behaviour})))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
        assert {letter for asked in server.requests for letter in asked} <= READING


def options(server, keys=KEYS, **others):
    return RtdeOptions('127.0.0.1', tuple(keys), port=server.port, **others)


def samples(server, count, *args, **others):
    connection = connect(options(server, *args, **others))
    try:
        return [connection.receive() for _ in range(count)], connection
    finally:
        connection.close()


def test_every_type_arrives_as_it_was_sent(serve):
    """Numbers, truth values and vectors of every type of the protocol, to the last bit."""
    assert set(FIELDS.values()) == set(TYPES)
    keys = [key for key in FIELDS if key != 'timestamp']
    found, connection = samples(serve(), 20, keys)
    assert connection.kinds == FIELDS
    for number, (stamp, values) in enumerate(found):
        # The server adds up its periods.
        assert stamp == values['timestamp'] == pytest.approx(100.0 + number / 500.0, abs=1e-9)
        assert {key: values[key] for key in keys} == {key: value(key, number) for key in keys}


@settings(max_examples=40)
@given(forms=st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=6), data=st.data())
def test_a_sample_is_taken_apart_as_it_was_packed(forms, data):
    """By any recipe."""
    kinds = {f'field_{k}': kind for k, kind in enumerate(forms)}
    size = struct.calcsize('>' + ''.join(TYPES[kind] for kind in forms))
    payload = bytes([7]) + data.draw(st.binary(min_size=size, max_size=size))
    number, values = decode(kinds, payload)
    assert number == 7
    assert list(values) == list(kinds)
    packed = b''.join(
        struct.pack(f'>{TYPES[kind]}', *(found if isinstance(found, tuple) else (found,)))
        for kind, found in zip(kinds.values(), values.values(), strict=True)
        if kind != 'BOOL'
    )
    booleans = [isinstance(values[key], bool) for key, kind in kinds.items() if kind == 'BOOL']
    assert all(booleans)
    # NaNs of any pattern survive, too: bytes are compared. A truth value may be any byte but 0.
    if not booleans:
        assert packed == payload[1:]


@pytest.mark.parametrize(('controller', 'asked', 'given'), [
    ((3, 15, 8, 0), 0.0, 125.0), ((3, 15, 8, 0), 500.0, 125.0), ((5, 13, 1, 10), 0.0, 500.0),
    ((10, 11, 0, 0), 0.0, 500.0), ((5, 13, 1, 10), 50.0, 50.0),
])
def test_no_more_is_asked_for_than_a_robot_can_give(serve, controller, asked, given):
    """A CB3 sends 125 times a second, later robots 500 times; less is granted."""
    server = serve(controller=controller)
    _, connection = samples(server, 1, frequency=asked)
    assert connection.version == controller
    assert server.frequencies == [given] == [connection.frequency]


def test_a_missing_field_is_left_out_and_named(serve):
    """Where it is not required, the others come, by a second connection with a smaller recipe."""
    fields = {key: kind for key, kind in FIELDS.items() if key != 'target_moment'}
    server = serve(fields=fields)
    found, connection = samples(server, 2, ['target_moment', 'joint_temperatures', 'no_such'])
    assert connection.missing == {'target_moment': 'NOT_FOUND', 'no_such': 'NOT_FOUND'}
    assert list(found[0][1]) == ['timestamp', 'joint_temperatures']
    assert server.recipes == [
        ['timestamp', 'target_moment', 'joint_temperatures', 'no_such'],
        ['timestamp', 'joint_temperatures'],
    ]
    # Nothing is started with the recipe that the robot could not fill.
    assert [asked.count('S') for asked in server.requests] == [0, 1]


@pytest.mark.parametrize(('keys', 'required', 'named'), [
    (('joint_temperatures', 'no_such'), ('no_such',), r'no_such \(NOT_FOUND\): correct'),
    (('one', 'two'), (), r'one \(NOT_FOUND\), two \(NOT_FOUND\)'),
])
def test_without_a_required_field_nothing_is_read(serve, keys, required, named):
    """Nor where the robot has none of them; the error has the field and the robot's software."""
    server = serve()
    with pytest.raises(RtdeRefusedError, match=named) as caught:
        connect(options(server, keys, required=required))
    assert 'software 5.13.1.10' in str(caught.value)
    assert len(server.requests) == 1


# What the server does, the timeout of the client, and how it ends.
NO_CONNECTIONS = {
    'no timestamp': (
        {'fields': {key: kind for key, kind in FIELDS.items() if key != 'timestamp'}}, 2.0,
        RtdeRefusedError, r'timestamp \(NOT_FOUND\)',
    ),
    'no start': ({'starts': False}, 2.0, RtdeLostError, 'still booting'),
    **{f'no answer to {letter}': (
        {'answers': {letter: b''}}, SHORT, RtdeLostError,
        r'nothing whole for 0.2 s \(0 of 3 bytes',
    ) for letter in 'VvOS'},
    # A byte now and then does not keep the client waiting: 4 bytes at 0.15 s are too slow.
    'a slow answer': ({'drip': 0.15}, SHORT, RtdeLostError, 'nothing whole for 0.2 s'),
    # As many as a robot may say: the answer has to come in time all the same.
    'texts without end': (
        {'answers': {'O': text('busy') * 10}}, LONGER, RtdeLostError,
        r"nothing whole .* it said 'busy \(error, RTDE\)'",
    ),
    # Refused by the first three bytes: nothing of what it announces is waited for.
    **{name: ({'before': said}, 2.0, RtdeRefusedError, words) for name, said, words in (
        ('a web server', b'HTTP/1.0 400 Bad Request\r\n', r"type 'T' where 'V' is due"),
        ('zeros', bytes(100), r"type '\\x00' where"),
        ('a huge answer', b'\xff\xffV' + bytes(10), '65532 bytes, 1 to 1 are possible'),
        ('no size', b'\x00\x00V', '-3 bytes'),
        ('a huge text', b'\xff\xffM' + bytes(10), "type 'M' with a payload of 65532 bytes"),
        ('an early sample', frame('U', bytes(10)), "type 'U' where 'V' is due"),
    )},
    **{f'types {words}': (
        {'answers': {'O': frame('O', answer)}}, 2.0, RtdeRefusedError, words
    ) for answer, words in (
        (b'\x01DOUBLE', '1 types for 3 fields'),
        (b'\x01DOUBLE,VECTOR6D,MATRIX', r"target_moment \('MATRIX'\): leave them out"),
        (b'\x01VECTOR6D,VECTOR6D,VECTOR6D', 'timestamp as VECTOR6D'),
        (b'\x01\xff,\xfe,\xfd', 'unknown types'),
    )},
}


@pytest.mark.parametrize(
    ('behaviour', 'timeout', 'error', 'words'), NO_CONNECTIONS.values(), ids=NO_CONNECTIONS
)
def test_a_connection_that_does_not_come_about_is_told(serve, behaviour, timeout, error, words):
    """Of a robot that is slow or boots another attempt is made, of others none."""
    with pytest.raises(error, match=words):
        connect(options(serve(**behaviour), timeout=timeout))


ENDINGS = {
    'half a sample': (HALF, RtdeLostError, 'nothing whole for'),
    'a cut': (CUT, RtdeLostError, 'closed the connection|broke'),
    # Sizes, recipes and stamps are those that were agreed upon, or it is over.
    **{name: (said, RtdeRefusedError, '127.0.0.1|recipe|timestamp') for name, said in {
        'huge': b'\xff\xffU' + bytes(60_000), 'short': b'\x00\x09U' + bytes(6),
        'other recipe': frame('U', bytes([9]) + bytes(104)),
        'no time': frame('U', bytes([1]) + b'\xff' * 104), 'answer': b'\x00\x04V\x01',
        'noise': b'\xde\xad\xbe\xef' * 1000,
    }.items()},
}


@pytest.mark.parametrize(('ending', 'error', 'words'), ENDINGS.values(), ids=ENDINGS)
def test_what_ends_the_samples_is_told(serve, ending, error, words):
    connection = connect(options(serve(samples=3, ending=ending), timeout=LONGER))
    assert [connection.receive()[0] for _ in range(3)]
    with pytest.raises(error, match=words):
        connection.receive()
    connection.close()


@settings(max_examples=50, deadline=None)
@given(said=st.binary(min_size=1, max_size=200), letter=st.sampled_from('VvOS'))
def test_any_answer_ends_in_samples_or_in_words(said, letter):
    """Whatever bytes a robot answers with: no other exception, no hang."""
    with FakeRtdeServer(Behaviour(answers={letter: said}, paced=False)) as server:
        try:
            connection = connect(options(server, timeout=0.02))
            connection.receive()
            connection.close()
        except (RtdeLostError, RtdeRefusedError) as error:
            assert str(error)


HOST = '127.0.0.1'
GREETING = 'Connected: Universal Robots Dashboard Server\n'


@contextmanager
def server_of(answers, greeting=GREETING):
    """Yield the port of a dashboard server that gives an answer a connection, the last forever."""
    left = list(answers)
    with socket.create_server((HOST, 0)) as server:
        def serve():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, connection.makefile('rw', newline='\n') as stream:
                    try:
                        stream.write(greeting)
                        stream.flush()
                        if stream.readline() == 'robotmode\n':
                            stream.write(left.pop(0) if len(left) > 1 else left[0])
                    except OSError:
                        continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join(10.0)


@pytest.fixture
def closed_port():
    with socket.create_server((HOST, 0)) as server:
        return server.getsockname()[1]


@pytest.fixture
def _impatient(monkeypatch):
    """Shorten the periods to some hundredths of a second."""
    monkeypatch.setattr(dashboard, 'PERIOD', 0.02)
    monkeypatch.setattr(dashboard, 'REPORT_PERIOD', 0.05)


@pytest.mark.parametrize('answer, mode', [
    ('Robotmode: POWER_OFF\n', 'POWER_OFF'),
    ('robotmode: RUNNING\r\n', 'RUNNING'),
    ('Robotmode: NO_CONTROLLER\n', 'NO_CONTROLLER'),
    ('could not understand: robotmode\n', None),
    ('Robotmode:\n', None),
    ('Robotmode: \x1b[2J\x07IDLE\n', '?[2J?IDLE'),
    ('', None),
    ('x' * 100_000, None),
])
def test_the_robot_mode_is_read(answer, mode):
    """As the server states it; another answer is none."""
    with server_of([answer]) as port:
        assert robot_mode(HOST, port) == mode


def test_no_server_has_no_mode(closed_port, monkeypatch):
    """Nor has one that accepts, and is silent."""
    assert robot_mode(HOST, closed_port) is None
    monkeypatch.setattr(dashboard, 'ANSWER', 0.1)
    with socket.create_server((HOST, 0)) as silent:
        assert robot_mode(HOST, silent.getsockname()[1]) is None


def test_the_controller_is_waited_for(_impatient):
    """The server of URSim answers before its controller is up."""
    said = []
    answers = [f'Robotmode: {mode}\n' for mode in (*dashboard.STARTING_MODES, 'POWER_OFF')]
    with server_of(answers) as port:
        assert wait_for_controller(HOST, 30.0, port, said.append)
    assert said[0] == f'waiting for the dashboard server at {HOST}:{port}, at most 30 s'
    assert said[-1].endswith('answers: robot mode POWER_OFF')


def test_the_wait_is_bounded_and_said(_impatient, closed_port):
    """It says from time to time what is missing, and at the end."""
    said = []
    start = time.monotonic()
    assert not wait_for_controller(HOST, 0.3, closed_port, said.append)
    # A refused connection takes no time; 5 s for a machine that does something else.
    assert time.monotonic() - start < 5.0
    assert any(' yet (' in line for line in said)
    assert said[-1].startswith(f'no answer at {HOST}:{closed_port} after')
    with server_of(['Robotmode: BOOTING\n']) as port:
        assert not wait_for_controller(HOST, 0.1, port, said.append)
    assert said[-1].startswith('robot mode BOOTING at')


def test_the_exit_code_says_whether_it_came_up(_impatient, closed_port, capsys):
    """Of the process that a launch file starts."""
    with server_of(['Robotmode: IDLE\n']) as port:
        assert main([HOST, '--port', str(port), '--seconds', '20']) == 0
    assert main([HOST, '--port', str(closed_port), '--seconds', '0.1']) == 1
    assert 'robot mode IDLE' in capsys.readouterr().out


STREAM_KEYS = ('joint_temperatures',)
DEADLINE = 20.0
SHORTEST, LONGEST = 0.01, 0.04


class Collector:
    def __init__(self, server, **pauses):
        self.kinds, self.stamps = [], []
        self.stream = RtdeStream(
            RtdeOptions('127.0.0.1', STREAM_KEYS, port=server.port, timeout=10.0, **pauses),
            self.kinds.append, lambda values: self.stamps.append(values['timestamp']),
        )

    def wait_until(self, condition, what):
        end = time.monotonic() + DEADLINE
        tick = threading.Event()
        while not condition(self.stream.status):
            assert time.monotonic() < end, f'waited {DEADLINE} s for {what}: {self.stream.status}'
            tick.wait(0.002)


@contextmanager
def reading(server, shortest=SHORTEST, longest=LONGEST):
    collector = Collector(server, shortest_pause=shortest, longest_pause=longest)
    thread = threading.Thread(target=collector.stream.run)
    thread.start()
    try:
        yield collector
    finally:
        collector.stream.stop()
        thread.join(DEADLINE)
        assert not thread.is_alive(), 'the stream did not stop'


def test_after_a_cut_it_goes_on_with_what_is_new():
    """Each sample once and in order; what the robot said meanwhile is missing, not late."""
    with FakeRtdeServer(Behaviour(fastest=100.0)) as server, reading(server) as collector:
        for connections in (1, 2, 3):
            collector.wait_until(
                lambda status, n=connections: status.connections == n
                and status.state == RECEIVING, 'samples',
            )
            before = len(collector.stamps)
            collector.wait_until(
                lambda status, n=before: len(collector.stamps) > n + 3, 'more samples'
            )
            server.cut()
            collector.wait_until(
                lambda status, n=connections: status.connections > n, 'another connection'
            )
        assert len(collector.kinds) >= 3
    stamps = np.array(collector.stamps)
    assert np.all(np.diff(stamps) > 0.0)
    assert len(stamps) == collector.stream.status.samples
    assert 'connection' in collector.stream.status.reason


def test_pauses_grow_up_to_the_longest():
    """A robot that is not there is not asked in a storm."""
    with FakeRtdeServer() as server:
        server.close()
        with reading(server) as collector:
            found = []
            for attempts in (1, 2, 3, 4, 5):
                collector.wait_until(
                    lambda status, n=attempts: status.attempts >= n and status.pause, 'attempts'
                )
                found.append(collector.stream.status.pause)
            assert collector.stream.status.state == CONNECTING
            assert found == sorted(found)
            collector.wait_until(lambda status: status.pause == LONGEST, 'the longest pause')


def test_a_connection_that_breaks_at_once_is_no_good_one():
    """Pauses grow although the robot answers each time, and are short again after ten seconds."""
    behaviour = Behaviour(samples=1, ending=CUT, paced=False)
    with FakeRtdeServer(behaviour) as server, reading(server) as collector:
        collector.wait_until(lambda status: status.pause == LONGEST, 'the longest pause')
        assert collector.stream.status.connections >= 3
        # More than ten seconds of the robot's time, then nobody.
        server.behaviour = Behaviour(samples=5100, ending=CUT, paced=False)
        collector.wait_until(
            lambda status: status.samples > 5000 and status.pause == SHORTEST, 'a short pause'
        )


def test_who_refuses_is_asked_once_and_then_left_alone():
    """The pause is the longest one at once, and the reason stays to be read."""
    behaviour = Behaviour(versions=(1,))
    with FakeRtdeServer(behaviour) as server, reading(server, longest=1000.0) as collector:
        collector.wait_until(lambda status: status.state == REFUSED, 'a refusal')
        status = collector.stream.status
        assert (status.pause, status.attempts, status.connections) == (1000.0, 1, 0)
        assert 'version 2' in status.reason
        assert server.requests == [['V']]
    assert collector.stamps == []


def test_a_refusal_is_not_for_ever():
    """A robot that was updated meanwhile is read."""
    behaviour = Behaviour(versions=(1,))
    with FakeRtdeServer(behaviour) as server, reading(server, longest=SHORTEST) as collector:
        collector.wait_until(lambda status: status.state == REFUSED, 'a refusal')
        server.behaviour = Behaviour()
        collector.wait_until(lambda status: status.state == RECEIVING, 'samples')


def test_late_samples_are_dropped(monkeypatch):
    """Ten of thirty, which come 0.7 s later than the robot's clock says."""
    late = range(10, 20)
    numbers = iter(range(10**9))

    def now():
        number = next(numbers)
        return 5.0 + number / 500.0 + (0.7 if number in late else 0.0)

    behaviour = Behaviour(samples=30, ending=CUT, paced=False)
    with FakeRtdeServer(behaviour) as server, monkeypatch.context() as patch:
        patch.setattr(stream, 'time', SimpleNamespace(monotonic=now))
        with reading(server, 1000.0, 1000.0) as collector:
            collector.wait_until(lambda status: status.pause, 'the end')
    expected = [100.0 + number / 500.0 for number in range(30) if number not in late]
    # The server adds up its periods.
    assert collector.stamps == pytest.approx(expected, abs=1e-9)
    assert collector.stream.status.late == len(late)
    # A thousandth of the time since the quickest sample may be drift of the clocks.
    assert collector.stream.take_delays().max() == pytest.approx(0.7, abs=1e-4)


@given(offset=st.floats(-1e6, 1e6), drift=st.floats(-1e-4, 1e-4),
       late=st.lists(st.floats(0.0, 2.0), min_size=2, max_size=50))
def test_a_delay_is_that_behind_the_quickest(offset, drift, late):
    """Whatever the offset of the clocks, and as long as they drift less than 1e-3."""
    delay, quickest = Delay(), math.inf
    for number, extra in enumerate(late):
        stamp = 50.0 + 0.002 * number
        found = delay.update(stamp, stamp * (1.0 + drift) + offset + extra)
        quickest = min(quickest, extra)
        # By what the drift and the allowance for it make in 0.1 s, and rounding at 1e6 s.
        assert found == pytest.approx(extra - quickest, abs=2e-4)
        assert found >= 0.0


def test_a_robot_that_was_started_anew_is_not_late():
    delay = Delay()
    assert delay.update(5000.0, 1.0) == 0.0
    assert delay.update(10.0, 2.0) == 0.0
    assert delay.update(10.5, 2.6) == pytest.approx(0.1, abs=1e-3)


@given(period=st.floats(0.002, 1.0), count=st.integers(20, 500), data=st.data())
def test_gaps_are_counted_by_the_robot_s_time(period, count, data):
    """Any samples that are lost, as long as two neighbours remain more often than not."""
    lost = data.draw(st.sets(st.integers(1, count - 2), max_size=count // 5))
    kept = [number for number in range(count) if number not in lost]
    arrivals = judge_arrivals(100.0 + period * np.array(kept))
    assert arrivals.missing == len(lost)
    assert arrivals.samples == len(kept) - 1
    # Stamps near 600 s are rounded to 1e-13 s.
    assert arrivals.rate == pytest.approx(1.0 / period, rel=1e-8)
    assert arrivals.longest == pytest.approx(period * np.diff(kept).max(), rel=1e-8)
