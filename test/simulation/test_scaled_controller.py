# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The controller of the robot keeps to the path, its limits and its word whatever happens."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.simulation import RobotCondition, ScaledController, TrajectoryPoints
from robot_identification.simulation.controller import TrajectoryController

PERIOD = 0.002
LIMITS = np.array([5.0, 5.0, 4.0])
START = np.array([0.1, -0.2, 0.3])
AWAY = np.array([1.0, -0.6, 0.4])
STOPPED = RobotCondition(safety_mode=3)
INTERRUPTIONS = {
    'program stop': RobotCondition(program_running=False),
    'controller switched': RobotCondition(controller_active=False),
}
# A quintic from rest to rest over T accelerates with up to 5.774 times its distance over T^2.
QUINTIC_PEAK = 5.774


def rest_to_rest(duration):
    """Return a quintic from rest to rest, on which all joints keep one proportion."""
    still = np.zeros((1, AWAY.size))
    return TrajectoryPoints(np.array([duration]), (START + AWAY)[None], still, still)


def shortest(share=0.9):
    """Return the duration at which the quintic needs a share of the acceleration limits."""
    return float(np.sqrt(QUINTIC_PEAK / share * np.max(np.abs(AWAY) / LIMITS)))


class Run:
    """A controller and its references, cycle by cycle."""

    def __init__(self):
        self.controller = ScaledController(START, LIMITS, PERIOD)
        self.references = []

    @property
    def now(self):
        """Present time [s]."""
        return len(self.references) * PERIOD

    def go(self, duration):
        """Sample for some time; return positions, velocities and accelerations of it."""
        first = len(self.references)
        for _ in range(round(duration / PERIOD)):
            self.references.append(self.controller.sample(self.now))
        return tuple(np.array(x) for x in zip(*self.references[first:], strict=True))

    def change(self, condition):
        """Change the condition; return whether that ended what was under way."""
        return self.controller.set_condition(condition, self.now)

    def follow(self, knots):
        """Send a trajectory."""
        self.controller.follow(knots, self.now)

    def everything(self):
        """Return positions, velocities and accelerations from the start, shape (N, n)."""
        return tuple(np.array(x) for x in zip(*self.references, strict=True))


def under_way(share, of_limits=0.9):
    """Return a run after a share of a motion, and the duration of that."""
    run, duration = Run(), shortest(of_limits)
    run.follow(rest_to_rest(duration))
    run.go(share * duration)
    return run, duration


def check_limits(run):
    """Check that the arm is never asked for more than its acceleration limits, nor jumps."""
    q, dq, ddq = run.everything()
    assert np.all(np.abs(ddq) <= LIMITS * (1.0 + 1e-9))
    # Between two cycles the velocity changes by the mean acceleration, which differs by half a
    # cycle's jerk: 13 % where a stop begins while the arm still crawls, 1 % at speed.
    assert np.all(np.abs(np.diff(dq, axis=0)) <= 1.15 * LIMITS * PERIOD)
    drift = np.diff(q, axis=0) - 0.5 * PERIOD * (dq[1:] + dq[:-1])
    assert np.max(np.abs(drift)) <= np.max(LIMITS) * PERIOD**2


def moved(q):
    """Return by how much the joint that moved most did so [rad]."""
    return np.ptp(q, axis=0).max()


def progress(q):
    """Return how far each sample is on the way, after checking that it is on it."""
    shares = (q - START) / AWAY
    # All joints are at the same share of the way: the path is kept to rounding.
    assert np.max(np.ptp(shares, axis=1)) < 1e-12
    assert np.all(np.diff(shares[:, 0]) >= -1e-14)
    return shares[:, 0]


@given(
    knots=st.lists(st.lists(st.floats(-2.0, 2.0), min_size=6, max_size=6), min_size=1, max_size=4),
    replaced=st.floats(0.05, 1.5),
    cancelled=st.booleans(),
)
def test_at_full_speed_it_is_the_plain_controller_to_the_bit(knots, replaced, cancelled):
    """Whatever is followed, replaced and cancelled."""
    values = np.array(knots)
    values[-1, 3:] = 0.0
    trajectory = TrajectoryPoints(0.5 * np.arange(1, len(knots) + 1), values[:, :3], values[:, 3:])
    run, plain = Run(), TrajectoryController(START)
    run.follow(trajectory)
    plain.follow(trajectory, 0.0)
    for cycle in range(500):
        now = cycle * PERIOD
        if cycle == round(replaced / PERIOD):
            for controller in (run.controller, plain):
                if cancelled:
                    controller.stop(now)
                else:
                    controller.follow(rest_to_rest(1.0), now)
        found, expected = run.controller.sample(now), plain.sample(now)
        for value, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(value, wanted)
        assert run.controller.executing == plain.active


@given(percent=st.floats(10.0, 100.0))
def test_scaled_time_is_the_same_path_and_takes_longer(percent):
    """At the factor s everything comes 1/s later, velocities by s, accelerations by s^2."""
    share, duration = percent / 100.0, 0.4
    run, plain = Run(), TrajectoryController(START)
    run.change(RobotCondition(speed_scaling=percent))
    # At rest the pace is there at once.
    run.go(2 * PERIOD)
    run.follow(rest_to_rest(duration))
    plain.follow(rest_to_rest(duration), 0.0)
    cycles = int(duration / share / PERIOD)
    found = run.go(cycles * PERIOD)
    expected = [plain.sample(share * k * PERIOD) for k in range(cycles)]
    for order, wanted in enumerate(zip(*expected, strict=True)):
        # The lag is a sum of up to 2000 rounded numbers.
        np.testing.assert_allclose(
            found[order], np.array(wanted) * share**order, atol=1e-10
        )
    assert run.controller.executing
    run.go(3 * PERIOD)
    assert not run.controller.executing
    np.testing.assert_allclose(run.references[-1][0], START + AWAY, atol=1e-12)


@given(when=st.floats(0.05, 0.95), mode=st.sampled_from([3, 4, 5, 6, 7, 9, 13]))
def test_a_protective_stop_ends_within_the_limits_and_the_goal_goes_on(when, mode):
    """The arm decelerates on its path, holds to the bit, and finishes after it has been let go."""
    run, duration = under_way(when)
    assert not run.change(RobotCondition(safety_mode=mode))
    assert run.controller.speed_scaling == 0.0
    # At most v / a is needed by a trajectory that is not at its limits: a second is ample.
    run.go(1.0)
    q, dq, ddq = run.go(2.0)
    assert moved(q) == 0.0
    assert not dq.any()
    assert not ddq.any()
    assert run.controller.executing
    assert not run.change(RobotCondition())
    run.go(duration + 1.0)
    assert not run.controller.executing
    np.testing.assert_allclose(run.references[-1][0], START + AWAY, atol=1e-12)
    progress(run.everything()[0])
    check_limits(run)


@given(when=st.floats(0.05, 0.95), kind=st.sampled_from(sorted(INTERRUPTIONS)),
       pause=st.booleans())
def test_an_interruption_brakes_within_the_limits_and_nothing_resumes(when, kind, pause):
    """The arm is at rest after v / a, holds to the bit, and stays when all is well again."""
    run, duration = under_way(when)
    if pause:
        run.change(STOPPED)
        run.go(0.05)
    _, dq, _ = run.go(PERIOD)
    assert run.change(INTERRUPTIONS[kind])
    assert not run.controller.is_active(run.now)
    with pytest.raises(UnsafeMotionError, match='not active'):
        run.follow(rest_to_rest(duration))
    run.go(np.max(np.abs(dq[-1]) / LIMITS) + 3 * PERIOD)
    assert not run.controller.executing
    q, _, _ = run.go(1.0)
    assert not run.change(RobotCondition())
    assert run.controller.is_active(run.now)
    later, _, _ = run.go(1.0)
    assert moved(np.vstack([q, later])) == 0.0
    check_limits(run)


@given(steps=st.lists(
    st.tuples(
        st.floats(0.01, 0.8),
        st.sampled_from(['follow', 'restart', 'program', 'switch', 'stop', 'slow', 'normal']),
    ),
    min_size=2, max_size=8,
))
def test_any_sequence_of_events_keeps_the_limits(steps):
    """Sliders, stops, restarts and goals in any order, at 500 Hz."""
    conditions = {
        'program': INTERRUPTIONS['program stop'], 'switch': INTERRUPTIONS['controller switched'],
        'stop': STOPPED, 'slow': RobotCondition(speed_scaling=25.0), 'normal': RobotCondition(),
    }
    run = Run()
    run.follow(rest_to_rest(shortest()))
    for duration, event in steps:
        run.go(duration)
        if event in conditions:
            run.change(conditions[event])
        elif event == 'restart':
            run.controller.restart(run.now)
        elif run.controller.is_active(run.now) and not run.controller.executing:
            target = run.controller.reference[0] + AWAY
            still = np.zeros((1, 3))
            run.follow(TrajectoryPoints(np.array([shortest()]), target[None], still, still))
    run.go(0.5)
    check_limits(run)
