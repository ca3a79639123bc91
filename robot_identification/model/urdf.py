# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Robot descriptions: read with suspicion, stripped of what dynamics do not need.

Pinocchio's URDF parser turns a mass of ``1,5`` or ``nan`` into zero with a line on stderr, so the
numbers are checked here, before it sees them.
"""

from __future__ import annotations

from dataclasses import dataclass
import math
from pathlib import Path
import re
from xml.etree.ElementTree import Element
from xml.etree.ElementTree import ParseError
from xml.etree.ElementTree import tostring

from defusedxml import DefusedXmlException
import defusedxml.ElementTree
from robot_identification.errors import DescriptionError
from robot_identification.files import read_text

MAXIMUM_URDF_CHARACTERS = 5_000_000
MAXIMUM_JOINTS = 64
MOVING_JOINT_TYPES = ('revolute', 'continuous', 'prismatic')
# What the URDF parser behind Pinocchio reads; from anything else it makes zero without a word.
PLAIN_NUMBER = re.compile(r'[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?', re.ASCII)
# Pinocchio gives a continuous joint two position coordinates (cosine, sine); as a revolute joint
# with limits that nothing reaches it has one, and positions stay vectors of n angles.
UNLIMITED_POSITION = 1.0e6


@dataclass(frozen=True)
class UrdfJoint:
    """
    A moving joint as its URDF states it.

    Attributes
    ----------
    name, kind : str
        Name and URDF type (revolute, continuous or prismatic).
    position : tuple of float
        Lower and upper limit [rad or m]; infinite where the URDF has none.
    velocity, effort : float
        Limits [rad/s or m/s] and [N m or N]; infinite where absent or zero.

    """

    name: str
    kind: str
    position: tuple[float, float]
    velocity: float
    effort: float


@dataclass(frozen=True)
class Urdf:
    """
    A checked robot description.

    Attributes
    ----------
    name : str
        The robot's name in the URDF.
    text : str
        The XML without meshes, visuals and everything that is neither link nor joint.
    joints : tuple of UrdfJoint
        Moving joints in the order of the file.
    links_without_inertial : tuple of str
        Links that a moving joint carries and that have no mass of their own.

    """

    name: str
    text: str
    joints: tuple[UrdfJoint, ...]
    links_without_inertial: tuple[str, ...]


def read_urdf(path: Path) -> Urdf:
    """
    Read and check a URDF file.

    Raises
    ------
    UsageError
        If there is no such file.
    DescriptionError
        If the description cannot be used for dynamics; the message names link or joint.

    """
    return parse_urdf(read_text(path), str(path))


def parse_urdf(text: str, source: str) -> Urdf:
    """
    Check a URDF text; `source` names it in errors.

    Raises
    ------
    DescriptionError
        If the description cannot be used for dynamics; the message names link or joint.

    """
    if len(text) > MAXIMUM_URDF_CHARACTERS:
        raise DescriptionError(
            f'{source}: {len(text)} characters, more than the {MAXIMUM_URDF_CHARACTERS} allowed'
        )
    try:
        root = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    except (ParseError, ValueError, DefusedXmlException) as error:
        raise DescriptionError(f'{source} is not a URDF that parses: {error}') from error
    if root.tag != 'robot':
        raise DescriptionError(
            f'{source}: the root element is <{root.tag}>, a URDF starts with <robot>'
            + (' (expand xacro first)' if 'xacro' in text else '')
        )
    links = _named(root, 'link', source)
    joints = _named(root, 'joint', source)
    for name, link in links.items():
        _check_inertial(name, link, source)
    children: dict[str, str] = {}
    parents: dict[str, str] = {}
    moving = []
    for name, joint in joints.items():
        parent, child = (_attribute(joint, tag, 'link', source) for tag in ('parent', 'child'))
        for link_name in (parent, child):
            if link_name not in links:
                raise DescriptionError(
                    f'{source}: joint {name!r} names the link {link_name!r}, which does not exist'
                )
        if child in children:
            raise DescriptionError(
                f'{source}: link {child!r} hangs on two joints, {children[child]!r} and {name!r}'
            )
        children[child], parents[child] = name, parent
        _check_origin(joint.find('origin'), 'origin', f'joint {name!r}', source)
        if joint.get('type') in MOVING_JOINT_TYPES:
            moving.append(_read_joint(name, joint, source))
        elif joint.get('type') != 'fixed':
            raise DescriptionError(
                f'{source}: joint {name!r} is of type {joint.get("type")!r}; supported are '
                f'{", ".join(MOVING_JOINT_TYPES)} and fixed'
            )
    if not moving:
        raise DescriptionError(f'{source}: no moving joint, nothing to identify')
    if len(moving) > MAXIMUM_JOINTS:
        raise DescriptionError(
            f'{source}: {len(moving)} moving joints, more than the {MAXIMUM_JOINTS} supported'
        )
    roots = [link for link in links if link not in children]
    if len(roots) != 1:
        raise DescriptionError(
            f'{source}: {len(roots)} links hang on no joint ({", ".join(roots[:5])}); an arm has '
            'exactly one root link'
        )
    _check_reachable(parents, roots[0], source)
    moved = {joint.name for joint in moving}
    without_inertial = tuple(
        link
        for link, joint_name in children.items()
        if joint_name in moved and links[link].find('inertial') is None
    )
    _strip(root)
    return Urdf(
        name=root.get('name', ''),
        text=tostring(root, encoding='unicode'),
        joints=tuple(moving),
        links_without_inertial=without_inertial,
    )


def _check_reachable(parents: dict[str, str], root: str, source: str) -> None:
    """Check that every link leads to the root: joints may form a ring beside it."""
    known = {root}
    for link in parents:
        way = [link]
        while way[-1] not in known and len(way) <= len(parents):
            way.append(parents[way[-1]])
        if way[-1] not in known:
            raise DescriptionError(f'{source}: the joints around link {link!r} form a ring')
        known.update(way)


def _named(root: Element, tag: str, source: str) -> dict[str, Element]:
    elements: dict[str, Element] = {}
    for element in root.findall(tag):
        name = element.get('name', '')
        if not name or name in elements:
            raise DescriptionError(f'{source}: a {tag} has no name, or {name!r} is given twice')
        elements[name] = element
    return elements


def _attribute(joint: Element, tag: str, attribute: str, source: str) -> str:
    element = joint.find(tag)
    value = None if element is None else element.get(attribute)
    if value is None:
        raise DescriptionError(
            f'{source}: joint {joint.get("name")!r} has no <{tag} {attribute}="..."/>'
        )
    return value


def _number(text: str | None, what: str, source: str) -> float:
    if text is None or not PLAIN_NUMBER.fullmatch(text):
        raise DescriptionError(f'{source}: {what} is {text!r}; a plain decimal number is needed')
    value = float(text)
    if not math.isfinite(value):
        raise DescriptionError(f'{source}: {what} is {text!r}; a finite number is needed')
    return value


def _vector(text: str, what: str, source: str) -> list[float]:
    values = [_number(part, what, source) for part in text.split()]
    if len(values) != 3:
        raise DescriptionError(f'{source}: {what} is {text!r}; three numbers are needed')
    return values


def _check_origin(element: Element | None, what: str, where: str, source: str) -> None:
    if element is not None:
        for key in ('xyz', 'rpy'):
            _vector(element.get(key, '0 0 0'), f'{what} {key} of {where}', source)


def _check_inertial(name: str, link: Element, source: str) -> None:
    inertial = link.find('inertial')
    if inertial is None:
        return
    mass_element, inertia_element = inertial.find('mass'), inertial.find('inertia')
    if mass_element is None or inertia_element is None:
        raise DescriptionError(f'{source}: link {name!r} has <inertial> without mass or inertia')
    mass = _number(mass_element.get('value'), f'mass of link {name!r}', source)
    if mass < 0.0:
        raise DescriptionError(f'{source}: mass of link {name!r} is {mass} kg, it must not be < 0')
    for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'):
        value = _number(inertia_element.get(key), f'{key} of link {name!r}', source)
        if key in ('ixx', 'iyy', 'izz') and value < 0.0:
            raise DescriptionError(
                f'{source}: {key} of link {name!r} is {value} kg m^2, it must not be < 0'
            )
    _check_origin(inertial.find('origin'), 'inertial origin', f'link {name!r}', source)


def _read_joint(name: str, joint: Element, source: str) -> UrdfJoint:
    kind = str(joint.get('type'))
    axis = joint.find('axis')
    if axis is not None:
        vector = _vector(axis.get('xyz', '1 0 0'), f'axis of joint {name!r}', source)
        if math.hypot(*vector) < 1e-6:
            raise DescriptionError(
                f'{source}: axis of joint {name!r} is {vector}, not a direction'
            )
    limit = joint.find('limit')
    values = {} if limit is None else dict(limit.attrib)
    bounds = {
        key: _number(values[key], f'{key} limit of joint {name!r}', source)
        for key in ('lower', 'upper', 'velocity', 'effort')
        if key in values
    }
    lower, upper = bounds.get('lower', 0.0), bounds.get('upper', 0.0)
    if kind == 'continuous' or lower == upper == 0.0:
        lower, upper = -math.inf, math.inf
    if lower > upper:
        raise DescriptionError(
            f'{source}: joint {name!r} has the lower limit {lower} above the upper limit {upper}'
        )
    # URDFs write 0 where a limit is unknown.
    velocity = bounds.get('velocity', 0.0) or math.inf
    effort = bounds.get('effort', 0.0) or math.inf
    return UrdfJoint(name, kind, (lower, upper), velocity, effort)


def _strip(root: Element) -> None:
    """Drop what dynamics and simple collision shapes do not need, in place."""
    for element in list(root):
        if element.tag not in ('link', 'joint'):
            root.remove(element)
    for link in root.findall('link'):
        for child in list(link):
            if child.tag == 'inertial':
                continue
            if child.tag != 'collision' or child.find('geometry/mesh') is not None:
                link.remove(child)
    for joint in root.findall('joint'):
        for child in list(joint):
            # Its meaning is ours (friction columns), and Pinocchio ignores it in rnea.
            if child.tag not in ('origin', 'parent', 'child', 'axis', 'limit', 'mimic'):
                joint.remove(child)


def for_pinocchio(text: str) -> str:
    """Return the URDF text with continuous joints written as revolute ones without end."""
    root = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    for joint in root.findall('joint'):
        if joint.get('type') in MOVING_JOINT_TYPES:
            limit = joint.find('limit')
            if limit is None:
                limit = Element('limit')
                joint.append(limit)
            for key in ('effort', 'velocity'):
                limit.set(key, limit.get(key, '0'))
            if joint.get('type') == 'continuous':
                joint.set('type', 'revolute')
                limit.set('lower', str(-UNLIMITED_POSITION))
                limit.set('upper', str(UNLIMITED_POSITION))
    return str(tostring(root, encoding='unicode'))


def for_simulation(text: str, joints: tuple[str, ...]) -> str:
    """
    Return the URDF text for a physics engine: no shapes, the joints not named fixed at zero.

    Raises
    ------
    DescriptionError
        If a joint that is to be fixed cannot stand at zero.

    """
    root = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    for link in root.findall('link'):
        for collision in link.findall('collision'):
            link.remove(collision)
    for joint in root.findall('joint'):
        if joint.get('type') in MOVING_JOINT_TYPES and joint.get('name') not in joints:
            limit = joint.find('limit')
            lower = 0.0 if limit is None else float(limit.get('lower', '0'))
            upper = 0.0 if limit is None else float(limit.get('upper', '0'))
            if joint.get('type') != 'continuous' and not lower <= 0.0 <= upper:
                raise DescriptionError(
                    f'joint {joint.get("name")!r} cannot be locked at zero for simulation: its '
                    f'limits are {lower} and {upper}'
                )
            joint.set('type', 'fixed')
        mimic = joint.find('mimic')
        if mimic is not None:
            joint.remove(mimic)
    return str(tostring(root, encoding='unicode'))
