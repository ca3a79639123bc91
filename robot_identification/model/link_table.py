# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Link tables: an arm given by its frames instead of a URDF.

Frames are a Denavit-Hartenberg table (standard or modified, with offsets) or fixed ZYX angles as
the KUKA youBot's data are; masses, centres and inertias are stated in those frames. A URDF is
written from it, and everything else goes on with the URDF. Docs: docs/formats/link_table.md.
"""

from __future__ import annotations

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


def read_link_table(path: Path) -> str:
    """
    Read a link table and return the URDF of its arm: XML with links and joints, no shapes.

    Joint frames become the URDF's; in standard Denavit-Hartenberg the link's data are moved from
    the link frame into the joint frame, with numbers to the last bit. Raises UsageError if there
    is no such file, DescriptionError if it is no link table or a link cannot be a rigid body; the
    message names the link.
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
    entries = {str(joint): entry for joint, entry in entries.items()}
    for joint, entry in entries.items():
        where = f'{source}: joint {joint}'
        geometry = {'xyz', 'zyx'} if convention == FIXED_ANGLES else _DH_KEYS
        check_keys(
            to_mapping(entry, where), where, geometry | {'mass', 'center_of_mass', 'inertia'},
            {'type', 'position', 'velocity', 'effort'},
        )
    robot = Element('robot', name=str(content['name']))
    links = ['base_link']
    SubElement(robot, 'link', name=links[0])
    placements, frames = _frames(convention, entries, source)
    for (joint, entry), placement, frame in zip(
        entries.items(), placements, frames, strict=True
    ):
        where, link = f'{source}: joint {joint}', f'{joint.removesuffix("_joint")}_link'
        if link in links:  # of a base_joint, say
            link = f'{joint}_link'
        _write_joint(robot, joint, (links[-1], link), placement, entry, where)
        _write_link(robot, link, frame.act(_inertia(entry, about, where)))
        links.append(link)
    indent(robot)
    text = f'<?xml version="1.0"?>\n{tostring(robot, encoding="unicode")}\n'
    _check_bodies(text, entries, about, source)
    return text


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


def _check_bodies(text: str, entries: dict[str, Any], about: str, source: str) -> None:
    """Refuse the links that a URDF may not have either; it makes up for rounded inertias."""
    urdf = parse_urdf(text, source)
    joints = {link.name: str(link.joint) for link in urdf.links}
    for fault in urdf.faults:
        if not fault.is_joint:
            joint = joints[fault.name]
            # What is to be done about a URDF is not what is to be done about a table.
            reason = fault.message.removeprefix(f'{source}: ').partition(';')[0]
            raise DescriptionError(
                f'{source}: joint {joint}: mass {float(entries[joint]["mass"])} kg and inertia '
                f'about the {about} cannot be those of a rigid body: {reason}; check whether the '
                f'source means inertia_about: {ABOUT[1 - ABOUT.index(about)]}'
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


def _write_joint(
    robot: Element, name: str, links: tuple[str, str], placement: pin.SE3, entry: dict[str, Any],
    where: str,
) -> None:
    """Write a joint along z between two links; without a range it turns or slides for ever."""
    position = entry.get('position')
    kind = 'revolute' if position is not None else 'continuous'
    joint = SubElement(
        robot, 'joint', name=name, type='prismatic' if _is_prismatic(entry, where) else kind
    )
    SubElement(joint, 'parent', link=links[0])
    SubElement(joint, 'child', link=links[1])
    rpy = pin.rpy.matrixToRpy(placement.rotation)
    SubElement(joint, 'origin', xyz=_text(placement.translation), rpy=_text(rpy))
    SubElement(joint, 'axis', xyz='0 0 1')
    limit = SubElement(joint, 'limit')
    if position is not None:
        ends = _vector(position, f'{where}: position', 2)
        for key, end in zip(('lower', 'upper'), ends, strict=True):
            limit.set(key, repr(float(end)))
    for key in ('velocity', 'effort'):
        value = entry.get(key)
        limit.set(key, repr(0.0 if value is None else _number(value, f'{where}: {key}')))


def _write_link(robot: Element, name: str, inertia: pin.Inertia) -> None:
    """Write a link with its inertia in the frame of its joint."""
    inertial = SubElement(SubElement(robot, 'link', name=name), 'inertial')
    SubElement(inertial, 'origin', xyz=_text(inertia.lever), rpy='0 0 0')
    SubElement(inertial, 'mass', value=repr(float(inertia.mass)))
    set_tensor(SubElement(inertial, 'inertia'), _without_rounding(inertia.inertia))


def _text(values: FloatArray) -> str:
    return numbers_text(_without_rounding(values))


def _without_rounding(values: FloatArray) -> FloatArray:
    """Return numbers without the rounding noise of rotations by right angles."""
    return np.where(np.abs(values) < 1e-15, 0.0, values)
