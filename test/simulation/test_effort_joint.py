# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The joint that takes torques: it sticks exactly, and slides as its equation says."""

import math

from hypothesis import given, strategies as st
import numpy as np
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
