# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The states of an execution, each defect that was found in them, and what a stop may never do."""

import re

from execution.simulated_arm import CYCLE, is_of, ROBOT_FAULTS, World
import numpy as np
import pytest
from robot_identification.execution import events as ev
from robot_identification.execution.state_machine import (
    ARMED_SECONDS, ExecutionStateMachine, LEAVING_TIME, MOST_OUTDATED,
)
from robot_identification.execution.states import Armed, Idle
from robot_identification.model import NamedJoints

SHARE = 1.1


def moving(by_action=True, seed=3, after=1.0, simulated=None):
    """Return a world in the middle of its motion, some time after its approach began."""
    world = World(seed, by_action, simulated)
    world.noise, world.begins, world.begin_delay, world.sag = 0.0, 'reference', 0.0, np.zeros(2)
    assert world.arm().success
    assert world.execute().success
    assert world.step_until(lambda: world.state == 'EXECUTING')
    world.step(after)
    assert world.state == 'EXECUTING'
    return world


def highest_shares_until(world, condition, longest=4.0):
    """Return the highest shares of the planned speed and acceleration until something holds."""
    shares = []

    def note():
        _, dq, ddq = world.reference
        peaks = world.plan.peaks
        shares.append((
            np.max(np.abs(dq) / peaks.speed), np.max(np.abs(ddq) / peaks.acceleration)
        ))
        return condition()

    assert world.step_until(note, longest), world.state
    return np.max(shares, axis=0)


def highest_speed_until(world, condition, longest=10.0):
    """Return the highest share of the planned speed until something holds."""
    shares = [0.0]

    def note():
        shares.append(np.max(np.abs(world.reference[1]) / world.plan.peaks.speed))
        return condition()

    assert world.step_until(note, longest), world.state
    return max(shares)


@pytest.mark.parametrize('executions', [1, 2])
def test_executions_go_from_arming_to_their_end(executions):
    """Each motion is sent once, and is the planned one; no more run than were armed."""
    world = World(0, True)
    world.executions = executions
    assert world.state == 'IDLE'
    assert world.arm().success
    assert world.state == 'ARMED'
    for number in range(1, executions + 1):
        assert world.execute().success
        assert world.step_until(lambda: world.state == 'DONE')
        sent = [knots for _, _, knots in world.told.sent[-2:]]
        assert is_of(sent[0], world.plan.approach) and is_of(sent[1], world.plan.motion)
        assert len(world.told.sent) == 2 * number
    assert len(world.told.notes) == executions
    note = world.told.notes[0]
    assert note.worst_error < 0.05
    stamps = np.array([one.stamp for one in note.measurements])
    assert np.all(np.diff(stamps) > 0.0)
    answer = world.execute()
    assert not answer.success
    assert 'not armed' in answer.message
    assert len(world.told.sent) == 2 * executions


@pytest.mark.parametrize('planning', [0.0, 0.1, 3.0])
@pytest.mark.parametrize('fault', ROBOT_FAULTS)
def test_a_motion_begins_after_a_look_that_is_newer_than_its_plan(fault, planning):
    """What was seen before holds neither for nor against it: joint states may come first."""
    world = World(3, True)
    assert world.arm().success
    setattr(world.faults, fault, True)
    world.planning_time = planning
    assert world.execute().success
    assert world.step_until(lambda: world.state == 'IDLE', 1.0), world.reason
    assert world.reason == f'not executed: {fault} in this test'
    assert world.told.sent == []
    setattr(world.faults, fault, False)
    assert world.arm().success
    world.planning_time = planning
    assert world.execute().success
    assert world.step_until(lambda: world.state == 'DONE'), world.reason


def test_a_look_that_began_before_the_plan_starts_no_motion():
    """The thread of the watch may wait for a processor between its look and the machine."""
    world = World(3, True)
    assert world.arm().success
    world.faults.stalled = True
    assert world.execute().success
    planned_at, sent = world.now, world.told.sent
    world.step(0.1)
    for looked_at, expected in (planned_at - 0.001, 0), (planned_at + 0.05, 1):
        world.tell(ev.RobotStateReceived(looked_at=looked_at))
        for event in world.queue[-2:]:
            world.tell(event)
        world.queue.clear()
        assert len(sent) == expected
        world.step(0.02)


@pytest.mark.parametrize('by_action', [True, False])
@pytest.mark.parametrize('frozen', [0.04, 0.3, 0.6, 1.0, 2.5])
@pytest.mark.parametrize('stop', [ev.AbortCalled(), ev.StopRequested(), None])
def test_frozen_joint_states_throw_nothing(by_action, frozen, stop):
    """A repeated message is no sign of life: the arm is not sent to where it was."""
    world = moving(by_action)
    world.faults.frozen_stamps = True
    speed = 0.0
    for _ in range(round(frozen / CYCLE)):
        world.cycle()
        speed = max(speed, np.max(np.abs(world.reference[1]) / world.plan.peaks.speed))
    if stop is None:
        world.faults.contested = True
    else:
        world.tell(stop)
    world.step(0.1)
    if frozen > 0.3:
        assert 'repeat the same one' in world.reason
    assert max(speed, highest_speed_until(world, lambda: world.state == 'FAULT')) <= SHARE
    assert world.step_until(lambda: not world.reference[1].any())


@pytest.mark.parametrize(('by_action', 'instead'), [
    (True, 'the goal is cancelled'), (False, 'the motion goes on'),
])
def test_it_says_why_no_stop_is_proved(by_action, instead):
    """Nothing is known of the arm any more, and the controller may be anywhere within 0.2 s."""
    world = moving(by_action, seed=0, after=0.6)
    world.faults.frozen_stamps = True
    assert world.step_until(lambda: 'no stop is proved' in world.reason, 1.0)
    assert f'no stop is proved, {instead}: a stop may leave the path by' in world.reason
    assert bool(world.told.cancels) == by_action
    # Without a place no stop is ever proved: the controller ends its motion, or confirms.
    assert world.step_until(lambda: world.state == 'FAULT', 60.0)
    assert instead not in world.reason
    assert f'no stop was proved, {"the goal was" if by_action else "the motion went"}' in (
        world.reason
    )


@pytest.mark.parametrize('seed', range(6))
def test_by_topic_a_stop_is_sent_once_it_can_be_proved(seed):
    """Where none can be while nothing is known, the motion goes on as planned until one can."""
    world = moving(by_action=False, seed=seed, after=0.6)
    world.faults.frozen_stamps = True
    speed = highest_speed_until(world, lambda: world.state == 'STOPPING')
    world.step(0.2)
    world.faults.frozen_stamps = False
    was_late = 'no stop is proved, the motion goes on' in world.reason
    assert max(speed, highest_speed_until(world, lambda: world.state == 'FAULT')) <= SHARE
    assert 'at rest after' in world.reason
    assert len(world.told.sent) == 3
    # Of an arm that rests, it is not said that its motion goes on.
    assert 'goes on' not in world.reason
    late = re.search(r'was proved for 0\.\d+ s, in which the motion went on: ', world.reason)
    assert bool(late) == was_late
    # Of these two motions a stop is proved at once.
    assert was_late == (seed not in (3, 4))


@pytest.mark.parametrize('by_action', [True, False])
@pytest.mark.parametrize('hold_ups', [[0.1], [0.2], [0.1, 0.2, 0.1]])
def test_a_stop_that_is_late_is_proved_anew(by_action, hold_ups):
    """
    A busy machine lets the process wait between a proof and its sending, while the arm moves on.

    What was sent then had up to 1.4 times the planned acceleration after 0.1 s, 3.1 after 0.2 s.
    """
    for seed in range(12):
        world = moving(by_action, seed, after=0.5)
        world.hold_ups = list(hold_ups)
        world.tell(ev.AbortCalled())
        shares = highest_shares_until(world, lambda world=world: world.state == 'FAULT')
        assert np.max(shares) <= SHARE, seed
        assert 'at rest after: aborted by a call' in world.reason


@pytest.mark.parametrize('pause', [0.02, 0.04, 0.06])
@pytest.mark.parametrize('after', [0.4, 0.6, 0.9, 1.1])
def test_a_simulation_that_stood_still_is_stopped_from_where_it_is(after, pause):
    """A busy machine keeps the simulation from running, too: its controller is behind its time."""
    for seed in range(12):
        world = moving(True, seed, after, simulated=True)
        world.pause_simulation(pause)
        world.tell(ev.AbortCalled())
        shares = highest_shares_until(world, lambda world=world: world.state == 'FAULT')
        assert np.max(shares) <= SHARE, seed


def test_a_stop_that_is_late_each_time_is_sent_at_last():
    """Nothing else stops an arm that is commanded by topic."""
    world = moving(by_action=False, after=0.9)
    world.hold_ups = 10 * [0.04]
    world.tell(ev.AbortCalled())
    assert world.step_until(lambda: world.state == 'FAULT', 4.0)
    assert len(world.hold_ups) == 10 - (MOST_OUTDATED + 1)
    assert 'at rest after: aborted by a call' in world.reason


@pytest.mark.parametrize('errors', [1, 3])
def test_a_stop_whose_publication_fails_is_proved_and_sent_anew(errors, monkeypatch):
    """Nothing answers to a topic, and the arm went on to the end of its motion."""
    world = moving(by_action=False)
    carry_out, failures, since = world.carry_out, errors * ['no publisher'], world.now

    def fail(command, before):
        if isinstance(command, ev.Send) and failures:
            world.machine.handle(ev.InternalError(failures.pop()), world.now)
        else:
            carry_out(command, before)

    monkeypatch.setattr(world, 'carry_out', fail)
    world.tell(ev.AbortCalled())
    assert highest_speed_until(world, lambda: world.state == 'FAULT') <= SHARE
    assert world.now - since < 1.5
    assert world.reason == (
        'at rest after: aborted by a call; internal error: no publisher'
    )


@pytest.mark.parametrize('by_action', [True, False])
def test_a_late_stop_that_cannot_be_proved_anew_is_none(by_action):
    """Nothing was sent: the reason says what is done instead, not for how long nothing was."""
    world = moving(by_action)
    world.faults.silent = True
    world.hold_ups = [0.5]
    world.tell(ev.AbortCalled())
    instead = 'the goal is cancelled' if by_action else 'the motion goes on'
    assert world.step_until(lambda: 'no stop' in world.reason, 0.2)
    assert f'aborted by a call; no stop is proved, {instead}: ' in world.reason


@pytest.mark.parametrize('by_action', [True, False])
@pytest.mark.parametrize('stalled', [0.15, 0.5, 3.0])
def test_a_stalled_process_throws_nothing(by_action, stalled):
    """What waited in the queue is as old as its stamps say; over a second ends the motion."""
    world = moving(by_action, after=0.4)
    world.faults.stalled = True
    world.step(stalled)
    world.faults.stalled = False
    speed = highest_speed_until(world, lambda: world.state in ('FAULT', 'DONE'))
    assert speed <= SHARE
    if stalled > 1.0:
        assert 'did not run' in world.reason


@pytest.mark.parametrize('stalled', [0.5, 3.0])
def test_what_waits_after_a_pause_is_not_missed(stalled):
    """A message that is older than its timeout was waited for since the pause has ended."""
    world = moving(by_action=True, after=0.4)
    heard_at = world.now
    world.faults.stalled = True
    world.step(stalled)
    age = world.now - heard_at
    # As the robot's state is asked for, before the tick.
    assert world.machine.waited(age, world.now) == (0.0 if stalled < 1.0 else age)
    world.faults.stalled = False
    world.step(0.3)
    age = world.now - heard_at
    waited = world.machine.waited(age, world.now)
    assert waited == pytest.approx(0.3 if stalled < 1.0 else age, abs=2.0 * CYCLE)


def test_a_pause_is_the_reason_of_what_follows_from_it():
    """The recorder's heartbeats came while nobody heard them."""
    world = moving(by_action=True, after=0.4)
    world.faults.stalled = True
    world.step(3.0)
    world.faults.stalled, world.faults.unrecorded = False, True
    world.step(0.1)
    assert 'did not run' in world.reason


@pytest.mark.parametrize('by_action', [True, False])
@pytest.mark.parametrize('simulated', [True, False])
@pytest.mark.parametrize('cycles', [5, 15, 25])
def test_joint_states_that_come_late_throw_nothing(by_action, simulated, cycles):
    """The arm is further than they say, whether their clock may have paused or not."""
    world = World(3, by_action, simulated)
    world.arm()
    world.execute()
    world.step_until(lambda: world.state == 'EXECUTING')
    world.step(0.6)
    world.faults.delay = cycles
    world.step(1.2 * cycles * CYCLE)
    world.tell(ev.AbortCalled())
    assert highest_speed_until(world, lambda: world.state == 'FAULT') <= SHARE


@pytest.mark.parametrize(('left', 'planning'), [(0.5, 0.0), (0.5, 1.0), (-1.0, 0.0)])
def test_an_arming_that_expires_before_the_motion_is_planned_moves_nothing(left, planning):
    """Called at the end of the minute, or after it: IDLE then, and nothing is sent."""
    world = World(0, True)
    world.arm()
    world.now += ARMED_SECONDS - left
    world.step(0.1)
    world.planning_time = planning
    answer = world.execute()
    world.step(3.0)
    if left > planning:
        assert answer.success
        assert world.state == 'DONE'
    else:
        assert not answer.success
        assert ('arm again' if left > 0.0 else 'not armed') in answer.message
        assert world.state == 'IDLE'
        assert not world.told.sent


@pytest.mark.parametrize(('fault', 'value', 'words'), [
    ('effort', np.nan, 'no effort of first'), ('unusable', True, 'no velocity in this test'),
])
def test_what_joint_states_lack_ends_the_motion_and_is_named(fault, value, words):
    """Not as joint states that did not come; and the watch of efforts does not end in silence."""
    world = moving()
    setattr(world.faults, fault, value)
    assert highest_speed_until(world, lambda: world.state == 'FAULT') <= SHARE
    assert words in world.reason


@pytest.mark.parametrize('fault', ['unlisted', 'contested', 'unrecorded'])
def test_what_is_wrong_around_the_arm_stops_it_on_its_path(fault):
    """One stop is sent, and it ends within reach of the path."""
    world = moving(after=0.5)
    setattr(world.faults, fault, True)
    assert highest_speed_until(world, lambda: world.state == 'FAULT') <= SHARE
    assert world.reason == f'at rest after: {fault} in this test'
    assert len(world.told.sent) == 3
    assert not world.told.cancels


def test_a_robot_that_stops_by_itself_is_not_moved_and_its_goal_is_taken_back():
    """It stays where it rests when it is released."""
    world = moving()
    world.faults.unable = True
    assert world.step_until(lambda: world.state == 'FAULT')
    assert len(world.told.sent) == 2
    assert world.told.cancels
    q = world.reference[0].copy()
    world.faults.unable = False
    world.step(2.0)
    assert world.state == 'FAULT'
    assert np.max(np.abs(world.reference[0] - q)) < 0.01


def test_goals_that_are_not_released_are_cancelled_until_they_are():
    """FAULT says so, and nothing is armed before."""
    world = moving()
    world.faults.unable, world.faults.ignored_cancels = True, 60
    assert world.step_until(lambda: world.state == 'FAULT')
    assert 'may still hold the motion' in world.reason
    answer = world.arm()
    assert not answer.success
    assert 'has not acknowledged' in answer.message
    assert world.step_until(lambda: world.machine.state.cancelling is None, 20.0)
    assert world.told.cancels > 60
    world.faults.unable = False
    world.step(0.5)
    assert world.arm().success


def test_a_stop_that_is_rejected_gives_way_to_a_cancel():
    world = moving()
    world.faults.rejecting = True
    world.tell(ev.AbortCalled())
    assert highest_speed_until(world, lambda: world.state == 'FAULT') <= SHARE
    assert world.told.cancels
    assert 'at rest after: aborted' in world.reason


def test_fault_latches_whatever_is_cured():
    world = moving()
    world.tell(ev.AbortCalled())
    assert world.step_until(lambda: world.state == 'FAULT')
    sent = len(world.told.sent)
    assert not world.execute().success
    world.tell(ev.AbortCalled())
    world.tell(ev.PlanRefused('a late answer'))
    world.step(2.0)
    assert world.state == 'FAULT'
    assert len(world.told.sent) == sent
    assert world.arm().success


def test_of_many_calls_one_moves_the_arm():
    """The others are answered that it is busy, in every state of a motion."""
    world = World(0, True)
    world.arm()
    answers = [world.execute() for _ in range(50)]
    assert sum(answer.success for answer in answers) == 1
    assert sum('BUSY' in answer.message for answer in answers) == 49
    assert world.step_until(lambda: world.state == 'EXECUTING')
    assert 'BUSY' in world.arm().message
    assert 'BUSY' in world.execute().message


@pytest.mark.parametrize('again', [False, True])
def test_an_error_that_nobody_expected_ends_the_motion_not_the_watch(again):
    """A second one while the arm is stopped leaves the stop alone: it was proved, and goes on."""
    world = moving()
    world.tell(ev.InternalError('ZeroDivisionError()'))
    assert world.state == 'STOPPING'
    if again:
        world.tell(ev.InternalError('KeyError()'))
        assert world.state == 'STOPPING'
    assert highest_speed_until(world, lambda: world.state == 'FAULT') <= SHARE
    assert not world.reference[1].any()
    assert world.reason.startswith('at rest') and not world.told.cancels
    assert ('KeyError' in world.reason) == again


def test_errors_at_every_look_end_a_stop_as_not_verified():
    world = moving()
    for _ in range(500):
        world.now += CYCLE
        world.tell(ev.InternalError('ZeroDivisionError()'))
    assert world.state == 'FAULT' and world.reason.startswith('NOT verified at rest')
    assert world.reason.count('ZeroDivisionError') == 1
    # What the controller may hold is cancelled once something can be done again.
    assert world.machine.state.cancelling is not None


@pytest.mark.parametrize('by_action', [True, False])
@pytest.mark.parametrize('size', [0.15, 0.3, 3.0])
@pytest.mark.parametrize('speed', [0.0, 10.0])
@pytest.mark.parametrize('cycles', [1, 5, 500])
def test_a_wrong_reading_is_no_place_to_go_to(by_action, size, speed, cycles):
    """An arm cannot be there: it is stopped on its path, which it hardly leaves."""
    world = moving(by_action, seed=cycles % 3, after=0.5)
    world.faults.error = np.array([[size, 0.0], [speed, 0.0]])
    if cycles < 500:
        world.step(cycles * CYCLE)
        world.faults.error = None
    aside = [0.0]

    def note():
        aside.append(np.abs(world.reference[0] - world.places).max(axis=1).min())
        return world.state in ('FAULT', 'DONE')

    assert highest_speed_until(world, note) <= SHARE
    assert max(aside) < 0.05, aside
    # A reading that is hardly off may pass for a lag of the arm.
    assert world.state == 'FAULT' or size < 0.3
    assert 'not that fast' not in world.reason or 'position of first' in world.reason


def moves_when_let_go(world):
    """Return how far the arm gets in four seconds when nothing keeps it any more [rad]."""
    place = world.reference[0]
    world.faults.unable, world.slider = False, 1.0
    world.step(4.0)
    return np.max(np.abs(world.reference[0] - place))


@pytest.mark.parametrize('by_action', [True, False])
@pytest.mark.parametrize('kept_by', ['protective stop', 'slider'])
def test_a_stop_that_is_kept_waiting_is_taken_back(by_action, kept_by):
    """It would go on when the arm is released: FAULT says "at rest" when nothing is left of it."""
    for seed in range(2):
        world = moving(by_action, seed, after=0.5)
        world.tell(ev.AbortCalled())
        world.step(0.1)
        if kept_by == 'slider':
            world.slider = 0.0
        else:
            world.faults.unable = True
        stopped = world.step_until(lambda world=world: world.state == 'FAULT', 12.0)
        # By topic the arm may stand where no hold of it can be proved: then it says so. A hold
        # that the controller has not executed may begin with the velocity of the stop.
        assert stopped or (not by_action and 'no hold is proved' in world.reason)
        assert world.reason.startswith('at rest') or not stopped
        assert ('may still hold the motion' in world.reason) == (stopped and not by_action)
        assert moves_when_let_go(world) < 0.02 or not stopped


@pytest.mark.parametrize('by_action', [True, False])
def test_a_driver_without_velocity_does_not_pass_for_an_arm_at_rest(by_action):
    world = moving(by_action, seed=0, after=0.3)
    world.faults.no_velocity = True
    world.step(0.1)
    world.tell(ev.AbortCalled())
    assert world.step_until(lambda: world.state == 'FAULT')
    assert np.max(np.abs(world.reference[1])) < 0.05


def test_a_process_that_is_to_end_leaves_though_nothing_is_known_of_the_arm():
    """By topic and without joint states no stop can be proved; it says so and leaves."""
    world = moving(by_action=False, after=0.2)
    world.faults.silent = True
    world.step(0.3)
    world.tell(ev.StopRequested())
    assert world.step_until(lambda: not world.machine.is_moving, LEAVING_TIME + 0.1)
    assert 'NOT verified at rest' in world.reason


def test_a_late_answer_of_the_planner_moves_nothing():
    """Who aborted while it was planned has disarmed it."""
    world = World(0, True)
    world.arm()
    world.execute()
    plan = world.plan
    world.tell(ev.AbortCalled())
    assert isinstance(world.machine.state, Idle)
    world.tell(ev.PlanMade(plan))
    world.step(1.0)
    assert not world.told.sent


def test_a_machine_without_joint_states_says_so():
    machine = ExecutionStateMachine(NamedJoints(('first',)), 'arm/joint_states')
    assert 'no joint state has come yet on arm/joint_states' in machine.silence(1.0)
    assert machine.handle(ev.ArmCalled(), 1.0) == [ev.Approve()]
    machine.handle(ev.Approved('x', 1, 'armed'), 1.0)
    assert isinstance(machine.state, Armed)


# --- where the arm is, and what the controller begins with ---------------------------------------


def highest_shares(world, seconds):
    """Return the highest shares of planned speed and acceleration, between cycles as well."""
    shares = np.zeros(2)
    peaks = world.plan.peaks.speed, world.plan.peaks.acceleration
    for _ in range(round(seconds / CYCLE)):
        world.cycle()
        if world.braking or world.resuming or world.pace < 1.0:
            continue
        for state in world.states:
            now = [np.max(np.abs(one) / peak) for one, peak in zip(state[1:], peaks, strict=True)]
            shares = np.maximum(shares, now)
    return shares


@pytest.mark.parametrize('by_action', [True, False])
@pytest.mark.parametrize('simulated', [True, False])
@pytest.mark.parametrize('halt', [{'slider': 0.0}, {'unable': True}])
@pytest.mark.parametrize('seed', range(3))
def test_an_arm_that_halted_unseen_is_not_thrown_ahead(by_action, simulated, halt, seed):
    """The process stands still for 1.2 s, in which the arm halts for 0.6 s and goes on."""
    world = moving(by_action, seed, after=0.3, simulated=simulated)
    world.stand_still(0.2)
    for name, value in halt.items():
        setattr(world if name == 'slider' else world.faults, name, value)
    world.stand_still(0.6)
    world.slider, world.faults.unable = 1.0, False
    world.stand_still(0.4)
    assert np.all(highest_shares(world, 4.0) <= SHARE)
    assert world.state == 'FAULT', world.reason


@pytest.mark.parametrize('begins', ['reference', 'measured'])
@pytest.mark.parametrize('rate', [50.0, 500.0])
@pytest.mark.parametrize('sag', [0.009, -0.009])
def test_a_motion_begins_within_its_peaks_from_where_the_controller_is(begins, rate, sag):
    """An arm that hangs 9 mrad off its reference has more than one period to get there."""
    world = World(3, True)
    world.begins, world.sag, world.knot_rate = begins, np.array([sag, -sag]), rate
    world.step(0.2)
    assert world.arm().success and world.execute().success
    assert np.all(highest_shares(world, 4.0) <= SHARE)
    assert world.state == 'DONE', world.reason


@pytest.mark.parametrize('seed', range(6))
@pytest.mark.parametrize('ago', [0, 1, 2])
def test_a_stop_of_a_motion_that_has_just_ended_by_itself_throws_nothing(seed, ago):
    """The controller's answer is on its way while the stop is: it is cancelled when it comes."""
    world = moving(True, seed % 3, after=0.2 + 0.1 * seed)
    world.stop_by_itself()
    answers, world.queue[:] = list(world.queue), []
    world.step(ago * CYCLE)
    world.tell(ev.AbortCalled())
    shares = highest_shares(world, CYCLE)
    world.queue[:0] = answers
    assert np.all(np.maximum(shares, highest_shares(world, 3.0)) <= SHARE)
    assert world.state == 'FAULT' and world.reason.startswith('at rest')
    assert world.told.cancels


def test_an_arm_that_halts_while_no_stop_is_proved_is_not_sent_on_its_path():
    """By topic: nothing is known of it for a while, and its safety halts and releases it."""
    for seed in range(6):
        world = moving(False, seed, after=0.4)
        world.faults.silent = True
        world.step(0.3)
        assert world.state == 'STOPPING'
        world.faults.unable = True
        world.step(0.3)
        world.faults.unable = world.faults.silent = False
        assert np.all(highest_shares(world, 5.0) <= SHARE)


def test_a_cancelled_goal_that_waits_for_the_slider_is_not_at_rest():
    """The controller decelerates, waits, and goes on when the slider is raised."""
    world = moving(True, after=0.5)
    # No stop is proved, and the cancelled goal takes half a second to rest.
    world.plan.peaks.acceleration[:] *= 0.2
    world.tell(ev.AbortCalled())
    assert world.told.cancels
    world.step(0.1)
    world.slider = 0.0
    assert world.step_until(lambda: world.state == 'FAULT', 6.0)
    assert 'may still hold the motion' in world.reason
    assert moves_when_let_go(world) > 0.0


def test_time_that_is_read_out_of_order_stands_still():
    """Two threads read the clock and wait for each other; the later reading may come first."""
    world = moving(True)
    for earlier in (0.001, 0.3, 5.0):
        assert world.machine.handle(ev.Tick(), world.now - earlier) == []
    assert world.state == 'EXECUTING'
    assert world.step_until(lambda: world.state == 'DONE'), world.reason
