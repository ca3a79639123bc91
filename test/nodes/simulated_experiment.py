# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0


"""The simulated robot's node and the experiment runner that may move it."""

import json

from nodes.ideal_robot import is_busy, is_over
import numpy as np
import pytest
from ros_helpers import LATCHED, seconds, wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import String

COMMANDS = '/scaled_joint_trajectory_controller/joint_trajectory'
TRUE_STATES = '/simulated_robot/noise_free_joint_states'
TOKEN = 'shared by these two'
# Above the velocity that a bare hold command leaves in no time.
IN_MOTION = 0.3
ATTEMPTS = 4


class Experiment:
    """A runner and the simulated robot that was started with it, beside each other."""

    def __init__(self, graph, trajectory, trajectory_file, factor, variables=None):
        self.graph, self.trajectory = graph, trajectory
        start = trajectory.sample(np.zeros(1)).q[0] + 0.05
        self.robot = graph.start('simulated_robot', {
            'real_time_factor': factor, 'publish_truth': True, 'simulation_token': TOKEN,
            'initial_positions': start.tolist(), 'discovery_time': 0.0,
        }, variables)
        self.runner = graph.start('experiment_runner', {
            'simulation_token': TOKEN, 'use_sim_time': factor != 1.0, 'approach_speed': 1.0,
            'trajectory_file': str(trajectory_file), 'arm.sha256': trajectory.sha256,
            'dry_run': False, 'commissioning': False, 'require_recorder': False,
        }, variables)
        self._states = graph.hear(String, '/experiment_runner/state', LATCHED)
        self.true_states = graph.hear(JointState, TRUE_STATES)

    @property
    def state(self):
        """What the runner last said."""
        return json.loads(self._states[-1].data) if self._states else {'state': None}

    def reaches(self, wanted):
        """
        Wait for a state of the runner; return whether it was reached.

        It is not where a busy machine does not serve the robot for 0.2 s: a fault, too.
        """
        def told():
            return self.state['state'], self.state.get('reason')

        wait_until(lambda: told()[0] == wanted or is_over(*told()), wanted)
        state, reason = told()
        assert state == wanted or is_busy(reason), (state, reason)
        return state == wanted

    def execute(self, wanted='EXECUTING'):
        """Arm and execute, again after a stall of this machine; return in the state wanted."""
        for _ in range(ATTEMPTS):
            wait_until(
                lambda: self.graph.call('/experiment_runner/arm').success, 'the runner to be armed'
            )
            wait_until(lambda: self.state['state'] == 'ARMED', 'the runner to say so')
            answer = self.graph.call('/experiment_runner/execute')
            if answer.success and self.reaches('EXECUTING') and self.reaches(wanted):
                return
        pytest.fail(f'{ATTEMPTS} attempts, now {self.state}')

    def execute_fast(self):
        """Execute, again after a stall of this machine; return in full motion."""
        for _ in range(ATTEMPTS):
            self.execute()
            wait_until(
                lambda: self.speed() > IN_MOTION or self.state['state'] != 'EXECUTING',
                'full motion, or its end',
            )
            if self.speed() > IN_MOTION:
                return
        pytest.fail(f'{ATTEMPTS} attempts, now {self.state}')

    def speed(self):
        """Return the highest true joint speed at present [rad/s]."""
        return np.max(np.abs(self.true_states[-1].velocity))

    def time(self):
        """Return the simulated time [s]."""
        return seconds(self.true_states[-1].header.stamp)

    def wait(self, duration):
        """Wait for a span of simulated time."""
        end = self.time() + duration
        wait_until(lambda: self.time() >= end, f'{duration} s of simulated time')

    def peaks(self, first=0):
        """Return the largest true speed [rad/s] and acceleration [rad/s^2] from a state on."""
        states = self.true_states[first:]
        stamps = np.array([seconds(state.header.stamp) for state in states])
        dq = np.array([state.velocity for state in states])
        acceleration = np.diff(dq, axis=0) / np.diff(stamps)[:, None]
        return float(np.max(np.abs(dq))), float(np.max(np.abs(acceleration)))

    def check_smooth_stop(self, first, model):
        """
        Check that from the state `first` on the arm slowed down smoothly, and rests.

        A joint that is simply told to hold decelerates with ten times the limit and more. What is
        left to the stop is that it starts from a measurement of some milliseconds ago.
        """
        states = self.true_states[first:]
        stamps = np.array([seconds(state.header.stamp) for state in states])
        q = np.array([state.position for state in states])
        dq = np.array([state.velocity for state in states])
        assert np.max(np.abs(dq[0])) > 0.5 * IN_MOTION
        acceleration = np.diff(dq, axis=0) / np.diff(stamps)[:, None]
        assert np.max(np.abs(acceleration)) < 2.0 * np.min(model.limits.acceleration)
        resting = stamps > stamps[-1] - 2.0
        assert np.count_nonzero(resting) > 100
        assert np.max(np.ptp(q[resting], axis=0)) < 0.01
        assert np.max(np.abs(dq[resting])) < 0.01
