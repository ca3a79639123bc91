# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tests of models reject what is wrong as often as they say, and hardly what is right."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.estimation.estimators import ESTIMATORS
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.rows import TIME_BLOCKS, TrainingData
from robot_identification.estimation.uncertainty.covariance import Covariance, covariance_of
from robot_identification.estimation.uncertainty.model_tests import (
    information_criteria, nested_test, strong_pairs, variance_inflation,
)
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.regressor import Motion
from robot_identification.processing.dataset import Dataset
from scipy.signal import lfilter

SAMPLES = 1500


class Arm:
    """A motion of three joints whose torques can be drawn again and again."""

    def __init__(self, robot):
        parameters = make_standard_parameters(
            robot.n, parse_friction('viscous,coulomb,offset'), reflected_inertia=True
        )
        self.reduction = reduce_to_base(robot, parameters)
        form = FourierParametrization(harmonics=5, base_period=7.5)
        coefficients = 0.3 * np.random.default_rng(0).normal(size=(3, form.n_coefficients))
        stamps = np.arange(SAMPLES) / 100.0
        motion = Motion(*(basis @ coefficients.T for basis in form.basis(stamps)))
        taken = np.ones(SAMPLES, dtype=bool)
        dataset = Dataset(
            'made up', robot.joint_names, stamps, motion, np.zeros((SAMPLES, 3)), 'Nm', taken,
            taken, (slice(0, SAMPLES),), {}, 100.0, (),
        )
        self.observations = Observations(
            robot, self.reduction, [TrainingData(dataset, np.ones(3), taken)],
            time_blocks=TIME_BLOCKS,
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


def test_pairs_are_named_strongest_first():
    """Correlations of 0.99, -0.97 and 0.5; one parameter has no error."""
    correlation = np.array([
        [1.0, 0.5, -0.97, 0.0], [0.5, 1.0, 0.99, 0.0], [-0.97, 0.99, 1.0, 0.0], [0.0] * 4,
    ])
    scale = np.array([1.0, 10.0, 0.1, 1.0])
    covariance = Covariance(
        'made up', correlation * scale * scale[:, None], np.full(4, 50.0),
        np.array([False, False, False, True]),
    )
    found = strong_pairs(('a', 'b', 'c', 'd'), covariance)
    assert [(pair.first, pair.second) for pair in found] == [('b', 'c'), ('a', 'c')]
    assert [pair.correlation for pair in found] == pytest.approx([0.99, -0.97])
    assert len(strong_pairs(('a', 'b', 'c', 'd'), covariance, 0.4)) == 3


def test_inflation_is_what_the_other_columns_explain(arm, rng):
    """``1 / (1 - R^2)`` of each column on the others; infinite where they explain all of it."""
    problem = arm.estimate(rng).problem
    weights = np.array([1.0, 0.5, 2.0])
    R, _ = problem.stacked(weights)
    found = variance_inflation(problem, weights)
    for k in range(0, R.shape[1], 5):
        others = np.delete(R, k, axis=1)
        rest = R[:, k] - others @ np.linalg.lstsq(others, R[:, k], rcond=None)[0]
        assert found[k] == pytest.approx(np.sum(R[:, k] ** 2) / (rest @ rest), rel=1e-6)
    unseen = tuple(
        replace(factor, triangle=factor.triangle * np.append(factor.columns != 4, True))
        for factor in problem.factors
    )
    without = variance_inflation(replace(problem, factors=unseen), weights)
    assert np.isinf(without[4])
    assert np.isfinite(np.delete(without, 4)).all()


def test_white_f_test_by_hand(arm, rng):
    """Sums of squares of two fits to the weighted rows; with one parameter F is t squared."""
    estimate = arm.estimate(rng)
    white = covariance_of(estimate, 'residual')
    removed = [2]
    found = nested_test(estimate, white, removed)
    R, z = estimate.problem.stacked(estimate.weights)
    squares = [
        np.linalg.lstsq(matrix, z, rcond=None)[1][0] for matrix in (R, np.delete(R, 2, axis=1))
    ]
    freedom = 3 * SAMPLES - R.shape[1]
    expected = (squares[1] - squares[0]) / (squares[0] / freedom)
    assert found.white.statistic == pytest.approx(expected, rel=1e-8)
    assert found.white.freedom == (1.0, freedom)
    assert found.removed == (arm.reduction.names[2],)
    # The same but for the share of the parameters that each joint pays for.
    assert found.robust.statistic == pytest.approx(expected, rel=0.02)


def test_robust_test_rejects_as_often_as_it_says(arm):
    """
    Offsets of zero under slow noise: 5 % by the robust test, most of them by the white one.

    50 recordings of three joints scatter by 1.8 %; almost four times that above.
    """
    rng = np.random.default_rng(3)
    names = arm.reduction.names
    robust, white = [], []
    for _ in range(50):
        estimate = arm.estimate(rng, memory=0.85)
        covariance = covariance_of(estimate)
        for joint in (1, 2, 3):
            found = nested_test(estimate, covariance, [names.index(f'f0{joint}')])
            robust.append(found.robust.p_value < 0.05)
            white.append(found.white.p_value < 0.05)
    assert 0.0 < np.mean(robust) < 0.115
    assert np.mean(white) > 0.4


def test_a_parameter_that_is_there_is_needed(arm, rng):
    """Friction of 1 N m in noise of 1 N m; and criteria that agree."""
    truth = np.zeros(arm.reduction.rank)
    at = [arm.reduction.names.index(name) for name in ('fc1', 'fc2', 'fc3')]
    truth[at] = 1.0
    estimate = arm.estimate(rng, 0.5, truth)
    found = nested_test(estimate, covariance_of(estimate), at)
    assert found.robust.p_value < 1e-4
    assert found.white.p_value < 1e-6
    problem = estimate.problem
    kept = np.setdiff1d(np.arange(problem.size), at)
    smaller = replace(
        arm.reduction, K=arm.reduction.K[kept], independent=arm.reduction.independent[kept]
    )
    without = ESTIMATORS['wls']().estimate(problem.select(kept, smaller))
    whole = information_criteria(problem, estimate.theta)
    less = information_criteria(without.problem, without.theta)
    assert whole.aic < less.aic
    assert whole.bic < less.bic


def test_criteria_by_hand(arm, rng):
    """``N log(s^2)`` summed over joints, 2 or log(rows) for each parameter and noise."""
    estimate = arm.estimate(rng)
    problem = estimate.problem
    found = information_criteria(problem, estimate.theta)
    variance = problem.squared_residuals(estimate.theta) / SAMPLES
    fit = SAMPLES * np.log(variance).sum()
    count = problem.size + 3
    assert found.aic == pytest.approx(fit + 2 * count)
    assert found.bic == pytest.approx(fit + count * np.log(3 * SAMPLES))
    tenth = information_criteria(problem, estimate.theta, 0.1)
    assert tenth.aic == pytest.approx(0.1 * fit + 2 * count)
    assert tenth.samples == SAMPLES / 10


def test_a_nested_test_needs_parameters(arm, rng):
    estimate = arm.estimate(rng)
    with pytest.raises(DataError, match='name one or more'):
        nested_test(estimate, covariance_of(estimate), [])
