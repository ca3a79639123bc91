# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Torque of the joint positions that a model does not have, and the parameters take a part of.

Cables, springs and gears add torque that depends on the position of a joint. In one motion it may
look like the torque of bodies and friction, whose parameters then absorb it and are wrong in
another motion. Blocks of the same motion do not show such an error. Here each joint has a series
of its position whose coefficients have a normal prior. The variance of the prior is the one that
makes the residuals most likely [1]_. Parameters have none of this torque, so that predictions have
an error of the size that the coefficients are expected to have, given the residuals [2]_.

References
----------
.. [1] D. J. C. MacKay, "Bayesian interpolation", Neural Computation 4(3), 1992.
.. [2] M. C. Kennedy, A. O'Hagan, "Bayesian calibration of computer models", Journal of the Royal
   Statistical Society B 63(3), 2001.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.rows import ObservationBlock
from robot_identification.estimation.uncertainty.scatter import Coordinates, longest_lag
from robot_identification.model import harmonics, PositionSeries, PositionTorque
from robot_identification.validation import autocovariance, independent_share

# Of the series that is offered as a correction, too.
ORDERS = PositionSeries().orders
# Standard deviation of the prior over that of the residuals: where the iteration starts, and below
# which the torque adds less than 0.2 % to the width of a prediction interval.
FIRST, NEGLIGIBLE = 0.3, 0.02
# Relative change of a variance at which the iteration ends, and the most steps.
TOLERANCE, MOST_STEPS = 0.01, 300
# Directions of the parameters with less of the information than this are taken as not shown.
LEAST_INFORMATION = 1.0e-9


def find_position_torque(
    estimate: Estimate, observations: Observations,
    corrected: Mapping[int, FloatArray] | None = None,
) -> PositionTorque | None:
    """
    Return the torque of positions that an estimate may have absorbed, None if there is none.

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
    n, K = observations.robot.n, 2 * len(ORDERS)
    coordinates = Coordinates(estimate, estimate.weights)
    b, share = len(estimate.theta), observations.samples / max(coordinates.problem.samples)
    sums = [_sum_products(estimate, observations, coordinates, joint) for joint in range(n)]
    f = coordinates.size
    information = sum(one.products[:f, :f] for one in sums)
    information += share * coordinates.prior.T @ coordinates.prior
    taken = np.hstack([one.products[:f, f:-1] for one in sums])
    absorbed, *_ = np.linalg.lstsq(information, taken, rcond=LEAST_INFORMATION)
    evidence, side = np.zeros((n * K, n * K)), np.zeros(n * K)
    for joint, one in enumerate(sums):
        own = np.zeros((f + K + 1, n * K))
        own[:f] = -absorbed
        own[f:-1, joint * K: (joint + 1) * K] = np.eye(K)
        left = one.independent * own.T @ one.products
        evidence += left @ own
        side += left[:, -1]
    joints, covariance, missing = _most_likely(evidence, side, estimate.sigma)
    if not joints:
        return None
    for place, joint in enumerate(joints):
        if corrected is not None and joint in corrected:
            missing[place * K: (place + 1) * K] -= corrected[joint]
    moments = covariance + np.outer(missing, missing)
    kept = _coefficients(joints, K)
    whole = np.zeros((coordinates.problem.size, len(kept)))
    whole[coordinates.free] = coordinates.root @ absorbed[:, kept]
    return PositionTorque(joints, ORDERS, moments, whole[:b])


class _Products(NamedTuple):
    """Products of the weighted columns of a joint's rows."""

    # (f + K + 1, f + K + 1): of the parameters' coordinates, the series and the residual
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
    products = np.zeros((coordinates.size + 2 * len(ORDERS) + 1,) * 2)
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
    """Return the columns (m, f + K + 1) of a joint in a block; see `_Products`."""
    theta, root = unknowns
    rows = block.joints[joint]
    matrix, columns = observations.matrix(joint, rows, theta), observations.columns(joint)
    q = observations.data[block.bag].dataset.motion.q[rows.samples, joint]
    return np.column_stack([
        matrix @ root[columns], harmonics(q, ORDERS), rows.tau - matrix @ theta[columns]
    ])


def _most_likely(
    evidence: FloatArray, side: FloatArray, sigma: FloatArray
) -> tuple[tuple[int, ...], FloatArray, FloatArray]:
    """
    Return the joints whose series is more than negligible, and its covariance and coefficients.

    `evidence` (n K, n K) is the information on the coefficients of all joints, `side` (n K,) what
    the residuals say, `sigma` (n,) the standard deviation of the residuals [N m].
    """
    K = len(side) // len(sigma)
    joints = [joint for joint, one in enumerate(sigma) if one > 0.0]
    variances = (FIRST * sigma) ** 2
    for _ in range(MOST_STEPS):
        covariance, found = _posterior(evidence, side, variances, joints)
        before = variances[joints]
        unseen = np.diag(covariance).reshape(-1, K).sum(axis=1) / before
        size = np.sum(found.reshape(-1, K) ** 2, axis=1)
        variances[joints] = size / np.maximum(K - unseen, LEAST_INFORMATION)
        left = [one for one in joints if variances[one] > (NEGLIGIBLE * sigma[one]) ** 2]
        if left == joints and np.allclose(variances[joints], before, rtol=TOLERANCE, atol=0.0):
            break
        joints = left
    return tuple(joints), *_posterior(evidence, side, variances, joints)


def _posterior(
    evidence: FloatArray, side: FloatArray, variances: FloatArray, joints: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    """Return covariance and mean of the coefficients of joints under a prior of variances (n,)."""
    K = len(side) // len(variances)
    kept = _coefficients(joints, K)
    prior = np.diag(1.0 / np.repeat(variances[list(joints)], K))
    covariance = np.asarray(np.linalg.inv(evidence[np.ix_(kept, kept)] + prior), dtype=float)
    return covariance, covariance @ side[kept]


def _coefficients(joints: Sequence[int], K: int) -> IntArray:
    """Return the numbers of the coefficients of joints with K each."""
    return (np.array(joints, dtype=int)[:, None] * K + np.arange(K)).ravel()
