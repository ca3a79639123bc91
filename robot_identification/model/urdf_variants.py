# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Texts of a description for other programs, with other names, or with a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import re
from typing import Any
from xml.etree.ElementTree import indent, SubElement, tostring

import defusedxml.ElementTree
import numpy as np
import pinocchio as pin
from robot_identification.errors import UsageError
from robot_identification.model.urdf import parse_robot_xml
from robot_identification.model.urdf_elements import (
    INERTIA_KEYS, MOVING_JOINT_TYPES, numbers_in, numbers_text, pose_in, set_pose, set_tensor,
    tensor_in,
)


def for_pinocchio(text: str, locked: Mapping[str, float] | None = None) -> str:
    """
    Return the URDF text with continuous joints written as revolute ones without end.

    `locked` has the position of each joint that is to be a fixed one [rad or m]; fixed joints
    then have other names than links. Pinocchio gives a continuous joint two position coordinates
    (cosine, sine); with limits that nothing reaches it has one, and positions are vectors of n.
    """
    root = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    if locked:
        links = {link.get('name') for link in root.findall('link')}
        for joint in root.findall('joint'):
            if joint.get('name') in locked:
                _fix(joint, locked[str(joint.get('name'))])
            if joint.get('type') == 'fixed' and joint.get('name') in links:
                joint.set('name', f'joint of {joint.get("name")}')
    for joint in root.findall('joint'):
        if joint.get('type') in MOVING_JOINT_TYPES:
            limit = joint.find('limit')
            if limit is None:
                limit = SubElement(joint, 'limit')
            for key in ('effort', 'velocity'):
                limit.set(key, limit.get(key, '0'))
            if joint.get('type') == 'continuous':
                joint.set('type', 'revolute')
                limit.set('lower', '-1000000.0')
                limit.set('upper', '1000000.0')
    return str(tostring(root, encoding='unicode'))


def for_simulation(text: str, locked: Mapping[str, float]) -> str:
    """
    Return the URDF text for a physics engine: no shapes, no limits, some joints fixed.

    `text` is a checked description; `locked` has the position of each joint that does not move
    [rad or m]. Links that a joint moves get an inertia that engines accept where the file has
    none, or a rounded one: by less than any torque shows.
    """
    root: Any = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    moved = {
        joint.find('child').get('link') for joint in root.findall('joint')
        if joint.get('type') in MOVING_JOINT_TYPES and joint.get('name') not in locked
    }
    for link in root.findall('link'):
        link[:] = [child for child in link if child.tag != 'collision']
        _make_body(link, moved=link.get('name') in moved)
    for joint in root.findall('joint'):
        if joint.get('name') in locked:
            _fix(joint, locked[str(joint.get('name'))])
        joint[:] = [child for child in joint if child.tag not in ('mimic', 'limit')]
        for axis in joint.findall('axis'):
            axis.set('xyz', axis.get('xyz', '1 0 0'))
    return str(tostring(root, encoding='unicode'))


def _make_body(link: Any, *, moved: bool) -> None:
    """Round the inertia of a link to one that a body has; give one to a moved link without."""
    inertial = link.find('inertial')
    if inertial is None:
        if not moved:
            return
        inertial = SubElement(link, 'inertial')
        SubElement(inertial, 'mass', value='0')
        SubElement(inertial, 'inertia', dict.fromkeys(INERTIA_KEYS, '0'))
    # Least mass [kg] and moment [kg m^2] of a link that a simulator moves: nothing beside a motor,
    # and a thousand times what MuJoCo calls zero; and the least part of the largest moment that
    # MuJoCo's eigenvalues resolve.
    least_mass, least_moment, least_share = 1.0e-9, 1.0e-12, 1.0e-9
    mass, inertia = inertial.find('mass'), inertial.find('inertia')
    if moved and float(mass.get('value')) < least_mass:
        mass.set('value', repr(least_mass))
    (low, middle, high), axes = np.linalg.eigh(tensor_in(inertia))
    least = max(least_moment, least_share * high) if moved or high > 0.0 else 0.0
    # Room for rounding: engines compare after a rotation of their own.
    largest = (low + middle) * (1.0 - 1.0e-9)
    if low >= least and high <= largest:
        return
    low, middle = max(low, least), max(middle, least)
    largest = (low + middle) * (1.0 - 1.0e-9)
    set_tensor(inertia, axes @ np.diag([low, middle, min(max(high, least), largest)]) @ axes.T)


def _fix(joint: Any, position: float) -> None:
    """Make a joint a fixed one that stands at a position, in place."""
    element = joint.find('axis')
    axis = numbers_in('1 0 0' if element is None else element.get('xyz', '1 0 0'))
    axis = position * axis / np.linalg.norm(axis)
    moved = (
        pin.SE3(np.eye(3), axis) if joint.get('type') == 'prismatic'
        else pin.SE3(pin.exp3(axis), np.zeros(3))
    )
    set_pose(joint, pose_in(joint.find('origin')) * moved)
    joint.set('type', 'fixed')


# Those of links and joints alone; materials, plugins and the robot have none.
_REFERENCES = re.compile(
    r'(<(?:link|joint|parent|child|mimic|gazebo)\b[^>]*?\b(?:name|link|joint|reference)'
    r'\s*=\s*["\'])'
)


def with_prefix(text: str, prefix: str) -> str:
    """Return a URDF with a prefix on links and joints, as the driver's xacro makes it."""
    return _REFERENCES.sub(lambda found: found.group(1) + prefix, text) if prefix else text


def without_prefix(text: str, prefix: str) -> str:
    """
    Return a URDF with the names of links and joints as they are without a prefix.

    `prefix` is the driver's `tf_prefix`, put before every name verbatim.
    """
    names = r'(\b(?:name|link|joint|reference)\s*=\s*["\'])'
    return re.sub(names + re.escape(prefix), r'\1', text) if prefix else text


TOOL_LINK = 'mounted_tool'


@dataclass(frozen=True)
class Tool:
    """A box fixed to the flange, with its mass distributed evenly about the centre of mass."""

    mass: float  # [kg]
    # In the tool's frame, whose z axis leaves the flange [m].
    center_of_mass: tuple[float, float, float]
    # Edges of the box along the axes of that frame [m]; it begins at the flange and has the z axis
    # in its middle.
    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        # More than any arm here carries is a mass in gram; more is a length in millimetre.
        heaviest, longest = 100.0, 3.0
        if not 0.0 < self.mass <= heaviest:
            raise UsageError(
                f'the mass of the tool is {self.mass:g} kg, it must be above 0 and at most '
                f'{heaviest:g}: give it in kg'
            )
        for what, lengths in (('centre of mass', self.center_of_mass), ('size', self.size)):
            if not (np.all(np.isfinite(lengths)) and np.max(np.abs(lengths)) <= longest):
                raise UsageError(
                    f'the {what} of the tool is {list(lengths)}, at most {longest:g} m is '
                    'allowed: give it in m'
                )
        if min(self.size) <= 0.0:
            raise UsageError(
                f'the size of the tool is {list(self.size)} m, every edge must be positive'
            )


def mount_tool(text: str, source: str, frame: str, tool: Tool) -> str:
    """
    Return the text of a URDF with a tool on it, for good: the arm is then identified with it.

    `text` is the URDF of the arm, `source` its name in errors, `frame` the link that the tool is
    fixed to. Raises DescriptionError if the text is no URDF, UsageError if the arm already has a
    body of the tool's name.
    """
    root: Any = parse_robot_xml(text, source)
    if any(link.get('name') == TOOL_LINK for link in root.findall('link')):
        raise UsageError(f'{source} has a link {TOOL_LINK} already: take the arm without it')
    link = SubElement(root, 'link', name=TOOL_LINK)
    inertial = SubElement(link, 'inertial')
    SubElement(inertial, 'origin', xyz=numbers_text(tool.center_of_mass), rpy='0 0 0')
    SubElement(inertial, 'mass', value=repr(tool.mass))
    x, y, z = (edge**2 / 12.0 * tool.mass for edge in tool.size)
    SubElement(
        inertial, 'inertia', ixx=repr(y + z), iyy=repr(x + z), izz=repr(x + y),
        ixy='0', ixz='0', iyz='0',
    )
    collision = SubElement(link, 'collision')
    SubElement(collision, 'origin', xyz=numbers_text((0.0, 0.0, 0.5 * tool.size[2])), rpy='0 0 0')
    SubElement(SubElement(collision, 'geometry'), 'box', size=numbers_text(tool.size))
    joint = SubElement(root, 'joint', name=f'{frame}-{TOOL_LINK}', type='fixed')
    SubElement(joint, 'parent', link=frame)
    SubElement(joint, 'child', link=TOOL_LINK)
    SubElement(joint, 'origin', xyz='0 0 0', rpy='0 0 0')
    indent(root)
    return '<?xml version="1.0"?>\n' + str(tostring(root, encoding='unicode')) + '\n'
