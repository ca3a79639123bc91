# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The joint that the friction tester moves, and what the robot's description states of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation import TORQUE_SHARE
from robot_identification.model import Motion, rigid_torque, RobotModel
from robot_identification.nodes.conversions import joint_values, to_seconds
from robot_identification.studies.break_away import JointReading
from sensor_msgs.msg import JointState


@dataclass(frozen=True, eq=False)
class JointUnderTest:
    """One joint of a robot, or a wheel that no description knows."""

    name: str  # as the driver names it
    robot: RobotModel | None  # the arm that has it, None of a joint that it does not have
    index: int  # its place in the robot
    prefix: str  # before the names of the robot's joints

    @classmethod
    def find(cls, robot: RobotModel, name: str, prefix: str) -> JointUnderTest:
        """Return a joint by the name that the driver has for it."""
        names = [prefix + joint for joint in robot.joint_names]
        if name in names:
            return cls(name, robot, names.index(name), prefix)
        return cls(name, None, 0, prefix)

    def unit(self, unit: str) -> str:
        """Return a unit, written as that of a joint that turns, as that of the joint."""
        return unit if self.robot is None else self.robot.unit(unit, self.index)

    def unit_of(self, name: str, unit: str) -> str:
        """Do the same for another joint, by the name that the driver has for it."""
        joint = name.removeprefix(self.prefix)
        if self.robot is None or joint not in self.robot.joint_names:
            return unit
        return self.robot.unit(unit, self.robot.joint_names.index(joint))

    @property
    def sign(self) -> float:
        """1, or -1 where the driver counts against the model's axis."""
        return 1.0 if self.robot is None else float(self.robot.encoders.sign[self.index])

    @property
    def knows_rotor(self) -> bool:
        """Return whether the description states the inertia of the joint's rotor."""
        return self.robot is not None and bool(
            np.isfinite(self.robot.drives.reflected_inertia[self.index])
        )

    def read(self, message: JointState) -> JointReading | None:
        """Return what a joint state has of the joint, None if it does not name it."""
        if self.name not in message.name:
            return None
        positions, velocities, efforts = (
            dict(zip(message.name, values, strict=True))
            if len(values) == len(message.name) else dict.fromkeys(message.name, math.nan)
            for values in (message.position, message.velocity, message.effort)
        )
        q, dq, effort = positions[self.name], velocities[self.name], efforts[self.name]
        if self.robot is not None:
            q = self.sign * q - float(self.robot.encoders.zero[self.index])
            dq *= self.sign
        others = {
            name: (positions[name], velocities[name]) for name in positions if name != self.name
        }
        return JointReading(to_seconds(message.header.stamp), q, dq, effort, others)

    def gravity(self, message: JointState) -> Callable[[float], float] | None:
        """
        Return the torque against gravity over the joint's position, the others as they stand.

        None of a joint that no description knows. Raises DataError if the message lacks a joint.
        """
        if self.robot is None:
            return None
        robot, index, pose = self.robot, self.index, self._pose(self.robot, message)
        rest = np.zeros((1, robot.n))

        def torque(q: float) -> float:
            at = pose.copy()
            at[index] = q
            return float(rigid_torque(robot, Motion(at[None], rest, rest))[0, index])

        return torque

    def inertia(self, message: JointState) -> float:
        """
        Return inertia of the links and the rotor about the joint as it stands [kg m^2].

        NaN of a joint that no description knows; a rotor that none knows is left out. Raises
        DataError if the message lacks a joint.
        """
        if self.robot is None:
            return math.nan
        robot, index, pose = self.robot, self.index, self._pose(self.robot, message)
        rest, turning = np.zeros((2, robot.n)), np.zeros((2, robot.n))
        turning[1, index] = 1.0
        still, turned = rigid_torque(robot, Motion(np.vstack([pose, pose]), rest, turning))
        rotor = float(robot.drives.reflected_inertia[index])
        return float(turned[index] - still[index]) + (0.0 if math.isnan(rotor) else rotor)

    def _pose(self, robot: RobotModel, message: JointState) -> np.ndarray:
        names = [self.prefix + joint for joint in robot.joint_names]
        return joint_values(message, names, robot.encoders)[0]

    def torque_limit(self, wanted: float) -> float:
        """
        Return the largest torque of the test [N m]; 0.0 wanted: a share of the joint's limit.

        Raises UnsafeMotionError if it is not known, or above that share.
        """
        share = math.inf
        if self.robot is not None:
            share = TORQUE_SHARE * float(self.robot.limits.effort[self.index])
        limit = wanted or share
        if not math.isfinite(limit):
            raise UnsafeMotionError(
                f'no limit of the torque of {self.name} is known: set torque_limit '
                f'[{self.unit("N m")}]'
            )
        if limit > share:
            unit = self.unit('N m')
            raise UnsafeMotionError(
                f'torque_limit is {limit:g} {unit}, {TORQUE_SHARE:.0%} of the limit of '
                f'{self.name} are {share:.4g} {unit}'
            )
        return limit

    def check_range(self, start: float, window: float) -> None:
        """Raise UnsafeMotionError if a window reaches beyond the joint's position limits."""
        if self.robot is None:
            return
        lower, upper = (
            float(values[self.index])
            for values in (self.robot.limits.lower, self.robot.limits.upper)
        )
        if start - window < lower or start + window > upper:
            unit = self.unit('rad')
            raise UnsafeMotionError(
                f'{self.name} stands at {start:.3f} {unit}, and its window of {window:g} {unit} '
                f'either side reaches beyond its limits {lower:.3f} and {upper:.3f} {unit}: move '
                'it away from the limit, or make window smaller'
            )
