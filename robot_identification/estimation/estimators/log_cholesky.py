# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Consistent least squares by Newton's method, in coordinates in which any number is a body.

References
----------
.. [1] C. Rucker, P. Wensing, "Smooth parameterization of rigid-body inertia", IEEE RA-L 7(2),
   2022.

"""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import NotIdentifiableError
from robot_identification.estimation.estimators.consistent_problem import (
    ConsistentProblem, from_upper_triangle, upper_root, upper_triangle,
)
from robot_identification.estimation.estimators.dictionary import solve_bounded
from robot_identification.model import pseudo_inertia

# Decrease that a step promises, over the value, from which on the search ends as soon as the next
# one promises no much smaller one: what is left is rounding.
LARGEST_DECREASE = 1.0e-9
STEPS = 200
# A step is taken if it brings this share of what it promises; else it is halved, so many times.
SUFFICIENT_SHARE = 1.0e-4
HALVINGS = 40
# Part of the value that is rounding.
ROUNDING = 1.0e-13
# Newton's method near its end is much faster than this from step to step.
SLOW = 0.1
# No step changes a body by more than about this factor: from one that is shrunk to nothing there
# is no short way back.
LARGEST_CHANGE = 10.0
# The pull falls from a strong one to that asked for by this factor, for from far away a weak one
# would take one step for each unit of it.
FALL = 10.0
_UNITS = np.array([from_upper_triangle(unit) for unit in np.eye(10)])


def solve_log_cholesky(problem: ConsistentProblem, pull: float) -> FloatArray:
    """
    Minimise squares and pull without a conic solver.

    With ``P = U U'`` in units of the reference and a step ``dP = U D U'``, the divergence is
    ``<D, U'U - 1> + |D|^2 / 2`` to second order: each Newton step is a linear least-squares
    problem, in which what cannot be negative is bounded. Bodies take the step in log-Cholesky
    coordinates [1]_ about where they are, which never leave what can exist.

    Parameters
    ----------
    problem : ConsistentProblem
        The squares.
    pull : float
        Weight of the divergence from the references, positive.

    Returns
    -------
    ndarray, shape (s,)
        The unknowns.

    Raises
    ------
    NotIdentifiableError
        If the search does not end at the minimum.

    """
    R, z, _ = problem.whitened
    roots = [np.eye(4)] * problem.links
    others = np.zeros(R.shape[1] - 10 * problem.links)
    falls = int(np.ceil(np.log(max(float(z @ z) / pull, 1.0)) / np.log(FALL)))
    for power in range(falls, 0, -1):
        strong = pull * FALL**power
        roots, others, _ = _descend(problem, strong, roots, others, enough=strong)
    roots, others, left = _descend(problem, pull, roots, others)
    if not left <= LARGEST_DECREASE:
        raise NotIdentifiableError(
            f'the consistent fit did not end: a step still promises {left:.1e} of the value, '
            f'allowed is {LARGEST_DECREASE:.0e}: install clarabel (pip install clarabel), which '
            'solves it as a conic program, or record a richer motion'
        )
    return problem.from_whitened(np.append(_triangles(roots), others))


def refine(problem: ConsistentProblem, pull: float, x: FloatArray) -> FloatArray:
    """
    Return a solution that was right to a solver's tolerance, right to rounding.

    The problem is convex and steps only lower its value: whatever possible point a solver
    returned, the result is no worse, and the best where steps end.

    Parameters
    ----------
    problem, pull
        As in `solve_log_cholesky`.
    x : ndarray, shape (s,)
        Possible unknowns near the minimum.

    """
    bodies = 10 * problem.links
    roots = [
        np.asarray(np.linalg.solve(root, upper_root(pseudo_inertia(link))), dtype=float)
        for root, link in zip(problem.roots, x[:bodies].reshape(-1, 10), strict=True)
    ]
    roots, others, _ = _descend(problem, pull, roots, x[bodies:] * problem.whitened[2])
    return problem.from_whitened(np.append(_triangles(roots), others))


def _descend(
    problem: ConsistentProblem,
    pull: float,
    roots: list[FloatArray],
    others: FloatArray,
    *,
    enough: float = 0.0,
) -> tuple[list[FloatArray], FloatArray, float]:
    """
    Return where steps from somewhere end, and what share of the value one more promises.

    They end where one promises no more than `enough`, or than rounding.
    """
    R, z, _ = problem.whitened
    bodies = 10 * problem.links
    bounded = np.append(np.zeros(bodies, dtype=bool), problem.not_negative)
    value, share, before = _value(R, z, pull, roots, others), np.inf, np.inf
    for _ in range(STEPS):
        # Unknowns are D of every link, and the others themselves.
        links = [
            R[:, 10 * link: 10 * link + 10] @ _congruence(root)
            for link, root in enumerate(roots)
        ]
        rows = np.vstack([
            np.column_stack([*links, R[:, bodies:]]),
            np.sqrt(0.5 * pull) * np.eye(bodies, R.shape[1]),
        ])
        slopes = np.concatenate([upper_triangle(root.T @ root - np.eye(4)) for root in roots])
        side = np.append(
            z - R[:, :bodies] @ _triangles(roots), -np.sqrt(0.5 * pull) * slopes
        )
        step = solve_bounded(rows, side, bounded, np.zeros(len(bounded)))
        now = np.append(np.zeros(bodies), others)
        promise = float(np.sum((rows @ now - side) ** 2) - np.sum((rows @ step - side) ** 2))
        share = promise / (1.0 + value)
        if promise <= enough:
            break
        moved = _move(R, z, pull, roots, others, step, value, promise)
        if moved is None:
            break
        roots, others, value = moved
        if share <= LARGEST_DECREASE and share >= SLOW * before:
            break
        before = share
    return roots, others, share


def _move(
    R: FloatArray,
    z: FloatArray,
    pull: float,
    roots: list[FloatArray],
    others: FloatArray,
    step: FloatArray,
    value: float,
    promise: float,
) -> tuple[list[FloatArray], FloatArray, float] | None:
    """Return where a step leads that lowers the value, and that; None if none does."""
    bodies = 10 * len(roots)
    share = 1.0 / max(1.0, float(np.abs(step[:bodies]).max()) / LARGEST_CHANGE)
    for _ in range(HALVINGS):
        taken = [
            root @ _turn(share * from_upper_triangle(D))
            for root, D in zip(roots, step[:bodies].reshape(-1, 10), strict=True)
        ]
        beside = others + share * (step[bodies:] - others)
        found = _value(R, z, pull, taken, beside)
        if found <= value - SUFFICIENT_SHARE * share * promise + ROUNDING * (1.0 + value):
            return taken, beside, found
        share *= 0.5
    return None


def _turn(D: FloatArray) -> FloatArray:
    """Return the upper triangular U of log-Cholesky coordinates with ``U + U' - 2 = D``."""
    U = np.triu(D, 1)
    np.fill_diagonal(U, np.exp(0.5 * np.diag(D)))
    return U


def _congruence(root: FloatArray) -> FloatArray:
    """Return how the triangle of ``U D U'`` follows from that of D, shape (10, 10)."""
    return np.column_stack([upper_triangle(turned) for turned in root @ _UNITS @ root.T])


def _triangles(roots: list[FloatArray]) -> FloatArray:
    return np.concatenate([upper_triangle(root @ root.T) for root in roots])


def _value(
    R: FloatArray, z: FloatArray, pull: float, roots: list[FloatArray], others: FloatArray
) -> float:
    """Return squares and pull; infinite where a number is too large."""
    with np.errstate(over='ignore', invalid='ignore'):
        residual = R @ np.append(_triangles(roots), others) - z
        divergence = sum(
            float(np.sum(root**2) - 2.0 * np.sum(np.log(np.diag(root))) - 4.0) for root in roots
        )
        value = float(residual @ residual) + pull * divergence
    return value if np.isfinite(value) else np.inf
