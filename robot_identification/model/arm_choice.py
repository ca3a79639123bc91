# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The choice of the joints of a description that are its arm, where none are named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robot_identification.errors import UsageError
from robot_identification.model.urdf import Urdf

# Joints in a row that make an arm; chosen: a wheel, a head and a finger have fewer, a palletizer
# has four.
FEWEST_ARM_JOINTS = 4
# Joints of its own by which one arm differs from another.
FEWEST_OWN_JOINTS = 3


class SeveralArmsError(UsageError):
    """A description has several arms, and none is named."""

    def __init__(self, message: str, arms: tuple[tuple[str, ...], ...]) -> None:
        super().__init__(message)
        self.arms = arms  # joints of each, in kinematic order


@dataclass(frozen=True)
class ArmChoice:
    """The joints of an arm, in kinematic order, and what to say of the others."""

    joints: tuple[str, ...]
    remarks: tuple[str, ...] = ()


def choose_arm(
    urdf: Urdf, order: Sequence[str], parents: Mapping[str, str | None], coupled: Mapping[str, str]
) -> ArmChoice:
    """
    Return the joints that move where none are named.

    All that move but coupled ones, the fingers of an end effector, and branches too short to be
    an arm. `order` is the kinematic one of all moving joints, `parents` has the moving joint
    before each. Raises SeveralArmsError if that leaves several arms.
    """
    fingers = _srdf_fingers(urdf, order, parents)
    free = [joint for joint in order if joint not in coupled and joint not in fingers]
    tree = _Tree.of(free, parents)
    forked = tree.beyond_a_fork()
    fingers += [joint for joint in forked if joint not in fingers]
    tree = _Tree.of([joint for joint in free if joint not in forked], parents)
    arm = _the_arm(urdf, tree)
    held = [joint for joint in order if joint not in arm]
    mimics = [joint for joint in held if joint in coupled]
    rest = [joint for joint in held if joint not in coupled and joint not in fingers]
    remarks = [
        f'held fixed: {", ".join(joints)} ({why}); --joints chooses others'
        for joints, why in (
            (mimics, 'coupled by mimic'), ([j for j in held if j in fingers], 'fingers'),
            (rest, 'no part of the arm'),
        ) if joints
    ]
    return ArmChoice(tuple(joint for joint in order if joint in arm), tuple(remarks))


def _srdf_fingers(
    urdf: Urdf, order: Sequence[str], parents: Mapping[str, str | None]
) -> list[str]:
    """Return the fingers that an SRDF names, if they hang on an arm that it does not count."""
    found = [joint for joint in order if joint in urdf.fingers]

    # Of the arm, before each joint; parents come first in the kinematic order.
    before: dict[str | None, int] = {None: 0}
    for joint in order:
        before[joint] = before[parents[joint]] + (joint not in found)
    return found if all(before[joint] >= FEWEST_ARM_JOINTS for joint in found) else []


@dataclass(frozen=True)
class _Tree:
    """Free joints in kinematic order, with their places in the tree."""

    order: tuple[str, ...]
    after: Mapping[str, list[str]]  # the free joints next to each
    paths: Mapping[str, list[str]]  # joints from the root to each, itself included
    heights: Mapping[str, int]  # most joints in a row after each

    @classmethod
    def of(cls, free: Sequence[str], parents: Mapping[str, str | None]) -> _Tree:
        """Return the tree; loops, for a description may have a thousand joints in a row."""
        known = set(free)
        after: dict[str, list[str]] = {joint: [] for joint in free}
        paths: dict[str, list[str]] = {}
        for joint in free:
            place = parents[joint]
            while place is not None and place not in known:
                place = parents[place]
            paths[joint] = [joint] if place is None else [*paths[place], joint]
            if place is not None:
                after[place].append(joint)
        heights: dict[str, int] = {}
        for joint in reversed(free):
            heights[joint] = max((1 + heights[other] for other in after[joint]), default=0)
        return cls(tuple(free), after, paths, heights)

    def below(self, joint: str) -> list[str]:
        """Return all joints after one."""
        found = list(self.after[joint])
        for other in found:
            found += self.after[other]
        return found

    def beyond_a_fork(self) -> list[str]:
        """Return the joints after a place where an arm forks into fingers, shorter than itself."""
        return [
            name for joint in self.order
            if len(self.after[joint]) > 1 and len(self.paths[joint]) >= FEWEST_ARM_JOINTS
            and self.heights[joint] <= len(self.paths[joint])
            for name in self.below(joint)
        ]

    def ends(self) -> list[str]:
        """Return the joints that none comes after."""
        return [joint for joint in self.order if not self.after[joint]]


def _the_arm(urdf: Urdf, tree: _Tree) -> set[str]:
    """Return the joints of the one arm of a tree."""
    paths = [tree.paths[end] for end in tree.ends()]
    if len(paths) < 2:
        return set(tree.order)
    shared = Counter(joint for path in paths for joint in path)
    own = [[joint for joint in path if shared[joint] == 1] for path in paths]
    arms = [
        (path, joints) for path, joints in zip(paths, own, strict=True)
        if len(path) >= FEWEST_ARM_JOINTS and len(joints) >= FEWEST_OWN_JOINTS
    ]
    if not arms:
        return set(tree.order)
    if len(arms) == 1:
        return set(arms[0][0])
    chains = tuple(tuple(joints) for _, joints in arms)
    lines = ''.join(f'\n  --joints {" ".join(joints)}' for joints in chains)
    raise SeveralArmsError(
        f'the URDF {urdf.name!r:.80} has {len(chains)} arms: name the joints of one, all others '
        f'are held fixed{lines}',
        chains,
    )
