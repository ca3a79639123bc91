# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The time of messages that are being replayed, and where a replay begins again.

Nothing here needs ROS: the input is bytes and numbers.
"""

from __future__ import annotations

from robot_identification.errors import DataError
from robot_identification.nodes.recording_types import STAMP_END, stamp_of
from robot_identification.recording import LARGEST_DISORDER

# Messages at the beginning by which a second pass is known, even if the first of them is lost;
# chosen: 2 s at 500 Hz.
REMEMBERED = 1000


class ReplayClock:
    """
    Times for a bag by the stamps of messages, independent of the rate of a replay.

    Where stamps go on, so does this clock, by as much. Where they jump back, counted in `jumps`,
    it goes on by one usual step. A stamp of zero was not set: then the time of arrival has to
    serve. `now` [ns] is the time of the last message, None before the first.

    With `has_come_round` stamps are back at a message that is known from the beginning: nothing is
    new from here on, and the clock stands. Without a jump back it does not count: a driver may
    send a message twice.
    """

    def __init__(self) -> None:
        self.now: int | None = None
        self.jumps = 0
        self.has_come_round = False
        self._stamp = self._received = self._step = 0
        self._beginning: set[bytes] = set()

    def tick(self, data: bytes, received: int) -> None:
        """
        Take a message, received at a time [ns], of the topic that keeps the time.

        Raises DataError if it has no header stamp.
        """
        if len(data) < STAMP_END:
            raise DataError(f'a message of {len(data)} bytes has no header stamp')
        stamp = stamp_of(data)
        jumps_back = self._stamp - stamp > LARGEST_DISORDER and stamp > 0
        if (jumps_back or self.jumps) and data in self._beginning:
            self.has_come_round = True
        if self.has_come_round:
            return
        if len(self._beginning) < REMEMBERED and not (jumps_back or self.jumps):
            self._beginning.add(data)
        if self.now is None:
            self.now = stamp or received
        elif jumps_back:
            self.jumps += 1
            self.now += self._step
        elif not stamp:
            self.now += max(received - self._received, 0)
        elif not self._stamp:
            # It was the time of arrival so far, or a simulated clock that began at zero.
            self.now = max(self.now, stamp)
        elif stamp > self._stamp:
            self._step = stamp - self._stamp
            self.now += self._step
        else:
            # Messages overtook each other: the clock stands until stamps are new again.
            stamp = self._stamp
        self._stamp, self._received = stamp, received
