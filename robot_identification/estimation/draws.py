# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Models that the training data allow: draws from the covariance, each with real bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import InconsistentModelError
from robot_identification.estimation.estimators.conic import solve_program
from robot_identification.estimation.estimators.consistent_problem import (
    PSEUDO_INERTIA_MAP, upper_triangle,
)
from robot_identification.estimation.prior import MASS_FLOOR, prior_deviation
from robot_identification.estimation.standard import CONSISTENCY_MARGIN, keep_base
from robot_identification.model import IdentifiedModel, pseudo_inertia, smallest_eigenvalues
import scipy

# Weight of the distance to the model's own bodies against that to the draw, both in deviations:
# it decides what the data leave open, and nothing else.
OPEN_WEIGHT = 1.0e-6
# How often a draw is moved half way to the model before it is the model.
HALVINGS = 30


@dataclass(frozen=True, eq=False)
class ConsistentDraws:
    """Standard parameters that the covariance of a model allows."""

    theta: FloatArray  # (count, p)
    # Draws that no body has, which became the nearest ones that have, by the covariance.
    moved: int


def draw_consistent(model: IdentifiedModel, count: int, seed: int) -> ConsistentDraws:
    """
    Return models drawn from the covariance of a model; each has physically consistent bodies.

    Base parameters are normal about the identified ones. Where bodies, rotors and friction with
    such base parameters exist, they are those nearest to the model's own; else a conic program
    finds the nearest that do, in the metric of the covariance. Raises InconsistentModelError if
    the model itself has none.
    """
    own = model.theta_consistent
    if own is None:
        raise InconsistentModelError(
            f'the model of {model.robot.name} has no physically consistent parameters to draw '
            f'about: {model.consistency_note}'
        )
    reduction = model.reduction
    deviation = prior_deviation(model.robot, own.size)
    root = _root(model.covariance)
    centre = model.theta_base
    normal = np.random.default_rng(seed).standard_normal((count, len(centre)))
    found, moved = [], 0
    for steps in normal:
        theta = keep_base(reduction, centre + root @ steps, own, deviation)
        if not _is_possible(model, theta):
            theta, moved = _nearest(model, root, centre + root @ steps, deviation), moved + 1
        found.append(theta)
    return ConsistentDraws(np.reshape(found, (count, own.size)), moved)


def _root(covariance: FloatArray) -> FloatArray:
    """Return a matrix whose square is a covariance, (b, b), which need not be of full rank."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    root: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return root


def _not_negative(model: IdentifiedModel) -> FloatArray:
    """Return the numbers of friction coefficients and rotors that take energy, (k,)."""
    parameters = model.parameters
    found: list[int] = []
    for term, columns in parameters.friction_columns:
        numbers = range(*columns.indices(parameters.size))
        found += [
            number for number, symbol in zip(numbers, term.law.symbols, strict=True)
            if symbol not in term.law.signed
        ]
    found += range(*parameters.reflected_inertia_slice.indices(parameters.size))
    # What the model itself has below zero stands for something else, and may stay there.
    own = model.theta_consistent
    return np.array([k for k in found if own is None or own[k] >= 0.0], dtype=np.intp)


def _is_possible(model: IdentifiedModel, theta: FloatArray) -> bool:
    bodies = smallest_eigenvalues(theta[: 10 * model.robot.n])
    return bool(np.all(bodies > 0.0) and np.all(theta[_not_negative(model)] >= 0.0))


def _nearest(
    model: IdentifiedModel, root: FloatArray, drawn: FloatArray, deviation: FloatArray
) -> FloatArray:
    """Return possible parameters whose base parameters are nearest to drawn ones (b,)."""
    own, reduction = model.theta_consistent, model.reduction
    assert own is not None
    step = solve_program(
        lambda clarabel: _program(clarabel, model, root, drawn, deviation)
    )
    if step is not None:
        theta = own + deviation * step
        rows = _not_negative(model)
        theta[rows] = np.maximum(theta[rows], 0.0)
        if _is_possible(model, theta):
            return theta
    # Without clarabel: as far towards the draw as bodies exist.
    for halving in range(1, HALVINGS):
        part = reduction.K @ own + 0.5**halving * (drawn - reduction.K @ own)
        theta = keep_base(reduction, part, own, deviation)
        if _is_possible(model, theta):
            return theta
    return own


def _program(
    clarabel: Any, model: IdentifiedModel, root: FloatArray, drawn: FloatArray,
    deviation: FloatArray,
) -> tuple[Any, ...]:
    """Return cost, constraints, sides and cones; unknowns are steps from the model's own."""
    own, n = model.theta_consistent, model.robot.n
    assert own is not None
    p = own.size
    # Of directions that the covariance does not allow there is no step.
    inverse, K = np.linalg.pinv(root, rcond=1e-9), model.reduction.K
    whitened, wanted = inverse @ (K * deviation), inverse @ (drawn - K @ own)
    others = _not_negative(model)
    blocks, sides = [-np.eye(p)[others] * deviation], [own[others]]
    for link in range(n):
        part = slice(10 * link, 10 * link + 10)
        size = max(float(np.linalg.norm(pseudo_inertia(own[part]))), MASS_FLOOR)
        # Half of what the model itself has where that is less than the margin.
        least = 0.5 * float(smallest_eigenvalues(own[part])[0])
        margin = min(CONSISTENCY_MARGIN * size, max(least, 0.0))
        rows = np.zeros((10, p))
        rows[:, part] = -PSEUDO_INERTIA_MAP * deviation[part]
        blocks.append(rows)
        sides.append(PSEUDO_INERTIA_MAP @ own[part] - margin * upper_triangle(np.eye(4)))
    cones = [
        clarabel.NonnegativeConeT(len(others)), *(clarabel.PSDTriangleConeT(4) for _ in range(n))
    ]
    P = scipy.sparse.csc_matrix(whitened.T @ whitened + OPEN_WEIGHT * np.eye(p))
    A = scipy.sparse.csc_matrix(np.vstack(blocks))
    return P, -whitened.T @ wanted, A, np.concatenate(sides), cones
