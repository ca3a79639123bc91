# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Instrumental variables: what noise of the kinematics does to least squares, it does not do here.

The torques are MuJoCo's.
"""

from estimation.noisy_arms import bias_in_errors, errors_of, make_noisy_arm
import numpy as np
import pytest
from robot_identification.estimation import WeightedLeastSquares
from robot_identification.estimation.estimators.instrumental_variables import (
    fit_spline, InstrumentalVariables,
)
from robot_identification.estimation.estimators.least_squares import OrdinaryLeastSquares

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
