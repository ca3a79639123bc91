# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Further channels of a bag: temperatures, targets of the drives, robot state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray, GrowingArray, IndexArray
from robot_identification.errors import DataError
from robot_identification.model import JointEncoders, plain_encoders
from robot_identification.recording.cdr import group_by_layout, Walker
from robot_identification.recording.joint_names import common_length
from robot_identification.recording.joint_states import (
    DYNAMIC_JOINT_STATE, is_of_rotors, JOINT_STATE, JointColumns, JointTable, Readings,
)
from robot_identification.recording.raw_bag import RawBlock, Topic
from robot_identification.recording.recording import ROTOR_CHANNEL

# NumPy's name of the number in messages that hold nothing else, by type.
_SCALARS = {
    **{
        f'{package}/msg/{name}': kind
        for package in ('std_msgs', 'example_interfaces')
        for name, kind in {
            'Bool': 'u1', 'Int8': 'i1', 'UInt8': 'u1', 'Int16': 'i2', 'UInt16': 'u2',
            'Int32': 'i4', 'UInt32': 'u4', 'Int64': 'i8', 'UInt64': 'u8', 'Float64': 'f8',
            'Float32': 'f4',
        }.items()
    },
    'ur_dashboard_msgs/msg/RobotMode': 'i1',
    'ur_dashboard_msgs/msg/SafetyMode': 'u1',
}
_ARRAYS = ('std_msgs/msg/Float64MultiArray', 'example_interfaces/msg/Float64MultiArray')


@dataclass(frozen=True)
class Source:
    """A topic that a channel may come from."""

    channel: str  # Name of the channel
    ending: str  # How the topic's name ends, after any namespace
    # Whether a message holds one number for each joint: in the effort of named joints, or in an
    # array in kinematic order
    per_joint: bool = False
    scale: float = 1.0  # What to multiply with
    # Whether the sign follows the direction that the driver counts a joint in
    signed: bool = False

    def fits(self, topic: str, kind: str) -> bool:
        """Return whether a topic is one of these."""
        kinds = (JOINT_STATE, *_ARRAYS) if self.per_joint else _SCALARS
        return kind in kinds and f'/{topic}'.endswith(f'/{self.ending}')


# Of several that fit, the first. The UR driver names its topics so, and so does the simulated
# robot; the RTDE publisher and the RTDE reader name theirs after the keys of the protocol.
SOURCES = (
    Source('temperature', 'joint_temperatures', per_joint=True),
    Source('target_current', 'target_current', per_joint=True, signed=True),
    Source('target_torque', 'target_moment', per_joint=True, signed=True),
    Source('actual_current', 'actual_current', per_joint=True, signed=True),
    # In percent, against its documentation.
    Source('speed_scaling', 'speed_scaling_state_broadcaster/speed_scaling', scale=0.01),
    Source('speed_scaling', 'rtde/speed_scaling'),
    Source('safety_mode', 'safety_mode'),
    Source('robot_mode', 'robot_mode'),
    Source('program_running', 'robot_program_running'),
)


def _common_namespace(one: str, other: str) -> int:
    """Return how many parts two names of topics have in common from the front."""
    return common_length([name.strip('/').split('/')[:-1] for name in (one, other)])


def _walk_array(walker: Walker) -> IndexArray:
    """Walk through a Float64MultiArray; its dimensions are not needed."""
    for _ in range(walker.count(12)):
        walker.text()
        walker.length()
        walker.length()
    walker.length()
    return walker.numbers()


class ValueTable:
    """Rows of a topic with one number, or one for each joint, added block by block."""

    def __init__(self, topic: str, kind: str, source: Source, sign: FloatArray) -> None:
        self._topic = topic
        self._kind = _SCALARS.get(kind, 'f8')
        self._source = source
        self._width = len(sign) if source.per_joint else 1
        self._factor = source.scale * (sign if source.signed else np.ones(self._width))
        self._times = GrowingArray(1, np.int64)
        self._rows = GrowingArray(self._width)
        self.seen = {source.channel}
        self.notes: tuple[str, ...] = ()  # what a reader should know of the rows, once finished
        self._other_length = 0  # how many messages had not one number for each joint

    def add(self, block: RawBlock) -> None:
        """Add the messages of a block; raise Damage behind those before a damaged one."""
        groups, damage = group_by_layout(block.payloads, self._walk)
        used = np.zeros(len(block), dtype=bool)
        values = np.empty((len(block), self._width))
        for group in groups:
            if len(group.fields) != self._width:
                self._other_length += len(group.rows)
                continue
            used[group.rows] = True
            values[group.rows] = group.numbers(group.fields, self._kind)
        self._times.append(np.array(block.log_times, dtype=np.int64)[used, None])
        self._rows.append(self._factor * values[used])
        if damage is not None:
            raise damage

    def _walk(self, walker: Walker) -> IndexArray:
        if self._source.per_joint:
            return _walk_array(walker)
        return np.array([walker.number(np.dtype(self._kind).itemsize)])

    def finish(self) -> Readings:
        """Return what was read."""
        if self._other_length:
            self.notes = (
                f'{self._other_length} messages on {self._topic} are left out, they have not one '
                f'value for each of the {self._width} joints',
            )
        values = {self._source.channel: self._rows.finish()}
        return Readings(self._times.finish()[:, 0], None, values)


class ChannelTable:
    """
    Channels on a topic other than that of the joint states, as far as it has any.

    `channels` are their names by the quantity. What is wrong with them does not harm the rest: it
    is noted where `is_noted`, and they are read no further.
    """

    def __init__(
        self, topic: str, rows: ValueTable | JointTable, channels: Mapping[str, str],
        is_noted: bool = True,
    ) -> None:
        self._topic, self._rows, self._channels = topic, rows, channels
        self._is_noted = is_noted
        self._done = False
        self._problem = ''

    def add(self, block: RawBlock) -> None:
        """Add the messages of a block; most robots have none, as the first block shows."""
        if self._done:
            return
        try:
            self._rows.add(block)
        except DataError as error:
            self._done, self._problem = True, str(error)
        self._done |= not self._is_noted and not self._rows.seen

    def finish(self) -> Readings:
        """Return what was read, by the names of the channels."""
        found = self._rows.finish()
        return replace(found, values={
            channel: found.values[quantity] for quantity, channel in self._channels.items()
            if quantity in self._rows.seen
        })

    @property
    def notes(self) -> list[str]:
        """Return what could not be used."""
        if not self._is_noted:
            return []
        found = [*self._rows.notes]
        if self._problem:
            found.append(f'{self._topic} is read no further: {self._problem}')
        elif not self._rows.seen:
            found.append(f'{self._topic} has no value of the joints: left out')
        return [f'{", ".join(self._channels.values())}: {note}' for note in found]


def make_channel_tables(
    topics: Mapping[str, Topic],
    joint_state_topic: str,
    columns: JointColumns,
    encoders: JointEncoders,
) -> tuple[dict[str, ChannelTable], list[str]]:
    """
    Find the topics of a bag that channels come from, and make a table for each.

    Of several arms in one bag, the topics that share most of their namespace with the joint
    states are taken.
    """
    tables: dict[str, ChannelTable] = {}
    notes = []
    wanted = {'temperature', ROTOR_CHANNEL}
    for channel in dict.fromkeys(source.channel for source in SOURCES):
        found = sorted(
            (-_common_namespace(name, joint_state_topic), rank, name)
            for rank, source in enumerate(SOURCES) if source.channel == channel
            for name, topic in topics.items() if topic.count and source.fits(name, topic.kind)
        )
        if found:
            _, rank, chosen = found[0]
            source, kind = SOURCES[rank], topics[chosen].kind
            if kind == JOINT_STATE:
                counted = encoders if source.signed else plain_encoders(len(encoders.sign))
                named = JointTable(kind, columns.anew(), counted, ['effort'])
                tables[chosen] = ChannelTable(chosen, named, {'effort': channel})
            else:
                values = ValueTable(chosen, kind, source, encoders.sign)
                tables[chosen] = ChannelTable(chosen, values, {channel: channel})
            wanted.discard(channel)
        if len(found) > 1:
            others = ', '.join(name for _, _, name in found[1:])
            notes.append(f'{channel} is read from {chosen}, not from {others}')

    def nearest(of_rotors: bool, kind: str) -> str:
        """Return the other topic of joint states nearest to those that are read, if any."""
        found = sorted(
            (-_common_namespace(name, joint_state_topic), name)
            for name, topic in topics.items()
            if topic.kind == kind and topic.count and name != joint_state_topic
            and is_of_rotors(name) == of_rotors
        )
        return found[0][1] if found else ''

    if chosen := nearest(True, JOINT_STATE):
        rotors = JointTable(JOINT_STATE, columns.anew(), encoders, ['position'])
        tables[chosen] = ChannelTable(chosen, rotors, {'position': ROTOR_CHANNEL})
        wanted.discard(ROTOR_CHANNEL)
    other = nearest(False, DYNAMIC_JOINT_STATE)
    if other and wanted:
        names = sorted(wanted)
        states = JointTable(DYNAMIC_JOINT_STATE, columns, encoders, names)
        # Where it matters what is wrong with them, the joint states say so.
        tables[other] = ChannelTable(other, states, dict(zip(names, names, strict=True)), False)
    return tables, notes
