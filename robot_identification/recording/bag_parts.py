# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Arms whose joints are on several topics or messages of a bag, or have other names there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import allocate, BoolArray, FloatArray
from robot_identification.recording.bag_files import BagFiles
from robot_identification.recording.cdr import group_by_layout
from robot_identification.recording.joint_states import (
    find_prefix, is_measured, JOINT_STATE, JOINT_STATE_WALKS, prefix_notes,
)
from robot_identification.recording.raw_bag import Damage

# Nothing is interpolated over a longer pause of a part, in its periods; as in the processing.
_LONGEST_PAUSE = 3.5


@dataclass(frozen=True)
class Part:
    """A part of an arm's joints, on one topic."""

    topic: str
    joints: tuple[int, ...]  # Places in the order of the model
    names: Mapping[str, str] = field(default_factory=dict)  # Model name by that of the bag


def find_split(
    bag: BagFiles, topics: Sequence[str], joint_names: Sequence[str], names: Mapping[str, str]
) -> tuple[tuple[Part, ...], tuple[str, ...]] | None:
    """
    Return the parts of an arm on several topics or messages, or by other names, and notes.

    `topics` are those that the user named; none means all of joint states. None is returned where
    the joints are not all there, or in several places. Raise DataError where those of two arms
    are there and it cannot be known which is meant.
    """
    layouts = _layouts(bag, topics)
    own = {joint: next((bag_name for bag_name, model in names.items() if model == joint), joint)
           for joint in joint_names}
    wanted = [own[joint] for joint in joint_names]
    present = {name for _, found in layouts for name in found}
    prefix, lacking = find_prefix(str(bag.path), wanted, present)
    if prefix or lacking:
        names = {prefix + one.removeprefix(lacking): joint
                 for one, joint in zip(wanted, joint_names, strict=True)}
    parts = _cover(layouts, joint_names, names)
    if parts is None:
        return None
    return parts, (
        *prefix_notes(str(bag.path), prefix, lacking), *_describe(bag, parts, joint_names),
    )


def _layouts(bag: BagFiles, topics: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return the names of joints that come together, with their topic, from its first block."""
    found = []
    for topic, content in bag.topics.items():
        if topic not in topics if topics else not (
            content.kind == JOINT_STATE and is_measured(topic)
        ):
            continue
        if content.kind not in JOINT_STATE_WALKS:
            continue
        with suppress(Damage):
            for block in bag.blocks([topic]):
                groups, _ = group_by_layout(block.payloads, JOINT_STATE_WALKS[content.kind])
                found += [(topic, names) for names in dict.fromkeys(
                    group.fields.names for group in groups
                )]
                break
    return found


def _cover(
    layouts: Sequence[tuple[str, tuple[str, ...]]], joint_names: Sequence[str],
    names: Mapping[str, str],
) -> tuple[Part, ...] | None:
    """Return parts with every joint once, the largest first; None if there are none or several."""
    places = {joint: k for k, joint in enumerate(joint_names)}
    offers: dict[tuple[str, tuple[int, ...]], None] = {}
    for topic, found in layouts:
        joints = tuple(sorted(
            places[model] for name in found if (model := names.get(name, name)) in places
        ))
        if joints:
            offers[topic, joints] = None
    left, parts = set(places.values()), []
    for topic, joints in sorted(offers, key=lambda one: (-len(one[1]), one)):
        rivals = [other for other in offers if other != (topic, joints)
                  and set(other[1]) & set(joints)]
        if left and set(joints) <= left:
            if any(set(other) >= set(joints) for _, other in rivals):
                return None
            parts.append(Part(topic, joints, names))
            left -= set(joints)
    return tuple(parts) if not left else None


def _describe(bag: BagFiles, parts: Sequence[Part], joint_names: Sequence[str]) -> list[str]:
    if len(parts) < 2:
        return []
    listing = '; '.join(
        f'{", ".join(joint_names[k] for k in part.joints)} from {part.topic}' for part in parts
    )
    return [
        f'{bag.path} has the joints in {len(parts)} parts, {listing}: all are interpolated to the '
        'stamps of one'
    ]


def merge_parts(
    joints: Sequence[tuple[int, ...]], times: Sequence[NDArray[np.int64]],
    values: Sequence[Mapping[str, FloatArray]], base: int,
) -> tuple[NDArray[np.intp], dict[str, FloatArray]]:
    """
    Return the rows of all joints at the stamps of one of the parts, `base`, by quantity.

    By part, `joints` are places in the model, `times` (N,) are in ns, and `values` have a column
    for each of the joints. Also returned are the rows of `base` that are kept: those to which all
    others have neighbours near enough.
    """
    others = [k for k in range(len(times)) if k != base]
    near: BoolArray = np.ones(len(times[base]), dtype=bool)
    for k in others:
        near &= _has_neighbors(times[base], np.sort(times[k]))
    kept = np.flatnonzero(near)
    merged = {name: allocate((len(kept), sum(map(len, joints)))) for name in values[base]}
    for name, rows in merged.items():
        rows[:, joints[base]] = values[base][name][kept]
    # Nanoseconds since 1970 have more digits than a number holds.
    first = times[base][kept[0]] if len(kept) else np.int64(0)
    wanted = (times[base][kept] - first) * 1e-9
    for k in others:
        order = np.argsort(times[k], kind='stable')
        known = (times[k][order] - first) * 1e-9
        for name, rows in merged.items():
            for column, joint in enumerate(joints[k]):
                rows[:, joint] = np.interp(wanted, known, values[k][name][order, column])
    return kept, merged


def _has_neighbors(times: NDArray[np.int64], others: NDArray[np.int64]) -> BoolArray:
    """Return which times lie between two others that are no pause apart."""
    if len(others) < 2:
        return np.zeros(len(times), dtype=bool)
    longest = _LONGEST_PAUSE * float(np.median(np.diff(others)))
    after = np.searchsorted(others, times).clip(1, len(others) - 1)
    low, high = others[after - 1], others[after]
    within = (times >= low) & (times <= high) & (high - low <= longest)
    near: BoolArray = within | (times == low) | (times == high)
    return near
