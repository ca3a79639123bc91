# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Maximum likelihood on periodic motions, and the periods that it finds.

The torques are MuJoCo's.
"""

from dataclasses import replace

from estimation.arm_problems import arm_reduction, fourier_motion, torque_of
from estimation.noisy_arms import (
    bias_in_errors, errors_of, make_noisy_arm, PERIOD, RATE, TORQUE_NOISE,
)
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import DataError, UsageError
from robot_identification.estimation import (
    Observations, RowTreatment, solve_weighted, WeightedLeastSquares,
)
from robot_identification.estimation.estimators.maximum_likelihood import MaximumLikelihood
from robot_identification.model import base_dynamics, prior_inertial_parameters
from robot_identification.model.regressor import Motion, standard_torque
from robot_identification.processing import find_periodic_motion, FourierSeries, NotPeriodicError
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics

# Of a bad encoder [rad].
POSITION_NOISE = 3.0e-4


@pytest.fixture(scope='module')
def noisy_arm(tmp_path_factory):
    """Return an arm with Coulomb friction, and two periods of a motion."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    return make_noisy_arm(tmp_path_factory.mktemp('arm'), 2)


@pytest.fixture(scope='module')
def noisy_estimate(noisy_arm):
    return MaximumLikelihood().estimate(noisy_arm.problem(50, POSITION_NOISE, time_blocks=4))


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


def test_its_motion_is_nearer_to_the_truth_than_the_encoders(noisy_arm, noisy_estimate):
    """Of 375 phases and two periods, eleven numbers a joint: a tenth of the noise or less."""
    note, = noisy_estimate.notes
    assert 'period 6' in note or 'period 5.999' in note
    assert '5 harmonics, 750 samples averaged at 375 phases' in note
    # Newton's steps are few: derivatives are exact.
    assert noisy_estimate.passes <= 20
    motion = noisy_estimate.problem.observations.data[0].dataset.motion
    error = motion.q - noisy_arm.motion.q
    assert np.sqrt(np.mean(error**2)) < 0.2 * POSITION_NOISE
    acceleration = motion.ddq - noisy_arm.motion.ddq
    assert np.sqrt(np.mean(acceleration**2)) < 0.01 * np.std(noisy_arm.motion.ddq)


def test_recordings_of_several_motions(noisy_arm):
    """Another speed, thus another period; both have the same parameters, errors are smaller."""
    arm = noisy_arm
    motion = replace(arm.motion, dq=arm.motion.dq / 1.25, ddq=arm.motion.ddq / 1.25**2)
    standard = np.zeros(arm.reduction.parameters.size)
    standard[arm.reduction.independent] = arm.theta
    torque = standard_torque(arm.robot, arm.reduction.parameters, standard, motion)
    torque += TORQUE_NOISE * np.random.default_rng(8).normal(size=torque.shape)
    slow = replace(
        arm.dataset(7, 0.0), stamps=1.25 * arm.stamps, rate=RATE / 1.25, motion=motion,
        effort=torque,
    )
    fast = arm.dataset(9, POSITION_NOISE)
    both = MaximumLikelihood().estimate(arm.observe([fast, slow]).factor())
    one = MaximumLikelihood().estimate(arm.observe([fast]).factor())
    assert np.all(np.abs(both.theta - arm.theta) < 5.0 * both.standard_errors)
    ratio = both.standard_errors / one.standard_errors
    assert ratio.max() < 1.1
    assert np.median(ratio) < 0.9
    assert 'period 7.5 s' in both.notes[1]


def test_late_stamps_do_not_matter(noisy_arm):
    """Jittered times, each sample at its own: the truth without noise, nothing interpolated."""
    arm = noisy_arm
    rng = np.random.default_rng(4)
    exact = find(arm.stamps, arm.motion.q).series
    stamps = arm.stamps + 0.003 * rng.uniform(-1.0, 1.0, len(arm.stamps))
    q, dq, ddq = (exact.evaluate(stamps, order) for order in range(3))
    torque = inverse_dynamics(arm.robot, draw_truth(arm.robot, 3), Motion(q, dq, ddq))
    dataset = replace(
        arm.dataset(0, 0.0), stamps=stamps, motion=replace(arm.motion, q=q, dq=dq, ddq=ddq),
        effort=torque,
    )
    estimate = MaximumLikelihood().estimate(arm.observe([dataset]).factor())
    np.testing.assert_allclose(estimate.theta, arm.theta, atol=1e-7 * np.abs(arm.theta).max())


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


def test_noise_of_positions_is_measured():
    """A deviation of 600 samples less eleven numbers is right to 3 %; four of them."""
    t = np.arange(0.0, 12.0, 0.02)
    rng = np.random.default_rng(1)
    noise = np.array([1e-4, 1e-3, 5e-3])
    q = series(2, 4.0).evaluate(t) + noise * rng.normal(size=(len(t), 3))
    found = find(t, q)
    np.testing.assert_allclose(found.deviation, noise, rtol=0.12)
    assert found.series.period == pytest.approx(4.0, rel=1e-4)
    assert found.harmonics == 5


def test_the_way_to_the_motion_is_no_part_of_it():
    """Two seconds from the pose of rest and back: distinguished from it, sample by sample."""
    t = np.arange(0.0, 16.0, 0.01)
    truth = series(3, 4.0)
    q = truth.evaluate(t)
    coming, going = t < 2.0, t > 14.0
    share = np.clip(np.minimum(t / 2.0, (16.0 - t) / 2.0), 0.0, 1.0)[:, None] ** 2
    rest = np.array([0.5, -2.0, 1.0])
    q = share * q + (1.0 - share) * rest
    found = find(t, q)
    assert found.series.period == pytest.approx(4.0, rel=1e-6)
    assert found.follows[~(coming | going)].all()
    assert np.count_nonzero(found.follows[coming | going]) < 20
    np.testing.assert_allclose(found.series.evaluate(t), truth.evaluate(t), atol=1e-3)


def test_half_a_period_is_not_the_period():
    """Odd harmonics of 3 % of the motion tell them apart."""
    t = np.arange(0.0, 12.0, 0.01)
    truth = series(5, 4.0)
    coefficients = truth.coefficients.copy()
    for odd in (1, 3, 5):
        coefficients[2 * odd - 1: 2 * odd + 1] *= 0.03
    q = FourierSeries(4.0, coefficients).evaluate(t)
    found = find(t, q)
    assert found.series.period == pytest.approx(4.0, rel=1e-9)


def test_what_does_not_repeat_has_no_period():
    """A random walk of five harmonics over the whole time, a ramp, rest and a few samples."""
    t = np.arange(0.0, 12.0, 0.01)
    for q in (series(1, 17.0).evaluate(t), np.outer(t, [1.0, 2.0]), np.zeros((len(t), 2))):
        with pytest.raises(NotPeriodicError, match='does not come back'):
            find(t, q)
    with pytest.raises(NotPeriodicError, match='4 samples are too few'):
        find_periodic_motion(t, series(1, 4.0).evaluate(t), np.arange(len(t)) < 4)


def test_a_wrong_period_is_refused():
    """A period given that the motion does not have: by how much it is off."""
    t = np.arange(0.0, 12.0, 0.01)
    q = series(1, 4.0).evaluate(t)
    q[700:] += np.outer(np.sin(5.3 * t[700:]), np.ones(3))
    with pytest.raises(NotPeriodicError, match=r'off a period of 3\.1 s by'):
        find(t, q, period=3.1, harmonics=2)


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
