# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""An arm behind a controller, and a person, a driver and a machine that do anything."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
from robot_identification.execution import events as ev
from robot_identification.execution.path import SentPath
from robot_identification.execution.state_machine import ExecutionStateMachine
from robot_identification.execution.states import Stopping
from robot_identification.execution.stop import Peaks
from robot_identification.execution.watch import WatchLimits
from robot_identification.model import NamedJoints
from robot_identification.simulation.controller import (
    quintic, TrajectoryController, TrajectoryPoints,
)

CYCLE = 0.02
JOINTS = ('first', 'second')
EPOCH = 1000.0
# A subscriber keeps the last messages that came while its process did not run.
QUEUE = 5
SPEED_PEAK, DURATION, APPROACH_TIME = 1.9, 1.6, 0.4
MOTIONS = 50
NORMAL_EFFORT, LARGEST_EFFORT = 10.0, 40.0
PACE_STEP = 0.08
# By topic nobody is told that a controller has ended its motion by itself. It is seen in the joint
# states [s]: those younger than 0.05 s are trusted, and a stop is on its way for up to two cycles.
UNSEEN = 0.1
# Instants of a cycle at which the reference is looked at, as shares of it.
STEPS = 0.3, 0.65, 1.0
# Where a controller begins what it is sent: at its own reference, or at what it measures.
BEGINS = 'reference', 'reference', 'measured'
# Those of the `Faults` that driver, graph and recorder publish.
ROBOT_FAULTS = 'unable', 'inactive', 'unlisted', 'contested', 'unrecorded'


def knots_of(position, duration, rate=50.0):
    """Return the knots of an analytic motion, derivatives by central differences."""
    times = np.arange(1, round(duration * rate) + 1) / rate
    h = 1e-4

    def q(t):
        return np.array([position(np.clip(x, 0.0, duration)) for x in t])

    dq = (q(times + h) - q(times - h)) / (2.0 * h)
    ddq = (q(times + h) - 2.0 * q(times) + q(times - h)) / h**2
    dq[-1] = ddq[-1] = 0.0
    return TrajectoryPoints(times, q(times), dq, ddq)


@cache
def swing(number, rate=50.0):
    """Return a motion of 1.9 rad/s at most that begins at zero, one of many."""
    amplitude = np.random.default_rng(number).uniform(-1.0, 1.0, (2, 2))
    amplitude[0, 0] = 1.0

    def shape(t):
        u = t / DURATION
        window = (16.0 * (u * (1.0 - u)) ** 2) ** 1.5
        return window * (amplitude @ np.sin(2.0 * np.pi * np.array([u, 2.0 * u])))

    rough = knots_of(shape, DURATION, rate)
    scale = SPEED_PEAK / SentPath(shape(0.0), rough).peaks()[0].max()
    return TrajectoryPoints(
        rough.times, *(scale * values for values in (rough.q, rough.dq, rough.ddq))
    )


def is_of(knots, motion):
    """Return whether what was sent is a motion, at whose begin the arm may rest for a while."""
    return np.array_equal(knots.q[-len(motion.q):], motion.q)


def make_plan(rng, q, rate=50.0):
    """Return a plan from where the arm stands."""
    motion = swing(int(rng.integers(MOTIONS)), rate)
    begin = q + rng.uniform(-0.05, 0.05, 2)
    motion = TrajectoryPoints(motion.times, begin + motion.q, motion.dq, motion.ddq)
    rest = np.zeros(2)
    times = np.arange(1, round(APPROACH_TIME * rate) + 1) / rate
    way = [quintic((q, rest, rest), (begin, rest, rest), APPROACH_TIME, t) for t in times]
    approach = TrajectoryPoints(times, *(np.array([point[i] for point in way]) for i in range(3)))
    limits = WatchLimits(0.1, 1.0, np.full(2, LARGEST_EFFORT))
    peaks = Peaks.of([SentPath(q, approach), SentPath(begin, motion)])
    return ev.Plan(q, approach, motion, limits, limits, peaks)


@cache
def robot_state(wrong, slider, by_action):
    """Return what driver, graph and recorder say when some of `ROBOT_FAULTS` are there."""
    words = {name: f'{name} in this test' for name in wrong}
    return ev.RobotStateReceived(**words, scaling=slider, by_action=by_action)


@cache
def efforts(value):
    return np.full(2, value)


@dataclass
class Faults:
    frozen_stamps: bool = False
    frozen_values: bool = False
    silent: bool = False
    unusable: bool = False
    deaf: bool = False
    stalled: bool = False
    effort: float = NORMAL_EFFORT
    stamp_offset: float = 0.0
    # Joint states come so many cycles after they were taken.
    delay: int = 0
    # What is added to the measured position and velocity of each joint, shape (2, 2).
    error: np.ndarray | None = None
    # A joint whose encoder is stuck, with its readings stuck or with velocity zero.
    stuck: int | None = None
    # Whether the joints have each other's readings.
    exchanged: bool = False
    # Whether the driver has no velocity and publishes zeros.
    no_velocity: bool = False
    unable: bool = False
    rejecting: bool = False
    ignored_cancels: int = 0
    contested: bool = False
    unrecorded: bool = False
    inactive: bool = False
    unlisted: bool = False


@dataclass
class Told:
    """What came from the machine, with when it came."""

    sent: list = field(default_factory=list)
    replies: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    cancels: int = 0


class World:
    """One arm with its machine; what is not given (goals, a simulation's stamps) is drawn."""

    def __init__(self, seed, by_action=None, simulated=None):
        self.rng = rng = np.random.default_rng(seed)
        self.by_action = bool(rng.random() < 0.7) if by_action is None else by_action
        # The servo's lag: whole cycles, and a share of the next.
        self.lag_share, lag_cycles = np.modf(float(rng.choice([0.0, 0.008, 0.03])) / CYCLE)
        self.lag_cycles = int(lag_cycles)
        self.latency = float(rng.uniform(0.0, 0.03))
        self.knot_rate = 50.0
        draw = np.random.default_rng([seed, 2])
        self.begins = str(draw.choice(BEGINS))
        # How far the servo hangs off its reference [rad], below the tolerance of a start.
        self.sag = draw.choice([0.0, 0.006]) * draw.choice([-1.0, 1.0], 2)
        self.begin_delay = float(draw.choice([0.0, 0.0, 0.04]))
        self.noise = float(rng.choice([0.0, 1e-4]))
        self.now, self.trajectory_time = 0.0, 0.0
        self.q = rng.uniform(-1.0, 1.0, 2)
        self.controller = TrajectoryController(self.q)
        self.references = 3 * [self.q]
        self.slider = self.pace = 1.0
        self.faults, self.told = Faults(), Told()
        drawn = bool(rng.random() < 0.3)
        self.simulated = drawn if simulated is None else simulated
        self.machine = ExecutionStateMachine(NamedJoints(JOINTS), simulated=self.simulated)
        self.queue, self.on_the_way, self.delayed = [], [], []
        self.goal = None
        self.plan, self.places = None, self.q[None]
        self.planning_time = 0.0
        # For which the process does not run between the proof of a stop and its sending, each.
        self.hold_ups = []
        self.executions = 1
        # A controller that ends a goal holds at once, unless it is set to decelerate.
        self.decelerates = bool(draw.random() < 0.3)
        self.braking = self.resuming = self.steps_back = False
        # When the robot stopped by itself, and whether a motion came before that could be seen.
        self.halted_at, self.sent_at, self.surprised = -np.inf, -np.inf, False
        self.missed = self.unwatched = False
        self.reference = self.controller.sample(0.0)
        self.states = [self.reference]
        self.last_state = None
        self.step(0.3)

    # What a person does

    def call(self, event):
        before = len(self.told.replies)
        self.tell(event)
        return self.told.replies[-1] if len(self.told.replies) > before else None

    def arm(self):
        return self.call(ev.ArmCalled())

    def execute(self):
        return self.call(ev.ExecuteCalled())

    def tell(self, event):
        """Hand an event to the machine and carry out what it answers."""
        before = self.machine.state.name
        for command in self.machine.handle(event, self.now):
            self.carry_out(command, before)

    def carry_out(self, command, before):
        told = self.told
        if isinstance(command, ev.Reply):
            told.replies.append(command)
        elif isinstance(command, ev.Approve):
            # What the node asks for before it arms.
            rests = self.machine.age(self.now) < 0.2 and not self.reference[1].any()
            self.tell(
                ev.Approved('approval', self.executions, 'armed')
                if rests and not self.faults.unable and not self.faults.inactive
                else ev.ApprovalRefused('it moves, or cannot move')
            )
        elif isinstance(command, ev.MakePlan):
            self.make_plan()
        elif isinstance(command, ev.Send):
            if isinstance(self.machine.state, Stopping) and self.hold_ups:
                self.stand_still(self.hold_ups.pop(0))
            if self.now > command.until:
                self.tell(ev.StopOutdated(command.number))
                return
            told.sent.append((self.now, before, command.knots))
            self.on_the_way.append((self.now + self.latency + self.begin_delay, command))
            if not self.by_action:
                self.tell(ev.GoalAccepted(command.number))
        elif isinstance(command, ev.CancelGoals):
            told.cancels += 1
            self.on_the_way.append((self.now + self.latency, command))
        elif isinstance(command, ev.NoteExecution):
            told.notes.append(command)

    def make_plan(self):
        """Plan, which takes a while in which nothing else is handled."""
        self.plan = make_plan(self.rng, self.machine.latest.q, self.knot_rate)
        begin, first, then = self.plan.start, self.plan.approach, self.plan.motion
        self.places = np.vstack([
            path.sample(np.linspace(0.0, path.duration, 100))[0]
            for path in (SentPath(begin, first), SentPath(first.q[-1], then))
        ])
        planning, self.planning_time = self.planning_time, 0.0
        self.stand_still(planning)
        self.tell(ev.PlanMade(self.plan))

    # What happens

    def stand_still(self, duration):
        """Let time pass in which the machine's process does not run."""
        stalled, self.faults.stalled = self.faults.stalled, True
        self.step(duration)
        self.faults.stalled = stalled

    def pause_simulation(self, duration):
        """Let time pass in which the arm and its clock stand still, and the machine looks on."""
        for _ in range(round(duration / CYCLE)):
            self.now += CYCLE
            self.faults.stamp_offset -= CYCLE
            self.tell(robot_state((), self.slider, self.by_action))
            self.tell(ev.Tick())

    def step(self, duration):
        for _ in range(round(duration / CYCLE)):
            self.cycle()

    def cycle(self):
        """One cycle of the driver, one tick of the machine."""
        self.now += CYCLE
        self.deliver()
        self.advance()
        self.publish()
        if self.faults.stalled:
            self.unwatched = self.unwatched or self.is_distorted
            return
        for event in self.queue:
            self.tell(event)
        self.queue.clear()
        wrong = tuple([name for name in ROBOT_FAULTS if getattr(self.faults, name)])
        self.tell(robot_state(wrong, self.slider, self.by_action))
        self.tell(ev.Tick())

    def deliver(self):
        if not self.on_the_way:
            return
        due = [entry for entry in self.on_the_way if entry[0] <= self.now]
        self.on_the_way = [entry for entry in self.on_the_way if entry[0] > self.now]
        for _, command in due:
            if isinstance(command, ev.Send):
                self.take(command)
            else:
                self.cancel()

    def take(self, command):
        """Follow what was sent, unless that is refused."""
        if self.faults.deaf:
            self.missed = True
            return
        if self.by_action and (self.faults.rejecting or self.faults.inactive):
            self.answer(ev.GoalFailed(command.number, 'rejected'))
            return
        # What begins in the middle of the robot's own braking begins with its acceleration.
        self.braking = self.braking and self.controller.active
        self.surprised = (not self.by_action and self.now - self.halted_at < UNSEEN) or (
            # Nor can what is measured wrongly show that, or that it is late, or that a motion was
            # not heard; nor that it is wrong, since when nobody watched.
            self.is_distorted
            and (
                self.missed or self.unwatched or self.halted_at > self.sent_at
                or self.faults.delay > 0
            )
        )
        self.sent_at, self.missed = self.now, False
        if self.begins == 'measured':
            # Its own step back by the servo's lag is not the runner's.
            self.steps_back = bool(self.reference[1].any())
            self.controller.take_over((*self.measured(), np.zeros(2)))
        self.controller.follow(command.knots, self.trajectory_time)
        self.goal = command.number
        if self.by_action:
            self.answer(ev.GoalAccepted(command.number))

    def cancel(self):
        """Slow down as the peaks of the plan allow, as a controller that is set so."""
        if self.faults.deaf:
            return
        if self.faults.ignored_cancels:
            self.faults.ignored_cancels -= 1
            return
        # A goal that was sent before and has not begun never does.
        self.on_the_way = [
            entry for entry in self.on_the_way if isinstance(entry[1], ev.CancelGoals)
        ]
        if self.goal is not None and self.pace == 0.0:
            rest = np.zeros(2)
            self.controller.take_over((self.reference[0], rest, rest))
        elif self.goal is not None:
            self.controller.brake(self.plan.peaks.acceleration, self.trajectory_time)
        self.goal = None
        self.answer(ev.GoalsReleased())

    def answer(self, event):
        """Let an answer wait for a machine that does not run."""
        self.queue.append(event)

    def advance(self):
        """Move the reference on by a cycle, at the pace that slider and safety allow."""
        target = 0.0 if self.faults.unable else self.slider
        # As the driver: down at once by the robot's own brakes, up in steps.
        self.resuming = target != self.pace
        self.pace = target if target < self.pace else min(self.pace + PACE_STEP, target)
        self.trajectory_time += self.pace * CYCLE
        # Between the cycles of the driver the controller has its own.
        self.states = []
        for share in STEPS:
            q, dq, ddq = self.controller.sample(
                self.trajectory_time - (1.0 - share) * self.pace * CYCLE
            )
            self.states.append(
                (q, dq, ddq) if self.pace == 1.0 else (q, self.pace * dq, self.pace**2 * ddq)
            )
        self.reference = self.states[-1]
        self.references = [*self.references[1:], q]
        if not self.controller.active:
            self.goal, self.steps_back = None, False

    def stop_by_itself(self):
        """Let the controller end its goal and hold, as it does when it is switched off."""
        if self.plan is not None and self.decelerates:
            self.controller.brake(self.plan.peaks.acceleration, self.trajectory_time)
        else:
            self.controller.take_over((self.reference[0], *np.zeros((2, 2))))
        self.braking, self.halted_at = True, self.now
        if self.goal is not None and self.by_action:
            self.answer(ev.GoalFailed(self.goal, 'the controller gave the goal up'))
        self.goal = None

    def measured(self):
        """Return what is measured: the reference, late by the servo's lag."""
        q = self.references[-1 - self.lag_cycles] + self.sag
        if self.lag_share:
            q = q + self.lag_share * (self.references[-2 - self.lag_cycles] + self.sag - q)
        return q, self.reference[1]

    def publish(self):
        """Publish what is measured, with its noise and faults."""
        faults = self.faults
        q, dq = self.measured()
        unit_noise = self.rng.standard_normal((2, 2))
        if self.noise:
            q, dq = q + self.noise * unit_noise[0], dq + 10.0 * self.noise * unit_noise[1]
        if faults.silent:
            return
        if faults.unusable:
            self.push(ev.JointStateUnusable('no velocity in this test'))
            return
        q, dq = self.distort(q, dq)
        stamp = EPOCH + self.now + faults.stamp_offset
        state = ev.JointStateReceived(stamp, q, dq, efforts(faults.effort))
        if faults.frozen_stamps and self.last_state is not None:
            state = self.last_state
        elif faults.frozen_values and self.last_state is not None:
            last = self.last_state
            state = ev.JointStateReceived(stamp, last.q, last.dq, last.effort)
        self.last_state = state
        self.delayed.append(state)
        for state in self.delayed[:max(len(self.delayed) - faults.delay, 0)]:
            self.push(state)
        self.delayed = self.delayed[-faults.delay:] if faults.delay else []

    @property
    def is_distorted(self):
        """Whether position or velocity are measured wrongly."""
        faults = self.faults
        return (
            faults.error is not None or faults.stuck is not None or faults.exchanged
            or faults.no_velocity
        )

    def distort(self, q, dq):
        """Return what a faulty driver makes of position and velocity."""
        faults, last = self.faults, self.last_state
        if faults.stuck is not None and last is not None:
            one = np.arange(2) == faults.stuck
            q, dq = np.where(one, last.q, q), np.where(one, last.dq, dq)
        if faults.exchanged:
            q, dq = q[::-1], dq[::-1]
        if faults.error is not None:
            q, dq = q + faults.error[0], dq + faults.error[1]
        return q, np.zeros(2) if faults.no_velocity else dq

    def push(self, state):
        """Queue a message; a process that does not run keeps the last ones only."""
        self.queue.append(state)
        kinds = ev.JointStateReceived, ev.JointStateUnusable
        if self.faults.stalled and sum(isinstance(one, kinds) for one in self.queue) > QUEUE:
            self.queue.remove(next(one for one in self.queue if isinstance(one, kinds)))

    @property
    def state(self):
        return self.machine.state.name

    @property
    def reason(self):
        return self.machine.state.reason

    def step_until(self, condition, longest=6.0):
        """Go on until something holds; return whether it came to that."""
        for _ in range(round(longest / CYCLE)):
            if condition():
                return True
            self.cycle()
        return bool(condition())
