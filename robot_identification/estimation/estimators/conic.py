# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Conic programs of consistent bodies, solved by clarabel.

What the solver says of itself is not believed: optimality and feasibility are computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.estimation.estimators.consistent_problem import (
    ConsistentProblem, PSEUDO_INERTIA_MAP, upper_triangle,
)
import scipy

# Relative disagreement of primal and dual value, and of the dual equations, up to which a
# solution is one. The solver aims at a thousandth of it.
OPTIMALITY_TOLERANCE = 1.0e-5


def _determinant_rows() -> tuple[FloatArray, tuple[int, ...]]:
    """
    Return how ``[[P, Z], [Z', diag(Z)]]`` follows from the triangles of P and Z, shape (36, 20).

    Second is where the diagonal of Z stands in its lower triangle.
    """
    rows, columns = np.tril_indices(4)
    parts = []
    for place in range(10):
        matrix = np.zeros((8, 8))
        # The triangle of P keeps lengths, so its unit vectors have entries of 1 / sqrt(2).
        row, column = rows[place], columns[place]
        value = 1.0 if row == column else np.sqrt(0.5)
        matrix[row, column] = matrix[column, row] = value
        parts.append(upper_triangle(matrix))
    for row, column in zip(rows, columns, strict=True):
        matrix = np.zeros((8, 8))
        matrix[row, 4 + column] = matrix[4 + column, row] = 1.0
        if row == column:
            matrix[4 + row, 4 + row] = 1.0
        parts.append(upper_triangle(matrix))
    return np.column_stack(parts), tuple(np.flatnonzero(rows == columns).tolist())


_DETERMINANT_MAP, _DIAGONAL_OF_Z = _determinant_rows()


def solve_conic(problem: ConsistentProblem, weight: float) -> FloatArray | None:
    """
    Return the unknowns (s,) that minimize squares and regularization, by a conic program.

    None if clarabel is not installed, or what it returns does not hold.
    """
    x = solve_program(lambda clarabel: _conic_program(clarabel, problem, weight))
    if x is None:
        return None
    found = problem.from_whitened(x[: problem.R.shape[1]])
    # Zero to the solver's tolerance is zero.
    others = found[10 * problem.links:]
    others[problem.not_negative] = np.maximum(others[problem.not_negative], 0.0)
    return found if problem.is_possible(found) else None


def step_to_bodies(
    start: FloatArray, deviation: FloatArray, cost: tuple[FloatArray, FloatArray],
    not_negative: IntArray, margins: FloatArray,
    kept: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray | None:
    """
    Return the cheapest step (p,) to consistent bodies [1]_; None without clarabel or an optimum.

    Standard parameters are ``start + deviation * step``, and the matrix P and vector q of ``x' P x
    / 2 + q' x`` its `cost`. Some parameters are `not_negative`; of a link, no eigenvalue of the
    pseudo-inertia is below its margin (n,). Matrix and side of what is `kept` are those of an
    equation of the step.

    References
    ----------
    .. [1] P. Wensing, S. Kim, J.-J. Slotine, "Linear matrix inequalities for physically consistent
       inertial parameter identification", IEEE RA-L 3(1), 2018.

    """
    p, blocks, sides = start.size, [], []
    if kept is not None:
        blocks, sides = [kept[0]], [kept[1]]
    blocks.append(-np.eye(p)[not_negative] * deviation)
    sides.append(start[not_negative])
    for link, margin in enumerate(margins):
        own = slice(10 * link, 10 * link + 10)
        rows = np.zeros((10, p))
        rows[:, own] = -PSEUDO_INERTIA_MAP * deviation[own]
        blocks.append(rows)
        sides.append(PSEUDO_INERTIA_MAP @ start[own] - margin * upper_triangle(np.eye(4)))

    def state(clarabel: Any) -> tuple[Any, ...]:
        cones = [] if kept is None else [clarabel.ZeroConeT(len(kept[1]))]
        cones += [
            clarabel.NonnegativeConeT(len(not_negative)),
            *(clarabel.PSDTriangleConeT(4) for _ in margins),
        ]
        P, A = map(scipy.sparse.csc_matrix, (cost[0], np.vstack(blocks)))
        return P, cost[1], A, np.concatenate(sides), cones

    return solve_program(state)


def solve_program(state: Callable[[Any], tuple[Any, ...]]) -> FloatArray | None:
    """
    Return x of ``min x'Px/2 + q'x, b - Ax in K`` by clarabel; None without it or an optimum.

    `state` takes the module, for its cones, and returns P, q, A, b and the list of cones. Whether
    x is feasible is left to the caller, which knows the meaning of the unknowns.
    """
    try:
        import clarabel
    except ImportError:
        return None
    P, q, A, b, cones = state(clarabel)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solution = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    x, dual = np.array(solution.x), np.array(solution.z)
    return x if is_optimal(P, q, A, b, x, dual) else None


def is_optimal(
    P: scipy.sparse.csc_matrix, q: FloatArray, A: scipy.sparse.csc_matrix, b: FloatArray,
    x: FloatArray, dual: FloatArray,
) -> bool:
    """Return whether primal and dual solution of a program agree, computed again."""
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(dual))):
        return False
    gradient, pressure = P @ x + q, A.T @ dual
    size = 1.0 + max(np.abs(P @ x).max(), np.abs(pressure).max(), np.abs(q).max())
    quadratic = float(x @ (P @ x))
    primal, dual_value = 0.5 * quadratic + q @ x, -0.5 * quadratic - b @ dual
    gap = abs(primal - dual_value) / (1.0 + min(abs(primal), abs(dual_value)))
    return bool(
        np.abs(gradient + pressure).max() <= OPTIMALITY_TOLERANCE * size
        and gap <= OPTIMALITY_TOLERANCE
    )


def _conic_program(
    clarabel: Any, problem: ConsistentProblem, weight: float
) -> tuple[Any, ...]:
    """
    Return quadratic and linear cost, constraints, sides and cones for clarabel.

    Unknowns are those of the problem, the residuals, and for each link a lower triangular Z and
    the logarithms of its diagonal: ``[[P, Z], [Z', diag(Z)]]`` is positive definite only if
    ``sum(log diag Z) <= log det P``.
    """
    m, s = problem.whitened[0].shape
    # A strong regularization is left as it is, and the squares are made light.
    light = 1.0 / max(1.0, weight)
    weight *= light
    size = s + m + 14 * problem.links
    P = scipy.sparse.csc_matrix(
        (np.full(m, light), (np.arange(s, s + m), np.arange(s, s + m))), shape=(size, size)
    )
    q, diagonal = np.zeros(size), upper_triangle(np.eye(4))
    for link in range(problem.links):
        q[10 * link: 10 * link + 10] = 0.5 * weight * diagonal
        first = s + m + 14 * link
        q[first + 10: first + 14] = -0.5 * weight
    A, b = _constraints(problem)
    cones = [
        clarabel.ZeroConeT(m),
        clarabel.NonnegativeConeT(int(problem.not_negative.sum())),
        *(clarabel.PSDTriangleConeT(8) for _ in range(problem.links)),
        *(clarabel.ExponentialConeT() for _ in range(4 * problem.links)),
    ]
    return P, q, A, b, cones


# The same for all weights that are tried on a problem, which hashes by identity.
@lru_cache(maxsize=1)
def _constraints(problem: ConsistentProblem) -> tuple[scipy.sparse.csc_matrix, FloatArray]:
    """Return matrix and sides, in the order of the cones in `_conic_program`."""
    R, z, _ = problem.whitened
    m, s = R.shape
    n, size = problem.links, s + m + 14 * problem.links
    held = np.arange(10 * n, s)[problem.not_negative]
    bounds = scipy.sparse.csc_matrix(
        (-np.ones(len(held)), (np.arange(len(held)), held)), shape=(len(held), size)
    )
    rows = [scipy.sparse.csc_matrix(np.hstack([R, -np.eye(m), np.zeros((m, 14 * n))])), bounds]
    sides = [z, np.zeros(len(held))]
    for link in range(n):
        first = s + m + 14 * link
        place = np.concatenate([
            np.arange(10 * link, 10 * link + 10), np.arange(first, first + 10)
        ])
        rows.append(_columns_at(-_DETERMINANT_MAP, place, size))
        sides.append(np.zeros(36))
    for link in range(n):
        first = s + m + 14 * link
        for k in range(4):
            exponential = np.zeros((3, 2))
            exponential[0, 0], exponential[2, 1] = -1.0, -1.0
            rows.append(_columns_at(
                exponential, np.array([first + 10 + k, first + _DIAGONAL_OF_Z[k]]), size
            ))
            sides.append(np.array([0.0, 1.0, 0.0]))
    return scipy.sparse.csc_matrix(scipy.sparse.vstack(rows)), np.concatenate(sides)


def _columns_at(matrix: FloatArray, place: Any, size: int) -> scipy.sparse.csc_matrix:
    """Return a matrix whose columns stand among `size` ones."""
    row, column = np.nonzero(matrix)
    return scipy.sparse.csc_matrix(
        (matrix[row, column], (row, place[column])), shape=(len(matrix), size)
    )
