# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Local searches, which all optimizers share: descents, polishes, and the way to a candidate.

Their steps are those of sequential quadratic programming with exact gradients, see `trust_region`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation.optimizers.search import Candidate, Outcome
from robot_identification.excitation.optimizers.trust_region import Pace, TrustRegion
from robot_identification.excitation.problem import FIRST_RADIUS, TrajectoryProblem

# Numbers of the searches: chosen; those of docs/benchmarks.md were made with them.
# Evaluations of a stage: one that has gone astray is not worth more than a new start.
MOST_EVALUATIONS = 100
TOLERANCE = 1.0e-4  # of the logarithm of a criterion at which a search ends
MOST_POLISHING = 40  # observation matrices of a polish


@dataclass(frozen=True, eq=False)
class Descent:
    """A local search from a start (size,), with sharpness and most evaluations of each stage."""

    start: FloatArray
    stages: tuple[tuple[float, int], ...]


class _Limits:
    """
    Limits as those of a `Program`; curved ones are computed once for each x.

    Variables z are x, the auxiliary variables of the linear limits, and `others` of the caller.
    """

    def __init__(self, problem: TrajectoryProblem, others: int = 0) -> None:
        self.problem = problem
        A, b = problem.linear_limits
        # Rows of unit length say how far x is from a limit.
        length = np.linalg.norm(A, axis=1)
        lowest, highest = problem.box()
        own = np.eye(problem.size, A.shape[1])
        rows = np.vstack([A / length[:, None], own, -own])
        self.rows = np.pad(rows, ((0, 0), (0, others)))
        self.bounds = np.concatenate([b / length, highest, -lowest])
        self.boxed = problem.size
        self._instants = problem.instants
        self._x: FloatArray | None = None

    def refine(self, x: FloatArray) -> bool:
        """See collisions also where x has some that were not seen; return whether there are."""
        missed = self.problem.missed(x)
        if missed.size:
            self._instants = np.union1d(self._instants, missed)
            self._x = None
        return missed.size > 0

    def curved(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g and its Jacobian of the limits of the path."""
        x = z[:self.boxed]
        if self._x is None or not np.array_equal(x, self._x):
            self._seen = self.problem.path_limits(x, self._instants)
            self._x = x.copy()
        g, J = self._seen
        return g, np.pad(J, ((0, 0), (0, len(z) - self.boxed)))

    def pace(self, evaluations: int) -> Pace:
        """Return how long a search is, and how far its steps go."""
        reach = self.problem.first_radius
        # Where nothing can be hit steps grow to two radians, root mean square.
        return Pace(evaluations, TOLERANCE, FIRST_RADIUS, min(reach, 2.0))


class _Smoothed(_Limits):
    """The smooth stand-in for the criterion, within the limits."""

    sharpness = 1.0

    def value(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the stand-in and its gradient."""
        value, by_x = self.problem.descend(z[:self.boxed], self.sharpness)
        return value, np.pad(by_x, (0, len(z) - self.boxed))


def descend(problem: TrajectoryProblem, job: Descent) -> Outcome:
    """Search from a start for a local minimum within the limits; return one candidate."""
    program = _Smoothed(problem)
    x, evaluations, curvature = job.start, 0, None
    for program.sharpness, most in job.stages:
        # After each search collisions are seen where some were missed.
        for _ in range(4):
            search = TrustRegion(program, program.pace(min(most, MOST_EVALUATIONS)))
            search.curvature = curvature
            x = search.run(problem.lift(x))[:problem.size]
            evaluations += search.evaluations
            curvature = search.curvature
            if not program.refine(x):
                break
    return Outcome((make_candidate(problem, x, job.start),), evaluations + 1)


def polish(problem: TrajectoryProblem, start: FloatArray) -> Outcome:
    """
    Return a good candidate with smaller largest and larger smallest singular values, unsmoothed.

    The logarithms of the extreme values are bounded by variables a and b, and the largest a - b of
    all sets of samples is minimized.
    """
    ends = _Ends(problem, start)
    TrustRegion(ends, ends.pace(MOST_POLISHING)).run(ends.first())
    # Steps may leave the limits: some of the best are scaled into them.
    candidates = [make_candidate(problem, x, start) for x in ends.best(5)]
    best = min(candidates, key=lambda one: (not one.feasible, one.objective))
    return Outcome((best,), ends.looks + len(candidates))


class _Ends(_Limits):
    """The largest ratio of extreme singular values, whose bounds are variables, in the limits."""

    def __init__(self, problem: TrajectoryProblem, start: FloatArray) -> None:
        first = problem.spectra(start, *problem.extremes)
        super().__init__(problem, 2 * len(first) + 1)
        self._first_bound = len(problem.lift(start))
        self._spectra: list[tuple[FloatArray, Any]] = [(start, first)]

    @property
    def looks(self) -> int:
        """Return the number of observation matrices computed."""
        return len(self._spectra)

    def first(self) -> FloatArray:
        """Return x, the bounds of each set of samples, and the largest ratio of the start."""
        start, spectra = self._spectra[0]
        bounds = [bound for pair in map(_bounds, spectra) for bound in pair]
        return np.concatenate([self.problem.lift(start), bounds, [_worst(spectra)]])

    def best(self, count: int) -> list[FloatArray]:
        """Return what was looked at and had the smallest ratios."""
        order = sorted(self._spectra, key=lambda one: _worst(one[1]))
        return [x for x, _ in order[:count]]

    def value(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound of the ratios, which is the last variable."""
        slope = np.zeros_like(z)
        slope[-1] = 1.0
        return float(z[-1]), slope

    def curved(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g and its Jacobian of the limits of the path and of the singular values."""
        g, J = super().curved(z)
        values, slopes = [g], [J]
        for k, (high, by_high, low, by_low) in enumerate(self._look(z[:self.boxed])):
            a, b = self._first_bound + 2 * k, self._first_bound + 2 * k + 1
            values += [high - z[a], z[b] - low, np.array([z[a] - z[b] - z[-1]])]
            J = np.zeros((len(high) + len(low) + 1, len(z)))
            J[:len(high), :self.boxed], J[:len(high), a] = by_high, -1.0
            J[len(high):-1, :self.boxed], J[len(high):-1, b] = -by_low, 1.0
            J[-1, [a, b, -1]] = 1.0, -1.0, -1.0
            slopes.append(J)
        return np.concatenate(values), np.vstack(slopes)

    def _look(self, x: FloatArray) -> Any:
        if not np.array_equal(x, self._spectra[-1][0]):
            spectra = self.problem.spectra(x, *self.problem.extremes)
            self._spectra.append((x.copy(), spectra))
        return self._spectra[-1][1]


def _bounds(spectrum: Any) -> tuple[float, float]:
    high, _, low, _ = spectrum
    return (float(high[0]) if len(high) else 0.0), float(low[-1])


def _worst(spectra: Any) -> float:
    return max(top - bottom for top, bottom in map(_bounds, spectra))


def make_candidate(
    problem: TrajectoryProblem, x: FloatArray, start: FloatArray | None = None
) -> Candidate:
    """Return the candidate at x (size,), within all limits if it can be scaled into them."""
    repaired = problem.repair(x)
    if repaired is not None and problem.is_clear(repaired):
        return Candidate(repaired, problem.objective(repaired), 0.0, True, start)
    return Candidate(x, problem.objective(x), problem.violation(x), False, start)
