# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Bodies of a URDF, and how far they may be wrong: rows that regularize a fit."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray, IntArray, triangle_of
from robot_identification.estimation.estimate import PriorTerm
from robot_identification.model import (
    BaseReduction, NO_PRIOR, prior_deviation, prior_inertial_parameters, RobotModel,
)
import scipy


@dataclass(frozen=True, eq=False)
class CadPrior:
    """Inertial parameters of a URDF and how far they may be wrong."""

    inertial: FloatArray  # (10 n,) standard inertial parameters, SI units
    deviation: FloatArray  # (10 n,) their standard deviations
    # of reflected inertias, which a URDF does not state [kg m^2]
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
        return whitened_prior(reduction, size, rows, mean, deviation, weight)


def whitened_prior(
    reduction: BaseReduction, size: int, rows: IntArray, mean: FloatArray, deviation: FloatArray,
    weight: float,
) -> PriorTerm:
    """
    Return a prior on standard parameters as one on some of the base parameters, its `rows` (m,).

    Of all standard parameters with given base parameters the nearest are taken: their distance
    from the `mean` (p,), in deviations (p,), is that of the base parameters in the metric ``(K S
    K')^-1``. The problem has `size` unknowns.
    """
    K = reduction.K[rows]
    # K S K' = L L' by QR of its root, transposed.
    lower = triangle_of((K * deviation).T).T
    whitened = np.sqrt(weight) * scipy.linalg.solve_triangular(
        lower, np.eye(len(rows)), lower=True
    )
    matrix = np.zeros((len(rows), size))
    matrix[:, rows] = whitened
    return PriorTerm(matrix, whitened @ (K @ mean))


def cad_prior(robot: RobotModel, contradicted: Collection[int] = ()) -> CadPrior:
    """Return what the URDF of an arm says, of contradicted links next to nothing."""
    inertial = prior_inertial_parameters(robot)
    deviation = prior_deviation(robot, inertial.size)
    for link in contradicted:
        deviation[10 * link: 10 * link + 10] = NO_PRIOR
    return CadPrior(inertial, deviation)
