# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Links and joints as the file has them, or without what is wrong with them, which is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.model.urdf_elements import (
    attribute_of, check_origin, FREE_JOINT_TYPES, MAXIMUM_MAGNITUDE, numbers_in, pose_in,
    read_joint, read_link, set_tensor, tensor_in, UrdfJoint, UrdfLink,
)

# Names that a sentence lists.
SHOWN_NAMES = 8
# Room for rounding in a sum of moments, as a share of it.
ROUNDING = 1.0e-9
# An inertia that no body has is replaced by the nearest of one if that differs by no more, as a
# share of it; chosen: the tests of the data take those of a description to be as uncertain.
LARGEST_CHANGE = 0.4
# Second moments of the mass of such a body, at least, over the largest; chosen: a thin plate.
THINNEST = 1.0e-6


@dataclass(frozen=True)
class UrdfFault:
    """Why a link or a joint of a description cannot be used."""

    name: str  # of the link, or of the joint
    is_joint: bool
    message: str  # with the file, the value and what to do
    # Whether it is no fault below an arm, as a floating joint is under a base that stands.
    harmless_below: bool = False
    # Whether it is about the inertia alone, so that the links merged with it can make up for it.
    of_inertia: bool = False


def read_joints(
    joints: dict[str, Element], source: str
) -> tuple[list[UrdfJoint], list[UrdfFault]]:
    """Return the moving joints; what cannot be one becomes a fixed joint in place."""
    moving: list[UrdfJoint] = []
    faults: list[UrdfFault] = []
    unled = _mimic_faults(joints, source)
    for name, joint in joints.items():
        try:
            check_origin(joint.find('origin'), 'origin', f'joint {name!r:.80}', source)
            if name in unled:
                raise DescriptionError(unled[name])
            if joint.get('type') != 'fixed':
                moving.append(read_joint(name, joint, source))
            continue
        except DescriptionError as error:
            free = joint.get('type') in FREE_JOINT_TYPES
            faults.append(UrdfFault(name, True, str(error), free))
            joint.set('type', 'fixed')
            for child in list(joint):
                if child.tag not in ('parent', 'child') and not (free and child.tag == 'origin'):
                    joint.remove(child)
    return _without_standing_leaders(moving, joints), faults


def _without_standing_leaders(
    moving: list[UrdfJoint], joints: dict[str, Element]
) -> list[UrdfJoint]:
    """Return the joints, those that follow one that does not move as free ones, in place too."""
    known = {joint.name for joint in moving}
    free = []
    for joint in moving:
        if joint.mimic is not None and joint.mimic not in known:
            joint = replace(joint, mimic=None, mimic_multiplier=1.0, mimic_offset=0.0)
            for mimic in joints[joint.name].findall('mimic'):
                joints[joint.name].remove(mimic)
        free.append(joint)
    return free


def _mimic_faults(joints: dict[str, Element], source: str) -> dict[str, str]:
    """Return the joints that follow no joint that leads, and why."""
    leaders: dict[str, str] = {}
    faults: dict[str, str] = {}
    for name, joint in joints.items():
        mimic = joint.find('mimic')
        if mimic is None or joint.get('type') == 'fixed':
            continue
        try:
            leader = attribute_of(joint, 'mimic', 'joint', source)
        except DescriptionError as error:
            faults[name] = str(error)
            continue
        if leader not in joints:
            faults[name] = (
                f'{source}: joint {name!r:.80} mimics the joint {leader!r:.80}, which does not '
                'exist'
            )
        leaders[name] = leader
    for name, leader in leaders.items():
        for _ in leaders:
            if leader == name:
                faults[name] = (
                    f'{source}: joint {name!r:.80} mimics {leaders[name]!r:.80}, and so in the '
                    'end itself; one joint of the ring must lead'
                )
                break
            leader = leaders.get(leader, leader)
    return faults


def read_links(
    links: dict[str, Element], joints: dict[str, Element],
    parents: Mapping[str, tuple[str, str]], moved: set[str], source: str,
) -> tuple[list[UrdfLink], list[UrdfFault], list[str]]:
    """
    Return the links, those with numbers that are none as empty links in place, and remarks.

    `parents` has joint and parent link by link, `moved` the links with a moving joint below.
    """
    checked: list[UrdfLink] = []
    faults: list[UrdfFault] = []
    remarks: list[str] = []
    for name, link in links.items():
        joint, parent = parents.get(name, (None, None))
        try:
            read = read_link(name, link, joint, name in moved, source)
        except DescriptionError as error:
            faults.append(UrdfFault(name, False, str(error)))
            for child in list(link):
                link.remove(child)
            read = UrdfLink(name, joint, name in moved, 0.0, (0.0, 0.0, 0.0))
        if read.fault is not None and read.mass == 0.0 and _is_frame(joint, joints):
            # Nothing is known of it: a zero that was rounded has no moments that are seen.
            remarks.append(f'link {name} is taken as without inertia: {read.fault}')
            for inertial in link.findall('inertial'):
                link.remove(inertial)
            read = UrdfLink(name, joint, name in moved, 0.0, (0.0, 0.0, 0.0))
        if read.fault is not None and not read.is_negligible:
            first = joint is not None and name in moved and parent not in moved
            if first and read.mass > 0.0 and _complete_inertia(link, joints[str(joint)]):
                read = read_link(name, link, joint, True, source)
                remarks.append(
                    f'link {name} has an inertia that no rigid body has; the moment about {joint} '
                    'is kept, which alone moves it, and the others are raised'
                )
            else:
                fault, change = read.fault, None
                if read.mass > 0.0 and not _is_frame(joint, joints):
                    change = _take_nearest(link)
                    read = read_link(name, link, joint, name in moved, source)
                if change is not None and read.fault is None:
                    remarks.append(
                        f'link {name} has an inertia that no rigid body has: {fault}; the '
                        f'nearest inertia of a body is used instead, which differs by {change:.1%}'
                    )
                else:
                    faults.append(UrdfFault(name, False, (
                        f'{source}: link {name!r:.80} is no rigid body: {fault}; correct its '
                        '<inertial>, or leave it out if nothing is known'
                    ), of_inertia=read.mass > 0.0))
        checked.append(read)
    return checked, faults, remarks


def _is_frame(joint: str | None, joints: dict[str, Element]) -> bool:
    """Return whether a link is fixed to another."""
    return joint is not None and joints[joint].get('type') == 'fixed'


def _take_nearest(link: Element) -> float | None:
    """
    Replace the inertia of a link by the nearest one of a rigid body, in place.

    Nearest are its second moments of mass, of which none may be negative. Return the norm of the
    change over that of the inertia; None, and change nothing, beyond `LARGEST_CHANGE`.
    """
    inertia = link.find('inertial/inertia')
    if inertia is None:
        return None
    tensor = tensor_in(inertia)
    size = float(np.linalg.norm(tensor))
    if not size > 0.0:
        return None
    # Second moments of the mass, none of which may be negative.
    moments, axes = np.linalg.eigh(0.5 * np.trace(tensor) * np.eye(3) - tensor)
    moments = np.maximum(moments, THINNEST * max(float(moments.max()), 0.0))
    nearest = moments.sum() * np.eye(3) - (axes * moments) @ axes.T
    change = float(np.linalg.norm(nearest - tensor)) / size
    if not change <= LARGEST_CHANGE:
        return None
    set_tensor(inertia, nearest)
    return change


def _complete_inertia(link: Element, joint: Any) -> bool:
    """
    Raise the moments of a link across the only axis that moves it until a body has them, in place.

    No torque shows them. Returns whether that makes a body.
    """
    inertial = link.find('inertial')
    inertia = None if inertial is None else inertial.find('inertia')
    if inertial is None or inertia is None or joint.get('type') == 'prismatic':
        return False
    tensor, axis = tensor_in(inertia), joint.find('axis')
    direction = numbers_in('1 0 0' if axis is None else axis.get('xyz', '1 0 0'))
    direction = pose_in(inertial.find('origin')).rotation.T @ direction
    direction /= np.linalg.norm(direction)
    across = np.eye(3) - np.outer(direction, direction)
    missing = _missing_moment(tensor, across)
    if missing is None or np.abs(tensor).max() + missing > MAXIMUM_MAGNITUDE:
        return False
    set_tensor(inertia, tensor + missing * across)
    return True


def _missing_moment(tensor: FloatArray, across: FloatArray) -> float | None:
    """Return the least moment across an axis that makes a tensor one of a body; None if none."""

    def fits(moment: float) -> bool:
        low, middle, high = np.linalg.eigvalsh(tensor + moment * across)
        return bool(low >= 0.0 and high <= (low + middle) * (1.0 + ROUNDING))

    low, high = 0.0, 2.0 * float(np.abs(tensor).sum())
    if not fits(high):
        return None
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def drop_lone_links(
    root: Element, links: dict[str, Element], joints: dict[str, Element]
) -> list[str]:
    """Remove links that no joint names, where others are joined; return what to say of it."""
    joined = {
        element.get('link') for joint in joints.values() for element in joint
        if element.tag in ('parent', 'child')
    }
    lone = [name for name in links if name not in joined]
    if not joints or not lone:
        return []
    for name in lone:
        root.remove(links.pop(name))
    return [f'{_listed("link", lone)} on no joint and left out']


def drop_negligible(links: dict[str, Element], checked: list[UrdfLink]) -> list[str]:
    """Leave out inertias that no body has and no torque shows; return what to say of it."""
    dropped = []
    for index, link in enumerate(checked):
        if link.fault is not None and link.is_negligible:
            dropped.append(link.name)
            checked[index] = UrdfLink(link.name, link.joint, link.moved, 0.0, (0.0, 0.0, 0.0))
            for inertial in links[link.name].findall('inertial'):
                links[link.name].remove(inertial)
    if not dropped:
        return []
    return [
        f'{_listed("link", dropped)} taken as without inertia: what the file states is negligible '
        'and no rigid body has it'
    ]


def describe_free_joints(faults: list[UrdfFault]) -> list[str]:
    """Return what to say of floating and planar joints, if there are any."""
    free = [fault.name for fault in faults if fault.harmless_below]
    if not free:
        return []
    return [
        f'{_listed("joint", free)} floating or planar: the arm is taken to stand on a base that '
        'does not move'
    ]


def _listed(kind: str, names: list[str]) -> str:
    """Return names with their kind and the verb: joint a is, joints a, b are."""
    shown = ', '.join(names[:SHOWN_NAMES]) + (', ..' if len(names) > SHOWN_NAMES else '')
    return f'{kind} {shown} is' if len(names) == 1 else f'{kind}s {shown} are'
