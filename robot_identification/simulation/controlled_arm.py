# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A simulated arm with an effort interface: MuJoCo moves it, with friction that sticks."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.model import RobotModel
from robot_identification.simulation.ground_truth import GroundTruth
from robot_identification.simulation.mujoco_robot import MujocoRobot, PHYSICS_STEP, Sensors


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
