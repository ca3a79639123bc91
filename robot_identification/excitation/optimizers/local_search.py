# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Local searches, which all optimizers share: SLSQP with exact gradients, and the way to a candidate.

References
----------
.. [1] D. Kraft, "A software package for sequential quadratic programming", DFVLR-FB 88-28, 1988.

"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation.optimizers.optimizer import (
    Candidate, ExcitationProblem, Outcome,
)
import scipy

# Numbers of the searches: chosen; those of docs/benchmarks.md were made with them.
# Evaluations of a descent: one that has gone astray is not worth more than a new start.
MOST_EVALUATIONS = 100
# Steps of a search among obstacles, iterations of each, the largest breach of a limit [1] after
# which a step counts, and the factors of its radius after others and after such.
MOST_STEPS, STEP_ITERATIONS, BROKEN = 20, 12, 0.02
SHRINK, GROW = 0.4, 2.0
LEAST_RADIUS = 0.01  # in the coefficients' unit, radians in root mean square
LEAST_GAIN = 0.01  # of the logarithm of a criterion by a step
# So far beyond a limit SLSQP does not come back, and takes long to find out.
ASTRAY = 0.5
# Limits nearer than this, as shares or in the coefficients' unit, are seen by SLSQP.
NEAR = 0.6
TOLERANCE = 1.0e-4  # of the logarithm of a criterion at which SLSQP ends
# Logarithm of a criterion so bad that no search comes back from there.
HOPELESS = 50.0
MOST_POLISHING = 40  # iterations, and observation matrices, of a polish
# Steps of a polish may leave the limits: some of the best are scaled into them.
BEST_OF_POLISHING = 5


@dataclass(frozen=True, eq=False)
class Descent:
    """A local search from a start (size,), with sharpness and most iterations of each stage."""

    start: FloatArray
    stages: tuple[tuple[float, int], ...]


class _EnoughError(Exception):
    """A search has used its evaluations."""


class _Limits:
    """
    Limits as constraints of SLSQP, ``c(z) >= 0``, computed once for each x.

    Variables z are x, the auxiliary variables of the linear limits, and others of the caller.
    Limits of the path count where they were near at some x, as SLSQP's time grows with their
    number; in a search of small steps so do linear ones.
    """

    def __init__(self, problem: ExcitationProblem) -> None:
        self.problem = problem
        A, b = problem.linear_limits()
        # Rows of unit length say how far x is from a limit.
        length = np.linalg.norm(A, axis=1)
        self._A, self._b = A / length[:, None], b / length
        self._near = NEAR if np.isfinite(problem.first_radius) else np.inf
        self._instants = problem.instants()
        self._x: FloatArray | None = None
        self._linear = np.zeros(len(b), dtype=bool)
        self._curved = np.zeros(0, dtype=bool)

    def focus(self, x: FloatArray) -> bool:
        """Take in the limits that are near at x; return whether there are new ones."""
        linear = self._linear | (self._distances(x) > -self._near)
        g, _ = self._path(x)
        old = self._curved if self._curved.size == g.size else np.zeros(g.size, dtype=bool)
        curved = old | (g > -NEAR)
        new = bool(np.any(linear & ~self._linear) or np.any(curved & ~old))
        self._linear, self._curved = linear, curved
        return new

    def refine(self, x: FloatArray) -> bool:
        """See collisions also where x has some that were not seen; return whether there are."""
        missed = self.problem.missed(x)
        if missed.size:
            self._instants = np.union1d(self._instants, missed)
            self._x = None
        return missed.size > 0

    def largest(self, x: FloatArray) -> float:
        """Return by how much limits are broken at most."""
        g, _ = self._path(x)
        return float(max(g.max(initial=0.0), self._distances(x).max(initial=0.0)))

    def as_constraints(self) -> list[dict[str, Any]]:
        return [{'type': 'ineq', 'fun': self._values, 'jac': self._jacobian}]

    def _distances(self, x: FloatArray) -> FloatArray:
        distances: FloatArray = self._A @ self.problem.lift(x) - self._b
        return distances

    def _values(self, z: FloatArray) -> FloatArray:
        g, _ = self._path(z)
        A, b = self._A[self._linear], self._b[self._linear]
        return np.concatenate([b - A @ z[:A.shape[1]], -g[self._curved]])

    def _jacobian(self, z: FloatArray) -> FloatArray:
        _, J = self._path(z)
        A, J = self._A[self._linear], J[self._curved]
        jacobian = np.zeros((len(A) + len(J), len(z)))
        jacobian[:len(A), :A.shape[1]], jacobian[len(A):, :J.shape[1]] = -A, -J
        return jacobian

    def _path(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        x = z[:self.problem.size]
        if self._x is None or not np.array_equal(x, self._x):
            self._seen = self.problem.path_limits(x, self._instants)
            self._x = x.copy()
        return self._seen


def descend(problem: ExcitationProblem, job: Descent) -> Outcome:
    """Search from a start for a local minimum within the limits; return one candidate."""
    limits = _Limits(problem)
    x, evaluations = job.start, 0
    for stage in job.stages:
        x, used = _descend_in_steps(limits, x, stage)
        evaluations += used
        if limits.largest(x) > ASTRAY:
            break
    return Outcome((make_candidate(problem, x, job.start),), evaluations + 1)


def _descend_in_steps(
    limits: _Limits, x: FloatArray, stage: tuple[float, int]
) -> tuple[FloatArray, int]:
    """
    Search within a box about x that grows where limits are kept and shrinks where they are not.

    Where nothing can be hit the box is unbounded. One long step among obstacles would end inside
    a wall, from which SLSQP does not come back.
    """
    radius = first_radius = limits.problem.first_radius
    limits.focus(x)
    if np.isinf(radius):
        x, _, used = _slsqp(limits, x, stage, radius)
        return x, used
    value, evaluations = np.inf, 0
    for _ in range(MOST_STEPS):
        found, new, used = _slsqp(limits, x, (stage[0], STEP_ITERATIONS), radius)
        evaluations += used
        if limits.largest(found) > BROKEN:
            limits.focus(found)
            radius *= SHRINK
            if radius < LEAST_RADIUS:
                break
        else:
            gain, x, value = value - new, found, new
            radius = min(radius * GROW, first_radius)
            missed = limits.refine(x)
            limits.focus(x)
            if not missed and gain < LEAST_GAIN:
                break
    return x, evaluations


def polish(problem: ExcitationProblem, start: FloatArray) -> Outcome:
    """
    Return a good candidate with smaller largest and larger smallest singular values, unsmoothed.

    The logarithms of the extreme values are bounded by variables a and b, and the largest a - b of
    all sets of samples is minimized.
    """
    ends = _Ends(problem)
    first = ends.first(start)
    limits = _Limits(problem)
    limits.focus(start)
    slope = np.zeros_like(first)
    slope[-1] = 1.0
    try:
        scipy.optimize.minimize(
            lambda z: z[-1], first, jac=lambda z: slope, method='SLSQP',
            bounds=_bounds_about(problem, first, problem.first_radius),
            constraints=[*limits.as_constraints(), *ends.as_constraints()],
            options={'maxiter': MOST_POLISHING, 'ftol': TOLERANCE},
        )
    except _EnoughError:
        pass
    candidates = [make_candidate(problem, x, start) for x in ends.best(BEST_OF_POLISHING)]
    best = min(candidates, key=lambda one: (not one.feasible, one.objective))
    return Outcome((best,), ends.looks + len(candidates))


class _Ends:
    """Bounds of the extreme singular values, as constraints of SLSQP ``c(z) >= 0``."""

    def __init__(self, problem: ExcitationProblem) -> None:
        self._problem = problem
        self._seen: list[tuple[FloatArray, Any]] = []
        self._bounds_at = 0

    @property
    def looks(self) -> int:
        """Number of observation matrices computed."""
        return len(self._seen)

    def first(self, start: FloatArray) -> FloatArray:
        """Return x, the bounds of each set of samples, and the largest ratio of the start."""
        bounds = [bound for pair in map(_bounds, self._look(start)) for bound in pair]
        lifted = self._problem.lift(start)
        self._bounds_at = len(lifted)
        return np.concatenate([lifted, bounds, [_worst(self._look(start))]])

    def best(self, count: int) -> list[FloatArray]:
        """Return what was looked at and had the smallest ratios."""
        order = sorted(self._seen, key=lambda one: _worst(one[1]))
        return [x for x, _ in order[:count]]

    def as_constraints(self) -> list[dict[str, Any]]:
        return [{'type': 'ineq', 'fun': self._values, 'jac': self._jacobian}]

    def _look(self, x: FloatArray) -> Any:
        if not self._seen or not np.array_equal(x, self._seen[-1][0]):
            if len(self._seen) >= MOST_POLISHING:
                raise _EnoughError
            spectra = self._problem.spectra(x, *self._problem.extremes)
            self._seen.append((x.copy(), spectra))
        return self._seen[-1][1]

    def _values(self, z: FloatArray) -> FloatArray:
        rows = []
        for k, (high, _, low, _) in enumerate(self._look(z[:self._problem.size])):
            a, b = z[self._bounds_at + 2 * k:][:2]
            rows += [a - high, low - b, [z[-1] - (a - b)]]
        return np.concatenate(rows)

    def _jacobian(self, z: FloatArray) -> FloatArray:
        size, rows = self._problem.size, []
        for k, (high, by_high, low, by_low) in enumerate(self._look(z[:size])):
            a, b = self._bounds_at + 2 * k, self._bounds_at + 2 * k + 1
            J = np.zeros((len(high) + len(low) + 1, len(z)))
            J[:len(high), :size], J[:len(high), a] = -by_high, 1.0
            J[len(high):-1, :size], J[len(high):-1, b] = by_low, -1.0
            J[-1, [a, b, -1]] = -1.0, 1.0, 1.0
            rows.append(J)
        return np.vstack(rows)


def _bounds(spectrum: Any) -> tuple[float, float]:
    high, _, low, _ = spectrum
    return (float(high[0]) if len(high) else 0.0), float(low[-1])


def _worst(spectra: Any) -> float:
    return max(top - bottom for top, bottom in map(_bounds, spectra))


def _slsqp(
    limits: _Limits, x: FloatArray, stage: tuple[float, int], radius: float
) -> tuple[FloatArray, float, int]:
    """Return where SLSQP ends within a radius of x, the value there, and its evaluations."""
    problem, (sharpness, iterations) = limits.problem, stage
    size, evaluations = problem.size, 0
    last, value = x, np.inf

    def value_and_gradient(z: FloatArray) -> tuple[float, FloatArray]:
        nonlocal evaluations, value
        if evaluations >= MOST_EVALUATIONS:
            raise _EnoughError
        evaluations += 1
        value, by_x = problem.descend(z[:size], sharpness)
        gradient = np.zeros_like(z)
        if np.isfinite(value):
            gradient[:size] = by_x
            return value, gradient
        # A flat plateau, on which the line search turns round.
        return HOPELESS, gradient

    def keep(z: FloatArray) -> None:
        nonlocal last
        last = z[:size].copy()

    lifted = problem.lift(x)
    try:
        result = scipy.optimize.minimize(
            value_and_gradient, lifted, jac=True, method='SLSQP', callback=keep,
            bounds=_bounds_about(problem, lifted, radius), constraints=limits.as_constraints(),
            options={'maxiter': iterations, 'ftol': TOLERANCE},
        )
    except _EnoughError:
        return last, value, evaluations
    found = result.x[:size] if np.all(np.isfinite(result.x)) else last
    return found, float(result.fun), evaluations


def _bounds_about(
    problem: ExcitationProblem, z: FloatArray, radius: float
) -> scipy.optimize.Bounds:
    """Return bounds of SLSQP's variables: without them some searches never come back."""
    lowest, highest = problem.box()
    x, free = z[:problem.size], np.full(len(z) - problem.size, np.inf)
    return scipy.optimize.Bounds(
        np.concatenate([np.maximum(lowest, x - radius), -free]),
        np.concatenate([np.minimum(highest, x + radius), free]),
    )


def make_candidate(
    problem: ExcitationProblem, x: FloatArray, start: FloatArray | None = None
) -> Candidate:
    """Return the candidate at x (size,), within all limits if it can be scaled into them."""
    repaired = problem.repair(x)
    if repaired is not None and problem.is_clear(repaired):
        return Candidate(repaired, problem.objective(repaired), 0.0, True, start)
    return Candidate(x, problem.objective(x), problem.violation(x), False, start)
