# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The controller interpolates as ros2_controllers' does, and rejects what that rejects."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.simulation.controller import (
    cubic, quintic, STOP_TIME, TrajectoryController, TrajectoryPoints,
)

VALUES = st.floats(-3.0, 3.0)
DURATIONS = st.floats(0.05, 5.0)


@pytest.mark.parametrize(('curve', 'orders'), [(quintic, 3), (cubic, 2)])
@given(states=st.lists(VALUES, min_size=6, max_size=6), T=DURATIONS)
def test_curves_pass_both_states(curve, orders, states, T):
    """Position and velocity at both ends; acceleration with a quintic."""
    start, end = (
        tuple(np.array([x]) for x in part) for part in (states[:orders], states[-orders:])
    )
    for t, expected in ((0.0, start), (T, end)):
        for value, wanted in zip(curve(start, end, T, t), expected, strict=False):
            # Powers of T cancel: rounding of 1e-16 grows by T^-1 or T^-2.
            np.testing.assert_allclose(value, wanted, atol=1e-9 * (1.0 + T ** (1 - orders)))


@given(states=st.lists(VALUES, min_size=6, max_size=6), T=DURATIONS, share=st.floats(0.1, 0.9))
def test_velocity_and_acceleration_are_derivatives(states, T, share):
    """A quintic's central difference over 2 h errs by h^2 of its third derivative."""
    start, end = ([np.array([x]) for x in part] for part in (states[:3], states[3:]))
    h = 1e-4 * T
    before, now, after = (
        quintic(tuple(start), tuple(end), T, share * T + shift) for shift in (-h, 0.0, h)
    )
    size = 1.0 + T**-3
    for order in (0, 1):
        difference = (after[order] - before[order]) / (2 * h)
        np.testing.assert_allclose(difference, now[order + 1], atol=1e-4 * size)


def make_knots(**changes):
    """Return a trajectory of two joints that ends at rest; the first knot is half a second on."""
    content = {
        'times': np.array([0.5, 1.0, 2.0]),
        'q': np.array([[0.1, 0.0], [0.3, -0.2], [0.4, -0.5]]),
        'dq': np.array([[0.3, -0.1], [0.2, -0.3], [0.0, 0.0]]),
        'ddq': np.array([[0.1, 0.2], [-0.2, 0.1], [0.0, 0.0]]),
    }
    return TrajectoryPoints(**{**content, **changes})


@pytest.mark.parametrize('kind', ['quintic', 'cubic', 'linear'])
def test_knots_are_passed(kind):
    """Whatever the message has besides positions, and from where the robot stands."""
    changes = {'quintic': {}, 'cubic': {'ddq': None}, 'linear': {'ddq': None, 'dq': None}}[kind]
    knots = make_knots(**changes)
    controller = TrajectoryController(np.zeros(2))
    controller.follow(knots, now=10.0)
    np.testing.assert_allclose(controller.sample(10.0)[0], 0.0, atol=1e-12)
    for k, time in enumerate(knots.times[:-1]):
        q, dq, ddq = controller.sample(10.0 + time)
        np.testing.assert_allclose(q, knots.q[k], atol=1e-12)
        if knots.dq is not None:
            np.testing.assert_allclose(dq, knots.dq[k], atol=1e-12)
        if knots.ddq is not None:
            np.testing.assert_allclose(ddq, knots.ddq[k], atol=1e-12)
    assert controller.active
    q, dq, ddq = controller.sample(12.0)
    np.testing.assert_array_equal(q, knots.q[-1])
    assert not dq.any()
    assert not ddq.any()
    assert not controller.active
    np.testing.assert_array_equal(controller.sample(99.0)[0], knots.q[-1])


def test_what_replaces_a_trajectory_starts_where_that_is_by_then():
    """No step, also where nobody has asked since: a reference that waits a cycle is a jerk."""
    replaced, reference = (TrajectoryController(np.zeros(2)) for _ in range(2))
    for controller in (replaced, reference):
        controller.follow(make_knots(), now=0.0)
        controller.sample(0.7)
    replaced.follow(make_knots(q=make_knots().q + 0.2), now=0.708)
    for value, wanted in zip(replaced.sample(0.708), reference.sample(0.708), strict=True):
        np.testing.assert_allclose(value, wanted, atol=1e-12)
    np.testing.assert_allclose(replaced.sample(2.708)[0], make_knots().q[-1] + 0.2)


@pytest.mark.parametrize('unlimited', [False, True])
def test_braking_takes_the_limit_of_one_joint_and_no_more(unlimited):
    """Both rest after the longer of their v / a, or the time of a smooth stop without limits."""
    limits = np.full(2, np.inf) if unlimited else np.array([0.5, 0.3])
    controller = TrajectoryController(np.zeros(2))
    controller.follow(make_knots(), now=0.0)
    q, dq, _ = controller.sample(0.8)
    duration = STOP_TIME if unlimited else np.max(np.abs(dq) / limits)
    controller.brake(limits, 0.8)
    for share in (0.0, 0.3, 0.9):
        values = controller.sample(0.8 + share * duration)
        np.testing.assert_allclose(values[1], (1.0 - share) * dq, atol=1e-12)
        np.testing.assert_allclose(values[2], -dq / duration, atol=1e-12)
    end = controller.sample(0.8 + 1.001 * duration)
    np.testing.assert_allclose(end[0], q + 0.5 * duration * dq, atol=1e-12)
    assert not end[1].any()
    assert not controller.active


REFUSED = {
    'not a number': ({'q': np.array([[0.1, 0], [np.nan, 0], [0, 0]])}, 'positions.*finite'),
    'infinite': ({'dq': np.array([[0.1, 0], [np.inf, 0], [0, 0]])}, 'velocities.*finite'),
    'an acceleration that is no number': (
        {'ddq': np.full((3, 2), np.nan)}, 'accelerations.*finite'
    ),
    'times that go back': ({'times': np.array([0.5, 2.0, 1.0])}, 'increasing'),
    'times that stand still': ({'times': np.array([0.5, 0.5, 1.0])}, 'increasing'),
    'times before the start': ({'times': np.array([-0.5, 0.5, 1.0])}, 'times'),
    'times that are no numbers': ({'times': np.array([0.5, np.nan, 1.0])}, 'times'),
    'too few joints': ({'q': np.zeros((3, 1))}, r'shape \(3, 1\)'),
    'too few points': ({'dq': np.zeros((2, 2))}, r'shape \(2, 2\)'),
    'no point': ({'times': np.zeros(0), 'q': np.zeros((0, 2)), 'dq': None, 'ddq': None},
                 'at least one'),
    'an end in motion': ({'dq': np.array([[0.3, 0], [0.2, 0], [0.0, 0.1]])}, 'last point'),
}


@pytest.mark.parametrize(('changes', 'message'), REFUSED.values(), ids=REFUSED)
def test_what_a_controller_rejects_is_refused(changes, message):
    """The motion under way goes on, as a real controller's does."""
    controller = TrajectoryController(np.zeros(2))
    controller.follow(make_knots(), now=0.0)
    controller.sample(0.25)
    with pytest.raises(UnsafeMotionError, match=message):
        controller.follow(make_knots(**changes), now=0.3)
    assert controller.active
    np.testing.assert_allclose(controller.sample(1.0)[0], make_knots().q[1], atol=1e-12)
