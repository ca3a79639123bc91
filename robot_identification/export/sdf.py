# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write an SDF model, as Gazebo reads it, with the identified bodies and friction."""

from collections.abc import Iterable
from typing import Any

from lxml import etree
from lxml.builder import E
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
    taken = [*names.values(), *(joint.name for joint in arm.joints)]
    links = [names[joint.link] for joint in arm.joints]
    built = E.model(
        etree.Comment(_remark(model, arm)),
        _pose(pin.SE3(_upright(arm.gravity), np.zeros(3))),
        E.link(*_possible_inertial(arm.base), name=names[arm.root]),
        E.joint(
            E.parent(WORLD), E.child(names[arm.root]), name=_free(ANCHOR, taken), type='fixed'
        ),
        name=arm.name,
    )
    for joint in arm.joints:
        parent = names[arm.root] if joint.parent < 0 else links[joint.parent]
        built.extend(_link_and_joint(joint, parent, names[joint.link]))
    for frame in arm.frames:
        holder = links[frame.parentJoint - 1] if frame.parentJoint else names[arm.root]
        built.append(E.frame(
            _pose(frame.placement), {'name': names[frame.name], 'attached_to': holder}
        ))
    return '<?xml version="1.0"?>\n' + xml_text(E.sdf(built, version=VERSION))


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


def _link_and_joint(joint: ArmJoint, parent: str, child: str) -> list[Any]:
    """Return a link, and the joint that carries it."""
    limits = {'effort': joint.effort, 'velocity': joint.velocity}
    if np.isfinite(joint.lower) and np.isfinite(joint.upper):
        limits = {'lower': joint.lower, 'upper': joint.upper, **limits}
    return [
        E.link(
            E.pose('0 0 0 0 0 0', relative_to=joint.name), _inertial(joint.body), name=child
        ),
        E.joint(
            _pose(joint.placement, relative_to=parent), E.parent(parent), E.child(child),
            E.axis(
                E.xyz(numbers_text(joint.axis)),
                E.limit(*(E(key, repr(x)) for key, x in limits.items() if np.isfinite(x))),
                E.dynamics(E.damping(repr(joint.viscous)), E.friction(repr(joint.coulomb))),
            ),
            # SDF has a type `continuous`, of which Gazebo's plugin of DART makes a fixed joint;
            # sdformat reads a URDF's continuous joint as a revolute one without limits, too.
            name=joint.name, type='prismatic' if joint.is_prismatic else 'revolute',
        ),
    ]


def _possible_inertial(base: pin.Inertia) -> list[Any]:
    """Return the inertial of what does not move; without a possible body, SDF's own default."""
    return [_inertial(base)] if smallest_eigenvalues(base.toDynamicParameters())[0] > 0.0 else []


def _inertial(body: pin.Inertia) -> Any:
    return E.inertial(
        # Where this pose turns, Gazebo's plugin of DART turns the tensor twice (gz-physics < 5.3).
        E.pose(f'{numbers_text(body.lever)} 0 0 0'),
        E.mass(repr(float(body.mass))),
        E.inertia(*(
            E(f'i{a}{b}', repr(float(body.inertia[i, j])))
            for i, a in enumerate('xyz') for j, b in enumerate('xyz') if i <= j
        )),
    )


def _pose(placement: pin.SE3, **attributes: str) -> Any:
    # Angles lose half their digits where the pitch is a right angle.
    turn = pin.Quaternion(placement.rotation).coeffs()
    return E.pose(
        f'{numbers_text(placement.translation)} {numbers_text(turn)}', **attributes,
        rotation_format='quat_xyzw',
    )
