# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
RTDE client of a Universal Robot: joint temperatures, currents, torques, time.

RTDE is the robot's real-time data exchange, on TCP port 30004. This client asks for outputs only.
It knows no packet that sets an input, so nothing it sends can move the robot, and any number of
such clients may read along with a driver.

A packet is its size (uint16, header included), its type (one letter) and a payload, big endian.
What is read is bounded by the size that a type may have: garbage is refused before it is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
import re
import socket
import struct
import time

from robot_identification.errors import DataError, UsageError
from robot_identification.texts import printable

PORT = 30004  # of the RTDE interface (TCP), by UR's guide
PROTOCOL_VERSION = 2  # by UR's guide: the one in which a frequency can be asked for
TIMESTAMP = 'timestamp'
# Controllers before major version 5 are CB3, which send at most 125 times a second [Hz]; as
# Universal Robots has it.
FIRST_E_SERIES, CB3_RATE, E_SERIES_RATE = 5, 125.0, 500.0
SLOWEST = 0.1  # [Hz] (docs/rtde.md); chosen: temperatures change within minutes
# Seconds that a message of ROS can hold [s]; builtin_interfaces/Time: 32 bits, signed.
LAST_STAMP = 2.0**31 - 1.0
LONGEST_RECIPE = 2048  # what a controller takes as the names of one recipe [bytes], by UR's guide
# A sample may take so many periods, for any timeout (docs/rtde.md); chosen: two may be lost.
PERIODS_TO_WAIT = 3.0

Value = bool | int | float | tuple[bool | int | float, ...]

# How a field is packed, by the name of its type in the protocol.
TYPES: dict[str, str] = {
    'BOOL': '?', 'UINT8': 'B', 'UINT32': 'I', 'UINT64': 'Q', 'INT32': 'i', 'DOUBLE': 'd',
    'VECTOR3D': '3d', 'VECTOR6D': '6d', 'VECTOR6INT32': '6i', 'VECTOR6UINT32': '6I',
}
NOT_FOUND, IN_USE = 'NOT_FOUND', 'IN_USE'

_HEADER = struct.Struct('>HB')
_ASK_VERSION, _ASK_CONTROLLER, _SET_UP_OUTPUTS, _START, _PAUSE = b'V', b'v', b'O', b'S', b'P'
_DATA, _TEXT = b'U', b'M'
_VERSION = struct.Struct('>4I')
_LARGEST_PAYLOAD = 0xFFFF - _HEADER.size  # [bytes]; a size of 16 bits that counts the header
# A text and its source of at most 255 bytes each, their lengths and a level.
_TEXT_SIZES = range(1, 514)
_LEVELS = ('exception', 'error', 'warning', 'information')
# Between two checks of whether the end is requested [s]; chosen: short for a person.
_LOOK = 0.2
_KEY = re.compile(r'[A-Za-z][A-Za-z0-9_]{0,99}')
_HOST = re.compile(r'[A-Za-z0-9]([A-Za-z0-9.:_-]{0,252})')


class RtdeRefusedError(DataError):
    """The robot, or another program at its address, refuses the request; a retry is useless."""


class RtdeLostError(DataError):
    """There is no connection, or it broke; it may be there again later."""


@dataclass(frozen=True)
class RtdeOptions:
    """
    Address of the robot, fields to request, and time limits.

    `keys` are fields as the protocol names them; `timestamp` is always read. Without the
    `required` ones of them nothing is read. `frequency` is in samples a second [Hz], 0 for as many
    as the robot gives; `timeout` [s] limits connecting, an answer, and a whole sample.
    `shortest_pause` precedes the first attempt to connect again [s]; each further pause is twice
    as long, up to `longest_pause` [s], which also follows a refusal. Samples that come later than
    `longest_delay` [s], measured by the robot's time, are dropped. Raises UsageError if a value
    cannot be used.
    """

    host: str
    keys: tuple[str, ...]
    required: tuple[str, ...] = ()
    frequency: float = 0.0
    port: int = PORT
    timeout: float = 2.0
    shortest_pause: float = 1.0
    longest_pause: float = 30.0
    longest_delay: float = 0.5

    def __post_init__(self) -> None:
        check_host(self.host)
        check_keys(self.keys)
        if not self.fields:
            raise UsageError('keys are empty: name fields to read, such as joint_temperatures')
        unknown = [key for key in self.required if key not in (TIMESTAMP, *self.keys)]
        if unknown:
            raise UsageError(f'{", ".join(unknown)} is required, but not among the keys')
        if self.frequency and not SLOWEST <= self.frequency <= E_SERIES_RATE:
            raise UsageError(
                f'frequency is {self.frequency:g} Hz, allowed are {SLOWEST:g} to '
                f'{E_SERIES_RATE:g} Hz, and 0 for as many as the robot gives'
            )
        if self.shortest_pause > self.longest_pause:
            raise UsageError(
                f'the shortest pause, {self.shortest_pause:g} s, is above the longest one, '
                f'{self.longest_pause:g} s'
            )

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the keys without the timestamp."""
        return tuple(key for key in self.keys if key != TIMESTAMP)


def check_host(host: str) -> None:
    """Raise UsageError if a text cannot be the address or the name of a robot."""
    if not _HOST.fullmatch(host):
        raise UsageError(
            f'{host!r:.80} is no address of a robot: give one such as 192.168.56.101'
        )


def check_keys(keys: Sequence[str]) -> None:
    """Raise UsageError if keys are no field names, not unique, or together too long."""
    for key in keys:
        if not _KEY.fullmatch(key):
            raise UsageError(f'{key!r:.80} is no name of an RTDE field')
    twice = sorted({key for key in keys if list(keys).count(key) > 1})
    if twice:
        raise UsageError(f'{", ".join(twice)} is named twice among the keys')
    length = len(','.join((TIMESTAMP, *keys)))
    if length > LONGEST_RECIPE:
        raise UsageError(
            f'the keys have {length} bytes together, a robot takes {LONGEST_RECIPE}: name fewer'
        )


class RtdeConnection:
    """A connection on which nothing waits without end; `connect` makes one that sends samples."""

    def __init__(self, options: RtdeOptions, stopped: Callable[[], bool]) -> None:
        self._name = f'{options.host}:{options.port}'
        self._timeout = options.timeout
        self._stopped = stopped
        self.texts: tuple[str, ...] = ()  # what the robot had to say, the last of it
        self.kinds: dict[str, str] = {}  # type of each field of a sample, by key
        self.missing: Mapping[str, str] = {}  # what the robot says of fields that it lacks
        try:
            self._socket = socket.create_connection(
                (options.host, options.port), timeout=options.timeout
            )
        except (OSError, UnicodeError) as error:
            raise RtdeLostError(
                f'no connection to {self._name}: {error}: is this the address of the robot, is it '
                'switched on, and is RTDE enabled in its settings (Security, Services)?'
            ) from error
        # Each request is small, and is waited for.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def agree(self, asked: float) -> None:
        """Agree upon the version of the protocol, and the rate for one that is asked for [Hz]."""
        self._send(_ASK_VERSION, struct.pack('>H', PROTOCOL_VERSION))
        if not self._receive_packet(_ASK_VERSION, range(1, 2))[0]:
            raise RtdeRefusedError(
                f'{self._name} does not speak version {PROTOCOL_VERSION} of the RTDE protocol, '
                'and nothing else is spoken here: update the software of the robot'
            )
        self._send(_ASK_CONTROLLER)
        sizes = range(_VERSION.size, _VERSION.size + 1)
        # Of the controller's software: major, minor, bugfix, build.
        self.version = _VERSION.unpack(self._receive_packet(_ASK_CONTROLLER, sizes))
        most = E_SERIES_RATE if self.version[0] >= FIRST_E_SERIES else CB3_RATE
        self.frequency = min(asked, most) if asked else most  # [Hz]

    def set_up(self, keys: Sequence[str]) -> dict[str, str]:
        """Ask for fields; return what the robot says of those that it does not give."""
        asked = struct.pack('>d', self.frequency) + ','.join(keys).encode()
        self._send(_SET_UP_OUTPUTS, asked)
        answer = self._receive_packet(_SET_UP_OUTPUTS, range(1, _LARGEST_PAYLOAD + 1))
        kinds = answer[1:].decode('ascii', 'replace').split(',')
        if len(kinds) != len(keys):
            raise RtdeRefusedError(
                f'{self._name} answered with {len(kinds)} types for {len(keys)} fields: '
                f'{",".join(kinds)!r:.200}'
            )
        self.kinds, self._recipe = dict(zip(keys, kinds, strict=True)), answer[0]
        lacking = {key: kind for key, kind in self.kinds.items() if kind in (NOT_FOUND, IN_USE)}
        unknown = [f'{key} ({kind!r:.40})' for key, kind in self.kinds.items()
                   if kind not in (*TYPES, NOT_FOUND, IN_USE)]
        if unknown:
            raise RtdeRefusedError(
                f'{self._name} gives fields of unknown types: {", ".join(unknown)}: leave them '
                'out of the keys'
            )
        if TIMESTAMP not in lacking and self.kinds[TIMESTAMP] != 'DOUBLE':
            raise RtdeRefusedError(
                f'{self._name} gives its timestamp as {self.kinds[TIMESTAMP]}, not as DOUBLE'
            )
        return lacking

    def start(self) -> None:
        """Start the samples."""
        self._send(_START)
        if not self._receive_packet(_START, range(1, 2))[0]:
            raise RtdeLostError(f'{self._name} did not start to send: is the robot still booting?')
        size = struct.calcsize(_layout(self.kinds))
        self._sizes = range(size, size + 1)
        self._timeout = max(self._timeout, PERIODS_TO_WAIT / self.frequency)

    def receive(self) -> tuple[float, dict[str, Value]]:
        """
        Return the robot's time of the next sample [s], and its values by key.

        Raise RtdeLostError if none comes whole within the timeout, or the connection is cut. Raise
        RtdeRefusedError if something else comes.
        """
        number, values = decode(self.kinds, self._receive_packet(_DATA, self._sizes))
        if number != self._recipe:
            raise RtdeRefusedError(
                f'a sample is of recipe {number}, but {self._recipe} was agreed upon'
            )
        stamp = values[TIMESTAMP]
        if not (isinstance(stamp, float) and 0.0 <= stamp <= LAST_STAMP):
            raise RtdeRefusedError(
                f'a sample has the timestamp {stamp}, 0 to {LAST_STAMP:.0f} s are possible'
            )
        return stamp, values

    def close(self) -> None:
        """Say that no more is wanted, and leave."""
        # Where the connection is broken, nothing comes in any case.
        with suppress(RtdeLostError):
            self._send(_PAUSE)
        self.cut()

    def cut(self) -> None:
        """Leave without a word; once more does no harm."""
        self._socket.close()

    def _send(self, kind: bytes, payload: bytes = b'') -> None:
        """Send a packet; raise RtdeLostError if the connection is broken."""
        try:
            self._socket.settimeout(self._timeout)
            self._socket.sendall(_HEADER.pack(_HEADER.size + len(payload), kind[0]) + payload)
        except OSError as error:
            raise RtdeLostError(f'the connection to {self._name} broke: {error}') from error

    def _receive_packet(self, kind: bytes, sizes: range) -> bytes:
        """Return the payload of the next packet of a type; texts before it are kept."""
        deadline = time.monotonic() + self._timeout
        allowed = {kind[0]: sizes, _TEXT[0]: _TEXT_SIZES}
        while True:
            size, found = _HEADER.unpack(self._receive_exactly(_HEADER.size, deadline))
            size -= _HEADER.size
            if found not in allowed:
                raise RtdeRefusedError(
                    f'{self._name} sent a packet of type {chr(found)!r} where {kind.decode()!r} '
                    f'is due{self._last_message()}: is this the RTDE interface of a Universal '
                    'Robot?'
                )
            if size not in allowed[found]:
                smallest, largest = allowed[found][0], allowed[found][-1]
                raise RtdeRefusedError(
                    f'{self._name} announced a packet of type {chr(found)!r} with a payload of '
                    f'{size} bytes, {smallest} to {largest} are possible: is this the RTDE '
                    'interface of a Universal Robot?'
                )
            payload = self._receive_exactly(size, deadline)
            if found == kind[0]:
                return payload
            self.texts = (*self.texts, read_text_message(payload))[-5:]

    def _receive_exactly(self, count: int, deadline: float) -> bytes:
        """Return so many bytes, which come in any pieces, all of them before the deadline."""
        found = bytearray()
        while len(found) < count:
            left = deadline - time.monotonic()
            if self._stopped():
                raise RtdeLostError('stopped')
            if left <= 0.0:
                raise RtdeLostError(
                    f'{self._name} sent nothing whole for {self._timeout:g} s ({len(found)} of '
                    f'{count} bytes came){self._last_message()}'
                )
            try:
                self._socket.settimeout(min(left, _LOOK))
                came = self._socket.recv(count - len(found))
            except TimeoutError:
                continue
            except OSError as error:
                raise RtdeLostError(f'the connection to {self._name} broke: {error}') from error
            if not came:
                raise RtdeLostError(f'{self._name} closed the connection{self._last_message()}')
            found += came
        return bytes(found)

    def _last_message(self) -> str:
        """Return the last words of the robot as a part of a sentence."""
        return f'; it said {self.texts[-1]!r}' if self.texts else ''


def _layout(kinds: Mapping[str, str]) -> str:
    """Return how `struct` names the layout of a sample."""
    return '>B' + ''.join(TYPES[kind] for kind in kinds.values())


def decode(kinds: Mapping[str, str], payload: bytes) -> tuple[int, dict[str, Value]]:
    """Return the number of the recipe of a sample, and its values by key."""
    number, *numbers = struct.unpack(_layout(kinds), payload)
    values: dict[str, Value] = {}
    for key, kind in kinds.items():
        count = int(TYPES[kind][:-1] or '1')
        part, numbers = numbers[:count], numbers[count:]
        values[key] = part[0] if count == 1 else tuple(part)
    return number, values


def read_text_message(payload: bytes) -> str:
    """
    Return what a text message says: its level, its source and the text.

    Before a version is agreed upon, robots may use the form of version 1, a level and a text.
    """
    length = payload[0]
    text, rest = payload[1:], payload[1 + length:]
    if rest and len(rest) == rest[0] + 2:
        level = _LEVELS[rest[-1]] if rest[-1] < len(_LEVELS) else f'level {rest[-1]}'
        text = b'%s (%s, %s)' % (payload[1:1 + length], level.encode(), rest[1:-1])
    return printable(text.decode('utf-8', 'replace'))


def connect(options: RtdeOptions, stopped: Callable[[], bool] = lambda: False) -> RtdeConnection:
    """
    Connect to a robot, agree upon what it sends, and let it begin.

    Fields that the robot does not know are left out, unless they are required.

    Raise RtdeLostError if there is no answer in time, the connection breaks, or another client
    holds a required field. Raise RtdeRefusedError if the robot speaks another version of the
    protocol, lacks a required field or all of them, or what answers is no robot.
    """
    keys: tuple[str, ...] = (TIMESTAMP, *options.fields)
    missing: dict[str, str] = {}
    while True:
        connection = RtdeConnection(options, stopped)
        try:
            connection.agree(options.frequency)
            lacking = connection.set_up(keys)
            if not lacking:
                connection.missing = missing
                connection.start()
                return connection
            missing |= lacking
            needed = [key for key in (TIMESTAMP, *options.required) if key in missing]
            if not needed and set(options.fields) <= set(missing):
                needed = list(options.fields)
            if needed:
                raise _not_given({key: missing[key] for key in needed}, connection.version)
        except BaseException:
            connection.cut()
            raise
        # A second recipe on the same connection would be sent along with the first.
        connection.cut()
        keys = tuple(key for key in keys if key not in lacking)


def _not_given(missing: Mapping[str, str], version: Sequence[int]) -> DataError:
    """Return the error of required fields that a robot, of a software version, does not give."""
    listed = ', '.join(f'{key} ({kind})' for key, kind in missing.items())
    if set(missing.values()) == {IN_USE}:
        return RtdeLostError(f'the robot does not give {listed}: another client holds them')
    return RtdeRefusedError(
        f'the robot (software {".".join(map(str, version))}) does not give {listed}: correct the '
        'names, leave them out of the keys, or update the robot'
    )
