# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What all connections of the controller have in common: bytes in, bytes out, no sockets."""

from __future__ import annotations


class ProtocolError(Exception):
    """What came is nothing of the protocol; the connection ends."""


class Session:
    """One connection."""

    @property
    def ended(self) -> bool:
        """Return whether it is to be closed."""
        return False

    @property
    def must_wait(self) -> bool:
        """Return whether its socket is not to be read for now."""
        return False

    def greeting(self) -> bytes:
        """Return what is sent first."""
        return b''

    def receive(self, data: bytes) -> bytes:
        """Take bytes as they come, and return the answer; raise ProtocolError for garbage."""
        raise NotImplementedError

    def cycle(self) -> bytes:
        """Return what is due in a cycle of the controller."""
        return b''

    def close(self) -> None:
        """Give back what the connection holds."""


class LineSession(Session):
    """A connection on which each line is answered by a line."""

    longest_line = 1000  # [bytes]; chosen: commands have some tens

    def __init__(self) -> None:
        self._buffer = bytearray()

    def answer(self, line: str) -> str:
        """Return the answer to a line."""
        raise NotImplementedError

    def receive(self, data: bytes) -> bytes:
        """Take what came and return the lines that answer; see `Session`."""
        self._buffer += data
        answers = []
        while b'\n' in self._buffer and not self.ended:
            line, _, self._buffer = self._buffer.partition(b'\n')
            answers.append(f"{self.answer(line.decode('ascii', 'replace').strip())}\n")
        if len(self._buffer) > self.longest_line:
            raise ProtocolError(f'a line of more than {self.longest_line} bytes')
        return ''.join(answers).encode('ascii', 'replace')
