# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Contact from joint states: external torques with the time constant that is stated."""

from dataclasses import replace

from known_models import known_model, true_model
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.model import (
    equivalent_bodies, Motion, prior_inertial_parameters, SignalSource,
)
from robot_identification.monitoring.collision import CollisionThresholds
from robot_identification.monitoring.contact_observer import MomentumObserver, observe_recording
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import rigid_inverse_dynamics

RATE = 500.0
BANDWIDTH = 25.0
PUSHED_AT = 2.0


@pytest.fixture(scope='module')
def arm(ur5):
    """Return an arm that is known exactly, its motion, and MuJoCo's torque along it."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    truth = draw_truth(ur5, 4)
    model = true_model(ur5, truth).with_quality({'residual_standard_deviation': [0.5] * 6})
    model = replace(model, covariance=1e-6 * model.covariance, robot=replace(
        model.robot, sampling_rate=RATE
    ))
    t = np.arange(0.0, 4.0, 1.0 / RATE)
    phase = np.arange(6)
    # Through standstill, in both directions, several times.
    q = 0.7 * np.sin(2.0 * t[:, None] + phase)
    dq = 1.4 * np.cos(2.0 * t[:, None] + phase)
    ddq = -2.8 * np.sin(2.0 * t[:, None] + phase)
    friction = truth.coulomb * np.sign(dq) + truth.viscous * dq
    torque = rigid_inverse_dynamics(ur5, truth, Motion(q, dq, ddq)) + friction
    return model, t, q, dq, torque


def test_who_is_not_touched_feels_nothing(arm):
    """Not even where joints reverse: friction belongs to the sample, not to those before it."""
    # The sign of the simulated friction changes within a sample, the model's within some 0.01
    # rad/s, a dozen samples here. With the smoothed velocity, 7 ms late, a third of the friction
    # would be felt at each of them.
    model, t, q, dq, torque = arm
    found = observe_recording(model, t, q, dq, torque)
    external, deviation = found.external, found.deviation
    said = np.all(np.isfinite(external), axis=1)
    # Three time constants, and no later.
    assert np.argmax(said) == pytest.approx(3.0 / BANDWIDTH * RATE, abs=2)
    assert not found.touched.any()
    friction = np.abs(torque).max(axis=0)
    assert np.all(np.abs(external[said]).max(axis=0) < 0.05 * friction)
    assert np.all(deviation[said] >= 0.5)


def test_a_touch_is_said_of_the_joints_that_are_touched(arm):
    """With thresholds of six standard deviations, 3 N m here."""
    model, t, q, dq, torque = arm
    thresholds = CollisionThresholds(np.full(6, 6.0))
    push = np.where(np.arange(6) == 1, 15.0, 0.0)
    touched = observe_recording(
        model, t, q, dq, torque + np.where(t[:, None] >= PUSHED_AT, push, 0.0),
        thresholds=thresholds,
    ).touched
    assert np.array_equal(touched.any(axis=0), np.arange(6) == 1)
    latency = t[np.argmax(touched[:, 1])] - PUSHED_AT
    # Of the low-pass, ln(15 / (15 - 3)) / 25 s, then the hold of two samples; the deviation has a
    # part of the parameters, too.
    assert 0.009 < latency < 0.03


def test_effort_that_comes_late_is_compared_with_the_past(arm):
    """Torques 20 ms late, and a model that knows it: as if they were not."""
    model, t, q, dq, torque = arm
    late = replace(model, source=SignalSource(delay=0.02))
    shift = round(0.02 * RATE)
    external = observe_recording(late, t, q, dq, np.roll(torque, shift, axis=0)).external
    told = observe_recording(model, t, q, dq, np.roll(torque, shift, axis=0)).external
    free = observe_recording(model, t, q, dq, torque).external
    rows = slice(200, None)
    np.testing.assert_allclose(external[rows], np.roll(free, shift, axis=0)[rows], atol=0.3)
    assert np.abs(told[rows]).max() > 5.0


PERIOD = 0.002
ROTORS = np.array([1.9, 1.9, 1.2, 0.3, 0.3, 0.3])


def model_of(robot, scale=1.0):
    """Return a model with the description's bodies, all heavier by one factor, and rotors."""
    bodies = scale * prior_inertial_parameters(robot)
    return known_model(robot, 'coulomb,viscous', bodies, Ia=ROTORS)


@pytest.fixture(scope='module')
def model(ur5):
    """Return a UR5 that is a third heavier than described."""
    return model_of(ur5, 4.0 / 3.0)


def motion_of(t):
    """Return a smooth motion of six joints at times (N,)."""
    phase = np.arange(6)
    q = 0.8 * np.sin(1.3 * t[:, None] + phase)
    dq = 0.8 * 1.3 * np.cos(1.3 * t[:, None] + phase)
    return Motion(q, dq, -(1.3**2) * q)


def observe(model, motion, torque, bandwidth=25.0):
    """Return what is observed along a motion, NaN where nothing is said."""
    observer = MomentumObserver(model, bandwidth)
    found = [
        observer.step(PERIOD, q, dq, tau, np.zeros(6))
        for q, dq, tau in zip(motion.q, motion.dq, torque, strict=True)
    ]
    return np.array([np.full(6, np.nan) if one is None else one for one in found])


def test_bodies_have_the_mass_matrix_of_the_truth(ur5, model):
    """Base parameters fix it: here of the arm that is a third heavier, with its rotors."""
    bodies, rotors = equivalent_bodies(model)
    truth = ur5.pinocchio.copy()
    for joint in range(1, 7):
        truth.inertias[joint] = pin.Inertia.FromDynamicParameters(
            4.0 / 3.0 * truth.inertias[joint].toDynamicParameters()
        )
    for q in np.random.default_rng(3).uniform(-3.0, 3.0, (10, 6)):
        wanted = pin.crba(truth, truth.createData(), q) + np.diag(ROTORS)
        found = pin.crba(bodies, bodies.createData(), q)
        found += np.diag(rotors)
        # Rounding of a reduction whose rank is decided at 1e-8.
        np.testing.assert_allclose(np.triu(found), np.triu(wanted), atol=1e-7)


def test_free_motion_is_free(model):
    """What remains is of differences over a sample: second order in its length."""
    t = np.arange(0.0, 4.0, PERIOD)
    motion = motion_of(t)
    found = observe(model, motion, model.torque(motion))
    assert np.all(np.isnan(found[0]))
    # (w T)^2 / 12 of torques of 100 N m at w of 5 rad/s: 1e-3 N m.
    assert np.nanmax(np.abs(found)) < 1e-3


@pytest.mark.parametrize('bandwidth', [10.0, 40.0])
def test_converges_with_its_time_constant(model, bandwidth):
    """P18: a step of the external torque is seen as 1 - exp(-K t), joint by joint."""
    t = np.arange(0.0, 3.0, PERIOD)
    motion = motion_of(t)
    external = np.where(t[:, None] >= 1.5, np.array([8.0, -5.0, 3.0, 1.0, -1.0, 0.5]), 0.0)
    # Who is pushed forward along the same path needs less from the drives.
    found = observe(model, motion, model.torque(motion) - external, bandwidth)
    rises = 1.0 - np.exp(-bandwidth * np.maximum(t - 1.5, 0.0))
    settled = t > 4.0 / bandwidth
    # The step falls between two samples: half a period of the steepest rise.
    np.testing.assert_allclose(
        found[settled], (rises[:, None] * external[-1])[settled],
        atol=2e-3 + 8.0 * bandwidth * PERIOD,
    )
    np.testing.assert_allclose(
        found[-1], (1.0 - np.exp(-bandwidth * 1.5)) * external[-1], atol=5e-3
    )
