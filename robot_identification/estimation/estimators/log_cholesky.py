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

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import NotIdentifiableError
from robot_identification.estimation.estimators.consistent_problem import (
    ConsistentProblem, from_upper_triangle, upper_root, upper_triangle,
)
from robot_identification.estimation.solving import solve_bounded
from robot_identification.model import pseudo_inertia

# Decrease that a step promises, over the value, from which on the search ends unless the next one
# promises less than SLOW of it, as Newton's method does near its end: what is left is rounding.
LARGEST_DECREASE, SLOW = 1.0e-9, 0.1
# Most steps of one descent; a dozen are usual.
STEPS = 200
# A step is taken if it brings this share of what it promises; else it is halved, so many times.
SUFFICIENT_SHARE, HALVINGS = 1.0e-4, 40
# Part of the value that is rounding.
ROUNDING = 1.0e-13
# No step changes a body by more than about this factor: from one that is shrunk to nothing there
# is no short way back.
LARGEST_CHANGE = 10.0
# Other unknowns, whose columns have length one, stay where they are by so much of it where data do
# not determine them: a step of any size would be right there, and its rounding no step.
STAYING = 1.0e-6
# The weight falls from a strong one to that asked for by this factor, for from far away a weak
# one would take one step for each unit of it.
FALL = 10.0
# Symmetric matrices of unit length, (10, 4, 4).
_UNITS = np.array([from_upper_triangle(unit) for unit in np.eye(10)])


def solve_log_cholesky(problem: ConsistentProblem, weight: float) -> FloatArray:
    """
    Return the unknowns (s,) that minimize squares and regularization, without a conic solver.

    With ``P = U U'`` in units of the reference and a step ``dP = U D U'``, the divergence is
    ``<D, U'U - 1> + |D|^2 / 2`` to second order: each Newton step is a linear least-squares
    problem, in which what cannot be negative is bounded. Bodies take the step in log-Cholesky
    coordinates [1]_ about where they are, in which every point is a body, or straight. Raises
    NotIdentifiableError if the search does not end at the minimum.
    """
    _, z, lengths = problem.whitened
    place = _Place([np.eye(4)] * problem.links, np.zeros(len(lengths)))
    falls = int(np.ceil(np.log(max(float(z @ z) / weight, 1.0)) / np.log(FALL)))
    for power in range(falls, 0, -1):
        strong = weight * FALL**power
        place, _ = _Descent(problem, strong).run(place, enough=strong)
    place, left = _Descent(problem, weight).run(place)
    if not left <= LARGEST_DECREASE:
        raise NotIdentifiableError(
            f'the consistent fit did not end: a step still promises {left:.1e} of the value, '
            f'allowed is {LARGEST_DECREASE:.0e}: install clarabel (pip install clarabel), which '
            'solves it as a conic program, or record a richer motion'
        )
    return problem.from_whitened(place.unknowns)


def refine(problem: ConsistentProblem, weight: float, x: FloatArray) -> FloatArray:
    """
    Return a solution x (s,) that was right to a solver's tolerance, right to rounding.

    The problem is convex and steps only lower its value: the result is no worse than
    the feasible point of a solver, and the best where steps end.
    """
    bodies = 10 * problem.links
    roots = [
        np.asarray(np.linalg.solve(root, upper_root(pseudo_inertia(link))), dtype=float)
        for root, link in zip(problem.roots, x[:bodies].reshape(-1, 10), strict=True)
    ]
    place, _ = _Descent(problem, weight).run(_Place(roots, x[bodies:] * problem.whitened[2]))
    return problem.from_whitened(place.unknowns)


@dataclass(frozen=True, eq=False)
class _Place:
    """Upper triangular roots U of the bodies in units of their references, and other unknowns."""

    roots: list[FloatArray]
    others: FloatArray

    @property
    def unknowns(self) -> FloatArray:
        """Unknowns (s,) of the whitened problem."""
        return np.append(_triangles(self.roots), self.others)


class _Descent:
    """Newton's method at one weight of the regularization."""

    def __init__(self, problem: ConsistentProblem, weight: float) -> None:
        self.R, self.z, _ = problem.whitened
        self.weight = weight
        self.bodies = 10 * problem.links
        self.bounded = np.append(np.zeros(self.bodies, dtype=bool), problem.not_negative)

    def run(self, place: _Place, *, enough: float = 0.0) -> tuple[_Place, float]:
        """
        Return where steps end, and the part of the value that one more promises.

        They end where one promises no more than `enough`, or than rounding.
        """
        value, share, before = self._value(place), np.inf, np.inf
        for _ in range(STEPS):
            step, promise = self._step(place)
            share = promise / (1.0 + value)
            if promise <= enough:
                break
            moved = self._move(place, step, value, promise)
            if moved is None:
                break
            place, value = moved
            if share <= LARGEST_DECREASE and share >= SLOW * before:
                break
            before = share
        return place, share

    def _step(self, place: _Place) -> tuple[FloatArray, float]:
        """Return D of all links and the others' next values (s,), and the promised decrease."""
        bodies = self.bodies
        links = [
            self.R[:, 10 * link: 10 * link + 10] @ _congruence(root)
            for link, root in enumerate(place.roots)
        ]
        root_weight = np.sqrt(0.5 * self.weight)
        pull = np.append(np.full(bodies, root_weight), np.full(len(place.others), STAYING))
        rows = np.vstack([np.column_stack([*links, self.R[:, bodies:]]), np.diag(pull)])
        slopes = np.concatenate([
            upper_triangle(root.T @ root - np.eye(4)) for root in place.roots
        ])
        side = np.concatenate([
            self.z - self.R[:, :bodies] @ _triangles(place.roots), -root_weight * slopes,
            STAYING * place.others,
        ])
        step = solve_bounded(rows, side, self.bounded, np.zeros(len(self.bounded)))
        now = np.append(np.zeros(bodies), place.others)
        return step, float(
            np.sum((rows @ now - side) ** 2) - np.sum((rows @ step - side) ** 2)
        )

    def _move(
        self, place: _Place, step: FloatArray, value: float, promise: float
    ) -> tuple[_Place, float] | None:
        """Return where a step leads that lowers the value, and that; None if none does."""
        bodies = self.bodies
        share = 1.0 / max(1.0, float(np.abs(step[:bodies]).max()) / LARGEST_CHANGE)
        for _ in range(HALVINGS):
            changes = [share * from_upper_triangle(D) for D in step[:bodies].reshape(-1, 10)]
            others = place.others + share * (step[bodies:] - place.others)
            for turn in (_curved, _straight):
                found = _Place([
                    root @ turn(D) for root, D in zip(place.roots, changes, strict=True)
                ], others)
                lower = self._value(found)
                if lower <= value - SUFFICIENT_SHARE * share * promise + ROUNDING * (1.0 + value):
                    return found, lower
            share *= 0.5
        return None

    def _value(self, place: _Place) -> float:
        """Return squares and regularization; infinite where a number is too large or none."""
        with np.errstate(over='ignore', invalid='ignore'):
            residual = self.R @ place.unknowns - self.z
            divergence = sum(
                float(np.sum(root**2) - 2.0 * np.sum(np.log(np.diag(root))) - 4.0)
                for root in place.roots
            )
            value = float(residual @ residual) + self.weight * divergence
        return value if np.isfinite(value) else np.inf


def _curved(D: FloatArray) -> FloatArray:
    """Return the upper triangular U of log-Cholesky coordinates with ``U + U' - 2 = D``."""
    U = np.triu(D, 1)
    np.fill_diagonal(U, np.exp(0.5 * np.diag(D)))
    return U


def _straight(D: FloatArray) -> FloatArray:
    """
    Return the upper triangular U with ``U U' = 1 + D``, NaN where there is none.

    Where data show some combinations far better than others, a curved step leaves these unless it
    is short; a straight one, as a damped Newton step, always lowers the value.
    """
    try:
        return upper_root(np.eye(4) + D)
    except np.linalg.LinAlgError:
        return np.full((4, 4), np.nan)


def _congruence(root: FloatArray) -> FloatArray:
    """Return how the triangle of ``U D U'`` follows from that of D, shape (10, 10)."""
    return np.column_stack([upper_triangle(turned) for turned in root @ _UNITS @ root.T])


def _triangles(roots: list[FloatArray]) -> FloatArray:
    return np.concatenate([upper_triangle(root @ root.T) for root in roots])
