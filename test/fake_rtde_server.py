# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A robot's RTDE interface for tests: a TCP server written from the protocol, with faults on demand.

It shares no code with the client: a mistake in one of them is not made in both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
import math
import select
import socket
import struct
import threading
import time

# Letters of the struct module and counts, by the protocol's names.
FORMS = {
    'BOOL': ('B', 1), 'UINT8': ('B', 1), 'UINT32': ('I', 1), 'UINT64': ('Q', 1),
    'INT32': ('i', 1), 'DOUBLE': ('d', 1), 'VECTOR3D': ('d', 3), 'VECTOR6D': ('d', 6),
    'VECTOR6INT32': ('i', 6), 'VECTOR6UINT32': ('I', 6),
}
FIELDS = {
    'timestamp': 'DOUBLE', 'joint_temperatures': 'VECTOR6D', 'target_current': 'VECTOR6D',
    'target_moment': 'VECTOR6D', 'actual_current': 'VECTOR6D', 'speed_scaling': 'DOUBLE',
    'safety_mode': 'INT32', 'joint_mode': 'VECTOR6INT32', 'elbow_position': 'VECTOR3D',
    'runtime_state': 'UINT32', 'actual_digital_input_bits': 'UINT64', 'tool_output_mode': 'UINT8',
    'output_bit_register_64': 'BOOL', 'raw_counts': 'VECTOR6UINT32',
}
# What ends the samples of a connection.
CUT, SILENCE, HALF = 'cut', 'silence', 'half'


def frame(kind: str, payload: bytes = b'') -> bytes:
    """Return a packet: its whole size, its type and the payload."""
    return struct.pack('>HB', 3 + len(payload), ord(kind)) + payload


def text(message: str, source: str = 'RTDE', level: int = 1) -> bytes:
    """Return a text message of version 2 of the protocol."""
    said, who = message.encode(), source.encode()
    return frame('M', bytes([len(said)]) + said + bytes([len(who)]) + who + bytes([level]))


def value(key: str, number: int, fields: dict[str, str] | None = None) -> float | tuple:
    """Return the value of a field in the sample of a number; it tells field, joint and sample."""
    fields = FIELDS if fields is None else fields
    letter, count = FORMS[fields[key]]
    if fields[key] == 'BOOL':
        return number % 2
    base = 1 + list(fields).index(key)
    if letter == 'd':
        numbers = tuple(base + 0.01 * joint + 0.0001 * number for joint in range(count))
    else:
        numbers = tuple((base + joint + number) % 256 for joint in range(count))
    return numbers[0] if count == 1 else numbers


@dataclass
class Behaviour:
    """What the robot is like, and what goes wrong."""

    versions: tuple[int, ...] = (1, 2)  # of the protocol
    controller: tuple[int, ...] = (5, 13, 1, 10)
    fields: dict[str, str] = field(default_factory=lambda: dict(FIELDS))  # others are NOT_FOUND
    in_use: tuple[str, ...] = ()  # fields that another client holds
    fastest: float = 500.0  # rate [Hz]
    starts: bool = True
    before: bytes = b''  # sent at once to whoever connects
    # Raw bytes instead of the answer to a request of that letter; empty: no answer.
    answers: dict[str, bytes] = field(default_factory=dict)
    drip: float = 0.0  # pause after each byte of an answer [s]
    samples: float = math.inf  # of a connection, after which it does what `ending` says
    ending: str | bytes = SILENCE  # or HALF a sample, then silence; or bytes instead of a sample
    not_finite: tuple[str, ...] = ()  # fields of numbers that are NaN
    paced: bool = True  # otherwise samples come as fast as they are taken


class FakeRtdeServer:
    """Serves on a free port of this host, each connection in a thread of its own."""

    def __init__(self, behaviour: Behaviour | None = None, port: int = 0) -> None:
        self.behaviour = behaviour or Behaviour()
        # What each connection has asked, in letters, and the recipes and rates among it.
        self.requests: list[list[str]] = []
        self.recipes: list[list[str]] = []
        self.frequencies: list[float] = []
        # Of the next sample: the robot's clock goes on from one connection to the next.
        self.number = 0
        self._stamp = 100.0
        self._closing = threading.Event()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(('127.0.0.1', port))
        self.port = self._listener.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> FakeRtdeServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every connection, and take no further one."""
        self._closing.set()
        for each in (self._listener, *self._sockets):
            _hang_up(each)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def cut(self) -> None:
        """End the connections that there are; further ones are taken."""
        for each in self._sockets:
            _hang_up(each)

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(connection)
            self.requests.append([])
            thread = threading.Thread(
                target=self._serve, args=(connection, self.requests[-1]), daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket, asked: list[str]) -> None:
        behaviour = self.behaviour
        try:
            connection.sendall(behaviour.before)
            recipe: list[str] = []
            rate = behaviour.fastest
            while True:
                letter, payload = _read(connection)
                asked.append(letter)
                if letter == 'O':
                    (rate,) = struct.unpack('>d', payload[:8])
                    self.frequencies.append(rate)
                    rate = min(rate, behaviour.fastest)
                    recipe = payload[8:].decode().split(',')
                    self.recipes.append(recipe)
                answer = behaviour.answers.get(letter)
                if answer is None:
                    answer = _answer(behaviour, letter, payload, recipe)
                self._send(connection, answer, behaviour.drip)
                if letter == 'S' and behaviour.starts and answer:
                    self._stream(connection, behaviour, recipe, rate)
        except OSError:
            # The client has left, or the test has cut it off.
            pass
        finally:
            connection.close()

    def _send(self, connection: socket.socket, data: bytes, drip: float) -> None:
        if not drip:
            connection.sendall(data)
            return
        for byte in data:
            connection.sendall(bytes([byte]))
            self._closing.wait(drip)

    def _stream(
        self, connection: socket.socket, behaviour: Behaviour, recipe: list[str], rate: float
    ) -> None:
        """Send samples until the client asks for something else, or leaves."""
        begun, sent, pause = time.monotonic(), 0, 0.0
        while not select.select([connection], [], [], pause)[0]:
            if sent >= behaviour.samples:
                self._end(connection, behaviour, recipe)
                return
            connection.sendall(frame('U', self._sample(behaviour, recipe)))
            self.number += 1
            self._stamp += 1.0 / rate
            sent += 1
            if behaviour.paced:
                # By the clock, so that a pause of this thread is made up for.
                pause = max(begun + sent / rate - time.monotonic(), 0.0)

    def _end(
        self, connection: socket.socket, behaviour: Behaviour, recipe: list[str]
    ) -> None:
        if behaviour.ending == CUT:
            _hang_up(connection)
        elif behaviour.ending == HALF:
            whole = frame('U', self._sample(behaviour, recipe))
            connection.sendall(whole[:len(whole) // 2])
        elif isinstance(behaviour.ending, bytes):
            connection.sendall(behaviour.ending)

    def _sample(self, behaviour: Behaviour, recipe: list[str]) -> bytes:
        packed = bytes([1])
        for key in recipe:
            letter, count = FORMS[behaviour.fields[key]]
            found = (
                self._stamp if key == 'timestamp' else value(key, self.number, behaviour.fields)
            )
            numbers = found if isinstance(found, tuple) else (found,)
            if key in behaviour.not_finite:
                numbers = (math.nan,) * count
            packed += struct.pack(f'>{count}{letter}', *numbers)
        return packed


def _answer(behaviour: Behaviour, letter: str, payload: bytes, recipe: list[str]) -> bytes:
    if letter == 'V':
        (version,) = struct.unpack('>H', payload)
        return frame('V', bytes([version in behaviour.versions]))
    if letter == 'v':
        return frame('v', struct.pack('>4I', *behaviour.controller))
    if letter == 'O':
        kinds = [
            'IN_USE' if key in behaviour.in_use else behaviour.fields.get(key, 'NOT_FOUND')
            for key in recipe
        ]
        return frame('O', bytes([1]) + ','.join(kinds).encode())
    if letter in 'SP':
        return frame(letter, bytes([behaviour.starts]))
    return text(f'unknown request {letter}')


def _read(connection: socket.socket) -> tuple[str, bytes]:
    """Return letter and payload of a request; an OSError where the client has left."""
    size, letter = struct.unpack('>HB', _exactly(connection, 3))
    return chr(letter), _exactly(connection, size - 3)


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b''
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError('the client has left')
        data += part
    return data


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        # It is closed already.
        pass
