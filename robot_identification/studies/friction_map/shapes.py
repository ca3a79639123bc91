# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Shape constants of friction laws by separable least squares: variable projection.

Torque is linear in coefficients and nonlinear in a few shape constants of each joint. An outer
search moves the constants; inside, everything linear is solved for exactly, friction coefficients
that take energy not negative. Its Jacobian is that of Kaufman [2]_: exact in the gradient.

The search for one joint looks at the rows of that joint alone, with the bodies free to be others
than those that the rest of the arm sees. So joints do not wait for each other, and a wrong law of
one does not spoil another; what the arm has in common is used by the fit that follows, which is
one for all joints.

References
----------
.. [1] G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least
   squares problems whose variables separate", SIAM J. Numerical Analysis 10(2), 1973.
.. [2] L. Kaufman, "A variable projection method for solving separable nonlinear least squares
   problems", BIT 15, 1975.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, triangle_of
from robot_identification.errors import UsageError
from robot_identification.estimation import choose_lag, moving_sums, solve_bounded
from robot_identification.model import FrictionLaw, JointMotion
import scipy

# No measured velocity is better than this [rad/s].
SLOWEST = 1.0e-3
# A joint that is slower than this has no room for a search [rad/s].
FASTEST_AT_LEAST = 10.0 * SLOWEST
# The data determine a constant whose error is below a factor of e, or this share of its range.
LARGEST_LOG_ERROR, LARGEST_SHARE_OF_RANGE = 1.0, 1.0 / 3.0
# This close to the end of its range, in the search's coordinates, a constant is at a bound.
AT_BOUND = 1.0e-3
# Of the starts that the laws name, so many are tried, and from the best few is searched.
MOST_LOOKED_AT, STARTS = 200, 2
# Evaluations of one search: from a good start some ten are needed.
MOST_EVALUATIONS = 60
# Of the search: squares, and coordinates, of which a millionth is far below any error.
COST_TOLERANCE, STEP_TOLERANCE = 1.0e-9, 1.0e-6
# A column of which less than this is left by the bodies says nothing of friction.
LEAST_LEFT = 1.0e-7
# Part of the largest direction below which bodies are not seen in the rows of the joint.
BODY_TOLERANCE = 1.0e-10
# Smaller singular values are rounding: what they would tell has an error without limit.
SMALLEST_SINGULAR = 1.0e-12


@dataclass(frozen=True)
class ShapeConstant:
    """A shape constant, and what the data say of it."""

    # Name of the law, and of its field.
    law: str
    name: str
    value: float  # its value, in the law's unit
    # For residuals that are correlated in time; NaN at a bound, and where the data do not tell.
    standard_error: float
    determined: bool  # whether the data determine it; if not, it is the one that was given
    at_bound: bool  # whether it is at an end of the range that is searched


@dataclass(frozen=True, eq=False)
class SeparableFit:
    """Friction of one joint with the constants found."""

    laws: tuple[FrictionLaw, ...]  # with the constants found
    coefficients: FloatArray  # (k,): of all laws in order, from the rows of the joint alone
    constants: tuple[ShapeConstant, ...]  # all shape constants of the laws
    deviation: float  # root mean square of the residual [N m]
    evaluations: int  # how often the linear problem was solved


@dataclass(frozen=True, eq=False)
class ShapeProblem:
    """Rows of one joint after everything but its friction was eliminated."""

    motion: JointMotion  # N samples; its rigid torque is the load
    basis: FloatArray  # (N, f) orthonormal, of what bodies and rotor can do in these rows
    side: FloatArray  # (N,) what they leave of the measured torque [N m]

    def project(self, columns: FloatArray) -> FloatArray:
        """Return what bodies and rotor leave of some columns, shape (N, k)."""
        rest: FloatArray = columns - self.basis @ (self.basis.T @ columns)
        return rest


def eliminate_bodies(motion: JointMotion, rigid: FloatArray, tau: FloatArray) -> ShapeProblem:
    """
    Return the problem of the friction of one joint.

    `rigid` (N, b) are the columns of bodies and rotor in the rows of the joint [N m per
    parameter]; they may be dependent. `tau` (N,) is the measured torque [N m].
    """
    length = np.linalg.norm(rigid, axis=0)
    unit = rigid[:, length > 0.0] / length[length > 0.0]
    if unit.shape[1]:
        basis, triangle, _ = scipy.linalg.qr(unit, mode='economic', pivoting=True)
        diagonal = np.abs(np.diag(triangle))
        basis = basis[:, diagonal > BODY_TOLERANCE * diagonal[0]]
    else:
        basis = np.zeros((len(tau), 0))
    problem = ShapeProblem(motion, basis, tau)
    return replace(problem, side=problem.project(tau))


def search_range(law: FrictionLaw, name: str, fastest: float) -> tuple[float, float]:
    """Return the range in which a constant is searched; `fastest` [rad/s] is the joint's."""
    return law.ranges.get(name) or (SLOWEST, max(fastest, FASTEST_AT_LEAST))


def fit_shapes(
    problem: ShapeProblem, laws: Sequence[FrictionLaw], start: SeparableFit | None = None
) -> SeparableFit:
    """
    Find the shape constants of the friction of one joint.

    A constant that the data do not determine, because the torque hardly depends on it, keeps the
    value that the law was given with; the worst one first, then the others are searched again. The
    search starts from the alternatives of each law, or only from `start`, a fit of the same laws
    to similar data: then only constants that it determined are searched. Raises UsageError if a
    law has a memory.
    """
    for law in laws:
        if law.initial_state().size:
            raise UsageError(
                f'shape constants are not searched with friction law {law.name}, which has a '
                'memory: name laws without one'
            )
    search = _Search(problem, tuple(laws))
    if start is None:
        searched = list(search.places)
        points = search.look(searched)
    else:
        searched = [
            place for place, constant in zip(search.places, start.constants, strict=True)
            if constant.determined
        ]
        points = [search.point_of(start.laws, searched)]
    while True:
        x = search.run(searched, points)
        errors, held = search.errors(searched, x)
        largest = np.array([search.largest_error(place) for place in searched])
        if start is not None or not searched or np.all(errors <= largest):
            return search.describe(searched, x, held)
        worst = int(np.argmax(errors / largest))
        searched = searched[:worst] + searched[worst + 1:]
        points = [np.delete(x, worst)]


# A shape constant: number of the law, name of the field.
_Place = tuple[int, str]


class _Search:
    """
    The outer problem: residuals of one joint as a function of some shape constants.

    Coordinates are logarithms of velocities, and exponents as they are.
    """

    def __init__(self, problem: ShapeProblem, laws: tuple[FrictionLaw, ...]) -> None:
        self._problem = problem
        self._laws = laws
        fastest = float(np.abs(problem.motion.dq).max(initial=0.0))
        self._signed = np.array(
            [symbol in law.signed for law in laws for symbol in law.symbols], dtype=bool
        )
        self.places: list[_Place] = [
            (number, name) for number, law in enumerate(laws) for name in law.shape
        ]
        self._ranges = {
            place: search_range(laws[place[0]], place[1], fastest) for place in self.places
        }
        self._size = float(np.linalg.norm(problem.side)) or 1.0
        self.evaluations = 0
        # The last point, for which the Jacobian is asked right after the residual.
        self._last: tuple[tuple[FrictionLaw, ...], FloatArray, FloatArray, FloatArray] | None
        self._last = None

    def limits(self, place: _Place) -> tuple[float, float]:
        """Return the range of a constant in the search's coordinates."""
        low, high = self._ranges[place]
        return (np.log(low), np.log(high)) if self._is_log(place) else (low, high)

    def largest_error(self, place: _Place) -> float:
        """Return beyond what error a constant is not determined, in the search's coordinates."""
        if self._is_log(place):
            return LARGEST_LOG_ERROR
        low, high = self.limits(place)
        return LARGEST_SHARE_OF_RANGE * (high - low)

    def look(self, places: Sequence[_Place]) -> list[FloatArray]:
        """Return the best few of the starts that the laws name."""
        points = {
            tuple(self.point_of(laws, places).tolist())
            for laws in islice(product(*(law.alternatives() for law in self._laws)),
                               MOST_LOOKED_AT)
        } | {tuple(self.point_of(self._laws, places).tolist())}
        cost = {
            point: float(np.sum(self.residual(np.array(point), places) ** 2)) for point in points
        }
        best = sorted(points, key=lambda at: (cost[at], at))[:STARTS]
        return [np.array(point) for point in best]

    def point_of(self, laws: Sequence[FrictionLaw], places: Sequence[_Place]) -> FloatArray:
        """Return the coordinates of laws, within the ranges."""
        point = []
        for place in places:
            value = float(getattr(laws[place[0]], place[1]))
            low, high = self.limits(place)
            margin = 1e-6 * (high - low)
            at = np.log(value) if self._is_log(place) else value
            point.append(float(np.clip(at, low + margin, high - margin)))
        return np.array(point)

    def run(self, places: Sequence[_Place], points: Sequence[FloatArray]) -> FloatArray:
        """Return the best point that is reached from some starts."""
        if not places:
            return np.zeros(0)
        bounds = np.array([self.limits(place) for place in places]).T
        found = [
            scipy.optimize.least_squares(
                self.residual, point, self.jacobian, (bounds[0], bounds[1]), method='trf',
                ftol=COST_TOLERANCE, xtol=STEP_TOLERANCE, gtol=COST_TOLERANCE,
                max_nfev=MOST_EVALUATIONS, args=(places,),
            )
            for point in points
        ]
        best: FloatArray = min(found, key=lambda one: float(one.cost)).x
        return best

    def residual(self, x: FloatArray, places: Sequence[_Place]) -> FloatArray:
        """Return measured less fitted torque, over its size, shape (N,)."""
        return self._solve(x, places)[2] / self._size

    def jacobian(self, x: FloatArray, places: Sequence[_Place]) -> FloatArray:
        """Return Kaufman's derivative of `residual`, shape (N, p)."""
        laws, coefficients, _, active_basis = self._solve(x, places)
        motion = self._problem.motion
        columns, first = [], 0
        for number, law in enumerate(laws):
            own = coefficients[first:first + len(law.symbols)]
            first += len(law.symbols)
            wanted = [name for at, name in places if at == number]
            if not wanted:
                continue
            slopes = law.shape_jacobian(motion, own, law.initial_state())
            for name in wanted:
                slope = slopes[:, law.shape.index(name)]
                is_log = self._is_log((number, name))
                columns.append(slope * getattr(law, name) if is_log else slope)
        rest = self._problem.project(np.column_stack(columns))
        rest -= active_basis @ (active_basis.T @ rest)
        return -rest / self._size

    def errors(
        self, places: Sequence[_Place], x: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """
        Return standard errors in the search's coordinates, with all free, and at bounds held.

        The second has NaN for constants at a bound.
        """
        if not places:
            return np.zeros(0), np.zeros(0)
        residual, jacobian = self.residual(x, places), self.jacobian(x, places)
        spent = self._problem.basis.shape[1] + self._solve(x, places)[3].shape[1]
        free = ~self._at_bound(places, x)
        held = np.full(len(places), np.nan)
        held[free] = standard_errors(jacobian[:, free], residual, spent)
        return standard_errors(jacobian, residual, spent), held

    def describe(
        self, places: Sequence[_Place], x: FloatArray, errors: FloatArray
    ) -> SeparableFit:
        """Return laws, coefficients and constants of a point."""
        laws, coefficients, residual, _ = self._solve(x, places)
        at_bound = self._at_bound(places, x)
        constants = []
        for place in self.places:
            number, name = place
            value = float(getattr(laws[number], name))
            determined = place in places
            at = places.index(place) if determined else 0
            error = float(errors[at]) if determined else np.nan
            constants.append(ShapeConstant(
                laws[number].name, name, value,
                error * value if self._is_log(place) else error,
                determined, determined and bool(at_bound[at]),
            ))
        return SeparableFit(
            laws, coefficients, tuple(constants),
            float(np.sqrt(np.mean(residual**2))), self.evaluations,
        )

    def _is_log(self, place: _Place) -> bool:
        return place[1] not in self._laws[place[0]].ranges

    def _at_bound(self, places: Sequence[_Place], x: FloatArray) -> BoolArray:
        low, high = np.array([self.limits(place) for place in places]).reshape(-1, 2).T
        near: BoolArray = np.minimum(x - low, high - x) < AT_BOUND * (high - low)
        return near

    def _laws_at(self, x: FloatArray, places: Sequence[_Place]) -> tuple[FrictionLaw, ...]:
        changes: list[dict[str, float]] = [{} for _ in self._laws]
        for place, value in zip(places, x.tolist(), strict=True):
            low, high = self._ranges[place]
            at = float(np.exp(value)) if self._is_log(place) else value
            changes[place[0]][place[1]] = min(max(at, low), high)
        return tuple(
            replace(law, **change) for law, change in zip(self._laws, changes, strict=True)
        )

    def _solve(
        self, x: FloatArray, places: Sequence[_Place]
    ) -> tuple[tuple[FrictionLaw, ...], FloatArray, FloatArray, FloatArray]:
        """Return laws, coefficients, residual and a basis of the columns that are in use."""
        laws = self._laws_at(x, places)
        if self._last is not None and self._last[0] == laws:
            return self._last
        self.evaluations += 1
        problem = self._problem
        whole = law_columns(laws, problem.motion)
        columns = problem.project(whole)
        coefficients = solve_friction(
            columns, problem.side, self._signed, np.linalg.norm(whole, axis=0)
        )
        used = columns[:, coefficients != 0.0]
        basis = np.linalg.qr(used / np.linalg.norm(used, axis=0))[0]
        residual = problem.side - columns @ coefficients
        self._last = laws, coefficients, residual, basis
        return self._last


def law_columns(laws: Sequence[FrictionLaw], motion: JointMotion) -> FloatArray:
    """Return the columns of laws without memory side by side, shape (N, k)."""
    if not laws:
        return np.zeros((motion.dq.size, 0))
    return np.hstack([law.columns(motion, law.initial_state())[0] for law in laws])


def solve_friction(
    columns: FloatArray, side: FloatArray, signed: BoolArray, lengths: FloatArray
) -> FloatArray:
    """
    Return friction coefficients (k,) by least squares, not negative unless `signed` (k,).

    `columns` (N, k) and `side` (N,) are what bodies and rotor leave of columns and torque; a
    column of which next to nothing of its whole `lengths` (k,) is left gets a zero.
    """
    left = np.linalg.norm(columns, axis=0)
    seen = np.flatnonzero((left > LEAST_LEFT * lengths) & (left > 0.0))
    coefficients = np.zeros(columns.shape[1])
    if seen.size:
        triangle = triangle_of(np.column_stack([columns[:, seen] / left[seen], side]))
        coefficients[seen] = solve_bounded(
            triangle[:, :-1], triangle[:, -1], ~signed[seen], np.zeros(seen.size)
        ) / left[seen]
    return coefficients


def standard_errors(jacobian: FloatArray, residual: FloatArray, spent: int) -> FloatArray:
    """
    Return standard errors (p,) by the delta method, linear unknowns being free.

    The larger of two: of white residuals, and by the scatter of scores over windows of time that
    are longer than their memory. Infinite where nothing depends on the constant. `jacobian` (N, p)
    is the derivative of the residual by the constants, linear unknowns eliminated; `residual` (N,)
    is of consecutive samples; `spent` are the degrees of freedom that linear unknowns took.
    """
    N, p = jacobian.shape
    length = np.linalg.norm(jacobian, axis=0)
    errors = np.full(p, np.inf)
    moves = np.flatnonzero(length > 0.0)
    if not moves.size:
        return errors
    left, singular, right = np.linalg.svd(
        jacobian[:, moves] / length[moves], full_matrices=False
    )
    root = right.T / np.maximum(singular, SMALLEST_SINGULAR)
    freedom = max(N - spent - p, 1)
    white = np.sum(root**2, axis=1) * float(residual @ residual) / freedom
    window = choose_lag([residual[:, None]]) + 1
    # Recordings that follow each other share a window at the seam only.
    scores = np.vstack([left * residual[:, None], np.zeros((window - 1, len(moves)))])
    sums = moving_sums(scores, window) @ root.T
    scatter = np.sum(sums**2, axis=0) / window * N / freedom
    errors[moves] = np.sqrt(np.maximum(white, scatter)) / length[moves]
    return errors
