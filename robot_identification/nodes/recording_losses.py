# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Losses of a recorder, by the numbers of the publisher, and repeated messages; pure."""

from __future__ import annotations

import struct

STAMP_END = 12  # [bytes]; CDR: four in front, and a stamp of two 32-bit integers


def stamp_of(data: bytes) -> int:
    """Return the stamp [ns] of a serialized message that begins with a header, 0 without one."""
    if len(data) < STAMP_END:
        return 0
    # The second byte states how numbers are encoded; odd ones are little-endian.
    seconds, nanoseconds = struct.unpack_from('<iI' if data[1] & 1 else '>iI', data, 4)
    return int(seconds * 1_000_000_000 + nanoseconds)


class LossCounter:
    """
    Counts as `lost` what was published on a topic after its first message and did not arrive.

    A publisher numbers what it publishes, and DDS keeps the order of each publisher: what is
    missing between two numbers was lost, at any rate. rclpy does not know the publisher of a
    number. While there are several publishers, and where a middleware gives no numbers, the
    losses that the middleware itself reports are counted instead, and what a full queue replaced
    is not seen.
    """

    def __init__(self) -> None:
        self.lost = 0
        self._last: int | None = None
        self._numbered = True

    def add(self, number: int | None, publishers: int) -> None:
        """Count a message, with its publisher's number from 1; None or 0 where there is none."""
        self._numbered = bool(number) and publishers <= 1
        if not self._numbered:
            self._last = None
            return
        # A publisher that was started anew counts from the beginning.
        if self._last is not None and number > self._last:
            self.lost += number - self._last - 1
        self._last = number

    def look(self, publishers: int) -> None:
        """Forget the last number when it is not that of the only publisher any more."""
        if publishers != 1:
            self._last = None

    def report(self, count: int) -> None:
        """Take note of so many messages that the middleware reports as lost."""
        if not self._numbered:
            self.lost += count


class DuplicateCounter:
    """Counts messages with the header stamp of the one before: `duplicates`."""

    def __init__(self) -> None:
        self.duplicates = 0
        self._last = 0

    def add(self, stamp: int) -> None:
        """Take note of a message by its stamp [ns]; 0 is none."""
        self.duplicates += bool(stamp) and stamp == self._last
        self._last = stamp
