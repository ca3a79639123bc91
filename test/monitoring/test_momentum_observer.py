# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Torques of others are found with the time constant that is stated, and nothing else is."""

from known_models import known_model
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.model import equivalent_bodies, Motion, prior_inertial_parameters
from robot_identification.monitoring.contact_observer import MomentumObserver

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
