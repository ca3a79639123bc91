# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Estimators: their common interface, checks of options, and the estimate that each returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
import math
from typing import Any, ClassVar

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray
from robot_identification.errors import UsageError
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.files import is_number, is_whole_number
from robot_identification.texts import short_repr


@dataclass(frozen=True, eq=False)
class Estimate:
    """Result of an estimator."""

    theta: FloatArray  # (b,) base parameters, SI units
    # (b, b) of `theta`, from white residuals; `statistics` has what holds for residuals that are
    # correlated in time, as measured ones are
    covariance: FloatArray
    sigma: FloatArray  # (n,) standard deviation of the residual of each joint [N m]
    condition_number: float  # of the weighted problem as it stands
    condition_number_scaled: float  # the same with columns of unit length
    singular_values: FloatArray  # (b,) of the weighted problem with columns of unit length
    # the problem solved last, with its row weights, where the estimator made another one
    problem: IdentificationProblem | None = field(default=None, repr=False)
    # (n,) factor on the rows of each joint in it [1 / N m]
    weights: FloatArray = field(default_factory=lambda: np.zeros(0))
    # (b,) parameters held by a bound: they have no standard error
    active: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    prior: PriorTerm | None = None  # what was added to the squared residuals
    # (problem.nuisance,) the other unknowns of the problem
    nuisance: FloatArray = field(default_factory=lambda: np.zeros(0))
    passes: int = 1  # how often it passed over the data
    notes: tuple[str, ...] = ()  # what a reader should know
    # (p,) standard parameters, where the estimator finds all of them
    standard: FloatArray | None = None
    # rows that shrink coefficients a little, too light to count in errors but where the data do
    # not tell coefficients apart
    damping: PriorTerm | None = None
    # whether rows are known to have had weights of their own, beside those of the joints
    weighted: bool = False

    __repr__ = short_repr

    @property
    def standard_errors(self) -> FloatArray:
        """Return the standard errors of `theta`, shape (b,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def unknowns(self) -> FloatArray:
        """All unknowns of the problem, shape (problem.size,)."""
        return np.append(self.theta, self.nuisance)

    def select(self, chosen: IntArray, problem: IdentificationProblem) -> Estimate:
        """
        Return the estimate without base parameters that are zero.

        Those that are `chosen` (m,) stay; `problem` is the same problem with these alone.
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
    Rows that regularize unknowns towards what is known of them already.

    The sum of ``|matrix @ unknowns - side|^2`` is added to the weighted squared residuals.
    """

    matrix: FloatArray  # (r, size) rows
    side: FloatArray  # (r,) right-hand side

    def select(self, unknowns: IntArray) -> PriorTerm:
        """Return the rows for some of the unknowns, in their new order."""
        return PriorTerm(self.matrix[:, unknowns], self.side)

    def beside(self, other: PriorTerm) -> PriorTerm:
        """Return the rows of both."""
        return PriorTerm(
            np.vstack([self.matrix, other.matrix]), np.append(self.side, other.side)
        )


@dataclass(frozen=True)
class Estimator(ABC):
    """An estimator: options are dataclass fields, one verb does the work."""

    # whether it looks at samples of all recordings, which are then kept by one process
    needs_rows: ClassVar[bool] = False

    @property
    def chooses_terms(self) -> bool:
        """Return whether it chooses friction terms, and takes the load from its own passes."""
        return False

    @abstractmethod
    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate the base parameters; `RankDeficientError` if the data do not determine all."""

    def known(self, problem: IdentificationProblem) -> Mapping[str, float] | None:
        """Return base parameters that are not estimated, by name; None where all are."""
        return None


def check_count(value: Any, lowest: int, what: str) -> None:
    """Raise UsageError unless an option is a whole number of at least `lowest`."""
    if not is_whole_number(value) or value < lowest:
        raise UsageError(f'{what} is {value!r}, it must be a whole number of at least {lowest}')


def check_positive(value: Any, what: str) -> None:
    """Raise UsageError unless an option is a positive number, infinity included."""
    if not is_number(value) or not value > 0.0:
        raise UsageError(f'{what} is {value!r}, it must be a positive number')


def check_not_negative(value: Any, what: str) -> None:
    """Raise UsageError unless an option is a finite number of at least zero."""
    if not is_number(value) or not 0.0 <= value < math.inf:
        raise UsageError(f'{what} is {value!r}, it must be a finite number of at least 0')
