# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Whether the controller or the watch ends a motion first, against both of them played."""

import re

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robot_identification.errors import DataError, UnsafeMotionError
from robot_identification.execution.controller_constraints import (
    check_controller_joints, compare_constraints, constraint_names, constraints_from_parameters,
    ControllerConstraints, NOT_CHECKED,
)
from robot_identification.execution.joint_state_monitor import Measurement
from robot_identification.execution.path import SentPath
from robot_identification.execution.watch import MotionWatch, SERVO_DELAY, WatchLimits
from robot_identification.model import NamedJoints
from robot_identification.simulation.controller import quintic, TrajectoryPoints

JOINTS = ('lift', 'elbow')
NAMED = NamedJoints(JOINTS)
TRACKING = 0.1
CYCLE = 0.01
# An even speed for so long, so that a lag is a distance [s].
DURATION = 4.0


def constraints(path=0.0, goal=0.0, goal_time=0.0, stopped=0.0, deceleration=0.0):
    return ControllerConstraints(
        np.full(2, path), np.full(2, goal), goal_time, stopped, np.full(2, deceleration),
        '' if deceleration else 'it is old',
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
        NAMED, SentPath(start, knots), Measurement(1000.0, 50.0, 50.0, start, start, nothing),
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
        NAMED, knots, constraints(path), tracking=TRACKING, servo_delay=SERVO_DELAY
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


def test_a_joint_that_slides_has_speeds_and_tolerances_in_metres():
    """Of lags on the way and of the end alike."""
    sliding = NamedJoints(JOINTS, ('m', 'rad'))
    told = compare_constraints(
        sliding, even_motion(1.0), constraints(0.2, goal=1e-3, stopped=1e-3, goal_time=0.1),
        tracking=TRACKING, servo_delay=SERVO_DELAY,
    )
    assert 'peak speed of 1 m/s the controller aborts 0.2 m' in told[0]
    lift, = (one for one in told if one.startswith('lift: with'))
    assert 'goal tolerance 0.001 m)' in lift and 'tolerance 0.001 m/s)' in lift


def test_without_tolerances_the_watch_alone_acts():
    """Zero is no constraint, and what could not be read was not checked."""
    free, _ = compare_constraints(
        NAMED, even_motion(1.0), constraints(), tracking=TRACKING, servo_delay=SERVO_DELAY
    )
    assert 'no path tolerance for lift, elbow' in free
    assert compare_constraints(
        NAMED, even_motion(1.0), None, tracking=TRACKING, servo_delay=SERVO_DELAY
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
                NAMED, knots, constraints(**wanted), tracking=TRACKING, servo_delay=SERVO_DELAY
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


def stated(**values):
    """Return what a controller that decelerates states, replaced by values; none is no entry."""
    usual = {name: 0.0 for name in constraint_names(JOINTS) if name.startswith('constraints')}
    decelerations = {
        f'constraints.{joint}.max_deceleration_on_cancel': 8.0 for joint in JOINTS
    }
    content = {
        **usual, **decelerations, 'constraints.decelerate_on_cancel': True,
        'state_interfaces': ['position', 'velocity'], **values,
    }
    return {name: value for name, value in content.items() if value is not None}


def cancelling(values, velocity=(3.0, 3.0)):
    """Return what is said of a cancel at 2 rad/s, of the parameters and the URDF's limits."""
    found = constraints_from_parameters(values, JOINTS)
    return compare_constraints(
        NAMED, even_motion(2.0), found.for_speed_limits(JOINTS, np.array(velocity)),
        tracking=TRACKING, servo_delay=SERVO_DELAY,
    )[-1]


def test_a_cancelled_motion_comes_to_rest_as_its_slowest_joint_does():
    """2 rad/s at 8 rad/s^2 take 0.25 s; the scaled controller holds what it aborts itself."""
    said = cancelling(stated())
    assert 'rest within 0.25 s' in said and 'slowed down likewise' in said
    scaled = cancelling(stated(speed_scaling_interface_name='speed_scaling/factor'))
    assert 'rest within 0.25 s' in scaled and 'by itself is held at once' in scaled


@pytest.mark.parametrize(('values', 'velocity', 'because'), [
    ({'constraints.decelerate_on_cancel': False}, (3.0, 3.0), 'decelerate_on_cancel is not set'),
    # The controller of Humble has no such parameter.
    ({'constraints.decelerate_on_cancel': None}, (3.0, 3.0),
     'it has no constraints.decelerate_on_cancel'),
    ({'constraints.elbow.max_deceleration_on_cancel': 0.0}, (3.0, 3.0),
     'max_deceleration_on_cancel of elbow is not above zero'),
    ({'state_interfaces': ['position']}, (3.0, 3.0), 'state_interfaces have no velocity'),
    ({}, (np.inf, 3.0), 'the URDF has no velocity limit of lift'),
    ({}, (3.0, 0.0), 'the URDF has no velocity limit of elbow'),
])
def test_what_keeps_a_cancelled_motion_from_being_slowed_down_is_named(
    values, velocity, because
):
    """Any of them makes the controller of ros2_controllers hold at once, and say so in a log."""
    said = cancelling(stated(**values), velocity)
    assert 'held at once' in said and because in said
    assert 'rest within' not in said


def test_scaling_is_told_to_a_controller_or_stated_by_its_hardware():
    """The newer plain controller hears a topic, unless an interface of its hardware is named."""
    plain = constraints_from_parameters(
        stated(**{'speed_scaling.initial_scaling_factor': 0.5}), JOINTS
    )
    assert plain.hears_scaling and plain.states_scaling and plain.initial_scaling == 0.5
    for interface in ('a/b', ''):
        newer, scaled = (
            constraints_from_parameters(stated(**{name: interface}), JOINTS)
            for name in ('speed_scaling.state_interface', 'speed_scaling_interface_name')
        )
        assert newer.hears_scaling is (not interface) and newer.states_scaling
        assert not scaled.hears_scaling and not scaled.states_scaling


def test_parameters_are_read_by_the_names_of_the_driver():
    """What older controllers lack has the default of newer ones; what is no number is refused."""
    joints = ('left_lift', 'left_elbow')
    values = {
        name: 0.1 for name in constraint_names(joints) if name.startswith('constraints')
    }
    values['state_interfaces'] = ['position', 'velocity']
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


@pytest.mark.parametrize(('stated', 'words'), [
    ({}, ''),
    ({'joints': ['elbow', 'lift']}, ''),
    ({'joints': ['lift']}, 'lacks elbow;'),
    ({'joints': ['lift', 'elbow', 'rail']}, 'has rail, no joint of the arm;'),
    ({'joints': ['lift', 'elbow', 'rail'], 'allow_partial_joints_goal': True}, ''),
    ({'joints': ['left_lift']}, 'lacks lift, elbow, and it has left_lift, no joint of the arm;'),
    ({'joints': ['lift'], 'allow_partial_joints_goal': True}, 'lacks elbow;'),
])
def test_a_controller_of_other_joints_is_refused(stated, words):
    """In any order, and with more joints where it takes goals for a part of them."""
    if not words:
        check_controller_joints('jtc', stated, JOINTS)
        return
    with pytest.raises(UnsafeMotionError, match=f'jtc is a controller of other .*: it {words}'):
        check_controller_joints('jtc', stated, JOINTS)
