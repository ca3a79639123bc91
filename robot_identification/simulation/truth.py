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

"""
The hidden truth of a simulated robot.

It differs from the model's prior, so that a program that returns the prior fails. Only tests and
the demo's report may look at it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.errors import UsageError
from robot_identification.model.robot_model import RobotModel

FloatArray = NDArray[np.float64]

MASS_ERROR = 0.2
GAIN_ERROR = 0.05
CENTRE_ERROR = 0.01
# Friction and rotor inertia grow with the size of the joint; as shares of its torque limit these
# ranges hold the values published for the UR5 (Porcelli 2020, table 2.5; Raviola et al. 2021).
COULOMB_SHARE = (0.04, 0.07)
VISCOUS_SHARE = (0.04, 0.08)
REFLECTED_INERTIA_SHARE = (0.004, 0.008)
# Where a URDF states no torque limit.
UNKNOWN_EFFORT = 50.0


@dataclass(frozen=True, eq=False)
class Truth:
    """
    What a simulated robot really is.

    Attributes
    ----------
    mass_factor : ndarray, shape (n,)
        Mass and inertia of each moved link over those of the URDF.
    centre_shift : ndarray, shape (n, 3)
        Centre of mass of each moved link relative to the URDF's [m].
    drive_gain : ndarray, shape (n,)
        Joint torque per motor current [N m/A].
    coulomb, viscous : ndarray, shape (n,)
        Friction ``coulomb * tanh(dq / velocity_width) + viscous * dq`` [N m], [N m s/rad].
    reflected_inertia : ndarray, shape (n,)
        Rotor inertia on the joint's side [kg m^2].
    velocity_width : float
        Of the smooth Coulomb friction [rad/s].

    """

    mass_factor: FloatArray
    centre_shift: FloatArray
    drive_gain: FloatArray
    coulomb: FloatArray
    viscous: FloatArray
    reflected_inertia: FloatArray
    velocity_width: float = 0.02

    def friction(self, dq: FloatArray) -> FloatArray:
        """Return the friction torque [N m] at velocities `dq` [rad/s], shape (..., n)."""
        torque: FloatArray = self.coulomb * np.tanh(dq / self.velocity_width) + self.viscous * dq
        return torque


def draw_truth(robot: RobotModel, seed: int) -> Truth:
    """
    Draw a truth for an arm.

    Parameters
    ----------
    robot : RobotModel
        The arm with its prior; its drive gains must be known.
    seed : int
        Same seed, same truth.

    Raises
    ------
    UsageError
        If a drive gain is unknown.

    """
    gains = robot.drives.drive_gain
    if not np.all(np.isfinite(gains)):
        joints = ', '.join(np.array(robot.joint_names)[~np.isfinite(gains)])
        raise UsageError(
            f'a simulated robot needs drive gains, and those of {joints} are unknown: give them '
            'with --drive-gains (N m/A, kinematic order)'
        )
    rng = np.random.default_rng(seed)
    n = robot.n
    effort = np.where(np.isfinite(robot.limits.effort), robot.limits.effort, UNKNOWN_EFFORT)
    return Truth(
        mass_factor=rng.uniform(1.0 - MASS_ERROR, 1.0 + MASS_ERROR, n),
        centre_shift=rng.uniform(-CENTRE_ERROR, CENTRE_ERROR, (n, 3)),
        drive_gain=gains * rng.uniform(1.0 - GAIN_ERROR, 1.0 + GAIN_ERROR, n),
        coulomb=effort * rng.uniform(*COULOMB_SHARE, n),
        viscous=effort * rng.uniform(*VISCOUS_SHARE, n),
        reflected_inertia=effort * rng.uniform(*REFLECTED_INERTIA_SHARE, n),
    )


def prior_truth(robot: RobotModel) -> Truth:
    """Return the truth that equals the URDF: no friction, no rotor, nominal gains (tests)."""
    n = robot.n
    gains = robot.drives.drive_gain
    return Truth(
        mass_factor=np.ones(n),
        centre_shift=np.zeros((n, 3)),
        drive_gain=np.where(np.isfinite(gains), gains, 1.0),
        coulomb=np.zeros(n),
        viscous=np.zeros(n),
        reflected_inertia=np.zeros(n),
    )
