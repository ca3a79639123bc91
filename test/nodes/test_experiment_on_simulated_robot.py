# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The experiment runner moves the simulated robot's node, and brings it to rest."""

import signal

from long_tests import long_test
from nodes.simulated_experiment import Experiment
import numpy as np
import pytest
from ros_helpers import wait_until


@pytest.fixture
def experiment(graph, trajectory, trajectory_file):
    """Return a runner with its simulated robot at twice real time."""
    return Experiment(graph, trajectory, trajectory_file, 2.0)


def test_executes_to_the_end(experiment):
    """The arm follows the certified motion and ends at its end, though the network is poor."""
    # A third of the joint states lost, a third twice, in another order each.
    poor = {'drop': 0.3, 'duplicate': 0.3, 'shuffle': True, 'delay': 0.03}
    assert not experiment.graph.configure(
        '/simulated_robot', {f'inject.{name}': value for name, value in poor.items()}
    )
    experiment.execute('DONE')
    assert 0.0 < float(experiment.state['worst_tracking_error']) < 0.1
    experiment.wait(0.5)
    state = experiment.true_states[-1]
    values = dict(zip(state.name, state.position, strict=True))
    q = np.array([values[joint] for joint in experiment.trajectory.joint_names])
    end = experiment.trajectory.sample(np.array([experiment.trajectory.duration])).q[0]
    assert np.max(np.abs(q - end)) < 0.005


@pytest.mark.parametrize('number', [
    signal.SIGINT, *(
        pytest.param(number, marks=long_test)
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT)
    ),
])
def test_interruption_brings_it_to_rest(experiment, ur5, number):
    """Who ends the runner in motion ends the motion first; the exit code says so."""
    experiment.execute_fast()
    first = len(experiment.true_states)
    experiment.runner.process.process.send_signal(number)
    assert experiment.graph.exit_code(experiment.runner.process) == 130
    # It rests by then; what was said of it before may come to a busy machine a little later.
    wait_until(lambda: experiment.speed() < 0.03, 'rest', 0.5)
    experiment.wait(1.5)
    experiment.check_smooth_stop(first, ur5)
    # Never faster than planned; 10 % are the servo's, which overshoots.
    planned = experiment.trajectory.sample(experiment.trajectory.times(100.0)).dq
    executed = [state.velocity for state in experiment.true_states[first:]]
    assert np.max(np.abs(executed)) < 1.1 * np.max(np.abs(planned))


def test_a_dead_robot_is_a_fault(experiment):
    """The robot's process is killed in motion: noticed, and rest is not claimed."""
    experiment.execute_fast()
    experiment.graph.kill(experiment.robot)
    wait_until(lambda: experiment.state['state'] == 'STOPPING', 'a reaction', 2.0)
    assert 'no joint state' in experiment.state['reason']
    assert 'NOT verified at rest' in experiment.runner.wait_for('FAULT')
    # No joint state comes any more: there is no arming either.
    reason = experiment.graph.refused('/experiment_runner/arm')
    assert 'no joint state' in reason or 'not connected' in reason
    experiment.graph.refused('/experiment_runner/execute')
