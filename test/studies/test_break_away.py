# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Repeats of a break-away test: against NumPy and Matplotlib; their file."""

from dataclasses import replace
import math

from hypothesis import given, settings, strategies as st
from matplotlib.cbook import boxplot_stats
import numpy as np
import pytest
from robot_identification.errors import IdentificationError, UsageError
from robot_identification.files import dump_yaml, to_plain
from robot_identification.simulation.effort_joint import EffortJoint, EffortJointConstants
from robot_identification.studies.break_away import (
    ARMED, BreakAwaySession, DONE, FAULT, JointReading, TESTING,
)
from robot_identification.studies.break_away.estimate import (
    box_statistics, break_away_content, BreakAwayRun, corrected_torque, estimate_break_away,
    largest_excess, load_break_away,
)
from robot_identification.studies.break_away.options import BreakAwaySettings
from robot_identification.studies.break_away.procedure import (
    BoundedPI, BreakAwayRepeat, BreakAwayTest, find_onset, Phase,
)
from robot_identification.studies.break_away.session import ARMED_SECONDS, ENDING, ZERO_SECONDS
import scipy

SETTINGS = BreakAwaySettings(torque_cap=1.9, torque_limit=4.0, inertia=0.4)


def repeat(direction=1, torque=1.3, **changes):
    return BreakAwayRepeat(**{
        'direction': direction, 'torque': torque, 'measured': torque, 'gravity': 0.0,
        'position': 0.01, 'onset_torque': 1.28, 'onset_travel': 5e-4, 'ramp_rate': 0.095,
        'acceleration': 0.3, **changes,
    })


def run_of(up, down, **changes):
    return BreakAwayRun(
        'arm_joint_1', 'free', SETTINGS,
        tuple(repeat(sign, torque) for pair in zip(up, down, strict=True)
              for sign, torque in zip((1, -1), pair, strict=True)),
        **changes,
    )


@settings(max_examples=50)
@given(st.lists(st.floats(-5.0, 5.0).map(lambda x: round(x, 3)), min_size=2, max_size=60))
def test_boxes_are_those_of_others(values):
    """Quartiles as NumPy's, their range as SciPy's, whiskers and outliers as Matplotlib's."""
    box = box_statistics(np.array(values))
    assert (box.lower_quartile, box.median, box.upper_quartile) == tuple(
        np.percentile(values, [25, 50, 75])
    )
    assert box.interquartile_range == pytest.approx(scipy.stats.iqr(values), abs=1e-12)
    # Matplotlib lets whiskers end at a quartile where there is no value between.
    (drawn,) = boxplot_stats(values, whis=1.5)
    assert min(box.lower_whisker, box.lower_quartile) == pytest.approx(drawn['whislo'], abs=1e-12)
    assert max(box.upper_whisker, box.upper_quartile) == pytest.approx(drawn['whishi'], abs=1e-12)
    assert list(box.outliers) == sorted(drawn['fliers'])
    assert box.count == len(values)


@pytest.mark.parametrize('travel', [1e-5, 1e-3])
def test_corrections_are_exact_where_friction_is_constant(travel):
    """A ramp beyond constant friction: x = r t^3 / (6 I), v = r t^2 / (2 I), v' = r t / I."""
    # Both corrections return the friction; without one the excess is the largest there can be.
    friction, inertia, rate = 1.26, SETTINGS.inertia, SETTINGS.rate
    at_threshold = math.sqrt(2.0 * inertia * SETTINGS.threshold / rate)
    at_onset = (6.0 * inertia * travel / rate)**(1.0 / 3.0)
    one = repeat(
        torque=friction + rate * at_threshold, acceleration=rate * at_threshold / inertia,
        onset_torque=friction + rate * at_onset, onset_travel=travel, ramp_rate=rate,
    )
    for correction in ('inertia', 'onset'):
        assert corrected_torque(one, inertia, correction) == pytest.approx(friction, rel=1e-12)
    assert corrected_torque(one, inertia, 'none') - friction == pytest.approx(
        largest_excess(SETTINGS), rel=1e-12
    )
    with pytest.raises(UsageError, match='no correction'):
        corrected_torque(one, inertia, 'magic')


@pytest.fixture
def content():
    found = [
        estimate_break_away(run_of([1.2, 1.3, 1.25], [1.2, 1.3, 1.27], aborted='by hand')),
        estimate_break_away(
            replace(run_of([0.2, 0.3], [0.2, 0.3]), joint='arm_joint_5'), correction='onset'
        ),
    ]
    return to_plain(break_away_content('youbot', found)), found


def test_the_file_comes_back(content, tmp_path):
    written, found = content
    path = tmp_path / 'break_away.yaml'
    path.write_text(dump_yaml(written))
    robot, read = load_break_away(path)
    assert robot == 'youbot'
    assert [joint.run for joint in read] == [joint.run for joint in found]
    assert [joint.boxes for joint in read] == [joint.boxes for joint in found]
    assert [joint.uncorrected for joint in read] == [joint.uncorrected for joint in found]
    assert [entry['uncorrected_torque'] for entry in written['joints']] == [
        joint.uncorrected_torque for joint in found
    ]
    assert [joint.notes for joint in read] == [joint.notes for joint in found]
    assert to_plain(break_away_content(robot, read)) == written


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


STEP = 0.004
SESSION_SETTINGS = BreakAwaySettings(
    torque_cap=0.5, torque_limit=0.6, inertia=0.01, settle_time=0.01, ramp_rate=2.0, repeats=2,
    longest_gap=0.1,
)
TEXT = 'break_away wheel 0.5 Nm'


class SessionBench:
    """A session beside a joint that begins to turn at 0.1 N m, and a clock."""

    def __init__(self):
        self.session = BreakAwaySession()
        self.now, self.q, self.dq, self.torque = 10.0, 0.0, 0.0, 0.0
        self.other, self.sent, self.problem = 0.3, [], ''

    def reading(self):
        return JointReading(self.now, self.q, self.dq, 0.0, {'held': (self.other, 0.0)})

    def send(self, torque):
        """Keep what is sent: the torque acts until the next one."""
        if torque is not None:
            self.sent.append((self.session.state, torque))
            self.torque = torque

    def arm(self):
        self.session.check_not_busy()
        self.session.arm(TEXT, self.now)

    def execute(self, text=TEXT):
        self.session.check_not_busy()
        self.session.check_armed()
        self.session.check_confirmed(text, self.now)
        self.session.begin(BreakAwayTest(SESSION_SETTINGS, self.q), self.reading(), 'testing')

    def live(self, seconds):
        """Let time pass, in which joint states come."""
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            # Coulomb friction of 0.1 N m, which holds what does not move.
            driving = self.torque - math.copysign(0.1, self.dq or self.torque)
            if self.dq or abs(self.torque) > 0.1:
                before = self.dq
                self.dq += driving / SESSION_SETTINGS.inertia * STEP
                if before * self.dq < 0.0:
                    self.dq = 0.0
            self.q += self.dq * STEP
            self.send(self.session.receive(self.reading(), self.now, self.now))
            self.watch()

    def silent(self, seconds):
        """Let time pass without joint states."""
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            self.watch()

    def watch(self):
        self.send(self.session.watch(self.now, self.problem))
        if self.session.has_ended(self.now):
            self.session.leave()


@pytest.fixture
def bench():
    made = SessionBench()
    made.arm()
    made.execute()
    return made


def test_the_test_ends_with_zero_torque_and_its_ramps(bench):
    bench.live(60.0)
    assert bench.session.state == DONE
    assert len(bench.session.test.repeats) == 4
    # It breaks away at 0.1 N m; the ramp of 2 N m/s grows for 25 ms more, in which the joint of
    # 0.01 kg m^2 travels the 0.5 mrad of the onset, and by two steps of 4 ms.
    assert all(0.1 <= one.onset_torque <= 0.166 for one in bench.session.test.repeats)
    assert bench.torque == 0.0


@pytest.mark.parametrize(('what', 'words'), [
    (lambda bench: setattr(bench, 'other', 0.4), 'held has moved by 0.100 rad'),
    (lambda bench: setattr(bench, 'other', math.nan), 'where held is'),
    (lambda bench: setattr(bench, 'problem', 'another commander'), 'another commander'),
    (lambda bench: bench.silent(0.2), 'no new joint state for'),
    (lambda bench: bench.send(bench.session.abort(bench.now)), 'aborted by a call'),
    (lambda bench: bench.send(bench.session.fail('internal error', bench.now)), 'internal error'),
    (lambda bench: setattr(bench, 'dq', 2.0), 'the limit is 1.5'),
])
def test_a_fault_makes_the_torque_zero_and_stays(bench, what, words):
    """At once and for half a second; a new arming is needed to go on."""
    while not bench.torque:
        bench.live(STEP)
    what(bench)
    bench.live(STEP)
    assert bench.session.state == ENDING
    assert words in bench.session.reason
    assert bench.torque == 0.0
    assert not bench.session.rests(bench.now)
    bench.live(2.0 * ZERO_SECONDS)
    assert bench.session.state == FAULT
    ending = [torque for state, torque in bench.sent if state == ENDING]
    assert set(ending) == {0.0}
    assert len(ending) > 0.9 * ZERO_SECONDS / STEP
    assert bench.session.rests(bench.now)
    with pytest.raises(UsageError, match='not armed: the state is FAULT'):
        bench.execute()


EVENTS = {
    'arm': SessionBench.arm,
    'execute': SessionBench.execute,
    'execute another': lambda bench: bench.execute('another'),
    'live': lambda bench: bench.live(0.3),
    'silent': lambda bench: bench.silent(0.15),
    'abort': lambda bench: bench.send(bench.session.abort(bench.now)),
    'fail': lambda bench: bench.send(bench.session.fail('an error', bench.now)),
    'disarm': lambda bench: bench.session.check_not_busy() or bench.session.disarm('by hand'),
    'move the other': lambda bench: setattr(bench, 'other', bench.other + 0.1),
    'push': lambda bench: setattr(bench, 'dq', bench.dq + 1.0),
}


@given(st.lists(st.sampled_from(sorted(EVENTS)), max_size=30))
def test_no_order_of_events_leaves_a_torque(names):
    """It acts in TESTING alone, after an arming of less than a minute, within its limit."""
    bench, armed_at = SessionBench(), -math.inf
    for name in names:
        before = bench.session.state
        try:
            EVENTS[name](bench)
        except IdentificationError:
            assert bench.session.state == before
        if name == 'arm' and bench.session.state == ARMED:
            armed_at = bench.now
        if bench.session.state == TESTING and before != TESTING:
            assert name == 'execute'
            assert before == ARMED
            assert bench.now - armed_at <= ARMED_SECONDS
        if bench.session.state != TESTING:
            assert bench.torque == 0.0
    assert all(
        abs(torque) <= SESSION_SETTINGS.torque_limit and (state == TESTING or torque == 0.0)
        for state, torque in bench.sent
    )
