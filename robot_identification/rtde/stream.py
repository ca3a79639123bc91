# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Samples of a robot's RTDE interface, with reconnection after failures.

Each sample is handed on as it comes and kept nowhere, so that none can come twice or from before
a connection broke. A robot that refuses or does not answer is asked again after growing pauses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
import math
import threading
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.rtde.client import (
    connect, RtdeConnection, RtdeLostError, RtdeOptions, RtdeRefusedError, Value,
)

CONNECTING, RECEIVING, REFUSED = 'connecting', 'receiving', 'refused'
# How much faster than the robot's clock ours may run, [s/s] (docs/rtde.md): what seems a growing
# delay is that; chosen: well above that of quartz.
CLOCK_DRIFT = 1e-3
# An interval this many times the usual one lacks samples (docs/rtde.md); chosen: midway between
# one period and two.
LONG_INTERVAL = 1.5
# A connection that held so long was a good one: pauses begin anew with the shortest [s]
# (docs/rtde.md); chosen: one that breaks at once is not tried every second.
GOOD_SECONDS = 10.0
# Stamps that are kept until they are requested; chosen: 10 s at 500 Hz.
_MOST_STAMPS = 5000


class Delay:
    """
    Delay of a sample against the quickest ones, by the robot's clock and ours.

    The clocks have an unknown offset, which the quickest sample shows; it may drift.
    """

    def __init__(self) -> None:
        self._offset = math.inf
        self._last = math.nan

    def update(self, stamp: float, now: float) -> float:
        """
        Return the delay of a sample by its stamp and our time, `now` [s].

        Where stamps run backwards, the robot was restarted.
        """
        elapsed, self._last = stamp - self._last, stamp
        if not elapsed >= 0.0:
            self._offset = math.inf
            elapsed = 0.0
        offset = now - stamp
        self._offset = min(self._offset + CLOCK_DRIFT * elapsed, offset)
        return offset - self._offset


@dataclass(frozen=True)
class Arrivals:
    """Statistics of the robot's stamps over some time."""

    samples: int  # how many intervals there were
    rate: float  # samples a second of the robot's time, gaps left out [Hz]; 0 without an interval
    missing: int  # samples that the gaps lack
    longest: float  # longest interval [s]


def judge_arrivals(stamps: NDArray[np.float64]) -> Arrivals:
    """
    Count missing samples from the robot's stamps (M,) [s], in the order of arrival.

    The period is the median interval. An interval of several periods lacks one sample less than
    that; one that is not positive (the robot was started anew) is not counted.
    """
    intervals = np.diff(stamps)
    intervals = intervals[intervals > 0.0]
    if not intervals.size:
        return Arrivals(0, 0.0, 0, 0.0)
    period = float(np.median(intervals))
    usual = intervals <= LONG_INTERVAL * period
    missing = np.round(intervals[~usual] / period).astype(int) - 1
    return Arrivals(
        len(intervals), 1.0 / float(np.mean(intervals[usual])), int(missing.sum()),
        float(intervals.max()),
    )


@dataclass(frozen=True)
class StreamStatus:
    """Status of the stream."""

    state: str = CONNECTING  # 'connecting', 'receiving' or 'refused'
    # Why it is not receiving, or was not the last time; empty while nothing was wrong.
    reason: str = ''
    version: tuple[int, ...] = ()  # of the controller's software; empty while none has answered
    frequency: float = 0.0  # samples a second that the robot was asked for [Hz]
    # What the robot says of fields that it does not give, by key.
    missing: Mapping[str, str] = field(default_factory=dict)
    samples: int = 0  # handed on since the start
    # Samples that were dropped since the start: too late, or the one before once more.
    late: int = 0
    repeated: int = 0
    connections: int = 0  # how many the robot has accepted since the start
    attempts: int = 0  # number of attempts to connect since the start
    # Between the last attempt and the next one [s]; 0 while there is a connection.
    pause: float = 0.0
    # When the last sample came, by the monotonic clock [s]; NaN before the first one.
    newest: float = math.nan
    texts: tuple[str, ...] = ()  # what the robot had to say, the last of it


class RtdeStream:
    """
    Connection to a robot that hands on its samples, and is made again where it ends.

    One thread calls `run`; any thread may look at `status`, take stamps and call `stop`.
    `on_start` takes the types of the fields by key at the beginning of each connection,
    `on_sample` the values of a sample by key.
    """

    def __init__(
        self,
        options: RtdeOptions,
        on_start: Callable[[Mapping[str, str]], None],
        on_sample: Callable[[Mapping[str, Value]], None],
    ) -> None:
        self._options = options
        self._on_start, self._on_sample = on_start, on_sample
        self._stop = threading.Event()
        self._pause = options.shortest_pause  # before the next attempt to connect again [s]
        self._stamps: deque[float] = deque(maxlen=_MOST_STAMPS)
        self._delays: deque[float] = deque(maxlen=_MOST_STAMPS)
        self._last_stamp = math.nan
        # Replaced as a whole, so that a reader sees one moment.
        self.status = StreamStatus()

    def stop(self) -> None:
        """Make `run` end, which takes at most one wait for the socket."""
        self._stop.set()

    def run(self) -> None:
        """Hand on samples until `stop` is called."""
        longest = self._options.longest_pause
        while not self._stop.is_set():
            try:
                self._read_one_connection()
            except RtdeRefusedError as error:
                self._wait(REFUSED, str(error), longest)
            except RtdeLostError as error:
                pause, self._pause = self._pause, min(2.0 * self._pause, longest)
                self._wait(CONNECTING, str(error), pause)

    def _wait(self, state: str, reason: str, pause: float) -> None:
        if not self._stop.is_set():
            self._update(state=state, reason=reason, pause=pause)
            self._stop.wait(pause)

    def _update(self, **changes: Any) -> None:
        self.status = replace(self.status, **changes)

    def _read_one_connection(self) -> None:
        """Hand on the samples of one connection until it breaks, which is an error."""
        self._update(attempts=self.status.attempts + 1)
        connection = connect(self._options, self._stop.is_set)
        try:
            self._on_start(connection.kinds)
            self._update(
                version=connection.version, frequency=connection.frequency,
                missing=connection.missing, connections=self.status.connections + 1, pause=0.0,
            )
            self._hand_on(connection)
        finally:
            self._update(texts=connection.texts)
            connection.close()

    def _hand_on(self, connection: RtdeConnection) -> None:
        delay, first = Delay(), math.inf
        while True:
            stamp, values = connection.receive()
            now = time.monotonic()
            if self._stop.is_set():
                return
            if stamp == self._last_stamp:
                self._update(repeated=self.status.repeated + 1)
                continue
            self._last_stamp = stamp
            self._stamps.append(stamp)
            late = delay.update(stamp, now)
            self._delays.append(late)
            if late > self._options.longest_delay:
                self._update(late=self.status.late + 1)
                continue
            self._on_sample(values)
            first = min(first, stamp)
            if stamp - first > GOOD_SECONDS:
                self._pause = self._options.shortest_pause
            self._update(
                state=RECEIVING, samples=self.status.samples + 1, newest=now,
                texts=connection.texts,
            )

    def take_stamps(self) -> NDArray[np.float64]:
        """Return the robot's stamps since the last call, the last one of that call first [s]."""
        taken = _take(self._stamps)
        if taken.size:
            # Behind it stands what has come meanwhile.
            self._stamps.appendleft(float(taken[-1]))
        return taken

    def take_delays(self) -> NDArray[np.float64]:
        """Return the delays of the samples since the last call [s]."""
        return _take(self._delays)


def _take(numbers: deque[float]) -> NDArray[np.float64]:
    """Empty a queue that another thread fills."""
    return np.array([numbers.popleft() for _ in range(len(numbers))])
