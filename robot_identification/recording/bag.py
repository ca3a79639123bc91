# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Read bags: rosbag2 files, whole or damaged, and tables.

Nothing but our own errors comes out of here. What can be read of a damaged bag is read, and its
recording says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import allocate, FloatArray, LARGEST_IN_MEMORY, release, slices_of
from robot_identification.errors import BagError, DataError, UsageError
from robot_identification.files import AnyPath
from robot_identification.model import JointEncoders, plain_encoders
from robot_identification.recording.bag_files import BagFiles, open_bag
from robot_identification.recording.bag_parts import find_split, merge_parts, Part
from robot_identification.recording.cdr import group_by_layout
from robot_identification.recording.channels import make_channel_tables
from robot_identification.recording.joint_states import (
    check_named, DYNAMIC_JOINT_STATE, is_measured, JOINT_STATE, JOINT_STATE_WALKS, JointColumns,
    JointTable, quantities_of, Readings,
)
from robot_identification.recording.raw_bag import Damage
from robot_identification.recording.recording import (
    Channel, Completeness, Recording, ROTOR_CHANNEL,
)
from robot_identification.recording.tables import (
    is_table, read_table, table_joint_names, TABLE_SUFFIXES,
)

# Messages of one publisher may overtake each other by this much [ns]; a clock jumps by more.
LARGEST_DISORDER = 1_000_000_000

IntegerTimes = NDArray[np.int64]


def find_joint_names(
    path: Path, *, topic: str | None = None, mapping: Path | None = None
) -> tuple[str, ...]:
    """
    Return the names of all joints in the first joint state with names of a bag or table.

    Arguments are as in `read_recording`. Raises UsageError if there is no such bag, BagError if it
    cannot be read or has no joint states, DataError if those before have values and no names.
    """
    if is_table(path):
        return table_joint_names(path, mapping)
    with open_bag(path) as bag:
        chosen = _choose_topic(bag, topic)
        walk, damage = JOINT_STATE_WALKS[bag.topics[chosen].kind], None
        with suppress(Damage):
            for block in bag.blocks([chosen]):
                groups, damage = group_by_layout(block.payloads, walk)
                for group in groups:
                    check_named(str(path), group.fields, 'the joints of the arm')
                    if group.fields.names:
                        return group.fields.names
        raise BagError(f'{path}: no message on {chosen} can be read: {damage or _cause(bag)}')


def _choose_topic(bag: BagFiles, topic: str | None) -> str:
    """Return the topic asked for, /joint_states, or the only one of joint states."""
    path, topics = bag.path, bag.topics
    if not any(found.count for found in topics.values()):
        raise BagError(f'{path} holds no message: the recording is empty{_cause(bag)}')
    candidates = [
        name for name, found in topics.items()
        if found.kind == JOINT_STATE and (name == topic or is_measured(name))
    ]
    others = [name for name, found in topics.items() if found.kind == DYNAMIC_JOINT_STATE]
    chosen = topic or ('/joint_states' if '/joint_states' in candidates else None)
    if chosen is None and len(candidates or others) == 1:
        chosen = (candidates or others)[0]
    if chosen not in (*candidates, *others):
        listing = ', '.join(f'{name} ({found.kind})' for name, found in sorted(topics.items()))
        wanted = f'no topic {chosen} of joint states' if chosen else 'no topic of joint states'
        raise BagError(
            f'{path} has {wanted}; it has {listing}: name one with --topic{_cause(bag)}'
        )
    if not topics[chosen].count:
        raise BagError(f'{path}: the topic {chosen} holds no message{_cause(bag)}')
    return chosen


def _cause(bag: BagFiles) -> str:
    """Return in words what is wrong with a bag, to put at the end of an error."""
    try:
        for _ in bag.blocks(()):
            pass
    except Damage as damage:
        return f' (it is damaged: {damage})'
    return ''


def read_recording(
    path: AnyPath,
    joint_names: Sequence[str] | None = None,
    *,
    topic: str | None = None,
    names: Mapping[str, str] | None = None,
    encoders: JointEncoders | None = None,
    mapping: AnyPath | None = None,
    others: Collection[str] = (),
) -> Recording:
    """
    Read the joint states of a bag, every message by joint name, and the other channels recorded.

    Of a damaged bag the part before the damage is read.

    Parameters
    ----------
    path : str or Path
        A rosbag2 folder, its .mcap or .db3 file, or a table: text (.csv, .tsv, .txt, ..), Parquet,
        a LeRobot dataset, MAT or NPZ.
    joint_names : sequence of str, optional
        Model names of the n joints, kinematic order; by default all that are recorded, in their
        order and with the driver's signs and zeros, of which `Recording.for_arm` makes an arm's.
    topic : str, optional
        By default /joint_states, or the only joint-state topic there is, or all those that have
        the arm's joints together; several are separated by commas.
    names : mapping, optional
        Model name by bag name, where they differ. A prefix that all of the bag's names have in
        common is found without.
    encoders : JointEncoders, optional
        How the driver's readings relate to the model; by default they are the model's.
    mapping : str or Path, optional
        What the columns of a table are (docs/formats/mapping.md); by default the file
        `<table>.yaml` next to it, else they are recognized.
    others : collection of str, optional
        Model names of joints of which only positions are wanted, if they are there (`held`).

    Raises
    ------
    UsageError
        If there is no such bag, or a mapping is given for a bag that is no table.
    BagError
        If it cannot be read or has no joint states.
    DataError
        If joints are missing from it.

    """
    path, mapping = Path(path), None if mapping is None else Path(mapping)
    if joint_names is None:
        recorded = find_joint_names(path, topic=topic, mapping=mapping)
        found = read_recording(
            path, tuple((names or {}).get(name, name) for name in recorded), topic=topic,
            names=names, mapping=mapping,
        )
        return replace(found, are_readings=True)
    encoders = plain_encoders(len(joint_names)) if encoders is None else encoders
    if is_table(path):
        return read_table(path, joint_names, names or {}, encoders, mapping, others)
    if mapping is not None:
        raise UsageError(
            f'{mapping} is for tables, and {path} is none: it ends in none of '
            f'{", ".join(TABLE_SUFFIXES)}'
        )
    named = tuple(topic.split(',')) if topic else ()
    arm = _Arm(tuple(joint_names), encoders, others)
    with open_bag(path) as bag:
        error = None
        # Several topics are parts of the arm; of one, and of none, that is looked at later.
        if len(named) < 2:
            every = tuple(range(len(joint_names)))
            try:
                part = Part(_choose_topic(bag, topic), every, names or {})
                return _Reading(bag, (part,), (), arm).run()
            except DataError as caught:
                error = caught
        else:
            for one in named:
                _choose_topic(bag, one)
        split = None
        with suppress(Damage):
            split = find_split(bag, named, joint_names, names or {})
        if split is None:
            raise error or DataError(
                f'{path}: the joints {", ".join(joint_names)} are not all on {", ".join(named)}, '
                'each once: name other topics with --topic A,B'
            )
        return _Reading(bag, *split, arm).run()


@dataclass(frozen=True, eq=False)
class _Arm:
    """Joints of the model, how the driver reads them, and others whose positions are wanted."""

    joint_names: tuple[str, ...]
    encoders: JointEncoders
    others: Collection[str]

    def encoders_of(self, joints: tuple[int, ...]) -> JointEncoders:
        places = list(joints)
        slides = self.encoders.slides
        return JointEncoders(
            self.encoders.sign[places], self.encoders.zero[places],
            None if slides is None else slides[places],
        )


class _Reading:
    """One pass over a bag: blocks in, recording out."""

    def __init__(
        self, bag: BagFiles, parts: Sequence[Part], notes: Sequence[str], arm: _Arm
    ) -> None:
        self._bag, self._parts, self._arm = bag, parts, arm
        self._columns = [
            JointColumns(str(bag.path), [arm.joint_names[k] for k in part.joints], part.names)
            for part in parts
        ]
        kinds = [bag.topics[part.topic].kind for part in parts]
        quantities = [name for name in quantities_of(kinds[0])
                      if all(name in quantities_of(kind) for kind in kinds)]
        self._tables = [
            JointTable(kind, columns, arm.encoders_of(part.joints), quantities, arm.others)
            for kind, columns, part in zip(kinds, self._columns, parts, strict=True)
        ]
        names = parts[0].names
        self._topic = parts[0].topic
        self._split_notes = notes
        self._channels, self._notes = make_channel_tables(
            bag.topics, self._topic, JointColumns(str(bag.path), arm.joint_names, names),
            arm.encoders,
        )

    def run(self) -> Recording:
        """Return the recording of the messages."""
        damage = self._read_blocks()
        found = [table.finish() for table in self._tables]
        for one, part, columns in zip(found, self._parts, self._columns, strict=True):
            if not len(one.log_times):
                if damage is not None:
                    raise BagError(
                        f'{self._bag.path}: no message on {part.topic} can be read: {damage}'
                    )
                columns.check_found()
        by_header = not any(_are_broken(one.times(by_header=True)) for one in found)
        log_times, times, values = self._merge(found, by_header)
        recording = Recording(
            source=str(self._bag.path),
            topic=','.join(dict.fromkeys(part.topic for part in self._parts)),
            joint_names=self._arm.joint_names,
            stamps=_seconds_after(times, times[0]),
            q=values['position'],
            dq=values['velocity'],
            effort=values['effort'],
            start=int(times[0]),
            stamps_from='header' if by_header else 'log',
            metadata=self._bag.metadata,
            channels=self._make_channels(log_times, times, by_header, values),
            notes=self._make_notes(),
            held={
                name: Channel(_seconds_after(one.times(by_header=by_header), times[0]), positions)
                for table, one in zip(self._tables, found, strict=True)
                for name, positions in table.held.items()
            },
        )
        expected, duration = self._bag.expected, recording.duration
        return replace(recording, completeness=(
            Completeness('complete', duration, expected)
            if damage is None
            else Completeness('recovered', duration, expected, str(damage))
        ))

    def _merge(
        self, found: Sequence[Readings], by_header: bool
    ) -> tuple[IntegerTimes, IntegerTimes, Mapping[str, FloatArray]]:
        """Return log times, times and values of all joints."""
        times = [one.times(by_header=by_header) for one in found]
        if len(found) == 1:
            return found[0].log_times, times[0], found[0].values
        base = max(range(len(times)), key=lambda k: len(times[k]))
        kept, values = merge_parts(
            [part.joints for part in self._parts], times, [one.values for one in found], base
        )
        if not len(kept):
            raise DataError(
                f'{self._bag.path}: the parts of the arm were not recorded at the same time: '
                f'{"; ".join(self._split_notes)}'
            )
        return found[base].log_times[kept], times[base][kept], values

    def _read_blocks(self) -> Damage | None:
        try:
            topics = {part.topic for part in self._parts}
            for block in self._bag.blocks({*topics, *self._channels}):
                for part, table in zip(self._parts, self._tables, strict=True):
                    if block.topic == part.topic:
                        table.add(block)
                if block.topic not in topics:
                    self._channels[block.topic].add(block)
        except Damage as damage:
            return damage
        return None

    def _make_channels(
        self,
        log_times: IntegerTimes,
        times: IntegerTimes,
        by_header: bool,
        values: Mapping[str, FloatArray],
    ) -> dict[str, Channel]:
        """
        Return the channels in the time base of the rows.

        Where that is the header stamps, messages without get the usual difference between both.
        """
        offsets = _some_of(times) - _some_of(log_times)
        offset = int(np.partition(offsets, len(offsets) // 2)[len(offsets) // 2])
        channels: dict[str, Channel] = {}
        for table in self._channels.values():
            found = table.finish()
            if not len(found.log_times):
                continue
            stamps = (
                _seconds_after(found.stamps, times[0])
                if by_header and found.stamps is not None and not _are_broken(found.stamps)
                else _seconds_after(found.log_times, times[0] - offset)
            )
            channels |= {name: Channel(stamps, rows) for name, rows in found.values.items()}
        for channel in ('temperature', ROTOR_CHANNEL):
            if any(channel in table.seen for table in self._tables):
                channels[channel] = Channel(_seconds_after(times, times[0]), values[channel])
        return channels

    def _make_notes(self) -> tuple[str, ...]:
        tables = self._channels.values()
        return (
            *self._split_notes, *(note for columns in self._columns for note in columns.notes),
            *(f'{self._bag.path}: {note}' for table in self._tables for note in table.notes),
            *self._notes, *(note for table in tables for note in table.notes),
        )


def _are_broken(stamps: IntegerTimes) -> bool:
    """
    Return whether header stamps, shape (N,) [ns], cannot serve as the time base.

    A stamp of zero means that it was not set, but a simulated clock may start there. Neighbours
    may come out of order; a clock that was set back by more than that, or stands still, is broken.
    """
    zeros = still = 0
    deepest = 0
    for rows in slices_of(len(stamps)):
        some = np.asarray(stamps[rows.start: rows.stop + 1])
        zeros += int(np.count_nonzero(some[: rows.stop - rows.start] == 0))
        steps = np.diff(some)
        still += int(np.count_nonzero(steps == 0))
        deepest = min(deepest, int(steps.min(initial=0)))
        release(stamps)
    return zeros > 1 or still > 0.5 * max(len(stamps) - 1, 1) or deepest < -LARGEST_DISORDER


def _some_of(times: IntegerTimes) -> IntegerTimes:
    """Return every k-th of some times (N,), all where they are not too many."""
    step, found = len(times) // LARGEST_IN_MEMORY + 1, []
    for rows in slices_of(len(times)):
        found.append(np.array(times[rows.start + -rows.start % step: rows.stop: step]))
        release(times)
    return np.concatenate(found)


def _seconds_after(times: IntegerTimes, first: np.int64) -> FloatArray:
    """Return times, shape (N,) [ns], in seconds after the first."""
    seconds = allocate(times.shape)
    for rows in slices_of(len(times)):
        seconds[rows] = (times[rows] - first) * 1e-9
        release(times)
        release(seconds)
    return seconds
