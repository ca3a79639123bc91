# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
RTDE client of a Universal Robot: joint temperatures, currents, torques, time.

RTDE is the robot's real-time data exchange, on TCP port 30004. This client asks for outputs only.
It knows no packet that sets an input, so nothing it sends can move the robot, and any number of
such clients may read along with a driver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math
import re
import struct

from robot_identification.errors import UsageError
from robot_identification.rtde.channel import (
    LARGEST_PAYLOAD, never, PacketChannel, RtdeLostError, RtdeRefusedError,
)

PORT = 30004  # of the RTDE interface (TCP), by UR's guide
PROTOCOL_VERSION = 2  # by UR's guide: the one in which a frequency can be asked for
TIMESTAMP = 'timestamp'
# Controllers before major version 5 are CB3, which send at most 125 times a second [Hz]; as
# Universal Robots has it.
FIRST_E_SERIES, CB3_RATE, E_SERIES_RATE = 5, 125.0, 500.0
SLOWEST = 0.1  # [Hz] (docs/rtde.md); chosen: temperatures change within minutes
# Seconds that a message of ROS can hold [s]; builtin_interfaces/Time: 32 bits, signed.
LAST_STAMP = 2.0**31 - 1.0
# What a controller takes as the names of one recipe [bytes], by UR's guide.
LONGEST_RECIPE = 2048
# A sample may take so many periods, for any timeout (docs/rtde.md); chosen: two may be
# lost.
PERIODS_TO_WAIT = 3.0

Value = bool | int | float | tuple[bool | int | float, ...]

# How a field is packed, by the name of its type in the protocol.
TYPES: dict[str, str] = {
    'BOOL': '?', 'UINT8': 'B', 'UINT32': 'I', 'UINT64': 'Q', 'INT32': 'i', 'DOUBLE': 'd',
    'VECTOR3D': '3d', 'VECTOR6D': '6d', 'VECTOR6INT32': '6i', 'VECTOR6UINT32': '6I',
}
NOT_FOUND, IN_USE = 'NOT_FOUND', 'IN_USE'

_ASK_VERSION, _ASK_CONTROLLER, _SET_UP_OUTPUTS, _START, _PAUSE = b'V', b'v', b'O', b'S', b'P'
_DATA = b'U'
_VERSION = struct.Struct('>4I')
_KEY = re.compile(r'[A-Za-z][A-Za-z0-9_]{0,99}')
_HOST = re.compile(r'[A-Za-z0-9]([A-Za-z0-9.:_-]{0,252})')


@dataclass(frozen=True)
class RtdeOptions:
    """
    Address of the robot, and fields to request.

    `keys` are fields as the protocol names them; `timestamp` is always read. Without the
    `required` ones of them nothing is read. `frequency` is in samples a second [Hz], 0 for as many
    as the robot gives; `timeout` [s] limits connecting, an answer, and a whole sample. Raises
    UsageError if a value cannot be used.
    """

    host: str
    keys: tuple[str, ...]
    required: tuple[str, ...] = ()
    frequency: float = 0.0
    port: int = PORT
    timeout: float = 2.0

    def __post_init__(self) -> None:
        check_host(self.host)
        check_keys(self.keys)
        if not self.fields:
            raise UsageError('keys are empty: name fields to read, such as joint_temperatures')
        unknown = [key for key in self.required if key not in (TIMESTAMP, *self.keys)]
        if unknown:
            raise UsageError(f'{", ".join(unknown)} is required, but not among the keys')
        if not 0 < self.port <= 0xFFFF:
            raise UsageError(f'port is {self.port}, allowed are 1 to 65535')
        if self.frequency and not SLOWEST <= self.frequency <= E_SERIES_RATE:
            raise UsageError(
                f'frequency is {self.frequency:g} Hz, allowed are {SLOWEST:g} to '
                f'{E_SERIES_RATE:g} Hz, and 0 for as many as the robot gives'
            )
        if not 0.0 < self.timeout < math.inf:
            raise UsageError(f'timeout is {self.timeout:g} s, it must be above 0 and finite')

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


class Recipe:
    """Packing of the values of one sample."""

    def __init__(self, number: int, kinds: Mapping[str, str]) -> None:
        self.number = number
        self.kinds = dict(kinds)
        forms = [TYPES[kind] for kind in kinds.values()]
        self._layout = struct.Struct('>B' + ''.join(forms))
        self._counts = [int(form[:-1] or '1') for form in forms]

    @property
    def size(self) -> int:
        """Bytes of a sample, its number included."""
        return self._layout.size

    def decode(self, payload: bytes) -> dict[str, Value]:
        """Return the values of a sample by key; RtdeRefusedError if it is of another recipe."""
        if len(payload) != self.size:
            raise RtdeRefusedError(
                f'a sample has {len(payload)} bytes, {self.size} were agreed upon'
            )
        number, *numbers = self._layout.unpack(payload)
        if number != self.number:
            raise RtdeRefusedError(
                f'a sample is of recipe {number}, but {self.number} was agreed upon'
            )
        values: dict[str, Value] = {}
        first = 0
        for key, count in zip(self.kinds, self._counts, strict=True):
            part = numbers[first:first + count]
            values[key] = part[0] if count == 1 else tuple(part)
            first += count
        return values


class RtdeConnection:
    """A connection over which samples come; made by `connect`."""

    def __init__(
        self,
        channel: PacketChannel,
        recipe: Recipe,
        version: tuple[int, ...],
        frequency: float,
        missing: Mapping[str, str],
    ) -> None:
        self._channel = channel
        self.recipe = recipe  # What a sample holds
        self.version = version  # Of the controller's software: major, minor, bugfix, build
        self.frequency = frequency  # Samples a second that the robot was asked for [Hz]
        self.missing = dict(missing)  # What the robot says of fields that it does not give, by key
        channel.timeout = max(channel.timeout, PERIODS_TO_WAIT / frequency)
        self._sizes = range(recipe.size, recipe.size + 1)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what the robot had to say, the last of it."""
        return tuple(self._channel.texts)

    def receive(self) -> tuple[float, dict[str, Value]]:
        """
        Return the robot's time of the next sample [s], and its values by key.

        Raise RtdeLostError if none comes whole within the timeout, or the connection is cut. Raise
        RtdeRefusedError if something else comes.
        """
        values = self.recipe.decode(self._channel.receive(_DATA, self._sizes))
        stamp = values[TIMESTAMP]
        if not (isinstance(stamp, float) and 0.0 <= stamp <= LAST_STAMP):
            raise RtdeRefusedError(
                f'a sample has the timestamp {stamp}, 0 to {LAST_STAMP:.0f} s are possible'
            )
        return stamp, values

    def close(self) -> None:
        """Say that no more is wanted, and leave."""
        try:
            self._channel.send(_PAUSE)
        except RtdeLostError:
            # Then nothing comes in any case.
            pass
        self._channel.close()


def connect(options: RtdeOptions, stopped: Callable[[], bool] = never) -> RtdeConnection:
    """
    Connect to a robot, agree upon what it sends, and let it begin.

    Fields that the robot does not know are left out, unless they are required.

    Raise RtdeLostError if there is no answer in time, or the connection breaks. Raise
    RtdeRefusedError if the robot speaks another version of the protocol, lacks a required field or
    all of them, or what answers is no robot.
    """
    keys: tuple[str, ...] = (TIMESTAMP, *options.fields)
    missing: dict[str, str] = {}
    while True:
        channel = PacketChannel(options.host, options.port, options.timeout, stopped)
        try:
            version = _agree(channel)
            frequency = choose_frequency(options.frequency, version)
            number, kinds = _ask_for(channel, keys, frequency)
            lacking = {key: kind for key, kind in kinds.items() if kind in (NOT_FOUND, IN_USE)}
            if not lacking:
                recipe = Recipe(number, kinds)
                _start(channel)
                return RtdeConnection(channel, recipe, version, frequency, missing)
            missing |= lacking
            check_missing(options, missing, version)
        except BaseException:
            channel.close()
            raise
        # A second recipe on the same connection would be sent along with the first.
        channel.close()
        keys = tuple(key for key in keys if key not in lacking)


def _agree(channel: PacketChannel) -> tuple[int, ...]:
    """Agree upon the version of the protocol; return the version of the controller."""
    channel.send(_ASK_VERSION, struct.pack('>H', PROTOCOL_VERSION))
    if not channel.receive(_ASK_VERSION, range(1, 2))[0]:
        raise RtdeRefusedError(
            f'{channel.name} does not speak version {PROTOCOL_VERSION} of the RTDE protocol, and '
            'nothing else is spoken here: update the software of the robot'
        )
    channel.send(_ASK_CONTROLLER)
    return _VERSION.unpack(
        channel.receive(_ASK_CONTROLLER, range(_VERSION.size, _VERSION.size + 1))
    )


def choose_frequency(asked: float, version: Sequence[int]) -> float:
    """Return the rate to ask a controller of a version for [Hz]; `asked` of 0 is its highest."""
    most = E_SERIES_RATE if version[0] >= FIRST_E_SERIES else CB3_RATE
    return min(asked, most) if asked else most


def _ask_for(
    channel: PacketChannel, keys: Sequence[str], frequency: float
) -> tuple[int, dict[str, str]]:
    """Set up what is sent; return the number of the recipe and the type of each field."""
    channel.send(_SET_UP_OUTPUTS, struct.pack('>d', frequency) + ','.join(keys).encode())
    answer = channel.receive(_SET_UP_OUTPUTS, range(1, LARGEST_PAYLOAD + 1))
    kinds = answer[1:].decode('ascii', 'replace').split(',')
    if len(kinds) != len(keys):
        raise RtdeRefusedError(
            f'{channel.name} answered with {len(kinds)} types for {len(keys)} fields: '
            f'{",".join(kinds)!r:.200}'
        )
    found = dict(zip(keys, kinds, strict=True))
    unknown = [f'{key} ({kind!r:.40})' for key, kind in found.items()
               if kind not in (NOT_FOUND, IN_USE, *TYPES)]
    if unknown:
        raise RtdeRefusedError(
            f'{channel.name} gives fields of unknown types: {", ".join(unknown)}: leave them out '
            'of the keys'
        )
    if found[TIMESTAMP] not in ('DOUBLE', NOT_FOUND, IN_USE):
        raise RtdeRefusedError(
            f'{channel.name} gives its timestamp as {found[TIMESTAMP]}, not as DOUBLE'
        )
    return answer[0], found


def check_missing(
    options: RtdeOptions, missing: Mapping[str, str], version: Sequence[int]
) -> None:
    """
    Check that what a robot does not give can be left out.

    Raise RtdeRefusedError if a required field is missing, or all are. Raise RtdeLostError if a
    required field is in use by another client, which may leave.
    """
    lacking = [key for key in (TIMESTAMP, *options.required) if key in missing]
    if not lacking and set(options.fields) <= set(missing):
        lacking = list(options.fields)
    if not lacking:
        return
    listed = ', '.join(f'{key} ({missing[key]})' for key in lacking)
    text = (
        f'the robot (software {".".join(map(str, version))}) does not give {listed}: correct the '
        'names, leave them out of the keys, or update the robot'
    )
    if all(missing[key] == IN_USE for key in lacking):
        raise RtdeLostError(f'the robot does not give {listed}: another client holds them')
    raise RtdeRefusedError(text)


def _start(channel: PacketChannel) -> None:
    """Start the stream of samples."""
    channel.send(_START)
    if not channel.receive(_START, range(1, 2))[0]:
        raise RtdeLostError(f'{channel.name} did not start to send: is the robot still booting?')
