# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The joints of a description: what they carry, which are coupled, and which are its arm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from robot_identification.errors import UsageError
from robot_identification.model.urdf import Urdf


@dataclass(frozen=True)
class Reach:
    """Names by their place relative to the joints of an arm."""

    carried_links: frozenset[str]  # links that one of them moves
    carried_joints: frozenset[str]  # joints that one of them moves
    supporting_joints: frozenset[str]  # joints between the root and one of them, both included


def reach_of_joints(urdf: Urdf, joints: Iterable[str]) -> Reach:
    """Return what joints of a description carry and stand on; unknown ones carry nothing."""
    wanted, chains = set(joints), urdf.chains
    return Reach(
        frozenset(
            link.name for link in urdf.links
            if link.joint is not None and wanted & set(chains[link.joint])
        ),
        frozenset(joint for joint, chain in chains.items() if wanted & set(chain[:-1])),
        frozenset(other for joint in wanted for other in chains.get(joint, ())),
    )


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
        if leader is not None and not own & reach_of_joints(urdf, [leader]).carried_joints
    }


def held_leaders(urdf: Urdf, arm: Sequence[str]) -> dict[str, str]:
    """Return the leaders that are held fixed between two joints of an arm, with a follower."""
    if not urdf.mimic_joints:
        return {}
    reach = reach_of_joints(urdf, arm)
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
    reach = reach_of_joints(urdf, followers)
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
    urdf: Urdf, order: Sequence[str], coupled: Mapping[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """
    Return the joints that move where none are named, and what to say of the others.

    All that move but coupled ones, the fingers of an end effector, and branches too short to be
    an arm. `order` is the kinematic one of all moving joints. Raises SeveralArmsError if that
    leaves several arms.
    """
    fingers = _srdf_fingers(urdf, order)
    free = [joint for joint in order if joint not in coupled and joint not in fingers]
    fingers |= _beyond_a_fork(_chains(urdf, free))
    arm = _the_arm(urdf, _chains(urdf, [joint for joint in free if joint not in fingers]))
    held = [joint for joint in order if joint not in arm]
    remarks = [
        f'held fixed: {", ".join(joints)} ({why}); --joints chooses others'
        for why, joints in (
            ('coupled by mimic', [joint for joint in held if joint in coupled]),
            ('fingers', [joint for joint in held if joint in fingers]),
            ('no part of the arm', [
                joint for joint in held if joint not in coupled and joint not in fingers
            ]),
        ) if joints
    ]
    return tuple(joint for joint in order if joint in arm), tuple(remarks)


def _chains(urdf: Urdf, joints: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return for each of some joints those of them from the root to it, itself included."""
    some = set(joints)
    return {
        joint: tuple(other for other in urdf.chains[joint] if other in some) for joint in joints
    }


def _srdf_fingers(urdf: Urdf, order: Sequence[str]) -> set[str]:
    """Return the fingers that an SRDF names, if they hang on an arm that it does not count."""
    found = set(urdf.fingers) & set(order)
    of_arm = _chains(urdf, order)
    hang = all(len(set(of_arm[joint]) - found) >= FEWEST_ARM_JOINTS for joint in found)
    return found if hang else set()


def _beyond_a_fork(chains: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Return the joints after a place where an arm forks into fingers, shorter than itself."""
    found: set[str] = set()
    for joint, chain in chains.items():
        n = len(chain)
        if n < FEWEST_ARM_JOINTS:
            continue
        beyond = {
            other: len(way) - n for other, way in chains.items()
            if len(way) > n and way[n - 1] == joint
        }
        steps = list(beyond.values())
        if steps.count(1) > 1 and max(steps) <= n:
            found.update(beyond)
    return found


def _the_arm(urdf: Urdf, chains: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Return the joints of the one arm among some joints."""
    inner = {joint for chain in chains.values() for joint in chain[:-1]}
    ways = [chain for joint, chain in chains.items() if joint not in inner]
    shared = Counter(joint for chain in ways for joint in chain)
    own = [[joint for joint in chain if shared[joint] == 1] for chain in ways]
    arms = [
        (chain, joints) for chain, joints in zip(ways, own, strict=True)
        if len(chain) >= FEWEST_ARM_JOINTS and len(joints) >= FEWEST_OWN_JOINTS
    ]
    if len(ways) < 2 or not arms:
        return set(chains)
    if len(arms) == 1:
        return set(arms[0][0])
    lines = ''.join(f'\n  --joints {" ".join(joints)}' for _, joints in arms)
    raise SeveralArmsError(
        f'the URDF {urdf.name!r:.80} has {len(arms)} arms: name the joints of one, all others '
        f'are held fixed{lines}',
        tuple(tuple(joints) for _, joints in arms),
    )
