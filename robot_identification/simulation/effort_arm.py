# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A simulated arm with an effort interface: some joints take torques, the others are held.

MuJoCo moves the whole arm, with its gravity and what one joint does to the others. Joints stick
by bristles that bend before they slip, so that nothing of it is shared with the single joint of
`effort_joint`, nor with what tests either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.model import RobotModel
from robot_identification.simulation.ground_truth import (
    draw_truth, GroundTruth, prior_truth, with_static_friction,
)
from robot_identification.simulation.mujoco_robot import MujocoRobot, PHYSICS_STEP, Sensors

# Medians of the break-away torque of the youBot's joints and of two wheels of its base, N m
# (Rajagopal 2017, table 4.2 and section 4.2.1).
YOUBOT_BREAK_AWAY = {
    'arm_joint_1': 1.260, 'arm_joint_2': 0.956, 'arm_joint_3': 0.486, 'arm_joint_4': 0.300,
    'arm_joint_5': 0.177, 'wheel_3': 0.126, 'wheel_4': 0.123,
}
# Not published. The rotors' inertia is that of small motors, 1.35e-5 kg m^2 behind the gears of
# joints 1 to 3, and less behind those of joints 4 and 5.
ROTOR_INERTIA = (1.35e-5, 1.35e-5, 1.35e-5, 9.25e-6, 3.5e-6)
# Kinetic over break-away friction, and viscous friction at 1 rad/s over it.
COULOMB_SHARE, VISCOUS_SHARE = 0.8, 0.1


class ControlledArm(MujocoRobot):
    """
    A simulated arm with rigid joints that takes torques; see `MujocoRobot`.

    Drives make currents of torques by the gains that the robot's YAML states, and motors torques
    of currents by the true ones; where none are stated, torques are true.
    """

    def __init__(
        self,
        robot: RobotModel,
        truth: GroundTruth,
        sensors: Sensors,
        q: FloatArray,
        seed: int = 0,
    ) -> None:
        if truth.stiffness is not None:
            raise UsageError(
                'a torque-controlled simulated arm has rigid joints: leave out the stiffness'
            )
        if truth.velocity_loop is not None:
            raise UsageError(
                'a torque-controlled simulated arm has no velocity loop: leave it out'
            )
        gains = robot.drives.drive_gain
        self._true_per_commanded = np.where(np.isfinite(gains), truth.drive_gain / gains, 1.0)
        super().__init__(robot, truth, sensors, q, seed)

    @property
    def limit(self) -> FloatArray:
        """Largest torques of the motors [N m], shape (n,)."""
        return self._limit.copy()

    def push(self, torque: FloatArray, duration: float) -> None:
        """
        Hold a torque (n,) [N m] for some time [s], a multiple of the physics step.

        Motors give no more than the effort limit.
        """
        if not np.all(np.isfinite(torque)):
            raise UsageError(f'a torque is commanded that is not finite: {torque.tolist()}')
        mujoco, model, data = self._mujoco, self._model, self._data
        self._torque = self._limited(self._true_per_commanded * torque)
        heat = np.zeros_like(self._torque)
        steps = max(round(duration / PHYSICS_STEP), 1)
        for _ in range(steps):
            mujoco.mj_step1(model, data)
            friction = self._friction(data.qvel)
            heat += friction * data.qvel
            self._move_rigid(
                self._torque - friction - self._truth.periodic_torque(data.qpos)
            )
        self._warm(heat / steps, steps * PHYSICS_STEP)


def youbot_truth(robot: RobotModel) -> GroundTruth:
    """Return a youBot arm of its description's masses that breaks away as published."""
    strange = [name for name in robot.joint_names if name not in YOUBOT_BREAK_AWAY]
    if strange:
        raise UsageError(
            f'{robot.name} has {", ".join(strange)}: break-away torques are published for '
            f'{", ".join(YOUBOT_BREAK_AWAY)}'
        )
    static = np.array([YOUBOT_BREAK_AWAY[name] for name in robot.joint_names])
    rotors = np.array([
        rotor for name, rotor in zip(YOUBOT_BREAK_AWAY, ROTOR_INERTIA, strict=False)
        if name in robot.joint_names
    ])
    return replace(
        prior_truth(robot), static=static, coulomb=COULOMB_SHARE * static,
        viscous=VISCOUS_SHARE * static, reflected_inertia=rotors * robot.drives.gear_ratio**2,
    )


def effort_truth(robot: RobotModel) -> GroundTruth:
    """
    Return the truth of a simulated arm with an effort interface.

    A youBot breaks away as published; for another arm everything is drawn.
    """
    if set(robot.joint_names) <= set(YOUBOT_BREAK_AWAY):
        return youbot_truth(robot)
    return with_static_friction(draw_truth(robot, 0), load_share=0.0)


class EffortArm(ControlledArm):
    """
    Simulated arm of which some joints take torques, while drives hold the others.

    Arguments are those of `MujocoRobot`, and `effort_joints`: the joints that take torques, in the
    order of the command. Raises UsageError if the arm has no such joint.
    """

    def __init__(
        self,
        robot: RobotModel,
        truth: GroundTruth,
        sensors: Sensors,
        q: FloatArray,
        effort_joints: Sequence[str],
        seed: int = 0,
    ) -> None:
        for name in effort_joints:
            if name not in robot.joint_names:
                raise UsageError(
                    f'{robot.name} has no joint {name}: it has {", ".join(robot.joint_names)}'
                )
        super().__init__(robot, truth, sensors, q, seed)
        self._taking = [robot.joint_names.index(name) for name in effort_joints]
        self._held_at = np.asarray(q, dtype=float).copy()
        self._owed = 0.0
        self._lower, self._upper = robot.limits.lower, robot.limits.upper

    def advance_torque(self, torque: FloatArray, duration: float) -> None:
        """
        Hold a torque (k,) [N m] on the joints that take it, and the other joints where they were.

        The torque is on the links' side. Less than a physics step of the duration [s] is made up
        with the next call.
        """
        left = int((self._owed + duration) / PHYSICS_STEP + 1e-6)
        self._owed += duration - left * PHYSICS_STEP
        while left > 0:
            steps = min(4, left)  # of the loop that holds joints
            self.push(self._commanded(np.asarray(torque, dtype=float)), steps * PHYSICS_STEP)
            self._stop_at_ends()
            left -= steps

    def _commanded(self, torque: FloatArray) -> FloatArray:
        """Return the torques of all drives: those that hold know gravity, as a servo finds it."""
        data = self._data
        rate = 60.0  # of a loop that the physics step can follow [1/s]
        wanted = rate**2 * (self._held_at - data.qpos) - 2.0 * rate * data.qvel
        # The accelerations are wanted of the joints that are held; the others are free.
        wanted[self._taking] = 0.0
        inertial = np.zeros_like(wanted)
        self._mujoco.mj_mulM(self._model, data, inertial, wanted)
        commanded: FloatArray = inertial + data.qfrc_bias
        commanded[self._taking] = torque
        return commanded

    def _stop_at_ends(self) -> None:
        """Stop joints at the ends of their ranges, as at hard stops without rebound."""
        data = self._data
        beyond = np.clip(data.qpos, self._lower, self._upper) - data.qpos
        if np.any(beyond):
            data.qpos += beyond
            data.qvel[beyond * data.qvel < 0.0] = 0.0
