# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""An ideal robot in the process of a test, and a runner beside it."""

from contextlib import contextmanager
import time

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
import numpy as np
import pytest
from robot_identification.excitation.trajectory import dump_trajectory
from robot_identification.execution.commissioning import (
    CommissioningKey, DRY_RUN, note_stage, SLOW,
)
from robot_identification.execution.safety import kinematics_sha256
from robot_identification.model.robot_model import plain_encoders
from robot_identification.nodes.conversions import message_to_knots
from robot_identification.simulation.controller import TrajectoryController
from ros_helpers import joint_state, LATCHED, own_graph, RELIABLE, state_in, wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64, Int8, UInt8
from trajectory_msgs.msg import JointTrajectory

COMMANDS = '/scaled_joint_trajectory_controller/joint_trajectory'
FOREIGN_TOPICS = {'publisher': '/joint_states', 'listener': COMMANDS}
TOKEN = 'the token of this test'
CYCLE = 0.004
# The speed scaling is published this many times less often, or when it changes, as drivers do.
SCALING_CYCLES = 5
ATTEMPTS = 4
SCALING = '/speed_scaling_state_broadcaster/speed_scaling'
# What a busy machine that lets a robot or a recorder wait ends a motion with, or never begins it.
BUSY = 'no joint state', 'the joint states come', 'sign of life'
# What only a simulated robot may go without.
FREE = {'dry_run': False, 'commissioning': False, 'require_recorder': False}
# What a test of a shared runner may change.
USUAL = {
    **FREE, 'speed': 1.0, 'periods': 0, 'knot_rate': 50.0, 'arm.executions': 1,
    'scaling_timeout': 30.0, 'tracking_tolerance': 0.1,
}
SERIAL = '20195501234'


def commissioned(folder, robot, trajectory):
    """Return the file of a motion that was commissioned up to full speed with the arm `SERIAL`."""
    file = folder / 'motion.yaml'
    file.write_text(dump_trajectory(trajectory))
    key = CommissioningKey(
        trajectory.sha256, robot.name, robot.urdf_sha256, kinematics_sha256(robot), SERIAL
    )
    for stage in DRY_RUN, SLOW:
        note_stage(file, key, stage, speed=0.1, periods=1, worst_tracking_error=0.0)
    return file


def join(graph, kind):
    """Bring a node to the graph that must not be there; return it."""
    node = graph.add_node('intruder', '/elsewhere')
    if kind == 'publisher':
        node.create_publisher(JointState, '/joint_states', 10)
    else:
        node.create_subscription(JointTrajectory, COMMANDS, lambda message: None, 10)
    return node


def is_over(state, reason):
    """Return whether an execution has ended in a fault, or was given up before it began."""
    return state == 'FAULT' or (state == 'IDLE' and 'not executed' in reason)


def is_busy(reason):
    """Return whether a reason is that of a machine that lets robot or recorder wait."""
    return any(words in reason for words in BUSY)


class IdealRobot:
    """Follows every command exactly, four times faster than real time, and keeps all of them."""

    def __init__(self, graph, model, q, token=TOKEN, factor=4.0):
        self.joints = list(model.joint_names)
        self._factor, self._time = factor, 0.0
        self._published_scaling = float('nan')
        self._cycles, self._stepped_at = 0, time.monotonic()
        # Simulated time [s].
        self.now, self._latched = 0.0, {}
        self._be_able(q)
        self.node = graph.add_node('simulated_robot')
        self._states = self.node.create_publisher(JointState, '/joint_states', 10)
        self._identity = self.node.create_publisher(
            DiagnosticArray, '/simulated_robot/identity', LATCHED
        )
        self._identity.publish(DiagnosticArray(status=[
            DiagnosticStatus(name='/simulated_robot', hardware_id=token)
        ]))
        self._scaling = self.node.create_publisher(Float64, SCALING, 10)
        self._say_all_is_well()
        self.node.create_subscription(JointTrajectory, COMMANDS, self._on_command, RELIABLE)
        self.node.create_timer(CYCLE, self._step)

    def restore(self, q):
        """Stand somewhere else, at rest, with nothing wrong and nothing told."""
        self._be_able(q)
        self._say_all_is_well()

    def _be_able(self, q):
        self.silent = self.deaf = self.broken = self.repeating = False
        # A person moves every joint by hand, at this speed [rad/s].
        self.drift, self._drifted = 0.0, 0.0
        self.scaling, self.jump = 1.0, 0.0
        self.effort = np.zeros(len(q))
        self.q, self.dq = np.array(q), np.zeros(len(q))
        self._controller = TrajectoryController(self.q)
        # The highest speed of each joint [rad/s].
        self.peak = np.zeros(len(q))
        # The longest that this machine let the robot wait for its next cycle [s].
        self.longest_wait = 0.0
        self.commands, self.arrivals, self.arrived_at = [], [], []

    def _say_all_is_well(self):
        self.say('/io_and_status_controller/robot_program_running', Bool(data=True))
        self.say('/simulated_robot/safety_mode', UInt8(data=1))
        self.say('/simulated_robot/robot_mode', Int8(data=7))
        self.list_controllers('active')

    def say(self, topic, message):
        if topic not in self._latched:
            self._latched[topic] = self.node.create_publisher(type(message), topic, LATCHED)
        self._latched[topic].publish(message)

    def list_controllers(self, state):
        self.say('/simulated_robot/controllers', DiagnosticArray(status=[
            DiagnosticStatus(
                name='joint_state_broadcaster', hardware_id='JointStateBroadcaster',
                message='active',
            ),
            DiagnosticStatus(
                name='scaled_joint_trajectory_controller', message=state,
                hardware_id='ur_controllers/ScaledJointTrajectoryController',
            ),
        ]))

    def _on_command(self, message):
        self.commands.append(message)
        self.arrived_at.append(time.monotonic())
        self.arrivals.append((self.now, self.q.copy(), self.dq.copy()))
        if not self.deaf:
            knots = message_to_knots(message, self.joints, plain_encoders(len(self.joints)))
            self._controller.follow(knots, self._time)

    def hold(self):
        """Stop at once where it is, as a robot that its own safety stopped; it hears no more."""
        self.deaf = True
        self._controller = TrajectoryController(self.q)

    def _step(self):
        before, self._stepped_at = self._stepped_at, time.monotonic()
        self.longest_wait = max(self.longest_wait, self._stepped_at - before)
        step = self._stepped_at - before if self._factor == 1.0 else self._factor * CYCLE
        self.now += step
        self._time += self.scaling * step
        q, dq, _ = self._controller.sample(self._time)
        self._drifted += self.drift * step
        self.q = q + self._drifted
        self.dq = self.scaling * dq + self.drift
        self.peak = np.maximum(self.peak, np.abs(self.dq))
        self._cycles += 1
        if self._cycles % SCALING_CYCLES == 0 or self.scaling != self._published_scaling:
            self._published_scaling = self.scaling
            self._scaling.publish(Float64(data=100.0 * self.scaling))
        if self.silent:
            return
        order = np.roll(np.arange(len(self.joints)), self._cycles)
        message = joint_state(
            round((1000.0 + self.jump + self.now) * 1e9), [self.joints[i] for i in order],
            self.q[order], self.dq[order], self.effort[order],
        )
        if self.broken:
            message.position[0] = float('nan')
        if not self.repeating:
            self._last = message
        self._states.publish(self._last)

    def wait(self, duration):
        end = self.now + duration
        wait_until(lambda: self.now >= end, f'{duration} s of simulated time')


class Runner:
    def __init__(
        self, graph, path, sha256, parameters=None, environment=None, free=FREE
    ):
        self._graph = graph
        self._file = {'trajectory_file': str(path), 'arm.sha256': sha256}
        self._states = graph.hear(DiagnosticArray, '/experiment_runner/state', LATCHED)
        self.process = graph.start('experiment_runner', {
            **self._file, 'simulation_token': TOKEN, 'approach_speed': 1.0, **free,
            **(parameters or {}),
        }, environment)

    @property
    def content(self):
        return state_in(self._states[-1]) if self._states else {}

    @property
    def state(self):
        """State and reason, as last published."""
        return self.content.get('state'), self.content.get('reason')

    def told(self, wanted):
        """Return how often a state was published."""
        return sum(state_in(one)['state'] == wanted for one in self._states)

    def wait_for(self, wanted):
        wait_until(
            lambda: self.state[0] == wanted, f'{wanted} (it is {", ".join(map(str, self.state))})'
        )
        return self.state[1]

    def call(self, verb):
        return self._graph.call(f'/experiment_runner/{verb}')

    def arm(self):
        """Arm as soon as the runner and the robot have found each other."""
        answers = []

        def armed():
            answers.append(self.call('arm'))
            return answers[-1].success

        try:
            wait_until(armed, 'the runner to be armed')
        except pytest.fail.Exception:
            pytest.fail(f'not armed: {[answer.message for answer in answers[-1:]]}')
        # What is said of an attempt before is over.
        self.wait_for('ARMED')

    def attempt(self):
        """Arm and execute; return what is said to the second."""
        self.arm()
        return self.call('execute').message

    def begins(self):
        """Return whether the motion itself begins, which a busy machine may prevent."""
        wait_until(lambda: self.attempt() == 'approaching the start', 'the motion')
        return self.reaches('EXECUTING')

    def wait_until_found(self):
        """Wait until robot and runner see each other, whether it arms or not."""
        def found():
            message = self.call('arm').message
            return not any(
                word in message
                for word in ('not connected', 'no joint state', 'no list', 'token', 'nothing came')
            )

        wait_until(found, 'robot and runner to find each other')
        self.call('abort')

    def connect(self):
        """Arm and disarm, so that a refusal that follows has another reason than discovery."""
        self.arm()
        assert self.call('abort').success
        assert self.state[0] == 'IDLE'

    def configure(self, **parameters):
        """Set parameters, `__` for a dot."""
        named = {name.replace('__', '.'): value for name, value in parameters.items()}
        assert not self._graph.configure('experiment_runner', named)

    def restore(self):
        """End what it does, and let its parameters be as usual."""
        self.call('abort')
        wait_until(lambda: self.state[0] in ('IDLE', 'FAULT', 'DONE'), 'the end of a motion')
        self.configure(**USUAL, **self._file)

    def refused(self):
        reason = self._graph.refused('/experiment_runner/arm')
        wait_until(lambda: self.state[0] != 'ARMED', 'a state that is not armed')
        assert not self.call('execute').success
        return reason

    def execute(self):
        """Arm, execute, and wait until the motion itself has begun."""
        for _ in range(ATTEMPTS):
            self.arm()
            if self.call('execute').success and self.reaches('EXECUTING'):
                return
        pytest.fail(f'{ATTEMPTS} attempts, now {self.state}')

    def reaches(self, wanted):
        """Wait for a state; return whether it was reached, which a busy machine may prevent."""
        wait_until(lambda: self.state[0] == wanted or is_over(*self.state), wanted)
        state, reason = self.state
        assert state == wanted or is_busy(reason), (state, reason)
        return state == wanted


def check_latched_fault(robot, runner):
    """Check that FAULT is latched, and nothing is sent or moves, whatever is called."""
    robot.wait(0.5)
    q, told = robot.q.copy(), len(robot.commands)
    assert not runner.call('execute').success
    runner.call('abort')
    robot.wait(2.0)
    assert runner.state[0] == 'FAULT'
    assert len(robot.commands) == told
    # The field's own figure for an abort.
    assert np.max(np.abs(robot.q - q)) < 0.01


@contextmanager
def shared_desk(folder, model, trajectory, file):
    """Yield a function that returns graph, ideal robot and runner, each as at the beginning."""
    start = trajectory.sample(np.zeros(1)).q[0] + 0.05
    with own_graph(folder) as graph:
        robot = IdealRobot(graph, model, start)
        runner = Runner(graph, file, trajectory.sha256)

        def restored():
            graph.remove_guests((graph.node, robot.node))
            runner.restore()
            robot.restore(start)
            return graph, robot, runner

        yield restored
