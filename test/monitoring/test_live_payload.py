# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A payload is found while the arm works, changes of it are noticed, and nothing else is."""

from dataclasses import replace
import math

from hypothesis import given, strategies as st
from long_tests import some_by_day
from monitoring.arm_at_work import ArmAtWork, feed, resting
import numpy as np
import pytest
from robot_identification.model.identified_model import SignalSource
from robot_identification.model.payload import to_frame
from robot_identification.monitoring.live_payload import (
    HEAVIEST, LivePayload, NONE, NOT_YET, PAYLOAD, RecursivePayload, SLOWEST, USUAL_CHANGE,
)
from robot_identification.monitoring.recursive import RecursiveState
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


SEEDS = st.integers(0, 2**32 - 1)
K = 5


def nearly_empty(forgetting=1.0):
    """Return the state of unknowns of which next to nothing is known."""
    return RecursiveState.expecting_zero(np.full(K, 1e8), forgetting)


@given(seed=SEEDS)
def test_the_state_is_least_squares_of_all_rows(seed):
    """Estimate and covariance against NumPy, rows in pieces of any height."""
    rng = np.random.default_rng(seed)
    W, theta = rng.normal(size=(60, K)) * np.geomspace(1e-2, 1e2, K), rng.normal(size=K)
    tau = W @ theta + 0.1 * rng.normal(size=60)
    state = nearly_empty()
    for piece in np.split(np.arange(60), np.sort(rng.integers(1, 60, 6))):
        state = state.update(W[piece], tau[piece])
    expected = np.linalg.lstsq(W, tau, rcond=None)[0]
    np.testing.assert_allclose(state.estimate, expected, rtol=1e-8, atol=1e-12)
    root = np.linalg.pinv(W)
    np.testing.assert_allclose(state.covariance, root @ root.T, rtol=1e-7, atol=1e-14)


def stream(rng, samples, theta, excited=slice(None), noise=0.1):
    """Return rows that excite some unknowns and their torques, three for each sample."""
    for _ in range(samples):
        rows = np.zeros((3, K))
        rows[:, excited] = rng.normal(size=rows[:, excited].shape)
        yield rows, rows @ theta + noise * rng.normal(size=3)


def test_under_excitation_it_forgets_exponentially():
    """Against NumPy with weights that fall by 2 % a sample."""
    # Where all directions are excited all the time the guard has nothing to do; 1e-6 is what the
    # first samples, which were not forgotten before they determined anything, leave.
    rng = np.random.default_rng(7)
    theta = rng.normal(size=K)
    parts = list(stream(rng, 1200, theta))
    W, tau = (np.concatenate(both) for both in zip(*parts, strict=True))
    ages = np.repeat(np.arange(1200)[::-1], 3)
    roots = np.sqrt(0.98**ages)
    expected = np.linalg.lstsq(roots[:, None] * W, roots * tau, rcond=None)[0]
    information = (roots[:, None] * W).T @ (roots[:, None] * W)
    state = nearly_empty(0.98)
    for rows, torque in parts:
        state = state.update(rows, torque)
    np.testing.assert_allclose(state.estimate, expected, atol=1e-6)
    np.testing.assert_allclose(state.covariance @ information, np.eye(K), atol=1e-5)


def test_what_is_not_excited_is_not_forgotten():
    """Fifty memories long only two of five unknowns move, then nothing does."""
    # The others keep their estimates, and their variances less than double, once: ln 2 / 3 of a
    # memory passes until the recent rows have an eighth of the information, after that a third of
    # a memory is all that is forgotten, which is a factor of 1.76. With pure exponential
    # forgetting it would have been exp(50).
    rng = np.random.default_rng(1)
    theta = np.arange(1.0, K + 1.0)
    state = nearly_empty(0.95)
    for row, torque in stream(rng, 300, theta):
        state = state.update(row, torque)
    before = state
    for row, torque in stream(rng, 1000, theta, slice(0, 2)):
        state = state.update(row, torque)
    growth = np.diag(state.covariance) / np.diag(before.covariance)
    assert growth[2:].max() < 2.0
    np.testing.assert_allclose(state.estimate[2:], before.estimate[2:], atol=0.02)
    np.testing.assert_allclose(state.estimate[:2], theta[:2], atol=0.1)
    alone = state
    for _ in range(1000):
        state = state.update(np.zeros((3, K)), 0.1 * rng.normal(size=3))
    np.testing.assert_allclose(state.estimate, alone.estimate, rtol=1e-8)
    assert np.max(np.diag(state.covariance) / np.diag(alone.covariance)) < 2.0
    # And it wakes up: a parameter that nothing showed for so long is found again.
    for row, torque in stream(rng, 200, theta + 1.0):
        state = state.update(row, torque)
    np.testing.assert_allclose(state.estimate, theta + 1.0, atol=0.1)
