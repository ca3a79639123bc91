# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The joints of a description: what they carry, which are coupled, and which are its arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import defusedxml.ElementTree
from robot_identification.errors import UsageError
from robot_identification.model.urdf import Urdf


@dataclass(frozen=True)
class Reach:
    """Names by their place relative to the joints of an arm."""

    carried_links: frozenset[str]  # links that one of them moves
    carried_joints: frozenset[str]  # joints that one of them moves
    supporting_joints: frozenset[str]  # joints between the root and one of them, both included


def reach_of_joints(text: str, joints: Iterable[str]) -> Reach:
    """Return what joints of a checked URDF text carry and stand on; unknown ones carry nothing."""
    root: Any = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    parent_of: dict[str, str] = {}
    child_of: dict[str, str] = {}
    for joint in root.findall('joint'):
        name = str(joint.get('name'))
        parent_of[name] = str(joint.find('parent').get('link'))
        child_of[name] = str(joint.find('child').get('link'))
    on_link: dict[str, list[str]] = {}
    for name, link in parent_of.items():
        on_link.setdefault(link, []).append(name)
    above = {child: name for name, child in child_of.items()}
    wanted = [name for name in joints if name in child_of]
    carried_links = {child_of[name] for name in wanted}
    carried_joints: set[str] = set()
    new = list(carried_links)
    while new:
        after = [name for link in new for name in on_link.get(link, [])]
        carried_joints.update(after)
        new = [child_of[name] for name in after if child_of[name] not in carried_links]
        carried_links.update(new)
    supporting: set[str] = set()
    for wanted_joint in wanted:
        place: str | None = wanted_joint
        while place is not None and place not in supporting:
            supporting.add(place)
            place = above.get(parent_of[place])
    return Reach(frozenset(carried_links), frozenset(carried_joints), frozenset(supporting))


def find_coupled(urdf: Urdf) -> dict[str, str]:
    """
    Return the joints that cannot be identified, each with one that it is coupled with.

    Followers, and leaders of followers that move a mass or a joint of its own. What else follows,
    as the piston of a balancer that is drawn only, takes no torque from the motor of its leader.
    """
    followers = {joint.name: joint.mimic for joint in urdf.joints if joint.mimic is not None}
    coupled = dict(followers)
    for follower, leader in followers.items():
        if leader not in followers and not _are_drawn_only(urdf, _all_after(leader, followers)):
            coupled[leader] = follower
    return coupled


def find_leading_fingers(urdf: Urdf, coupled: dict[str, str]) -> dict[str, str]:
    """
    Return the leaders that are not coupled and carry no joint of its own, with a follower.

    They are fingers of a gripper whose description has no masses, not joints of an arm.
    """
    own = {joint.name for joint in urdf.joints} - set(coupled)
    leaders = {joint.mimic: joint.name for joint in urdf.joints if joint.mimic in own}
    return {
        leader: follower for leader, follower in leaders.items()
        if leader is not None and not own & reach_of_joints(urdf.text, [leader]).carried_joints
    }


def held_leaders(urdf: Urdf, arm: Sequence[str]) -> dict[str, str]:
    """Return the leaders that are held fixed between two joints of an arm, with a follower."""
    if not urdf.mimic_joints:
        return {}
    reach = reach_of_joints(urdf.text, arm)
    within = reach.carried_joints & reach.supporting_joints - set(arm)
    followers = {joint.mimic: joint.name for joint in urdf.mimic_joints}
    return {
        joint.name: followers[joint.name] for joint in urdf.joints
        if joint.name in within and joint.name in followers
    }


def _all_after(leader: str, followers: dict[str, str]) -> list[str]:
    """Return the joints that follow one, directly or by others."""
    found = [leader]
    for joint in found:
        found += [name for name, other in followers.items() if other == joint]
    return found[1:]


def _are_drawn_only(urdf: Urdf, followers: list[str]) -> bool:
    """Return whether joints move no mass, and no joint but each other."""
    reach = reach_of_joints(urdf.text, followers)
    moving = {joint.name for joint in urdf.joints}
    # The mass of a faulty link is not known.
    heavy = {link.name for link in urdf.links if link.mass > 0.0} | {
        fault.name for fault in urdf.faults if not fault.is_joint
    }
    return not (
        heavy & reach.carried_links or moving & reach.carried_joints - set(followers)
    )


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


def choose_arm(
    urdf: Urdf, order: Sequence[str], parents: Mapping[str, str | None], coupled: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """
    Return the joints that move where none are named, and what to say of the others.

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
    return tuple(joint for joint in order if joint in arm), tuple(remarks)


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

    def beyond_a_fork(self) -> list[str]:
        """Return the joints after a place where an arm forks into fingers, shorter than itself."""
        found = [
            name for joint in self.order
            if len(self.after[joint]) > 1 and len(self.paths[joint]) >= FEWEST_ARM_JOINTS
            and self.heights[joint] <= len(self.paths[joint])
            for name in self.after[joint]
        ]
        for joint in found:
            found += self.after[joint]
        return found


def _the_arm(urdf: Urdf, tree: _Tree) -> set[str]:
    """Return the joints of the one arm of a tree."""
    paths = [tree.paths[joint] for joint in tree.order if not tree.after[joint]]
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
