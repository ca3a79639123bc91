# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Robot descriptions: read with suspicion, stripped of what dynamics do not need.

Pinocchio's URDF parser turns a mass of ``1,5`` or ``nan`` into zero with a line on stderr, and
takes inertias that no body has, so the numbers are checked here, before it sees them. Meshes and
textures are never opened; a description that points outside is refused all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math
from pathlib import Path
import re
from xml.etree.ElementTree import Element, tostring

import numpy as np
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import read_text
from robot_identification.model.robot_xml import parse_robot_xml
from robot_identification.model.urdf_resources import check_resources
from robot_identification.model.xacro import expand_xacro

# Chosen: far above any arm, so that a hostile description ends before Pinocchio builds it.
MAXIMUM_JOINTS = 64
MAXIMUM_LINKS = 1000
MOVING_JOINT_TYPES = ('revolute', 'continuous', 'prismatic')
# What the URDF parser behind Pinocchio reads; from anything else it makes zero without a word.
PLAIN_NUMBER = re.compile(r'[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?', re.ASCII)
# Nothing of a robot is larger in SI units; above, products of numbers leave the range of doubles.
MAXIMUM_MAGNITUDE = 1.0e9
# Published inertias are rounded, to three digits at worst: part of the largest principal moment
# by which a body may miss the rules of a body.
INERTIA_ROUNDING = 0.01
# Square of the radius of gyration [m^2], here of a micrometre, up to which a body is a point.
POINT_GYRATION = 1.0e-12
# Mass [kg] up to which a link at rest is a placeholder: the inertia that mobile robots give to
# their root link or to an antenna is often made up, and nothing depends on it.
PLACEHOLDER_MASS = 1.0e-5
_INERTIA_KEYS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_SHAPE_KEYS = ('size', 'radius', 'length')


@dataclass(frozen=True)
class UrdfJoint:
    """A moving joint as its URDF states it."""

    name: str
    kind: str  # revolute, continuous or prismatic
    # Lower and upper limit [rad or m]; infinite where the URDF has none.
    position: tuple[float, float]
    # Limits [rad/s or m/s] and [N m or N]; infinite where absent or zero.
    velocity: float
    effort: float
    # Name of the joint that this one follows, as the second finger of a gripper does.
    mimic: str | None = None
    # It stands at multiplier * leader + offset [1], [rad or m].
    mimic_multiplier: float = 1.0
    mimic_offset: float = 0.0

    def mimic_position(self, leader: float) -> float:
        """Return where the joint stands when its leader stands at `leader` [rad or m]."""
        return self.mimic_multiplier * leader + self.mimic_offset


@dataclass(frozen=True)
class UrdfLink:
    """A link as its URDF states it."""

    name: str
    joint: str | None  # the joint it hangs on; None for the root
    moved: bool  # whether a moving joint lies between it and the root
    mass: float  # [kg]; zero where the URDF has none
    # Eigenvalues of its inertia about its centre of mass, ascending [kg m^2].
    principal_moments: tuple[float, float, float]

    @property
    def is_point_mass(self) -> bool:
        """Return whether it has mass and no extent."""
        largest = max(map(abs, self.principal_moments))
        return self.mass > 0.0 and largest <= POINT_GYRATION * self.mass

    @property
    def fault(self) -> str | None:
        """
        Why no rigid body has this inertia, in words; None if one has.

        Principal moments are integrals of a density that is not negative: none is negative, and
        none is larger than the sum of the other two (Wensing, Kim and Slotine, IEEE RA-L 3(1),
        2018, section III). Zero mass leaves nothing to integrate. Moments may miss the rules by
        `INERTIA_ROUNDING` of the largest, which three digits can hide.
        """
        low, middle, high = self.principal_moments
        size = max(map(abs, self.principal_moments))
        shown = f'the principal moments {low:.6g}, {middle:.6g} and {high:.6g} kg m^2'
        if self.mass == 0.0 and size > 0.0:
            return f'it has no mass and {shown}'
        slack = max(INERTIA_ROUNDING * size, POINT_GYRATION * self.mass)
        if low < -slack:
            return f'it has {shown}, and none may be negative'
        if high - low - middle > slack:
            return f'it has {shown}, and none may be larger than the sum of the other two'
        return None


@dataclass(frozen=True)
class Urdf:
    """A checked robot description."""

    name: str  # the robot's name in the URDF
    text: str  # the XML without meshes, visuals and everything that is neither link nor joint
    joints: tuple[UrdfJoint, ...]  # moving joints in the order of the file
    links: tuple[UrdfLink, ...]  # all links in the order of the file

    @property
    def mimic_joints(self) -> tuple[UrdfJoint, ...]:
        """Moving joints that follow another one, in the order of the file."""
        return tuple(joint for joint in self.joints if joint.mimic is not None)

    @property
    def links_without_inertial(self) -> tuple[str, ...]:
        """Links that a moving joint carries and that have no mass of their own."""
        moving = {joint.name for joint in self.joints}
        return tuple(
            link.name for link in self.links if link.joint in moving and link.mass == 0.0
        )

    @property
    def point_masses(self) -> tuple[str, ...]:
        """Links that have mass and no inertia about its centre."""
        return tuple(link.name for link in self.links if link.is_point_mass)


def read_urdf(path: Path, *, arguments: Mapping[str, str] | None = None) -> Urdf:
    """
    Read and check a URDF file, or a xacro file (``.xacro``), which is expanded first.

    `arguments` are values of the xacro's arguments by name. Raises UsageError if there is no such
    file, or arguments are given for a file that is not xacro; MissingDependencyError if the
    program that expands xacro is not installed; DescriptionError if the description cannot be used
    for dynamics, with the link or joint in the message.
    """
    return parse_urdf(read_urdf_text(path, arguments), str(path), path.parent)


def read_urdf_text(path: Path, arguments: Mapping[str, str] | None = None) -> str:
    """Return the text of a URDF file, or of a xacro file expanded, unchecked; see `read_urdf`."""
    if path.suffix == '.xacro':
        return expand_xacro(path, arguments or {})
    if arguments:
        raise UsageError(
            f'{path} is not xacro (its name does not end in .xacro) and takes no arguments: '
            f'leave out {", ".join(arguments)}'
        )
    return read_text(path)


def parse_urdf(text: str, source: str, folder: Path | None = None) -> Urdf:
    """
    Check a URDF text.

    `source` is its name in errors. `folder` is the one it was read from, below which meshes may
    lie; None for a text without one, such as that of a topic. Raises DescriptionError if the
    description cannot be used for dynamics; the message names link or joint.
    """
    root = parse_robot_xml(text, source)
    links = _named(root, 'link', source)
    joints = _named(root, 'joint', source)
    _check_counts(links, joints, source)
    parents = _read_tree(links, joints, source)
    moving = tuple(
        _read_joint(name, joint, source) for name, joint in joints.items()
        if joint.get('type') in MOVING_JOINT_TYPES
    )
    _check_mimics(joints, source)
    moved = _moved_links(parents, {joint.name for joint in moving})
    checked = tuple(
        _read_link(name, link, parents.get(name, (None, None))[0], name in moved, source)
        for name, link in links.items()
    )
    for name, joint in joints.items():
        _check_origin(joint.find('origin'), 'origin', f'joint {name!r:.80}', source)
    check_resources(root, source, folder)
    _strip(root)
    return Urdf(
        name=root.get('name', ''),
        text=tostring(root, encoding='unicode'),
        joints=moving,
        links=checked,
    )


def _named(root: Element, tag: str, source: str) -> dict[str, Element]:
    elements: dict[str, Element] = {}
    for element in root.findall(tag):
        name = element.get('name', '')
        if not name:
            raise DescriptionError(
                f'{source}: {tag} number {len(elements) + 1} has no name; give it one'
            )
        if not name.isprintable():
            raise DescriptionError(
                f'{source}: the {tag} {name!r:.80} has characters that cannot be printed; names '
                'go into logs and reports, so take letters, digits and signs'
            )
        if name in elements:
            raise DescriptionError(
                f'{source}: the {tag} {name!r:.80} is given twice; names must differ'
            )
        elements[name] = element
    return elements


def _check_counts(links: dict[str, Element], joints: dict[str, Element], source: str) -> None:
    """Check numbers and types of the joints before anything that grows with them."""
    for what, elements in (('links', links), ('joints', joints)):
        if len(elements) > MAXIMUM_LINKS:
            raise DescriptionError(
                f'{source}: {len(elements)} {what}, more than the {MAXIMUM_LINKS} supported'
            )
    moving = 0
    for name, joint in joints.items():
        if joint.get('type') in MOVING_JOINT_TYPES:
            moving += 1
        elif joint.get('type') != 'fixed':
            raise DescriptionError(
                f'{source}: joint {name!r:.80} is of type {joint.get("type")!r:.80}; supported '
                f'are {", ".join(MOVING_JOINT_TYPES)} and fixed'
            )
    if moving == 0:
        raise DescriptionError(f'{source}: no moving joint, nothing to identify')
    if moving > MAXIMUM_JOINTS:
        raise DescriptionError(
            f'{source}: {moving} moving joints, more than the {MAXIMUM_JOINTS} supported; fix '
            'those that the arm does not need'
        )


def _read_tree(
    links: dict[str, Element], joints: dict[str, Element], source: str
) -> dict[str, tuple[str, str]]:
    """Return joint and parent link of every link but the root, after checking it is a tree."""
    parents: dict[str, tuple[str, str]] = {}
    for name, joint in joints.items():
        parent, child = (_attribute(joint, tag, 'link', source) for tag in ('parent', 'child'))
        for link_name in (parent, child):
            if link_name not in links:
                raise DescriptionError(
                    f'{source}: joint {name!r:.80} names the link {link_name!r:.80}, which does '
                    'not exist'
                )
        if child in parents:
            raise DescriptionError(
                f'{source}: link {child!r:.80} hangs on two joints, {parents[child][0]!r:.80} and '
                f'{name!r:.80}; it may hang on one'
            )
        parents[child] = (name, parent)
    _check_no_ring(parents, source)
    roots = [link for link in links if link not in parents]
    if len(roots) != 1:
        raise DescriptionError(
            f'{source}: {len(roots)} links hang on no joint ({", ".join(roots[:5]):.400}); an arm '
            'has exactly one root link'
        )
    return parents


def _check_no_ring(parents: dict[str, tuple[str, str]], source: str) -> None:
    rooted: set[str] = set()
    for link in parents:
        way = [link]
        on_way = {link}
        while way[-1] in parents and way[-1] not in rooted:
            joint, parent = parents[way[-1]]
            if parent in on_way:
                raise DescriptionError(
                    f'{source}: the joints around link {parent!r:.80} form a ring, closed by '
                    f'joint {joint!r:.80}; an arm is a tree'
                )
            way.append(parent)
            on_way.add(parent)
        rooted.update(way)


def _moved_links(parents: dict[str, tuple[str, str]], moving: set[str]) -> set[str]:
    """Return the links that have a moving joint between them and the root."""
    known: dict[str, bool] = {}
    for link in parents:
        way = []
        place = link
        while place in parents and place not in known:
            way.append(place)
            place = parents[place][1]
        for step in reversed(way):
            joint, parent = parents[step]
            known[step] = joint in moving or known.get(parent, False)
    return {link for link, moved in known.items() if moved}


def _attribute(joint: Element, tag: str, attribute: str, source: str) -> str:
    element = joint.find(tag)
    value = None if element is None else element.get(attribute)
    if value is None:
        raise DescriptionError(
            f'{source}: joint {joint.get("name")!r:.80} has no <{tag} {attribute}="..."/>'
        )
    return value


def _number(text: str | None, what: str, source: str) -> float:
    if text is None or not PLAIN_NUMBER.fullmatch(text):
        raise DescriptionError(
            f'{source}: {what} is {text!r:.80}; a plain decimal number is needed'
        )
    value = float(text)
    if not math.isfinite(value):
        raise DescriptionError(f'{source}: {what} is {text!r:.80}; a finite number is needed')
    return value


def _quantity(text: str | None, what: str, source: str) -> float:
    value = _number(text, what, source)
    if abs(value) > MAXIMUM_MAGNITUDE:
        raise DescriptionError(
            f'{source}: {what} is {text!r:.80}, beyond the {MAXIMUM_MAGNITUDE:g} that a robot can '
            'have; is it in SI units?'
        )
    return value


def _vector(text: str, what: str, source: str) -> list[float]:
    values = [_quantity(part, what, source) for part in text.split()]
    if len(values) != 3:
        raise DescriptionError(f'{source}: {what} is {text!r:.80}; three numbers are needed')
    return values


def _check_origin(element: Element | None, what: str, where: str, source: str) -> None:
    if element is not None:
        for key in ('xyz', 'rpy'):
            _vector(element.get(key, '0 0 0'), f'{what} {key} of {where}', source)


def _read_link(
    name: str, element: Element, joint: str | None, moved: bool, source: str
) -> UrdfLink:
    where = f'link {name!r:.80}'
    _check_shapes(element, where, source)
    inertial = element.find('inertial')
    mass, moments = 0.0, (0.0, 0.0, 0.0)
    if inertial is not None:
        mass, moments = _read_inertial(inertial, where, source)
    link = UrdfLink(name, joint, moved, mass, moments)
    if link.fault is not None and (moved or mass > PLACEHOLDER_MASS):
        raise DescriptionError(
            f'{source}: {where} is no rigid body: {link.fault}; correct its <inertial>, or leave '
            'it out if nothing is known'
        )
    return link


def _read_inertial(
    inertial: Element, where: str, source: str
) -> tuple[float, tuple[float, float, float]]:
    """Return mass [kg] and ascending principal moments [kg m^2] of an <inertial>."""
    mass_element, inertia_element = inertial.find('mass'), inertial.find('inertia')
    if mass_element is None or inertia_element is None:
        raise DescriptionError(f'{source}: {where} has <inertial> without mass or inertia')
    mass = _quantity(mass_element.get('value'), f'mass of {where}', source)
    if mass < 0.0:
        raise DescriptionError(f'{source}: mass of {where} is {mass} kg, it must not be < 0')
    ixx, ixy, ixz, iyy, iyz, izz = (
        _quantity(inertia_element.get(key), f'{key} of {where}', source) for key in _INERTIA_KEYS
    )
    for key, value in (('ixx', ixx), ('iyy', iyy), ('izz', izz)):
        if value < -POINT_GYRATION * mass:
            raise DescriptionError(
                f'{source}: {key} of {where} is {value} kg m^2, it must not be < 0'
            )
    _check_origin(inertial.find('origin'), 'inertial origin', where, source)
    tensor = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    low, middle, high = np.linalg.eigvalsh(tensor).tolist()
    return mass, (low, middle, high)


def _check_shapes(link: Element, where: str, source: str) -> None:
    """Check poses and sizes: simple collision shapes stay in the text that others read."""
    for kind in ('visual', 'collision'):
        for element in link.findall(kind):
            _check_origin(element.find('origin'), f'{kind} origin', where, source)
            for shape in element.findall('geometry/*'):
                for key in _SHAPE_KEYS:
                    for part in shape.get(key, '').split():
                        what = f'{kind} {key} of {where}'
                        if _quantity(part, what, source) < 0.0:
                            raise DescriptionError(
                                f'{source}: {what} is {part} m, it must not be < 0'
                            )


def _check_mimics(joints: dict[str, Element], source: str) -> None:
    """Check that following joints lead to one that follows none."""
    leaders = {}
    for name, joint in joints.items():
        mimic = joint.find('mimic')
        if mimic is None:
            continue
        leader = _attribute(joint, 'mimic', 'joint', source)
        if leader not in joints:
            raise DescriptionError(
                f'{source}: joint {name!r:.80} mimics the joint {leader!r:.80}, which does not '
                'exist'
            )
        leaders[name] = leader
    for name, leader in leaders.items():
        for _ in leaders:
            if leader == name:
                raise DescriptionError(
                    f'{source}: joint {name!r:.80} mimics {leaders[name]!r:.80}, and so in the '
                    'end itself; one joint of the ring must lead'
                )
            leader = leaders.get(leader, leader)


def _read_joint(name: str, joint: Element, source: str) -> UrdfJoint:
    kind = str(joint.get('type'))
    axis = joint.find('axis')
    if axis is not None:
        vector = _vector(axis.get('xyz', '1 0 0'), f'axis of joint {name!r:.80}', source)
        if math.hypot(*vector) < 1e-6:
            raise DescriptionError(
                f'{source}: axis of joint {name!r:.80} is {vector}, not a direction'
            )
    limit = joint.find('limit')
    values = {} if limit is None else limit.attrib
    bounds = {
        key: _number(values[key], f'{key} limit of joint {name!r:.80}', source)
        for key in ('lower', 'upper', 'velocity', 'effort')
        if key in values
    }
    lower, upper = bounds.get('lower', 0.0), bounds.get('upper', 0.0)
    if kind == 'continuous' or lower == upper == 0.0:
        lower, upper = -math.inf, math.inf
    if lower > upper:
        raise DescriptionError(
            f'{source}: joint {name!r:.80} has the lower limit {lower} above the upper limit '
            f'{upper}'
        )
    for key in ('velocity', 'effort'):
        if bounds.get(key, 0.0) < 0.0:
            raise DescriptionError(
                f'{source}: {key} limit of joint {name!r:.80} is {bounds[key]}, it must not be < 0'
            )
    # URDFs write 0 where a limit is unknown.
    velocity = bounds.get('velocity', 0.0) or math.inf
    effort = bounds.get('effort', 0.0) or math.inf
    mimic = joint.find('mimic')
    if mimic is None:
        return UrdfJoint(name, kind, (lower, upper), velocity, effort)
    what = f'of joint {name!r:.80}'
    return UrdfJoint(
        name, kind, (lower, upper), velocity, effort,
        _attribute(joint, 'mimic', 'joint', source),
        _quantity(mimic.get('multiplier', '1'), f'mimic multiplier {what}', source),
        _quantity(mimic.get('offset', '0'), f'mimic offset {what}', source),
    )


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
