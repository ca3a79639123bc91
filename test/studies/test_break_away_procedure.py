# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The break-away test without ROS: what it finds, what it never does, and every way it ends."""

from dataclasses import replace
import math

from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.simulation.effort_joint import EffortJoint, EffortJointConstants
from robot_identification.studies.break_away.estimate import (
    BreakAwayRun, estimate_break_away, largest_excess,
)
from robot_identification.studies.break_away.options import BreakAwaySettings
from robot_identification.studies.break_away.procedure import (
    BoundedPI, BreakAwayTest, find_onset, Phase,
)

# Medians of the youBot report (table 4.2, joint 1; wheel 3), with inertias of rotors of 1.35e-5
# kg m^2 behind its gears, and a link on the joint.
JOINT = EffortJointConstants(
    inertia=0.4, static=1.26, coulomb=1.0, viscous=0.1, gravity_moment=0.6,
)
WHEEL = EffortJointConstants(inertia=0.009, static=0.126, coulomb=0.1, viscous=0.01)
USUAL = BreakAwaySettings(torque_cap=1.9, torque_limit=4.0, inertia=0.4)


class Bench:
    """A simulated joint under test, and what it was told."""

    def __init__(self, constants, settings, start=0.0, *, period=0.005, noise=0.005, **options):
        self.joint = EffortJoint(constants, start, velocity_noise=noise, seed=1)
        self.test = BreakAwayTest(settings, start, **options)
        self.torques, self.phases, self.farthest = [], [], 0.0
        self._period, self._k = period, 0

    @property
    def time(self):
        """Time of the next joint state [s]."""
        return self._k * self._period

    def step(self):
        q, dq = self.joint.measure()
        torque = self.test.step(self.time, q, dq, effort=self.time)
        self.torques.append(torque)
        self.phases.append(self.test.phase)
        self.farthest = max(self.farthest, abs(q - self.test.start))
        self.joint.advance(torque, self._period)
        self._k += 1

    def run(self, until=lambda bench: bench.test.has_ended, seconds=3000.0):
        """Go on until something holds."""
        while not until(self):
            assert self.time < seconds, 'it does not end'
            self.step()
        return self


def of(constants, **changes):
    cap = 1.5 * constants.static
    return BreakAwaySettings(
        torque_cap=cap, torque_limit=3.0 * cap, inertia=constants.inertia, **changes
    )


@pytest.mark.parametrize(('constants', 'start', 'gravity', 'repeats'), [
    (JOINT, 0.0, None, 4), (JOINT, 0.7, JOINT.gravity, 4), (WHEEL, 0.0, None, 25),
], ids=['free of gravity', 'gravity subtracted', 'wheel'])
def test_it_finds_what_was_set(constants, start, gravity, repeats):
    """The whole test, of the wheel with 25 repeats in both directions, alternating."""
    # What is reported is the torque of the simulated joint within 2 %, as the issue asks. The
    # published one, at the threshold, is never too low, and too high by what accelerates the joint
    # at most.
    bench = Bench(constants, of(constants, repeats=repeats), start, gravity=gravity).run()
    test = bench.test
    assert test.phase is Phase.DONE, test.reason
    assert [repeat.direction for repeat in test.repeats] == [1, -1] * repeats
    assert np.max(np.abs(bench.torques)) <= test.settings.torque_limit
    assert bench.torques[-1] == 0.0
    run = BreakAwayRun('a joint', 'free' if gravity is None else 'subtracted', test.settings,
                       test.repeats)
    values = np.array([repeat.torque for repeat in test.repeats])
    step = test.settings.rate * 0.005
    # A joint that came to rest beside its start feels some of the moment that is left out there.
    left_out = 0.0 if gravity is not None else constants.gravity(test.settings.tolerance)
    lowest, highest = constants.static - left_out, constants.static + left_out
    # Noise confirms the threshold a sample or two early or late.
    assert np.all(values >= lowest - 3.0 * step)
    assert np.all(values <= highest + largest_excess(test.settings) + 3.0 * step + 0.02 * values)
    found = estimate_break_away(run)
    assert found.torque == pytest.approx(constants.static, rel=0.02)
    for box in found.boxes.values():
        assert box.median == pytest.approx(constants.static, rel=0.02)
        assert box.count == repeats


def test_a_single_fast_sample_does_not_count():
    test = BreakAwayTest(replace(USUAL, settle_time=0.0), 0.0)
    speeds = [0.0] * 5 + [0.2, 0.2, 0.0] * 20
    torques = [test.step(0.01 * k, 0.0, speed) for k, speed in enumerate(speeds)]
    assert test.phase is Phase.RAMPING
    assert test.repeats == ()
    assert torques[-1] > 0.0


def ramping(**changes):
    test = BreakAwayTest(replace(USUAL, settle_time=0.0, **changes), 0.0)
    for k in range(20):
        test.step(0.01 * k, 0.0, 0.0)
    assert test.phase is Phase.RAMPING
    return test, 0.2


@pytest.mark.parametrize(('state', 'words'), [
    ((0.2, math.nan, 0.0), 'the position of a joint state is nan'),
    ((0.2, 0.0, math.inf), 'the velocity of a joint state is inf'),
    ((math.nan, 0.0, 0.0), 'the time of a joint state is nan'),
    ((0.1, 0.0, 0.0), 'older than the one before'),
    ((0.5, 0.0, 0.0), 'no joint state for 0.31 s, at most 0.2 s'),
    ((0.2, 0.31, 0.0), 'the window is 0.3 rad'),
    ((0.2, 0.0, -1.6), 'the limit is 1.5 rad/s'),
])
def test_what_cannot_be_used_ends_the_test(state, words):
    """Torque is zero with the answer, and with every one after it, whatever comes."""
    test, _ = ramping()
    assert test.step(*state) == 0.0
    assert test.phase is Phase.ABORTED
    assert words in test.reason
    reason = test.reason
    assert test.step(0.6, 0.0, 0.0) == test.step(math.nan, 5.0, 0.0) == 0.0
    assert test.abort('later') == 0.0
    assert test.reason == reason


def test_a_joint_that_is_stronger_than_the_cap_ends_the_test():
    """No torque above the cap is sent, and the reason says what to do."""
    constants = replace(JOINT, static=2.5)
    bench = Bench(constants, USUAL).run()
    assert bench.test.phase is Phase.ABORTED
    assert '1.9 N m, the torque cap, did not move the joint up' in bench.test.reason
    assert 'pre-test' in bench.test.reason
    assert max(bench.torques) <= 1.9
    assert max(bench.torques) == pytest.approx(1.9, abs=0.002)
    assert bench.joint.q == 0.0


@settings(max_examples=40)
@given(
    states=st.lists(
        st.tuples(st.floats(0.0, 0.1), st.floats(-0.35, 0.35), st.floats(-1.6, 1.6)),
        min_size=1, max_size=80,
    ),
    moment=st.floats(-1.0, 1.0), manual=st.booleans(),
)
def test_no_torque_is_above_the_limit(states, moment, manual):
    """Whatever a joint does; and an ended test has zero torque."""
    tested = BreakAwayTest(
        replace(USUAL, ramp_rate=50.0, settle_time=0.0), 0.0,
        lambda q: moment * math.cos(3.0 * q), manual=manual,
    )
    t = 0.0
    for dt, q, dq in states:
        t += dt
        torque = tested.step(t, q, dq)
        assert abs(torque) <= tested.settings.torque_limit
        if tested.has_ended:
            assert torque == 0.0
        if manual:
            tested.raise_torque(0.5)


def test_the_pre_test_grows_only_when_asked():
    """Steps that are asked for at once do not add up; nobody there for long ends it."""
    settings = of(JOINT, settle_time=0.0, ramp_rate=1.0)
    bench = Bench(JOINT, settings, manual=True)
    bench.run(lambda bench: bench.test.phase is Phase.RAMPING)
    for _ in range(5):
        assert bench.test.raise_torque(0.2)
    bench.run(lambda bench: bench.time > 1.0)
    assert bench.torques[-1] == pytest.approx(0.2, abs=1e-12)

    def next_step(bench):
        bench.test.raise_torque(0.01)
        return bench.test.has_ended

    bench.run(next_step)
    assert bench.test.phase is Phase.DONE
    assert [repeat.direction for repeat in bench.test.repeats] == [1, -1]
    for repeat in bench.test.repeats:
        # It grows by 0.01 N m at most while the joint is on its way to the threshold.
        assert 0.0 < repeat.torque - JOINT.static < largest_excess(settings) + 0.02
    left = Bench(JOINT, settings, manual=True)
    left.run(lambda bench: bench.test.phase is Phase.RAMPING)
    left.test.raise_torque(0.3)
    left.run()
    assert 'the torque was not raised for 30 s' in left.test.reason
    assert left.torques[-1] == 0.0
    with pytest.raises(UsageError, match='not positive'):
        left.test.raise_torque(math.nan)
    assert not left.test.raise_torque(0.1)


@given(
    errors=st.lists(st.floats(-10.0, 10.0), min_size=1, max_size=50),
    gain=st.floats(0.0, 5.0), integral_gain=st.floats(0.0, 5.0), bound=st.floats(0.01, 3.0),
)
def test_output_and_integral_are_bounded(errors, gain, integral_gain, bound):
    """The integral alone never asks for more than the bound, and a reset forgets it."""
    loop = BoundedPI(gain, integral_gain, bound)
    for error in errors:
        assert abs(loop.step(error, 0.1)) <= bound
        # Rounding of a product and a quotient.
        assert abs(integral_gain * loop.integral) <= bound * (1.0 + 1e-12)
    loop.reset()
    assert loop.integral == 0.0


def test_onset_is_the_last_time_that_the_joint_leaves():
    """A joint that yields and comes back has not begun to move."""
    away = np.array([0.0, 0.2, 0.6, 0.1, 0.4, 0.7, 0.9, 0.3])
    assert find_onset(away, 0.5, last=6) == 5
    assert find_onset(away, 1.0, last=6) == 6
    assert find_onset(away, -1.0, last=6) == 0
