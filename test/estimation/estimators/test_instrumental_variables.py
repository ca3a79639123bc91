# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Instrumental variables: what noise of the kinematics does to least squares, it does not do here.

The torques are MuJoCo's.
"""

from dataclasses import replace

from estimation.arm_problems import arm_reduction, fourier_motion, torque_of
from estimation.noisy_arms import bias_in_errors, errors_of, make_noisy_arm, PERIOD
from hypothesis import given, strategies as st
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.arrays import triangle_of
from robot_identification.errors import DataError, RankDeficientError, UsageError
from robot_identification.estimation import (
    Observations, RowTreatment, solve_weighted, WeightedLeastSquares,
)
from robot_identification.estimation.estimators.instrumental_variables import (
    fit_spline, InstrumentalVariables,
)
from robot_identification.estimation.estimators.least_squares import OrdinaryLeastSquares
from robot_identification.estimation.estimators.maximum_likelihood import MaximumLikelihood
from robot_identification.estimation.estimators.total_least_squares import TotalLeastSquares
from robot_identification.estimation.problem import IdentificationProblem, TriangularFactor
from robot_identification.model import (
    base_dynamics, BaseReduction, make_standard_parameters, parse_friction,
    prior_inertial_parameters,
)
from robot_identification.model.regressor import Motion
from robot_identification.processing import find_periodic_motion, FourierSeries, NotPeriodicError

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')

# Of a bad encoder [rad]: accelerations get errors as large as themselves.
POSITION_NOISE = 3.0e-4


@pytest.fixture(scope='module')
def smooth_arm(tmp_path_factory):
    """Return an arm with viscous friction alone, in whose torques velocities are linear."""
    return make_noisy_arm(tmp_path_factory.mktemp('smooth'), 2, 'viscous,offset')


@pytest.fixture(scope='module')
def noisy_problem(smooth_arm):
    return smooth_arm.problem(50, POSITION_NOISE, time_blocks=8)


@pytest.fixture(scope='module')
def noisy_estimate(noisy_problem):
    return InstrumentalVariables().estimate(noisy_problem)


def rows_of(observations):
    """Return the matrix (N n, size) and the torques (N n,) of all rows, joint after joint."""
    matrices, torques, joints = [], [], []
    for block in observations.blocks():
        for joint, rows in enumerate(block.joints):
            matrix = np.zeros((len(rows.table), observations.reduction.rank))
            matrix[:, observations.columns(joint)] = observations.matrix(joint, rows, None)
            matrices.append(matrix)
            torques.append(rows.tau)
            joints.append(np.full(len(matrix), joint))
    return np.vstack(matrices), np.concatenate(torques), np.concatenate(joints)


def rotor(reduction):
    """Return which base parameters are rotor inertias: what accelerations show."""
    return np.array([name.startswith('Ia') for name in reduction.names])


def test_least_squares_are_biased_and_instruments_are_not(smooth_arm):
    """Twelve recordings with other noise: the mean error, in its own standard errors."""
    # Of unbiased estimates its root mean square over 22 parameters is one, and beyond 1.7 once in
    # a thousand times were they independent; least squares lose half of the rotor's inertia.
    chosen = rotor(smooth_arm.reduction)
    found = errors_of(smooth_arm, {
        'ols': OrdinaryLeastSquares(), 'wls': WeightedLeastSquares(),
        'iv': InstrumentalVariables(),
    }, POSITION_NOISE)
    for name, (errors, _) in found.items():
        of_rotor = np.mean(errors, axis=0)[chosen] / smooth_arm.theta[chosen]
        if name == 'iv':
            assert bias_in_errors(errors) < 1.7
            assert np.all(np.abs(of_rotor) < 0.05)
        else:
            assert bias_in_errors(errors) > 10.0
            assert np.all(of_rotor < -0.3)


def test_residuals_have_no_part_along_the_instruments(noisy_problem, noisy_estimate):
    """``Z' V^-1 (tau - W theta) = 0`` with all rows at once, to rounding of long sums."""
    W, tau, joints = rows_of(noisy_problem.observations)
    Z, _, _ = rows_of(noisy_estimate.problem.observations)
    precision = noisy_estimate.weights[joints] ** 2
    residual = tau - W @ noisy_estimate.theta
    product = Z.T @ (precision * residual)
    size = np.linalg.norm(Z, axis=0) * np.linalg.norm(precision * residual)
    assert np.abs(product / size).max() < 1e-11
    # Those of least squares do not vanish: they are as large as a bias needs.
    assert np.abs(W.T @ (precision * residual)).max() > 1e3 * np.abs(product).max()


def test_covariance_is_the_sandwich(noisy_problem, noisy_estimate):
    """``(Z'W)^-1 Z'Z (W'Z)^-1`` of the weighted rows, which makes condition squared: to 1e-6."""
    estimate = noisy_estimate
    W, tau, joints = rows_of(noisy_problem.observations)
    Z, _, _ = rows_of(estimate.problem.observations)
    weights = estimate.weights[joints][:, None]
    W, Z = weights * W, weights * Z
    inverse = np.linalg.inv(Z.T @ W)
    # Weights are one over the deviations, but for the last change of the estimate.
    deviation = (estimate.weights * estimate.sigma)[joints][:, None]
    expected = inverse @ ((deviation * Z).T @ (deviation * Z)) @ inverse.T
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    np.testing.assert_allclose(estimate.covariance / scale, expected / scale, atol=1e-6)
    residual = tau - (W / weights) @ estimate.theta
    for joint in range(3):
        own = residual[joints == joint]
        # Freedom is that of a joint's share of the unknowns.
        np.testing.assert_allclose(estimate.sigma[joint], own.std(), rtol=0.02)


def test_with_exact_kinematics_it_is_weighted_least_squares(smooth_arm):
    """Instruments are then the matrix itself, but for the simulation's error: 1 % of an error."""
    problem = smooth_arm.problem(1, 0.0)
    one, other = (
        estimator.estimate(problem)
        for estimator in (InstrumentalVariables(), WeightedLeastSquares())
    )
    away = (one.theta - other.theta) / other.standard_errors
    assert np.abs(away).max() < 0.01
    np.testing.assert_allclose(one.standard_errors, other.standard_errors, rtol=1e-3)


def test_spline_of_polynomials_is_exact(rng):
    """Degree five and jittered stamps, some of them twice: to rounding of the derivatives."""
    t = np.sort(np.concatenate([np.linspace(0.0, 2.0, 250), rng.uniform(0.0, 2.0, 20)]))
    t[100] = t[101]
    coefficients = rng.normal(size=6)
    polynomial = np.polynomial.Polynomial(coefficients)
    found = fit_spline(t, polynomial(t)[:, None], 0.2)
    for order, values in enumerate(found):
        expected = polynomial.deriv(order)(t) if order else polynomial(t)
        np.testing.assert_allclose(values[:, 0], expected, atol=1e-7 * np.abs(expected).max())


@pytest.fixture(scope='module')
def noisy_arm(tmp_path_factory):
    """Return an arm with Coulomb friction, and two periods of a motion."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    return make_noisy_arm(tmp_path_factory.mktemp('arm'), 2)


def series(seed, period, harmonics=5, n=3):
    rng = np.random.default_rng(seed)
    size = np.repeat(1.0 / np.arange(1, harmonics + 1), 2)[:, None]
    return FourierSeries(period, np.vstack([
        rng.normal(size=(1, n)), size * rng.normal(size=(2 * harmonics, n))
    ]))


def find(t, q, **options):
    return find_periodic_motion(t, q, np.ones(len(t), dtype=bool), **options)


def test_it_is_unbiased_and_knows_its_errors(noisy_arm):
    """Twelve recordings: errors are those of the Cramer-Rao bound, which no estimator is below."""
    # The mean square of error over standard error is one; of 300 numbers, some of them in step, it
    # is right to 0.15. Weighted least squares are off by several of their errors, for the noise of
    # accelerations is as large as they are.
    found = errors_of(
        noisy_arm, {'ml': MaximumLikelihood(), 'wls': WeightedLeastSquares()}, POSITION_NOISE
    )
    squares = {name: np.mean((errors / stated) ** 2) for name, (errors, stated) in found.items()}
    assert bias_in_errors(found['wls'][0]) > 10.0
    assert bias_in_errors(found['ml'][0]) < 1.7
    assert squares['wls'] > 10.0
    assert squares['ml'] == pytest.approx(1.0, abs=0.35)


def test_exact_positions_leave_weighted_least_squares(noisy_arm):
    """Property P3: with weights of one over the torques' deviation, estimate and errors."""
    # The motion is then known to 1e-12 of its range; what is left is rounding of the Fourier fit.
    problem = noisy_arm.problem(1, 0.0)
    estimate = MaximumLikelihood().estimate(problem)
    expected = solve_weighted(problem, estimate.weights)
    away = (estimate.theta - expected.theta) / expected.standard_errors
    assert np.abs(away).max() < 1e-5
    scaled = 1.0 / (estimate.weights * estimate.sigma)
    np.testing.assert_allclose(scaled, 1.0, rtol=1e-3)
    np.testing.assert_allclose(estimate.standard_errors, expected.standard_errors, rtol=1e-3)


@pytest.mark.parametrize('kept', [slice(0, 375), slice(200, 600)])
def test_a_motion_seen_once_is_refused(noisy_arm, kept):
    """By name of the recording, saying what to record; with the period given it is accepted."""
    dataset = noisy_arm.dataset(3, POSITION_NOISE)
    seen = np.zeros(len(dataset), dtype=bool)
    seen[kept] = True
    part = noisy_arm.observe([replace(dataset, fitted=seen)]).select([seen]).factor()
    with pytest.raises(DataError, match=r'made up: .*two periods or more, or choose --estimator'):
        MaximumLikelihood().estimate(part)
    estimate = MaximumLikelihood(period=PERIOD).estimate(part)
    error = np.abs(estimate.theta - noisy_arm.theta)
    assert np.all(error < 5.0 * estimate.standard_errors)


@given(
    seed=st.integers(0, 10_000), period=st.floats(1.5, 12.0), repeats=st.floats(2.0, 5.5),
    harmonics=st.integers(2, 6),
)
def test_periods_are_found(seed, period, repeats, harmonics):
    """Of any length, no multiple of the sampling: to rounding, with the number of harmonics."""
    t = 0.3 + np.arange(0.0, repeats * period, 0.01)
    truth = series(seed, period, harmonics)
    found = find(t, truth.evaluate(t))
    assert found.series.period == pytest.approx(period, rel=1e-9)
    assert found.harmonics == harmonics
    assert found.follows.all()


def test_what_does_not_repeat_has_no_period():
    """A random walk of five harmonics over the whole time, a ramp, rest and a few samples."""
    t = np.arange(0.0, 12.0, 0.01)
    for q in (series(1, 17.0).evaluate(t), np.outer(t, [1.0, 2.0]), np.zeros((len(t), 2))):
        with pytest.raises(NotPeriodicError, match='does not come back'):
            find(t, q)
    with pytest.raises(NotPeriodicError, match='4 samples are too few'):
        find_periodic_motion(t, series(1, 4.0).evaluate(t), np.arange(len(t)) < 4)


@pytest.mark.parametrize('seed', range(5))
def test_base_parameters_have_the_torques_of_the_standard_ones(arm, reduction, seed):
    """Of any signs, masses of zero among them: against the regressor, to rounding of both."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=reduction.parameters.size)
    theta[reduction.parameters.friction_slice] = 0.0
    motion = fourier_motion(3, seed, 20)
    dynamics = base_dynamics(arm, reduction, reduction.K @ theta)
    torque = np.array([
        dynamics.torque(*sample)
        for sample in zip(motion.q, motion.dq, motion.ddq, strict=True)
    ])
    expected = torque_of(arm, reduction, theta, motion)
    np.testing.assert_allclose(torque, expected, atol=1e-11 * np.abs(expected).max())


def test_mass_matrix_of_the_urdf_is_pinocchios(arm, reduction):
    """With the URDF's bodies and no rotor, to rounding."""
    theta = np.zeros(reduction.parameters.size)
    theta[:30] = prior_inertial_parameters(arm)
    dynamics = base_dynamics(arm, reduction, reduction.K @ theta)
    q = np.array([0.3, -0.1, 0.8])
    data = arm.pinocchio.createData()
    expected = pin.crba(arm.pinocchio, data, q)
    # Base parameters leave out what no torque shows, and keep every torque.
    np.testing.assert_allclose(dynamics.mass_matrix(q), expected, rtol=1e-11, atol=1e-12)


def test_derivatives_are_those_of_the_torque(arm, reduction, rng):
    """Against central differences of the regressor's torque, step 1e-6: right to 1e-7."""
    theta = rng.normal(size=reduction.parameters.size)
    theta[30:-3] = 0.0
    dynamics = base_dynamics(arm, reduction, reduction.K @ theta)
    motion = fourier_motion(3, 6, 5)
    found = dynamics.torque_derivatives(motion)
    for order, derivative in enumerate(found):
        for joint in range(3):
            torques = []
            for step in (1e-6, -1e-6):
                moved = [values.copy() for values in (motion.q, motion.dq, motion.ddq)]
                moved[order][:, joint] += step
                torques.append(torque_of(arm, reduction, theta, Motion(*moved)))
            expected = (torques[0] - torques[1]) / 2e-6
            scale = np.abs(derivative).max() + np.abs(torques[0]).max()
            np.testing.assert_allclose(derivative[:, :, joint], expected, atol=1e-7 * scale)


SEEDS = st.integers(0, 2**32 - 1)
# Of two joints: four columns of the first link, and the offsets, which have no noise.
PARAMETERS = make_standard_parameters(2, parse_friction('offset'), reflected_inertia=False)
NOISY, EXACT = 4, 2
CHOSEN = np.array([0, 1, 2, 3, 20, 21])
NAMES = ('m1', 'mx1', 'my1', 'mz1')
SIZES = np.geomspace(0.1, 10.0, NOISY)
# Of the columns, in parts of their size, and of the two joints' torques.
NOISE = np.append(np.array([0.4, 0.3, 0.2, 0.1]) * SIZES, [0.3, 0.6])


def problem_of(W, tau):
    """Return the problem of rows (N, 2, 4) with an offset of each joint, and torques (N, 2)."""
    factors = tuple(
        TriangularFactor(
            np.array([0, 1, 2, 3, 4 + joint]),
            triangle_of(np.column_stack([W[:, joint], np.ones(len(W)), tau[:, joint]])),
        )
        for joint in range(2)
    )
    reduction = BaseReduction(
        PARAMETERS, np.eye(PARAMETERS.size)[CHOSEN], CHOSEN, gap=np.inf
    )
    return IdentificationProblem(factors, np.full(2, len(W)), reduction)


def noisy_rows_of(rng, samples=200):
    """Return columns of unequal size, parameters whose parts are alike, and their torques."""
    W = rng.normal(size=(samples, 2, NOISY)) * SIZES
    theta = rng.uniform(0.5, 1.5, NOISY + EXACT) * rng.choice([-1.0, 1.0], NOISY + EXACT)
    theta[:NOISY] /= SIZES
    return W, theta, W @ theta[:NOISY] + theta[NOISY:]


def dense(W):
    """Return all rows with the columns of the offsets first."""
    samples = len(W)
    offsets = np.tile(np.eye(2), (samples, 1))
    return offsets, W.reshape(-1, NOISY)


@given(seed=SEEDS)
def test_it_is_the_textbooks_solution(seed):
    """Columns of unit length, offsets taken out by QR."""
    # The last right singular vector, by NumPy. The columns' condition number is below 2 and the
    # noise is a tenth: rounding is left.
    rng = np.random.default_rng(seed)
    W, _, tau = noisy_rows_of(rng)
    W = W + 0.1 * SIZES * rng.normal(size=W.shape)
    tau = tau + rng.normal(size=tau.shape)
    estimate = TotalLeastSquares(relative_noise=1.0, reweightings=0).estimate(problem_of(W, tau))
    offsets, columns = dense(W)
    lengths = np.append(np.linalg.norm(columns, axis=0), np.linalg.norm(tau))
    table = np.column_stack([columns, tau.ravel()])
    Q, triangle = np.linalg.qr(offsets)
    vector = np.linalg.svd((table - Q @ (Q.T @ table)) / lengths)[2][-1] / lengths
    expected = -vector[:-1] / vector[-1]
    np.testing.assert_allclose(estimate.theta[:NOISY], expected, rtol=1e-9, atol=1e-12)
    rest = np.linalg.solve(triangle, Q.T @ (tau.ravel() - columns @ expected))
    np.testing.assert_allclose(estimate.theta[NOISY:], rest, rtol=1e-9, atol=1e-10)


@given(seed=SEEDS)
def test_without_noise_in_the_columns_it_is_least_squares(seed):
    """Property P3: as the noise of the columns goes to zero, by its square."""
    # Without such noise they agree to the bit. The correction is the square of the columns' noise:
    # from a tenth to a hundredth, a hundredth.
    rng = np.random.default_rng(seed)
    W, _, tau = noisy_rows_of(rng)
    problem = problem_of(W, tau + rng.normal(scale=[0.3, 3.0], size=tau.shape))
    for reweightings, plain in ((0, OrdinaryLeastSquares()), (3, WeightedLeastSquares())):
        least = plain.estimate(problem)
        away = [
            np.abs(
                TotalLeastSquares(relative_noise=noise, reweightings=reweightings)
                .estimate(problem).theta - least.theta
            ).max()
            for noise in (1e-1, 1e-2, 1e-5)
        ]
        assert away[1] == pytest.approx(away[0] / 100.0, rel=0.05)
        # 1e-10 of a correction of less than one; and what rounding leaves.
        assert away[2] < 1e-9
        none = TotalLeastSquares(relative_noise=0.0, reweightings=reweightings).estimate(problem)
        np.testing.assert_array_equal(none.theta, least.theta)
        np.testing.assert_array_equal(none.covariance, least.covariance)
        assert none.notes == ('no column has noise: as weighted least squares',)


def noisy_case(seed):
    """Return the problem of columns and torques with noise, and the truth."""
    rng = np.random.default_rng(seed)
    W, theta, tau = noisy_rows_of(rng, 400)
    W = W + NOISE[:NOISY] * rng.normal(size=W.shape)
    return problem_of(W, tau + NOISE[NOISY:] * rng.normal(size=tau.shape)), theta


def with_known_noise(factor=1.0, units=1.0):
    """Return the estimator that is given that noise, or multiples of it, in units of columns."""
    return TotalLeastSquares(
        noise=dict(zip(NAMES, factor * units * NOISE[:NOISY], strict=True)),
        torque_noise=tuple(factor * NOISE[NOISY:]),
    )


def test_it_is_less_biased_where_columns_are_noisy():
    """Over eighty recordings with columns of 10 to 40 % noise: least squares is up to 14 % low."""
    # That is the square of a column's noise over that of column and noise. Total least squares,
    # given the noise, is right to 1.5 %: five standard errors of the mean. Its standard errors are
    # those that occur, to the 0.07 that eighty times six of them show and as far as the first
    # order goes: 0.3 is allowed. Those of least squares do not know of its bias.
    ratios = {'least': [], 'total': []}
    squares = {'least': [], 'total': []}
    for seed in range(80):
        problem, theta = noisy_case(seed)
        for name, estimator in (
            ('least', WeightedLeastSquares()), ('total', with_known_noise()),
        ):
            estimate = estimator.estimate(problem)
            ratios[name].append((estimate.theta / theta)[:NOISY] - 1.0)
            squares[name].append(((estimate.theta - theta) / estimate.standard_errors) ** 2)
    bias = {name: np.mean(found, axis=0) for name, found in ratios.items()}
    share = (NOISE[:NOISY] / SIZES) ** 2
    np.testing.assert_allclose(bias['least'], -share / (1.0 + share), atol=0.015)
    np.testing.assert_allclose(bias['total'], 0.0, atol=0.015)
    assert np.mean(squares['total']) == pytest.approx(1.0, abs=0.3)
    assert np.mean(squares['least']) > 2.0


def test_what_has_no_solution_is_refused_by_name():
    """A column that is less than the noise it is said to have."""
    # The torque does not need it. The smallest singular vector is then that column's: its
    # last component is zero.
    rng = np.random.default_rng(0)
    W, theta, _ = noisy_rows_of(rng)
    W[:, :, 2] *= 1e-2
    theta[2] = 0.0
    tau = W @ theta[:NOISY] + 5.0 * rng.normal(size=W.shape[:2])
    # No part of the torque along that column.
    offsets, columns = dense(W)
    others = np.column_stack([offsets, columns[:, [0, 1, 3]]])
    rest = columns[:, 2] - others @ np.linalg.lstsq(others, columns[:, 2], rcond=None)[0]
    tau = tau - (rest * (rest @ tau.ravel()) / (rest @ rest)).reshape(tau.shape)
    estimator = TotalLeastSquares(
        noise=dict.fromkeys(NAMES, 0.1), torque_noise=(0.1, 0.1), reweightings=0
    )
    with pytest.raises(
        RankDeficientError,
        match=r'last component of the singular vector is .*columns as given, my1, m',
    ):
        estimator.estimate(problem_of(W, tau))


def test_few_samples_are_at_rest():
    """Too few for a spline: their mean, not a wild polynomial."""
    q, dq, ddq = fit_spline(np.arange(4.0), np.array([[1.0], [2.0], [3.0], [2.0]]), 0.2)
    np.testing.assert_array_equal(q, np.full((4, 1), 2.0))
    np.testing.assert_array_equal(np.hstack([dq, ddq]), np.zeros((4, 2)))


@pytest.mark.parametrize('law', ['temperature_viscous', 'load', 'dictionary'])
def test_friction_of_more_than_velocity_is_refused(noisy_arm, law):
    """By name of the law."""
    arm = noisy_arm
    reduction = arm_reduction(arm.robot, law)
    dataset = arm.dataset(0, 0.0)
    warm = replace(
        dataset, motion=replace(dataset.motion, temperature=np.full(dataset.effort.shape, 30.0))
    )
    observations = replace(arm, reduction=reduction).observe([warm])
    with pytest.raises(UsageError, match=f'friction of the velocity alone, and law {law}'):
        MaximumLikelihood().estimate(observations.factor())


def test_filtered_rows_are_refused(noisy_arm):
    """Profiles that filter or leave out rows know no period: refused."""
    data = noisy_arm.observe([noisy_arm.dataset(0, 0.0)]).data
    observations = Observations(
        noisy_arm.robot, noisy_arm.reduction, data, treatment=RowTreatment(slowest=0.05)
    )
    with pytest.raises(UsageError, match='the recipe filters or leaves out rows'):
        MaximumLikelihood().estimate(observations.factor())
