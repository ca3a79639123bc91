# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Every kind of covariance, against its definition written out, and against known scatter."""

from dataclasses import replace

from estimation.arm_problems import arm_reduction, dataset_of
import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.estimation import ESTIMATORS, TIME_BLOCKS, TrainingData
from robot_identification.estimation.estimate import PriorTerm
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.solving import describe_estimate, solve_weighted
from robot_identification.estimation.uncertainty.covariance import (
    blocks_covariance, covariance_of, COVARIANCES, hac_covariance,
)
from robot_identification.estimation.uncertainty.scatter import choose_lag
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.model.regressor import Motion

RATE = 100.0


@pytest.fixture(scope='module')
def arm(robots):
    """Return an arm of three joints and its base parameters."""
    robot = robots['mixed']
    return robot, arm_reduction(robot, 'viscous,coulomb,offset')


def recording(robot, seed, samples=1500, taken=None):
    """Return a lively motion with noise for effort; the truth is zero."""
    # Less than two periods: the motion does not repeat itself.
    form = FourierParametrization(harmonics=5, base_period=max(8.0, 0.55 * samples / RATE))
    rng = np.random.default_rng(seed)
    coefficients = 0.3 * rng.normal(size=(robot.n, form.n_coefficients))
    stamps = np.arange(samples) / RATE
    motion = Motion(*(basis @ coefficients.T for basis in form.basis(stamps)))
    taken = np.ones(samples, dtype=bool) if taken is None else taken
    dataset = dataset_of(robot, motion, slow_noise(rng, samples, robot.n), 1.0 / RATE)
    dataset = replace(dataset, fitted=taken, scored=taken)
    return TrainingData(dataset, np.ones(robot.n), taken)


def slow_noise(rng, samples, n):
    """Return noise that remembers 50 ms, more on later joints (N, n)."""
    white = np.arange(1, n + 1) * rng.normal(size=(samples, n))
    noise = white.copy()
    for k in range(1, samples):
        noise[k] += 0.8 * noise[k - 1]
    return noise


def estimate_of(arm, data, estimator='wls', **options):
    robot, reduction = arm
    observations = Observations(
        robot, reduction, data, **{'time_blocks': TIME_BLOCKS, **options}
    )
    return ESTIMATORS[estimator]().estimate(observations.factor())


@pytest.fixture(scope='module')
def estimate(arm):
    return estimate_of(arm, [recording(arm[0], 0)])


def scores_of(estimate):
    """Return the weighted normal matrix and the scores of all samples by recording."""
    observations, theta = estimate.problem.observations, unknowns(estimate)
    A = np.zeros((len(theta),) * 2)
    scores = [np.zeros((len(part.rows), len(theta))) for part in observations.data]
    for block in observations.blocks():
        for joint, rows in enumerate(block.joints):
            columns = observations.columns(joint)
            W = np.zeros((len(rows.samples), len(theta)))
            W[:, columns] = estimate.weights[joint] * observations.matrix(joint, rows, theta)
            residual = estimate.weights[joint] * rows.tau - W @ theta
            A += W.T @ W
            scores[block.bag][rows.samples] += W * residual[:, None]
    return A, scores


def unknowns(estimate):
    return np.append(estimate.theta, estimate.nuisance)


def newey_west(A, scores, lag):
    """Return the covariance by the formula of Newey and West, pair by pair of samples."""
    S = np.zeros(A.shape)
    for g in scores:
        for shift in range(lag + 1):
            product = g[shift:].T @ g[: len(g) - shift]
            S += (1.0 - shift / (lag + 1)) * (
                product + product.T if shift else product
            )
    inverse = np.linalg.inv(A)
    return inverse @ S @ inverse


def correlation(matrix):
    errors = np.sqrt(np.diag(matrix))
    return matrix / errors / errors[:, None]


@pytest.mark.parametrize('lag', [0, 1, 30, 1499])
def test_hac_is_newey_west_with_each_parameter_scaled(estimate, lag):
    """The correction scales parameters, so that correlations are those of the formula."""
    # It makes errors larger, never smaller. 1e-8 is rounding.
    found = hac_covariance(estimate, lag=lag)
    expected = newey_west(*scores_of(estimate), lag)
    np.testing.assert_allclose(found.correlation, correlation(expected), atol=1e-8)
    ratio = np.diag(found.matrix) / np.diag(expected)
    assert np.all(ratio > 1.0)
    if lag <= 30:
        # What 15 s lose to the fit of 37 parameters; the whole recording sums to nothing.
        assert np.all(ratio < 2.0)
    assert found.window == pytest.approx((lag + 1) / RATE)


def test_blocks_are_overlapping_batch_means(estimate):
    """Sums of three neighbouring ones of 30 blocks, by the rows themselves."""
    A, (scores,) = scores_of(estimate)
    count = len(estimate.problem.blocks)
    assert count == 30
    sums = scores.reshape(count, -1, len(A)).sum(axis=1)
    S = np.zeros(A.shape)
    for first in range(-2, count):
        window = sums[max(first, 0): first + 3].sum(axis=0)
        S += np.outer(window, window) / 3.0
    inverse = np.linalg.inv(A)
    found = blocks_covariance(estimate)
    np.testing.assert_allclose(
        found.correlation, correlation(inverse @ S @ inverse), atol=1e-8
    )
    assert found.window == pytest.approx(1.5)


def test_the_lag_follows_the_memory_of_the_residuals():
    """Of white noise 1.3 root N; of slow noise more."""
    rng = np.random.default_rng(0)
    white = rng.normal(size=(10_000, 2))
    assert choose_lag([white]) == 130
    # 2 phi / (1 - phi^2) = 19 samples apart on average, times twenty; a third is chance.
    slow = rng.normal(size=(10_000, 2))
    for k in range(1, 10_000):
        slow[k] += 0.95 * slow[k - 1]
    assert choose_lag([slow]) == pytest.approx(390, rel=0.35)
    drifting = np.cumsum(rng.normal(size=(10_000, 2)), axis=0)
    assert choose_lag([drifting]) == 10_000 // 6
    assert choose_lag([white[:5000], white[5000:]]) == 130


def repeated(arm, times, noise=None):
    """Return the estimates of 8 s of a motion and of its repetitions, with their noise or new."""
    robot, _ = arm
    once = recording(robot, 0, samples=800)
    rows = np.tile(np.arange(800), times)
    effort = once.dataset.effort[rows] if noise is None else noise
    many = dataset_of(robot, once.dataset.motion.rows(rows), effort, 1.0 / RATE)
    assert once.dataset.period is None
    assert many.period == pytest.approx(8.0, abs=1e-3 / RATE)
    return (
        estimate_of(arm, [data])
        for data in (once, TrainingData(many, np.ones(robot.n), many.fitted))
    )


def test_repetitions_of_a_motion_are_no_further_evidence(arm):
    """Once and three times the very same recording: the same estimate, as certain as before."""
    one, three = repeated(arm, 3)
    np.testing.assert_allclose(three.theta, one.theta, rtol=1e-9)
    assert covariance_of(three).kind == 'hac'
    for kind in ('hac', 'blocks'):
        found, expected = covariance_of(three, kind), covariance_of(one, kind)
        # What three times the samples make of the noise's variance; a window is an eighth of the
        # motion, and those of a period go on at its start.
        np.testing.assert_allclose(
            found.standard_errors, expected.standard_errors,
            rtol=5e-3 if kind == 'blocks' else 0.15,
        )


def test_rows_weighted_by_their_residuals_are_not_those_of_the_bags(arm):
    """Huber's estimate: blocks of the weighted rows serve, 'hac' is refused."""
    plain = estimate_of(arm, [recording(arm[0], 4)])

    def weigh(joint, residual):
        limit = 0.5 * plain.sigma[joint]
        return np.sqrt(limit / np.maximum(np.abs(residual), limit))

    weighted = solve_weighted(plain.problem.observations.factor(plain.theta, weigh), plain.weights)
    assert covariance_of(weighted).kind == 'blocks'
    with pytest.raises(UsageError, match='weights that the estimator gave to rows'):
        covariance_of(weighted, 'hac')


def test_parameters_held_by_a_bound_have_no_error(estimate):
    """The others are those of the problem without it."""
    b = len(estimate.theta)
    held = np.zeros(b, dtype=bool)
    held[[3, b - 1]] = True
    problem, weights = estimate.problem, estimate.weights
    R, z = problem.stacked(weights)
    theta = np.zeros(b)
    theta[~held] = np.linalg.lstsq(R[:, ~held], z, rcond=None)[0]
    bounded = describe_estimate(problem, weights, theta, active=held)
    for kind in COVARIANCES:
        found = covariance_of(bounded, kind)
        assert np.all(np.isnan(found.standard_errors) == held)
        assert not found.matrix[held].any()
        assert np.all(found.standard_errors[~held] > 0.0)
        names = problem.reduction.names
        assert any(f'{names[3]}, {names[b - 1]}' in note for note in found.notes)


@pytest.mark.parametrize('kind', ['hac', 'blocks'])
def test_a_strong_prior_is_all_there_is_to_know(estimate, kind):
    """Its deviations are the errors then; a weak one changes nothing."""
    b = len(estimate.theta)
    problem, weights = estimate.problem, estimate.weights
    deviation = 1e-7 * np.arange(1, b + 1)
    for strength, expected in (
        (1.0, deviation), (1e-14, covariance_of(estimate, kind).standard_errors)
    ):
        prior = PriorTerm(strength * np.diag(1.0 / deviation), np.zeros(b))
        R, z = problem.stacked(weights)
        theta = np.linalg.lstsq(
            np.vstack([R, prior.matrix]), np.append(z, prior.side), rcond=None
        )[0]
        found = covariance_of(describe_estimate(problem, weights, theta, prior=prior), kind)
        np.testing.assert_allclose(found.standard_errors, expected, rtol=0.02)


def test_short_recordings_have_white_errors_and_say_so(arm):
    """Two thirds of a second is one block: nothing says how estimates scatter."""
    short = estimate_of(arm, [recording(arm[0], 0, samples=66)])
    found = covariance_of(short)
    assert found.kind == 'residual'
    assert 'record longer' in found.notes[0]
    with pytest.raises(UsageError, match='two or more, the problem has 0'):
        covariance_of(short, 'blocks')
