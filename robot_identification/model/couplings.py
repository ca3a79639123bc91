# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Joints that a description couples by <mimic>, and whether that matters to the torques."""

from __future__ import annotations

from collections.abc import Sequence

from robot_identification.model.urdf import Urdf
from robot_identification.model.urdf_reach import reach_of_joints


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
