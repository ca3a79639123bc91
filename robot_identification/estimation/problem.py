# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The identification problem, kept as one triangular factor per joint.

Every linear estimator, re-weighting and covariance follows from the factors, so that memory does
not grow with the recording. What needs residuals again passes over the observations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, TYPE_CHECKING

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray, triangle_of
from robot_identification.errors import DataError
from robot_identification.model import BaseReduction

if TYPE_CHECKING:
    from robot_identification.estimation.observations import Observations


@dataclass(frozen=True, eq=False)
class TriangularFactor:
    """
    The rows of one joint, reduced by orthogonal transformations.

    Attributes
    ----------
    columns : ndarray of int, shape (k,)
        The unknowns that act on the joint; all others have zero columns.
    triangle : ndarray, shape (k + 1, k + 1)
        Upper triangular R of ``[W_j[:, columns] tau_j] = Q R`` [N m per parameter, N m].

    """

    columns: IntArray
    triangle: FloatArray

    def select(self, chosen: IntArray) -> TriangularFactor:
        """
        Return the factor of a problem with fewer unknowns.

        Parameters
        ----------
        chosen : ndarray of int, shape (m,)
            Unknowns that stay, in their new order.

        """
        place = {int(column): at for at, column in enumerate(self.columns)}
        kept = [new for new, old in enumerate(chosen) if int(old) in place]
        at = [place[int(chosen[new])] for new in kept] + [len(self.columns)]
        return TriangularFactor(np.array(kept, dtype=int), triangle_of(self.triangle[:, at]))


def combine_factors(factors: Sequence[TriangularFactor]) -> TriangularFactor:
    """Return the factor of all rows behind some factors of one joint."""
    return TriangularFactor(
        factors[0].columns, triangle_of(np.vstack([factor.triangle for factor in factors]))
    )


@dataclass(frozen=True, eq=False)
class IdentificationProblem:
    """
    Find the base parameters in ``tau_j = W_j @ theta_base + noise`` for every joint j.

    Attributes
    ----------
    factors : tuple of TriangularFactor, length n
        All rows. Unknowns are the b base parameters and, after them, `nuisance` others.
    samples : ndarray of int, shape (n,)
        Rows behind each factor.
    reduction : BaseReduction
        Meaning of the base parameters.
    nuisance : int
        Unknowns that are no parameters of the model: how far the offset of each joint in each
        recording after the first is from their mean.
    blocks : tuple of tuple of TriangularFactor
        The same rows by contiguous blocks of time, for what asks how estimates scatter.
    observations : Observations, optional
        The rows themselves, for what needs residuals again.

    """

    factors: tuple[TriangularFactor, ...]
    samples: IntArray
    reduction: BaseReduction
    nuisance: int = 0
    blocks: tuple[tuple[TriangularFactor, ...], ...] = ()
    observations: Observations | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if len(self.factors) != len(self.samples):
            raise ValueError(
                f'{len(self.factors)} factors for the samples of {len(self.samples)} joints'
            )
        for factor in self.factors:
            k = len(factor.columns)
            if factor.triangle.shape != (k + 1, k + 1) or np.any(factor.columns >= self.size):
                raise ValueError(
                    f'a factor of {k} of {self.size} unknowns has shape {factor.triangle.shape}'
                )

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.factors)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return self.reduction.rank + self.nuisance

    def squared_residuals(self, theta: FloatArray) -> FloatArray:
        """
        Return the sum of squared residuals of each joint.

        Parameters
        ----------
        theta : ndarray, shape (size,)
            Unknowns.

        Returns
        -------
        ndarray, shape (n,)
            Sums of squares [N^2 m^2].

        """
        return np.array([
            np.sum((factor.triangle @ np.append(-theta[factor.columns], 1.0)) ** 2)
            for factor in self.factors
        ])

    @property
    def squared_torque(self) -> FloatArray:
        """Sum of squared torques of each joint, shape (n,) [N^2 m^2]."""
        return np.array([np.sum(factor.triangle[:, -1] ** 2) for factor in self.factors])

    def stacked(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """
        Return an equivalent small least-squares problem with weighted joints.

        Parameters
        ----------
        weights : ndarray, shape (n,)
            Factor on the rows of each joint, 1 / (standard deviation of its noise).

        Returns
        -------
        R : ndarray, shape (sum of k_j + 1, size)
            Matrix.
        z : ndarray, shape (sum of k_j + 1,)
            Right-hand side.

        """
        return stack_factors(self.factors, weights, self.size)

    def select(self, chosen: IntArray, reduction: BaseReduction) -> IdentificationProblem:
        """
        Return the problem with fewer base parameters.

        Parameters
        ----------
        chosen : ndarray of int, shape (m,)
            Base parameters that stay.
        reduction : BaseReduction
            Their meaning, of rank m.

        """
        b = self.reduction.rank
        unknowns = np.concatenate([chosen, np.arange(b, b + self.nuisance)])
        observations = self.observations
        return replace(
            self,
            factors=tuple(factor.select(unknowns) for factor in self.factors),
            reduction=reduction,
            blocks=tuple(
                tuple(factor.select(unknowns) for factor in block) for block in self.blocks
            ),
            observations=None if observations is None else observations.with_reduction(reduction),
        )


def stack_factors(
    factors: Sequence[TriangularFactor], weights: FloatArray, size: int
) -> tuple[FloatArray, FloatArray]:
    """Return matrix and right-hand side of all joints; see `IdentificationProblem.stacked`."""
    heights = [len(factor.triangle) for factor in factors]
    R = np.zeros((sum(heights), size))
    z = np.zeros(len(R))
    first = 0
    for factor, weight, height in zip(factors, weights, heights, strict=True):
        rows = slice(first, first + height)
        R[rows, factor.columns] = weight * factor.triangle[:, :-1]
        z[rows] = weight * factor.triangle[:, -1]
        first += height
    return R, z


def combine_problems(problems: Sequence[IdentificationProblem]) -> IdentificationProblem:
    """
    Return the problem of several recordings from those of each.

    Raises
    ------
    DataError
        If they do not have the same base parameters.

    """
    first = problems[0]
    for other in problems[1:]:
        if other.reduction.names != first.reduction.names or other.nuisance or first.nuisance:
            raise DataError('recordings reduced to different base parameters cannot be combined')
    return replace(
        first,
        factors=tuple(
            combine_factors(same) for same in zip(*(p.factors for p in problems), strict=True)
        ),
        samples=np.sum([problem.samples for problem in problems], axis=0),
        blocks=tuple(block for problem in problems for block in problem.blocks),
        observations=None,
    )


@dataclass(frozen=True, eq=False)
class Estimate:
    """
    Result of an estimator.

    Attributes
    ----------
    theta : ndarray, shape (b,)
        Base parameters, SI units.
    covariance : ndarray, shape (b, b)
        Of `theta`, from white residuals; `statistics` has what holds for residuals that are
        correlated in time, as measured ones are.
    sigma : ndarray, shape (n,)
        Standard deviation of the residual of each joint [N m].
    condition_number : float
        Of the weighted problem as it stands.
    condition_number_scaled : float
        The same with columns of unit length.
    singular_values : ndarray, shape (b,)
        Of the weighted problem with columns of unit length.
    problem : IdentificationProblem, optional
        The problem solved last, with its row weights, where the estimator made another one.
    weights : ndarray, shape (n,)
        Factor on the rows of each joint in it [1 / N m].
    active : ndarray of bool, shape (b,)
        Parameters held by a bound: they have no standard error.
    prior : PriorTerm, optional
        What was added to the squared residuals.
    nuisance : ndarray, shape (problem.nuisance,)
        The other unknowns of the problem.
    passes : int
        How often it passed over the data.
    notes : tuple of str
        What a reader should know.
    standard : ndarray, shape (p,), optional
        Standard parameters, where the estimator finds all of them.
    damping : PriorTerm, optional
        Rows that shrink coefficients a little, too light to count in errors.

    """

    theta: FloatArray
    covariance: FloatArray
    sigma: FloatArray
    condition_number: float
    condition_number_scaled: float
    singular_values: FloatArray
    problem: IdentificationProblem | None = field(default=None, repr=False)
    weights: FloatArray = field(default_factory=lambda: np.zeros(0))
    active: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    prior: PriorTerm | None = None
    nuisance: FloatArray = field(default_factory=lambda: np.zeros(0))
    passes: int = 1
    notes: tuple[str, ...] = ()
    standard: FloatArray | None = None
    damping: PriorTerm | None = None

    @property
    def standard_errors(self) -> FloatArray:
        """Standard errors of `theta`, shape (b,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def unknowns(self) -> FloatArray:
        """All unknowns of the problem, shape (problem.size,)."""
        return np.append(self.theta, self.nuisance)

    def select(self, chosen: IntArray, problem: IdentificationProblem) -> Estimate:
        """
        Return the estimate without base parameters that are zero.

        Parameters
        ----------
        chosen : ndarray of int, shape (m,)
            Base parameters that stay.
        problem : IdentificationProblem
            The same problem with these alone.

        """
        b = len(self.theta)
        unknowns = np.concatenate([chosen, np.arange(b, b + len(self.nuisance))])
        return replace(
            self,
            theta=self.theta[chosen],
            covariance=self.covariance[np.ix_(chosen, chosen)],
            problem=problem,
            active=self.active[chosen],
            prior=None if self.prior is None else self.prior.select(unknowns),
            damping=None if self.damping is None else self.damping.select(unknowns),
            standard=None,
        )


@dataclass(frozen=True, eq=False)
class PriorTerm:
    """
    Rows that pull unknowns to what is known of them already.

    The sum of ``|matrix @ unknowns - side|^2`` is added to the weighted squared residuals.

    Attributes
    ----------
    matrix : ndarray, shape (r, size)
        Rows.
    side : ndarray, shape (r,)
        Right-hand side.

    """

    matrix: FloatArray
    side: FloatArray

    def select(self, unknowns: IntArray) -> PriorTerm:
        """Return the rows for some of the unknowns, in their new order."""
        return PriorTerm(self.matrix[:, unknowns], self.side)


@dataclass(frozen=True)
class Estimator(ABC):
    """
    An estimator: options are dataclass fields, one verb does the work.

    Attributes
    ----------
    needs_rows : bool
        Whether it looks at samples of all recordings, which are then kept by one process.
    chooses_terms : bool
        Whether it chooses friction terms, and takes the load from its own passes.

    """

    needs_rows: ClassVar[bool] = False
    chooses_terms: ClassVar[bool] = False

    @abstractmethod
    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """
        Estimate the base parameters.

        Raises
        ------
        RankDeficientError
            If the data do not determine every base parameter.

        """
