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

"""The experiment runner moves the simulated robot's node, and brings it to rest."""

import json
import signal

from long_tests import long_test
import numpy as np
import pytest
from ros_helpers import LATCHED
from ros_helpers import seconds
from ros_helpers import wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

COMMANDS = '/scaled_joint_trajectory_controller/joint_trajectory'
TRUE_STATES = '/simulated_robot/noise_free_joint_states'
TOKEN = 'shared by these two'
# Above the velocity that a bare hold command leaves in no time.
IN_MOTION = 0.3
ATTEMPTS = 4


class Experiment:
    """A runner and the simulated robot that was started with it, beside each other."""

    def __init__(self, graph, trajectory, trajectory_file, factor):
        self.graph, self.trajectory = graph, trajectory
        start = trajectory.sample(np.zeros(1)).q[0] + 0.05
        self.robot = graph.start('simulated_robot', {
            'real_time_factor': factor, 'publish_truth': True, 'simulation_token': TOKEN,
            'initial_positions': start.tolist(), 'discovery_time': 0.0,
        })
        self.runner = graph.start('experiment_runner', {
            'simulation_token': TOKEN, 'use_sim_time': True, 'approach_speed': 1.0,
            'trajectory_file': str(trajectory_file), 'arm.sha256': trajectory.sha256,
            'dry_run': False, 'ladder': False, 'require_recorder': False,
        })
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
        wait_until(
            lambda: self.state['state'] in (wanted, 'FAULT'), f'{wanted}, it is {self.state}'
        )
        if self.state['state'] == 'FAULT':
            assert 'no joint state' in self.state['reason'], self.state
        return self.state['state'] == wanted

    def execute(self, wanted='EXECUTING'):
        """Arm and execute, again after a stall of this machine; return in the state wanted."""
        for _ in range(ATTEMPTS):
            wait_until(
                lambda: self.graph.call('/experiment_runner/arm').success, 'the runner to be armed'
            )
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


@pytest.fixture
def experiment(graph, trajectory, trajectory_file):
    """Return a runner with its simulated robot, four times faster than real time."""
    return Experiment(graph, trajectory, trajectory_file, 4.0)


@pytest.fixture
def slow_experiment(graph, trajectory, trajectory_file):
    """Return the same at twice real time, where the delays of this machine matter less."""
    return Experiment(graph, trajectory, trajectory_file, 2.0)


def test_executes_to_the_end(experiment):
    """The arm follows the certified motion and ends at its end."""
    experiment.execute('DONE')
    assert 0.0 < experiment.state['worst_tracking_error'] < 0.1
    experiment.wait(0.5)
    state = experiment.true_states[-1]
    values = dict(zip(state.name, state.position, strict=True))
    q = np.array([values[joint] for joint in experiment.trajectory.joint_names])
    end = experiment.trajectory.sample(np.array([experiment.trajectory.duration])).q[0]
    assert np.max(np.abs(q - end)) < 0.005
    assert experiment.robot.exit_code is None


def test_abort_brings_it_to_rest(slow_experiment, ur5):
    """Within two seconds of simulated time nothing moves, and nothing starts again."""
    experiment = slow_experiment
    experiment.execute_fast()
    first = len(experiment.true_states)
    assert experiment.graph.call('/experiment_runner/abort').success
    wait_until(lambda: experiment.state['state'] == 'FAULT', 'a fault')
    assert 'NOT' not in experiment.state['reason']
    assert not experiment.graph.call('/experiment_runner/execute').success
    experiment.wait(2.5)
    experiment.check_smooth_stop(first, ur5)
    assert experiment.state['state'] == 'FAULT'


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_interruption_brings_it_to_rest(slow_experiment, ur5, number):
    """Who ends the runner in motion ends the motion first; the exit code says so."""
    experiment = slow_experiment
    experiment.execute_fast()
    first = len(experiment.true_states)
    experiment.runner.process.send_signal(number)
    assert experiment.graph.exit_code(experiment.runner) == 130
    assert experiment.speed() < 0.03
    experiment.wait(2.5)
    experiment.check_smooth_stop(first, ur5)


def test_a_dead_robot_is_a_fault(experiment):
    """The robot's process is killed in motion: noticed, and rest is not claimed."""
    experiment.execute_fast()
    experiment.graph.kill(experiment.robot)
    wait_until(lambda: experiment.state['state'] == 'STOPPING', 'a reaction', 2.0)
    assert 'no joint state' in experiment.state['reason']
    wait_until(lambda: experiment.state['state'] == 'FAULT', 'a fault')
    assert 'NOT verified at rest' in experiment.state['reason']
    # No joint state comes any more: there is no arming either.
    answer = experiment.graph.call('/experiment_runner/arm')
    assert not answer.success
    assert 'no joint state' in answer.message or 'not connected' in answer.message
    assert not experiment.graph.call('/experiment_runner/execute').success


def test_an_intruder_ends_everything(experiment):
    """Somebody listens to the commands in motion: the robot leaves, the runner faults."""
    experiment.execute_fast()
    experiment.graph.add_node('intruder').create_subscription(
        JointTrajectory, COMMANDS, lambda message: None, 10
    )
    assert experiment.graph.exit_code(experiment.robot) == 5
    assert 'intruder' in experiment.robot.last_words()
    wait_until(lambda: experiment.state['state'] in ('STOPPING', 'FAULT'), 'a reaction')
    assert not experiment.graph.call('/experiment_runner/arm').success


FAULTS = {
    'a protective stop': ({'inject.safety_mode': 3}, 'PROTECTIVE_STOP'),
    'a program that ends': ({'inject.program_running': False}, 'program'),
    'another controller': ({'inject.controller_active': False}, 'inactive'),
    'silence': ({'inject.silence': True}, 'no joint state'),
    'values that are frozen': ({'inject.freeze': True}, 'tracking error'),
    'a clock that is set': ({'inject.clock_jump': -30.0}, 'stamps'),
}


# One that the robot tells and one that it cannot tell. That the runner hears each of the others is
# tested with an ideal robot.
FEW = 'a protective stop', 'silence'


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    'names', [FEW, pytest.param(tuple(FAULTS), marks=long_test)], ids=['few', 'every fault']
)
def test_faults_end_the_motion_for_good(slow_experiment, names):
    """
    One after the other, each in full motion, each cured before a human arms again.

    In the two seconds after FAULT no joint moves 0.01 rad, whatever is called and although the
    cause is gone: nothing resumes by itself. (Commands are counted in test_runner_safety.py: here
    nobody else may listen to them.)
    """
    experiment = slow_experiment
    for name in names:
        injected, word = FAULTS[name]
        experiment.execute_fast()
        assert not experiment.graph.configure('/simulated_robot', injected)
        wait_until(lambda: experiment.state['state'] == 'FAULT', f'a fault after {name}')
        assert word in experiment.state['reason'], (name, experiment.state)
        first = len(experiment.true_states)
        cured = {
            key: {'inject.safety_mode': 1, 'inject.program_running': True,
                  'inject.controller_active': True,
                  'inject.clock_jump': 0.0}.get(key, False)
            for key in injected
        }
        assert not experiment.graph.configure('/simulated_robot', cured)
        assert not experiment.graph.call('/experiment_runner/execute').success
        experiment.wait(2.0)
        assert experiment.state['state'] == 'FAULT', name
        q = np.array([state.position for state in experiment.true_states[first:]])
        assert np.max(np.ptp(q, axis=0)) < 0.01, name


def test_a_driver_that_starts_anew_is_a_fault(slow_experiment):
    """It is noticed by its silence; the old motion is not sent again."""
    experiment = slow_experiment
    experiment.execute_fast()
    assert experiment.graph.call('/simulated_robot/restart').success
    wait_until(lambda: experiment.state['state'] == 'FAULT', 'a fault')
    heard = len(experiment.true_states)
    wait_until(lambda: len(experiment.true_states) > heard + 500, 'the driver to be back')
    assert experiment.speed() < 0.01
    assert experiment.state['state'] == 'FAULT'


def test_a_poor_network_is_none(slow_experiment):
    """A third of the joint states lost, a third twice, in another order each: it goes on."""
    experiment = slow_experiment
    assert not experiment.graph.configure('/simulated_robot', {
        'inject.drop': 0.3, 'inject.duplicate': 0.3, 'inject.shuffle': True,
        'inject.delay': 0.03,
    })
    experiment.execute('DONE')
    assert experiment.state['worst_tracking_error'] < 0.1
