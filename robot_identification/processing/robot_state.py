# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""State of the arm in a bag: joint temperatures, speed scaling and safety stops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import allocate, BoolArray, FloatArray, select
from robot_identification.processing.blocks import mask_where, row_blocks, rows_where
from robot_identification.recording import Channel

# A slider that is read as 99.5 % is at 100 %.
FULL_SPEED = 0.99
# What a driver says before the first message of a state is taken from that, if it is not later.
FIRST_MESSAGE = 1.0
# Intervals of a reason that are named one by one.
MOST_NAMED = 5
SAFE_MODES = (1, 2)  # those in which an arm may move: NORMAL and REDUCED
# As ur_dashboard_msgs/msg/SafetyMode numbers them.
SAFETY_MODES: Mapping[int, str] = {
    1: 'NORMAL',
    2: 'REDUCED',
    3: 'PROTECTIVE_STOP',
    4: 'RECOVERY',
    5: 'SAFEGUARD_STOP',
    6: 'SYSTEM_EMERGENCY_STOP',
    7: 'ROBOT_EMERGENCY_STOP',
    8: 'VIOLATION',
    9: 'FAULT',
    10: 'VALIDATE_JOINT_ID',
    11: 'UNDEFINED_SAFETY_MODE',
    12: 'AUTOMATIC_MODE_SAFEGUARD_STOP',
    13: 'SYSTEM_THREE_POSITION_ENABLING_STOP',
}


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Samples that are not usable, with the reason."""

    reason: str  # Key of `Dataset.excluded`
    rows: BoolArray  # shape (N,); the samples
    note: str  # When, and what the robot reported
    is_slowed: bool = False  # Whether it moved all the same, more slowly than planned


def joint_temperatures(
    channels: Mapping[str, Channel], stamps: FloatArray, joints: int
) -> tuple[FloatArray | None, str]:
    """
    Return joint temperatures (N, n) on the stamps [deg C], and what is wrong with them.

    Between readings they are interpolated, before the first and after the last one held. A joint
    without a reading has NaN; None without any.
    """
    channel = channels.get('temperature')
    if channel is None or not len(channel.stamps):
        return None, ''
    if channel.values.shape[1] != joints:
        return None, (
            f'temperatures of {channel.values.shape[1]} joints were recorded, the arm has '
            f'{joints}: they are left out'
        )
    channel = _in_order(channel)
    temperature = allocate((len(stamps), joints))
    for joint, column in enumerate(channel.values.T):
        def is_read(rows: slice, column: FloatArray = column) -> BoolArray:
            return np.isfinite(column[rows])

        read = mask_where(len(column), is_read, column)
        times, values = select(channel.stamps, read), select(column, read)
        for block in row_blocks(len(stamps), stamps, temperature, times, values):
            temperature[block, joint] = _interpolate(stamps[block], times, values)
    return temperature, ''


def _interpolate(stamps: FloatArray, times: FloatArray, values: FloatArray) -> FloatArray:
    """Return values, shape (M,) at times in order, at the stamps (N,); NaN without any value."""
    if not len(times):
        return np.full(len(stamps), np.nan)
    first, last = stamps.min(), stamps.max()
    # Of a long channel only the part around the stamps is read.
    near = slice(
        max(int(np.searchsorted(times, first, side='right')) - 1, 0),
        int(np.searchsorted(times, last)) + 1,
    )
    return np.interp(stamps, times[near], values[near])


def _in_order(channel: Channel) -> Channel:
    """Return a channel in the order of its stamps, as nearly all are recorded."""
    if all(
        np.all(np.diff(channel.stamps[rows.start: rows.stop + 1]) >= 0.0)
        for rows in row_blocks(len(channel), channel.stamps)
    ):
        return channel
    order = np.argsort(channel.stamps, kind='stable')
    order = order[: int(np.count_nonzero(np.isfinite(channel.stamps)))]
    return Channel(channel.stamps[order], channel.values[order])


def temperatures_so_far(
    channels: Mapping[str, Channel], stamps: FloatArray, joints: int
) -> FloatArray | None:
    """
    Return the last joint temperatures (N, n) known at each stamp [deg C].

    NaN before the first reading of a joint; None without temperatures of all joints. Unlike
    `joint_temperatures`, which has the same arguments, it does not interpolate.
    """
    channel = channels.get('temperature')
    if channel is None or channel.values.shape[1] != joints:
        return None
    return np.column_stack([
        _LastKnown(Channel(channel.stamps, values[:, None]), stamps[0]).at(stamps)
        for values in channel.values.T
    ])


def find_exclusions(
    channels: Mapping[str, Channel], stamps: FloatArray
) -> tuple[Exclusion, ...]:
    """Return the samples at which the robot was slowed down or stopped."""
    found = []
    scaling, mode = (
        None if name not in channels else _LastKnown(channels[name], stamps[0])
        for name in ('speed_scaling', 'safety_mode')
    )
    slow: BoolArray = allocate((len(stamps),), bool)
    stopped: BoolArray = allocate((len(stamps),), bool)
    slowest, modes = np.inf, set[float]()
    for block in row_blocks(len(stamps), stamps, slow, stopped):
        # A comparison with NaN, where nothing is known, is false.
        if scaling is not None:
            now = scaling.at(stamps[block])
            slow[block] = now < FULL_SPEED
            slowest = min(slowest, now[slow[block]].min(initial=np.inf))
        if mode is not None:
            now = mode.at(stamps[block])
            stopped[block] = np.isfinite(now) & ~np.isin(now, SAFE_MODES)
            modes.update(now[stopped[block]].tolist())
    if slowest < np.inf:
        found.append(Exclusion(
            'at reduced speed scaling (neither scored nor fitted)',
            slow,
            f'speed scaling was below {FULL_SPEED:.0%}, down to {slowest:.0%}, '
            f'{_times(stamps, slow)}: left out',
            is_slowed=True,
        ))
    if modes:
        listing = ', '.join(
            f'{int(value)} {SAFETY_MODES.get(int(value), "unknown")}' for value in sorted(modes)
        )
        found.append(Exclusion(
            'in a safety stop (neither scored nor fitted)',
            stopped,
            f'the safety mode was {listing} {_times(stamps, stopped)}: left out',
        ))
    return tuple(found)


class _LastKnown:
    """The last value of a channel (M, 1) that is known at any time."""

    def __init__(self, channel: Channel, first: float) -> None:
        self._times, self._values = _changes(_in_order(channel))
        if len(self._times) and self._times[0] <= first + FIRST_MESSAGE:
            self._times = np.append(min(self._times[0], first), self._times[1:])

    def at(self, stamps: FloatArray) -> FloatArray:
        """Return the value at every stamp, NaN before the first."""
        held = np.full(len(stamps), np.nan)
        last = np.searchsorted(self._times, stamps, side='right') - 1
        known = last >= 0
        held[known] = self._values[last[known]]
        return held


def _changes(channel: Channel) -> tuple[FloatArray, FloatArray]:
    """Return when a channel (M, 1) in order of time takes another value, and those values."""
    times, values = [np.zeros(0)], [np.zeros(0)]
    before = np.nan
    for rows in row_blocks(len(channel), channel.stamps, channel.values):
        value = np.array(channel.values[rows, 0])
        received = np.flatnonzero(np.isfinite(value))
        changed = received[np.diff(value[received], prepend=before) != 0.0]
        times.append(channel.stamps[rows][changed])
        values.append(value[changed])
        before = values[-1][-1] if len(changed) else before
    return np.concatenate(times), np.concatenate(values)


def _times(stamps: FloatArray, rows: BoolArray) -> str:
    """Return in words from when to when."""
    changes = 1 + rows_where(
        len(rows) - 1, lambda block: rows[block] != rows[block.start + 1: block.stop + 1], rows
    )
    edges = [*([0] if rows[0] else []), *changes, *([len(rows)] if rows[-1] else [])]
    intervals = [
        f'from {stamps[first]:.2f} s to {stamps[last - 1]:.2f} s'
        for first, last in zip(edges[::2], edges[1::2], strict=True)
    ]
    more = len(intervals) - MOST_NAMED
    return ', '.join(intervals[:MOST_NAMED]) + (f' and {more} times more' if more > 0 else '')
