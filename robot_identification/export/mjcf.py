# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write a MuJoCo model with the identified bodies, rotors and friction."""

from collections.abc import Iterator
from typing import Any

from lxml import etree
from lxml.builder import E
import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
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
    world = E.worldbody()
    base = world if arm.root == WORLD else etree.SubElement(world, 'body', name=arm.root)
    bodies: list[Any] = []
    for joint, friction in zip(arm.joints, frictions, strict=True):
        bodies.append(_body(joint, friction))
        (base if joint.parent < 0 else bodies[joint.parent]).append(bodies[-1])
    for frame in arm.frames:
        (bodies[frame.parentJoint - 1] if frame.parentJoint else base).append(
            E.site(name=frame.name, **_pose(frame.placement))
        )
    return xml_text(E.mujoco(
        etree.Comment(_remark(model, frictions)),
        E.compiler(
            angle='radian', autolimits='true', inertiafromgeom='false', balanceinertia='false'
        ),
        E.option(gravity=numbers_text(arm.gravity), integrator='implicitfast'),
        world, E.actuator(*_motors(arm), *_bristles(arm, frictions)), model=arm.name,
    ))


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


def _body(joint: ArmJoint, friction: FittedFriction) -> Any:
    bounds = np.array([joint.lower, joint.upper])
    has_range = {'range': numbers_text(bounds)} if np.all(np.isfinite(bounds)) else {}
    values = {key: numbers_text(value) for key, value in joint_values(joint, friction).items()}
    return E.body(
        E.inertial(**inertial_attributes(joint.body)),
        E.joint(
            name=joint.name, type='slide' if joint.is_prismatic else 'hinge',
            axis=numbers_text(joint.axis), **values, **has_range,
        ),
        name=joint.link, **_pose(joint.placement),
    )


def inertial_attributes(body: pin.Inertia) -> dict[str, str]:
    """Return the attributes of an element <inertial>, without the rounding of frames."""
    moments = body.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return {
        'pos': numbers_text(_without_rounding(body.lever)), 'mass': repr(float(body.mass)),
        'fullinertia': numbers_text(_without_rounding(moments)),
    }


def _without_rounding(vector: FloatArray) -> FloatArray:
    """Return a vector with zero for what is the rounding of frames, doubles being 1e-16."""
    return np.where(np.abs(vector) > 1e-14 * np.abs(vector).max(), vector, 0.0)


def joint_values(joint: ArmJoint, friction: FittedFriction) -> dict[str, FloatArray]:
    """Return rotor and friction of a joint by attribute; bristles are an actuator's."""
    damping = np.array(friction.damping)
    return {
        'armature': np.array([joint.reflected_inertia]),
        'damping': damping if damping[1:].any() else damping[:1],
        'frictionloss': np.array([0.0 if friction.form == LUGRE else friction.coulomb]),
    }


def _motors(arm: ExportedArm) -> Iterator[Any]:
    for joint in arm.joints:
        motor = {'name': joint.name, 'joint': joint.name, 'gear': '1'}
        if np.isfinite(joint.effort):
            motor['ctrlrange'] = numbers_text(np.array([-joint.effort, joint.effort]))
        if joint.offset:
            bias = numbers_text(np.array([-joint.offset, 0.0, 0.0]))
            yield E.general(**motor, gainprm='1', biastype='affine', biasprm=bias)
        else:
            yield E.motor(**motor)


def _bristles(arm: ExportedArm, frictions: list[FittedFriction]) -> Iterator[Any]:
    """Yield what comes after the motors, so that controls are numbered as the joints are."""
    for joint, friction in zip(arm.joints, frictions, strict=True):
        if friction.form == LUGRE and friction.static > 0.0:
            stiffness = friction.static / PRESLIDING
            yield E.dcmotor(
                name=f'{joint.name}_friction', joint=joint.name, input='none',
                motorconst='0 0', resistance='1', lugre=numbers_text(np.array([
                    stiffness, BRISTLE_TIME * stiffness, friction.coulomb, friction.static,
                    friction.stribeck,
                ])),
            )


def _pose(placement: pin.SE3) -> dict[str, str]:
    x, y, z, w = pin.Quaternion(placement.rotation).coeffs()
    return {
        'pos': numbers_text(placement.translation), 'quat': numbers_text(np.array([w, x, y, z]))
    }
