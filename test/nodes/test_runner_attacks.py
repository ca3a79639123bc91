# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What an arm does, not what its runner says: its true peak speed after every kind of stop."""

import signal
import time

from diagnostic_msgs.msg import DiagnosticArray
from interfaces import overlay
from long_tests import long_test
from nodes.ideal_robot import FREE, TOKEN
from nodes.simulated_experiment import Experiment
import numpy as np
import pytest
from ros_helpers import LATCHED, own_graph, state_in, wait_until

pytestmark = pytest.mark.timeout(900)  # the first test here compiles control_msgs

WHOLE = {
    'inject.repeat': False, 'inject.freeze': False, 'inject.silence': False,
    'inject.clock_jump': 0.0, 'inject.delay': 0.0,
}
# Of the planned speed, as the state machine's own test allows; the servo adds a hundredth.
SHARE = 1.1


@pytest.fixture(scope='module')
def shared(tmp_path_factory, trajectory, trajectory_file):
    """Return a runner with its simulated robot, in real time, by action."""
    variables = overlay()
    with own_graph(tmp_path_factory.mktemp('attacks')) as graph:
        yield Experiment(graph, trajectory, trajectory_file, 1.0, variables)


@pytest.fixture
def experiment(shared):
    """Return the same, with joint states as they should be again after each attack."""
    yield shared
    if shared.runner.process.exit_code is None:
        assert not shared.graph.configure('/simulated_robot', WHOLE)


def planned_speed(trajectory):
    return np.max(np.abs(trajectory.sample(np.linspace(0.0, trajectory.duration, 2001)).dq))


def check_rest(experiment, trajectory, first):
    """Check that FAULT is reached, the arm never faster than planned, and at rest for good."""
    wait_until(lambda: experiment.state['state'] == 'FAULT', 'FAULT')
    experiment.wait(0.5)
    assert experiment.speed() < 0.02
    speed, _ = experiment.peaks(first)
    assert speed <= SHARE * planned_speed(trajectory)
    assert not experiment.graph.call('/experiment_runner/execute').success


def wait_for(duration):
    """Wait for a span of real time, as a frozen clock has no other."""
    end = time.monotonic() + duration
    wait_until(lambda: time.monotonic() >= end, f'{duration} s')


@pytest.mark.parametrize('duration', [pytest.param(0.0, marks=long_test), 1.0])
def test_frozen_joint_states_throw_nothing(experiment, trajectory, duration):
    """The same message for a while, then ~/abort: the old place is never aimed at."""
    experiment.execute_fast()
    first = len(experiment.true_states)
    assert not experiment.graph.configure('/simulated_robot', {'inject.repeat': True})
    wait_for(duration)
    assert experiment.graph.call('/experiment_runner/abort').success
    check_rest(experiment, trajectory, first)
    assert ('repeat the same one' if duration else 'abort') in experiment.state['reason']


def test_a_runner_that_stalls_throws_nothing(experiment, trajectory):
    """SIGSTOP for 1.5 s, then SIGCONT: joint states that waited are as old as their stamps say."""
    experiment.execute_fast()
    first = len(experiment.true_states)
    experiment.runner.process.process.send_signal(signal.SIGSTOP)
    experiment.wait(1.5)
    experiment.runner.process.process.send_signal(signal.SIGCONT)
    check_rest(experiment, trajectory, first)
    assert 'did not run' in experiment.state['reason']


@pytest.mark.parametrize('fault', [
    {'inject.freeze': True}, {'inject.silence': True},
    pytest.param({'inject.clock_jump': -30.0}, marks=long_test),
    pytest.param({'inject.delay': 0.5}, marks=long_test),
], ids=lambda fault: next(iter(fault)))
def test_joint_states_that_tell_nothing_throw_nothing(experiment, trajectory, fault):
    """Old values, silence, another clock, half a second late."""
    experiment.execute_fast()
    first = len(experiment.true_states)
    assert not experiment.graph.configure('/simulated_robot', fault)
    check_rest(experiment, trajectory, first)


@pytest.fixture
def other_runner(experiment, trajectory, trajectory_file):
    """Return what a second runner with the same token says, under another name."""
    heard = experiment.graph.hear(DiagnosticArray, '/other_runner/state', LATCHED)
    process = experiment.graph.start('experiment_runner', {
        'simulation_token': TOKEN, 'trajectory_file': str(trajectory_file),
        'arm.sha256': trajectory.sha256, **FREE,
    }, overlay(), '__node:=other_runner')
    wait_until(lambda: heard, 'the other runner')
    yield heard
    process.stop()
    assert process.exit_code == 0


def test_two_runners_with_one_token_do_not_both_arm(experiment, other_runner):
    """The second is refused as long as the first is armed, and may arm when it is not."""
    call = experiment.graph.call
    wait_until(lambda: call('/experiment_runner/arm').success, 'the first to be armed')
    answer = call('/other_runner/arm')
    assert not answer.success
    assert 'claimed by another process' in answer.message
    assert not call('/other_runner/execute').success
    assert call('/experiment_runner/abort').success
    wait_until(lambda: call('/other_runner/arm').success, 'the other to be armed')
    assert not call('/experiment_runner/arm').success
    assert state_in(other_runner[-1])['state'] == 'ARMED'
    assert call('/other_runner/abort').success


@long_test
def test_a_runner_that_is_ended_while_states_are_frozen_throws_nothing(experiment, trajectory):
    """Ctrl-C a second after the joint states froze; the last test, as the runner is gone then."""
    experiment.execute_fast()
    first = len(experiment.true_states)
    assert not experiment.graph.configure('/simulated_robot', {'inject.repeat': True})
    wait_for(1.0)
    experiment.runner.process.process.send_signal(signal.SIGINT)
    experiment.graph.exit_code(experiment.runner.process)
    experiment.wait(1.0)
    assert experiment.speed() < 0.02
    assert experiment.peaks(first)[0] <= SHARE * planned_speed(trajectory)
