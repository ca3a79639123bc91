# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The runner with the simulated robot's node: what the arm does, not what its runner says."""

import signal
import time

from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.srv import SelfTest
from interfaces import overlay
from long_tests import long_test
from nodes.runner import ATTEMPTS, FREE, Runner, TOKEN
import numpy as np
import pytest
from recordings import designed_motion
from robot_identification.excitation.trajectory import dump_trajectory
from robot_identification.execution.stop import DURATIONS
from robot_identification.model.registry import load_robot
from ros_helpers import LATCHED, own_graph, seconds, state_in, state_message, wait_until
from sensor_msgs.msg import JointState

pytestmark = pytest.mark.timeout(900)  # the first test here compiles control_msgs

TRUE_STATES = '/simulated_robot/noise_free_joint_states'
# Above the velocity that a bare hold command leaves in no time.
IN_MOTION = 0.3
# Of the planned speed, as the state machine's own test allows; the servo adds a hundredth.
SHARE = 1.1
WHOLE = {
    'inject.repeat': False, 'inject.freeze': False, 'inject.silence': False,
    'inject.clock_jump': 0.0, 'inject.delay': 0.0,
}


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

    def inject(self, **faults):
        assert not self.graph.configure('/simulated_robot', faults)

    def execute(self, wanted='EXECUTING'):
        """Arm and execute, again after a stall of this machine; return in the state wanted."""
        for _ in range(ATTEMPTS):
            self.runner.execute()
            if self.runner.reaches(wanted):
                return
        pytest.fail(f'{ATTEMPTS} attempts, now {self.runner.content}')

    def execute_fast(self):
        """Execute, again after a stall of this machine; return in full motion."""
        for _ in range(ATTEMPTS):
            self.execute()
            wait_until(
                lambda: self.speed() > IN_MOTION or self.runner.state[0] != 'EXECUTING',
                'full motion, or its end',
            )
            if self.speed() > IN_MOTION:
                return len(self.true_states)
        pytest.fail(f'{ATTEMPTS} attempts, now {self.runner.content}')

    def speed(self):
        """Return the highest true joint speed at present [rad/s]."""
        return np.max(np.abs(self.true_states[-1].velocity))

    def wait(self, duration):
        """Wait for a span of simulated time."""
        def now():
            return seconds(self.true_states[-1].header.stamp)

        end = now() + duration
        wait_until(lambda: now() >= end, f'{duration} s of simulated time')

    def check_speed(self, first):
        """Check that from the state `first` on the arm was never faster than planned."""
        planned = np.abs(self.trajectory.sample(self.trajectory.times(200.0)).dq).max()
        true = np.abs([state.velocity for state in self.true_states[first:]]).max()
        assert true <= SHARE * planned

    def check_rest(self, first):
        """Check that FAULT is reached, the arm never faster than planned, and at rest for good."""
        self.runner.wait_for('FAULT')
        self.wait(0.5)
        assert self.speed() < 0.02
        self.check_speed(first)
        assert not self.runner.call('execute').success

    def check_smooth_stop(self, first, model):
        """Check that from the state `first` on the arm slowed down smoothly, and rests."""
        states = self.true_states[first:]
        stamps = np.array([seconds(state.header.stamp) for state in states])
        q = np.array([state.position for state in states])
        dq = np.array([state.velocity for state in states])
        assert np.max(np.abs(dq[0])) > 0.5 * IN_MOTION
        # A joint that is simply told to hold decelerates with ten times the limit and more; the
        # stop starts from a measurement of some milliseconds ago.
        acceleration = np.diff(dq, axis=0) / np.diff(stamps)[:, None]
        assert np.max(np.abs(acceleration)) < 2.0 * np.min(model.limits.acceleration)
        resting = stamps > stamps[-1] - 1.0
        assert np.count_nonzero(resting) > 50
        assert np.max(np.ptp(q[resting], axis=0)) < 0.01
        assert np.max(np.abs(dq[resting])) < 0.01


@pytest.fixture(scope='module')
def shared(tmp_path_factory, trajectory, trajectory_file):
    """Return a runner with its simulated robot, in real time, by action."""
    variables = overlay()
    with own_graph(tmp_path_factory.mktemp('attacks')) as graph:
        yield Experiment(graph, trajectory, trajectory_file, 1.0, variables)


@pytest.fixture
def experiment(shared, trajectory, trajectory_file):
    """Return the same, with joint states as they should be again after each attack."""
    yield shared
    shared.inject(**WHOLE)
    shared.runner.call('abort')
    wait_until(lambda: shared.runner.state[0] in ('IDLE', 'FAULT', 'DONE'), 'the end of a motion')
    shared.runner.configure(
        **FREE, trajectory_file=str(trajectory_file), arm__sha256=trajectory.sha256
    )


@pytest.fixture
def own_experiment(graph, trajectory, trajectory_file):
    """Return one that a test may end, at twice real time and by topic."""
    return Experiment(graph, trajectory, trajectory_file, 2.0)


# --- before a motion -------------------------------------------------------------------------


@pytest.mark.parametrize('case', [
    'no such file', 'no hash', 'wrong hash', 'edited file', 'another robot',
])
def test_does_not_arm(experiment, trajectory, trajectory_file, tmp_path, case):
    """What is not the approved file of this robot is refused, in words."""
    edited, foreign = tmp_path / 'edited.yaml', tmp_path / 'ur10.yaml'
    text = trajectory_file.read_text()
    edited.write_text(text.replace('periods: 1\n', 'periods: 2\n'))
    assert edited.read_text() != text
    # Its joints have the same names.
    other = designed_motion(load_robot('ur10'), 0)
    foreign.write_text(dump_trajectory(other))
    sha256 = trajectory.sha256
    path, typed, words = {
        'no such file': (tmp_path / 'no.yaml', sha256, ['no.yaml']),
        'no hash': (trajectory_file, '', ['arm.sha256']),
        'wrong hash': (trajectory_file, '0' * 64, ['arm.sha256', sha256]),
        'edited file': (edited, sha256, ['changed', 'edited.yaml']),
        'another robot': (foreign, other.sha256, ['ur10', 'ur5']),
    }[case]
    experiment.runner.configure(trajectory_file=str(path), arm__sha256=typed)
    reason = experiment.runner.refused()
    for word in words:
        assert word in reason


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


@pytest.mark.parametrize(('token', 'words'), [
    ('another token', 'simulation_token'),
    # An arm counts as real then; without the types of its driver nothing is known of it.
    ('', 'controller_manager_msgs is not installed'),
])
def test_another_robot_is_not_moved(graph, trajectory, trajectory_file, tmp_path, token, words):
    """Neither a simulated robot that somebody else started, nor a real one unseen."""
    (tmp_path / 'blocked').mkdir()
    (tmp_path / 'blocked' / 'controller_manager_msgs.py').write_text("raise ImportError('no')\n")
    runner = Runner(
        graph, trajectory_file, trajectory.sha256, {'simulation_token': token},
        {'PYTHONPATH': str(tmp_path / 'blocked')},
    )
    runner.wait_for('IDLE')
    assert words in runner.refused()


class Recorder:
    """Answers that it records, or not, until it is dead."""

    def __init__(self, graph):
        self._graph, self._node = graph, graph.add_node('bag_recorder')
        self.state = 'RECORDING'
        self._service = self._node.create_service(SelfTest, '~/status', self._answer)

    def die(self):
        self._graph.run(self._node.destroy_service, self._service)

    def _answer(self, request, response):
        response.passed = bytes([self.state == 'RECORDING'])
        response.status = state_message(self.state, reason='').status
        return response


def test_nothing_moves_unrecorded_and_what_is_not_any_more_stops(experiment):
    """The recorder is asked, and what a bag says of one is not heeded."""
    graph, runner = experiment.graph, experiment.runner
    runner.configure(require_recorder=True)
    player = graph.add_node('rosbag2_player')
    replay = player.create_publisher(DiagnosticArray, '/bag_recorder/state', LATCHED)
    player.create_timer(0.1, lambda: replay.publish(state_message('RECORDING', reason='')))
    runner.arm()
    assert 'bag_recorder/status' in runner.call('execute').message
    recorder = Recorder(graph)
    recorder.state = 'IDLE'
    wait_until(lambda: 'IDLE' in runner.call('execute').message, 'the recorder to be heard')
    recorder.state = 'RECORDING'
    first, died_at = experiment.execute_fast(), time.monotonic()
    recorder.die()
    assert 'sign of life' in runner.wait_for('FAULT')
    # 0.8 s without an answer, the longest stop that is tried, and a busy machine.
    assert time.monotonic() - died_at < 0.8 + DURATIONS[-1] + 2.0
    experiment.check_rest(first)
    graph.remove_node(player)


# --- in motion -------------------------------------------------------------------------------


def test_executes_to_the_end(own_experiment, tmp_path):
    """Once, as it was armed, and to its end, though the network is poor."""
    experiment, runner = own_experiment, own_experiment.runner
    assert 'not armed' in runner.call('execute').message
    # A third of the joint states lost, a third twice, in another order each.
    experiment.inject(**{
        'inject.drop': 0.3, 'inject.duplicate': 0.3, 'inject.shuffle': True, 'inject.delay': 0.03,
    })
    runner.arm()
    for name, value in (('trajectory_file', str(tmp_path / 'other.yaml')), ('speed', 0.5)):
        assert experiment.graph.configure('experiment_runner', {name: value})
    experiment.execute('DONE')
    content = runner.content
    assert 0.0 < float(content['worst_tracking_error']) < 0.1
    assert not runner.call('execute').success
    # Executed as planned, but for the interpolation of knots and the differences of samples.
    criteria = [name.removeprefix('planned ') for name in content if name.startswith('planned ')]
    assert criteria
    for name in criteria:
        planned, executed = (float(content[f'{what} {name}']) for what in ('planned', 'executed'))
        assert executed == pytest.approx(planned, rel=0.05, abs=0.05)
    experiment.wait(0.5)
    state = experiment.true_states[-1]
    values = dict(zip(state.name, state.position, strict=True))
    q = np.array([values[joint] for joint in experiment.trajectory.joint_names])
    end = experiment.trajectory.sample(np.array([experiment.trajectory.duration])).q[0]
    assert np.max(np.abs(q - end)) < 0.005


@pytest.mark.parametrize(('fault', 'words'), [
    ({'inject.repeat': True}, 'repeat the same one'),
    ({'inject.freeze': True}, ''), ({'inject.silence': True}, 'no joint state'),
    pytest.param({'inject.clock_jump': -30.0}, 'stamps', marks=long_test),
    pytest.param({'inject.delay': 0.5}, '', marks=long_test),
], ids=lambda value: next(iter(value)) if isinstance(value, dict) else '')
def test_joint_states_that_tell_nothing_throw_nothing(experiment, fault, words):
    """The same message, old values, silence, another clock, half a second late."""
    first = experiment.execute_fast()
    experiment.inject(**fault)
    experiment.check_rest(first)
    assert words in experiment.runner.state[1]


def test_frozen_joint_states_and_an_abort_throw_nothing(experiment):
    """The old place is never aimed at; what was armed is disarmed by the same call."""
    experiment.runner.connect()
    first = experiment.execute_fast()
    experiment.inject(**{'inject.repeat': True})
    assert experiment.runner.call('abort').success
    experiment.check_rest(first)
    assert 'abort' in experiment.runner.state[1]


def test_a_runner_that_stalls_throws_nothing(experiment):
    """SIGSTOP for 1.5 s, then SIGCONT: joint states that waited are as old as their stamps say."""
    first = experiment.execute_fast()
    process = experiment.runner.process.process
    process.send_signal(signal.SIGSTOP)
    experiment.wait(1.5)
    process.send_signal(signal.SIGCONT)
    experiment.check_rest(first)
    assert 'did not run' in experiment.runner.state[1]


@pytest.mark.parametrize('number', [
    signal.SIGINT, *(
        pytest.param(number, marks=long_test)
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT)
    ),
])
def test_interruption_brings_it_to_rest(own_experiment, ur5, number):
    """Who ends the runner in motion ends the motion first; the exit code says so."""
    experiment = own_experiment
    first = experiment.execute_fast()
    experiment.runner.process.process.send_signal(number)
    assert experiment.graph.exit_code(experiment.runner.process) == 130
    # It rests by then; what was said of it before may come to a busy machine a little later.
    wait_until(lambda: experiment.speed() < 0.03, 'rest', 0.5)
    experiment.wait(1.5)
    experiment.check_smooth_stop(first, ur5)
    experiment.check_speed(first)


def test_a_dead_robot_is_a_fault(own_experiment):
    """The robot's process is killed in motion: noticed, and rest is not claimed."""
    experiment, runner = own_experiment, own_experiment.runner
    experiment.execute_fast()
    experiment.graph.kill(experiment.robot)
    wait_until(lambda: runner.state[0] == 'STOPPING', 'a reaction', 2.0)
    assert 'no joint state' in runner.state[1]
    assert 'NOT verified at rest' in runner.wait_for('FAULT')
    # Nobody is there any more: there is no arming either.
    runner.refused()
