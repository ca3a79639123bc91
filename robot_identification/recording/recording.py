# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recording: the raw joint states of a bag, by joint name, on their own stamps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
import hashlib
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import (
    as_floats, FloatArray, IntegerArray, LARGEST_IN_MEMORY, release, select, slices_of, span_of,
)
from robot_identification.errors import DataError, UsageError
from robot_identification.model import EFFORT_UNITS, RobotModel
from robot_identification.texts import short_repr

# Name of the channel with the angles of the rotors, of a second encoder.
ROTOR_CHANNEL = 'rotor_position'
# Name of the channel with the positions that were commanded.
COMMAND_CHANNEL = 'position_command'
# Length of the parts [s]. Chosen: smoothing and pre-sliding friction need a second or two to
# forget how a part begins.
PART_DURATION = 20.0
# A recording that would have fewer is taken as a whole; chosen, ten seconds at 100 Hz.
FEWEST_IN_PARTS = 1000


@dataclass(frozen=True)
class Completeness:
    """Completeness of a bag."""

    # 'complete', or 'recovered' where the bag is damaged and a part of it was read
    state: Literal['complete', 'recovered'] = 'complete'
    recovered: float = 0.0  # Time between the first and the last joint state that was read [s]
    # How long the bag is by metadata.yaml or by the statistics in its files [s]
    expected: float | None = None
    cause: str = ''  # What is wrong with the bag, and where; empty of a complete one

    def describe(self) -> str:
        """Return what the command line says of a damaged bag; nothing of a complete one."""
        if self.state == 'complete':
            return ''
        # Without a stated length of the bag, only what was read is known.
        expected = max(self.expected or 0.0, self.recovered)
        return f'damaged bag: recovered {self.recovered:.4g} of about {expected:.4g} s'


@dataclass(frozen=True, eq=False)
class Channel:
    """Signal recorded with the joint states, on its own stamps."""

    stamps: FloatArray  # (M,): seconds after the first joint state; negative before it
    values: FloatArray  # (M, k): one column for each joint in kinematic order, or a single one

    def __len__(self) -> int:
        return len(self.stamps)

    def until(self, stop: float) -> Channel:
        """Return the part up to `stop` seconds after the first joint state."""
        keep = self.stamps < stop
        return Channel(self.stamps[keep], select(self.values, keep))


@dataclass(frozen=True, eq=False)
class Recording:
    """
    Raw joint states in the order they were recorded; nothing is filtered or left out.

    The arrays of a long recording are on the disk (`robot_identification.arrays`).

    Attributes
    ----------
    source : str
        The bag, for messages.
    topic : str
        The topic they came from; empty of a table.
    joint_names : tuple of str
        Model names of the n joints, kinematic order; empty where nothing names them.
    stamps : ndarray, shape (N,)
        Seconds after the first joint state.
    q, dq, effort : ndarray, shape (N, n)
        Position [rad], velocity [rad/s; NaN where not recorded], effort [bag's unit; NaN where
        not recorded].
    start : int
        Stamp of the first joint state [ns].
    stamps_from : str
        'header' or, where those are absent or broken, 'log'.
    metadata : mapping of str to str
        What the recorder noted in the bag (robot, effort unit, ...).
    completeness : Completeness
        Whether all of the bag could be read.
    channels : mapping of str to Channel
        Other signals, as far as they were recorded: 'temperature' [deg C],
        'target_current', 'actual_current' [A], 'target_torque' [N m], 'rotor_position' [rad, on
        the joint's side of the gear], 'position_command' [rad] where asked for, of shape (M, n);
        'speed_scaling' [0 to 1], 'safety_mode', 'robot_mode', 'program_running', of shape (M, 1).
    notes : tuple of str
        What a reader should know.
    whole : int, optional
        How many joint states the recording has that these are some parts of; by default these are
        all.
    held : mapping of str to Channel
        Positions [rad or m] of other joints that were asked for, as far as they were recorded.
    assumes_degrees : bool
        Whether the positions are taken for degrees by their size, since nothing states it.
    are_readings : bool
        Whether positions and signs are the driver's, to which the encoders of an arm do not apply
        yet (`for_arm`).

    """

    source: str
    topic: str
    joint_names: tuple[str, ...]
    stamps: FloatArray
    q: FloatArray
    dq: FloatArray
    effort: FloatArray
    start: int = 0
    stamps_from: str = 'header'
    metadata: Mapping[str, str] = field(default_factory=dict)
    completeness: Completeness = field(default_factory=Completeness)
    channels: Mapping[str, Channel] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    whole: int | None = None
    held: Mapping[str, Channel] = field(default_factory=dict)
    assumes_degrees: bool = False
    are_readings: bool = False

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.stamps)

    @classmethod
    def from_arrays(
        cls, stamps: ArrayLike, q: ArrayLike, effort: ArrayLike, *, dq: ArrayLike | None = None,
        unit: str | None = None, joint_names: Sequence[str] = (),
        temperature: ArrayLike | None = None, name: str = 'arrays',
    ) -> Recording:
        """
        Return the recording of measured arrays.

        Parameters
        ----------
        stamps : array_like, shape (N,)
            Times [s], in the order they were recorded.
        q, effort : array_like, shape (N, n)
            Measured positions [rad or m] and effort of the joints.
        dq : array_like, shape (N, n), optional
            Measured velocities [rad/s or m/s].
        unit : str, optional
            Of the effort: 'Nm' (joint torque), 'A' (motor current) or 'Nm-without-gravity'; by
            default that of the robot.
        joint_names : sequence of str, optional
            Names of the columns; by default the joints of the robot in kinematic order.
        temperature : array_like, shape (N, n), optional
            Joint temperatures [deg C].
        name : str
            What messages call the recording.

        Raises
        ------
        UsageError
            If shapes do not fit together, there is no sample, or the unit is not known.

        """
        times = as_floats('stamps', stamps).astype(float)
        given = {'q': q, 'effort': effort, 'dq': dq, 'temperature': temperature}
        arrays = {
            key: as_floats(key, values).astype(float) for key, values in given.items()
            if values is not None
        }
        shape = arrays['q'].shape
        if times.ndim != 1 or not times.size or len(shape) != 2 or len(times) != shape[0]:
            raise UsageError(
                f'stamps and q have the shapes {times.shape} and {shape}, needed are (N,) and '
                '(N, n): N samples of n joints'
            )
        for key, array in arrays.items():
            if array.shape != shape:
                raise UsageError(f'{key} has the shape {array.shape}, needed is {shape}, as q')
        if joint_names and len(joint_names) != shape[1]:
            raise UsageError(f'{len(joint_names)} joint names for {shape[1]} columns of q')
        if not np.all(np.isfinite(times)):
            raise UsageError('stamps must be finite numbers [s]')
        if unit is not None and unit not in EFFORT_UNITS:
            raise UsageError(f'unit is {unit!r}, known are {", ".join(EFFORT_UNITS)}')
        seconds = times - times[0]
        channels = {
            key: Channel(seconds, arrays[key]) for key in ('temperature',) if key in arrays
        }
        return cls(
            source=name, topic='', joint_names=tuple(joint_names), stamps=seconds, q=arrays['q'],
            dq=arrays.get('dq', np.full(shape, np.nan)), effort=arrays['effort'],
            start=round(1e9 * times[0]), metadata={} if unit is None else {'effort_unit': unit},
            channels=channels,
        )

    @cached_property
    def sha256(self) -> str:
        """Return a hash of stamps, positions, velocities and efforts."""
        found = hashlib.sha256()
        for array in (self.stamps, self.q, self.dq, self.effort):
            for rows in slices_of(len(self)):
                found.update(np.ascontiguousarray(array[rows]).tobytes())
                release(array)
        return found.hexdigest()

    def for_arm(self, robot: RobotModel) -> Recording:
        """
        Return the recording with the joints of an arm, in its order and by its signs and zeros.

        Raises DataError if joints are missing, or columns without names are not as many as the
        joints.
        """
        wanted, n = robot.joint_names, self.q.shape[1]
        if self.joint_names == wanted and not self.are_readings:
            return self
        if not self.joint_names and n != robot.n:
            raise DataError(
                f'{self.source} has {n} columns without names, {robot.name} has {robot.n} joints '
                f'({", ".join(wanted)}): name the columns, or leave others out'
            )
        if missing := [name for name in wanted if name not in (self.joint_names or wanted)]:
            raise DataError(
                f'{self.source} has no joint {", ".join(missing)} of {robot.name}; it has '
                f'{", ".join(self.joint_names)}'
            )
        if self.are_readings and not self.topic and 'm' in robot.position_units:
            raise DataError(
                f'{self.source} is a table that was read without an arm, and {robot.name} has '
                'joints that slide, whose columns have other units: give its path, or read it '
                'with joint_names and encoders of the arm'
            )
        order = [(self.joint_names or wanted).index(name) for name in wanted]
        encoders = robot.encoders

        def column(kind: str, values: FloatArray) -> FloatArray:
            chosen = values[:, order]
            if not self.are_readings or kind == 'temperature':
                return chosen
            if kind in ('q', ROTOR_CHANNEL, COMMAND_CHANNEL):
                return encoders.to_model(chosen)
            return encoders.sign * chosen

        held = {
            name: Channel(self.stamps, self.q[:, [column]])
            for column, name in enumerate(self.joint_names) if name in robot.watched_joints
        }
        return replace(
            self, joint_names=wanted, are_readings=False, held={**self.held, **held},
            q=column('q', self.q), dq=column('dq', self.dq), effort=column('effort', self.effort),
            channels={
                kind: replace(channel, values=column(kind, channel.values))
                if channel.values.shape[1] == n and n > 1 else channel
                for kind, channel in self.channels.items()
            },
        )

    @property
    def duration(self) -> float:
        """Time between the first and the last joint state [s]."""
        spans = []
        for rows in slices_of(len(self)):
            some = self.stamps[rows]
            spans.append((some.min(), some.max()))
            release(self.stamps)
        return float(np.ptp(spans)) if spans else 0.0

    @property
    def place(self) -> str:
        """Place of the joint states in the source, for messages."""
        return f'on {self.topic}' if self.topic else 'in its rows'

    def parts(self, chosen: Sequence[slice]) -> Recording:
        """Return some parts, which follow each other as after gaps."""
        stamps, q, dq, effort = (
            np.concatenate(list(_copies(values, chosen)))
            for values in (self.stamps, self.q, self.dq, self.effort)
        )
        return replace(self, stamps=stamps, q=q, dq=dq, effort=effort, whole=len(self))

    def until(self, stop: float | None) -> Recording:
        """Return the part up to `stop` seconds after the first joint state."""
        if stop is None:
            return self
        keep = self.stamps < stop
        return replace(
            self,
            stamps=self.stamps[keep],
            q=select(self.q, keep),
            dq=select(self.dq, keep),
            effort=select(self.effort, keep),
            channels={name: channel.until(stop) for name, channel in self.channels.items()},
        )


def _copies(values: FloatArray, chosen: Sequence[slice]) -> Iterator[FloatArray]:
    """Yield copies of some parts; those of a file need not stay in memory twice."""
    for rows in chosen:
        yield np.array(values[rows])
        release(values)


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
