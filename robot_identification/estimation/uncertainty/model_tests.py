# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Test of nested models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.estimation.uncertainty.intervals import joint_test, JointTest
import scipy


@dataclass(frozen=True)
class NestedTest:
    """Test of whether some parameters of a model are needed."""

    removed: tuple[str, ...]  # the parameters
    white: JointTest  # F-test by sums of squares, which takes residuals as white
    robust: JointTest  # the same by the covariance that was given


def nested_test(
    estimate: Estimate, covariance: Covariance, removed: Sequence[int]
) -> NestedTest:
    """
    Test whether some parameters are needed: F-test of the model without them.

    The estimate is that of the whole model, without prior; its covariance is 'hac' or 'blocks'.
    The sums of squares are those of the weighted rows. For white residuals this and the joint test
    with the covariance 'residual' are the same; for others only the joint test holds, with a
    covariance that accounts for their correlation. Raises DataError if there are no parameters to
    remove, none left, or too many for the covariance.
    """
    problem = estimate.problem
    at = np.asarray(removed, dtype=int)
    if problem is None or not 0 < len(at) < problem.size:
        raise DataError(
            f'{len(at)} parameters to remove: name one or more of the estimate, and not all'
        )
    R, z = problem.stacked(estimate.weights)
    held = np.append(estimate.active, np.zeros(problem.nuisance, dtype=bool))
    whole = np.flatnonzero(~held)
    smaller = np.setdiff1d(whole, at)
    squares, fewer = (_squares_left(R[:, kept], z) for kept in (whole, smaller))
    count = len(whole) - len(smaller)
    freedom = float(problem.samples.sum() - len(whole))
    statistic = (fewer - squares) / count / max(squares / freedom, np.finfo(float).tiny)
    return NestedTest(
        tuple(problem.reduction.names[i] for i in at),
        JointTest(
            statistic, (float(count), freedom),
            float(scipy.special.fdtrc(count, freedom, max(statistic, 0.0))),
        ),
        joint_test(estimate.theta, covariance, at.tolist()),
    )


def _squares_left(R: FloatArray, z: FloatArray) -> float:
    """Return the sum of squares that a least-squares fit leaves."""
    scale = np.linalg.norm(R, axis=0)
    scaled = R / np.where(scale > 0.0, scale, 1.0)
    x = np.linalg.lstsq(scaled, z, rcond=None)[0]
    return float(np.sum((z - scaled @ x) ** 2))
