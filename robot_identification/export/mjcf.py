# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write a MuJoCo model with the identified bodies, rotors and friction."""

from __future__ import annotations

from typing import Any

from lxml import etree
import numpy as np
import pinocchio as pin
from robot_identification.export.arm import (
    ArmJoint, exported_arm, ExportedArm, locked_words, numbers_text,
)
from robot_identification.export.friction_forms import (
    BRISTLE_TIME, fit_all_frictions, FittedFriction, LUGRE, NEEDED_VERSIONS, PLAIN, PRESLIDING,
)
from robot_identification.export.xml_editor import comment_text, xml_text
from robot_identification.model import IdentifiedModel

# MuJoCo's own name for what stands still.
WORLD = 'world'


def export_mjcf(model: IdentifiedModel, form: str = PLAIN) -> str:
    """
    Return a MuJoCo model (MJCF) that stands alone.

    One body for each moving joint; other links are sites in it, and joints that the model does not
    move are welded where they stood. Reflected inertia is `armature`, viscous friction `damping`,
    Coulomb friction `frictionloss`; other laws become the nearest of both, or what a `form` of
    `friction_forms.FORMS` has; a comment says by how much that misses. A motor of gear 1 drives
    each joint, in N m (N) and within the effort limit; a constant offset of the friction is its
    bias. Gravity is that in the root frame. There are no shapes, so that nothing collides. Raises
    InconsistentModelError if the model is not physically consistent, UsageError if there is no
    such form.
    """
    arm = exported_arm(model)
    frictions = fit_all_frictions(model, form)
    root = etree.Element('mujoco', model=arm.name)
    root.append(etree.Comment(_remark(model, frictions)))
    etree.SubElement(
        root, 'compiler', angle='radian', autolimits='true', inertiafromgeom='false',
        balanceinertia='false',
    )
    etree.SubElement(root, 'option', gravity=numbers_text(arm.gravity), integrator='implicitfast')
    world = etree.SubElement(root, 'worldbody')
    base = world if arm.root == WORLD else etree.SubElement(world, 'body', name=arm.root)
    bodies: list[Any] = []
    for joint, friction in zip(arm.joints, frictions, strict=True):
        bodies.append(_add_body(_parent(base, bodies, joint.parent), joint, friction))
    for frame in arm.frames:
        etree.SubElement(
            _parent(base, bodies, frame.joint), 'site',
            {'name': frame.name, **_pose(frame.placement)},
        )
    _add_motors(root, arm, frictions)
    return xml_text(root)


def _remark(model: IdentifiedModel, frictions: list[FittedFriction]) -> str:
    needed = NEEDED_VERSIONS.get(frictions[0].form)
    return comment_text(
        'Identified by robot_identification. Gravity is that in the frame of the root link.'
        + (f' Needs MuJoCo {needed} or later.' if needed else '')
        + locked_words(model)
        + ''.join(
            f'\n{friction.describe(name)}.'
            for name, friction in zip(model.robot.joint_names, frictions, strict=True)
        )
    )


def _parent(base: Any, bodies: list[Any], joint: int) -> Any:
    return base if joint < 0 else bodies[joint]


def _add_body(parent: Any, joint: ArmJoint, friction: FittedFriction) -> Any:
    body = etree.SubElement(parent, 'body', {'name': joint.link, **_pose(joint.placement)})
    inertia = joint.body.inertia
    rows, columns = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
    etree.SubElement(
        body, 'inertial', pos=numbers_text(joint.body.lever), mass=repr(float(joint.body.mass)),
        fullinertia=numbers_text(inertia[rows, columns]),
    )
    bounds = np.array([joint.lower, joint.upper])
    has_range = {'range': numbers_text(bounds)} if np.all(np.isfinite(bounds)) else {}
    etree.SubElement(body, 'joint', {
        'name': joint.name,
        'type': 'slide' if joint.is_prismatic else 'hinge',
        'axis': numbers_text(joint.axis),
        'armature': repr(joint.reflected_inertia),
        **friction_attributes(friction),
        **has_range,
    })
    return body


def friction_attributes(friction: FittedFriction) -> dict[str, str]:
    """Return the attributes of a joint for its friction; bristles are an actuator's."""
    first, *others = friction.damping
    return {
        'damping': numbers_text(np.array(friction.damping)) if any(others) else repr(first),
        'frictionloss': repr(0.0 if friction.form == LUGRE else friction.coulomb),
    }


def _add_motors(
    root: Any, arm: ExportedArm, frictions: list[FittedFriction]
) -> None:
    actuators = etree.SubElement(root, 'actuator')
    for joint in arm.joints:
        limit = np.array([-joint.effort, joint.effort])
        has_limit = {'ctrlrange': numbers_text(limit)} if np.isfinite(joint.effort) else {}
        motor = {'name': joint.name, 'joint': joint.name, 'gear': '1', **has_limit}
        if joint.offset:
            bias = np.array([-joint.offset, 0.0, 0.0])
            etree.SubElement(actuators, 'general', {
                **motor, 'gainprm': '1', 'biastype': 'affine', 'biasprm': numbers_text(bias),
            })
        else:
            etree.SubElement(actuators, 'motor', motor)
    # After the motors, so that controls are numbered as the joints are.
    for joint, friction in zip(arm.joints, frictions, strict=True):
        if friction.form == LUGRE and friction.static > 0.0:
            stiffness = friction.static / PRESLIDING
            etree.SubElement(actuators, 'dcmotor', {
                'name': f'{joint.name}_friction', 'joint': joint.name, 'input': 'none',
                'motorconst': '0 0', 'resistance': '1',
                'lugre': numbers_text(np.array([
                    stiffness, BRISTLE_TIME * stiffness, friction.coulomb, friction.static,
                    friction.stribeck,
                ])),
            })


def _pose(placement: pin.SE3) -> dict[str, str]:
    x, y, z, w = pin.Quaternion(placement.rotation).coeffs()
    return {
        'pos': numbers_text(placement.translation), 'quat': numbers_text(np.array([w, x, y, z]))
    }
