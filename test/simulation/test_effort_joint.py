# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The joint that takes torques: it sticks exactly, and slides as its equation says."""

from dataclasses import replace
import math

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.simulation.effort_joint import EffortJoint, EffortJointConstants
import scipy

CONSTANTS = EffortJointConstants(
    inertia=0.3, static=1.26, coulomb=1.0, viscous=0.4, gravity_moment=0.8,
)


@given(
    static=st.floats(0.05, 20.0), share=st.floats(0.0, 1.0), moment=st.floats(-5.0, 5.0),
    q=st.floats(-3.0, 3.0), inertia=st.floats(1e-3, 5.0), direction=st.sampled_from((1.0, -1.0)),
)
def test_a_slow_ramp_finds_the_torque_that_was_set(static, share, moment, q, inertia, direction):
    """Property P16: within one step of the ramp, in both directions, from gravity's moment on."""
    constants = EffortJointConstants(
        inertia, static, share * static, viscous=0.0, gravity_moment=moment,
    )
    joint = EffortJoint(constants, q)
    step = static / 100.0
    level = 0.0
    while joint.dq == 0.0:
        assert joint.q == q
        level += step
        joint.advance(constants.gravity(q) + direction * level, 0.01)
    # Rounding of the sum of a hundred steps.
    assert static - 1e-9 <= level <= static + step + 1e-9
    assert math.copysign(1.0, joint.dq) == direction


def test_sliding_is_the_solution_of_the_equation():
    """Against an integrator of high order, with friction that falls and then grows with speed."""
    torque = 2.4

    def slope(t, state):
        q, dq = state
        return [dq, (torque - CONSTANTS.gravity(q) - CONSTANTS.friction(abs(dq))) / 0.3]

    joint = EffortJoint(CONSTANTS, 0.2)
    times = np.linspace(0.0, 0.5, 26)
    states = [(joint.q, joint.dq)]
    for duration in np.diff(times):
        joint.advance(torque, float(duration))
        states.append((joint.q, joint.dq))
    exact = scipy.integrate.solve_ivp(
        slope, (0.0, 0.5), [0.2, 0.0], t_eval=times, rtol=1e-10, atol=1e-12
    ).y.T
    # Steps of 0.5 ms in a motion with time constants of some 30 ms, by a method of order two.
    np.testing.assert_allclose(states, exact, atol=1e-4)


def test_a_joint_without_torque_comes_to_rest_where_its_energy_ends():
    """It coasts v^2 I / (2 Fc), and stays there."""
    constants = EffortJointConstants(inertia=0.2, static=0.5, coulomb=0.5, viscous=0.0)
    joint = EffortJoint(constants)
    joint.advance(1.5, 0.1)
    # Constant acceleration is integrated exactly.
    assert joint.dq == pytest.approx(0.5, abs=1e-12)
    before = joint.q
    joint.advance(0.0, 10.0)
    assert joint.dq == 0.0
    assert joint.q - before == pytest.approx(0.5**2 * 0.2 / (2.0 * 0.5), abs=1e-9)


def test_gravity_beyond_friction_lets_it_fall():
    """It hangs down in the end, held by friction at most as far away as that can hold it."""
    constants = replace(CONSTANTS, gravity_moment=5.0)
    joint = EffortJoint(constants, 1.5)
    for _ in range(200):
        joint.advance(0.0, 0.1)
    assert joint.dq == 0.0
    assert abs(constants.gravity(joint.q)) <= constants.static


def test_noise_is_in_the_measured_velocity_only():
    """The same seed gives the same values."""
    first, second = (
        EffortJoint(CONSTANTS, velocity_noise=0.01, seed=4) for _ in range(2)
    )
    values = [first.measure()[1] for _ in range(500)]
    assert values == [second.measure()[1] for _ in range(500)]
    # The standard deviation of 500 values is known to 3 %.
    assert np.std(values) == pytest.approx(0.01, rel=0.15)
    assert first.dq == 0.0


@pytest.mark.parametrize(('name', 'value', 'words'), [
    ('inertia', 0.0, 'inertia is 0, allowed are 0.0001 to 1000'),
    ('coulomb', -1.0, 'coulomb is -1, allowed are 0 to 1000'),
    ('static', 0.5, 'below the kinetic one'),
    ('viscous', math.nan, 'viscous is nan, it must be finite'),
])
def test_impossible_constants_are_refused(name, value, words):
    with pytest.raises(UsageError, match=words):
        replace(CONSTANTS, **{name: value})
