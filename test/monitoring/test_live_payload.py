# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A payload is found while the arm works, changes of it are noticed, and nothing else is."""

from dataclasses import replace
import math

from long_tests import some_by_day
from monitoring.arm_at_work import ArmAtWork, feed, resting
import numpy as np
import pytest
from robot_identification.model.identified_model import SignalSource
from robot_identification.model.payload import to_frame
from robot_identification.monitoring.live_payload import (
    HEAVIEST, LivePayload, NONE, NOT_YET, PAYLOAD, RecursivePayload, SLOWEST, USUAL_CHANGE,
)
from studies.payload_cases import BODY, NOISE

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')


@pytest.fixture(scope='module')
def arm(ur5):
    """Return a UR5 with a model of its own."""
    return ArmAtWork(ur5)


@pytest.fixture(scope='module')
def loaded(arm):
    """Return 40 s with the body: times, motion, torques."""
    return arm.work(5, 40.0, body=True)


def estimated(arm, run, rng, memory=60.0, **kinds):
    times, motion, tau = run
    estimator = RecursivePayload(arm.model, memory=memory)
    feed(estimator, times, motion, arm.residual(motion, tau, rng, **kinds))
    return estimator


def first(run, count):
    times, motion, tau = run
    return times[:count], motion.part(slice(0, count)), tau[:count]


def test_finds_the_body_that_the_arm_carries(arm, loaded, rng):
    """Mass within 2 %, all else within its errors; a rigid body can have the numbers."""
    estimate = estimated(arm, loaded, rng).estimate
    assert estimate.verdict == PAYLOAD
    assert estimate.payload.mass == pytest.approx(BODY.mass, rel=0.02)
    assert estimate.payload.is_possible
    assert estimate.frame == BODY.frame
    # Three standard errors: none of ten numbers is likely to be further off.
    assert abs(estimate.parameters[0] - BODY.mass) < 3.0 * estimate.errors.mass
    center = estimate.parameters[1:4] / estimate.parameters[0]
    assert np.all(np.abs(center - BODY.center_of_mass) < 3.0 * estimate.errors.center_of_mass)
    off = np.abs(estimate.payload.inertia - BODY.inertia)
    assert np.all(off < 3.0 * estimate.errors.inertia)
    assert np.all(estimate.observed)
    # The motion is worth something: errors are a small part of the numbers.
    assert estimate.errors.mass < 0.02 * BODY.mass
    assert np.all(estimate.errors.center_of_mass < 0.005)


@pytest.mark.parametrize('correlation', some_by_day([0.9, 0.0], 1))
def test_errors_are_honest(arm, loaded, correlation):
    """Also where residuals hold on for half a second: two standard errors hold the truth."""
    # 95 % of two parameters in 12 runs are expected; fewer than 80 % of 24 would be by chance in
    # less than 1 % of cases. Errors of white noise would be four times too small.
    run = first(loaded, 250)
    off = []
    for seed in range(12):
        estimate = estimated(
            arm, run, np.random.default_rng(seed), correlation=correlation
        ).estimate
        mass, moment = estimate.parameters[0], estimate.parameters[3]
        truth = BODY.parameters
        off += [
            (mass - BODY.mass) / estimate.errors.mass,
            (moment - truth[3]) / math.sqrt(estimate.covariance[3, 3]),
        ]
    assert np.mean(np.abs(off) < 2.0) >= 0.8
    assert np.std(off) > 0.3, 'errors are far too large'


def test_a_payload_that_is_taken_and_dropped_is_reported(arm, rng):
    """Within two seconds of motion, with its stamp; then the new one is found by itself."""
    estimator = RecursivePayload(arm.model)
    parts = [(False, 15.0), (True, 20.0), (False, 15.0)]
    start, switches = 0.0, []
    for body, seconds in parts:
        times, motion, tau = arm.work(8, seconds, start=start, body=body)
        feed(estimator, times, motion, arm.residual(motion, tau, rng))
        switches.append(start)
        start += seconds
        verdict = estimator.estimate.verdict
        assert verdict == (PAYLOAD if body else NONE)
        if body:
            assert estimator.estimate.payload.mass == pytest.approx(BODY.mass, rel=0.02)
    assert len(estimator.changes) == 2
    for change, switch in zip(estimator.changes, switches[1:], strict=True):
        assert change.earliest <= switch <= change.stamp < switch + 2.0
        assert change.statistic > change.limit
    assert estimator.changes[1].before == pytest.approx(BODY.mass, rel=0.05)


def test_an_hour_at_rest_changes_nothing(arm, loaded, rng):
    """Neither estimate nor errors, to the last bit: no wind-up; and the next motion goes on."""
    times, motion, tau = loaded
    estimator = estimated(arm, loaded, rng)
    before = estimator.estimate
    still = resting(motion, 500)
    # Static friction holds the arm with a torque that no model knows.
    stuck = np.tile(3.0 * NOISE, (500, 1))
    feed(estimator, times[-1] + np.linspace(0.04, 3600.0, 500), still, stuck)
    after = estimator.estimate
    np.testing.assert_array_equal(after.parameters, before.parameters)
    np.testing.assert_array_equal(after.covariance, before.covariance)
    feed(estimator, 3700.0 + times, motion, arm.residual(motion, tau, rng))
    assert estimator.changes == ()
    assert estimator.estimate.payload.mass == pytest.approx(BODY.mass, rel=0.02)


def test_without_forgetting_it_is_the_batch_estimate(arm, loaded, rng):
    """Row by row and all at once: the same numbers, the weak prior as rows besides."""
    times, motion, tau = first(loaded, 200)
    residual = arm.residual(motion, tau, rng)
    estimator = RecursivePayload(arm.model, memory=math.inf)
    feed(estimator, times, motion, residual)
    rows = np.zeros((200, 6, 28))
    for row, q, dq, ddq in zip(rows, motion.q, motion.dq, motion.ddq, strict=True):
        row[:, :10] = estimator.regressor(q, dq, ddq)
        for joint in range(6):
            row[joint, 10 + 3 * joint: 13 + 3 * joint] = 1.0, np.sign(dq[joint]), dq[joint]
    taken = np.abs(motion.dq) > SLOWEST
    sizes = HEAVIEST * 0.3 ** np.array([0, 1, 1, 1, *[2] * 6])
    prior = np.diag(1.0 / np.append(sizes, USUAL_CHANGE * np.repeat(NOISE, 3)))
    matrix = np.vstack([(rows / NOISE[:, None])[taken], prior])
    side = np.append((residual / NOISE)[taken], np.zeros(28))
    batch = np.linalg.lstsq(matrix, side, rcond=None)[0][:10]
    found = np.linalg.solve(to_frame(arm.robot, BODY.frame), estimator.estimate.parameters)
    # Spec 11.1: 1e-8, next to the size of the numbers.
    np.testing.assert_allclose(found, batch, rtol=1e-8, atol=1e-9)


def test_friction_that_warms_up_is_not_taken_for_a_payload(arm, rng):
    """A fifth less viscous friction than the model has: no payload all the same, and no change."""
    truth = replace(arm.truth, viscous=0.8 * arm.truth.viscous)
    run = arm.work(5, 40.0, truth=truth)
    estimator = estimated(arm, run, rng)
    assert estimator.changes == ()
    assert abs(estimator.estimate.parameters[0]) < 0.05
    # Viscous friction is what differs, in every joint; their errors are a tenth of that.
    found = estimator.estimate.changes[:, 2]
    np.testing.assert_allclose(found, -0.2 * arm.truth.viscous, rtol=0.3)


def joint_states(arm, rng, model, *, delay=0.0, truth=None, bodies=((False, 25.0), (True, 20.0))):
    """Yield stamps and noisy positions, velocities and torques at 125 Hz; the body comes."""
    late, start = round(delay * 125.0), 100.0
    for body, seconds in bodies:
        times, motion, tau = arm.work(
            11, seconds, start=start, rate=125.0, body=body, truth=truth
        )
        tau = np.vstack([tau[:1]] * late + [tau[: len(tau) - late]])
        yield from zip(
            times, motion.q + 1e-5 * rng.normal(size=tau.shape),
            motion.dq + 2e-3 * rng.normal(size=tau.shape),
            tau + NOISE * rng.normal(size=tau.shape), strict=True,
        )
        start += seconds


@pytest.mark.parametrize(('delay', 'lost'), [(0.0, 0.05), (0.02, 0.0)])
def test_the_payload_of_joint_states(arm, rng, delay, lost):
    """Effort may lag behind, some may be lost, and friction may be less than the model's."""
    model = replace(arm.model, source=SignalSource(delay=delay))
    truth = replace(arm.truth, viscous=0.85 * arm.truth.viscous)
    estimator = LivePayload(model, rate=125.0)
    for state in joint_states(arm, rng, model, delay=delay, truth=truth):
        if rng.random() >= lost:
            estimator.step(*state)
    (change,) = estimator.changes
    assert 125.0 < change.stamp < 127.0
    assert estimator.estimate.verdict == PAYLOAD
    assert estimator.estimate.payload.mass == pytest.approx(BODY.mass, rel=0.02)


def test_nonsense_is_left_out(arm, rng):
    """NaN, 1e160, repeated stamps, a clock that jumps: the estimate is that of the rest."""
    estimator, usual = (LivePayload(arm.model, rate=125.0) for _ in range(2))
    assert estimator.estimate.verdict == NOT_YET
    states = joint_states(arm, rng, arm.model, bodies=((True, 25.0),))
    for k, (stamp, *values) in enumerate(states):
        later = stamp if k < 2000 else stamp - 100.0
        if k % 250 == 0:
            place, value = k // 250 % 3, (np.nan, 1e20, -1e160)[k // 250 % 3]
            spoiled = [column.copy() for column in values]
            spoiled[place][k // 250 % 6] = value
            estimator.step(later, *spoiled)
        estimator.step(later, *values)
        estimator.step(later, *values)
        usual.step(later, *values)
    assert estimator.changes == ()
    assert estimator.estimate.payload.mass == pytest.approx(BODY.mass, rel=0.02)
    np.testing.assert_array_equal(estimator.estimate.parameters, usual.estimate.parameters)
