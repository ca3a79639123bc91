# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Links and joints of a description: their numbers, checked before a URDF parser sees them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
import math
import re
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError

MOVING_JOINT_TYPES = ('revolute', 'continuous', 'prismatic')
# What the URDF parser behind Pinocchio reads; from anything else it makes zero without a word.
PLAIN_NUMBER = re.compile(r'[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?', re.ASCII)
# Nothing of a robot is larger in SI units; above, products of numbers leave the range of doubles.
MAXIMUM_MAGNITUDE = 1.0e9
# Limits from which on a file states none [rad or m]; and magnitudes [rad/s or m/s], [N m or N]:
# the largest arms turn their base by 1e5 N m at most, and vendors write 1e9 where nothing is
# known. The last three are of URDF 1.2; acceleration [rad/s^2 or m/s^2]: that of the largest
# velocity within 10 ms.
NO_POSITION = 1.0e5
NO_MAGNITUDE = {
    'velocity': 1.0e3, 'effort': 1.0e5, 'acceleration': 1.0e5, 'deceleration': 1.0e5,
    'jerk': math.inf,
}
# Published inertias are rounded, to three digits at worst: part of the largest principal moment
# by which a body may miss the rules of a body.
INERTIA_ROUNDING = 0.01
# Square of the radius of gyration [m^2], here of a micrometre, up to which a body is a point.
POINT_GYRATION = 1.0e-12
# Mass [kg] and principal moment [kg m^2] of a frame that was given some inertia so that a
# simulator takes it: a hundredth of the hand of the smallest arms.
NEGLIGIBLE_MASS, NEGLIGIBLE_MOMENT = 1.0e-3, 1.0e-5
INERTIA_KEYS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


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
    # Of URDF 1.2 [rad/s^2 or m/s^2], the smaller one of `acceleration` and `deceleration`, and
    # [rad/s^3 or m/s^3]; infinite likewise.
    acceleration: float
    jerk: float
    # Name of the joint that this one follows, as the second finger of a gripper does.
    mimic: str | None = None
    # It stands at multiplier * leader + offset [1], [rad or m].
    mimic_multiplier: float = 1.0
    mimic_offset: float = 0.0


@dataclass(frozen=True)
class UrdfLink:
    """A link as its URDF states it."""

    name: str
    joint: str | None  # the joint it hangs on; None for the root
    moved: bool  # whether a moving joint lies between it and the root
    mass: float = 0.0  # [kg]; zero where the URDF has none
    # Eigenvalues of its inertia about its centre of mass, ascending [kg m^2].
    principal_moments: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def _size(self) -> float:
        return max(map(abs, self.principal_moments))

    @property
    def is_point_mass(self) -> bool:
        """Return whether it has mass and no extent."""
        return self.mass > 0.0 and self._size <= POINT_GYRATION * self.mass

    @property
    def is_negligible(self) -> bool:
        """Return whether no torque shows its inertia."""
        return self.mass <= NEGLIGIBLE_MASS and self._size <= NEGLIGIBLE_MOMENT

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
        size = self._size
        shown = f'the principal moments {low:.6g}, {middle:.6g} and {high:.6g} kg m^2'
        if self.mass == 0.0 and size > 0.0:
            return f'it has no mass and {shown}'
        slack = max(INERTIA_ROUNDING * size, POINT_GYRATION * self.mass)
        if low < -slack:
            return f'it has {shown}, and none may be negative'
        if high - low - middle > slack:
            return f'it has {shown}, and none may be larger than the sum of the other two'
        return None


def numbers_in(text: str) -> FloatArray:
    """Return the numbers of a checked attribute."""
    return np.array([float(part) for part in text.split()])


def numbers_text(values: Iterable[float]) -> str:
    """Return numbers to the last bit, as an attribute has them."""
    return ' '.join(repr(float(value)) for value in values)


def pose_in(origin: Element | None) -> pin.SE3:
    """Return the pose of a checked <origin>."""
    xyz, rpy = (
        numbers_in('0 0 0' if origin is None else origin.get(key, '0 0 0'))
        for key in ('xyz', 'rpy')
    )
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy), xyz)


def set_pose(joint: Element, pose: pin.SE3) -> None:
    """Write the <origin> of a joint, in place."""
    origin = joint.find('origin')
    if origin is None:
        origin = SubElement(joint, 'origin')
    origin.set('xyz', numbers_text(pose.translation))
    origin.set('rpy', numbers_text(pin.rpy.matrixToRpy(pose.rotation)))


def tensor_in(inertia: Element) -> FloatArray:
    """Return the tensor (3, 3) of a checked <inertia>."""
    xx, xy, xz, yy, yz, zz = (float(inertia.get(key, '')) for key in INERTIA_KEYS)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def set_tensor(inertia: Element, tensor: FloatArray) -> None:
    """Write a tensor (3, 3) into an <inertia>, in place."""
    for key, value in zip(INERTIA_KEYS, tensor[np.triu_indices(3)], strict=True):
        inertia.set(key, repr(float(value)))


def attribute_of(joint: Element, tag: str, attribute: str) -> str:
    """Return an attribute of an element of a joint; raise DescriptionError if it has none."""
    element = joint.find(tag)
    value = None if element is None else element.get(attribute)
    if value is None:
        raise DescriptionError(
            f'joint {joint.get("name")!r:.80} has no <{tag} {attribute}="..."/>'
        )
    return value


def _number(text: str | None, what: str, largest: float = MAXIMUM_MAGNITUDE) -> float:
    stripped = '' if text is None else text.strip()
    if not PLAIN_NUMBER.fullmatch(stripped):
        raise DescriptionError(
            f'{what} is {None if text is None else stripped!r:.80}; a plain decimal number is '
            'needed'
        )
    value = float(stripped)
    if not math.isfinite(value):
        raise DescriptionError(f'{what} is {stripped!r:.80}; a finite number is needed')
    if abs(value) > largest:
        raise DescriptionError(
            f'{what} is {text!r:.80}, beyond the {largest:g} that a robot can have; is it in SI '
            'units?'
        )
    return value


def _vector(text: str, what: str) -> list[float]:
    values = [_number(part, what) for part in text.split()]
    if len(values) != 3:
        raise DescriptionError(f'{what} is {text!r:.80}; three numbers are needed')
    return values


def check_origin(element: Element | None, what: str, where: str) -> None:
    """Check position and angles of an <origin>, if there is one."""
    if element is not None:
        for key in ('xyz', 'rpy'):
            _vector(element.get(key, '0 0 0'), f'{what} {key} of {where}')


def read_link(
    name: str, element: Element, joint: str | None, moved: bool
) -> UrdfLink:
    """Return a link, be it a rigid body or not; raise DescriptionError if a number is none."""
    where = f'link {name!r:.80}'
    _check_shapes(element, where)
    inertial = element.find('inertial')
    if inertial is None:
        return UrdfLink(name, joint, moved)
    mass_element, inertia_element = inertial.find('mass'), inertial.find('inertia')
    if mass_element is None or inertia_element is None:
        raise DescriptionError(f'{where} has <inertial> without mass or inertia')
    mass = _number(mass_element.get('value'), f'mass of {where}')
    if mass < 0.0:
        raise DescriptionError(f'mass of {where} is {mass} kg, it must not be < 0')
    for key in INERTIA_KEYS:
        value = _number(inertia_element.get(key), f'{key} of {where}')
        if key in ('ixx', 'iyy', 'izz') and value < -POINT_GYRATION * mass:
            raise DescriptionError(
                f'{key} of {where} is {value} kg m^2, it must not be < 0'
            )
    check_origin(inertial.find('origin'), 'inertial origin', where)
    low, middle, high = np.linalg.eigvalsh(tensor_in(inertia_element)).tolist()
    return UrdfLink(name, joint, moved, mass, (low, middle, high))


def _check_shapes(link: Element, where: str) -> None:
    """Check poses and sizes: simple collision shapes stay in the text that others read."""
    for element in link.findall('collision'):
        check_origin(element.find('origin'), 'collision origin', where)
        for shape, key in product(element.findall('geometry/*'), ('size', 'radius', 'length')):
            what = f'collision {key} of {where}'
            for part in shape.get(key, '').split():
                if _number(part, what) < 0.0:
                    raise DescriptionError(f'{what} is {part} m, it must not be < 0')


def read_joint(name: str, joint: Element) -> UrdfJoint:
    """Return a moving joint; raise DescriptionError if a number of it cannot be meant."""
    kind, what = str(joint.get('type')), f'joint {name!r:.80}'
    if kind not in MOVING_JOINT_TYPES:
        raise DescriptionError(
            f'{what} is of type {kind!r:.80}; supported are '
            f'{", ".join(MOVING_JOINT_TYPES)} and fixed'
        )
    axis = joint.find('axis')
    if axis is not None:
        vector = _vector(axis.get('xyz', '1 0 0'), f'axis of {what}')
        if math.hypot(*vector) < 1e-6:
            raise DescriptionError(f'axis of {what} is {vector}, not a direction')
    limits = _read_limits(joint, kind, what)
    mimic = joint.find('mimic')
    if mimic is None:
        return UrdfJoint(name, kind, *limits)
    return UrdfJoint(
        name, kind, *limits,
        attribute_of(joint, 'mimic', 'joint'),
        _number(mimic.get('multiplier', '1'), f'mimic multiplier of {what}'),
        _number(mimic.get('offset', '0'), f'mimic offset of {what}'),
    )


def _read_limits(
    joint: Element, kind: str, what: str
) -> tuple[tuple[float, float], float, float, float, float]:
    """Return the limits of a `UrdfJoint`; infinite where none is stated."""
    limit = joint.find('limit')
    values = {} if limit is None else limit.attrib
    bounds = {
        key: _limit(values[key], f'{key} limit of {what}')
        for key in ('lower', 'upper', *NO_MAGNITUDE) if key in values
    }
    lower, upper = bounds.get('lower', 0.0), bounds.get('upper', 0.0)
    if kind == 'continuous' or lower == upper == 0.0:
        lower, upper = -math.inf, math.inf
    if lower > upper:
        raise DescriptionError(
            f'{what} has the lower limit {lower} above the upper limit {upper}'
        )
    # URDFs write 0 where a limit is unknown, or a number that nothing reaches.
    magnitudes = dict.fromkeys(NO_MAGNITUDE, math.inf)
    for key, none_from in NO_MAGNITUDE.items():
        value = bounds.get(key, 0.0)
        if value < 0.0:
            raise DescriptionError(
                f'{key} limit of {what} is {value}, it must not be < 0'
            )
        if 0.0 < value < none_from:
            magnitudes[key] = value
    return (
        (lower if lower > -NO_POSITION else -math.inf, upper if upper < NO_POSITION else math.inf),
        magnitudes['velocity'],
        magnitudes['effort'],
        min(magnitudes['acceleration'], magnitudes['deceleration']),
        magnitudes['jerk'],
    )


def _limit(text: str, what: str) -> float:
    if re.fullmatch(r'[-+]?inf(inity)?', text.strip().lower()):
        return float(text)  # what nothing reaches
    return _number(text, what, math.inf)


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
    joints: dict[str, Element]
) -> tuple[list[UrdfJoint], list[UrdfFault]]:
    """Return the moving joints; what cannot be one becomes a fixed joint in place."""
    moving: list[UrdfJoint] = []
    faults: list[UrdfFault] = []
    unled = _mimic_faults(joints)
    for name, joint in joints.items():
        try:
            check_origin(joint.find('origin'), 'origin', f'joint {name!r:.80}')
            if name in unled:
                raise DescriptionError(unled[name])
            if joint.get('type') != 'fixed':
                moving.append(read_joint(name, joint))
            continue
        except DescriptionError as error:
            # With more than one degree of freedom it can stand below an arm, never in it.
            free = joint.get('type') in ('floating', 'planar')
            faults.append(UrdfFault(name, True, str(error), free))
            joint.set('type', 'fixed')
            kept = ('parent', 'child', 'origin') if free else ('parent', 'child')
            joint[:] = [child for child in joint if child.tag in kept]
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
            element = joints[joint.name]
            element[:] = [child for child in element if child.tag != 'mimic']
        free.append(joint)
    return free


def _mimic_faults(joints: dict[str, Element]) -> dict[str, str]:
    """Return the joints that follow no joint that leads, and why."""
    leaders: dict[str, str] = {}
    faults: dict[str, str] = {}
    for name, joint in joints.items():
        mimic = joint.find('mimic')
        if mimic is None or joint.get('type') == 'fixed':
            continue
        try:
            leader = attribute_of(joint, 'mimic', 'joint')
        except DescriptionError as error:
            faults[name] = str(error)
            continue
        if leader not in joints:
            faults[name] = (
                f'joint {name!r:.80} mimics the joint {leader!r:.80}, which does not '
                'exist'
            )
        leaders[name] = leader
    for name, leader in leaders.items():
        for _ in leaders:
            if leader != name:
                leader = leaders.get(leader, leader)
        if leader == name:
            faults[name] = (
                f'joint {name!r:.80} mimics {leaders[name]!r:.80}, and so in the end '
                'itself; one joint of the ring must lead'
            )
    return faults


def read_links(
    links: dict[str, Element], joints: dict[str, Element],
    parents: Mapping[str, tuple[str, str]], moved: Container[str],
) -> tuple[list[UrdfLink], list[UrdfFault], list[str]]:
    """
    Return the links, those with numbers that are none as empty links in place, and remarks.

    `parents` has joint and parent link by link, `moved` the links with a moving joint below.
    """
    checked: list[UrdfLink] = []
    faults: list[UrdfFault] = []
    remarks: list[str] = []
    negligible: list[str] = []
    for name, link in links.items():
        joint, parent = parents.get(name, (None, None))
        is_moved = name in moved
        try:
            read = read_link(name, link, joint, is_moved)
        except DescriptionError as error:
            faults.append(UrdfFault(name, False, str(error)))
            link[:] = []
            read = UrdfLink(name, joint, is_moved)
        if (why := read.fault) is not None:
            is_first = is_moved and parent not in moved
            remark = _repair(read, link, None if joint is None else joints[joint], is_first)
            read = read_link(name, link, joint, is_moved)
            if remark:
                remarks.append(f'link {name} {remark}')
            elif read.fault is None:
                negligible.append(name)
            else:
                faults.append(UrdfFault(name, False, (
                    f'link {name!r:.80} is no rigid body: {why}; correct its <inertial>, or leave '
                    'it out if nothing is known'
                ), of_inertia=read.mass > 0.0))
        checked.append(read)
    if negligible:
        remarks.append(
            f'{_listed("link", negligible)} taken as without inertia: what the file states is '
            'negligible and no rigid body has it'
        )
    return checked, faults, remarks


def _repair(link: UrdfLink, element: Element, joint: Element | None, is_first: bool) -> str:
    """
    Make an inertia that no body has one that a body has, in place, if little or nothing changes.

    `is_first` says whether the joint alone moves the link. Return what was done in words; empty
    if nothing, or if the inertia was negligible and is removed.
    """
    is_frame = joint is not None and joint.get('type') == 'fixed'
    # Nothing is known of it: a zero that was rounded has no moments that are seen.
    is_massless_frame = link.mass == 0.0 and is_frame
    if is_massless_frame or link.is_negligible:
        for inertial in element.findall('inertial'):
            element.remove(inertial)
        return f'is taken as without inertia: {link.fault}' if is_massless_frame else ''
    body, inertia = element.find('inertial'), element.find('inertial/inertia')
    if link.mass == 0.0 or body is None or inertia is None:
        return ''
    if is_first and joint is not None and joint.get('type') != 'prismatic':
        moment = _moment_about(joint, body, tensor_in(inertia))
        if moment is not None:
            set_tensor(inertia, moment * np.eye(3))
            return (
                f'has an inertia that no rigid body has; the moment about {joint.get("name")} is '
                'kept, which alone moves it, and stands for the others'
            )
    if is_frame or (change := _take_nearest(inertia)) is None:
        return ''
    return (
        f'has an inertia that no rigid body has: {link.fault}; the nearest inertia of a body is '
        f'used instead, which differs by {change:.1%}'
    )


def _moment_about(joint: Element, inertial: Element, tensor: FloatArray) -> float | None:
    """
    Return the moment of inertia of an <inertial> about the direction of its joint [kg m^2].

    None if larger moments across that direction would not make it the inertia of a body.
    """
    axis = joint.find('axis')
    direction = numbers_in('1 0 0' if axis is None else axis.get('xyz', '1 0 0'))
    direction = pose_in(inertial.find('origin')).rotation.T @ direction
    direction /= np.linalg.norm(direction)
    across = np.eye(3) - np.outer(direction, direction)
    raised = tensor + 2.0 * np.abs(tensor).sum() * across
    low, middle, high = np.linalg.eigvalsh(raised)
    is_body = low >= 0.0 and high <= (low + middle) * (1.0 + 1.0e-9)
    return float(direction @ tensor @ direction) if is_body else None


def _take_nearest(inertia: Element) -> float | None:
    """
    Replace an inertia by the nearest one of a rigid body, in place.

    Nearest are its second moments of mass, of which none may be negative. Return the norm of the
    change over that of the inertia; None, and change nothing, beyond 40 %: the tests of the data
    take the inertias of a description to be as uncertain.
    """
    tensor = tensor_in(inertia)
    size = float(np.linalg.norm(tensor))
    # Second moments of the mass; at least those of a thin plate.
    moments, axes = np.linalg.eigh(0.5 * np.trace(tensor) * np.eye(3) - tensor)
    moments = np.maximum(moments, 1.0e-6 * max(float(moments.max()), 0.0))
    nearest = moments.sum() * np.eye(3) - (axes * moments) @ axes.T
    change = float(np.linalg.norm(nearest - tensor))
    if not change <= 0.4 * size:
        return None
    set_tensor(inertia, nearest)
    return change / size


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
    shown = ', '.join(names[:8]) + (', ..' if len(names) > 8 else '')
    return f'{kind} {shown} is' if len(names) == 1 else f'{kind}s {shown} are'
