# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The experiment runner moves the simulated robot's node, and brings it to rest."""

import signal

from long_tests import long_test
from nodes.simulated_experiment import COMMANDS, Experiment
import numpy as np
import pytest
from ros_helpers import wait_until
from trajectory_msgs.msg import JointTrajectory


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


@pytest.mark.parametrize('number', [
    signal.SIGINT, signal.SIGHUP, *(
        pytest.param(number, marks=long_test) for number in (signal.SIGTERM, signal.SIGQUIT)
    ),
])
def test_interruption_brings_it_to_rest(slow_experiment, ur5, number):
    """
    Who ends the runner in motion ends the motion first; the exit code says so.

    The arm is never faster than planned; 10 % are the servo's, which overshoots.
    """
    experiment = slow_experiment
    experiment.execute_fast()
    first = len(experiment.true_states)
    experiment.runner.process.send_signal(number)
    assert experiment.graph.exit_code(experiment.runner) == 130
    assert experiment.speed() < 0.03
    experiment.wait(2.5)
    experiment.check_smooth_stop(first, ur5)
    planned = experiment.trajectory.sample(experiment.trajectory.times(100.0)).dq
    executed = [state.velocity for state in experiment.true_states[first:]]
    assert np.max(np.abs(executed)) < 1.1 * np.max(np.abs(planned))


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
    'values that are frozen': ({'inject.freeze': True}, 'repeat the same one'),
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
