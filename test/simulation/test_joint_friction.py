# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Joints stick up to the set torque, do not creep, slide as stated, and never give energy."""


from hypothesis import example, given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.simulation.joint_effects import JointFriction

STEP = 0.0005
NOTHING = np.zeros(1)


def make_friction(**changes):
    """Return the friction of one joint of the size of a wrist."""
    constants = {
        'coulomb': np.array([2.0]), 'viscous': np.array([1.5]), 'static': np.array([2.6]),
        'load_share': np.array([0.05]), 'viscous_slope': np.array([-0.014]),
    }
    return JointFriction(**{**constants, **changes})


def push(friction, torques, inertia=0.15, load=0.0):
    """Return the positions of a joint that is pushed, step by step, shape (N,)."""
    q, dq, bend = np.zeros(1), np.zeros(1), np.zeros(1)
    cold = np.full(1, friction.reference_temperature)
    positions = []
    for torque in torques:
        resistance, bend = friction.step(dq, np.full(1, load), cold, bend, STEP)
        dq = dq + STEP * (torque - resistance) / inertia
        q = q + STEP * dq
        positions.append(q[0])
    return np.array(positions)


@pytest.mark.parametrize('load', [0.0, 20.0, -20.0])
@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_breaks_away_at_the_set_torque(load, sign):
    """Pushed ever harder: within the travel below break-away, then away."""
    friction = make_friction()
    break_away = 2.6 + 0.05 * abs(load)
    travel = friction.travel * break_away / 2.6
    torques = np.linspace(0.0, 1.1 * break_away, 4000)
    positions = sign * push(friction, sign * torques, load=load)
    below, above = torques < 0.995 * break_away, torques > 1.06 * break_away
    # At this pace the joint swings by rate / (stiffness x 420 rad/s), 0.2 % of the travel.
    assert np.abs(positions[below]).max() < 1.001 * travel
    assert positions[above].min() > 10.0 * travel


def test_does_not_creep():
    """Four seconds at 95 % of break-away: still to the last bits once the oscillation has died."""
    positions = push(make_friction(), 0.95 * 2.6 * np.minimum(np.arange(10000) / 2000.0, 1.0))
    # The bristle swings at 65 Hz, damped by 1 ms of its stiffness: 0.4 s to one part in 1e13.
    assert np.ptp(positions[4000:]) < 1e-15
    assert positions[-1] == pytest.approx(0.95e-4, rel=1e-9)


@given(speed=st.floats(1e-3, 3.0), load=st.floats(-50.0, 50.0), warming=st.floats(-10.0, 60.0))
@example(speed=1.0, load=0.0, warming=176.0)
def test_slides_as_stated(speed, load, warming):
    """At a steady velocity the Stribeck curve, load and temperature, written out by hand."""
    friction = make_friction()
    bend = np.zeros(1)
    velocity, temperature = np.full(1, speed), np.full(1, 24.0 + warming)
    for _ in range(2):
        # Steps long enough to bend the bristle all the way.
        torque, bend = friction.step(
            velocity, np.full(1, load), temperature, bend, 10.0
        )
    expected = 2.0 + 0.6 * np.exp(-(speed / 0.03) ** 2) + 0.05 * abs(load)
    # Viscous friction falls with the temperature down to nothing, and does not turn around.
    expected += 1.5 * max(1.0 - 0.014 * warming, 0.0) * speed
    assert torque[0] == pytest.approx(expected, rel=1e-12)


@given(
    speeds=st.lists(st.floats(-2.0, 2.0), min_size=5, max_size=60),
    load=st.floats(-30.0, 30.0), dt=st.floats(1e-5, 1e-2),
)
def test_never_gives_energy(speeds, load, dt):
    """Work done against friction is never less than what the bristle stores, in any step."""
    friction, bend = make_friction(), np.zeros(1)
    cold = np.full(1, 24.0)
    for speed in speeds:
        before = 0.5 * friction.stiffness * bend**2
        torque, bend = friction.step(
            np.full(1, speed), np.full(1, load), cold, bend, dt
        )
        work = torque * speed * dt
        stored = 0.5 * friction.stiffness * bend**2 - before
        # Both round at 1e-16 of their size.
        assert work[0] >= stored[0] - 1e-12 * (1.0 + abs(work[0]))
