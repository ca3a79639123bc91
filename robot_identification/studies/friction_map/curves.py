# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Curves of friction over speed, chosen by what they say of speeds that they were not fitted to.

The laws are those of the model. Torque is linear in their coefficients and nonlinear in a few
shape constants, which are found by variable projection [1]_: an outer search moves the constants;
inside, the coefficients are solved for exactly, those that take energy not negative. The Jacobian
of the search is that of Kaufman [2]_: exact in the gradient.

Each speed counts the same: what a law leaves is mostly what it cannot bend to, not noise. Among
the curves that predict speeds left out about equally well, the simplest is taken.

References
----------
.. [1] G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least
   squares problems whose variables separate", SIAM J. Numerical Analysis 10(2), 1973.
.. [2] L. Kaufman, "A variable projection method for solving separable nonlinear least squares
   problems", BIT 15, 1975.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray, triangle_of
from robot_identification.errors import DataError
from robot_identification.estimation import choose_lag, moving_sums, solve_bounded
from robot_identification.model import (
    CoulombFriction, FRICTION_LAWS, FrictionLaw, FrictionOffset, JointMotion, LoadFriction,
    PowerViscousFriction, StribeckFriction, TemperatureViscousFriction, unit_of_joint,
    ViscousFriction,
)
from robot_identification.studies.temperature import LEAST_RANGE
import scipy

# Laws of a curve, the simplest first, and the speeds that are needed to determine it.
CURVES: Mapping[str, tuple[tuple[FrictionLaw, ...], int]] = {
    'coulomb + viscous': ((CoulombFriction(), ViscousFriction()), 2),
    'coulomb + power': ((CoulombFriction(), PowerViscousFriction()), 5),
    'stribeck + viscous': ((StribeckFriction(), ViscousFriction()), 6),
    'stribeck + power': ((StribeckFriction(), PowerViscousFriction()), 8),
}
# A further constant must make the residual smaller than this share of what it was; chosen.
BETTER = 0.8
# Speeds that differ by a smaller share are one; chosen: above the 5 % of a pair of segments.
SAME_SPEED = 0.08
# Parts into which the speeds are divided for the choice; chosen.
FOLDS = 6
# A simpler curve is taken if speeds left out are predicted worse by no more than this share;
# chosen.
TIE = 0.05
# Width of the passage through zero over the smallest speed, where the data do not show it;
# chosen: friction is then within 1e-4 of its full size at that speed.
WIDTH_SHARE = 0.2
# Loads determine their part of friction if they differ by this share of friction; chosen.
LEAST_LOAD_SHARE = 0.5
# No measured velocity is better than this [rad/s].
SLOWEST = 1.0e-3
# A joint that is slower than this has no room for a search [rad/s].
FASTEST_AT_LEAST = 10.0 * SLOWEST
# The data determine a constant whose error is below a factor of e, or this share of its range.
LARGEST_LOG_ERROR, LARGEST_SHARE_OF_RANGE = 1.0, 1.0 / 3.0
# This close to the end of its range, in the search's coordinates, a constant is at a bound.
AT_BOUND = 1.0e-3
# Evaluations of one search: from a good start some ten are needed.
MOST_EVALUATIONS = 60
# Of the search: squares, and coordinates, of which a millionth is far below any error.
COST_TOLERANCE, STEP_TOLERANCE = 1.0e-9, 1.0e-6
# Smaller singular values are rounding: what they would determine has an error without limit.
SMALLEST_SINGULAR = 1.0e-12


@dataclass(frozen=True, eq=False)
class CurvePoints:
    """Friction of one joint at m constant velocities."""

    speed: FloatArray  # (m,) velocity [rad/s]
    friction: FloatArray  # (m,) torque against it, with its sign [N m]
    error: FloatArray  # (m,) standard error of `friction` [N m]
    load: FloatArray  # (m,) mean size of the torque held against gravity [N m]
    temperature: FloatArray  # (m,) [deg C]; NaN where not recorded
    has_directions: bool  # whether the directions are distinguished
    common_error: float = 0.0  # standard error of an offset that all points have in common [N m]
    pairs: int = 0  # points that repeat another one with the sign turned around, being of a pair

    def __len__(self) -> int:
        return len(self.speed)

    def part(self, rows: BoolArray | IntArray) -> CurvePoints:
        """Return some of the points, by mask or by number."""
        names = ('speed', 'friction', 'error', 'load', 'temperature')
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def motion(self) -> JointMotion:
        """Return what the friction laws see: constant velocities under a load."""
        return JointMotion(np.zeros(len(self)), self.speed, self.load, self.temperature)

    def levels(self) -> FloatArray:
        """Return the number of the speed of each point, from 0, both directions alike."""
        size = np.abs(self.speed)
        order = np.argsort(size)
        jumps = size[order][1:] > (1.0 + SAME_SPEED) * size[order][:-1]
        number = np.zeros(len(self))
        number[order] = np.concatenate([[0.0], np.cumsum(jumps)])
        return number


@dataclass(frozen=True)
class ShapeConstant:
    """A shape constant, and what the data say of it."""

    # Name of the law, and of its field.
    law: str
    name: str
    value: float  # its value, in the law's unit
    # For residuals that are correlated in time; NaN at a bound, and where it was not searched.
    standard_error: float
    determined: bool  # whether it was searched; if not, it is the one that was given
    at_bound: bool  # whether it is at an end of the range that is searched


@dataclass(frozen=True, eq=False)
class SeparableFit:
    """Friction of one joint with the constants found."""

    laws: tuple[FrictionLaw, ...]  # with the constants found
    coefficients: FloatArray  # (k,): of all laws in order
    constants: tuple[ShapeConstant, ...]  # all shape constants of the laws
    deviation: float  # root mean square of the residual [N m]


@dataclass(frozen=True)
class CurveTrial:
    """One curve as it was tried."""

    name: str  # in CURVES
    left_out: float  # root mean square error at speeds that were not fitted [N m]; NaN of the only
    deviation: float  # root mean square of what the fit of all leaves [N m]


@dataclass(frozen=True)
class CurveTerm:
    """One coefficient of a curve."""

    law: str
    symbol: str
    unit: str
    value: float
    error: float  # standard error; NaN where the value is held at zero, friction taking energy


@dataclass(frozen=True, eq=False)
class FrictionCurve:
    """Friction of a joint over speed, load and temperature."""

    name: str  # in CURVES; offset, load and temperature go with each
    laws: tuple[FrictionLaw, ...]  # with the shape constants found
    terms: tuple[CurveTerm, ...]  # the coefficients, in the order of the laws
    constants: tuple[ShapeConstant, ...]  # the shape constants
    trials: tuple[CurveTrial, ...]  # all curves that were tried, in the order of CURVES
    speeds: tuple[float, float]  # between which it holds, both ways [rad/s]
    load: float  # mean of the points [N m]
    temperature: float  # mean of the points [deg C]; NaN where not recorded
    deviation: float  # root mean square of what it leaves [N m]

    def coefficient(self, symbol: str) -> float:
        """Return the value of a coefficient, zero where the curve does not have it."""
        return next((term.value for term in self.terms if term.symbol == symbol), 0.0)

    def torque(
        self, speed: FloatArray, load: float | None = None, temperature: float | None = None
    ) -> FloatArray:
        """
        Return friction at constant velocities (N,) [rad/s].

        Load [N m] and temperature [deg C] are by default the means of the points.
        """
        speed = np.asarray(speed, dtype=float)
        motion = JointMotion(
            np.zeros_like(speed), speed,
            np.full_like(speed, self.load if load is None else load),
            np.full_like(speed, self.temperature if temperature is None else temperature),
        )
        torque: FloatArray = law_columns(self.laws, motion) @ np.array(
            [term.value for term in self.terms]
        )
        return torque


def choose_curve(points: CurvePoints, position_unit: str = 'rad') -> FrictionCurve:
    """
    Return the curve that predicts speeds left out best, or a simpler one that does as well.

    Load and temperature are terms of every curve where the points differ enough in them, and so
    is an offset where directions are distinguished. The points are of one joint, of any number of
    recordings, and its position is in `position_unit`, 'rad' or 'm'. Raise DataError if there are
    fewer than two speeds.
    """
    levels = points.levels()
    count = int(levels.max(initial=-1.0)) + 1
    if count < 2:
        raise DataError(
            f'a curve of friction needs two speeds, {count} are there: record segments at more '
            'speeds'
        )
    # By speed, so that what a curve cannot bend to is seen as going on from one to the next.
    order = np.argsort(points.speed, kind='stable')
    points, levels = points.part(order), levels[order]
    extra = _extra_laws(points)
    fits: dict[str, SeparableFit] = {}
    squares: dict[str, FloatArray] = {}
    for name, (laws, needed) in CURVES.items():
        if count < needed:
            continue
        own = (*_with_width(laws, points), *extra)
        fits[name] = fit_curve(points, own)
        squares[name] = _left_out(points, levels, fits[name]) if count > needed else (
            np.full(len(points), np.nan)
        )
    name = _simplest(squares, levels)
    return _curve(name, points, fits, squares, position_unit)


def _with_width(
    laws: tuple[FrictionLaw, ...], points: CurvePoints
) -> tuple[FrictionLaw, ...]:
    """Return laws whose passage through zero is over at the slowest speed, until data say more."""
    width = WIDTH_SHARE * float(np.abs(points.speed).min())
    return tuple(
        replace(law, **{'width': width}) if 'width' in law.shape else law for law in laws
    )


def _extra_laws(points: CurvePoints) -> tuple[FrictionLaw, ...]:
    """Return the laws of load, temperature and direction that the points determine."""
    laws: list[FrictionLaw] = []
    both = points.speed.min() < 0.0 < points.speed.max()
    if points.has_directions and both:
        laws.append(FrictionOffset())
    if np.ptp(points.load) >= LEAST_LOAD_SHARE * np.median(np.abs(points.friction)):
        laws.append(LoadFriction(WIDTH_SHARE * float(np.abs(points.speed).min())))
    if np.all(np.isfinite(points.temperature)) and np.ptp(points.temperature) >= LEAST_RANGE:
        laws.append(TemperatureViscousFriction(round(float(points.temperature.mean()), 1)))
    return tuple(laws)


def fit_curve(points: CurvePoints, laws: Sequence[FrictionLaw]) -> SeparableFit:
    """
    Return the fit of laws without memory to the points, and the shape constants that these show.

    First the constants that the laws name as `searched_first` are searched, from several starts. A
    further one is searched with them if it is known then, and if it makes the fit better: searched
    all at once, a few speeds determine none of them.
    """
    fastest = float(np.abs(points.speed).max())
    searched = {(law.name, name) for law in laws for name in law.searched_first}
    best = min(
        (
            fit_shapes(points.motion(), points.friction, start, searched)
            for start in product(*(_starts(law) for law in laws))
        ),
        key=lambda fit: fit.deviation,
    )
    for more in [(law.name, name) for law in laws for name in law.searched_next]:
        wider = fit_shapes(points.motion(), points.friction, best.laws, searched | {more})
        determined = all(_is_determined(one, fastest) for one in wider.constants if one.determined)
        if determined and wider.deviation < BETTER * best.deviation:
            best, searched = wider, searched | {more}
    return best


def _starts(law: FrictionLaw) -> tuple[FrictionLaw, ...]:
    """Return a law with the values of what is searched first that are worth starting from."""
    return tuple(
        replace(law, **{name: getattr(other, name) for name in law.searched_first})
        for other in law.alternatives()
    ) if law.searched_first else (law,)


def _is_determined(constant: ShapeConstant, fastest: float) -> bool:
    """Return whether a constant is known to a factor, and is at no end of its range."""
    if constant.at_bound or not np.isfinite(constant.standard_error):
        return False
    given = FRICTION_LAWS[constant.law].ranges.get(constant.name)
    if given is None:
        return constant.standard_error < LARGEST_LOG_ERROR * constant.value < fastest
    return constant.standard_error < LARGEST_SHARE_OF_RANGE * (given[1] - given[0])


def _left_out(points: CurvePoints, levels: FloatArray, whole: SeparableFit) -> FloatArray:
    """Return the squared error of each point (m,) by fits to the other speeds."""
    squares = np.zeros(len(points))
    for fold in range(FOLDS):
        out = levels % FOLDS == fold
        if not out.any() or out.all():
            continue
        kept = points.part(~out)
        searched = {(one.law, one.name) for one in whole.constants if one.determined}
        fit = fit_shapes(kept.motion(), kept.friction, whole.laws, searched)
        predicted = law_columns(fit.laws, points.part(out).motion()) @ fit.coefficients
        squares[out] = (points.friction[out] - predicted) ** 2
    return squares


def _simplest(squares: Mapping[str, FloatArray], levels: FloatArray) -> str:
    """Return the first curve that is as good as the best at speeds left out."""
    names = list(squares)
    known = [name for name in names if np.all(np.isfinite(squares[name]))]
    if not known:
        return names[0]
    # Points of one speed go together: they are one sample of how well a curve predicts.
    numbers = np.unique(levels)
    means = {
        name: np.array([squares[name][levels == number].mean() for number in numbers])
        for name in known
    }
    best = min(known, key=lambda name: float(means[name].mean()))
    for name in known:
        worse = means[name] - means[best]
        error = float(np.std(worse, ddof=1)) / np.sqrt(len(numbers))
        allowed = ((1.0 + TIE) ** 2 - 1.0) * float(means[best].mean())
        if float(worse.mean()) <= max(allowed, error):
            return name
    return best


def _curve(
    name: str, points: CurvePoints, fits: Mapping[str, SeparableFit],
    squares: Mapping[str, FloatArray], position_unit: str,
) -> FrictionCurve:
    fit = fits[name]
    errors = _coefficient_errors(points, fit)
    symbols = [
        (law.name, symbol, unit_of_joint(unit, position_unit)) for law in fit.laws
        for symbol, unit in zip(law.symbols, law.units, strict=True)
    ]
    size = np.abs(points.speed)
    known = np.isfinite(points.temperature)
    return FrictionCurve(
        name, fit.laws,
        tuple(
            CurveTerm(*words, float(value), float(error))
            for words, value, error in zip(symbols, fit.coefficients, errors, strict=True)
        ),
        fit.constants,
        tuple(
            CurveTrial(trial, float(np.sqrt(np.mean(squares[trial]))), fits[trial].deviation)
            for trial in fits
        ),
        (float(size.min()), float(size.max())),
        float(points.load.mean()),
        float(points.temperature.mean()) if known.all() else float('nan'),
        fit.deviation,
    )


def _coefficient_errors(points: CurvePoints, fit: SeparableFit) -> FloatArray:
    """Return standard errors (k,), shape constants that were found being free as well."""
    motion = points.motion()
    columns = law_columns(fit.laws, motion)
    used = np.flatnonzero(fit.coefficients)
    free = [one.determined and not one.at_bound for one in fit.constants]
    slopes = np.hstack(_shape_slopes(fit.laws, motion, fit.coefficients))[:, free]
    residual = points.friction - columns @ fit.coefficients
    jacobian = np.hstack([columns[:, used], slopes])
    # By what the curve leaves, and by the errors of the points: few fast ones determine a slope.
    both = np.maximum(
        standard_errors(jacobian, residual, 0), _carried_errors(jacobian, points.error)
    )
    errors = np.full(len(fit.coefficients), np.nan)
    errors[used] = both[: len(used)] * np.sqrt(len(points) / (len(points) - points.pairs))
    # What all points are off by together is not in what they scatter by.
    offset = np.array([law.is_offset for law in fit.laws for _ in law.symbols])
    errors[offset] = np.hypot(errors[offset], points.common_error)
    return errors


def _carried_errors(jacobian: FloatArray, errors: FloatArray) -> FloatArray:
    """Return what errors of the points (m,) make of those of the unknowns (p,)."""
    length = np.linalg.norm(jacobian, axis=0)
    left, singular, right = np.linalg.svd(
        jacobian / np.maximum(length, np.finfo(float).tiny), full_matrices=False
    )
    gain = (right.T / np.maximum(singular, SMALLEST_SINGULAR)) @ left.T
    carried: FloatArray = np.linalg.norm(gain * errors, axis=1) / np.maximum(
        length, np.finfo(float).tiny
    )
    return carried


def fit_shapes(
    motion: JointMotion, tau: FloatArray, laws: Sequence[FrictionLaw],
    searched: Set[tuple[str, str]],
) -> SeparableFit:
    """
    Return the friction of one joint by least squares, some shape constants being searched.

    The friction torque `tau` (N,) [N m] belongs to N samples of a motion. `searched` names law
    and constant; the search begins at those of the laws, and the others are kept. The laws have no
    memory. Velocities are searched by their logarithms, exponents as they are.
    """
    # Number of the law, and name of the constant.
    places = [
        (number, name) for number, law in enumerate(laws) for name in law.shape
        if (law.name, name) in searched
    ]
    is_log = np.array([name not in laws[number].ranges for number, name in places], dtype=bool)
    fastest = float(np.abs(motion.dq).max(initial=0.0))
    of_each = [search_range(laws[number], name, fastest) for number, name in places]
    ranges = np.reshape(of_each, (-1, 2))
    low, high = np.where(is_log[:, None], np.log(ranges), ranges).T
    size = float(np.linalg.norm(tau)) or 1.0

    def laws_at(x: FloatArray) -> tuple[FrictionLaw, ...]:
        values = np.clip(np.where(is_log, np.exp(x), x), *ranges.T)
        moved = list(laws)
        for (number, name), value in zip(places, values.tolist(), strict=True):
            moved[number] = replace(moved[number], **{name: value})
        return tuple(moved)

    # The Jacobian is asked for where the residual was before.
    @lru_cache(maxsize=1)
    def solved(laws: tuple[FrictionLaw, ...]) -> tuple[FloatArray, FloatArray, FloatArray]:
        return _solve(laws, motion, tau)

    def residual(x: FloatArray) -> FloatArray:
        return solved(laws_at(x))[2] / size

    def jacobian(x: FloatArray) -> FloatArray:
        """Return Kaufman's derivative of the residual, shape (N, p)."""
        at = laws_at(x)
        coefficients, basis, _ = solved(at)
        slopes = _shape_slopes(at, motion, coefficients)
        slope = np.column_stack([
            slopes[number][:, at[number].shape.index(name)] * (
                getattr(at[number], name) if log else 1.0
            )
            for (number, name), log in zip(places, is_log, strict=True)
        ])
        left: FloatArray = basis @ (basis.T @ slope) - slope
        return left / size

    found, near, errors = tuple(laws), np.zeros(len(places), dtype=bool), np.zeros(len(places))
    if places:
        values = np.array([getattr(laws[number], name) for number, name in places])
        margin = 1e-6 * (high - low)
        start = np.clip(np.where(is_log, np.log(values), values), low + margin, high - margin)
        x = scipy.optimize.least_squares(
            residual, start, jacobian, (low, high), method='trf', ftol=COST_TOLERANCE,
            xtol=STEP_TOLERANCE, gtol=COST_TOLERANCE, max_nfev=MOST_EVALUATIONS,
        ).x
        found, near = laws_at(x), np.minimum(x - low, high - x) < AT_BOUND * (high - low)
        errors = np.full(len(x), np.nan)
        errors[~near] = standard_errors(
            jacobian(x)[:, ~near], residual(x), solved(found)[1].shape[1]
        )
        errors *= np.where(is_log, np.exp(x), 1.0)
    coefficients, _, left = solved(found)
    known = dict(zip(places, zip(errors.tolist(), near.tolist(), strict=True), strict=True))
    return SeparableFit(
        found, coefficients, _shape_constants(found, known), float(np.sqrt(np.mean(left**2)))
    )


def _shape_constants(
    laws: Sequence[FrictionLaw], known: Mapping[tuple[int, str], tuple[float, bool]]
) -> tuple[ShapeConstant, ...]:
    """Return all constants; those searched have an error each, and whether it is at a bound."""
    return tuple(
        ShapeConstant(
            law.name, name, float(getattr(law, name)), error, (number, name) in known, at_bound
        )
        for number, law in enumerate(laws) for name in law.shape
        for error, at_bound in [known.get((number, name), (np.nan, False))]
    )


def _solve(
    laws: Sequence[FrictionLaw], motion: JointMotion, tau: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """
    Return the coefficients (k,) of laws, an orthogonal basis of the columns used, and residuals.

    Coefficients that take energy are not negative.
    """
    signed = np.array([symbol in law.signed for law in laws for symbol in law.symbols], dtype=bool)
    columns = law_columns(laws, motion)
    length = np.linalg.norm(columns, axis=0)
    seen = np.flatnonzero(length > 0.0)
    coefficients = np.zeros(columns.shape[1])
    if seen.size:
        triangle = triangle_of(np.column_stack([columns[:, seen] / length[seen], tau]))
        coefficients[seen] = solve_bounded(
            triangle[:, :-1], triangle[:, -1], ~signed[seen], np.zeros(seen.size)
        ) / length[seen]
    used = coefficients != 0.0
    basis = np.linalg.qr(columns[:, used] / length[used])[0]
    return coefficients, basis, tau - columns @ coefficients


def _shape_slopes(
    laws: Sequence[FrictionLaw], motion: JointMotion, coefficients: FloatArray
) -> list[FloatArray]:
    """Return the derivatives (N, m) of the torque of each law by its shape constants."""
    own = np.split(coefficients, np.cumsum([len(law.symbols) for law in laws])[:-1])
    return [
        law.shape_jacobian(motion, each, law.initial_state())
        for law, each in zip(laws, own, strict=True)
    ]


def search_range(law: FrictionLaw, name: str, fastest: float) -> tuple[float, float]:
    """Return the range in which a constant is searched; `fastest` [rad/s] is the joint's."""
    return law.ranges.get(name) or (SLOWEST, max(fastest, FASTEST_AT_LEAST))


def law_columns(laws: Sequence[FrictionLaw], motion: JointMotion) -> FloatArray:
    """Return the columns of laws without memory side by side, shape (N, k)."""
    return np.hstack([law.columns(motion, law.initial_state())[0] for law in laws])


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
