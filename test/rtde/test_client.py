# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The RTDE client against a server written from the protocol: what it asks, takes and refuses."""

import struct

from fake_rtde_server import Behaviour, CUT, FakeRtdeServer, FIELDS, frame, HALF, text, value
from hypothesis import given, settings, strategies as st
import pytest
from robot_identification.rtde.client import (
    connect, decode, RtdeLostError, RtdeOptions, RtdeRefusedError, TYPES,
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
