# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters that the data hardly show or the prior decides, and motions that show them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.estimation.uncertainty.scatter import held_by_bounds
from robot_identification.model import Motion, RobotModel
from robot_identification.validation import (
    information_of, recommend_motions, Recommendation, RecordedInformation,
)

# A relative standard error above this is no knowledge of a parameter.
WEAK_SHARE = 0.5
# Samples of the recorded motion, enough to tell where its joints are and how fast.
SAMPLES = 60


def prior_decided(estimate: Estimate) -> tuple[str, ...]:
    """
    Return the parameters of which the prior knows more than the data.

    Information is one over the variance that either alone would leave.
    """
    problem, prior = estimate.problem, estimate.prior
    if problem is None or prior is None:
        return ()
    R, _ = problem.stacked(estimate.weights)
    names = problem.reduction.names
    free = np.ones(problem.size, dtype=bool)
    free[: len(names)] = ~held_by_bounds(estimate)
    data, known = (information_of(matrix, free) for matrix in (R, prior.matrix))
    return tuple(names[i] for i in np.flatnonzero(known[: len(names)] > data[: len(names)]))


def recommend(
    robot: RobotModel, estimate: Estimate, covariance: Covariance,
    unidentifiable: Sequence[str] = (), recorded: Observations | None = None,
) -> tuple[Recommendation, ...]:
    """
    Return what would show the parameters that the data did not, most helpful first.

    Parameters that are `unidentifiable` were left out of the problem. `recorded` has the motion
    that they are looked for in, by default that of the estimate; an estimate without its
    observations raises a `UsageError`.
    """
    problem = estimate.problem
    recorded = recorded or (None if problem is None else problem.observations)
    if problem is None or recorded is None:
        raise UsageError('a recommendation needs the recorded motion: identify from the bags')
    reduction = problem.reduction
    findings = _findings(reduction.names, estimate, covariance, unidentifiable)
    if not findings:
        return ()
    R, _ = problem.stacked(estimate.weights)
    known = np.zeros((len(R), reduction.rank + len(unidentifiable)))
    known[:, : reduction.rank] = R[:, : reduction.rank]
    return recommend_motions(robot, findings, RecordedInformation(
        parameters=reduction.parameters,
        names=(*reduction.names, *unidentifiable),
        free=np.append(~held_by_bounds(estimate), np.ones(len(unidentifiable), dtype=bool)),
        rows=_eliminate(known, R[:, reduction.rank:]),
        weights=estimate.weights,
        motion=_recorded_motion(recorded),
    ))


def _findings(
    names: Sequence[str], estimate: Estimate, covariance: Covariance, unidentifiable: Sequence[str]
) -> dict[str, str]:
    """Return what is wrong with each parameter that the data hardly show."""
    findings = dict.fromkeys(unidentifiable, 'the data do not determine it')
    decided = set(prior_decided(estimate))
    errors = covariance.standard_errors
    for name, value, error in zip(names, estimate.theta, errors, strict=True):
        if name in decided:
            findings[name] = 'the prior says more of it than the data'
        elif error > WEAK_SHARE * abs(value):
            findings[name] = f'standard error above {WEAK_SHARE:.0%}'
    return findings


def _recorded_motion(observations: Observations) -> Motion:
    """Return samples spread evenly over what was fitted."""
    motions, total = [], observations.samples
    for part in observations.data:
        at = np.flatnonzero(part.rows)
        count = max(round(SAMPLES * len(at) / max(total, 1)), 1) if len(at) else 0
        motions.append(part.dataset.motion.rows(at[np.linspace(
            0, len(at) - 1, count
        ).astype(int)]))
    q, dq, ddq = (
        np.concatenate([getattr(motion, name) for motion in motions])
        for name in ('q', 'dq', 'ddq')
    )
    # The shares of the recordings were rounded.
    again = np.resize(np.arange(len(q)), SAMPLES)
    return Motion(q[again], dq[again], ddq[again])


def _eliminate(columns: FloatArray, others: FloatArray) -> FloatArray:
    """Return what columns hold that others do not."""
    if not others.shape[1]:
        return columns
    basis, _ = np.linalg.qr(others)
    rest: FloatArray = columns - basis @ (basis.T @ columns)
    return rest
