# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""From joint states to touches: what is said of a simulated arm, and what is not."""

from dataclasses import replace

from known_models import true_model
import numpy as np
import pytest
from robot_identification.model import Motion, SignalSource
from robot_identification.monitoring.collision import CollisionThresholds
from robot_identification.monitoring.contact_observer import ContactObserver, observe_recording
from robot_identification.prediction.torque_predictor import TorquePredictor
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


def test_a_pause_begins_anew(arm):
    """What was observed before it says nothing of what comes after."""
    model, t, q, dq, torque = arm
    predictor = TorquePredictor(model)
    observer = ContactObserver(model, predictor.rate)
    later = np.where(np.arange(len(t)) >= 500, 1.0, 0.0)
    said = []
    for k in range(700):
        stamp = t[k] + later[k]
        pushed = torque[k] + (50.0 if k < 500 else 0.0)
        prediction = predictor.step(stamp, q[k], dq[k])
        found = observer.step(stamp, prediction, pushed)
        said.append(None if found is None else found.torque)
    assert said[499] is not None
    assert np.all(np.abs(said[499]) > 25.0)
    silent = [one is None for one in said[500:]]
    assert all(silent[: round(2.9 / BANDWIDTH * RATE)])
    assert not silent[round(3.1 / BANDWIDTH * RATE)]
    assert np.all(np.abs(said[-1]) < 2.0)


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
