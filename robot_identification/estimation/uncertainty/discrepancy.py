# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Discrepancy of a model: torque that no parameter can describe, and that the estimate may absorb.

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

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.rows import ObservationBlock
from robot_identification.estimation.uncertainty.scatter import Coordinates, longest_lag
from robot_identification.model import Discrepancy, harmonics, PositionSeries
from robot_identification.validation import (
    autocovariance, independent_share, MOST_FREEDOM, normal_deviation,
)

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
    information = sum(one.products[:f, :f] for one in sums)
    share = observations.samples / max(coordinates.problem.samples)
    information += share * coordinates.prior.T @ coordinates.prior
    taken = np.zeros((f, size))
    for joint, one in enumerate(sums):
        taken[:, _coefficients_of(joint, n)] = one.products[:f, f:-1]
    absorbed, *_ = np.linalg.lstsq(information, taken, rcond=LEAST_INFORMATION)
    evidence, side = np.zeros((size, size)), np.zeros(size)
    for joint, one in enumerate(sums):
        own = np.zeros((len(one.products), size))
        own[:f] = -absorbed
        own[np.arange(f, f + K + 1), _coefficients_of(joint, n)] = 1.0
        left = one.independent * own.T @ one.products
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


class _Products(NamedTuple):
    """Products of the weighted columns of a joint's rows."""

    # (f + K + 2, f + K + 2): of the parameters' coordinates, the series, the bodies' torque and
    # the residual
    products: FloatArray
    independent: float  # share of the rows that count, as residuals are correlated


def _sum_products(
    estimate: Estimate, observations: Observations, coordinates: Coordinates, joint: int
) -> _Products:
    """Return the products of columns of one joint."""
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
    return _Products(products, independent_share(correlated, samples))


def _rows(
    block: ObservationBlock, observations: Observations, joint: int,
    unknowns: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Return the columns (m, f + K + 2) of a joint in a block; see `_Products`."""
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
