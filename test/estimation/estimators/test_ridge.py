# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Ridge regression is what it is on all standard parameters, though it never sees them."""

from estimation.arm_problems import (
    arm_problem, arm_reduction, fourier_motion, noisy_problem, observe, possible_parameters,
    torque_of,
)
from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.errors import RankDeficientError, UsageError
from robot_identification.estimation.estimators.least_squares import (
    OrdinaryLeastSquares, WeightedLeastSquares,
)
from robot_identification.estimation.estimators.ridge import RidgeRegression
from robot_identification.model.regressor import observation_matrix, prior_inertial_parameters

SEEDS = st.integers(0, 2**32 - 1)


def problem_of(arm, reduction, seed, samples=300, noise=0.3):
    """Return problem, observation matrix of all standard parameters, torques, and the truth."""
    problem, theta = noisy_problem(arm, reduction, seed, samples, noise)
    dataset = problem.observations.data[0].dataset
    W = observation_matrix(arm, reduction.parameters, dataset.motion)
    return problem, W, dataset.effort.ravel(), theta


def ridge_oracle(W, tau, penalty):
    """Return the ridge solution on all standard parameters by stacking the penalty's rows."""
    p = W.shape[1]
    return np.linalg.lstsq(
        np.vstack([W, np.sqrt(penalty) * np.eye(p)]), np.append(tau, np.zeros(p)), rcond=None
    )[0]


@given(seed=SEEDS, decades=st.floats(-3.0, 3.0))
def test_ridge_is_that_of_the_standard_parameters(arm, reduction, seed, decades):
    """A given penalty, on base factors alone: the minimizer over all standard parameters."""
    problem, W, tau, _ = problem_of(arm, reduction, seed)
    penalty = 10.0**decades
    estimate = RidgeRegression('fixed', penalty=penalty).estimate(problem)
    expected = ridge_oracle(W, tau, penalty)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(estimate.theta, reduction.K @ expected, atol=1e-8 * scale)
    found = np.linalg.pinv(reduction.K) @ estimate.theta
    np.testing.assert_allclose(found, expected, atol=1e-8 * scale)
    # Errors are those of the noise, the bias left out.
    G = reduction.K @ np.linalg.solve(W.T @ W + penalty * np.eye(W.shape[1]), W.T)
    errors = np.linalg.norm(G * np.tile(estimate.sigma, len(tau) // arm.n), axis=1)
    np.testing.assert_allclose(estimate.standard_errors, errors, rtol=1e-6)


@given(seed=SEEDS)
def test_penalty_of_the_report(arm, reduction, seed):
    """Smallest eigenvalue that is not zero: nothing in the null space."""
    # The weakest part is halved. The identities behind (D11 of the numbers): of least squares, the
    # part along the singular direction of value s is multiplied by s^2 / (s^2 + smallest s^2), one
    # half for the smallest.
    problem, W, tau, _ = problem_of(arm, reduction, seed)
    estimate = RidgeRegression().estimate(problem)
    standard = np.linalg.pinv(reduction.K) @ estimate.theta
    _, singular, directions = np.linalg.svd(W)
    rank = reduction.rank
    assert singular[rank] < 1e-10 * singular[0] < singular[rank - 1]
    shortest = np.linalg.pinv(W, rcond=1e-10) @ tau
    scale = np.abs(shortest).max()
    np.testing.assert_allclose(directions[rank:] @ standard, 0.0, atol=1e-9 * scale)
    parts = directions[:rank] @ shortest
    kept = singular[:rank] ** 2 / (singular[:rank] ** 2 + singular[rank - 1] ** 2)
    np.testing.assert_allclose(directions[:rank] @ standard, kept * parts, atol=1e-7 * scale)
    assert kept[-1] == 0.5
    np.testing.assert_allclose(
        directions[rank - 1] @ standard, 0.5 * parts[-1], atol=1e-7 * scale
    )
    assert f'ridge penalty {singular[rank - 1] ** 2:.3g} by rule smallest_eigenvalue' in (
        estimate.notes[0]
    )


def test_a_vanishing_penalty_is_the_shortest_solution(arm, reduction):
    """Property P3: base parameters of least squares, standard ones of least norm, to 1e-6."""
    problem, W, tau, _ = problem_of(arm, reduction, 1)
    for reweightings, least in ((3, WeightedLeastSquares()), (0, OrdinaryLeastSquares())):
        ridge = RidgeRegression('fixed', penalty=1e-10, reweightings=reweightings)
        estimate, plain = ridge.estimate(problem), least.estimate(problem)
        scale = np.abs(plain.theta).max()
        np.testing.assert_allclose(estimate.theta, plain.theta, atol=1e-6 * scale)
        np.testing.assert_allclose(estimate.standard_errors, plain.standard_errors, rtol=1e-5)
        np.testing.assert_allclose(estimate.weights, plain.weights, rtol=1e-5)
    np.testing.assert_allclose(
        np.linalg.pinv(reduction.K) @ estimate.theta,
        np.linalg.pinv(W, rcond=1e-10) @ tau, atol=1e-6 * scale,
    )


def test_cross_validation_finds_its_own_minimum(arm, reduction):
    """The error by its definition on all rows: no neighbour of the chosen penalty has less."""
    problem, W, tau, _ = problem_of(arm, reduction, 4, 60, noise=20.0)
    estimate = RidgeRegression('cross_validation').estimate(problem)
    penalty = float(estimate.notes[0].split()[2])

    def error(value):
        hat = W @ np.linalg.solve(W.T @ W + value * np.eye(W.shape[1]), W.T)
        rest = tau - hat @ tau
        return (rest @ rest) / (len(tau) - np.trace(hat)) ** 2

    # The note prints three digits; a hundredth of a decade is far from the flat bottom's width.
    assert error(penalty) < error(1.3 * penalty)
    assert error(penalty) < error(penalty / 1.3)


def test_the_prior_is_what_a_large_penalty_leaves(robots):
    """Toward the URDF: with any data, its base parameters; by little, least squares."""
    # Friction and rotors have a prior a thousandth as strong as the others', a millionth in
    # squares.
    arm = robots['ur5']
    reduction = arm_reduction(arm)
    problem, *_ = problem_of(arm, reduction, 5, 200)
    prior = np.zeros(reduction.parameters.size)
    prior[:60] = prior_inertial_parameters(arm)
    strong = RidgeRegression('fixed', penalty=1e20, toward_prior=True).estimate(problem)
    np.testing.assert_allclose(strong.theta, reduction.K @ prior, atol=1e-8)
    weak = RidgeRegression('fixed', penalty=1e-9, toward_prior=True).estimate(problem)
    plain = OrdinaryLeastSquares().estimate(problem)
    np.testing.assert_allclose(weak.theta, plain.theta, atol=1e-5 * np.abs(plain.theta).max())


def test_offsets_of_single_recordings_are_not_penalized(arm, reduction):
    """They are found in full where the penalty leaves nothing of the parameters."""
    recordings = []
    for seed, value in ((7, 3.0), (8, -3.0)):
        motion = fourier_motion(arm.n, seed, 100)
        recordings.append((motion, np.full((100, arm.n), value)))
    problem = observe(arm, reduction, recordings, offset_by_recording=True).factor()
    estimate = RidgeRegression('fixed', penalty=1e14).estimate(problem)
    np.testing.assert_allclose(estimate.theta, 0.0, atol=1e-8)
    np.testing.assert_allclose(estimate.nuisance, -3.0, rtol=1e-8)


def test_what_has_no_data_is_stated(arm, reduction):
    """A joint that stands still: the penalty decides, and the note counts what it decides."""
    motion = fourier_motion(arm.n, 10)
    motion.q[:, 2] = 0.3
    motion.dq[:, 2] = motion.ddq[:, 2] = 0.0
    theta = possible_parameters(arm, reduction.parameters, np.random.default_rng(10))
    tau = torque_of(arm, reduction, theta, motion)
    problem = arm_problem(arm, reduction, motion, tau)
    estimate = RidgeRegression().estimate(problem)
    W = observation_matrix(arm, reduction.parameters, motion)
    unidentifiable = reduction.rank - np.linalg.matrix_rank(W, tol=1e-10 * np.linalg.norm(W, 2))
    assert unidentifiable >= 3
    assert f'{unidentifiable} combinations have no data' in estimate.notes[0]
    with pytest.raises(RankDeficientError, match='penalty of ridge is too small'):
        RidgeRegression('fixed', penalty=1e-30).estimate(problem)
    still = arm_problem(arm, reduction, motion, np.zeros_like(tau))
    assert np.all(RidgeRegression().estimate(still).theta == 0.0)


@pytest.mark.parametrize('options, message', [
    ({'rule': 'l_curve'}, "unknown rule 'l_curve' of ridge: known are smallest_eigenvalue, "),
    ({'rule': 'fixed'}, 'give a penalty with rule fixed'),
    ({'penalty': 1.0}, 'give a penalty with rule fixed, and with no other'),
    ({'rule': 'fixed', 'penalty': -1.0}, 'penalty of ridge is -1.0, it must be a positive'),
])
def test_options_are_checked(options, message):
    with pytest.raises(UsageError, match=message):
        RidgeRegression(**options)
