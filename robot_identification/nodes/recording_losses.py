# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What a recorder loses, counted from the header stamps of what arrives; pure."""

from __future__ import annotations

from collections import deque
import statistics
import struct

# Intervals from which a period is told, and after how many it is told again.
_FEWEST, _WINDOW, _RENEWAL = 20, 500, 50
# Half of the intervals of a regular topic are this near to their median.
_REGULAR = 0.2
# A period that grows by this factor was told wrong before; 0, not known, is wrong as well.
_MISTAKEN = 1.5
# A stamp that is this much earlier, or ahead of the time of arrival, is a clock that jumped [ns].
_JUMP = 1_000_000_000
_LITTLE = struct.Struct('<iI')
_BIG = struct.Struct('>iI')
_STAMP_END = 12


def stamp_of(data: bytes) -> int:
    """Return the stamp [ns] of a serialised message that begins with a header, 0 without one."""
    if len(data) < _STAMP_END:
        return 0
    # The second byte says how numbers are encoded; odd ones are little-endian.
    seconds, nanoseconds = (_LITTLE if data[1] & 1 else _BIG).unpack_from(data, 4)
    return int(seconds * 1_000_000_000 + nanoseconds)


class StampCounter:
    """
    Counts what a regular topic lacks and what it repeats.

    The period is the median of the latest intervals. An interval of several periods lacks one
    message less than that; where a late publisher catches up with short intervals right after,
    nothing was lost. A topic without a period, such as one that is published on change, lacks
    nothing.

    Attributes
    ----------
    lost : int
        Messages that did not arrive.
    duplicates : int
        Messages with the stamp of the one before.
    jumps : int
        How often the clock of the stamps was set.

    """

    def __init__(self) -> None:
        self.lost = self.duplicates = self.jumps = 0
        self._last: int | None = None
        self._lead = 0
        self._debt = 0
        self._period = 0.0
        self._intervals: deque[int] = deque(maxlen=_WINDOW)
        self._since_renewal = 0

    @property
    def period(self) -> float:
        """Median of the latest intervals [s], 0 where the topic was never regular."""
        return 1e-9 * self._period

    def add(self, stamp: int, arrival: int) -> None:
        """Take note of a message by its stamp and its time of arrival [ns]."""
        if not stamp:
            return
        last, self._last = self._last, stamp
        lead = stamp - arrival
        if last is None:
            self._lead = lead
            return
        interval = stamp - last
        if interval < -_JUMP or lead > self._lead + _JUMP:
            self.jumps += 1
            self._lead = lead
            return
        self._lead = max(self._lead, lead)
        if interval == 0:
            self.duplicates += 1
        elif interval > 0:
            self._take(interval)

    def _take(self, interval: int) -> None:
        self._intervals.append(interval)
        self._since_renewal += 1
        if self._period:
            self._count(interval)
        if self._since_renewal >= (_RENEWAL if self._period else _FEWEST):
            self._renew()

    def _renew(self) -> None:
        """Tell the period again; what was counted before it was known right is counted again."""
        self._since_renewal = 0
        median = statistics.median(self._intervals)
        near = sum(abs(interval - median) <= _REGULAR * median for interval in self._intervals)
        if 2 * near < len(self._intervals):
            return
        before, self._period = self._period, float(median)
        # A late publisher that catches up at the beginning seems to have a short period.
        if self._period > _MISTAKEN * before:
            self.lost = self._debt = 0
            for interval in self._intervals:
                self._count(interval)

    def _count(self, interval: int) -> None:
        lacking = round(interval / self._period) - 1
        if lacking > 0:
            self.lost += lacking
            self._debt = lacking
        elif lacking < 0 < self._debt:
            self.lost -= 1
            self._debt -= 1
        else:
            self._debt = 0
