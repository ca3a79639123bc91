# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Evenly spread parts of recordings that are too long to be held as a whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import (
    FloatArray, IntegerArray, LARGEST_IN_MEMORY, release, slices_of, span_of,
)
from robot_identification.recording.recording import Recording

# Length of the parts [s]. Chosen: smoothing and pre-sliding friction need a second or two to
# forget how a part begins.
PART_DURATION = 20.0
# A recording that would have fewer is taken as a whole; chosen, ten seconds at 100 Hz.
FEWEST_IN_PARTS = 1000


def spread_parts(
    recordings: Sequence[Recording], most: int, window: tuple[float | None, float | None]
) -> tuple[Recording, ...]:
    """
    Return evenly spread parts of recordings that together have more than `most` joint states.

    The window is as in `process` [s]. Each recording has its share of them, none that has few is
    divided.
    """
    inside = [_rows_within(recording, window) for recording in recordings]
    total = sum(rows.stop - rows.start for rows in inside)
    if total <= most:
        return tuple(recordings)
    return tuple(
        _spread_in(recording, rows, (rows.stop - rows.start) * most // total)
        for recording, rows in zip(recordings, inside, strict=True)
    )


def _rows_within(
    recording: Recording, window: tuple[float | None, float | None]
) -> slice:
    """Return the rows from the first to the last one in a window."""
    if window == (None, None):
        return slice(0, len(recording))
    inside = np.ones(len(recording), dtype=bool)
    for rows in slices_of(len(recording)):
        stamps = recording.stamps[rows]
        if window[0] is not None:
            inside[rows] &= stamps >= window[0]
        if window[1] is not None:
            inside[rows] &= stamps < window[1]
        release(recording.stamps)
    return span_of(inside)


def _median_interval(stamps: FloatArray, rows: IntegerArray) -> float:
    """Return the median interval [s] between some rows and the next ones."""
    intervals = []
    for some in np.array_split(rows, len(stamps) // LARGEST_IN_MEMORY + 1):
        intervals.append(stamps[some + 1] - stamps[some])
        release(stamps)
    return float(np.median(np.concatenate(intervals)))


def _spread_in(recording: Recording, rows: slice, most: int) -> Recording:
    """Return evenly spread parts of some rows of a recording, ends included."""
    size = rows.stop - rows.start
    some = np.arange(rows.start, rows.stop - 1, max(size // max(most, 1), 1))
    if not some.size:
        return recording
    period = _median_interval(recording.stamps, some)
    count = max(round(most * period / PART_DURATION), 1)
    length = most // count
    if length < FEWEST_IN_PARTS or length * count >= size:
        return recording
    firsts = np.linspace(rows.start, rows.stop - length, count) if count > 1 else [rows.start]
    return recording.parts([slice(int(first), int(first) + length) for first in firsts])
