# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""No stop is sent that could be faster or harder than the plan; those that can be are found."""

from contextlib import suppress
from dataclasses import replace

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from recordings import designed_motion
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.excitation.parametrizations.sampled import SampledParametrization
from robot_identification.excitation.trajectory import tool_path, Trajectory
from robot_identification.execution.checks import (
    certified_limits, check_executable, plan_approach, trajectory_knots,
)
from robot_identification.execution.executed import compare_execution
from robot_identification.execution.path import SentPath
from robot_identification.execution.stop import (
    DURATIONS, HARDEST_SHARE, Peaks, QUICK, SHARE_OF_PEAKS, stop_on_path, stop_where_measured,
    Whereabouts,
)
from robot_identification.model import load_robot, NamedJoints
from robot_identification.simulation.controller import TrajectoryController, TrajectoryPoints

DURATION = 5.0
TIMES = np.arange(1, 251) * 0.02
# Between the samples at which a stop is proved and those of this test.
SAMPLING = 5e-3


def swing():
    """Return two joints that swing with 1.9 rad/s and come back."""
    def values(order):
        w = 2.0 * np.pi / DURATION * np.array([3.0, 4.0])
        phase = w * TIMES[:, None] + 0.5 * np.pi * order
        q = 1.9 / w * w**order * np.sin(phase)
        return q

    knots = TrajectoryPoints(TIMES, values(0), values(1), values(2))
    knots.dq[-1] = knots.ddq[-1] = 0.0
    return SentPath(np.zeros(2), knots), knots


JOINTS = NamedJoints(('shoulder_joint', 'elbow_joint'))
PATH, KNOTS = swing()
PEAKS = Peaks.of([PATH])


def executed(stop, start):
    """Return largest speed and acceleration of a simulated controller that takes a stop."""
    controller = TrajectoryController(np.zeros(2))
    controller.follow(KNOTS, 0.0)
    controller.sample(start)
    controller.follow(stop, start)
    states = [controller.sample(start + t) for t in np.arange(0.0, stop.times[-1], 0.004)]
    return [np.max(np.abs([state[i] for state in states]), axis=0) for i in (1, 2)]


@settings(max_examples=60, deadline=None)
@given(
    time=st.floats(0.3, 4.5), width=st.floats(0.0, 0.06), share=st.floats(0.0, 1.0),
    lag=st.floats(0.0, 0.04), hardest=st.sampled_from([1.0, HARDEST_SHARE]),
)
def test_a_stop_keeps_to_the_peaks_from_wherever_the_controller_is(
    time, width, share, lag, hardest
):
    """A controller that shares no code with the proof, somewhere in what was thought possible."""
    q, dq, _ = PATH.sample(np.array([time - lag]))
    where = Whereabouts(time, time + width, False, 1.0, q[0], dq[0])
    try:
        stop = stop_on_path(PATH, where, replace(PEAKS, hardest=hardest), JOINTS)
    except UnsafeMotionError:
        return
    assert not np.any(stop.dq[-1])
    speed, acceleration = executed(stop, time + share * width)
    assert np.all(speed <= (SHARE_OF_PEAKS + SAMPLING) * PEAKS.speed)
    allowed = hardest * (SHARE_OF_PEAKS + 4.0 * SAMPLING) * PEAKS.acceleration
    assert np.all(acceleration <= allowed)


@pytest.mark.parametrize(('width', 'durations'), [
    (0.02, QUICK), (0.05, QUICK), (0.08, QUICK), (0.08, len(DURATIONS)),
])
def test_every_place_of_a_motion_at_its_limit_has_a_stop(width, durations):
    """Nearly all have one within their own peaks; where they have, it is taken."""
    motion = designed_motion(load_robot('ur10'), 0)
    path = SentPath(motion.sample(np.zeros(1)).q[0], trajectory_knots(motion, 50.0))
    peaks = Peaks.of([path])
    joints, gentle = NamedJoints(motion.joint_names), []
    for time in np.arange(0.1, path.duration - 0.2, 0.2):
        q, dq, _ = path.sample(np.array([time]))
        where = Whereabouts(time, time + width, False, 1.0, q[0], dq[0])
        stop = stop_on_path(
            path, where, replace(peaks, hardest=HARDEST_SHARE), joints, durations
        )
        with suppress(UnsafeMotionError):
            same = stop_on_path(path, where, peaks, joints, durations)
            np.testing.assert_array_equal(stop.q, same.q)
            gentle.append(time)
    assert len(gentle) > 0.8 * len(np.arange(0.1, path.duration - 0.2, 0.2))


def test_where_the_controller_is_known_every_instant_has_a_quick_stop():
    """Without doubt about the place half a second is enough on the path."""
    for time in np.arange(0.2, 4.6, 0.05):
        q, dq, _ = PATH.sample(np.array([time]))
        stop = stop_on_path(PATH, Whereabouts(time, time, False, 1.0, q[0], dq[0]), PEAKS, JOINTS)
        assert stop.times[-1] <= DURATIONS[2]
        on_path = PATH.sample(np.linspace(time, time + 1.0, 2001))[0]
        for place in stop.q:
            # Samples of the path 0.5 ms apart at 1.9 rad/s.
            assert np.min(np.max(np.abs(on_path - place), axis=1)) < 2e-3


@pytest.mark.parametrize(('uncertainty', 'share', 'reason'), [
    (0.5, 1.0, 'known within 0.50 s, at most 0.4 s'),
    (0.39, 1.0, r'may leave the path by \S+ rad, at most 0.050 rad'),
    (0.0, 0.01, r'in a stop of 1.8 s elbow_joint may reach \S+ rad/s\^2, at most'),
])
def test_a_place_that_is_out_of_reach_is_never_sent(uncertainty, share, reason):
    """The place of the controller is too uncertain at full speed, or the peaks are too low."""
    q, dq, _ = PATH.sample(np.array([0.4]))
    where = Whereabouts(0.4, 0.4 + uncertainty, True, 1.0, q[0], dq[0])
    peaks = Peaks(PEAKS.speed, share * PEAKS.acceleration)
    with pytest.raises(UnsafeMotionError, match=reason):
        stop_on_path(PATH, where, peaks, JOINTS)


def test_what_a_stop_may_reach_is_in_the_unit_of_the_joint():
    q, dq, _ = PATH.sample(np.array([0.4]))
    where = Whereabouts(0.4, 0.4, True, 1.0, q[0], dq[0])
    sliding = NamedJoints(JOINTS.names, ('rad', 'm'))
    with pytest.raises(UnsafeMotionError, match=r'elbow_joint may reach \S+ m/s\^2'):
        stop_on_path(PATH, where, Peaks(PEAKS.speed, 0.01 * PEAKS.acceleration), sliding)


def test_an_arm_beside_its_path_is_stopped_where_it_is():
    """Its reference is 0.15 rad ahead; it comes back within the peaks."""
    q, dq, _ = PATH.sample(np.array([2.0]))
    where = Whereabouts(2.0, 2.01, False, 1.0, q[0] - 0.15, 0.2 * dq[0])
    stop = stop_where_measured(PATH, where, PEAKS, JOINTS)
    np.testing.assert_allclose(stop.q[-1], where.q + 0.25 * where.dq)
    speed, acceleration = executed(stop, 2.005)
    assert np.all(speed <= (SHARE_OF_PEAKS + SAMPLING) * PEAKS.speed)
    assert np.all(acceleration <= (SHARE_OF_PEAKS + 4.0 * SAMPLING) * PEAKS.acceleration)


@settings(max_examples=25)
@given(times=st.lists(st.floats(-1.0, 6.0), min_size=1, max_size=20))
def test_a_sent_path_is_what_a_controller_makes_of_its_knots(times):
    """Position, velocity and acceleration of a controller that has its own interpolation."""
    controller = TrajectoryController(np.zeros(2))
    controller.follow(KNOTS, 0.0)
    for t, *found in zip(times, *PATH.sample(np.array(times)), strict=True):
        if 0.02 < t < DURATION - 1e-6:
            copy = TrajectoryController(np.zeros(2))
            copy.follow(KNOTS, 0.0)
            for ours, theirs in zip(found, copy.sample(t), strict=True):
                np.testing.assert_allclose(ours, theirs, atol=1e-7)
        elif t <= 0.0 or t >= DURATION:
            np.testing.assert_array_equal(found[1], 0.0)


def run(trajectory, speed=1.0, rate=100.0, first=0.0):
    t = np.linspace(0.0, trajectory.duration, round(trajectory.duration * rate) + 1)
    motion = trajectory.sample(t)
    return first + t / speed, motion.q, speed * motion.dq


@pytest.mark.parametrize('first', [0.0, 1.7e9])
def test_a_perfect_execution_shows_what_was_planned(ur5, trajectory, first):
    """Also by stamps of this century; interpolation over 10 ms costs a thousandth."""
    found = compare_execution(ur5, trajectory, *run(trajectory, first=first))
    assert set(found.planned) == {'condition_number_scaled', 'log_determinant'}
    for name, planned in found.planned.items():
        assert np.isfinite(planned)
        # One of the two is a logarithm, near zero here.
        assert found.executed[name] == pytest.approx(planned, rel=2e-3, abs=1e-3)


def test_repeated_measurements_change_nothing(ur5, trajectory):
    """A driver that publishes old values again, and one that delivers them in another order."""
    stamps, q, dq = run(trajectory)
    order = np.random.default_rng(0).permutation(np.repeat(np.arange(len(stamps)), 2))
    once = compare_execution(ur5, trajectory, stamps, q, dq)
    again = compare_execution(ur5, trajectory, stamps[order], q[order], dq[order])
    assert again.executed == once.executed


@pytest.mark.parametrize('joint', range(6))
def test_a_joint_that_stood_still_is_seen(ur5, trajectory, joint):
    """Its parameters are not: both grow, and may be infinite."""
    stamps, q, dq = run(trajectory)
    q[:, joint], dq[:, joint] = q[0, joint], 0.0
    found = compare_execution(ur5, trajectory, stamps, q, dq)
    planned, executed = found.planned, found.executed
    assert executed['log_determinant'] > planned['log_determinant'] + 0.1
    assert executed['condition_number_scaled'] > 10.0 * planned['condition_number_scaled']


@pytest.mark.parametrize('rate', [50.0, 100.0])
def test_stamps_that_jitter_show_no_more(ur5, trajectory, rate):
    """Noise looks like accelerations, which would excite; 4e-4 is what a perfect one is off by."""
    stamps, q, dq = run(trajectory, rate=rate)
    noise = np.random.default_rng(5).normal(size=len(stamps))
    for jitter in (0.001, 0.005):
        moved = stamps + np.clip(jitter * noise, -0.4 / rate, 0.4 / rate)
        found = compare_execution(ur5, trajectory, moved, q, dq)
        gained = found.planned['log_determinant'] - found.executed['log_determinant']
        # The logarithm is of the mean over some thirty parameters: 5 ms cost 0.0065 before.
        assert -0.005 < gained < 4e-4


def test_what_was_not_measured_is_bridged(ur5, trajectory):
    """Half a second without measurements, longer than a piece of the spline."""
    stamps, q, dq = run(trajectory)
    kept = (stamps < 3.0) | (stamps > 3.5)
    found = compare_execution(ur5, trajectory, stamps[kept], q[kept], dq[kept])
    # A straight line instead of a twentieth of the motion.
    assert found.executed['log_determinant'] == pytest.approx(
        found.planned['log_determinant'], abs=0.05
    )


def test_too_few_measurements_are_not_judged(ur5, trajectory):
    """Neither few, nor many of one instant."""
    stamps, q, dq = run(trajectory, rate=9.0)
    assert compare_execution(ur5, trajectory, stamps, q, dq) is None
    many = np.full(500, stamps[5]), np.tile(q[5], (500, 1)), np.tile(dq[5], (500, 1))
    assert compare_execution(ur5, trajectory, *many) is None


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
