# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0


"""Whether the controller or the watch ends a motion first, against both of them played."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.errors import DataError, UnsafeMotionError
from robot_identification.execution.controller_constraints import (
    compare_constraints, constraint_names, constraints_from_parameters, ControllerConstraints,
    NOT_CHECKED,
)
from robot_identification.execution.joint_state_monitor import Measurement
from robot_identification.execution.path import SentPath
from robot_identification.execution.watch import MotionWatch, SERVO_DELAY, WatchLimits
from robot_identification.simulation.controller import quintic, TrajectoryPoints

JOINTS = ('lift', 'elbow')
TRACKING = 0.1
CYCLE = 0.01
# An even speed for so long, so that a lag is a distance [s].
DURATION = 4.0


def constraints(path=0.0, goal=0.0, goal_time=0.0, stopped=0.0, deceleration=0.0):
    """Return the same constraints for both joints."""
    return ControllerConstraints(
        np.full(2, path), np.full(2, goal), goal_time, stopped, np.full(2, deceleration)
    )


def even_motion(speed):
    """Return knots of a motion at an even speed of the first joint [rad/s]."""
    times = np.arange(1, round(DURATION / CYCLE) + 1) * CYCLE
    q = np.column_stack([speed * times, np.zeros_like(times)])
    return TrajectoryPoints(times, q, np.tile([speed, 0.0], (times.size, 1)))


def ends_by_watch(knots, lag):
    """Return whether our watch stops an arm that lags."""
    start = np.zeros(2)
    nothing = np.full(2, np.nan)
    watch = MotionWatch(
        JOINTS, SentPath(start, knots), Measurement(1000.0, 50.0, 50.0, start, start, nothing),
        WatchLimits(TRACKING, 30.0, np.full(2, np.inf)),
    )
    try:
        for t in np.arange(0.0, DURATION, CYCLE):
            speed = knots.dq[0, 0]
            q = np.array([speed * max(t - lag, 0.0), 0.0])
            watch.update(Measurement(1000.0 + t, 50.0 + t, 50.0 + t, q, start, nothing), 1.0)
    except UnsafeMotionError:
        return True
    return False


@settings(max_examples=15, deadline=None)
@given(speed=st.floats(0.3, 3.0), path=st.floats(0.02, 0.6))
def test_lags_are_those_at_which_controller_and_watch_end_the_motion(speed, path):
    """Both are played with a lag 3 % or 10 ms below and above: two cycles, and rounding."""
    knots = even_motion(speed)
    first, cancelling = compare_constraints(
        JOINTS, knots, constraints(path), tracking=TRACKING, servo_delay=SERVO_DELAY
    )
    found = re.fullmatch(
        r'lift: .* rad or (\S+) s behind its reference, the watch stops (\S+) s .* the '
        r'(controller|watch) acts first', first,
    )
    controller, watch = map(float, found.groups()[:2])
    assert speed * controller == pytest.approx(path, abs=1e-3 * speed)
    for lag, ends in ((0.97 * watch - 0.01, False), (1.03 * watch + 0.01, True)):
        assert ends_by_watch(knots, lag) == ends
    if abs(controller - watch) > 2e-3:
        assert found.group(3) == ('controller' if controller < watch else 'watch')
    assert 'held at once' in cancelling


def test_a_ur_aborts_before_the_watch_stops():
    """Its 0.2 rad are 0.1 s at 2 rad/s; slowly the watch is the first."""
    for speed, who in ((2.0, 'controller'), (0.2, 'watch')):
        sentences = compare_constraints(
            JOINTS, even_motion(speed), constraints(0.2, 0.1, stopped=0.2), tracking=TRACKING,
            servo_delay=SERVO_DELAY,
        )
        assert f'the {who} acts first' in sentences[0]


def test_without_tolerances_the_watch_alone_acts():
    """Zero is no constraint, and what could not be read was not checked."""
    free, _ = compare_constraints(
        JOINTS, even_motion(1.0), constraints(), tracking=TRACKING, servo_delay=SERVO_DELAY
    )
    assert 'no path tolerance for lift, elbow' in free
    assert compare_constraints(
        JOINTS, even_motion(1.0), None, tracking=TRACKING, servo_delay=SERVO_DELAY
    ) == [NOT_CHECKED]


@pytest.mark.parametrize('velocities', [True, False], ids=['velocities', 'positions only'])
def test_an_end_that_the_controller_would_abort_is_told(velocities):
    """The arm lags by what the watch accepts; its place at the end of goal_time is known."""
    times = np.linspace(0.0, 1.0, 501)[1:]
    states = [quintic((np.zeros(2),) * 3, (np.ones(2), np.zeros(2), np.zeros(2)), 1.0, t)
              for t in times]
    q, dq = (np.array([state[i] for state in states]) for i in range(2))
    knots = TrajectoryPoints(times, q, dq if velocities else None)
    goal_time = 0.05
    lagging, speed, _ = (values[0] for values in quintic(
        (np.zeros(2),) * 3, (np.ones(2), np.zeros(2), np.zeros(2)), 1.0,
        1.0 + goal_time - SERVO_DELAY,
    ))

    def warnings(**wanted):
        return [
            sentence for sentence in compare_constraints(
                JOINTS, knots, constraints(**wanted), tracking=TRACKING, servo_delay=SERVO_DELAY
            ) if 'goal_time' in sentence
        ]

    distance = 1.0 - lagging
    # Between knots 2 ms apart positions and speeds are straight lines, to 1e-5 and 1e-3 of them;
    # one that is taken from positions is off by a knot.
    assert len(warnings(goal=0.98 * distance, goal_time=goal_time)) == 2
    assert not warnings(goal=1.02 * distance, goal_time=goal_time)
    assert 'stopped_velocity' in warnings(stopped=0.95 * speed, goal_time=goal_time)[0]
    assert not warnings(stopped=1.05 * speed, goal_time=goal_time)
    # Zero is patience without end, and patience for the whole lag suffices.
    assert not warnings(goal=1e-6, goal_time=0.0)
    assert not warnings(goal=1e-6, stopped=1e-6, goal_time=SERVO_DELAY)


def test_a_cancelled_motion_comes_to_rest_as_its_slowest_joint_does():
    """2 rad/s at 8 rad/s^2 take 0.25 s."""
    last = compare_constraints(
        JOINTS, even_motion(2.0), constraints(deceleration=8.0), tracking=TRACKING,
        servo_delay=SERVO_DELAY,
    )[-1]
    assert 'within 0.25 s' in last


def test_parameters_are_read_by_the_names_of_the_driver():
    """What older controllers lack has the default of newer ones; what is no number is refused."""
    joints = ('left_lift', 'left_elbow')
    values = dict.fromkeys(constraint_names(joints), 0.1)
    values['constraints.left_elbow.trajectory'] = 0.3
    values['constraints.decelerate_on_cancel'] = True
    found = constraints_from_parameters(values, joints)
    assert found.path.tolist() == [0.1, 0.3]
    assert found.deceleration.tolist() == [0.1, 0.1]
    values['constraints.left_lift.max_deceleration_on_cancel'] = 0.0
    # The controller then decelerates none.
    assert not constraints_from_parameters(values, joints).deceleration.any()
    old = {
        f'constraints.{joint}.{what}': 0 for joint in joints for what in ('trajectory', 'goal')
    }
    found = constraints_from_parameters(old, joints)
    assert (found.goal_time, found.stopped_velocity) == (0.0, 0.01)
    with pytest.raises(DataError, match=r'no parameter constraints\.right_lift\.trajectory'):
        constraints_from_parameters(old, ('right_lift',))
    for nonsense in (float('nan'), 'text', True, [0.1]):
        with pytest.raises(DataError, match='no number'):
            constraints_from_parameters({**old, 'constraints.goal_time': nonsense}, joints)
