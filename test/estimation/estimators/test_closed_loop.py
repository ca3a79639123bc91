# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A simulated arm under control: it follows what it can follow, whatever parameters describe it.

Torques of the truth are MuJoCo's where a truth is needed.
"""

from estimation.arm_problems import fourier_motion, torque_of
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import InconsistentModelError, UsageError
from robot_identification.estimation.estimators.instrumental_variables import (
    ClosedLoop, fit_spline, Servo,
)
from robot_identification.model import base_dynamics, Motion, prior_inertial_parameters

RATE = 125.0


@pytest.fixture(scope='module')
def dynamics(arm, reduction):
    """Return the dynamics of the URDF's bodies, with rotors."""
    theta = np.full(reduction.parameters.size, 0.3)
    theta[:30] = prior_inertial_parameters(arm)
    return base_dynamics(arm, reduction, reduction.K @ theta)


@pytest.fixture(scope='module')
def reference():
    """Return two seconds of a smooth motion, and its stamps."""
    motion = fourier_motion(3, 4, 500, 0.2, 500 / RATE)
    return motion.part(slice(0, 250)), np.arange(250) / RATE


DEFAULT = Servo()


def simulate(dynamics, reference, servo=DEFAULT, friction=None):
    motion, stamps = reference
    loop = ClosedLoop(dynamics, motion, stamps, servo, friction)
    return loop.simulate((slice(0, len(stamps)),))


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


def test_a_perfect_servo_follows_its_reference(dynamics, reference):
    """Without friction nothing but the steps' error keeps it off, which is of fourth order."""
    # Half the step, an eighth of the error at most: a sixteenth but for the fifth order.
    motion, stamps = reference
    errors = []
    for step in (2, 1):
        part = motion.rows(np.arange(0, 250, step))
        found = simulate(
            dynamics, (part, stamps[::step]), Servo(frequency=2.0, compensates_friction=False),
            np.zeros(part.q.shape),
        )
        errors.append(np.abs(found.q - part.q).max())
    # Of joints that move by a metre or radian.
    assert errors[1] < 1e-5
    assert np.abs(found.dq - motion.dq).max() < 1e-3
    assert errors[1] < errors[0] / 8.0


def test_where_nothing_pulls_no_steps_are_needed(dynamics, reference):
    """Friction compensated, or none: the reference itself."""
    friction = np.ones(reference[0].q.shape)
    assert simulate(dynamics, reference) is reference[0]
    for servo in (Servo(), Servo(compensates_friction=False)):
        found = simulate(dynamics, reference, servo, friction)
        assert (found is reference[0]) == servo.compensates_friction


def test_friction_pulls_by_what_the_servo_yields(dynamics):
    """Standing still under a constant friction, the error is ``M^-1 f / omega^2``."""
    # After 2 s of a servo of 5 Hz and damping 1 what is left of the start is exp(-60).
    stamps = np.arange(250) / RATE
    pose = np.array([0.4, 0.1, -0.6])
    still = Motion(np.tile(pose, (250, 1)), np.zeros((250, 3)), np.zeros((250, 3)))
    friction = np.tile([2.0, -5.0, 0.5], (250, 1))
    servo = Servo(compensates_friction=False)
    found = simulate(dynamics, (still, stamps), servo, friction)
    error = np.linalg.solve(dynamics.mass_matrix(pose), friction[0])
    expected = -error / (2.0 * np.pi * servo.frequency) ** 2
    # The mass matrix and gravity are those of the pose, 1 mm away from where the arm stands.
    np.testing.assert_allclose(found.q[-1] - pose, expected, rtol=0.05)
    np.testing.assert_allclose(found.dq[-1], 0.0, atol=1e-9)


def test_gaps_begin_anew(dynamics, reference):
    """Each part starts on its reference; samples of no part are those of the reference."""
    motion, stamps = reference
    late = np.where(np.arange(250) < 120, stamps, stamps + 3.0)
    friction = np.full((250, 3), 0.5)
    found = ClosedLoop(
        dynamics, motion, late, Servo(compensates_friction=False), friction
    ).simulate((slice(0, 120), slice(121, 250)))
    for start in (0, 120, 121):
        np.testing.assert_array_equal(found.q[start], motion.q[start])
        np.testing.assert_array_equal(found.dq[start], motion.dq[start])
    assert np.abs(found.q - motion.q).max() > 1e-5


def test_what_cannot_be_an_arm_is_not_simulated(arm, reduction, reference):
    """Negative inertia: refused by the number of samples; a wild servo is refused by name."""
    with pytest.raises(InconsistentModelError, match=r'not positive definite at 250 of 250'):
        simulate(base_dynamics(arm, reduction, -np.ones(reduction.rank)), reference)
    with pytest.raises(UsageError, match=r'frequency of the servo \[Hz\] is 0'):
        Servo(frequency=0)
    with pytest.raises(UsageError, match='damping of the servo is -1'):
        Servo(damping=-1.0)


def test_an_arm_that_loses_its_reference_is_refused(dynamics):
    """Friction as large as no servo holds: an error, no number beyond any joint."""
    stamps = np.arange(100) / RATE
    still = Motion(*(np.zeros((100, 3)) for _ in range(3)))
    with pytest.raises(InconsistentModelError, match='loses its reference at 0'):
        simulate(
            dynamics, (still, stamps), Servo(frequency=0.1, compensates_friction=False),
            np.full((100, 3), 1e4),
        )


def test_slow_sampling_has_a_slow_servo(dynamics):
    """At 10 Hz a servo of 5 Hz would be unstable; it is made slower and follows."""
    motion = fourier_motion(3, 4, 100, 0.2, 10.0)
    stamps = np.arange(100) / 10.0
    servo, friction = Servo(compensates_friction=False), np.zeros((100, 3))
    found = simulate(dynamics, (motion, stamps), servo, friction)
    assert np.abs(found.q - motion.q).max() < 0.02


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


def test_few_samples_are_at_rest():
    """Too few for a spline: their mean, not a wild polynomial."""
    q, dq, ddq = fit_spline(np.arange(4.0), np.array([[1.0], [2.0], [3.0], [2.0]]), 0.2)
    np.testing.assert_array_equal(q, np.full((4, 1), 2.0))
    np.testing.assert_array_equal(np.hstack([dq, ddq]), np.zeros((4, 2)))
