# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tests of models reject what is wrong as often as they say, and hardly what is right."""

from dataclasses import replace

from estimation.arm_problems import arm_reduction, fourier_motion, observe
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.estimation import (
    covariance_of, ESTIMATORS, joint_test, nested_test, TIME_BLOCKS,
)
from scipy import stats
from scipy.signal import lfilter

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
