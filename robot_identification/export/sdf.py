# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write an SDF model, as Gazebo reads it, with the identified bodies and friction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lxml import etree
import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.export.arm import (
    ArmJoint, exported_arm, ExportedArm, locked_words, numbers_text,
)
from robot_identification.export.xml_editor import comment_text, xml_text
from robot_identification.model import IdentifiedModel, smallest_eigenvalues

# Gazebo Fortress and later read it; the first one that has quaternions in poses.
VERSION = '1.9'
WORLD = 'world'
ANCHOR = 'fixed_to_world'


def export_sdf(model: IdentifiedModel) -> str:
    """
    Return an SDF model that stands alone.

    One link for each moving joint; other links are frames, and joints that the model does not move
    are welded where they stood. The root link is fixed to the world, and the model is turned so
    that the world's gravity points as the identified one does. Friction is Coulomb and viscous;
    other laws become the nearest of both. Reflected inertia has no place in SDF and stands in a
    comment. There are no shapes. Raises InconsistentModelError if the model is not physically
    consistent.
    """
    arm = exported_arm(model)
    names = _links_of_sdf(arm)
    root = etree.Element('sdf', version=VERSION)
    built = etree.SubElement(root, 'model', name=arm.name)
    built.append(etree.Comment(_remark(model, arm)))
    _add_pose(built, pin.SE3(_upright(arm.gravity), np.zeros(3)))
    base = etree.SubElement(built, 'link', name=names[arm.root])
    # It does not move: where the description has no possible body, SDF's own default does.
    if smallest_eigenvalues(arm.base.toDynamicParameters())[0] > 0.0:
        _add_inertial(base, arm.base)
    taken = [*names.values(), *(joint.name for joint in arm.joints)]
    anchor = etree.SubElement(built, 'joint', name=_free(ANCHOR, taken), type='fixed')
    _add_text(anchor, 'parent', WORLD)
    _add_text(anchor, 'child', names[arm.root])
    links = [names[joint.link] for joint in arm.joints]
    for joint in arm.joints:
        parent = names[arm.root] if joint.parent < 0 else links[joint.parent]
        _add_joint(built, joint, parent, names[joint.link])
    for frame in arm.frames:
        holder = names[arm.root] if frame.joint < 0 else links[frame.joint]
        element = etree.SubElement(built, 'frame', name=names[frame.name], attached_to=holder)
        _add_pose(element, frame.placement)
    return '<?xml version="1.0"?>\n' + xml_text(root)


def _remark(model: IdentifiedModel, arm: ExportedArm) -> str:
    reflected = ', '.join(f'{joint.name} {joint.reflected_inertia:.6g}' for joint in arm.joints)
    return comment_text(
        'Identified by robot_identification. Reflected rotor inertias, which SDF has no place '
        f'for [kg m^2]: {reflected}. Gravity was {numbers_text(arm.gravity)} m/s^2 in the frame '
        'of the root link.'
        + locked_words(model)
    )


def _links_of_sdf(arm: ExportedArm) -> dict[str, str]:
    """Return SDF's name of every link: links, joints and frames share one set of names there."""
    taken = [WORLD, *(joint.name for joint in arm.joints)]
    names: dict[str, str] = {}
    links = [arm.root, *(joint.link for joint in arm.joints), *(f.name for f in arm.frames)]
    for link in links:
        names[link] = link if link not in taken else _free(f'{link}_link', [*taken, *links])
        taken.append(names[link])
    return names


def _free(name: str, taken: Iterable[str]) -> str:
    """Return a name that is not taken."""
    used = set(taken)
    while name in used:
        name += '_'
    return name


def _upright(gravity: FloatArray) -> FloatArray:
    """Return the rotation of the root frame in a world where gravity points down, (3, 3)."""
    size = float(np.linalg.norm(gravity))
    if size == 0.0:
        return np.eye(3)
    turn = pin.Quaternion.FromTwoVectors(gravity / size, np.array([0.0, 0.0, -1.0]))
    rotation: FloatArray = turn.toRotationMatrix()
    return rotation


def _add_joint(built: Any, joint: ArmJoint, parent: str, child: str) -> None:
    link = etree.SubElement(built, 'link', name=child)
    etree.SubElement(link, 'pose', relative_to=joint.name).text = '0 0 0 0 0 0'
    _add_inertial(link, joint.body)
    has_limits = bool(np.isfinite(joint.lower) and np.isfinite(joint.upper))
    # SDF has a type `continuous`, of which Gazebo's plugin of DART makes a fixed joint; sdformat
    # reads a URDF's continuous joint as a revolute one without limits, too.
    element = etree.SubElement(
        built, 'joint', name=joint.name, type='prismatic' if joint.is_prismatic else 'revolute'
    )
    _add_pose(element, joint.placement, relative_to=parent)
    _add_text(element, 'parent', parent)
    _add_text(element, 'child', child)
    axis = etree.SubElement(element, 'axis')
    _add_text(axis, 'xyz', numbers_text(joint.axis))
    limits = {'effort': joint.effort, 'velocity': joint.velocity}
    if has_limits:
        limits = {'lower': joint.lower, 'upper': joint.upper, **limits}
    limit = etree.SubElement(axis, 'limit')
    for key, value in limits.items():
        if np.isfinite(value):
            _add_text(limit, key, repr(value))
    dynamics = etree.SubElement(axis, 'dynamics')
    _add_text(dynamics, 'damping', repr(joint.viscous))
    _add_text(dynamics, 'friction', repr(joint.coulomb))


def _add_inertial(link: Any, body: pin.Inertia) -> None:
    inertial = etree.SubElement(link, 'inertial')
    etree.SubElement(inertial, 'pose').text = f'{numbers_text(body.lever)} 0 0 0'
    _add_text(inertial, 'mass', repr(float(body.mass)))
    tensor = etree.SubElement(inertial, 'inertia')
    for i, a in enumerate('xyz'):
        for j, b in enumerate('xyz'):
            if i <= j:
                _add_text(tensor, f'i{a}{b}', repr(float(body.inertia[i, j])))


def _add_pose(parent: Any, placement: pin.SE3, **attributes: str) -> None:
    # Angles lose half their digits where the pitch is a right angle.
    turn = pin.Quaternion(placement.rotation).coeffs()
    pose = etree.SubElement(parent, 'pose', {**attributes, 'rotation_format': 'quat_xyzw'})
    pose.text = f'{numbers_text(placement.translation)} {numbers_text(turn)}'


def _add_text(parent: Any, tag: str, text: str) -> None:
    etree.SubElement(parent, tag).text = text
