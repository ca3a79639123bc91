# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What is fed forward follows the wanted motion, within bounds, and never a noise or a NaN."""

from dataclasses import replace

from hypothesis import given, strategies as st
from known_models import known_model, limited
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.model.friction import FRICTION_LAWS
from robot_identification.model.friction.law import sliding_torque
from robot_identification.model.regressor import Motion, prior_inertial_parameters
from robot_identification.prediction.feed_forward import FeedForward, FeedForwardOptions
from robot_identification.prediction.friction_table import tabulate_friction
from robot_identification.prediction.sample_torque import RigidTorque
from study_pages import medians, page_table

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


SPEEDS = np.array([0.02, 0.1, 0.5, 1.0])


def at(table, speed, load=0.0):
    n = len(table.speeds)
    resistance, bias = table.at(np.full(n, speed), np.full(n, load))
    return resistance[0], bias[0]


@pytest.mark.parametrize('load', [0.0, 30.0])
@pytest.mark.parametrize('name', FRICTION_LAWS)
def test_every_law_in_steady_sliding(robots, name, load):
    """Against the law itself after a long way."""
    # Between its speeds the table is straight; their ratio is 1.03, so that the curvature of any
    # law is off by less than 1e-3 of its torque.
    law = FRICTION_LAWS[name]()
    signed = {symbol: -0.01 for symbol in law.signed}
    coefficients = {symbol: signed.get(symbol, 0.3) for symbol in law.symbols}
    model = known_model(robots['mixed'], name, **coefficients)
    table = tabulate_friction(model)
    expected = sliding_torque(law, np.array([*coefficients.values()]), SPEEDS, load)
    for speed, torque in zip(SPEEDS, np.maximum(expected, 0.0), strict=True):
        assert at(table, speed, load)[0] == pytest.approx(torque, rel=1e-3, abs=1e-9)


def test_an_offset_is_a_bias(robots):
    """It is no friction: both directions have it, and rest as well."""
    table = tabulate_friction(known_model(robots['mixed'], 'coulomb,offset', fc=2.0, f0=0.7))
    for speed in (0.0, 0.5):
        assert at(table, speed)[1] == pytest.approx(0.7, abs=1e-12)
    assert at(table, 0.5)[0] == pytest.approx(2.0, abs=1e-9)


def test_negative_friction_is_none(robots):
    """A fit may find it; a torque that pushes a joint along is not fed forward."""
    table = tabulate_friction(known_model(robots['mixed'], 'viscous', fv=-1.0))
    assert at(table, 1.0)[0] == 0.0


def test_beyond_the_velocity_limit_it_does_not_grow(robots):
    """A viscous law at a velocity that no joint reaches is that at the limit."""
    table = tabulate_friction(known_model(robots['ur5'], 'viscous', fv=2.0))
    limit = robots['ur5'].limits.velocity[0]
    assert at(table, 1e6)[0] == pytest.approx(2.0 * limit)


@pytest.mark.parametrize(('friction', 'values', 'rest'), [
    # fc tanh(dq / .01) + fv dq is monotone: at .05 rad/s it is 3 * 0.9999 + 0.05.
    ('coulomb,viscous', {'fc': 3.0, 'fv': 1.0}, 3.05),
    # (3 + 1 exp(-(dq / .1)^2)) tanh(dq / .01) has its largest value, 3.89, at .03 rad/s.
    ('stribeck', {'fk': 3.0, 'fs': 4.0}, 3.89),
])
def test_break_away_is_the_largest_slow_friction(robots, friction, values, rest):
    """It does not go to zero with the velocity, and is the law again where joints slide."""
    table = tabulate_friction(known_model(robots['mixed'], friction, **values))
    started = table.with_break_away(0.05)
    assert at(table, 0.0)[0] == pytest.approx(0.0, abs=1e-12)
    assert at(started, 0.0)[0] == pytest.approx(rest, rel=2e-3)
    # The table has no speed at 0.05 itself; the last one below may be 3 % less.
    speeds = np.linspace(0.0, 0.048, 50)
    slow = np.array([at(started, speed)[0] for speed in speeds])
    assert np.all(np.diff(slow) <= 1e-12), 'it falls from rest on'
    for speed in (0.06, 0.3, 1.0):
        assert at(started, speed) == pytest.approx(at(table, speed))


def test_a_law_of_temperature_takes_the_one_that_is_known(robots):
    """That which is given, else that of the training data, else the law's reference."""
    model = known_model(robots['mixed'], 'viscous,temperature_viscous', fv=2.0, fvT=-0.05)
    assert at(tabulate_friction(model), 1.0)[0] == pytest.approx(2.0, rel=1e-3)
    warm = replace(model, temperature=np.full(3, 35.0))
    assert at(tabulate_friction(warm), 1.0)[0] == pytest.approx(1.5, rel=1e-3)
    assert at(tabulate_friction(warm, np.full(3, 45.0)), 1.0)[0] == pytest.approx(1.0, rel=1e-3)


@pytest.fixture(scope='module')
def measured():
    return medians('tracking', repeats=5)


def test_the_page_has_the_figures_of_the_study(measured):
    """Digit by digit, of the controllers and joints that the page shows."""
    header, *rows = page_table('feed_forward', 'controller')
    joints = [one for one in header[1:] if one.startswith('joint')]
    assert len(rows) >= 5 and len(joints) >= 3
    for name, *cells in rows:
        expected = [
            f'{measured[f"{name}: {one}, rms"]:.2f} / {measured[f"{name}: {one}, worst"]:.1f}'
            for one in joints
        ]
        slow = measured[f'{name}: slow moves, rms of all joints']
        assert cells == [*expected, f'{slow:.2f}'], name
