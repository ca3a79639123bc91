# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Figures of a model file from which `validation.band` makes the band of its predictions.

These are the standard deviations of held-out errors, the part of them that the errors of the
parameters made, and the discrepancy of the model: torque that no parameter can describe, and that
the estimate may absorb.

Cables, springs and gears add torque that depends on the position of a joint, and the gain of a
joint that turns its current or its sensor's reading into torque is known to a few per cent, while
all joints share their bodies. In one motion such torque may look like that of bodies and friction,
whose parameters then absorb it and are wrong in another motion. Blocks of the same motion do not
show such an error. Here each joint has a series of its position and a share of the torque of the
bodies, whose coefficients have normal priors. The variances of the priors are those that make the
residuals most likely [1]_. Parameters have none of this torque, so that predictions have an error
of the size that the coefficients are expected to have, given the residuals [2]_.

References
----------
.. [1] D. J. C. MacKay, "Bayesian interpolation", Neural Computation 4(3), 1992.
.. [2] M. C. Kennedy, A. O'Hagan, "Bayesian calibration of computer models", Journal of the Royal
   Statistical Society B 63(3), 2001.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray
from robot_identification.errors import RankDeficientError
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.fitted_recordings import FittedRecordings
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.quality import with_damping
from robot_identification.estimation.recipe import thin_rows
from robot_identification.estimation.rows import ObservationBlock
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.estimation.uncertainty.scatter import Coordinates, longest_lag
from robot_identification.model import (
    Discrepancy, harmonics, IdentifiedModel, PositionSeries, STOP,
)
from robot_identification.processing import Dataset
from robot_identification.validation import (
    autocovariance, BAND, independent_share, MOST_FREEDOM, normal_deviation, ParameterError,
    predict_effort,
)

# Share of the errors in a band, and the fewest of them that tell how wide it is.
HELD, FEWEST = 0.95, 40
# Evenly spread samples at most that show the discrepancy, and that the error of the parameters is
# averaged over; chosen: joint by joint its mean square is that of all within a few per cent.
AVERAGED_SAMPLES = 5000
# Standard deviation of friction at rest over its level: measured on seven recordings of real
# arms, where currents wander within the band of break-away.
RESTING_SHARE = 0.25
# Of the series that is offered as a correction, too.
ORDERS = PositionSeries().orders
K = 2 * len(ORDERS)  # coefficients of the series of a joint
# Standard deviation of the prior over that of the residuals: where the iteration starts, and below
# which a series adds less than 0.2 % to the width of a prediction interval.
FIRST, NEGLIGIBLE = 0.3, 0.02
# The same of the errors of gains [1], and the largest: gains are known to some per cent, and what
# looks like larger errors is something else. Chosen.
FIRST_GAIN, NEGLIGIBLE_GAIN, LARGEST_GAIN = 0.03, 0.002, 0.05
# Degrees of freedom of a variance at least [1]; chosen: with two the interval of 95 % is 2.2 times
# that of a normal distribution, with one 6.5 times.
LEAST_FREEDOM = 2.0
# Relative change of a variance at which the iteration ends, and the most steps.
TOLERANCE, MOST_STEPS = 0.01, 300
# Directions of the parameters with less of the information than this are taken as not shown.
LEAST_INFORMATION = 1.0e-9


def deviation_figures(
    model: IdentifiedModel, choice: Choice, rows: Sequence[BoolArray], loads: FloatArray,
    live_ratios: FloatArray | None,
) -> dict[str, Any]:
    """
    Return the standard deviations of predictions, in motion and at rest (2, n), for the file.

    They are those of a normal distribution with 95 % of the errors on held-out blocks, of the
    prediction with corrections and of that without. At rest they are no less than what friction
    under `loads` (n,) [N m] leaves open.
    """
    figures: dict[str, Any] = {}
    for at, (prefix, trial) in enumerate((
        ('', choice.trial), ('uncorrected_', choice.of_parameters),
    )):
        moving, resting = _deviations([
            dataset.effort[chosen] - predicted for dataset, chosen, predicted in zip(
                choice.datasets, rows, trial.predictions, strict=True
            )
        ], choice.datasets, rows)
        live = None if live_ratios is None else moving * np.where(
            np.isfinite(live_ratios[at]), live_ratios[at], 1.0
        )
        for kind, own in (('prediction_deviation', moving), ('live_deviation', live)):
            figures[prefix + kind] = None if own is None else np.array([
                own, np.maximum(resting, deviation_at_rest(model, own, loads)),
            ])
    return figures


def parameter_figures(
    model: IdentifiedModel, covariance: Covariance, fitted: FittedRecordings, choice: Choice
) -> dict[str, Any]:
    """
    Return what the file states of the error of the effort that the parameters make.

    They are the discrepancy that they may have absorbed, and what the parameters make of the
    deviation of held-out errors, (n,): their error over the samples of a choice, and the
    differences of held-out predictions from those of the fit. None where the covariance takes
    residuals as white.
    """
    if covariance.kind == 'residual':
        return {'discrepancy': None, 'parameter_deviation': None}
    rows = thin_rows(list(fitted.rows), AVERAGED_SAMPLES)
    observations = fitted.in_choice.select(rows).changed(model.reduction)
    corrected = {
        one.joint: one.coefficients for one in model.corrections.offline
        if one.group == PositionSeries()
    }
    estimate = fitted.fit.estimate
    try:
        discrepancy = find_discrepancy(estimate, observations, corrected)
    except RankDeficientError:
        # The covariance is then that with the shrinkage.
        discrepancy = find_discrepancy(
            with_damping(estimate) or estimate, observations, corrected
        )
    error = ParameterError(model, covariance.freedom, discrepancy)
    variances = [
        error.variance(dataset.motion.rows(np.flatnonzero(chosen)))
        for dataset, chosen in zip(choice.datasets, rows, strict=True)
    ]
    of_fit = np.sqrt(np.mean(np.concatenate(variances), axis=0)) * np.abs(model.effort_per_torque)
    of_folds, _ = _deviations([
        predict_effort(model, dataset, corrected=False)[chosen] - predicted
        for dataset, chosen, predicted in zip(
            choice.datasets, fitted.rows, choice.of_parameters.predictions, strict=True
        )
    ], choice.datasets, fitted.rows)
    return {
        'discrepancy': (
            None if discrepancy is None else discrepancy.content(model.robot.joint_names)
        ),
        'parameter_deviation': np.hypot(of_fit, of_folds),
    }


def _deviations(
    of_datasets: Sequence[FloatArray], datasets: Sequence[Dataset], rows: Sequence[BoolArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the deviation (n,) of errors in motion, and at rest, 0 where unknown."""
    errors = np.abs(np.concatenate(of_datasets))
    moves = np.concatenate([
        dataset.moving[chosen] for dataset, chosen in zip(datasets, rows, strict=True)
    ])
    everywhere = np.quantile(errors, HELD, axis=0) / BAND
    moving, resting = (
        np.array([
            np.quantile(own[chosen], HELD) / BAND if np.count_nonzero(chosen) >= FEWEST else usual
            for own, chosen, usual in zip(errors.T, where.T, otherwise, strict=True)
        ])
        for where, otherwise in ((moves, everywhere), (~moves, np.zeros_like(everywhere)))
    )
    return moving, resting


def deviation_at_rest(
    model: IdentifiedModel, moving: FloatArray, loads: FloatArray
) -> FloatArray:
    """
    Return the standard deviation at rest (n,) of an effort from that in motion.

    Friction of joints that are about to slide under `loads` (n,) [N m] adds a share of its level:
    the coefficients of terms that saturate. Friction that is viscous, or an offset, is none of it.
    """
    level = np.zeros(model.robot.n)
    for term, columns in model.parameters.friction_columns:
        saturated = np.array([
            (loads[term.joint] if basis.per_load else 1.0) * float(
                basis.reference is None and (basis.kind == STOP or basis.kind.endswith('sign'))
            )
            for basis in term.law.basis
        ])
        level[term.joint] += saturated @ model.theta_lifted[columns]
    return np.hypot(moving, RESTING_SHARE * level * np.abs(model.effort_per_torque))


def find_discrepancy(
    estimate: Estimate, observations: Observations,
    corrected: Mapping[int, FloatArray] | None = None,
) -> Discrepancy | None:
    """
    Return the torque that an estimate may have absorbed, None if there is none.

    Parameters
    ----------
    estimate : Estimate
        With its problem.
    observations : Observations
        Evenly spread rows of recordings that it is from, in its parameters.
    corrected : mapping of int to ndarray, optional
        Coefficients of the series that predictions of a joint have already; by default none.

    Raises
    ------
    RankDeficientError
        If the data do not determine the parameters.

    """
    n, coordinates = observations.robot.n, Coordinates(estimate, estimate.weights)
    sums = [_sum_products(estimate, observations, coordinates, joint) for joint in range(n)]
    f, size = coordinates.size, n * (K + 1)
    information = sum(products[:f, :f] for products, _ in sums)
    share = observations.samples / max(coordinates.problem.samples)
    information += share * coordinates.prior.T @ coordinates.prior
    taken = np.zeros((f, size))
    for joint, (products, _) in enumerate(sums):
        taken[:, _coefficients_of(joint, n)] = products[:f, f:-1]
    absorbed, *_ = np.linalg.lstsq(information, taken, rcond=LEAST_INFORMATION)
    evidence, side = np.zeros((size, size)), np.zeros(size)
    for joint, (products, independent) in enumerate(sums):
        own = np.zeros((len(products), size))
        own[:f] = -absorbed
        own[np.arange(f, f + K + 1), _coefficients_of(joint, n)] = 1.0
        left = independent * own.T @ products
        evidence += left @ own
        side += left[:, -1]
    groups = np.append(np.repeat(np.arange(n), K), np.full(n, n))
    active, covariance, missing = _most_likely(
        (evidence, side), groups, np.append(FIRST * estimate.sigma, FIRST_GAIN) ** 2,
        np.array([
            np.append(NEGLIGIBLE * estimate.sigma, NEGLIGIBLE_GAIN),
            np.append(np.full(n, np.inf), LARGEST_GAIN),
        ]) ** 2,
    )
    if not active.size:
        return None
    kept = np.flatnonzero(np.isin(groups, active))
    for joint, coefficients in (corrected or {}).items():
        missing[groups[kept] == joint] -= coefficients if joint in active else 0.0
    whole = np.zeros((coordinates.problem.size, len(kept)))
    whole[coordinates.free] = coordinates.root @ absorbed[:, kept]
    return Discrepancy(
        tuple(active[active < n].tolist()), ORDERS, bool(n in active),
        covariance + np.outer(missing, missing), whole[: len(estimate.theta)],
    )


def _coefficients_of(joint: int, n: int) -> IntArray:
    """Return the numbers of the coefficients of one joint: its series, and its gain."""
    return np.append(joint * K + np.arange(K), n * K + joint)


def _sum_products(
    estimate: Estimate, observations: Observations, coordinates: Coordinates, joint: int
) -> tuple[FloatArray, float]:
    """
    Return the products of the weighted columns of a joint's rows, (f + K + 2, f + K + 2).

    Columns are those of `_rows`. Second is the share of the rows that count, as residuals are
    correlated.
    """
    b = len(estimate.theta)
    theta = np.zeros(b + observations.nuisance)
    theta[:b] = estimate.theta
    root = np.zeros((len(theta), coordinates.size))
    root[:b] = coordinates.map_of_scores()[:b]
    products = np.zeros((coordinates.size + K + 2,) * 2)
    residuals: list[list[FloatArray]] = [[] for _ in observations.data]
    for block in observations.blocks():
        rows = _rows(block, observations, joint, (theta, root))
        rows *= estimate.weights[joint]
        products += rows.T @ rows
        residuals[block.bag].append(rows[:, -1])
    of_bags = [np.concatenate(parts) for parts in residuals if parts]
    samples = sum(map(len, of_bags))
    correlated = np.sum([
        autocovariance(one[:, None], longest_lag(samples))[0] for one in of_bags
    ], axis=0)
    return products, independent_share(correlated, samples)


def _rows(
    block: ObservationBlock, observations: Observations, joint: int,
    unknowns: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """
    Return the columns (m, f + K + 2) of a joint in a block.

    They are of the parameters' coordinates, the series, the bodies' torque, and the residual.
    """
    theta, root = unknowns
    rows = block.joints[joint]
    matrix, columns = observations.matrix(joint, rows, theta), observations.columns(joint)
    q = block.part.dataset.motion.q[rows.samples, joint]
    of_bodies = np.zeros(len(theta))
    bodies = np.flatnonzero(observations.reduction.independent < 10 * observations.robot.n)
    of_bodies[bodies] = theta[bodies]
    return np.column_stack([
        matrix @ root[columns], harmonics(q, ORDERS), matrix @ of_bodies[columns],
        rows.tau - matrix @ theta[columns],
    ])


def _most_likely(
    normal: tuple[FloatArray, FloatArray], groups: IntArray, variances: FloatArray,
    limits: FloatArray,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """
    Return the groups of coefficients that are not negligible, their covariance and mean.

    Variances of priors have the degrees of freedom of the number of coefficients that the
    residuals show: with few, the covariance is that of a normal distribution with the same
    interval of 95 %. One at its limit is known.

    `normal` are the information on m coefficients (m, m) and what the residuals say of them (m,),
    `groups` (m,) the number of the prior of each, `variances` (g,) those that the iteration starts
    with, and `limits` (2, g) those below which a group is left out, and the largest.
    """
    active = np.flatnonzero(variances > 0.0)
    variances, seen = variances.copy(), np.zeros(len(variances))
    for _ in range(MOST_STEPS):
        covariance, found = _posterior(normal, groups, variances, active)
        of_kept, before = groups[np.isin(groups, active)], variances[active]
        for group in active:
            own = of_kept == group
            unseen = np.diag(covariance)[own].sum() / variances[group]
            seen[group] = max(np.count_nonzero(own) - unseen, LEAST_INFORMATION)
            variances[group] = min(found[own] @ found[own] / seen[group], limits[1, group])
        left = active[variances[active] > limits[0, active]]
        if len(left) == len(active) and np.allclose(
            variances[active], before, rtol=TOLERANCE, atol=0.0
        ):
            break
        active = left
    freedom = np.where(variances < limits[1], np.maximum(seen, LEAST_FREEDOM), MOST_FREEDOM)
    covariance, found = _posterior(normal, groups, variances, active)
    wider = normal_deviation(freedom[groups[np.isin(groups, active)]])
    return active, covariance * wider * wider[:, None], found


def _posterior(
    normal: tuple[FloatArray, FloatArray], groups: IntArray, variances: FloatArray,
    active: IntArray,
) -> tuple[FloatArray, FloatArray]:
    """Return covariance and mean of the coefficients of groups with normal priors."""
    evidence, side = normal
    kept = np.flatnonzero(np.isin(groups, active))
    prior = np.diag(1.0 / variances[groups[kept]])
    covariance = np.asarray(np.linalg.inv(evidence[np.ix_(kept, kept)] + prior), dtype=float)
    return covariance, covariance @ side[kept]
