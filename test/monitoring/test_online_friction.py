# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Friction of every joint is followed while it slides, beside a payload, on filtered signals."""

from dataclasses import replace

from monitoring.arm_at_work import ArmAtWork
import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.model.identified_model import SignalSource
from robot_identification.monitoring import (
    LiveResiduals, OnlineEstimator, PAYLOAD, RecursivePayload, RecursivePayloadOptions,
)
from robot_identification.monitoring.online_friction import (
    RecursiveFriction, RecursiveFrictionOptions, SLOWEST, viscous_slopes,
)
from studies.payload_cases import BODY, NOISE

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')


@pytest.fixture(scope='module')
def arm(ur5):
    """Return a UR5 with a model of its own."""
    return ArmAtWork(ur5)


def sliding(seed, seconds, start=0.0):
    """Return times and velocities (N, 6) of joints that go to and fro."""
    times = start + np.arange(round(25.0 * seconds)) / 25.0
    phases = np.arange(6) + seed
    return times, 1.2 * np.sin(1.7 * times[:, None] + phases) + 0.3 * np.sin(4.1 * times[:, None])


def feed(estimator, times, dq, residual):
    """Give all samples to a friction estimator."""
    for row in zip(times, dq, residual, strict=True):
        estimator.step(*row)


def test_steps_of_friction_are_followed(arm, rng):
    """After three memories, within the errors and to a small part of the step."""
    estimator = RecursiveFriction(arm.model, RecursiveFrictionOptions(memory=10.0))
    coulomb, viscous = 2.0 * NOISE, -1.5 * NOISE
    start = 0.0
    for factor in (1.0, -1.0):
        times, dq = sliding(1, 40.0, start)
        residual = factor * (coulomb * np.sign(dq) + viscous * dq)
        feed(estimator, times, dq, residual + NOISE * rng.normal(size=dq.shape))
        found = estimator.estimate
        assert np.all(found.observed)
        # What is left of the step before is 3 %.
        for values, errors, truth in (
            (found.coulomb, found.errors[:, 1], coulomb),
            (found.viscous, found.errors[:, 2], viscous),
        ):
            assert np.all(np.abs(values - factor * truth) < 3.5 * errors + 0.08 * np.abs(truth))
            assert np.all(errors < 0.3 * np.abs(truth))
        start += 40.0


def test_without_forgetting_it_is_the_batch_estimate(arm, rng):
    """Row by row and all at once, the weak prior as rows besides."""
    options = RecursiveFrictionOptions(memory=float('inf'))
    estimator = RecursiveFriction(arm.model, options)
    times, dq = sliding(2, 12.0)
    residual = NOISE * rng.normal(size=dq.shape)
    feed(estimator, times, dq, residual)
    for joint in range(6):
        slides = np.abs(dq[:, joint]) > SLOWEST
        v = dq[slides, joint]
        matrix = np.vstack([np.column_stack([np.ones_like(v), np.sign(v), v]), np.eye(3) / 50.0])
        side = np.concatenate([residual[slides, joint] / NOISE[joint], np.zeros(3)])
        batch = NOISE[joint] * np.linalg.lstsq(matrix, side, rcond=None)[0]
        np.testing.assert_allclose(estimator.estimate.changes[joint], batch, rtol=1e-8, atol=1e-10)


def test_joints_at_rest_keep_what_they_have(arm, rng):
    """Also errors; and a joint that never slid is not excited."""
    estimator = RecursiveFriction(arm.model)
    times, dq = sliding(3, 10.0)
    dq[:, 4] = 0.0
    feed(estimator, times, dq, NOISE * rng.normal(size=dq.shape))
    before = estimator.estimate
    assert before.observed.tolist() == [True, True, True, True, False, True]
    still = np.linspace(10.0, 3600.0, 300)
    feed(estimator, still, np.full((300, 6), 0.05), np.tile(5.0 * NOISE, (300, 1)))
    after = estimator.estimate
    np.testing.assert_array_equal(after.changes, before.changes)
    np.testing.assert_array_equal(after.errors, before.errors)


def test_one_direction_alone_does_not_tell_offset_from_friction(arm, rng):
    """A joint that turns one way only is not excited."""
    estimator = RecursiveFriction(arm.model)
    times, dq = sliding(4, 20.0)
    feed(estimator, times, np.abs(dq), NOISE * rng.normal(size=dq.shape))
    assert not np.any(estimator.estimate.observed)


def test_slopes_are_those_of_the_model(arm):
    """Coulomb and viscous friction: the slope is the viscous coefficient that was identified."""
    names = arm.model.reduction.names
    viscous = [arm.model.theta_base[names.index(f'fv{joint + 1}')] for joint in range(6)]
    np.testing.assert_allclose(viscous_slopes(arm.model), viscous, rtol=1e-6)


def test_wrong_options_are_refused(arm):
    with pytest.raises(UsageError, match='less than 20 samples'):
        RecursiveFrictionOptions(memory=0.1)
    with pytest.raises(UsageError, match='rate'):
        RecursiveFrictionOptions(rate=-1.0)


@pytest.mark.parametrize(('delay', 'lost'), [(0.0, 0.05), (0.02, 0.0)])
def test_payload_and_friction_of_joint_states(arm, rng, delay, lost):
    """From noisy joint states at 125 Hz, through the filter, both at once."""
    # Effort may lag behind, and some joint states may be lost. The arm has 15 % less viscous
    # friction than its model and takes the body on the way.
    model = replace(arm.model, source=SignalSource(delay=delay))
    truth = replace(arm.truth, viscous=0.85 * arm.truth.viscous)
    residuals = LiveResiduals(model, 125.0)
    assert residuals.sample_rate == pytest.approx(25.0)
    options = RecursivePayloadOptions(rate=residuals.sample_rate)
    estimator = OnlineEstimator(RecursivePayload(model, options=options), RecursiveFriction(model))
    late = round(delay * 125.0)
    start, changes = 100.0, []
    for body, seconds in ((False, 25.0), (True, 20.0)):
        times, motion, tau = arm.work(
            11, seconds, start=start, rate=125.0, body=body, truth=truth
        )
        tau = np.vstack([tau[:1]] * late + [tau[: len(tau) - late]])
        tau = tau + NOISE * rng.normal(size=tau.shape)
        q = motion.q + 1e-5 * rng.normal(size=tau.shape)
        dq = motion.dq + 2e-3 * rng.normal(size=tau.shape)
        for k in np.flatnonzero(rng.random(len(times)) >= lost):
            sample = residuals.step(times[k], q[k], dq[k], tau[k])
            change = None if sample is None else estimator.step(sample)
            if change is not None:
                changes.append(change.stamp - start)
        start += seconds
    assert len(changes) == 1
    assert 0.0 < changes[0] < 2.0
    payload = estimator.payload.estimate
    assert payload.verdict == PAYLOAD
    assert payload.payload.mass == pytest.approx(BODY.mass, rel=0.02)
    friction = estimator.friction.estimate
    assert np.all(friction.observed)
    off = friction.viscous + 0.15 * arm.truth.viscous
    # Coulomb friction is a step, which a low-pass makes round: a tenth of the change besides.
    assert np.all(np.abs(off) < 4.0 * friction.errors[:, 2] + 0.015 * arm.truth.viscous)


def test_the_filter_begins_anew_after_a_pause(arm):
    """And after a clock that goes back; what is not finite or repeated is left out."""
    residuals = LiveResiduals(arm.model, 125.0)
    state = np.zeros((3, 6))
    came = [residuals.step(k / 125.0, *state) for k in range(125)]
    assert residuals.restarts == 0
    # 25 a second, but for the 0.3 s in which the filter settles.
    assert sum(sample is not None for sample in came) in (17, 18)
    assert residuals.step(124 / 125.0, *state) is None
    assert residuals.step(1.0, np.full(6, np.nan), *state[1:]) is None
    assert residuals.restarts == 0
    residuals.step(10.0, *state)
    residuals.step(3.0, *state)
    assert residuals.restarts == 2
    with pytest.raises(UsageError, match='rate of the joint states'):
        LiveResiduals(arm.model, 0.0)
