# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Model data of every export: consistent bodies, rotors with mass, plain friction."""

from dataclasses import dataclass

from lxml import etree
import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import InconsistentModelError, UsageError
from robot_identification.model import (
    IdentifiedModel, nearest_plain_friction, sliding_speeds, smallest_eigenvalues,
)

# Where the model does not say up to which speed its friction is known [rad/s].
UNKNOWN_SPEED = 1.0
# Part of a number that is rounding: an estimate that is the description's is so within the
# tolerance of a solver, and MuJoCo keeps an inertia as principal moments and a quaternion.
ROUNDING = 1.0e-9


def check_consistent(model: IdentifiedModel) -> FloatArray:
    """
    Return the standard parameters (p,) that may be exported: `theta_consistent`, checked.

    Raises UsageError if torques are of an unknown scale, and so are masses;
    InconsistentModelError if the model has none, no body has those of a link, or a rotor would
    have to weigh less than nothing.
    """
    theta, robot = model.theta_consistent, model.robot
    if model.relative_scale:
        raise UsageError(
            f'the model of {robot.name} is not exported: its torques are of an unknown scale, and '
            'so are its masses; identify the arm with its drive gains (--drive-gains)'
        )
    remedy = (
        'simulators would refuse it or blow up. Record a richer motion, or check drive gains and '
        'units'
    )
    if theta is None:
        raise InconsistentModelError(
            f'the model of {robot.name} is not exported: {model.consistency_note}; {remedy}'
        )
    for name, least in zip(
        robot.joint_names, smallest_eigenvalues(theta[: 10 * robot.n]), strict=True
    ):
        if not least > 0.0:
            raise InconsistentModelError(
                f'the model of {robot.name} is not exported: no body has the parameters of the '
                f'link after {name}, the smallest pseudo-inertia eigenvalue is {least:.3g} and '
                f'must be positive; {remedy}'
            )
    for name, inertia in zip(robot.joint_names, reflected_inertias(model, theta), strict=True):
        if not inertia >= -ROUNDING:
            raise InconsistentModelError(
                f'the model of {robot.name} is not exported: the reflected inertia of {name} is '
                f'{inertia:.3g} kg m^2 and must not be negative; {remedy}'
            )
    return theta


def reflected_inertias(model: IdentifiedModel, theta: FloatArray) -> FloatArray:
    """Return the reflected inertias among parameters, zero where there are none, shape (n,)."""
    if not model.parameters.reflected_inertia:
        return np.zeros(model.robot.n)
    return theta[model.parameters.reflected_inertia_slice]


def plain_friction(model: IdentifiedModel, theta: FloatArray, joint: int) -> tuple[float, float]:
    """
    Return Coulomb [N m] and viscous friction [N m s/rad] of a joint, for what knows no other.

    Of a law that is neither, it is the nearest to them in steady sliding, over the speeds and at
    the mean load that the model was identified at. Neither is negative: that would feed energy
    into a simulation.
    """
    found = np.zeros(2)
    for term, columns in model.parameters.friction_columns:
        if term.joint != joint:
            continue
        if term.law.plain is not None:
            found += np.array(term.law.plain) * theta[columns][0]
            continue
        found += nearest_plain_friction(
            term.law,
            theta[columns],
            sliding_speeds(covered(model, 'speeds', joint) or UNKNOWN_SPEED),
            covered(model, 'loads', joint),
        )
    coulomb, viscous = np.maximum(found, 0.0).tolist()
    return coulomb, viscous


def friction_offset(model: IdentifiedModel, theta: FloatArray, joint: int) -> float:
    """Return the constant torque [N m] among the friction of a joint."""
    return float(sum(
        theta[columns][0] for term, columns in model.parameters.friction_columns
        if term.joint == joint and term.law.is_offset
    ))


def covered(model: IdentifiedModel, what: str, joint: int) -> float:
    """Return a quality figure of one joint, zero where the model does not have it."""
    values = model.quality.get(what)
    return 0.0 if values is None else float(values[joint])


@dataclass(frozen=True, eq=False)
class ArmJoint:
    """A moving joint of an exported arm, and the body that it carries."""

    # Name of the joint and of the link that it carries.
    name: str
    link: str
    parent: int  # index of the joint before it in `ExportedArm.joints`; -1 is the root link
    is_prismatic: bool  # whether it slides; else it turns
    placement: pin.SE3  # of its frame in the frame of the joint before it, at position zero
    axis: FloatArray  # (3,): direction of motion in its frame, of length one
    # All that moves with the link: bodies that are fixed to it and those on locked joints.
    body: pin.Inertia
    reflected_inertia: float  # of the rotor, on the joint's side [kg m^2]
    coulomb: float  # [N m]
    viscous: float  # [N m s/rad]
    offset: float  # constant torque among the friction, with the sign of the motor's [N m]
    # Limits; infinite where unknown.
    lower: float
    upper: float
    velocity: float
    effort: float


@dataclass(frozen=True, eq=False)
class ExportedArm:
    """The arm as a chain of one body for each moving joint."""

    # Names of the robot and of its root link.
    name: str
    root: str
    gravity: FloatArray  # (3,): in the root frame [m/s^2]
    base: pin.Inertia  # what stands still with the root link
    joints: tuple[ArmJoint, ...]  # kinematic order
    frames: tuple[pin.Frame, ...]  # of the other links; its joints are numbered from 1


def exported_arm(model: IdentifiedModel) -> ExportedArm:
    """Return the arm with the identified bodies, friction and rotors; see `check_consistent`."""
    theta = check_consistent(model)
    robot, described = model.robot, model.robot.pinocchio
    limits, rotors = robot.limits, reflected_inertias(model, theta)
    root, carried = links_of_joints(robot.urdf.text)
    joints = []
    for index, name in enumerate(robot.joint_names):
        number = described.getJointId(name)
        direction = motion_of_joint(described, number)
        is_prismatic = bool(np.any(direction[:3] != 0.0))
        coulomb, viscous = plain_friction(model, theta, index)
        joints.append(ArmJoint(
            name, carried[name], int(described.parents[number]) - 1, is_prismatic,
            described.jointPlacements[number], direction[:3] if is_prismatic else direction[3:],
            pin.Inertia.FromDynamicParameters(theta[10 * index: 10 * index + 10]),
            max(float(rotors[index]), 0.0), coulomb, viscous,
            friction_offset(model, theta, index),
            *(float(values[index]) for values in (
                limits.lower, limits.upper, limits.velocity, limits.effort
            )),
        ))
    bodies = {root, *(joint.link for joint in joints)}
    return ExportedArm(
        robot.name, root, robot.mounting_gravity, described.inertias[0], tuple(joints),
        tuple(
            frame for frame in described.frames
            if frame.type == pin.FrameType.BODY and frame.name not in bodies
        ),
    )


def motion_of_joint(model: pin.Model, number: int) -> FloatArray:
    """Return the motion of a joint of a Pinocchio model in its frame: translation, rotation."""
    kind = model.joints[number]
    data = kind.createData()
    kind.calc(data, np.zeros(1))
    return np.asarray(data.S).reshape(6)


def links_of_joints(text: str) -> tuple[str, dict[str, str]]:
    """Return a URDF's root link, and the link that each joint carries."""
    tree = etree.fromstring(text)
    carried = {
        str(joint.get('name')): str(joint.find('child').get('link'))
        for joint in tree.findall('joint')
    }
    root, = {str(link.get('name')) for link in tree.findall('link')} - set(carried.values())
    return root, carried


def numbers_text(vector: FloatArray) -> str:
    """Return numbers as they are written into XML, to the last bit."""
    # Adding zero makes zero of minus zero.
    return ' '.join(repr(float(value) + 0.0) for value in vector)


def shown_vector(vector: FloatArray) -> str:
    """Return a vector as it is shown in messages."""
    return '(' + ', '.join(f'{value:.4g}' for value in vector + 0.0) + ')'


def locked_words(model: IdentifiedModel) -> str:
    """Return a sentence on the joints that stand still; empty where none does."""
    locked = ', '.join(
        f'{name} at {position:.6g}' for name, position in model.robot.locked.items()
    )
    return f' Joints that stand still: {locked}.' if locked else ''


def build_pinocchio_model(model: IdentifiedModel) -> pin.Model:
    """
    Return the arm for Pinocchio: identified bodies, rotors, plain friction, limits and gravity.

    Joints that the model does not move are locked, and their bodies are part of the link before
    them. Pinocchio's `rnea` has bodies and rotors (`armature`); friction (`friction`, of Coulomb)
    and `damping` (viscous) are in the model for what uses them, and not in `rnea`. Raises
    InconsistentModelError if the model is not physically consistent.
    """
    arm = exported_arm(model)
    # The joints' limits are those of the robot's YAML, which win over the URDF's.
    built = model.robot.pinocchio.copy()
    built.gravity.linear = arm.gravity
    for number, joint in enumerate(arm.joints, start=1):
        built.inertias[number] = joint.body
    built.armature = np.array([joint.reflected_inertia for joint in arm.joints])
    built.friction = np.array([joint.coulomb for joint in arm.joints])
    built.damping = np.array([joint.viscous for joint in arm.joints])
    limits = model.robot.limits
    built.lowerPositionLimit = limits.lower
    built.upperPositionLimit = limits.upper
    built.velocityLimit = limits.velocity
    built.effortLimit = limits.effort
    return built
