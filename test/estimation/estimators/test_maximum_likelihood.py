# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Maximum likelihood on periodic motions, and the periods that it finds.

The torques are MuJoCo's.
"""

from dataclasses import replace

from estimation.arm_problems import fourier_motion, torque_of
from estimation.noisy_arms import bias_in_errors, errors_of, make_noisy_arm, PERIOD
from hypothesis import given, strategies as st
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import DataError
from robot_identification.estimation import solve_weighted, WeightedLeastSquares
from robot_identification.estimation.estimators.maximum_likelihood import MaximumLikelihood
from robot_identification.model import base_dynamics, prior_inertial_parameters
from robot_identification.model.regressor import Motion
from robot_identification.processing import find_periodic_motion, FourierSeries, NotPeriodicError

# Of a bad encoder [rad].
POSITION_NOISE = 3.0e-4


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
