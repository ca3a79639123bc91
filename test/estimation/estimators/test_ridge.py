# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Ridge regression is what it is on all standard parameters, though it never sees them."""

from estimation.arm_problems import (
    arm_problem, arm_reduction, fourier_motion, NOISE, noisy_problem, observe, possible_parameters,
    torque_of,
)
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robot_identification.errors import NotIdentifiableError, RankDeficientError
from robot_identification.estimation.estimators import least_squares
from robot_identification.estimation.estimators.huber import (
    HuberRegression, NORMAL_DEVIATION, SizeMedian,
)
from robot_identification.estimation.estimators.least_squares import (
    bounded_unknowns, ConstrainedLeastSquares, optimality, OrdinaryLeastSquares,
    solve_not_negative, WeightedLeastSquares,
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


def constrained_problem_of(arm, reduction, seed, actuators):
    """Return a problem whose friction and rotor parameters are given."""
    def change(theta):
        theta[10 * arm.n:] = actuators
        return theta

    return noisy_problem(arm, reduction, seed, 400, change=change)[0]


@given(seed=SEEDS)
def test_bounded_solution_is_the_only_one(seed):
    """Columns a thousandfold apart, half of them bounded: the conditions of the optimum."""
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.uniform(-1.5, 1.5, 12)
    R, z = rng.normal(size=(30, 12)) * units, rng.normal(size=30)
    bounded = rng.random(12) < 0.5
    x, active = solve_not_negative(R, z, bounded)
    assert np.all(x[bounded] >= 0.0)
    np.testing.assert_array_equal(active, bounded & (x == 0.0))
    multipliers = optimality(R, z, x)
    assert np.all(np.abs(multipliers[~active]) < 1e-12)
    assert np.all(multipliers[active] > 0.0)


def test_what_does_not_meet_its_conditions_is_not_returned(monkeypatch):
    """A tolerance that nothing can meet stands for a solver that fails: an error, no result."""
    monkeypatch.setattr(least_squares, 'OPTIMALITY_TOLERANCE', -1.0)
    R, z = np.eye(3), np.array([1.0, -1.0, 1.0])
    with pytest.raises(NotIdentifiableError, match='found no optimum'):
        solve_not_negative(R, z, np.ones(3, dtype=bool))


@given(seed=SEEDS)
def test_bounds_that_hold_nothing_change_nothing(arm, reduction, seed):
    """Property P3: where least squares find friction and rotors positive, it is their solution."""
    problem = constrained_problem_of(arm, reduction, seed, 50.0)
    for one, other in (
        (ConstrainedLeastSquares(), OrdinaryLeastSquares()),
        (ConstrainedLeastSquares(reweightings=3), WeightedLeastSquares()),
    ):
        bounded, free = one.estimate(problem), other.estimate(problem)
        assert not bounded.active.any()
        np.testing.assert_allclose(bounded.theta, free.theta, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(
            bounded.standard_errors, free.standard_errors, rtol=1e-6
        )


def test_offsets_and_combinations_have_no_bound(robots):
    """On a UR5, rotors 1 and 2 are merged with links; the offset may have either sign."""
    arm = robots['ur5']
    reduction = arm_reduction(arm, 'coulomb,viscous,offset,cubic_viscous')
    motion = fourier_motion(6, 0, 200)
    theta = possible_parameters(arm, reduction.parameters, np.random.default_rng(0))
    theta[60:] = 0.0
    tau = torque_of(arm, reduction, theta, motion)
    problem = arm_problem(arm, reduction, motion, tau - 5.0)
    bounded = bounded_unknowns(problem)
    names = {reduction.names[unknown] for unknown in np.flatnonzero(bounded)}
    assert names == {
        *(f'fc{j}' for j in range(1, 7)), *(f'fv{j}' for j in range(1, 7)),
        *(f'Ia{j}' for j in range(3, 7)),
    }
    rotors = bounded_unknowns(problem, friction=False)
    assert {reduction.names[unknown] for unknown in np.flatnonzero(rotors)} == {
        'Ia3', 'Ia4', 'Ia5', 'Ia6'
    }
    estimate = ConstrainedLeastSquares().estimate(problem)
    offsets = [reduction.names.index(f'f0{j}') for j in range(1, 7)]
    np.testing.assert_allclose(estimate.theta[offsets], -5.0, atol=0.01)
    assert 'Ia1 (in Izz1), Ia2 (in Izz2)' in estimate.notes[-1]


def test_what_is_held_has_no_error(arm, reduction):
    """True friction and rotor inertia are negative: all are held, and the rest knows it."""
    # The covariance is that of the problem without them, by NumPy.
    problem = constrained_problem_of(arm, reduction, 1, -3.0)
    estimate = ConstrainedLeastSquares().estimate(problem)
    held = bounded_unknowns(problem)
    np.testing.assert_array_equal(estimate.active, held)
    assert np.all(estimate.theta[held] == 0.0)
    assert np.all(estimate.standard_errors[held] == 0.0)
    assert 'held at zero by their bounds: fc1, ' in estimate.notes[0]
    R, z = problem.stacked(np.ones(3))
    deviation = np.repeat(estimate.sigma, [len(factor.triangle) for factor in problem.factors])
    units = np.linalg.norm(R[:, ~held], axis=0)
    G = np.linalg.pinv(R[:, ~held] / units) / units[:, None]
    np.testing.assert_allclose(estimate.theta[~held], G @ z, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(
        estimate.standard_errors[~held], np.sqrt(np.sum((G * deviation) ** 2, axis=1)), rtol=1e-7
    )


def with_outliers(rng, noise, shape, share=0.02, size=15.0):
    """Return normal noise with some large errors of either sign in it."""
    hit = rng.random(shape) < share
    return noise * (
        rng.normal(size=shape) + np.where(hit, size * rng.choice([-1.0, 1.0], shape), 0.0)
    )


def robust_problem_of(arm, reduction, seed, samples=300, share=0.02, size=15.0):
    """Return a problem with outliers, its rows (N, n, b) and torques, and the truth."""
    problem, theta = noisy_problem(
        arm, reduction, seed, samples,
        lambda rng, shape: with_outliers(rng, NOISE, shape, share, size),
    )
    dataset = problem.observations.data[0].dataset
    W = observation_matrix(arm, reduction.parameters, dataset.motion).reshape(samples, arm.n, -1)
    return problem, W[:, :, reduction.independent], dataset.effort, reduction.K @ theta


@given(seed=SEEDS, parts=st.integers(1, 5))
def test_median_of_parts_is_that_of_all(seed, parts):
    """Exact for few numbers; for many, counted in classes, right to a part in 700."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=2001) * 10.0 ** rng.uniform(-6, 6)
    exact, counted = SizeMedian(), SizeMedian()
    counted.LARGEST_SAMPLE = 100
    for part in np.array_split(values, parts):
        exact.add(part)
        counted.add(part)
    expected = np.median(np.abs(values))
    assert exact.value == expected
    assert counted.value == pytest.approx(expected, rel=1.0 / 700.0)


@given(seed=SEEDS)
def test_huber_without_limit_is_least_squares(arm, reduction, seed):
    """Property P3: tuning at infinity, joints equal: ordinary least squares, errors as well."""
    problem, *_ = robust_problem_of(arm, reduction, seed)
    estimate = HuberRegression(np.inf, equal_joints=True).estimate(problem)
    plain = OrdinaryLeastSquares().estimate(problem)
    np.testing.assert_allclose(estimate.theta, plain.theta, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(estimate.standard_errors, plain.standard_errors, rtol=1e-7)


@pytest.mark.parametrize('equal_joints', [False, True])
@settings(max_examples=5)
@given(seed=SEEDS)
def test_the_estimate_solves_its_equations(arm, reduction, equal_joints, seed):
    """Sums of scores vanish, with scales by the medians of the very residuals."""
    # Both from all rows: 1e-6 of what the sizes of the terms add up to, as scales settle to 1e-6.
    problem, W, tau, _ = robust_problem_of(arm, reduction, seed)
    estimate = HuberRegression(equal_joints=equal_joints).estimate(problem)
    residual = tau - W @ estimate.theta
    scale = NORMAL_DEVIATION * np.median(np.abs(residual), axis=0)
    np.testing.assert_allclose(estimate.sigma, scale, rtol=1e-5)
    u = residual / scale
    score = np.clip(u, -1.345, 1.345) * (scale if equal_joints else 1.0 / scale)
    terms = score[:, :, None] * W
    sums = np.abs(terms.sum(axis=(0, 1))) / np.abs(terms).sum(axis=(0, 1))
    assert sums.max() < 1e-6
    assert estimate.notes[-1].startswith('rows that count less than half, by joint: ')


def test_errors_are_those_that_occur_with_outliers(arm, reduction):
    """A tenth of the rows with errors of six deviations: errors over standard errors are one."""
    # Of 16 runs their mean square has a standard error of 0.075; more than three are allowed.
    squares = []
    for seed in range(16):
        problem, _, _, truth = robust_problem_of(arm, reduction, seed, share=0.1, size=6.0)
        estimate = HuberRegression().estimate(problem)
        squares.append(np.mean(((estimate.theta - truth) / estimate.standard_errors) ** 2))
    assert np.mean(squares) == pytest.approx(1.0, abs=0.25)
