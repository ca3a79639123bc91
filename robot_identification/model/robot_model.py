# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""RobotModel: what the package knows of an arm before it has identified anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
import hashlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
import pinocchio as pin
from robot_identification.errors import DescriptionError
from robot_identification.errors import UsageError
from robot_identification.model.urdf import for_pinocchio
from robot_identification.model.urdf import Urdf

FloatArray = NDArray[np.float64]

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
EFFORT_UNITS = ('A', 'Nm')


@dataclass(frozen=True)
class JointLimits:
    """
    Limits of the hardware, without margins; infinite where unknown.

    Attributes
    ----------
    lower, upper : ndarray, shape (n,)
        Position [rad or m].
    velocity, acceleration : ndarray, shape (n,)
        Magnitudes [rad/s], [rad/s^2].
    effort : ndarray, shape (n,)
        Magnitude of the joint torque [N m].

    """

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    effort: FloatArray


@dataclass(frozen=True)
class Drives:
    """
    What stands between motor current and joint torque; NaN where unknown.

    Attributes
    ----------
    gear_ratio : ndarray, shape (n,)
        Motor revolutions per joint revolution.
    torque_constant : ndarray, shape (n,)
        Motor torque per motor current [N m/A].
    rotor_inertia : ndarray, shape (n,)
        On the motor's side [kg m^2].

    """

    gear_ratio: FloatArray
    torque_constant: FloatArray
    rotor_inertia: FloatArray

    @property
    def drive_gain(self) -> FloatArray:
        """Joint torque per motor current [N m/A], shape (n,)."""
        return self.gear_ratio * self.torque_constant

    @property
    def reflected_inertia(self) -> FloatArray:
        """Rotor inertia on the joint's side [kg m^2], shape (n,)."""
        return self.gear_ratio**2 * self.rotor_inertia


def unknown_drives(n: int) -> Drives:
    """Return the drives of an arm nothing is known about."""
    return Drives(*(np.full(n, np.nan) for _ in range(3)))


@dataclass(frozen=True, eq=False)
class RobotModel:
    """
    A serial arm: description, joints, limits, drives and gravity.

    Attributes
    ----------
    name : str
        Name of the robot (a known name, or the URDF's).
    urdf : Urdf
        The checked description.
    joint_names : tuple of str
        The n moving joints in kinematic order; every other joint is locked.
    gravity : ndarray, shape (3,)
        Gravitational acceleration in the URDF's root frame [m/s^2].
    limits : JointLimits
        Hardware limits.
    drives : Drives
        Gear ratios, torque constants and rotor inertias.
    effort_unit : str or None
        What the driver publishes as effort, 'A' or 'Nm'; None if not known.
    sampling_rate : float
        Rate of the driver's joint states [Hz]; NaN if not known.

    """

    name: str
    urdf: Urdf
    joint_names: tuple[str, ...]
    gravity: FloatArray
    limits: JointLimits
    drives: Drives
    effort_unit: str | None
    sampling_rate: float
    pinocchio: Any = field(repr=False)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    @property
    def urdf_sha256(self) -> str:
        """Hash of the stripped URDF text."""
        return hashlib.sha256(self.urdf.text.encode()).hexdigest()

    def with_gravity(self, gravity: Sequence[float] | FloatArray) -> RobotModel:
        """
        Return the same arm in another mounting.

        Parameters
        ----------
        gravity : sequence of float, length 3
            Gravitational acceleration in the URDF's root frame [m/s^2].

        """
        vector = _checked_gravity(gravity)
        model = self.pinocchio.copy()
        model.gravity.linear = vector
        return replace(self, gravity=vector, pinocchio=model)

    def with_drive_gains(self, gains: Sequence[float] | FloatArray) -> RobotModel:
        """
        Return the arm with other drive gains (gear ratio 1 where it was unknown).

        Parameters
        ----------
        gains : sequence of float, length n
            Joint torque per motor current [N m/A], kinematic order.

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
    Return gravity in the root frame of an arm that is mounted turned.

    Parameters
    ----------
    roll, pitch, yaw : float
        Rotation of the root frame in the world, Rz(yaw) Ry(pitch) Rx(roll) [rad]; roll = pi is
        the ceiling, roll = pi / 2 a wall.

    Returns
    -------
    ndarray, shape (3,)
        Gravitational acceleration [m/s^2] (Raviola et al. 2021, eq. 3).

    """
    rotation = pin.rpy.rpyToMatrix(roll, pitch, yaw)
    gravity: FloatArray = rotation.T @ np.array(STANDARD_GRAVITY)
    return gravity


def make_robot_model(
    urdf: Urdf,
    *,
    name: str | None = None,
    joints: Sequence[str] | None = None,
    gravity: Sequence[float] | FloatArray = STANDARD_GRAVITY,
    limits: JointLimits | None = None,
    drives: Drives | None = None,
    effort_unit: str | None = None,
    sampling_rate: float = math.nan,
) -> RobotModel:
    """
    Build the model of an arm from its URDF.

    Parameters
    ----------
    urdf : Urdf
        Checked description.
    name : str, optional
        Name of the robot; by default the URDF's.
    joints : sequence of str, optional
        Joints that move, in kinematic order; the others are locked at neutral, clipped to their
        limits. By default all.
    gravity : sequence of float, length 3
        In the URDF's root frame [m/s^2].
    limits : JointLimits, optional
        By default the URDF's; accelerations are then unlimited.
    drives : Drives, optional
        By default unknown.
    effort_unit : {'A', 'Nm'}, optional
        What the driver publishes as effort.
    sampling_rate : float
        Of the driver's joint states [Hz].

    Raises
    ------
    UsageError
        If a joint does not exist, the order is not the kinematic one, or gravity is no vector.
    DescriptionError
        If Pinocchio refuses the URDF.

    """
    vector = _checked_gravity(gravity)
    try:
        full = pin.buildModelFromXML(for_pinocchio(urdf.text))
    except (ValueError, RuntimeError, MemoryError) as error:
        raise DescriptionError(f'Pinocchio refuses the URDF {urdf.name!r}: {error}') from error
    kinematic_order = tuple(full.names[1:])
    wanted = tuple(joints) if joints is not None else kinematic_order
    unknown = [joint for joint in wanted if joint not in kinematic_order]
    if unknown:
        raise UsageError(
            f'no joint {", ".join(unknown)} in the URDF {urdf.name!r}; its moving joints are '
            f'{", ".join(kinematic_order)}'
        )
    ordered = tuple(joint for joint in kinematic_order if joint in wanted)
    if ordered != wanted:
        raise UsageError(
            f'joints must be given once each and in kinematic order: {" ".join(ordered)}'
        )
    locked = [full.getJointId(joint) for joint in kinematic_order if joint not in wanted]
    reference = np.clip(pin.neutral(full), full.lowerPositionLimit, full.upperPositionLimit)
    model = pin.buildReducedModel(full, locked, reference) if locked else full
    # Reflected inertia is a column of ours; in Pinocchio it would be in rnea only.
    model.armature = np.zeros(model.nv)
    model.gravity.linear = vector
    return RobotModel(
        name=name or urdf.name,
        urdf=urdf,
        joint_names=wanted,
        gravity=vector,
        limits=limits or limits_of_urdf(urdf, wanted),
        drives=drives or unknown_drives(len(wanted)),
        effort_unit=effort_unit,
        sampling_rate=sampling_rate,
        pinocchio=model,
    )


def _checked_gravity(gravity: Sequence[float] | FloatArray) -> FloatArray:
    vector = np.asarray(gravity, dtype=float)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise UsageError(f'gravity must be three finite numbers in m/s^2, got {gravity}')
    return vector


def limits_of_urdf(urdf: Urdf, joints: Sequence[str]) -> JointLimits:
    """Return the limits that the URDF states for `joints`, in their order."""
    by_name = {joint.name: joint for joint in urdf.joints}
    chosen = [by_name[name] for name in joints]
    return JointLimits(
        lower=np.array([joint.position[0] for joint in chosen]),
        upper=np.array([joint.position[1] for joint in chosen]),
        velocity=np.array([joint.velocity for joint in chosen]),
        acceleration=np.full(len(chosen), np.inf),
        effort=np.array([joint.effort for joint in chosen]),
    )
