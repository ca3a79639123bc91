# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Joint states of a bag, found by name in every message, in one row each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import FloatArray, GrowingArray, IndexArray, select
from robot_identification.errors import DataError
from robot_identification.model import JointEncoders
from robot_identification.recording.cdr import group_by_layout, Walker
from robot_identification.recording.joint_names import common_length, recommend_names
from robot_identification.recording.raw_bag import RawBlock

JOINT_STATE = 'sensor_msgs/msg/JointState'
DYNAMIC_JOINT_STATE = 'control_msgs/msg/DynamicJointState'
QUANTITIES = ('position', 'velocity', 'effort', 'temperature', 'rotor_position')
# How the name of a topic ends whose positions are those of rotors.
ROTOR_TOPIC = 'rotor_states'
# The last part of the name of a topic whose joint states hold another quantity; the RTDE reader
# names its topics so.
VALUE_TOPICS = (
    'joint_temperatures', 'target_current', 'target_moment', 'actual_current', 'target_q',
    'target_qd', 'target_qdd', 'actual_q', 'actual_qd', 'joint_control_output',
    'actual_joint_voltage',
)
# Joint states are of two publishers where they take turns at least so often, and for this share of
# the fewer ones; chosen: an effort that a driver lacks for a while begins and ends once.
FEWEST_INTERLEAVED, INTERLEAVED = 5, 0.1


@dataclass(frozen=True, eq=False)
class JointFields:
    """Offsets of the joints' data in a message."""

    stamp: int  # Offset of the header's stamp
    names: tuple[str, ...]  # The m joints
    # shape (m,); of their positions, velocities, .., by quantity; -1 where one is not there
    offsets: Mapping[str, IndexArray]
    nameless: int = 0  # How many positions there are in a message without names


def _walk_header(walker: Walker) -> int:
    stamp = walker.number(4)
    walker.number(4)
    walker.skip_text()
    return stamp


def walk_joint_state(walker: Walker) -> JointFields:
    """Walk through a sensor_msgs/msg/JointState; a list of another length was not recorded."""
    stamp, names = _walk_header(walker), walker.texts()
    found = {quantity: walker.numbers() for quantity in QUANTITIES[:3]}
    return JointFields(
        stamp,
        names,
        {
            quantity: offsets if len(offsets) == len(names) else np.full(len(names), -1)
            for quantity, offsets in found.items()
        },
        0 if names else len(found['position']),
    )


def walk_interfaces(walker: Walker) -> tuple[int, list[tuple[str, dict[str, int]]]]:
    """
    Walk through a control_msgs/msg/DynamicJointState: named interfaces of every joint.

    Return the offset of the stamp, and for each joint its name and the offsets of its interfaces.
    """
    stamp, names = _walk_header(walker), walker.texts()
    joints: list[tuple[str, dict[str, int]]] = [(name, {}) for name in names]
    for joint in range(walker.count(8)):
        interfaces, found = walker.texts(), walker.numbers()
        if joint < len(joints) and len(interfaces) == len(found):
            # Of several of one name the first counts.
            pairs = zip(reversed(interfaces), reversed(found.tolist()), strict=True)
            joints[joint][1].update(pairs)
    return stamp, joints


def walk_dynamic_joint_state(walker: Walker) -> JointFields:
    """Walk through a control_msgs/msg/DynamicJointState as through a joint state."""
    stamp, joints = walk_interfaces(walker)
    return JointFields(stamp, tuple(name for name, _ in joints), {
        quantity: np.array([found.get(quantity, -1) for _, found in joints], dtype=np.intp)
        for quantity in QUANTITIES
    })


JOINT_STATE_WALKS: Mapping[str, Callable[[Walker], JointFields]] = {
    JOINT_STATE: walk_joint_state,
    DYNAMIC_JOINT_STATE: walk_dynamic_joint_state,
}


def is_of_rotors(topic: str) -> bool:
    """Return whether the joint states of a topic are those of rotors, by its name."""
    return topic.endswith(ROTOR_TOPIC)


def is_measured(topic: str) -> bool:
    """Return whether the joint states of a topic are what a driver measures, by its name."""
    return not is_of_rotors(topic) and topic.rpartition('/')[2] not in VALUE_TOPICS


def quantities_of(kind: str) -> tuple[str, ...]:
    """Return what messages of a type can hold."""
    return QUANTITIES if kind == DYNAMIC_JOINT_STATE else QUANTITIES[:3]


def find_prefix(source: str, wanted: Sequence[str], present: Set[str]) -> tuple[str, str]:
    """
    Return what names of joints begin with in a source and not in the model, and the reverse.

    Both are empty where the names are the same, or other ones. Raise DataError where the joints
    of several arms are there.
    """
    if present & set(wanted):
        return '', ''
    prefixes = {
        prefix for name in present if wanted and name.endswith(wanted[0])
        and all((prefix := name.removesuffix(wanted[0])) + one in present for one in wanted)
    }
    if len(prefixes) > 1:
        raise several_arms(source, wanted, prefixes)
    common = wanted[0][:common_length(wanted)] if len(wanted) > 1 else ''
    common = common[:max(common.rfind(separator) for separator in '_/') + 1]
    if prefixes or not {one.removeprefix(common) for one in wanted} <= present:
        common = ''
    return prefixes.pop() if prefixes else '', common


def several_arms(source: str, joints: Sequence[str], prefixes: Collection[str]) -> DataError:
    """Return the error of a source with the joints of several arms."""
    return DataError(
        f'{source} has the joints {", ".join(joints)} with the prefixes '
        f'{", ".join(map(repr, sorted(prefixes)))}: say which arm is meant with --joint-names '
        'BAG=MODEL,..'
    )


def prefix_notes(source: str, prefix: str, lacking: str) -> tuple[str, ...]:
    """Return what a reader should know of names with other begins than those of the model."""
    if prefix:
        return (
            f'{source}: the names of all joints begin with {prefix!r}, which the model does not '
            'have',
        )
    return (
        f'{source}: its names of joints lack {lacking!r}, with which those of the model begin',
    ) if lacking else ()


def check_named(source: str, fields: JointFields, wanted: str) -> None:
    """Raise DataError of a message with values and no names; `wanted` are the joints in words."""
    if fields.nameless:
        raise DataError(
            f'{source}: a message has {fields.nameless} positions and no names, and which of them '
            f'are {wanted} cannot be known: let the driver send names, and record again'
        )


class JointColumns:
    """Finds the joints of the model among the names of a message."""

    def __init__(
        self, source: str, joint_names: Sequence[str], names: Mapping[str, str]
    ) -> None:
        self._source = source
        self.joint_names = tuple(joint_names)
        self._names = names
        own = {model: name for name, model in names.items()}
        self._own = [own.get(joint, joint) for joint in joint_names]  # in the source
        self._found: dict[tuple[str, ...], IndexArray | None] = {}
        # What `find_prefix` returned for the first message that has the joints
        self._prefix: tuple[str, str] | None = None

    def columns(self, fields: JointFields) -> IndexArray | None:
        """Return the places of the joints, None without any; DataError of a part or no names."""
        check_named(self._source, fields, ', '.join(self.joint_names))
        if fields.names not in self._found:
            self._found[fields.names] = self._find(fields.names)
        return self._found[fields.names]

    def places_of(self, fields: JointFields, others: Sequence[str]) -> dict[int, int]:
        """Return where other joints are in a message with those of the model, by their number."""
        models = self._models(fields.names, *self._prefix or ('', ''))
        return {number: models.index(name) for number, name in enumerate(others) if name in models}

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know of the names."""
        return prefix_notes(self._source, *self._prefix or ('', ''))

    def anew(self) -> JointColumns:
        """Return one for another topic, which has its own prefix."""
        return JointColumns(self._source, self.joint_names, self._names)

    def check_found(self) -> None:
        """Raise DataError if all messages were of other joints."""
        if self._prefix is None:
            raise self._missing(next(iter(self._found), ()), set())

    def _models(self, names: Sequence[str], prefix: str, lacking: str) -> list[str]:
        """Return names of a source as the model has them."""
        own = [lacking + name.removeprefix(prefix) for name in names]
        return [self._names.get(name, name) for name in own]

    def _find(self, names: tuple[str, ...]) -> IndexArray | None:
        found = find_prefix(self._source, self._own, set(names))
        models = self._models(names, *found)
        if not set(self.joint_names) & set(models):
            # A gripper that publishes on the same topic, or another arm.
            return None
        if self._prefix not in (None, found):
            if self._prefix == ('', ''):
                return None
            raise several_arms(self._source, self.joint_names, {self._prefix[0], found[0]})
        self._prefix = found
        if not set(self.joint_names) <= set(models):
            raise self._missing(names, set(models))
        return np.array([models.index(name) for name in self.joint_names])

    def _missing(self, names: Sequence[str], present: set[str]) -> DataError:
        absent = [name for name in self.joint_names if name not in present]
        recommended = recommend_names(names, self.joint_names, self._names)
        return DataError(
            f'{self._source} lacks the joint{"s" if len(absent) > 1 else ""} {", ".join(absent)} '
            f'of the model; a message names {", ".join(names) or "no joint"}, the model has '
            f'{", ".join(self.joint_names)}: choose joints with --joints, or say which is which '
            'with --joint-names BAG=MODEL,..'
            + (f'; if the names mean the same joints, add {recommended}' if recommended else '')
        )


def to_model(quantity: str, readings: FloatArray, encoders: JointEncoders) -> FloatArray:
    """Return readings of a quantity, of a bag or a table, as the model counts them."""
    if quantity in ('position', 'q', 'rotor_position'):
        return encoders.to_model(readings)
    return readings if quantity == 'temperature' else encoders.sign * readings


@dataclass(frozen=True, eq=False)
class Readings:
    """Rows that were read of a topic."""

    log_times: NDArray[np.int64]  # shape (N,); when the messages were recorded [ns]
    stamps: NDArray[np.int64] | None  # shape (N,); header stamps [ns]; None of messages without
    values: Mapping[str, FloatArray]  # by quantity; (N, k): a column a joint, or a single one

    def times(self, *, by_header: bool) -> NDArray[np.int64]:
        """Return the header stamps, or the log times where those are not wanted or not there."""
        return self.log_times if self.stamps is None or not by_header else self.stamps


class JointTable:
    """Rows of joint states, added block by block."""

    def __init__(
        self,
        kind: str,
        columns: JointColumns,
        encoders: JointEncoders,
        quantities: Sequence[str],
        others: Collection[str] = (),
    ) -> None:
        self._walk = JOINT_STATE_WALKS[kind]
        self._columns = columns
        self._encoders = encoders
        self._n = len(encoders.sign)
        self._log_times = GrowingArray(1, np.int64)
        self._stamps = GrowingArray(1, np.int64)
        self.seen: set[str] = set()  # Those of which there was a value
        self._others = tuple(others)
        self._held = GrowingArray(len(self._others))
        # Positions (N, 1) of those of the others that were there, once finished
        self.held: dict[str, FloatArray] = {}
        self._arrays = {quantity: GrowingArray(self._n) for quantity in quantities}
        # Which of its position, velocity and effort each row has any value of, as bits; the last
        # bit is of one that is not zero.
        self._states = [quantity for quantity in QUANTITIES[:3] if quantity in quantities]
        self._present = GrowingArray(1, np.uint8)
        self.notes: tuple[str, ...] = ()  # What a reader should know of the rows, once finished

    def add(self, block: RawBlock) -> None:
        """
        Add the joint states of a block.

        Raise Damage if a message is damaged; those before it are added. Raise DataError if joints
        are missing from a message before it.
        """
        groups, damage = group_by_layout(block.payloads, self._walk)
        count = len(block)
        used = np.zeros(count, dtype=bool)
        stamps = np.empty(count, dtype=np.int64)
        values = {quantity: np.full((count, self._n), np.nan) for quantity in self._arrays}
        held = np.full((count, len(self._others)), np.nan)
        for group in groups:
            columns = self._columns.columns(group.fields) if len(group.rows) else None
            if columns is None:
                continue
            used[group.rows] = True
            stamps[group.rows] = group.stamps(group.fields.stamp)
            for quantity, rows in values.items():
                rows[group.rows] = group.numbers(group.fields.offsets[quantity][columns])
            for column, place in self._columns.places_of(group.fields, self._others).items():
                offset = group.fields.offsets['position'][[place]]
                held[group.rows, column] = group.numbers(offset)[:, 0]
        self._log_times.append(np.array(block.log_times, dtype=np.int64)[used, None])
        self._stamps.append(stamps[used, None])
        self._held.append(held[used])
        present = np.zeros((int(np.count_nonzero(used)), 1), dtype=np.uint8)
        for bit, quantity in enumerate(self._states):
            # An infinite value is damaged, and not missing.
            has_any = (~np.isnan(values[quantity][used])).any(axis=1, keepdims=True)
            present |= has_any.astype(np.uint8) << np.uint8(bit)
            is_some = np.nan_to_num(values[quantity][used]).any(axis=1, keepdims=True)
            present |= is_some.astype(np.uint8) << np.uint8(len(self._states))
        self._present.append(present)
        for quantity, array in self._arrays.items():
            rows = values[quantity] if used.all() else values[quantity][used]
            array.append(to_model(quantity, rows, self._encoders))
            if np.isfinite(rows).any():
                self.seen.add(quantity)
        if damage is not None:
            raise damage

    def finish(self) -> Readings:
        """
        Return what was read.

        Joint states that lack a quantity or are zero, one by one between others that are not, are
        those of a second publisher with a state of its own: they are left out.
        """
        found = [self._log_times.finish()[:, 0], self._stamps.finish()[:, 0]]
        values = {quantity: array.finish() for quantity, array in self._arrays.items()}
        held, present = self._held.finish(), self._present.finish()[:, 0]
        whole = present == np.bitwise_or.reduce(present, initial=0)
        changes = np.count_nonzero(whole[1:] != whole[:-1]) / 2.0
        few = min(np.count_nonzero(whole), np.count_nonzero(~whole))
        if changes >= max(FEWEST_INTERLEAVED, INTERLEAVED * few):
            lacking = np.bitwise_or.reduce(~present[~whole]) & np.bitwise_or.reduce(present)
            words = [*(f'have no {name}' for name in self._states), 'are zero']
            kinds = [word for bit, word in enumerate(words) if lacking >> bit & 1]
            self.notes = (
                f'{np.count_nonzero(~whole)} of {len(whole)} joint states {" or ".join(kinds)}, '
                'unlike those between which they come, as of a second publisher on the topic: '
                'they are left out',
            )
            found = [select(array, whole) for array in found]
            values = {quantity: select(array, whole) for quantity, array in values.items()}
            held = select(held, whole)
        self.held = {
            name: held[:, [column]] for column, name in enumerate(self._others)
            if np.isfinite(held[:, column]).any()
        }
        return Readings(found[0], found[1], values)
