# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""No stop is sent that could be faster or harder than the plan; those that can be are found."""

from contextlib import suppress
from dataclasses import replace

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from recordings import designed_motion
from robot_identification.errors import UnsafeMotionError
from robot_identification.execution.checks import trajectory_knots
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
