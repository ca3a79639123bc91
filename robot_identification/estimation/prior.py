# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Bodies of a URDF, and how far they may be wrong: rows that regularize a fit."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray, IntArray, triangle_of
from robot_identification.estimation.estimate import PriorTerm
from robot_identification.model import BaseReduction, prior_inertial_parameters, RobotModel
import scipy

# How far the prior may be wrong, per link: 30 % of its mass, its centre 15 cm, 30 % of its
# largest principal inertia. Floors keep massless links finite.
MASS_SHARE, CENTRE_DISTANCE, INERTIA_SHARE = 0.3, 0.15, 0.3
MASS_FLOOR, INERTIA_FLOOR = 0.01, 1.0e-4
# Friction and reflected inertia have no prior.
NO_PRIOR = 1.0e3


def prior_deviation(robot: RobotModel, size: int) -> FloatArray:
    """Return how far each of `size` standard parameters may be from the URDF's, as deviations."""
    deviation = np.full(size, NO_PRIOR)
    for link, values in enumerate(prior_inertial_parameters(robot).reshape(-1, 10)):
        mass = max(values[0], MASS_FLOOR)
        tensor = np.array([
            [values[4], values[5], values[7]],
            [values[5], values[6], values[8]],
            [values[7], values[8], values[9]],
        ])
        inertia = max(np.linalg.eigvalsh(tensor)[-1], INERTIA_FLOOR)
        deviation[10 * link] = MASS_SHARE * mass
        deviation[10 * link + 1: 10 * link + 4] = CENTRE_DISTANCE * mass
        deviation[10 * link + 4: 10 * link + 10] = INERTIA_SHARE * inertia
    return deviation


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
