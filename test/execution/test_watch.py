# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A motion is followed where it is made, and stopped where it is not."""

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.execution.joint_state_monitor import Measurement
from robot_identification.execution.path import SentPath
from robot_identification.execution.watch import (
    DEPARTURE_MARGIN, EFFORT_TIME, END_TIMEOUT, FRESH, ImplausibleStateError, LARGEST_UNCERTAINTY,
    LEAD, MISSING_EFFORT_TIME, MotionWatch, PLACE_ERROR, SERVO_DELAY, WatchLimits,
)
from robot_identification.model import NamedJoints
from robot_identification.simulation.controller import TrajectoryPoints

JOINTS = ('slow', 'fast', 'still')
NAMED = NamedJoints(JOINTS)
DURATION = 8.0
FIRST_STAMP, FIRST_NOW = 1000.0, 50.0
CYCLE = 0.02
FREE = np.full(3, np.inf)
NO_EFFORT = np.full(3, np.nan)
REST = np.zeros(3)
# Chords of the polylines, 20 ms on the path and 20 ms between tried instants, at 1 rad/s^2.
CHORDS = 2e-4


def position(t):
    """Return where the motion is after t [s]: two joints swing and come back, one stands."""
    t = np.clip(t, 0.0, DURATION)
    swing = 2.0 * np.pi / DURATION * t
    return np.array([0.4 * (1.0 - np.cos(swing)), 0.3 * (np.cos(2.0 * swing) - 1.0), 0.7])


def speed(t):
    """Return its speed [rad/s]."""
    if not 0.0 < t < DURATION:
        return np.zeros(3)
    rate = 2.0 * np.pi / DURATION
    return rate * np.array([0.4 * np.sin(rate * t), -0.6 * np.sin(2.0 * rate * t), 0.0])


def ramp(t):
    """Return where a motion without end is after t [s], at 0.5 rad/s."""
    return np.array([0.5 * t, 0.0, 0.0])


def measured(time, q, dq=REST, effort=NO_EFFORT):
    """Return a measurement some time after the first one."""
    return Measurement(FIRST_STAMP + time, FIRST_NOW + time, FIRST_NOW + time, q, dq, effort)


class Follower:
    """Feeds a watch with the measurements of a robot, cycle by cycle."""

    def __init__(
        self, path=position, duration=DURATION, tracking=0.1, timeout=30.0, effort=FREE,
        begun=0.0, first_effort=NO_EFFORT, joints=NAMED,
    ):
        times = np.arange(1, round(duration / 0.02) + 1) * 0.02
        knots = TrajectoryPoints(times, np.array([path(t) for t in times]))
        self.watch = MotionWatch(
            joints, SentPath(path(0.0), knots), measured(0.0, path(0.0), effort=first_effort),
            WatchLimits(tracking, timeout, effort), begun=begun,
        )
        self.time = 0.0

    def step(self, q, scaling=1.0, effort=NO_EFFORT, cycle=CYCLE):
        self.time += cycle
        self.watch.update(measured(self.time, q, effort=np.asarray(effort)), scaling)


@settings(max_examples=12)
@given(delay=st.floats(0.0, SERVO_DELAY))
def test_a_robot_that_follows_late_has_no_error(delay):
    """A servo lags up to 0.2 s behind its reference; that is no distance from the path."""
    follower = Follower(tracking=10.0 * CHORDS)
    while follower.time < DURATION + delay:
        follower.step(position(follower.time + CYCLE - delay))
    assert follower.watch.worst_error < CHORDS
    assert follower.watch.has_arrived(position(DURATION), np.zeros(3))


@settings(max_examples=12)
@given(ahead=st.floats(0.05, 0.5), known=st.booleans())
def test_a_motion_may_have_begun_before_it_was_known(ahead, known):
    """An answer to a goal takes time: the robot may be ahead by that and 20 ms, no further."""
    follower = Follower(ramp, tracking=0.3, begun=ahead if known else 0.0)
    while follower.time < 2.0:
        follower.step(ramp(follower.time + CYCLE + ahead))
    expected = 0.0 if known else 0.5 * (ahead - LEAD)
    assert follower.watch.worst_error == pytest.approx(expected, abs=1e-9)


def test_the_distance_of_a_joint_that_slides_is_in_metres():
    """Both where it grows and where it leaps."""
    sliding = NamedJoints(JOINTS, ('rad', 'm', 'rad'))
    for offset, reason in ((0.12, 'tracking error'), (5.0, 'check its encoders')):
        follower = Follower(lambda t: np.zeros(3), tracking=0.1, joints=sliding)
        with pytest.raises(UnsafeMotionError, match=reason) as raised:
            for share in np.linspace(0.1, 1.0, 10):
                follower.step(np.array([0.0, share * offset, 0.0]))
        assert ' m' in str(raised.value)
        assert 'rad' not in str(raised.value)


@given(delay=st.floats(0.5, 2.0))
def test_a_robot_that_follows_too_late_is_stopped(delay):
    """Half a second late at 0.5 rad/s is 0.15 rad behind what 0.2 s explain."""
    follower = Follower(ramp, tracking=0.1)
    with pytest.raises(UnsafeMotionError, match='tracking error of slow'):
        while follower.time < DURATION:
            follower.step(ramp(max(follower.time + CYCLE - delay, 0.0)))


@settings(max_examples=12)
@given(offset=st.floats(0.005, 0.3), sign=st.sampled_from([-1.0, 1.0]))
def test_an_offset_is_the_error(offset, sign):
    """A joint that is to stand still and stands elsewhere: its distance, and its name."""
    aside = np.array([0.0, 0.0, sign * offset])
    follower = Follower(tracking=0.31)
    while follower.time < DURATION:
        follower.step(position(follower.time + CYCLE) + aside)
    assert follower.watch.worst_error == pytest.approx(offset, abs=1e-9)
    strict = Follower(tracking=0.9 * offset)
    with pytest.raises(
        UnsafeMotionError, match=r'(tracking error|measured position) of still is'
    ) as raised:
        strict.step(position(CYCLE) + aside)
    assert isinstance(raised.value, ImplausibleStateError) == (offset > DEPARTURE_MARGIN)
    with pytest.raises(UnsafeMotionError, match='tracking error'):
        Follower().step(np.array([np.nan, 0.0, 0.7]))


@settings(max_examples=30)
@given(halt=st.floats(0.3, DURATION - 0.5), tracking=st.floats(0.02, 0.2))
def test_an_arm_that_halts_is_never_taken_for_wrongly_measured(halt, tracking):
    """The nearest place of its path may leap from one look to the next; its reading does not."""
    follower = Follower(tracking=tracking)
    with pytest.raises(UnsafeMotionError) as raised:
        while follower.time < 2.0 * DURATION:
            follower.step(position(min(follower.time + CYCLE, halt)))
    assert not isinstance(raised.value, ImplausibleStateError)


SLIDER = st.lists(
    st.tuples(st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.8, 1.0]), st.floats(0.1, 1.5)),
    min_size=1, max_size=8,
)


@given(slider=SLIDER, late=st.floats(0.0, 0.1))
def test_a_scaled_motion_is_the_integral_of_the_scaling(slider, late):
    """A robot that follows the scaled path passes, even if its scaling is told 0.1 s late."""
    # Each step of the slider by d shifts the progress by at most (late + half a cycle) d. The
    # polyline of the widest window has chords of 0.2 s: 0.005 rad at 1 rad/s^2, for two joints.
    follower = Follower(tracking=0.01)
    changes = np.cumsum([0.0, *(duration for _, duration in slider)])
    levels = np.array([level for level, _ in slider])
    shift = np.abs(np.diff(np.append(1.0, levels))).sum() * (late + 0.5 * CYCLE)

    def scaling(t):
        return levels[np.searchsorted(changes[1:-1], t, side='right')] if t >= 0.0 else 1.0

    progress = 0.0
    while follower.time < changes[-1]:
        progress += CYCLE * scaling(follower.time + 0.5 * CYCLE)
        follower.step(position(progress), scaling(follower.time + CYCLE - late))
    # A change falls on no cycle: one cycle more or less of it.
    assert follower.watch.progress == pytest.approx(
        progress, abs=shift + CYCLE * len(slider) + 1e-9
    )


@given(
    changes=st.lists(st.sampled_from([0.0, 0.3, 1.0]), max_size=60),
    stuck_at=st.floats(0.5, 5.0),
)
def test_a_robot_that_stands_though_it_may_go_is_caught(changes, stuck_at):
    """The scaling says 1: caught in bounded time, whatever the slider did before."""
    follower = Follower(ramp, duration=40.0, tracking=0.1)
    progress, before = 0.0, 1.0
    for scaling in [*changes, 1.0]:
        progress += CYCLE * 0.5 * (before + scaling)
        before = scaling
        follower.step(ramp(progress), scaling)
    while progress < stuck_at:
        progress += CYCLE
        follower.step(ramp(progress))
    stopped, q = follower.time, ramp(progress)
    with pytest.raises(UnsafeMotionError, match='tracking error of slow'):
        while follower.time < 30.0:
            follower.step(q)
    # On a ramp of v the error is v (t - delay - doubt), and the doubt about the progress is 1 s.
    assert follower.time - stopped <= 0.1 / 0.5 + SERVO_DELAY + LARGEST_UNCERTAINTY + 2.0 * CYCLE


def test_lost_and_repeated_measurements_are_no_fault():
    """Half a second without, the same one twice."""
    follower = Follower()
    for cycle in (CYCLE, 0.5, 0.0, 0.0, 0.9, CYCLE):
        follower.step(position(follower.time + cycle), cycle=cycle)
    assert follower.watch.worst_error < CHORDS


# --- effort ----------------------------------------------------------------------------------


LIMITS = np.array([5.0, np.inf, 2.0])


@given(
    length=st.floats(0.0, 0.5), joint=st.sampled_from([0, 2]), sign=st.sampled_from([-1.0, 1.0])
)
def test_a_burst_of_effort_passes_and_a_push_does_not(length, joint, sign):
    """Shorter than 0.1 s it is friction or a jerk; longer it is named by joint."""
    follower = Follower(effort=LIMITS)
    effort = np.array([-4.9, 1e6, 1.9])
    pushed = effort.copy()
    pushed[joint] = 1.01 * sign * LIMITS[joint]

    def push():
        begun = follower.time
        while follower.time < begun + length:
            follower.step(position(follower.time + CYCLE), effort=pushed)
        for _ in range(3):
            follower.step(position(follower.time + CYCLE), effort=effort)

    # From the first measurement above to the last: one cycle at each end is not decided.
    if length < EFFORT_TIME - CYCLE:
        for _ in range(5):
            push()
    elif length > EFFORT_TIME + 2.0 * CYCLE:
        with pytest.raises(UnsafeMotionError, match=f'effort of {JOINTS[joint]} is'):
            push()


def test_effort_that_disappears_is_a_fault():
    """Not where it never came, and not for a gap of a cycle or two."""
    without = Follower(effort=LIMITS)
    for _ in range(50):
        without.step(position(without.time + CYCLE), effort=NO_EFFORT)
    present = np.array([1.0, 1.0, np.nan])
    follower = Follower(effort=LIMITS, first_effort=present)
    for effort in (present, [np.nan, 1.0, np.nan], [np.nan, 1.0, np.nan], present):
        follower.step(position(follower.time + CYCLE), effort=effort)
    gone = follower.time
    with pytest.raises(UnsafeMotionError, match=r'no effort of slow has come for 0\.2'):
        while follower.time < DURATION:
            follower.step(position(follower.time + CYCLE), effort=[np.nan, np.nan, np.nan])
    assert follower.time - gone == pytest.approx(MISSING_EFFORT_TIME, abs=2.0 * CYCLE)


# --- the end ---------------------------------------------------------------------------------


def test_arrived_is_at_rest_at_the_end():
    """Not at the start, which is the same place; not in motion; not beside it."""
    follower = Follower()
    end, rest = position(DURATION), np.zeros(3)
    np.testing.assert_allclose(end, position(0.0), atol=1e-12)
    for progress in np.arange(CYCLE, DURATION, CYCLE):
        assert not follower.watch.has_arrived(position(progress), speed(progress))
        assert not follower.watch.has_arrived(end, rest)
        follower.step(position(progress))
    for _ in range(3):
        follower.step(end)
    assert follower.watch.has_arrived(end, rest)
    assert not follower.watch.has_arrived(end, np.array([0.0, 0.0, -0.021]))
    assert not follower.watch.has_arrived(end + np.array([0.0, 0.011, 0.0]), rest)


def test_an_end_that_is_not_reached_is_a_fault():
    """0.05 rad beside the path is followed; three seconds after the end it is enough."""
    follower = Follower()
    aside = np.array([0.0, 0.0, 0.05])
    with pytest.raises(UnsafeMotionError, match=r'end of the motion was not reached 3 s'):
        while follower.time < 20.0:
            follower.step(position(follower.time + CYCLE) + aside)
            assert not follower.watch.has_arrived(position(DURATION) + aside, np.zeros(3))
    assert follower.time == pytest.approx(DURATION + END_TIMEOUT, abs=2.0 * CYCLE)


# --- the slider at zero ----------------------------------------------------------------------


@given(timeout=st.floats(0.5, 5.0), scaling=st.sampled_from([0.0, 0.0005]))
def test_a_slider_at_zero_is_waited_for_so_long(timeout, scaling):
    follower = Follower(timeout=timeout)
    follower.step(position(CYCLE))
    stopped, q = follower.time, position(CYCLE)
    with pytest.raises(UnsafeMotionError, match='speed scaling has been zero for'):
        while follower.time < 10.0:
            follower.step(q, scaling)
    assert follower.time - stopped == pytest.approx(timeout, abs=3.0 * CYCLE)


def test_a_slider_that_comes_back_begins_the_wait_anew():
    follower = Follower(timeout=1.0)
    for _ in range(4):
        for _ in range(45):
            follower.step(position(0.0), 0.0)
        follower.step(position(0.0), 0.01)


# --- where the controller is -----------------------------------------------------------------


@settings(max_examples=25)
@given(
    time=st.floats(0.4, 6.0), late=st.floats(0.0, 1.0), begun=st.floats(0.0, 0.1),
    lag=st.floats(0.0, 0.1), halted=st.booleans(),
)
def test_the_controller_is_within_its_whereabouts(time, late, begun, lag, halted):
    """Wherever it began, however its servo lags, and whether it went on or halted since."""
    follower = Follower(begun=begun)
    while follower.time < time:
        reference = follower.time + CYCLE + begun
        follower.time += CYCLE
        follower.watch.update(measured(
            follower.time, position(reference - lag), speed(reference - lag)
        ), 1.0)
    reference = follower.time + begun + (0.0 if halted and late > FRESH else late)
    watch = follower.watch
    where = watch.whereabouts(FIRST_NOW + follower.time + late, 1.0, watch.latest)
    # Chords between tried instants displace the measured place by less than a millisecond.
    assert where.earliest - 1e-3 <= reference <= where.latest + 1e-3
    assert where.halted or late <= FRESH


def test_an_arm_that_stands_where_its_path_moves_has_been_halted():
    """Another client has cancelled the goal: within a cycle that is possible."""
    follower = Follower()
    while follower.time < 1.0:
        t = follower.time + CYCLE
        follower.time = t
        follower.watch.update(measured(t, position(t), speed(t)), 1.0)
    watch = follower.watch
    assert not watch.whereabouts(FIRST_NOW + follower.time, 1.0, watch.latest).halted
    follower.step(position(follower.time))
    assert watch.whereabouts(FIRST_NOW + follower.time, 1.0, watch.latest).halted


@pytest.mark.parametrize('pace', [0.05, 1.0])
@pytest.mark.parametrize('halt', [0.0, 0.13])
def test_where_the_controller_is_stays_known_on_a_busy_machine(pace, halt):
    """Every look is 0.15 s after the last, and the arm halts in one of them: slow runs, too."""
    def way(t):
        return ramp(pace * t)

    follower, halted = Follower(way, duration=20.0), 0.0
    for number in range(40):
        follower.time += 0.15
        halted = halt if number >= 20 else 0.0
        reference = follower.time - halted
        follower.watch.follow(
            measured(follower.time, way(reference - 0.03), ramp(pace)), 1.0
        )
        where = follower.watch.whereabouts(
            FIRST_NOW + follower.time, 1.0, follower.watch.latest
        )
        assert where.earliest - 1e-3 <= reference <= where.latest + 1e-3
    # The lag of a servo, and the error of a place at the lowest speed.
    assert where.latest - where.earliest < SERVO_DELAY + PLACE_ERROR / (0.5 * pace)
