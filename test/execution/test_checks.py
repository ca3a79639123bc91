# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What is refused before a motor turns, and what is sent when nothing is refused."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.excitation.parametrizations.sampled import SampledParametrization
from robot_identification.excitation.trajectory import tool_path, Trajectory
from robot_identification.execution.checks import (
    certified_limits, check_executable, plan_approach, trajectory_knots,
)
from robot_identification.model.registry import load_robot
from robot_identification.simulation.controller import TrajectoryController


def scaled(trajectory, factor):
    """Return the motion with larger amplitudes and the certificate of the smaller one."""
    factors = np.where(np.arange(trajectory.coefficients.shape[1]) == 0, 1.0, factor)
    return replace(trajectory, coefficients=trajectory.coefficients * factors)


REFUSED = {
    'no certificate': (lambda t: t.with_certificate({}), 'no certificate'),
    'another robot': (
        lambda t: t.with_certificate({**t.certificate, 'robot': 'ur10'}), "certified for 'ur10'"
    ),
    'another description': (
        lambda t: t.with_certificate({**t.certificate, 'urdf_sha256': '00'}), 'another URDF'
    ),
    'another mounting': (
        lambda t: t.with_certificate({**t.certificate, 'gravity': [0.0, 0.0, 9.81]}),
        'another mounting',
    ),
    'no mounting': (
        lambda t: t.with_certificate({**t.certificate, 'gravity': None}), 'mounting'
    ),
    'another order of joints': (
        lambda t: replace(t, joint_names=t.joint_names[::-1]), 'the robot is'
    ),
    'a broken limit': (lambda t: scaled(t, 9.0), r'velocity of \w+ reaches'),
    'not finite': (lambda t: scaled(t, np.inf), 'finite'),
}


@pytest.mark.parametrize(('change', 'message'), REFUSED.values(), ids=REFUSED)
def test_what_is_not_certified_for_this_robot_is_refused(ur5, trajectory, change, message):
    with pytest.raises(UnsafeMotionError, match=message), np.errstate(invalid='ignore'):
        check_executable(ur5, change(trajectory))


def test_limits_of_the_robot_at_hand_count(ur5, trajectory):
    """A certificate with generous limits does not help on a slower robot of the same name."""
    slow = replace(ur5, limits=replace(ur5.limits, velocity=np.full(6, 0.05)))
    with pytest.raises(UnsafeMotionError, match='velocity of shoulder_pan_joint'):
        check_executable(slow, trajectory)
    with pytest.raises(UnsafeMotionError, match="the robot is 'ur5e'"):
        check_executable(load_robot('ur5e'), trajectory)


def test_approach_goes_from_here_to_there_at_the_speed_asked(ur5):
    """A quintic's peak speed is 15/8 of its mean; the farthest joint has it."""
    q, target = np.zeros(6), np.array([0.5, -1.0, 1.0, -0.2, 0.0, 2.0])
    approach = plan_approach(ur5, q, target, 0.4, 100.0)
    knots = approach.knots
    assert approach.duration == pytest.approx(1.875 * 2.0 / 0.4)
    assert knots.times[-1] == pytest.approx(approach.duration)
    np.testing.assert_allclose(knots.q[-1], target, atol=1e-12)
    assert np.abs(knots.dq).max() == pytest.approx(0.4, rel=1e-3)
    assert np.abs(knots.dq[:, 4]).max() == 0.0
    controller = TrajectoryController(q)
    controller.follow(knots, 0.0)
    path = np.array([controller.sample(t)[0] for t in np.linspace(0.0, approach.duration, 200)])
    assert np.all(np.diff(path[:, 5]) >= -1e-12), 'straight there, without swinging back'
    np.testing.assert_array_equal(path[0], q)
    # A short one takes its time.
    assert plan_approach(ur5, q, np.full(6, 0.001), 1.0, 100.0).duration == 1.0


@pytest.mark.parametrize('limit', [0.25, 0.05])
def test_the_tool_is_slow_on_the_way_to_the_start(ur5, limit):
    """The same way takes longer; by differences of 2000 instants."""
    q, target = np.zeros(6), np.array([1.5, -1.0, 1.0, -0.2, 0.0, 2.0])
    approach = plan_approach(ur5, q, target, 1.0, 100.0, tool_speed=limit)
    times = np.linspace(0.0, approach.duration, 2001)
    places = tool_path(ur5, approach.sample(times).q)
    speed = np.linalg.norm(np.diff(places, axis=0), axis=1).max() / times[1]
    # The plan looks at 301 instants.
    assert speed == pytest.approx(limit, rel=1e-3)
    free = plan_approach(ur5, q, target, 1.0, 100.0)
    np.testing.assert_allclose(
        approach.sample(np.array([0.3 * approach.duration])).q,
        free.sample(np.array([0.3 * free.duration])).q, atol=1e-12,
    )


@pytest.mark.parametrize(('entry', 'words'), [
    ({'workspace': {'tool0': {'upper': [None, None, 0.8]}}}, 'workspace'),
    ({'limits': {'velocity': {'elbow_joint': 0.1}}}, 'velocity of elbow_joint'),
])
def test_what_the_cell_limits_holds_on_the_way_to_the_start(ur5, trajectory, entry, words):
    """Half-way the arm stands upright, 0.9 m high; or the elbow is to be slower."""
    narrow = trajectory.with_certificate({**trajectory.certificate, 'further_limits': entry})
    q = np.array([0.0, -0.6, 0.0, 0.0, 0.0, 0.0])
    target = np.array([0.0, -2.5, 0.5, 0.0, 0.0, 0.0])
    plan_approach(ur5, q, target, 0.4, 100.0)
    with pytest.raises(UnsafeMotionError, match=words):
        plan_approach(ur5, q, target, 0.4, 100.0, extra=certified_limits(narrow))


def test_an_approach_outside_the_limits_is_refused(ur5):
    """The elbow stands beyond half a turn; and a speed no joint has is refused as well."""
    outside = np.array([0.0, 0.0, 3.3, 0.0, 0.0, 0.0])
    with pytest.raises(UnsafeMotionError, match=r'way to the start .*position of elbow_joint'):
        plan_approach(ur5, outside, np.zeros(6), 0.4, 100.0)
    with pytest.raises(UnsafeMotionError, match='velocity of shoulder_pan_joint'):
        plan_approach(ur5, np.zeros(6), np.array([6.0, 0, 0, 0, 0, 0]), 4.0, 100.0)


@pytest.mark.parametrize('speed', [0.02, 0.37, 1.0])
def test_knots_pass_the_motion_at_any_speed_and_end_at_rest(trajectory, speed):
    """At t / speed the controller is where the plan is at t, with `speed` times its speed."""
    knots = trajectory_knots(trajectory, 50.0, speed=speed)
    # The present place is no knot, and a controller asks for exactly zero at the end.
    assert knots.times[0] > 0.0
    assert speed * knots.times[-1] == pytest.approx(trajectory.duration, rel=1e-12)
    assert not knots.dq[-1].any()
    controller = TrajectoryController(trajectory.sample(np.zeros(1)).q[0])
    controller.follow(knots, 0.0)
    for t in (0.007, 1.234, 5.5, 9.983):
        planned = trajectory.sample(np.array([t]))
        q, dq, ddq = controller.sample(t / speed)
        # The quintic between knots 20 ms apart errs by 1e-6 rad at any speed.
        np.testing.assert_allclose(q, planned.q[0], atol=1e-6)
        np.testing.assert_allclose(dq, speed * planned.dq[0], atol=speed * 1e-4)
        np.testing.assert_allclose(ddq, speed**2 * planned.ddq[0], atol=speed**2 * 2e-2)


@pytest.mark.parametrize('periods', [1, 3])
def test_periods_repeat_the_path(trajectory, periods):
    """As often as asked, whatever the file says; 0 is what the file says."""
    knots = trajectory_knots(trajectory, 50.0, periods=periods)
    once = trajectory_knots(trajectory, 50.0)
    each = len(once.times)
    assert len(knots.times) == periods * each
    assert knots.times[-1] == pytest.approx(periods * trajectory.form.duration)
    for k in range(periods):
        part = slice(k * each, (k + 1) * each)
        np.testing.assert_allclose(knots.q[part], once.q, atol=1e-9)
        np.testing.assert_allclose(knots.dq[part], once.dq, atol=1e-9)
    as_filed = trajectory_knots(replace(trajectory, periods=periods), 50.0)
    np.testing.assert_array_equal(as_filed.q, knots.q)


def test_what_does_not_end_as_it_starts_is_not_repeated():
    """Twice would be a jump; once it may be executed."""
    form = SampledParametrization((0.0, 1.0))
    # Position, then how far it comes, velocities, accelerations.
    there = np.array([[0.5, 0.3, 0.0, 0.0, 0.0, 0.0]])
    trajectory = Trajectory('arm', ('elbow',), form, there, 1, {})
    assert trajectory_knots(trajectory, 50.0).q[-1] == pytest.approx(0.8)
    with pytest.raises(DescriptionError, match=r'position of elbow is 0\.5 at the start and 0\.8'):
        trajectory_knots(trajectory, 50.0, periods=2)
