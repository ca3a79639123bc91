# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Intervals hold the truth as often as they say; their formulas by hand where there is one."""

from dataclasses import replace

from estimation.arm_problems import arm_reduction, fourier_motion, observe
import numpy as np
import pytest
from robot_identification.errors import DataError, UsageError
from robot_identification.estimation import (
    confidence_intervals, Covariance, covariance_of, ESTIMATORS, joint_test, nested_test,
    TIME_BLOCKS,
)
from scipy import stats
from scipy.signal import lfilter
from validation_studies.coverage import prediction_half_widths


def covariance(matrix, freedom=1e6, held=()):
    matrix = np.array(matrix, dtype=float)
    b = len(matrix)
    mask = np.zeros(b, dtype=bool)
    mask[list(held)] = True
    return Covariance('made up', matrix, np.broadcast_to(float(freedom), (b,)).copy(), mask)


def test_single_intervals_by_hand():
    """Student's t with 10 degrees of freedom has 2.228 at 97.5 %, the normal one 1.960."""
    theta = np.array([1.0, -2.0, 0.0])
    ends = confidence_intervals(theta, covariance(np.diag([4.0, 0.25, 0.0]), 10, held=[2]))
    np.testing.assert_allclose(ends[0], [1.0 - 2 * 2.2281, 1.0 + 2 * 2.2281], atol=1e-3)
    np.testing.assert_allclose(ends[1], [-2.0 - 1.1141, -2.0 + 1.1141], atol=1e-3)
    assert np.all(np.isnan(ends[2]))
    wide = confidence_intervals(theta, covariance(np.eye(3)), 0.99)
    assert wide[0, 1] == pytest.approx(1.0 + 2.5758, abs=1e-3)


@pytest.mark.parametrize('confidence', [0.0, 1.0, 95.0, np.nan])
def test_a_confidence_is_a_share(confidence):
    with pytest.raises(UsageError, match='between 0 and 1'):
        confidence_intervals(np.zeros(1), covariance(np.eye(1)), confidence)


def test_one_parameter_together_is_its_own_test():
    """F with one numerator degree is the square of t."""
    found = joint_test(np.array([0.0, 1.5]), covariance(np.diag([1.0, 0.49]), 7), [1])
    assert found.statistic == pytest.approx((1.5 / 0.7) ** 2)
    assert found.p_value == pytest.approx(2.0 * stats.t.sf(1.5 / 0.7, 7))


def test_the_ellipsoid_of_an_estimated_covariance_holds_the_truth(rng):
    """A covariance of 3 parameters from 12 draws: 95 % by Hotelling, not by chi-square."""
    # 3000 draws scatter by 0.4 %.
    rejected, naive = 0, 0
    for _ in range(3000):
        scores = rng.normal(size=(12, 3))
        estimated = covariance(scores.T @ scores / 12.0, 12)
        difference = rng.normal(size=3)
        found = joint_test(difference, estimated, range(3))
        rejected += found.p_value < 0.05
        distance = difference @ np.linalg.solve(estimated.matrix, difference)
        naive += stats.chi2.sf(distance, 3) < 0.05
    assert rejected / 3000 == pytest.approx(0.05, abs=0.015)
    assert naive / 3000 > 0.10


def test_too_many_parameters_together_are_refused():
    with pytest.raises(DataError, match=r'8 parameters .* 7\.0 degrees of freedom.*fewer'):
        joint_test(np.zeros(8), covariance(np.eye(8), 7), range(8))
    with pytest.raises(DataError, match='bound holds'):
        joint_test(np.zeros(2), covariance(np.diag([1.0, 0.0])), range(2))
    with pytest.raises(DataError, match='singular'):
        joint_test(np.zeros(2), covariance(np.ones((2, 2))), range(2))


def test_prediction_by_hand():
    """Noise 3, model 4: 5 together."""
    W = np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 4.0], [2.0, 4.0]])
    known = covariance(np.diag([4.0, 1.0]))
    half = prediction_half_widths(W, known, np.array([3.0, 1.0]))
    np.testing.assert_allclose(
        half, 1.95996 * np.array([[5.0, 1.0], [5.0, np.sqrt(33.0)]]), rtol=1e-5
    )
    few = prediction_half_widths(W, covariance(np.diag([4.0, 1.0]), 5), np.array([0.0, 1.0]))
    assert few[0, 0] == pytest.approx(4.0 * stats.t.ppf(0.975, 5))
    assert few[0, 1] == pytest.approx(stats.norm.ppf(0.975), rel=1e-4)


# --- tests of models ---------------------------------------------------------------------


SAMPLES = 1500


class Arm:
    """A motion of three joints whose torques can be drawn repeatedly."""

    def __init__(self, robot):
        self.reduction = arm_reduction(robot, 'viscous,coulomb,offset')
        motion = fourier_motion(3, 0, SAMPLES, duration=15.0)
        self.observations = observe(
            robot, self.reduction, [(motion, np.zeros((SAMPLES, 3)))], time_blocks=TIME_BLOCKS
        )

    def estimate(self, rng, memory=0.0, truth=None):
        """Return an estimate from noise that remembers, on the torques of a truth."""
        noise = lfilter([1.0], [1.0, -memory], rng.normal(size=(SAMPLES + 300, 3)), axis=0)[300:]
        tau = noise if truth is None else noise + self.observations.torque(truth)[0]
        self.observations.data[0].dataset.effort[:] = tau
        for block in self.observations.blocks():
            for joint, rows in enumerate(block.joints):
                rows.table[:, -1] = tau[rows.samples, joint]
        return ESTIMATORS['wls']().estimate(self.observations.factor())


@pytest.fixture(scope='module')
def arm(robots):
    return Arm(robots['mixed'])


@pytest.mark.parametrize('removed', [[2], [2, 5, 7]])
def test_white_f_test_by_hand(arm, rng, removed):
    """Sums of squares of two fits to the weighted rows; with one parameter F is t squared."""
    estimate = arm.estimate(rng)
    # With weights that leave squares of another size than one.
    estimate = replace(estimate, weights=2.0 * estimate.weights)
    white, _ = nested_test(estimate, removed)
    R, z = estimate.problem.stacked(estimate.weights)
    whole, fewer = (
        np.linalg.lstsq(matrix, z, rcond=None)[1][0]
        for matrix in (R, np.delete(R, removed, axis=1))
    )
    count, freedom = len(removed), 3 * SAMPLES - R.shape[1]
    expected = (fewer - whole) / count / (whole / freedom)
    assert white.statistic == pytest.approx(expected, rel=1e-8)
    assert white.freedom == (count, freedom)
    assert white.p_value == pytest.approx(stats.f.sf(expected, count, freedom))
    # The same but for the share of the parameters that each joint pays for.
    robust = joint_test(estimate.theta, covariance_of(estimate, 'residual'), removed)
    assert robust.statistic == pytest.approx(expected, rel=0.02)


def test_robust_test_rejects_as_often_as_it_says(arm):
    """Offsets of zero under slow noise: 5 % by the robust test, most of them by the white one."""
    # 50 recordings of three joints scatter by 1.8 %; almost four times that above.
    rng = np.random.default_rng(3)
    names = arm.reduction.names
    robust, white = [], []
    for _ in range(50):
        estimate = arm.estimate(rng, memory=0.85)
        covariance = covariance_of(estimate)
        for joint in (1, 2, 3):
            offset = [names.index(f'f0{joint}')]
            robust.append(joint_test(estimate.theta, covariance, offset).p_value < 0.05)
            white.append(nested_test(estimate, offset)[0].p_value < 0.05)
    assert 0.0 < np.mean(robust) < 0.115
    assert np.mean(white) > 0.4


def test_a_nested_test_needs_parameters(arm, rng):
    estimate = arm.estimate(rng)
    with pytest.raises(DataError, match='name one or more'):
        nested_test(estimate, [])
