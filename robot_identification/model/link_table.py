# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Link tables: an arm given by its frames instead of a URDF.

Frames are a Denavit-Hartenberg table (standard or modified, with offsets) or fixed ZYX angles as
the KUKA youBot's data are; masses, centres and inertias are stated in those frames. A URDF is
written from it, and everything else goes on with the URDF. Docs: docs/formats/link_table.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, indent, SubElement, tostring

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.files import (
    check_keys, check_schema_version, HAND_WRITTEN, is_number, read_yaml, to_mapping,
)
from robot_identification.model.denavit_hartenberg import CONVENTIONS, DenavitHartenberg
from robot_identification.model.urdf import parse_urdf
from robot_identification.model.urdf_elements import (
    MAXIMUM_MAGNITUDE, numbers_text, set_tensor,
)

SCHEMA_VERSION = 1  # of the file
FIXED_ANGLES = 'fixed_angles'
_DH_KEYS = {'a', 'alpha', 'd', 'theta'}
ABOUT = ('center_of_mass', 'frame')


@dataclass(frozen=True)
class LinkTableRow:
    """A joint and the link it moves."""

    joint: str  # name of the joint
    prismatic: bool  # whether it slides along z of its frame; otherwise it turns about z
    placement: pin.SE3  # joint frame in the one before it, at zero
    position: tuple[float, float] | None  # limits [rad or m]
    velocity: float | None  # limit [rad/s or m/s]
    effort: float | None  # limit [N m or N]
    inertia: pin.Inertia  # of the link, in the joint frame


@dataclass(frozen=True)
class LinkTable:
    """An arm as rows from base to tip, and what people should know of it."""

    name: str
    comment: str
    rows: tuple[LinkTableRow, ...]


def read_link_table(path: Path) -> LinkTable:
    """
    Read a link table.

    Raises UsageError if there is no such file, DescriptionError if it is no link table or a link
    cannot be a rigid body; the message names the link.
    """
    content, source = read_yaml(path, HAND_WRITTEN), str(path)
    check_schema_version(content, source, SCHEMA_VERSION)
    check_keys(content, source, {'schema_version', 'name', 'convention', 'inertia_about', 'links'},
               {'comment'})
    convention, about, entries = (
        content[key] for key in ('convention', 'inertia_about', 'links')
    )
    if convention not in (*CONVENTIONS, FIXED_ANGLES):
        raise DescriptionError(
            f'{source}: convention is {convention!r}, known are '
            f'{", ".join((*CONVENTIONS, FIXED_ANGLES))}'
        )
    if about not in ABOUT:
        raise DescriptionError(
            f'{source}: inertia_about is {about!r}, it must be {" or ".join(ABOUT)}: papers are '
            'not always right about it, and a wrong reading makes impossible bodies'
        )
    if not isinstance(entries, dict) or not entries:
        raise DescriptionError(f'{source}: `links` must map joint names to rows')
    for joint, entry in entries.items():
        where = f'{source}: joint {joint}'
        geometry = {'xyz', 'zyx'} if convention == FIXED_ANGLES else _DH_KEYS
        check_keys(
            to_mapping(entry, where), where, geometry | {'mass', 'center_of_mass', 'inertia'},
            {'type', 'position', 'velocity', 'effort'},
        )
    placements, frames = _frames(convention, entries, source)
    rows = tuple(
        _row(str(joint), entry, own_frames, about, f'{source}: joint {joint}')
        for (joint, entry), *own_frames in zip(entries.items(), placements, frames, strict=True)
    )
    table = LinkTable(str(content['name']), str(content.get('comment', '')), rows)
    _check_bodies(table, about, source)
    return table


def _frames(
    convention: str, entries: dict[str, Any], source: str
) -> tuple[list[pin.SE3], list[pin.SE3]]:
    """Return the joint frames, each in the one before it, and the link frames in them."""
    if convention == FIXED_ANGLES:
        placements = [
            fixed_angles(_vector(entry['zyx'], f'{source}: joint {joint}: zyx'),
                         _vector(entry['xyz'], f'{source}: joint {joint}: xyz'))
            for joint, entry in entries.items()
        ]
        return placements, [pin.SE3.Identity() for _ in placements]
    columns = {
        key: np.array([
            _number(entry[key], f'{source}: joint {joint}: {key}')
            for joint, entry in entries.items()
        ])
        for key in _DH_KEYS
    }
    prismatic = np.array([
        _is_prismatic(entry, f'{source}: joint {joint}') for joint, entry in entries.items()
    ])
    locked = np.full(len(entries), np.nan)
    table = DenavitHartenberg(
        convention, **columns, prismatic=prismatic, locked=locked, base=np.eye(4)
    )
    return table.joint_placements(), table.link_placements(
        'dh' if convention == 'standard' else 'mdh'
    )


def fixed_angles(zyx: FloatArray, xyz: FloatArray) -> pin.SE3:
    """
    Return the pose of a frame turned about the fixed axes z, then y, then x, of its parent.

    The angles `zyx` are in that order [rad], R = Rx Ry Rz (Rajagopal 2017, eq. 3.6); `xyz` is in
    m.
    """
    z, y, x = zyx
    R = pin.utils.rotate('x', x) @ pin.utils.rotate('y', y) @ pin.utils.rotate('z', z)
    return pin.SE3(R, xyz)


def _row(
    joint: str, entry: dict[str, Any], frames: list[pin.SE3], about: str, where: str
) -> LinkTableRow:
    """Return the row of an entry; `frames` are those of the joint and of the link's data."""
    placement, frame = frames
    position = entry.get('position')
    limits = None if position is None else tuple(_vector(position, f'{where}: position', 2))
    velocity, effort = (
        None if entry.get(key) is None else _number(entry[key], f'{where}: {key}')
        for key in ('velocity', 'effort')
    )
    return LinkTableRow(
        joint, _is_prismatic(entry, where), placement, limits, velocity, effort,
        frame.act(_inertia(entry, about, where)),
    )


def _is_prismatic(entry: dict[str, Any], where: str) -> bool:
    kind = entry.get('type', 'revolute')
    if kind not in ('revolute', 'prismatic'):
        raise DescriptionError(f'{where}: type is {kind!r}, it must be revolute or prismatic')
    return bool(kind == 'prismatic')


def _inertia(entry: dict[str, Any], about: str, where: str) -> pin.Inertia:
    """Return the link's inertia in its own frame."""
    mass = _number(entry['mass'], f'{where}: mass')
    if mass < 0.0:
        raise DescriptionError(f'{where}: mass is {mass} kg, it must not be < 0')
    centre = _vector(entry['center_of_mass'], f'{where}: center_of_mass')
    xx, xy, xz, yy, yz, zz = _vector(entry['inertia'], f'{where}: inertia', 6)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if about == 'frame':
        skew = pin.skew(centre)
        tensor = tensor + mass * skew @ skew
    body = pin.Inertia(mass, centre, np.eye(3))
    # The constructor refuses negative moments without a name, and rounded ones can be meant.
    body.inertia = tensor
    return body


def _check_bodies(table: LinkTable, about: str, source: str) -> None:
    """Refuse the links that a URDF may not have either; it makes up for rounded inertias."""
    urdf = parse_urdf(urdf_of_link_table(table), source)
    # What is to be done about a URDF is not what is to be done about a table.
    faults = {
        fault.name: fault.message.removeprefix(f'{source}: ').partition(';')[0]
        for fault in urdf.faults if not fault.is_joint
    }
    reasons = {link.joint: faults[link.name] for link in urdf.links if link.name in faults}
    for row in table.rows:
        if row.joint in reasons:
            raise DescriptionError(
                f'{source}: joint {row.joint}: mass {row.inertia.mass} kg and inertia about the '
                f'{about} cannot be those of a rigid body: {reasons[row.joint]}; check whether '
                f'the source means inertia_about: {ABOUT[1 - ABOUT.index(about)]}'
            )


def _number(value: Any, where: str) -> float:
    if not is_number(value) or not abs(value) <= MAXIMUM_MAGNITUDE:
        raise DescriptionError(
            f'{where} is {value!r:.60}, a number of at most {MAXIMUM_MAGNITUDE:.0e} in SI units '
            'is needed'
        )
    return float(value)


def _vector(values: Any, where: str, size: int = 3) -> FloatArray:
    if not isinstance(values, list) or len(values) != size:
        raise DescriptionError(f'{where} must be a list of {size} numbers, got {values!r}')
    return np.array([_number(value, where) for value in values])


def urdf_of_link_table(table: LinkTable) -> str:
    """
    Write the URDF of a link table: XML with links and joints, no shapes.

    Joint frames become the URDF's; in standard Denavit-Hartenberg the link's data are moved from
    the link frame into the joint frame, with numbers to the last bit.
    """
    robot = Element('robot', name=table.name)
    SubElement(robot, 'link', name='base_link')
    parent, taken = 'base_link', {'base_link'}
    for row in table.rows:
        link = f'{row.joint.removesuffix("_joint")}_link'
        if link in taken:  # of a base_joint, say
            link = f'{row.joint}_link'
        taken.add(link)
        _write_joint(robot, row, parent, link)
        inertial = SubElement(SubElement(robot, 'link', name=link), 'inertial')
        SubElement(inertial, 'origin', xyz=_text(row.inertia.lever), rpy='0 0 0')
        SubElement(inertial, 'mass', value=repr(float(row.inertia.mass)))
        set_tensor(SubElement(inertial, 'inertia'), _without_rounding(row.inertia.inertia))
        parent = link
    indent(robot)
    return f'<?xml version="1.0"?>\n{tostring(robot, encoding="unicode")}\n'


def _write_joint(robot: Element, row: LinkTableRow, parent: str, link: str) -> None:
    kind = 'prismatic' if row.prismatic else 'continuous'
    if row.position is not None and not row.prismatic:
        kind = 'revolute'
    joint = SubElement(robot, 'joint', name=row.joint, type=kind)
    SubElement(joint, 'parent', link=parent)
    SubElement(joint, 'child', link=link)
    rpy = pin.rpy.matrixToRpy(row.placement.rotation)
    SubElement(joint, 'origin', xyz=_text(row.placement.translation), rpy=_text(rpy))
    SubElement(joint, 'axis', xyz='0 0 1')
    limit = SubElement(joint, 'limit')
    if row.position is not None:
        limit.set('lower', repr(float(row.position[0])))
        limit.set('upper', repr(float(row.position[1])))
    limit.set('velocity', repr(row.velocity or 0.0))
    limit.set('effort', repr(row.effort or 0.0))


def _text(values: FloatArray) -> str:
    return numbers_text(_without_rounding(values))


def _without_rounding(values: FloatArray) -> FloatArray:
    """Return numbers without the rounding noise of rotations by right angles."""
    return np.where(np.abs(values) < 1e-15, 0.0, values)
