# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Prior of base parameters from the URDF, as rows that regularize a fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray, triangle_of
from robot_identification.estimation.problem import PriorTerm
from robot_identification.estimation.standard import prior_deviation
from robot_identification.model import (
    BaseReduction, prior_inertial_parameters, rigid_torque, RobotModel,
)
from robot_identification.processing import Dataset
import scipy

# A joint whose rigid torque explains less than this share of what friction, rotor and bias leave
# of its effort says nothing of the CAD.
TELLING_SHARE = 0.3
# Effort over the URDF's torque outside this range is not a matter of wrong masses.
CREDIBLE_RATIO = (0.4, 2.5)
# Part of a sum of squares that is nothing.
ROUNDING = 1.0e-12


@dataclass(frozen=True, eq=False)
class CadPrior:
    """
    Inertial parameters of a URDF and how far they may be wrong.

    Attributes
    ----------
    inertial : ndarray, shape (10 n,)
        Standard inertial parameters, SI units.
    deviation : ndarray, shape (10 n,)
        Their standard deviations.
    reflected_inertia_deviation : float
        Of reflected inertias, which a URDF does not state [kg m^2].

    """

    inertial: FloatArray
    deviation: FloatArray
    reflected_inertia_deviation: float = 1.0e3

    def term(self, reduction: BaseReduction, size: int, weight: float) -> PriorTerm | None:
        """
        Return the rows for a problem of `size` unknowns, or None without weight.

        They add ``weight (b - b0)' (K S K')^-1 (b - b0)`` over the base parameters b of bodies
        and rotors; friction and offsets have no prior.
        """
        if weight == 0.0:
            return None
        parameters = reduction.parameters
        rigid = np.zeros(parameters.size, dtype=bool)
        rigid[: len(self.inertial)] = True
        rigid[parameters.reflected_inertia_slice] = True
        rows = np.flatnonzero(rigid[reduction.independent])
        mean, deviation = np.zeros(parameters.size), np.zeros(parameters.size)
        mean[: len(self.inertial)] = self.inertial
        deviation[: len(self.inertial)] = self.deviation
        deviation[parameters.reflected_inertia_slice] = self.reflected_inertia_deviation
        K = reduction.K[rows]
        # K S K' = L L' by QR of its root, transposed.
        lower = triangle_of((K * deviation).T).T
        whitened = np.sqrt(weight) * scipy.linalg.solve_triangular(
            lower, np.eye(len(rows)), lower=True
        )
        matrix = np.zeros((len(rows), size))
        matrix[:, rows] = whitened
        return PriorTerm(matrix, whitened @ (K @ mean))


def cad_prior(robot: RobotModel) -> CadPrior:
    """Return what the URDF of an arm says."""
    inertial = prior_inertial_parameters(robot)
    return CadPrior(inertial, prior_deviation(robot, inertial.size))


def doubt_cad(
    robot: RobotModel, dataset: Dataset, torque_per_effort: FloatArray
) -> dict[str, float]:
    """
    Compare the effort of a recording with the torque of the URDF's bodies.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    dataset : Dataset
        The recording.
    torque_per_effort : ndarray, shape (n,)
        Joint torque per recorded effort.

    Returns
    -------
    mapping of str to float
        Why the URDF cannot be a prior for this effort: measured over expected torque of the joints
        that contradict it; empty if it can.

    """
    rows = np.flatnonzero(dataset.fitted)
    # A few thousand samples show a wrong sign or unit.
    rows = rows[:: max(len(rows) // 2000, 1)]
    motion = dataset.motion.rows(rows)
    rigid = rigid_torque(robot, motion)
    measured = dataset.effort[rows] * torque_per_effort
    ratios = {}
    for joint, name in enumerate(robot.joint_names):
        dq = motion.dq[:, joint]
        # What a URDF does not state: friction, rotor inertia, bias.
        others = np.column_stack(
            [np.tanh(dq / 0.02), dq, motion.ddq[:, joint], np.ones_like(dq)]
        )
        projection = np.linalg.qr(others)[0]
        seen, expected = (
            values - projection @ (projection.T @ values)
            for values in (measured[:, joint], rigid[:, joint])
        )
        energy, spread = expected @ expected, seen @ seen
        if energy <= ROUNDING * np.sum(rigid[:, joint] ** 2) or (
            spread <= ROUNDING * np.sum(measured[:, joint] ** 2)
        ):
            continue
        ratio = float(seen @ expected / energy)
        explained = ratio**2 * energy / spread
        if explained > TELLING_SHARE and not CREDIBLE_RATIO[0] < ratio < CREDIBLE_RATIO[1]:
            ratios[name] = ratio
    return ratios
