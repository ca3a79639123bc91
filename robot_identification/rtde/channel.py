# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Packets of the RTDE protocol, over a connection on which nothing waits without end.

A packet is its size (uint16, header included), its type (one letter) and a payload, big endian.
What is read is bounded by the size that a type may have: garbage is refused before it is stored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
import socket
import struct
import time

from robot_identification.errors import DataError
from robot_identification.texts import printable

_HEADER = struct.Struct('>HB')
LARGEST_PAYLOAD = 0xFFFF - _HEADER.size  # [bytes]; RTDE: a size of 16 bits that counts the header
_TEXT = b'M'
# A text and its source of at most 255 bytes each, their lengths and a level.
_TEXT_SIZES = range(1, 514)
_LEVELS = ('exception', 'error', 'warning', 'information')
# Between two checks of whether the end is requested [s]; chosen: short for a person.
_LOOK = 0.2


class RtdeRefusedError(DataError):
    """The robot, or another program at its address, refuses the request; a retry is useless."""


class RtdeLostError(DataError):
    """There is no connection, or it broke; it may be there again later."""


def never() -> bool:
    """Return that the end is not requested."""
    return False


class PacketChannel:
    """Packets to and from a robot; raise RtdeLostError if one takes longer than the timeout."""

    def __init__(
        self, host: str, port: int, timeout: float, stopped: Callable[[], bool] = never
    ) -> None:
        self.name = f'{host}:{port}'
        self.timeout = timeout
        # What the robot had to say, the last of it.
        self.texts: deque[str] = deque(maxlen=5)
        self._stopped = stopped
        try:
            self._socket = socket.create_connection((host, port), timeout=timeout)
        except (OSError, UnicodeError) as error:
            raise RtdeLostError(
                f'no connection to {self.name}: {error}: is this the address of the robot, is it '
                'switched on, and is RTDE enabled in its settings (Security, Services)?'
            ) from error
        # Each request is small, and is waited for.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        """Close the connection; once more does no harm."""
        self._socket.close()

    def send(self, kind: bytes, payload: bytes = b'') -> None:
        """Send a packet; raise RtdeLostError if the connection is broken."""
        try:
            self._socket.settimeout(self.timeout)
            self._socket.sendall(_HEADER.pack(_HEADER.size + len(payload), kind[0]) + payload)
        except OSError as error:
            raise RtdeLostError(f'the connection to {self.name} broke: {error}') from error

    def receive(self, kind: bytes, sizes: range) -> bytes:
        """
        Return the payload of the next packet of a type; texts before it are kept in `texts`.

        Raise RtdeLostError if it does not come whole within the timeout. Raise RtdeRefusedError if
        anything else comes.
        """
        deadline = time.monotonic() + self.timeout
        allowed = {kind[0]: sizes, _TEXT[0]: _TEXT_SIZES}
        while True:
            size, found = _HEADER.unpack(self._receive_exactly(_HEADER.size, deadline))
            size -= _HEADER.size
            if found not in allowed:
                raise RtdeRefusedError(
                    f'{self.name} sent a packet of type {chr(found)!r} where {kind.decode()!r} is '
                    f'due{self._last_message()}: is this the RTDE interface of a Universal Robot?'
                )
            if size not in allowed[found]:
                smallest, largest = allowed[found][0], allowed[found][-1]
                raise RtdeRefusedError(
                    f'{self.name} announced a packet of type {chr(found)!r} with a payload of '
                    f'{size} bytes, {smallest} to {largest} are possible: is this the RTDE '
                    'interface of a Universal Robot?'
                )
            payload = self._receive_exactly(size, deadline)
            if found == kind[0]:
                return payload
            self.texts.append(read_text_message(payload))

    def _receive_exactly(self, count: int, deadline: float) -> bytes:
        """Return so many bytes, which come in any pieces, all of them before the deadline."""
        found = bytearray(count)
        view, have = memoryview(found), 0
        while have < count:
            left = deadline - time.monotonic()
            if self._stopped():
                raise RtdeLostError('stopped')
            if left <= 0.0:
                raise RtdeLostError(
                    f'{self.name} sent nothing whole for {self.timeout:g} s ({have} of {count} '
                    f'bytes came){self._last_message()}'
                )
            try:
                self._socket.settimeout(min(left, _LOOK))
                came = self._socket.recv_into(view[have:])
            except TimeoutError:
                continue
            except OSError as error:
                raise RtdeLostError(f'the connection to {self.name} broke: {error}') from error
            if not came:
                raise RtdeLostError(f'{self.name} closed the connection{self._last_message()}')
            have += came
        return bytes(found)

    def _last_message(self) -> str:
        """Return the last words of the robot as a part of a sentence."""
        return f'; it said {self.texts[-1]!r}' if self.texts else ''


def read_text_message(payload: bytes) -> str:
    """
    Return what a text message says: its level, its source and the text.

    Before a version is agreed upon, robots may use the form of version 1, a level and a text.
    """
    length = payload[0]
    rest = payload[1 + length:]
    if rest and len(rest) == rest[0] + 2:
        text, source, level = payload[1:1 + length], rest[1:-1], rest[-1]
        name = _LEVELS[level] if level < len(_LEVELS) else f'level {level}'
        return _decode(b'%s (%s, %s)' % (text, name.encode(), source))
    return _decode(payload[1:])


def _decode(text: bytes) -> str:
    return printable(text.decode('utf-8', 'replace'))
