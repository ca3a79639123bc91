# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A motion is followed where it is made, and stopped where it is not."""

from hypothesis import given
from hypothesis import settings
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation.motion_watch import EFFORT_TIME
from robot_identification.excitation.motion_watch import END_TIMEOUT
from robot_identification.excitation.motion_watch import FASTEST_CLOCK
from robot_identification.excitation.motion_watch import LARGEST_DOUBT
from robot_identification.excitation.motion_watch import LEAD
from robot_identification.excitation.motion_watch import LONGEST_STEP
from robot_identification.excitation.motion_watch import MotionWatch
from robot_identification.excitation.motion_watch import SERVO_DELAY
from robot_identification.excitation.motion_watch import WatchLimits
from robot_identification.simulation.controller import Knots

JOINTS = ('slow', 'fast', 'still')
DURATION = 8.0
FIRST_STAMP, FIRST_NOW = 1000.0, 50.0
CYCLE = 0.02
FREE = np.full(3, np.inf)
NO_EFFORT = np.full(3, np.nan)
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


class Follower:
    """Feeds a watch with the measurements of a robot, cycle by cycle."""

    def __init__(
        self, path=position, duration=DURATION, tracking=0.1, timeout=30.0, effort=FREE, begun=0.0
    ):
        times = np.arange(1, round(duration / 0.02) + 1) * 0.02
        knots = Knots(times, np.array([path(t) for t in times]))
        self.watch = MotionWatch(
            JOINTS, knots, path(0.0), FIRST_STAMP, FIRST_NOW,
            WatchLimits(tracking, timeout, effort), begun=begun,
        )
        self.time = 0.0

    def step(self, q, scaling=1.0, effort=NO_EFFORT, cycle=CYCLE):
        """Show the next measurement."""
        self.time += cycle
        self.watch.update(
            FIRST_STAMP + self.time, FIRST_NOW + self.time, q, np.asarray(effort), scaling
        )


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
    """
    An answer to a goal takes time: the robot may be ahead by that, and no further.

    On the ramp it is 0.5 rad/s away from what is not allowed for; 20 ms always are.
    """
    follower = Follower(ramp, tracking=0.3, begun=ahead if known else 0.0)
    while follower.time < 2.0:
        follower.step(ramp(follower.time + CYCLE + ahead))
    expected = 0.0 if known else 0.5 * (ahead - LEAD)
    assert follower.watch.worst_error == pytest.approx(expected, abs=1e-9)


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
        UnsafeMotionError, match=r'tracking error of still is \d\.\d+ rad, allowed are'
    ):
        strict.step(position(CYCLE) + aside)


def test_a_position_that_is_no_number_is_an_error():
    follower = Follower()
    with pytest.raises(UnsafeMotionError, match='tracking error'):
        follower.step(np.array([np.nan, 0.0, 0.7]))


SLIDER = st.lists(
    st.tuples(st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.8, 1.0]), st.floats(0.1, 1.5)),
    min_size=1, max_size=8,
)


@given(slider=SLIDER, late=st.floats(0.0, 0.1))
def test_a_scaled_motion_is_the_integral_of_the_scaling(slider, late):
    """
    A robot that follows the scaled path passes, even if its scaling is told 0.1 s late.

    Each step of the slider by d shifts the progress by at most (late + half a cycle) d. The
    polyline of the widest window has chords of 0.2 s: 0.005 rad at 1 rad/s^2, for two joints.
    """
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
    """
    It stands while the scaling says 1: caught in bounded time, whatever the slider did before.

    On a ramp of v the error is v (t - delay - doubt); the doubt about the progress that slider
    changes leave behind is at most 1 s.
    """
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
    assert follower.time - stopped <= 0.1 / 0.5 + SERVO_DELAY + LARGEST_DOUBT + 2.0 * CYCLE


@given(jump=st.floats(0.001, 1e6))
def test_stamps_never_go_back(jump):
    """A clock that is set, or a driver that begins anew."""
    follower = Follower()
    follower.step(position(CYCLE))
    with pytest.raises(UnsafeMotionError, match=r'stamps of joint states jump by -\d'):
        follower.step(position(CYCLE), cycle=-jump)


@given(jump=st.floats(LONGEST_STEP + 0.01, 1e6), elapsed=st.floats(0.0, 0.5))
def test_stamps_do_not_leap(jump, elapsed):
    """Ahead of our own clock they may be as a fast simulation is, and by a second."""
    follower = Follower()
    watch = follower.watch
    stamp = FIRST_STAMP + jump + FASTEST_CLOCK * elapsed
    with pytest.raises(UnsafeMotionError, match='stamps of joint states jump'):
        watch.update(stamp, FIRST_NOW + elapsed, position(0.0), NO_EFFORT, 1.0)


@settings(max_examples=12)
@given(factor=st.floats(0.05, FASTEST_CLOCK))
def test_a_simulation_may_be_faster_or_slower_than_we_are(factor):
    """The path is followed by stamps, whatever our own clock says."""
    watch = Follower().watch
    for t in np.arange(CYCLE, DURATION, CYCLE):
        watch.update(FIRST_STAMP + t, FIRST_NOW + t / factor, position(t), NO_EFFORT, 1.0)
    assert watch.worst_error < CHORDS
    assert watch.progress == pytest.approx(DURATION, abs=2.0 * CYCLE)


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


def test_effort_that_is_not_told_is_not_judged():
    follower = Follower(effort=LIMITS)
    for _ in range(50):
        follower.step(position(follower.time + CYCLE), effort=NO_EFFORT)


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


# --- a stop on the path ----------------------------------------------------------------------

STOP_TIME = 0.5


def knots_with_rates(duration=DURATION):
    """Return the motion as it is sent: positions, velocities, accelerations."""
    times = np.arange(1, round(duration / 0.02) + 1) * 0.02
    rate = 2.0 * np.pi / DURATION
    ddq = rate**2 * np.array([
        [0.4 * np.cos(rate * t), -1.2 * np.cos(2.0 * rate * t), 0.0] for t in times
    ])
    dq = np.array([speed(t) for t in times])
    return Knots(times, np.array([position(t) for t in times]), dq, ddq)


def watch_until(time, scaling=1.0, late=0.0):
    """Return a watch of a perfect robot, some time after the start; the last came in a burst."""
    watch = MotionWatch(
        JOINTS, knots_with_rates(), position(0.0), FIRST_STAMP, FIRST_NOW,
        WatchLimits(0.1, 30.0, FREE),
    )
    for k in range(1, round(time / CYCLE) + 1):
        watch.update(
            FIRST_STAMP + k * CYCLE, FIRST_NOW + k * CYCLE, position(k * CYCLE), NO_EFFORT, 1.0
        )
    for k in (1, 2):
        watch.update(
            FIRST_STAMP + time + k * CYCLE, FIRST_NOW + time + 2 * CYCLE - (2 - k) * 1e-4,
            position(time + k * CYCLE), NO_EFFORT, scaling,
        )
    return watch, FIRST_NOW + time + 2 * CYCLE + late


@settings(max_examples=25)
@given(time=st.floats(0.4, 6.0), late=st.floats(0.0, 1.0))
def test_a_stop_stays_on_the_path_and_ends_at_rest(time, late):
    """Also where nothing was measured for a while: it begins where the controller is by then."""
    time = round(time / CYCLE) * CYCLE
    watch, now = watch_until(time, late=late)
    stop = watch.stop_on_path(now, STOP_TIME)
    stop.check(len(JOINTS))
    assert stop.times[-1] == STOP_TIME
    assert not np.any(stop.dq[-1])
    reached = time + 2 * CYCLE + late
    u = stop.times / STOP_TIME
    # From full speed to none on average half of it: half of the time on the path.
    expected = reached + STOP_TIME * (u - u**3 + 0.5 * u**4)
    # A burst of the last message leaves 5 ms of doubt about the pace of a second's silence.
    tolerance = 0.03 * (late + 0.1)
    for q, t in zip(stop.q, expected, strict=True):
        assert np.max(np.abs(q - position(t))) < tolerance
    rate = 1.0 - 3.0 * u**2 + 2.0 * u**3
    for dq, t, share in zip(stop.dq, expected, rate, strict=True):
        assert np.max(np.abs(dq - share * speed(t))) < tolerance


def test_a_stop_at_a_slower_slider_is_shorter_on_the_path():
    """The arm moves at a fifth of its speed, and goes a fifth as far until it rests."""
    far, now = watch_until(1.0)
    near, _ = watch_until(1.0, scaling=0.2)
    ways = [
        np.linalg.norm(watch.stop_on_path(now, STOP_TIME).q[-1] - position(1.0 + 2 * CYCLE))
        for watch in (far, near)
    ]
    assert ways[1] < 0.35 * ways[0]
