# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""RobotModel: what the package knows of an arm before it has identified anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
import hashlib
from itertools import pairwise
import math
from typing import Any, SupportsIndex

import numpy as np
import pinocchio as pin
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.model.arm_choice import (
    choose_arm, find_coupled, find_leading_fingers, reach_of_joints,
)
from robot_identification.model.denavit_hartenberg import DenavitHartenberg, joint_axes
from robot_identification.model.parameters import (
    EFFORT_UNITS, NamedJoints, unit_of_joint, unit_of_joints,
)
from robot_identification.model.urdf import Urdf
from robot_identification.model.urdf_elements import UrdfLink
from robot_identification.model.urdf_variants import for_pinocchio
from robot_identification.texts import short_repr

# Pinocchio's default [m/s^2], z up in the root frame.
STANDARD_GRAVITY = (0.0, 0.0, -9.81)
# A good deal more than on Jupiter (24.8 m/s^2) [m/s^2].
LARGEST_GRAVITY = 100.0


@dataclass(frozen=True)
class JointLimits:
    """Limits of the hardware, without margins; infinite where unknown."""

    #: (n,): position [rad or m].
    lower: FloatArray
    upper: FloatArray
    #: (n,): magnitudes [rad/s], [rad/s^2] and, of the joint torque, [N m].
    velocity: FloatArray
    acceleration: FloatArray
    effort: FloatArray


@dataclass(frozen=True)
class Drives:
    """Relation between motor current and joint torque; NaN where unknown."""

    gear_ratio: FloatArray  # (n,): motor revolutions per joint revolution
    torque_constant: FloatArray  # (n,): motor torque per motor current [N m/A]
    rotor_inertia: FloatArray  # (n,): on the motor's side [kg m^2]

    @property
    def drive_gain(self) -> FloatArray:
        """Joint torque per motor current [N m/A], shape (n,)."""
        return self.gear_ratio * self.torque_constant

    @property
    def reflected_inertia(self) -> FloatArray:
        """Rotor inertia on the joint's side [kg m^2], shape (n,)."""
        return self.gear_ratio**2 * self.rotor_inertia

    def to_torque(self, current: FloatArray) -> FloatArray:
        """Return joint torques [N m] of motor currents [A], shape (.., n); NaN where unknown."""
        return current * self.drive_gain

    def to_current(self, tau: FloatArray) -> FloatArray:
        """Return motor currents [A] of joint torques [N m], shape (.., n); NaN where unknown."""
        return tau / self.drive_gain


def unknown_drives(n: int) -> Drives:
    """Return the drives of an arm nothing is known about."""
    return Drives(*(np.full(n, np.nan) for _ in range(3)))


@dataclass(frozen=True)
class JointEncoders:
    """
    Relation between a driver's readings and the model: ``q = sign * reading - zero``.

    Velocity and effort change by the sign alone.
    """

    sign: FloatArray  #: (n,): 1, or -1 where the driver counts against the model's axis
    zero: FloatArray  #: (n,): signed reading at the model's zero position [rad or m]
    #: (n,): joints whose readings are lengths, which no unit of an angle converts; None where that
    #: is not known. `make_robot_model` finds them.
    slides: BoolArray | None = None

    def to_model(self, reading: FloatArray) -> FloatArray:
        """Return the model's positions of readings, shape (.., n)."""
        return self.sign * reading - self.zero

    def to_reading(self, q: FloatArray) -> FloatArray:
        """Return the readings of the model's positions, shape (.., n)."""
        return self.sign * (q + self.zero)


def plain_encoders(n: int) -> JointEncoders:
    """Return the encoders of a driver that reads the model's positions."""
    return JointEncoders(np.ones(n), np.zeros(n))


@dataclass(frozen=True, eq=False)
class RobotModel:
    """A serial arm: description, joints, limits, drives and gravity."""

    name: str  #: A known name, or the URDF's.
    urdf: Urdf  #: The checked description.
    #: The n moving joints in kinematic order; every other joint is locked.
    joint_names: tuple[str, ...]
    #: (3,): acceleration in the URDF's root frame [m/s^2], zero where the effort has no gravity.
    gravity: FloatArray
    limits: JointLimits
    drives: Drives
    #: What the driver publishes as effort, one of EFFORT_UNITS; None if not known.
    effort_unit: str | None
    sampling_rate: float  #: Of the driver's joint states [Hz]; NaN if not known.
    encoders: JointEncoders  #: How the driver's positions relate to the model's.
    locked: Mapping[str, float]  #: Where the joints stand that do not move [rad or m].
    pinocchio: Any = field(repr=False)
    denavit_hartenberg: DenavitHartenberg | None = None  #: The published table.
    #: What was chosen where nothing was said: joints that are held fixed.
    remarks: tuple[str, ...] = ()
    #: (3,): gravity that the controller has taken off the effort [m/s^2]; see `for_effort`.
    compensated_gravity: FloatArray | None = None

    __repr__ = short_repr

    @cached_property
    def carried_links(self) -> frozenset[str]:
        """Names of the links that the joints move, as far as the description has them."""
        return reach_of_joints(self.urdf, self.joint_names).carried_links

    @cached_property
    def watched_joints(self) -> tuple[str, ...]:
        """Held joints that move the arm or are moved by it, if their readings are known."""
        encoders = self.encoders
        if not (np.all(encoders.sign == 1.0) and np.all(encoders.zero == 0.0)):
            return ()
        reach = reach_of_joints(self.urdf, self.joint_names)
        near = reach.carried_joints | reach.supporting_joints
        coupled = find_coupled(self.urdf)
        return tuple(name for name in self.locked if name in near and name not in coupled)

    @property
    def root_link(self) -> str:
        """Return the name of the link that all others hang on."""
        return str(next(
            frame.name for frame in self.pinocchio.frames if frame.type == pin.FrameType.BODY
        ))

    @property
    def n(self) -> int:
        """Return the number of joints."""
        return len(self.joint_names)

    @cached_property
    def position_units(self) -> tuple[str, ...]:
        """Return the unit of every position: 'm' of a joint that slides, else 'rad'."""
        _, _, slides = joint_axes(self.pinocchio)
        return tuple('m' if one else 'rad' for one in slides)

    @cached_property
    def largest_readings(self) -> FloatArray:
        """Return the size that position, velocity and torque of a joint cannot exceed, (3, n)."""
        limits = self.limits
        # A reading beyond a hundred times the limit is none of the joint, but of a broken message.
        stated = 100.0 * np.stack([
            np.maximum(np.abs(limits.lower), np.abs(limits.upper)), limits.velocity, limits.effort,
        ])
        # Position [rad or m], velocity [rad/s or m/s] and torque [N m] that are never refused, as
        # limits in a description may be placeholders; and the largest ones without a limit;
        # chosen: a joint that turns at 10 rad/s for a day, ten times a fast motor without a gear,
        # a hundred heavy robots.
        never, unlimited = np.array([[100.0, 100.0, 1.0e4], [1.0e6, 1.0e4, 1.0e6]])[:, :, None]
        largest: FloatArray = np.where(np.isfinite(stated), np.maximum(stated, never), unlimited)
        return largest

    @property
    def joints(self) -> NamedJoints:
        """Return the names of the joints with the units of their positions."""
        return NamedJoints(self.joint_names, self.position_units)

    def unit(self, unit: str, joint: SupportsIndex) -> str:
        """Return a unit, written as that of a joint that turns, as that of a joint."""
        return unit_of_joint(unit, self.position_units[joint])

    def units(self, unit: str, joints: Sequence[int] | None = None) -> str:
        """Return a unit as those of some joints in words, by default of all of them."""
        chosen = range(self.n) if joints is None else joints
        return unit_of_joints(unit, [self.position_units[joint] for joint in chosen])

    @property
    def usual_effort_unit(self) -> str:
        """Return the stated unit of the effort, else 'A' where drive gains are known, or 'Nm'."""
        known = bool(np.all(np.isfinite(self.drives.drive_gain)))
        return self.effort_unit or ('A' if known else 'Nm')

    @property
    def mounting_gravity(self) -> FloatArray:
        """Gravity where the arm stands, in the root frame [m/s^2], in the effort or not."""
        return self.gravity if self.compensated_gravity is None else self.compensated_gravity

    @property
    def urdf_sha256(self) -> str:
        """Hash of the stripped URDF text."""
        return hashlib.sha256(self.urdf.text.encode()).hexdigest()

    def with_gravity(self, gravity: Sequence[float] | FloatArray) -> RobotModel:
        """Return the arm in another mounting, by gravity (3,) in the root frame [m/s^2]."""
        vector = _checked_gravity(gravity)
        model = self.pinocchio.copy()
        model.gravity.linear = vector
        return replace(self, gravity=vector, pinocchio=model, compensated_gravity=None)

    def for_effort(self, unit: str) -> RobotModel:
        """
        Return the arm as an effort in a unit shows it.

        Where gravity is not in the effort, the arm has none: torques, regressor and base
        parameters follow, and `mounting_gravity` remains.
        """
        gravity = self.mounting_gravity
        if EFFORT_UNITS[unit].with_gravity:
            return self.with_gravity(gravity)
        return replace(self.with_gravity(np.zeros(3)), compensated_gravity=gravity)

    def with_locked(self, positions: Mapping[str, float]) -> RobotModel:
        """
        Return the arm with some of its locked joints at other positions [rad or m].

        A joint that follows one of them by `<mimic>` follows it. A published table, which is for
        the old positions, is left out.
        """
        followers = {joint.name for joint in self.urdf.mimic_joints}
        before = {joint: at for joint, at in self.locked.items() if joint not in followers}
        made = make_robot_model(
            self.urdf, joints=self.joint_names, gravity=self.gravity,
            locked=before | dict(positions),
        )
        return replace(
            self, locked=made.locked, pinocchio=made.pinocchio, denavit_hartenberg=None
        )

    def with_drive_gains(self, gains: Sequence[float] | FloatArray) -> RobotModel:
        """
        Return the arm with other drive gains (gear ratio 1 where it was unknown).

        `gains` (n,) are the joint torque per motor current [N m/A] in kinematic order.
        """
        values = np.asarray(gains, dtype=float)
        if values.shape != (self.n,):
            raise UsageError(
                f'{values.size} drive gains for {self.n} joints ({", ".join(self.joint_names)})'
            )
        if not np.all(np.isfinite(values) & (values != 0.0)):
            raise UsageError(f'drive gains must be finite and not zero, got {values.tolist()}')
        gear = np.where(np.isfinite(self.drives.gear_ratio), self.drives.gear_ratio, 1.0)
        return replace(
            self, drives=Drives(gear, values / gear, self.drives.rotor_inertia.copy())
        )


def gravity_of_mounting(roll: float, pitch: float, yaw: float) -> FloatArray:
    """
    Return gravity (3,) in the root frame of an arm that is mounted turned [m/s^2].

    The angles [rad] are the rotation of the root frame in the world, Rz(yaw) Ry(pitch) Rx(roll);
    roll = pi is the ceiling, roll = pi / 2 a wall (Raviola et al. 2021, eq. 3). Raises UsageError
    if one is not finite, or beyond a whole turn, as one in degrees is.
    """
    if not np.all(np.isfinite([roll, pitch, yaw])):
        raise UsageError(
            f'a mounting must be three finite angles in rad, got {roll} {pitch} {yaw}'
        )
    beyond = [value for value in (roll, pitch, yaw) if abs(value) > 2.0 * math.pi]
    if beyond:
        raise UsageError(
            f'the mounting {roll:g} {pitch:g} {yaw:g} has an angle of {beyond[0]:g} rad, at most '
            f'2 pi are allowed: write {beyond[0]:g}deg if it is in degrees'
        )
    rotation = pin.rpy.rpyToMatrix(roll, pitch, yaw)
    gravity: FloatArray = rotation.T @ np.array(STANDARD_GRAVITY)
    return gravity


def make_robot_model(
    urdf: Urdf,
    *,
    name: str | None = None,
    joints: Sequence[str] | None = None,
    gravity: Sequence[float] | FloatArray = STANDARD_GRAVITY,
    locked: Mapping[str, float] | None = None,
) -> RobotModel:
    """
    Build the model of an arm of which the URDF alone is known; arguments are as in `RobotModel`.

    `joints` move, in kinematic order; the others are locked. By default they are those of the only
    arm: not mimic joints and the joints these follow, since a coupling has one motor and two axes,
    unless what follows moves no mass; not fingers; not branches too short for an arm. Readings are
    taken as the model's positions. Locked joints that `locked` does not place [rad or m] stand at
    neutral, clipped to their limits.

    Raises UsageError if a joint does not exist or is coupled, the order is not the kinematic one,
    gravity is no vector, or there are several arms (`SeveralArmsError`); DescriptionError if
    Pinocchio refuses the URDF, the joints have or carry what it faults, or a locked joint stands
    outside its limits.
    """
    vector = _checked_gravity(gravity)
    try:
        full = pin.buildModelFromXML(for_pinocchio(urdf.text))
    except (ValueError, RuntimeError, MemoryError) as error:
        raise DescriptionError(f'Pinocchio refuses the URDF {urdf.name!r}: {error}') from error
    kinematic_order = tuple(full.names[1:])
    coupled = find_coupled(urdf)
    remarks: tuple[str, ...] = ()
    if joints is None:
        held = coupled | find_leading_fingers(urdf, coupled)
        joints, remarks = choose_arm(urdf, kinematic_order, held)
    wanted = tuple(joints)
    _check_faults(urdf, wanted)
    most = 64  # chosen: far above any arm, so that computations end
    if len(wanted) > most:
        raise DescriptionError(
            f'{urdf.source or urdf.name}: {len(wanted)} moving joints, more than the '
            f'{most} supported; name those of the arm with --joints'
        )
    _check_joints(wanted, kinematic_order, coupled, urdf.name)
    positions = _locked_positions(urdf, kinematic_order, wanted, locked or {})
    model = _reduced(urdf, full, positions) if positions else full
    remarks += _check_merged(urdf, wanted, model) + _heavy_body(model)
    # Reflected inertia is a column of ours; in Pinocchio it would be in rnea only.
    model.armature = np.zeros(model.nv)
    model.gravity.linear = vector
    return RobotModel(
        name=name or urdf.name,
        urdf=urdf,
        joint_names=wanted,
        gravity=vector,
        limits=limits_of_urdf(urdf, wanted),
        drives=unknown_drives(len(wanted)),
        effort_unit=None,
        sampling_rate=math.nan,
        encoders=replace(plain_encoders(len(wanted)), slides=np.array(joint_axes(model)[2])),
        locked=positions,
        pinocchio=model,
        remarks=remarks,
    )


def _reduced(urdf: Urdf, full: Any, positions: Mapping[str, float]) -> Any:
    """Return Pinocchio's model with some joints held fixed at positions [rad or m]."""
    reference = pin.neutral(full)
    for joint, position in positions.items():
        reference[full.joints[full.getJointId(joint)].idx_q] = position
    try:
        return pin.buildReducedModel(
            full, [full.getJointId(joint) for joint in positions], reference
        )
    except ValueError:
        # Frames of Pinocchio go by names, and a link has the name of a joint.
        return pin.buildModelFromXML(for_pinocchio(urdf.text, positions))


def _check_faults(urdf: Urdf, wanted: tuple[str, ...]) -> None:
    """Refuse an arm whose joints are faulty, or carry links or joints that are."""
    faults = [fault for fault in urdf.faults if not fault.of_inertia]
    reach = reach_of_joints(urdf, wanted if faults else ())
    for fault in faults:
        concerned = reach.carried_joints if fault.is_joint else reach.carried_links
        if fault.is_joint and not fault.harmless_below:
            concerned |= reach.supporting_joints
        if fault.name in concerned:
            raise DescriptionError(fault.message)


def _check_merged(urdf: Urdf, wanted: tuple[str, ...], model: Any) -> tuple[str, ...]:
    """Refuse moving bodies that are none with all their links; return remarks on single links."""
    remarks = []
    joints = {link.name: link.joint for link in urdf.links}
    for fault in (fault for fault in urdf.faults if fault.of_inertia):
        # The last joint that carries it.
        chain = urdf.chains.get(str(joints[fault.name]), ())
        carrier = next((joint for joint in reversed(chain) if joint in wanted), None)
        if carrier is None:
            continue
        body = model.inertias[model.getJointId(carrier)]
        low, middle, high = np.linalg.eigvalsh(body.inertia).tolist()
        if UrdfLink('', carrier, True, body.mass, (low, middle, high)).fault is not None:
            raise DescriptionError(fault.message)
        remarks.append(
            f'link {fault.name} alone has an inertia that no rigid body has; with the links that '
            f'move with it after {carrier} it is that of one'
        )
    return tuple(remarks)


def _heavy_body(model: Any) -> tuple[str, ...]:
    """Return a remark on a body that has more than half of the mass that joints move."""
    masses = np.array([inertia.mass for inertia in model.inertias])[1:]
    heaviest = int(np.argmax(masses))
    # Of four moved bodies none has half of the mass: the largest share of the shipped arms is
    # 0.49, an upper arm's. Of fewer bodies one may.
    if masses.size < 4 or masses[heaviest] <= 0.5 * masses.sum():
        return ()
    return (
        f'what {model.names[heaviest + 1]} moves before the next joint has '
        f'{masses[heaviest]:.4g} kg of the {masses.sum():.4g} kg of the arm: check that mass, and '
        'its unit',
    )


def _check_joints(
    wanted: tuple[str, ...], kinematic_order: tuple[str, ...], coupled: Mapping[str, str],
    source: str,
) -> None:
    if not wanted:
        raise UsageError(f'no joint of the URDF {source!r} moves: name the joints that do')
    unknown = [joint for joint in wanted if joint not in kinematic_order]
    if unknown:
        raise UsageError(
            f'no joint {", ".join(unknown)} in the URDF {source!r}; its moving joints are '
            f'{", ".join(kinematic_order)}'
        )
    for joint in wanted:
        if joint in coupled:
            raise UsageError(
                f'joint {joint} of the URDF {source!r} is coupled with {coupled[joint]} (mimic): '
                'one motor moves two axes, which this package does not identify; leave both out '
                'and they are held fixed'
            )
    ordered = tuple(joint for joint in kinematic_order if joint in wanted)
    if ordered != wanted:
        raise UsageError(
            f'joints must be given once each and in kinematic order: {" ".join(ordered)}'
        )


def _locked_positions(
    urdf: Urdf, kinematic_order: tuple[str, ...], wanted: tuple[str, ...],
    locked: Mapping[str, float],
) -> dict[str, float]:
    """Return where every joint stands that does not move."""
    unknown = [joint for joint in locked if joint not in kinematic_order]
    if unknown:
        raise UsageError(f'no joint {", ".join(unknown)} in the URDF {urdf.name!r} to lock')
    # The limits are the URDF's: in Pinocchio a joint without any can stand at zero only.
    by_name = {joint.name: joint for joint in urdf.joints}
    positions: dict[str, float] = {}

    def standing(joint: str) -> float:
        """Return the default position of a locked joint: a follower with its leader."""
        way = [joint]
        while (leader := by_name[way[-1]].mimic if way[-1] in by_name else None) is not None:
            way.append(leader)
        position = 0.0
        for leader, follower in pairwise(reversed(way)):
            joint_of = by_name[follower]
            position = locked.get(leader, position)
            position = joint_of.mimic_multiplier * position + joint_of.mimic_offset
        return position

    for joint in kinematic_order:
        if joint in wanted:
            continue
        lower, upper = by_name[joint].position
        position = float(locked.get(joint, np.clip(standing(joint), lower, upper)))
        if not lower <= position <= upper:
            raise DescriptionError(
                f'joint {joint} of the URDF {urdf.name!r} is locked at {position}, its limits are '
                f'{lower} and {upper}'
            )
        positions[joint] = position
    return positions


def _checked_gravity(gravity: Sequence[float] | FloatArray) -> FloatArray:
    vector = np.asarray(gravity, dtype=float)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise UsageError(f'gravity must be three finite numbers in m/s^2, got {gravity}')
    if np.linalg.norm(vector) > LARGEST_GRAVITY:
        raise UsageError(
            f'gravity is {np.linalg.norm(vector):g} m/s^2, at most {LARGEST_GRAVITY:g} are '
            'credible: is it in m/s^2?'
        )
    return vector


def limits_of_urdf(urdf: Urdf, joints: Sequence[str]) -> JointLimits:
    """Return the limits that the URDF states for `joints`, in their order."""
    by_name = {joint.name: joint for joint in urdf.joints}
    chosen = [by_name[name] for name in joints]
    limits = np.array([
        [*joint.position, joint.velocity, joint.acceleration, joint.effort] for joint in chosen
    ]).reshape(-1, 5)
    return JointLimits(*limits.T.copy())


def workspace(robot: RobotModel) -> tuple[FloatArray, FloatArray]:
    """
    Return the lower and upper end (n,) of the range in which poses of an arm differ [rad].

    Inside its limits, one turn at most, and half a turn each way where there is no limit.
    """
    limits = robot.limits
    turn = 2.0 * np.pi
    free = np.where(np.isfinite(limits.upper), limits.upper - turn, -np.pi)
    lower = np.where(np.isfinite(limits.lower), limits.lower, free)
    upper = np.where(np.isfinite(limits.upper), limits.upper, lower + turn)
    return lower, np.minimum(upper, lower + turn)
