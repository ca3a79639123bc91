# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tests of whether a model needs its friction terms and rotor inertias, by nested models."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError, RankDeficientError
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.identification import Identification
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.solving import solve_weighted
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.estimation.uncertainty.intervals import joint_test, nested_test
from robot_identification.model import IdentifiedModel
from robot_identification.validation import MOST_FREEDOM

ROTOR = 'rotor inertia'
# A group is needed if chance makes it look so in one of a hundred cases at most.
LEVEL = 0.01


@dataclass(frozen=True)
class NeededGroup:
    """Some parameters of a joint, and whether the model would do without them."""

    # Joint, and friction law or kind of term.
    joint: str
    kind: str
    parameters: tuple[str, ...]  # the names of those with a standard error
    # Fisher's F of all of them being zero, and the chance of a larger one if they are; NaN where
    # the data cannot tell.
    statistic: float
    p_value: float
    # The same by sums of squares, which takes residuals as white; NaN with a prior or bounds.
    white_p: float
    bic: float  # by how much Schwarz's criterion grows without them; NaN with a prior or bounds

    @property
    def finding(self) -> str:
        """Return what the test says, in words."""
        if not math.isfinite(self.p_value):
            return 'not determined'
        return 'needed' if self.p_value < LEVEL else 'not shown to be needed'


def covariance_from_model(model: IdentifiedModel) -> Covariance:
    """Return the covariance of a model's base parameters, with its degrees of freedom."""
    b = len(model.theta_base)
    known = model.quality.get('degrees_of_freedom')
    return Covariance(
        model.covariance_kind,
        model.covariance,
        np.full(b, MOST_FREEDOM) if known is None else np.asarray(known, dtype=float),
        ~(np.diag(model.covariance) > 0.0),
    )


def find_needed_terms(
    identification: Identification, independent_share: float = 1.0
) -> tuple[NeededGroup, ...]:
    """
    Test group by group whether the model needs its friction and rotor inertias.

    `independent_share` is the number of independent samples over all samples of the residuals.
    """
    model, estimate = identification.model, identification.estimate
    covariance = covariance_from_model(model)
    is_plain = (
        estimate.problem is not None
        and estimate.problem.reduction.names == model.reduction.names
        and estimate.prior is None and estimate.damping is None and not estimate.active.any()
        and len(estimate.weights) == estimate.problem.n
    )
    found = []
    for (joint, kind), group in _groups(model).items():
        chosen = [row for row in group if not covariance.held[row]]
        statistic, p_value, white_p, bic = (math.nan,) * 4
        # With too little data for so many at once the page says that it is not determined.
        with suppress(DataError):
            if chosen:
                test = joint_test(model.theta_base, covariance, chosen)
                statistic, p_value = test.statistic, test.p_value
        if chosen and is_plain:
            white_p, bic = _against_smaller(estimate, covariance, chosen, independent_share)
        names = tuple(model.reduction.names[row] for row in chosen)
        found.append(NeededGroup(joint, kind, names, statistic, p_value, white_p, bic))
    return tuple(found)


def _groups(model: IdentifiedModel) -> dict[tuple[str, str], list[int]]:
    """Return the base parameters of each kind of friction, and of the rotor, by joint."""
    parameters, joints = model.parameters, model.robot.joint_names
    kinds: dict[int, tuple[int, str]] = {}
    for term, columns in parameters.friction_columns:
        for column, kind in zip(
            range(columns.start, columns.stop), term.law.kinds, strict=True
        ):
            kinds[column] = term.joint, kind
    if parameters.reflected_inertia:
        first = parameters.reflected_inertia_slice.start
        kinds |= {first + joint: (joint, ROTOR) for joint in range(parameters.n)}
    groups: dict[tuple[int, str], list[int]] = {}
    for row, column in enumerate(model.reduction.independent):
        if int(column) in kinds:
            groups.setdefault(kinds[int(column)], []).append(row)
    return {
        (joints[joint], kind): groups[joint, kind]
        for joint, kind in sorted(groups, key=lambda key: key[0])
    }


def _against_smaller(
    estimate: Estimate, covariance: Covariance, chosen: list[int], share: float
) -> tuple[float, float]:
    """Return the p-value for white residuals and the growth of BIC without some parameters."""
    problem = estimate.problem
    if problem is None:
        return math.nan, math.nan
    reduction = problem.reduction
    kept = np.setdiff1d(np.arange(reduction.rank), chosen)
    try:
        white = nested_test(estimate, covariance, chosen).white
        # Factors are all that is asked of it: rows and blocks of time would be made anew.
        smaller = replace(problem, blocks=(), observations=None).select(kept, replace(
            reduction, K=reduction.K[kept], independent=reduction.independent[kept]
        ))
        without = solve_weighted(smaller, estimate.weights)
    except (DataError, RankDeficientError):
        return math.nan, math.nan
    growth = schwarz_criterion(smaller, without.unknowns, share) - schwarz_criterion(
        problem, estimate.unknowns, share
    )
    return white.p_value, growth


def schwarz_criterion(
    problem: IdentificationProblem, unknowns: FloatArray, independent_share: float
) -> float:
    """
    Return Schwarz's criterion (BIC) of a fit with its own noise on every joint.

    `independent_share` is independent samples over samples: with correlated residuals all terms
    but the number of parameters count so much less.
    """
    squares = np.maximum(problem.squared_residuals(unknowns), np.finfo(float).tiny)
    fit = independent_share * float(np.sum(problem.samples * np.log(squares / problem.samples)))
    rows = independent_share * float(np.sum(problem.samples))
    return fit + (problem.size + problem.n) * math.log(max(rows, 1.0))
