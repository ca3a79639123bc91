# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A runner in a process of its own, and what its tests share."""

from diagnostic_msgs.msg import DiagnosticArray
import pytest
from robot_identification.excitation.trajectory import dump_trajectory
from robot_identification.execution.commissioning import (
    CommissioningKey, DRY_RUN, note_stage, SLOW,
)
from robot_identification.execution.safety import kinematics_sha256
from ros_helpers import LATCHED, state_in, wait_until
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

COMMANDS = '/scaled_joint_trajectory_controller/joint_trajectory'
FOREIGN_TOPICS = {'publisher': '/joint_states', 'listener': COMMANDS}
TOKEN = 'the token of this test'
ATTEMPTS = 4
# What a busy machine that lets a robot or a recorder wait ends a motion with, or never begins it.
BUSY = 'no joint state', 'the joint states come', 'sign of life'
# What only a simulated robot may go without.
FREE = {'dry_run': False, 'commissioning': False, 'require_recorder': False}
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


class Runner:
    def __init__(
        self, graph, path, sha256, parameters=None, environment=None, free=FREE
    ):
        self._graph = graph
        self._states = graph.hear(DiagnosticArray, '/experiment_runner/state', LATCHED)
        self.process = graph.start('experiment_runner', {
            'trajectory_file': str(path), 'arm.sha256': sha256, 'simulation_token': TOKEN,
            'approach_speed': 1.0, **free, **(parameters or {}),
        }, environment)

    @property
    def content(self):
        return state_in(self._states[-1]) if self._states else {}

    @property
    def state(self):
        """State and reason, as last published."""
        return self.content.get('state'), self.content.get('reason')

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

    def connect(self):
        """Arm and disarm, so that a refusal that follows has another reason than discovery."""
        self.arm()
        assert self.call('abort').success
        assert self.state[0] == 'IDLE'

    def configure(self, **parameters):
        """Set parameters, `__` for a dot."""
        named = {name.replace('__', '.'): value for name, value in parameters.items()}
        assert not self._graph.configure('experiment_runner', named)

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
