# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Least squares over the rigid bodies that can be: one pseudo-inertia, positive definite.

A barrier method for a single body, without the pull to a reference that links have: nothing is
known of a payload. It needs no solver, stays inside, and how far it may be from the best is
computed again from what it returns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import InconsistentModelError
from robot_identification.estimation import from_upper_triangle, PSEUDO_INERTIA_MAP
from robot_identification.model import from_pseudo_inertia, pseudo_inertia, smallest_eigenvalues

# Squared residuals, in units of the noise, that the result may be above the least ones.
GAP = 1.0e-3
# Each barrier is this much lower than the one before.
REDUCTION = 0.2
MOST_STEPS = 60
# Newton's decrement below which a point is on the central path.
CENTRED = 1.0e-3
# What the result is judged against are bodies up to so many times as large.
LARGEST_RATIO = 10.0
_SIZE = 4
_UNITS = np.array([pseudo_inertia(unit) for unit in np.eye(10)])


@dataclass(frozen=True, eq=False)
class ConsistentBody:
    """
    Result of the constrained estimate of one body.

    Attributes
    ----------
    parameters : ndarray, shape (10,)
        Inertial parameters, Pinocchio's order; their pseudo-inertia is positive definite.
    cost : float
        By how much the sum of squares is above the least one without the condition.
    gap : float
        By how much it may be above the least one with it.

    """

    parameters: FloatArray
    cost: float
    gap: float


def fit_consistent_body(R: FloatArray, z: FloatArray, length: float) -> ConsistentBody:
    """
    Minimise ``|R @ parameters - z|^2`` over bodies with a positive definite pseudo-inertia [1]_.

    Parameters
    ----------
    R : ndarray, shape (m, 10)
        Of full column rank, rows in units of the noise.
    z : ndarray, shape (m,)
        Right-hand side in units of the noise.
    length : float
        Size of such a body, for the scales of the unknowns [m].

    Raises
    ------
    InconsistentModelError
        If no body as good as `GAP` was found.

    References
    ----------
    .. [1] P. Wensing, S. Kim, J.-J. Slotine, "Linear matrix inequalities for physically
       consistent inertial parameter identification", IEEE RA-L 3(1), 2018.

    """
    free = np.asarray(np.linalg.lstsq(R, z, rcond=None)[0], dtype=np.float64)
    least = float(np.sum((R @ free - z) ** 2))
    if smallest_eigenvalues(free)[0] > 0.0:
        return ConsistentBody(free, 0.0, 0.0)
    # In units in which a body of the stated size has a pseudo-inertia near the unit matrix.
    mass = max(abs(float(free[0])), 1.0e-3)
    scale = mass * np.array([1.0] + [length] * 3 + [length**2] * 6)
    scaled = R * scale
    x = _start(free / scale)
    barrier = max(float(np.sum((scaled @ x - z) ** 2)) - least, 1.0)
    while True:
        x = _centre(scaled, z, x, barrier)
        if barrier * _SIZE <= 0.5 * GAP:
            break
        barrier *= REDUCTION
    found = scale * x
    gap = _gap(scaled, z, x)
    if not gap <= GAP or smallest_eigenvalues(found)[0] <= 0.0:
        raise InconsistentModelError(
            f'no rigid body fits the data: the best one found may be {gap:.3g} squared standard '
            f'deviations from the least, at most {GAP:g} are allowed; record a richer motion'
        )
    return ConsistentBody(found, float(np.sum((R @ found - z) ** 2)) - least, gap)


def _start(x: FloatArray) -> FloatArray:
    """Return parameters inside, with the eigenvalues of x where these are large enough."""
    values, vectors = np.linalg.eigh(pseudo_inertia(x))
    values = np.maximum(values, 0.1 * max(float(values[-1]), 1.0))
    return from_pseudo_inertia((vectors * values) @ vectors.T)


def _centre(R: FloatArray, z: FloatArray, x: FloatArray, barrier: float) -> FloatArray:
    """Return the least ``|R x - z|^2 - barrier log det P(x)`` by damped Newton steps."""
    root = np.sqrt(0.5 * barrier)
    for _ in range(MOST_STEPS):
        inverse = np.linalg.inv(np.linalg.cholesky(pseudo_inertia(x)))
        turned = inverse @ _UNITS @ inverse.T
        rows = np.vstack([R, root * turned.reshape(10, -1).T])
        side = np.concatenate([R @ x - z, -root * np.eye(_SIZE).ravel()])
        # The Hessian is twice the rows' own product, the gradient twice that with the side:
        # Newton's step is a least-squares problem.
        step = np.linalg.lstsq(rows, -side, rcond=None)[0]
        decrement = float(np.linalg.norm(rows @ step)) * np.sqrt(2.0 / barrier)
        x = x + step / (1.0 + decrement if decrement > CENTRED else 1.0)
        if decrement <= CENTRED:
            break
    return x


def _gap(R: FloatArray, z: FloatArray, x: FloatArray) -> float:
    """
    Return by how much the sum of squares at x may be above the least over all bodies.

    The squares of any other body y are at least those of x plus ``gradient @ (y - x)``, which is
    the product of a multiplier Z with P(y) less that with P(x). With Z positive semidefinite the
    first is not negative.
    """
    gradient = 2.0 * R.T @ (R @ x - z)
    multiplier = np.asarray(np.linalg.solve(PSEUDO_INERTIA_MAP.T, gradient), dtype=np.float64)
    P, Z = pseudo_inertia(x), from_upper_triangle(multiplier)
    missing = max(-float(np.linalg.eigvalsh(Z)[0]), 0.0)
    return float(np.sum(Z * P)) + LARGEST_RATIO * missing * float(np.trace(P))
