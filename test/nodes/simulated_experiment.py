# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot's node and the experiment runner that may move it."""

from nodes.ideal_robot import ATTEMPTS, Runner, TOKEN
import numpy as np
import pytest
from ros_helpers import seconds, wait_until
from sensor_msgs.msg import JointState

TRUE_STATES = '/simulated_robot/noise_free_joint_states'
# Above the velocity that a bare hold command leaves in no time.
IN_MOTION = 0.3


class Experiment:
    """A runner and the simulated robot that was started with it, beside each other."""

    def __init__(self, graph, trajectory, trajectory_file, factor, variables=None):
        self.graph, self.trajectory = graph, trajectory
        start = trajectory.sample(np.zeros(1)).q[0] + 0.05
        self.robot = graph.start('simulated_robot', {
            'real_time_factor': factor, 'publish_truth': True, 'simulation_token': TOKEN,
            'initial_positions': start.tolist(), 'discovery_time': 0.0,
        }, variables)
        self.runner = Runner(
            graph, trajectory_file, trajectory.sha256, {'use_sim_time': factor != 1.0}, variables
        )
        self.true_states = graph.hear(JointState, TRUE_STATES)

    @property
    def state(self):
        return self.runner.content

    def execute(self, wanted='EXECUTING'):
        """Arm and execute, again after a stall of this machine; return in the state wanted."""
        for _ in range(ATTEMPTS):
            self.runner.execute()
            if self.runner.reaches(wanted):
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
        return seconds(self.true_states[-1].header.stamp)

    def wait(self, duration):
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
        """Check that from the state `first` on the arm slowed down smoothly, and rests."""
        states = self.true_states[first:]
        stamps = np.array([seconds(state.header.stamp) for state in states])
        q = np.array([state.position for state in states])
        dq = np.array([state.velocity for state in states])
        assert np.max(np.abs(dq[0])) > 0.5 * IN_MOTION
        # A joint that is simply told to hold decelerates with ten times the limit and more; the
        # stop starts from a measurement of some milliseconds ago.
        assert self.peaks(first)[1] < 2.0 * np.min(model.limits.acceleration)
        resting = stamps > stamps[-1] - 1.0
        assert np.count_nonzero(resting) > 50
        assert np.max(np.ptp(q[resting], axis=0)) < 0.01
        assert np.max(np.abs(dq[resting])) < 0.01
