# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What every estimator does on a real arm; a new entry of ESTIMATORS is tested by being there."""

from dataclasses import replace

from estimation.arm_problems import (
    arm_problem, arm_reduction, fourier_motion, NOISE, noisy_problem, observe, PERIOD,
    possible_parameters, predict, torque_of,
)
from hypothesis import given, strategies as st
from long_tests import some_by_day
import numpy as np
import pytest
from robot_identification.errors import RankDeficientError, UsageError
from robot_identification.estimation import solve_weighted, WeightedLeastSquares
from robot_identification.estimation.estimators import ESTIMATORS
from robot_identification.estimation.solving import least_squares, propagate
from robot_identification.model.regressor import Motion

# Ridge halves what the data show least, by design; the dictionary shrinks friction a little.
BIASED = {'ridge', 'dictionary', 'consistent', 'log_cholesky'}
# These follow the motion through time, by the stamps and in their order, and one of them needs
# periods.
NEED_TIME = {'iv', 'maximum_likelihood'}
# These need more than the factors.
NEED_ROWS = {
    'huber', 'dictionary', 'consistent', 'log_cholesky',
} | NEED_TIME
# These do not minimize the squared residuals of their problem: noise in the columns is taken
# back.
OTHER_CONDITIONS = {'dictionary', 'tls', 'consistent', 'log_cholesky'}
SEEDS = st.integers(0, 2**32 - 1)


def motion_for(name, arm, seed, samples=400):
    """Return a motion; where time matters, two periods that fit the stamps of the datasets."""
    if name not in NEED_TIME:
        return fourier_motion(arm.n, seed, samples)
    once = fourier_motion(arm.n, seed, samples // 2, duration=PERIOD * (samples // 2))
    return Motion(*(np.tile(values, (2, 1)) for values in (once.q, once.dq, once.ddq)))


def problem_of(arm, reduction, name, seed, samples=300):
    """Return a problem with noise, and the true base parameters."""
    motion = motion_for(name, arm, seed, samples)
    problem, theta = noisy_problem(arm, reduction, seed, motion=motion)
    return problem, reduction.K @ theta


@pytest.mark.parametrize('name', [name for name in ESTIMATORS if name not in BIASED])
@given(seed=SEEDS)
def test_without_noise_the_truth_is_found(arm, reduction, name, seed):
    """Property P1: 1e-8 of the largest parameter, whatever the arm weighs."""
    motion = motion_for(name, arm, seed, 150)
    theta = possible_parameters(arm, reduction.parameters, np.random.default_rng(seed))
    tau = torque_of(arm, reduction, theta, motion)
    estimate = ESTIMATORS[name]().estimate(arm_problem(arm, reduction, motion, tau))
    truth = reduction.K @ theta
    np.testing.assert_allclose(estimate.theta, truth, atol=1e-8 * np.abs(truth).max())


@pytest.mark.parametrize('name', ESTIMATORS)
def test_an_estimate_is_complete(arm, reduction, name):
    """Every field has its shape; errors are those of the noise where there is no bias."""
    problem, truth = problem_of(arm, reduction, name, 1, 600)
    estimate = ESTIMATORS[name]().estimate(problem)
    b = reduction.rank
    assert estimate.theta.shape == estimate.standard_errors.shape == estimate.active.shape == (b,)
    assert estimate.covariance.shape == (b, b)
    np.testing.assert_allclose(estimate.covariance, estimate.covariance.T, rtol=1e-9, atol=1e-18)
    assert estimate.unknowns.shape == (b,)
    assert estimate.weights.shape == (arm.n,)
    assert np.all(estimate.weights > 0.0)
    assert estimate.condition_number > 1.0
    assert estimate.condition_number_scaled >= 1.0
    assert estimate.problem.reduction is reduction
    assert estimate.passes >= 1
    assert all(isinstance(note, str) and note for note in estimate.notes)
    # What it solved last is solved by what it returns: the gradient is zero where nothing holds.
    R, z = estimate.problem.stacked(estimate.weights)
    if estimate.prior is not None:
        R, z = np.vstack([R, estimate.prior.matrix]), np.append(z, estimate.prior.side)
    if name not in OTHER_CONDITIONS:
        cosine = R.T @ (R @ estimate.unknowns - z) / np.linalg.norm(R, axis=0) / np.linalg.norm(z)
        assert np.abs(cosine[~estimate.active]).max() < 1e-9
    if name not in BIASED:
        # Standard errors are exceeded fivefold once in a million times.
        assert np.all(np.abs(estimate.theta - truth) < 5.0 * estimate.standard_errors)
        # A median of 600 residuals is right to 5 % itself.
        np.testing.assert_allclose(estimate.sigma, NOISE, rtol=0.2)


@pytest.mark.parametrize(
    'name', some_by_day([name for name in ESTIMATORS if name not in BIASED], 5)
)
def test_standard_errors_are_those_that_occur(arm, reduction, name):
    """Mean square of error over standard error is one."""
    # Of 16 runs with some 30 parameters it has a standard error of 0.075; four of them are
    # allowed, and what estimated weights cost on 300 samples.
    squares = []
    for seed in range(16):
        problem, truth = problem_of(arm, reduction, name, seed)
        estimate = ESTIMATORS[name]().estimate(problem)
        free = ~estimate.active
        squares.append(np.mean(
            ((estimate.theta - truth)[free] / estimate.standard_errors[free]) ** 2
        ))
    assert np.mean(squares) == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize('name', some_by_day(ESTIMATORS, 6))
def test_prediction_does_not_depend_on_the_base_set(robots, name):
    """Property P2: masses or inertias first, the same torques to 1e-7 of their size."""
    arm = robots['ur5']
    rng = np.random.default_rng(3)
    motion, unseen = (motion_for(name, arm, seed, 200) for seed in (3, 4))
    torques = []
    for preference in ('gautier_khalil', 'mass_first'):
        reduction = arm_reduction(arm, preference=preference)
        rng = np.random.default_rng(3)
        theta = possible_parameters(arm, reduction.parameters, rng)
        tau = torque_of(arm, reduction, theta, motion)
        problem = arm_problem(arm, reduction, motion, tau + rng.normal(size=tau.shape))
        estimate = ESTIMATORS[name]().estimate(problem)
        torques.append(predict(arm, reduction, estimate.theta, unseen))
    np.testing.assert_allclose(torques[0], torques[1], atol=1e-7 * np.abs(torques[0]).max())


@pytest.mark.parametrize('name', ESTIMATORS)
def test_recordings_with_offsets_of_their_own(arm, reduction, name):
    """Two recordings whose offsets differ: base parameters alone are returned."""
    # The offset is their mean. Exact without noise where nothing is regularized; what the offsets
    # differ by is no parameter.
    theta = possible_parameters(arm, reduction.parameters, np.random.default_rng(6))
    shift = np.array([0.5, -2.0, 1.0])
    recordings = []
    for seed, sign in ((6, 1.0), (7, -1.0)):
        motion = motion_for(name, arm, seed, 200)
        recordings.append((motion, torque_of(arm, reduction, theta, motion) + sign * shift))
    problem = observe(arm, reduction, recordings, offset_by_recording=True).factor()
    assert problem.nuisance == arm.n
    estimate = ESTIMATORS[name]().estimate(problem)
    assert estimate.theta.shape == (reduction.rank,)
    assert estimate.covariance.shape == (reduction.rank, reduction.rank)
    assert estimate.nuisance.shape == (arm.n,)
    if name not in BIASED:
        truth = reduction.K @ theta
        np.testing.assert_allclose(estimate.theta, truth, atol=1e-8 * np.abs(truth).max())
        np.testing.assert_allclose(estimate.nuisance, -shift, atol=1e-8 * np.abs(truth).max())


@pytest.mark.parametrize('name', ESTIMATORS)
def test_time_in_parts_and_order_of_samples_change_nothing(arm, reduction, name, rng):
    """Property P2; factors by blocks of time are those of the same rows."""
    problem, _ = problem_of(arm, reduction, name, 8)
    dataset = problem.observations.data[0].dataset
    motion, order = dataset.motion, rng.permutation(len(dataset))
    one = ESTIMATORS[name]().estimate(problem)
    scale = np.abs(one.theta).max()
    if name not in NEED_TIME:
        shuffled = ESTIMATORS[name]().estimate(arm_problem(
            arm, reduction, Motion(motion.q[order], motion.dq[order], motion.ddq[order]),
            dataset.effort[order],
        ))
        # To rounding: Huber's iteration ends at 1e-8.
        np.testing.assert_allclose(shuffled.theta, one.theta, atol=1e-8 * scale)
        np.testing.assert_allclose(shuffled.sigma, one.sigma, rtol=1e-7)
    parted = arm_problem(arm, reduction, motion, dataset.effort, time_blocks=4)
    other = ESTIMATORS[name]().estimate(parted)
    # A minimum that is found by its value is right to the root of rounding.
    rounding = 1e-7 if name in ('consistent', 'log_cholesky') else 1e-9
    np.testing.assert_allclose(other.theta, one.theta, atol=rounding * scale)
    assert len(parted.blocks) == len(other.problem.blocks) == 4
    squares = np.sum([
        replace(other.problem, factors=block).squared_residuals(other.unknowns)
        for block in other.problem.blocks
    ], axis=0)
    np.testing.assert_allclose(
        squares, other.problem.squared_residuals(other.unknowns), rtol=1e-9
    )


@pytest.mark.parametrize('name', [name for name in ESTIMATORS if name != 'ridge'])
def test_what_the_data_do_not_determine_is_refused(arm, reduction, name):
    """A joint that stands still shows neither its friction nor its rotor."""
    motion = motion_for(name, arm, 9)
    for values in (motion.dq, motion.ddq):
        values[:, 2] = 0.0
    motion.q[:, 2] = 0.3
    tau = torque_of(arm, reduction, np.ones(reduction.parameters.size), motion)
    problem = arm_problem(arm, reduction, motion, tau)
    with pytest.raises(RankDeficientError, match=r'fv3|Ia3'):
        ESTIMATORS[name]().estimate(problem)


@pytest.mark.parametrize('name', ESTIMATORS)
def test_estimators_without_rows_say_what_they_need(arm, reduction, name):
    """From factors alone the linear ones work, all others say what to do."""
    problem, _ = problem_of(arm, reduction, name, 10)
    bare = replace(problem, observations=None)
    if name in NEED_ROWS:
        with pytest.raises(UsageError, match='identify from the bags'):
            ESTIMATORS[name]().estimate(bare)
    else:
        np.testing.assert_array_equal(
            ESTIMATORS[name]().estimate(bare).theta, ESTIMATORS[name]().estimate(problem).theta
        )


# --- weights -----------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32 - 1))
def test_least_squares_are_numpys(seed):
    """Columns a millionfold apart: 1e-9 of each."""
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-3, 3, 6)
    R, z = rng.normal(size=(20, 6)) * units, rng.normal(size=20)
    expected = np.linalg.lstsq(R / units, z, rcond=None)[0]
    np.testing.assert_allclose(least_squares(R, z) * units, expected, rtol=1e-9, atol=1e-12)
    covariance = propagate(R, np.full(20, 0.5)) * np.outer(units, units)
    inverse = np.linalg.inv((R / units).T @ (R / units))
    np.testing.assert_allclose(covariance, 0.25 * inverse, rtol=1e-7, atol=1e-12)


def test_reweighting_is_solving_again(arm, reduction):
    """Three rounds by full solutions give the same: weights from sigma, floor out of reach."""
    problem, _ = noisy_problem(arm, reduction, 1, 300)
    expected = solve_weighted(problem, np.ones(3))
    for _ in range(3):
        expected = solve_weighted(problem, 1.0 / expected.sigma)
    estimate = WeightedLeastSquares().estimate(problem)
    np.testing.assert_allclose(estimate.theta, expected.theta, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(estimate.weights, expected.weights, rtol=1e-9)
