# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What is fed forward follows the wanted motion, within bounds, and never a noise or a NaN."""

from hypothesis import given, strategies as st
from known_models import known_model, limited
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.model.regressor import Motion, prior_inertial_parameters
from robot_identification.prediction.feed_forward import FeedForward, FeedForwardOptions
from robot_identification.prediction.sample_torque import RigidTorque

PERIOD = 0.002
COULOMB, VISCOUS = np.array([6.0, 5.0, 4.0]), np.array([2.0, 1.5, 1.0])
LIMIT = 90.0
Q = np.array([0.3, 0.1, -0.4])
REST = np.zeros(3)


@pytest.fixture(scope='module')
def model(robots):
    """Return a model of three joints with friction, and effort limits that gravity is below."""
    robot = limited(robots['mixed'], LIMIT)
    return known_model(
        robot, 'coulomb,viscous', prior_inertial_parameters(robot), fc=COULOMB, fv=VISCOUS, Ia=0.5
    )


def friction_of(velocity):
    """Return the friction of that model's laws [N m]."""
    return COULOMB * np.tanh(velocity / 0.01) + VISCOUS * velocity


def run(feed_forward, wanted, measured=None):
    """Return the torques of a run with these wanted velocities (N, n), gravity taken off."""
    measured = np.zeros_like(wanted) if measured is None else measured
    return np.array([
        feed_forward.step(k * PERIOD, Q, dq, dq_wanted) - feed_forward.gravity
        for k, (dq, dq_wanted) in enumerate(zip(measured, wanted, strict=True))
    ])


def test_at_rest_it_is_gravity(model, robots):
    """Of the identified model, at the measured position; CAD knows no friction in motion."""
    torque = FeedForward(model).step(0.0, Q, REST, REST)
    np.testing.assert_allclose(torque, RigidTorque(model).gravity(Q), atol=1e-12)
    without = FeedForward(model, FeedForwardOptions(gravity=False))
    np.testing.assert_array_equal(without.step(0.0, Q, REST, REST), REST)
    described, wanted = FeedForward(robots['mixed']), np.full(3, 0.5)
    for k in range(30):
        torque = described.step(k * PERIOD, Q, wanted, wanted)
    np.testing.assert_allclose(torque, RigidTorque(robots['mixed']).gravity(Q), atol=1e-12)


BREAK_AWAY = np.array([9.0, 9.0, 3.0])


@pytest.mark.parametrize(('friction', 'break_away', 'velocity', 'expected', 'rtol'), [
    # 0.5 rad/s is sliding, whatever started it. The table is off by 1e-3 at most.
    *(('kinetic', None, sign * 0.5, friction_of(sign * 0.5), 1e-3) for sign in (-1.0, 1.0)),
    *(('break_away', None, sign * 0.5, friction_of(sign * 0.5), 1e-3) for sign in (-1.0, 1.0)),
    ('break_away', BREAK_AWAY, 0.5, friction_of(0.5), 1e-3),
    # At 5 mrad/s the law has 46 % of its friction; what starts the joint is the whole.
    ('kinetic', None, 0.005, friction_of(0.005), 5e-3),
    ('break_away', None, 0.005, COULOMB + 0.05 * VISCOUS, 5e-3),
    ('break_away', BREAK_AWAY, 0.0025, BREAK_AWAY, 0.02),
])
def test_it_is_the_friction_of_the_wanted_velocity(
    model, friction, break_away, velocity, expected, rtol
):
    feed_forward = FeedForward(model, FeedForwardOptions(friction=friction), break_away=break_away)
    torque = run(feed_forward, np.full((50, 3), velocity))
    np.testing.assert_allclose(torque[-1], expected, rtol=rtol)


@given(st.lists(
    st.floats(-0.00099, 0.00099) | st.sampled_from([1e-16, -1e-16, 5e-324]), min_size=20,
    max_size=20,
))
def test_noise_about_zero_is_no_motion(model, noise):
    """Whatever its signs: exactly what is fed forward at rest, though sign(1e-16) is 1."""
    torque = run(FeedForward(model), np.repeat(np.array(noise)[:, None], 3, axis=1))
    np.testing.assert_array_equal(torque, np.zeros_like(torque))


def test_measured_velocity_has_no_say(model, rng):
    """Noise of a measured velocity, with any sign, changes not a bit."""
    wanted = 0.02 * np.sin(np.arange(400.0) * PERIOD * 8.0)[:, None] * np.ones(3)
    noisy = run(FeedForward(model), wanted, 0.1 * rng.normal(size=wanted.shape))
    np.testing.assert_array_equal(noisy, run(FeedForward(model), wanted))


def test_friction_comes_and_goes_without_a_step(model):
    """From one direction to the other in twice the transition time, never faster."""
    wanted = np.repeat([[0.004], [-0.004]], 60, axis=0) * np.ones(3)
    torque = run(FeedForward(model), wanted)
    steps = np.abs(np.diff(torque, axis=0))
    assert np.all(steps <= 1.01 * PERIOD / 0.02 * (COULOMB + 0.05 * VISCOUS))
    assert np.all(np.diff(torque[60:], axis=0) <= 1e-9), 'and it never turns back'
    np.testing.assert_allclose(torque[80], -torque[59], rtol=1e-9)


def test_a_velocity_that_hovers_about_the_threshold_does_not_chatter(model, rng):
    """Wanted 2 mrad/s with 0.4 mrad/s of noise: hysteresis holds the direction."""
    wanted = 0.002 + 0.0004 * rng.uniform(-1.0, 1.0, (500, 3))
    torque = run(FeedForward(model), wanted)[20:]
    assert np.ptp(torque, axis=0).max() < 1e-9


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('which', ['stamp', 'q', 'dq', 'dq_wanted', 'tau'])
def test_no_number_in_no_torque_out(model, which, bad):
    """Zeros and a flag, not the torque before; afterwards it begins anew."""
    feed_forward = FeedForward(model, FeedForwardOptions(observer_bandwidth=2.0))
    moving = np.full(3, 0.3)
    sample = {'stamp': 0.0, 'q': Q, 'dq': moving, 'dq_wanted': moving, 'tau': np.full(3, 20.0)}
    for k in range(20):
        before = feed_forward.step(**{**sample, 'stamp': k * PERIOD})
    assert feed_forward.valid
    assert np.abs(before).min() > 1.0
    broken = bad if which == 'stamp' else np.array([0.1, bad, 0.1])
    torque = feed_forward.step(**{**sample, 'stamp': 20 * PERIOD, which: broken})
    np.testing.assert_array_equal(torque, REST)
    assert not feed_forward.valid
    fresh = FeedForward(model, FeedForwardOptions(observer_bandwidth=2.0))
    for k in range(21, 40):
        now = {**sample, 'stamp': k * PERIOD}
        np.testing.assert_array_equal(feed_forward.step(**now), fresh.step(**now))
        assert feed_forward.valid


anything = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3)


@given(st.lists(st.tuples(anything, anything, anything, anything), min_size=3, max_size=3))
def test_every_torque_is_finite_and_within_the_limit(model, samples):
    """Whatever finite numbers come; a share of the limit is one, too."""
    options = FeedForwardOptions(observer_bandwidth=5.0, effort_share=0.5)
    feed_forward = FeedForward(model, options)
    for k, sample in enumerate(samples):
        torque = feed_forward.step(k * PERIOD, *(np.array(part) for part in sample))
        assert np.all(np.abs(torque) <= 0.5 * LIMIT)


def observe(model, feed_forward, extra, count):
    """Return the observer's torque after every sample of a known motion, shape (count, 3)."""
    rigid, fed, found = RigidTorque(model), REST, []
    t = np.arange(float(count))[:, None] * PERIOD + np.arange(3)
    q, dq = 0.3 * np.sin(t), 0.3 * np.cos(t)
    for k in range(count):
        tau = extra + fed
        if k:
            tau = tau + rigid(
                0.5 * (q[k] + q[k - 1]), 0.5 * (dq[k] + dq[k - 1]), (dq[k] - dq[k - 1]) / PERIOD
            )
        feed_forward.step(k * PERIOD, q[k], dq[k], np.full(3, 0.3), tau)
        fed = feed_forward.friction
        found.append(feed_forward.disturbance)
    return np.array(found)


@pytest.mark.parametrize('bandwidth', [0.5, 4.0])
def test_the_observer_is_a_low_pass_of_what_the_model_lacks(model, bandwidth):
    """After a time constant it has 63 % of a constant torque."""
    # Exactly so at its samples, because the torque is constant; 1e-6 is for rounding.
    extra = np.array([4.0, -3.0, 2.0])
    feed_forward = FeedForward(model, FeedForwardOptions(observer_bandwidth=bandwidth))
    constant = 1.0 / (2.0 * np.pi * bandwidth)
    found = observe(model, feed_forward, extra, 2000)
    after = round(constant / PERIOD)
    np.testing.assert_allclose(
        found[after] / extra, 1.0 - np.exp(-after * PERIOD / constant), rtol=1e-6
    )
    np.testing.assert_allclose(found[-1], extra, rtol=1e-2 if bandwidth < 1.0 else 1e-9)


def test_the_observer_is_bounded(model):
    """By its share of the effort limit, whatever acts."""
    options = FeedForwardOptions(observer_bandwidth=10.0, observer_share=0.1)
    found = observe(model, FeedForward(model, options), np.full(3, 80.0), 200)
    assert np.abs(found).max() == pytest.approx(0.1 * LIMIT)


def draw_state(robot, rng):
    return rng.uniform(-1.0, 1.0, (3, robot.n))


@pytest.mark.parametrize('name', ['ur5', 'youbot', 'mixed'])
def test_a_description_is_taken_as_it_is(robots, name, rng):
    """RNEA on the bodies of the URDF and the rotors of the YAML, to rounding."""
    robot = robots[name]
    known = robot.drives.reflected_inertia
    rotors = np.where(np.isfinite(known), known, 0.0)
    torque = RigidTorque(robot)
    for _ in range(5):
        q, dq, ddq = draw_state(robot, rng)
        model, data = robot.pinocchio, robot.pinocchio.createData()
        expected = pin.rnea(model, data, q, dq, ddq) + rotors * ddq
        np.testing.assert_allclose(torque(q, dq, ddq), expected, atol=1e-9)
        np.testing.assert_allclose(
            torque.gravity(q), pin.computeGeneralizedGravity(model, data, q), atol=1e-9
        )
        mass = pin.crba(model, data, q)
        mass = np.triu(mass) + np.triu(mass, 1).T + np.diag(rotors)
        np.testing.assert_allclose(torque.inertia(q), mass, atol=1e-9)


@pytest.mark.parametrize('name', ['ur5', 'mixed'])
def test_an_identified_model_has_its_own_torque_without_friction(robots, name, rng):
    """That of the model file, whose base parameters are not those of possible bodies."""
    robot = robots[name]
    bodies = rng.uniform(0.8, 1.2) * prior_inertial_parameters(robot)
    model = known_model(robot, 'coulomb,viscous', bodies, fc=5.0, fv=2.0, Ia=0.4)
    frictionless = known_model(robot, 'coulomb,viscous', bodies, Ia=0.4)
    torque = RigidTorque(model)
    for _ in range(5):
        q, dq, ddq = draw_state(robot, rng)
        expected = frictionless.torque(Motion(q[None], dq[None], ddq[None]))[0]
        np.testing.assert_allclose(torque(q, dq, ddq), expected, atol=1e-9)
