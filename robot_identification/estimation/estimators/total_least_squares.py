# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Total least squares: the columns of the observation matrix are noisy, not the torques alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, triangle_of
from robot_identification.errors import RankDeficientError, UsageError
from robot_identification.estimation.estimate import (
    check_count, check_not_negative, check_positive, Estimate, Estimator,
)
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.solving import (
    describe_estimate, renew_weights, residual_deviation, rows_per_joint, solve_weighted, without,
)
from robot_identification.model import StandardParameters
import scipy

# Below it, the last component of the singular vector is near zero: the columns would explain the
# torque with parts ten thousand times as large that cancel.
LEAST_COMPONENT = 1.0e-4
# From here on the misfit, over the weakest combination of columns, may decide that combination.
WEAK_RATIO = 0.5
# Parameters that an error names.
MOST_NAMES = 3


@dataclass(frozen=True)
class TotalLeastSquares(Estimator):
    r"""
    Minimize the noise in torques and columns together, all columns scaled to equal noise [1]_.

    Noise in the columns pulls least squares towards zero; this is taken back, as far as the ratio
    of the noises is known. By default each standard parameter's column has `relative_noise` times
    the relative noise of the torque, and that of the base columns follows, so that neither units
    nor the choice of base parameters matter. Offsets have none; columns without noise are removed
    by QR first [2]_.

    References
    ----------
    .. [1] G. Golub, C. Van Loan, "An analysis of the total least squares problem", SIAM Journal
       on Numerical Analysis 17(6), 1980.
    .. [2] S. Van Huffel, J. Vandewalle, "The total least squares problem", SIAM, 1991.
    .. [3] W. Fuller, "Measurement error models", Wiley, 1987.

    """

    # Noise of a column over its root mean square, as a part of the same ratio of the torque: 1 is
    # the textbook's, with columns of unit length, 0 is weighted least squares.
    relative_noise: float = 0.1
    # In the place of it: standard deviation of the noise in the column of each base parameter
    # [N m per unit of the parameter], none where it is not named, and of each joint's torque
    # [N m]. One factor on both changes nothing.
    noise: Mapping[str, float] | None = None
    torque_noise: tuple[float, ...] | None = None
    reweightings: int = 3  # how often each joint's weight is renewed from its residual

    def __post_init__(self) -> None:
        check_not_negative(self.relative_noise, 'relative_noise of tls')
        check_count(self.reweightings, 0, 'reweightings of tls')
        if (self.noise is None) != (self.torque_noise is None):
            raise UsageError(
                'tls needs noise and torque_noise together, as only their ratio counts: give '
                'both, or relative_noise alone'
            )
        for name, value in (self.noise or {}).items():
            check_not_negative(value, f'noise of {name} of tls')
        for value in self.torque_noise or ():
            check_positive(value, 'torque_noise of tls')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """
        Estimate by the singular value decomposition of the factors; see `Estimator.estimate`.

        The covariance is that of the estimating equations to first order [3]_: it knows what the
        correction costs, but takes the ratio of the noises as known.
        """
        noisy = self._noisy(problem)
        # Refuses by name what the data do not determine.
        weights = renew_weights(problem, self.reweightings)
        plain = solve_weighted(problem, weights)
        if not noisy.any():
            return replace(plain, notes=('no column has noise: as weighted least squares',))
        R, z = problem.stacked(weights)
        scaling = self._scaling(problem, weights, noisy)
        gain, ratio = _solve(problem.reduction.names, R, z, noisy, scaling)
        theta = gain @ z
        deviation = rows_per_joint(problem, weights * residual_deviation(problem, theta))
        b = problem.reduction.rank
        shift = np.abs(theta[:b] - plain.theta) / np.maximum(
            plain.standard_errors, np.finfo(float).tiny
        )
        largest = int(np.argmax(shift))
        notes = [
            f'columns without noise: {int(np.sum(~noisy[:b]))} of {b}; misfit over the weakest '
            f'combination of columns {ratio:.2g}; {problem.reduction.names[largest]} is '
            f'{shift[largest]:.2g} standard errors from its least-squares estimate, the others '
            'are closer'
        ]
        if ratio >= WEAK_RATIO:
            notes.append(
                'with a misfit this close to the weakest combination the ratio of the noises '
                'decides it: give noise and torque_noise, or choose --estimator wls'
            )
        return replace(
            describe_estimate(problem, weights, theta), notes=tuple(notes),
            covariance=((gain * deviation**2) @ gain.T)[:b, :b],
        )

    def _noisy(self, problem: IdentificationProblem) -> BoolArray:
        """Return which unknowns have noisy columns, (size,); refuse options that do not fit."""
        names = problem.reduction.names
        unknown = [name for name in self.noise or () if name not in names]
        if unknown:
            raise UsageError(
                f'noise of tls names {", ".join(unknown)}: the base parameters here are '
                f'{", ".join(names)}'
            )
        if self.torque_noise is not None and len(self.torque_noise) != problem.n:
            raise UsageError(
                f'torque_noise of tls has {len(self.torque_noise)} numbers for {problem.n} '
                'joints: give one for each'
            )
        offsets = _offsets(problem.reduction.parameters)[problem.reduction.independent]
        noisy = np.zeros(problem.size, dtype=bool)
        noisy[: len(names)] = ~offsets & (self.relative_noise > 0.0)
        if self.noise is not None:
            noisy[: len(names)] = [self.noise.get(name, 0.0) > 0.0 for name in names]
        return noisy

    def _scaling(
        self, problem: IdentificationProblem, weights: FloatArray, noisy: BoolArray
    ) -> FloatArray:
        """
        Return what noisy columns are multiplied by to have independent noise like the torque's.

        Where every standard column has independent noise of standard deviation d, the base
        columns have that of the best estimate of them from all standard ones, whose covariance
        is ``(K diag(d)^-2 K')^-1``.
        """
        reduction, chosen = problem.reduction, np.flatnonzero(noisy)
        if self.noise is not None and self.torque_noise is not None:
            squares = np.zeros(problem.size)
            for factor, weight, samples in zip(
                problem.factors, weights, problem.samples, strict=True
            ):
                squares[factor.columns] += weight**2 * samples
            noise = np.array([self.noise[reduction.names[at]] for at in chosen])
            torque = np.sqrt(problem.samples) * weights * np.array(self.torque_noise)
            return np.diag(np.linalg.norm(torque) / (noise * np.sqrt(squares[chosen])))
        R, z = problem.stacked(weights)
        seen = reduction.significant.any(axis=0) & ~_offsets(reduction.parameters)
        lengths = np.linalg.norm(R[:, : reduction.rank] @ reduction.K[:, seen], axis=0)
        spanning = reduction.K[np.ix_(chosen, seen)] / (self.relative_noise * lengths)
        size = max(float(np.linalg.norm(z)), float(np.finfo(float).tiny))
        scaling: FloatArray = size * triangle_of(spanning.T).T
        return scaling


def _solve(
    names: tuple[str, ...], R: FloatArray, z: FloatArray, noisy: BoolArray, scaling: FloatArray
) -> tuple[FloatArray, float]:
    """
    Solve ``(A' A - s^2 C) x = A' z`` by singular values, never as it stands.

    A are the noisy columns without what the exact ones explain, C is the covariance of their
    noise, s the smallest singular value of columns and torque scaled to equal noise. Returns the
    map from z to the unknowns, and the misfit over the weakest combination of columns. Raises
    RankDeficientError if the last component of its singular vector is near zero.
    """
    lengths = np.linalg.norm(R, axis=0)
    exact, triangle = np.linalg.qr(R[:, ~noisy] / lengths[~noisy])
    left, singular, right = np.linalg.svd(
        without(exact, R[:, noisy]) @ scaling, full_matrices=False
    )
    rest = without(exact, z)
    # Columns in their own axes; the torque by its part along them, and what is left of it.
    along = left.T @ rest
    both = np.diag(np.append(singular, np.linalg.norm(rest - left @ along)))
    both[:-1, -1] = along
    _, values, vectors = np.linalg.svd(both)
    misfit, component = float(values[-1]), float(np.abs(vectors[-1, -1]))
    if component < LEAST_COMPONENT:
        weakest = np.abs(scaling @ right[-1]) * lengths[noisy]
        at = np.flatnonzero(noisy)[np.argsort(-weakest)[:MOST_NAMES]]
        raise RankDeficientError(
            f'total least squares has no solution: the last component of the singular vector is '
            f'{component:.1e}, at least {LEAST_COMPONENT:.0e} is needed; with as much noise in '
            f'the columns as given, {", ".join(names[row] for row in at)} cannot be '
            'distinguished: record a richer motion, give less noise, or choose --estimator wls'
        )
    shrunk = singular / (singular**2 - misfit**2)
    gain = np.zeros((len(noisy), len(z)))
    gain[noisy] = scaling @ (right.T * shrunk) @ without(exact, left).T
    gain[~noisy] = scipy.linalg.solve_triangular(
        triangle, exact.T - (exact.T @ R[:, noisy]) @ gain[noisy]
    ) / lengths[~noisy, None]
    return gain, misfit / float(singular[-1])


def _offsets(parameters: StandardParameters) -> BoolArray:
    """Return which standard columns are constant, and so without noise, shape (p,)."""
    mask = np.zeros(parameters.size, dtype=bool)
    for term, columns in parameters.friction_columns:
        mask[columns] = term.law.is_offset
    return mask
