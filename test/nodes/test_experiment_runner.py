# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The experiment runner with an ideal robot in this process, which remembers what it is told."""

import time

from long_tests import long_test
from nodes.ideal_robot import (
    ATTEMPTS, check_latched_fault, FOREIGN_TOPICS, IdealRobot, join, Runner, TOKEN,
)
import numpy as np
import pytest
from recordings import designed_motion
from robot_identification.excitation.trajectory import dump_trajectory
from robot_identification.execution.stop import DURATIONS
from robot_identification.model.registry import load_robot
from ros_helpers import seconds, wait_until

# The longest stop that is tried [s], as a message rounds it.
LONGEST_STOP = DURATIONS[-1] + 1e-6


@pytest.fixture
def make_desk(graph, ur5, trajectory, trajectory_file):
    """Return what makes a robot at the start of the motion and a runner of its own."""
    def make(parameters=None, token=TOKEN, blocked=None):
        robot = IdealRobot(graph, ur5, trajectory.sample(np.zeros(1)).q[0], token)
        environment = {'PYTHONPATH': str(blocked)} if blocked else None
        return robot, Runner(graph, trajectory_file, trajectory.sha256, parameters, environment)
    return make


@pytest.fixture(scope='module')
def planned_speed(trajectory):
    return np.max(np.abs(trajectory.sample(np.linspace(0.0, trajectory.duration, 2001)).dq))


def edited(trajectory_file, tmp_path):
    """Return a file with another number of periods under the old hash."""
    path = tmp_path / 'edited.yaml'
    text = trajectory_file.read_text()
    assert 'periods: 1\n' in text
    path.write_text(text.replace('periods: 1\n', 'periods: 2\n'))
    return path


@pytest.mark.parametrize('case', [
    'no file named', 'no such file', 'not a trajectory', 'no hash', 'wrong hash', 'edited file',
    'another robot',
])
def test_does_not_arm(desk, trajectory, trajectory_file, tmp_path, case):
    """What is not the approved file of this robot is refused, in words, and nothing moves."""
    _, robot, runner = desk
    (tmp_path / 'text.yaml').write_text('schema_version: 1\nhello: world\n')
    # Its joints have the same names.
    other = designed_motion(load_robot('ur10'), 0)
    (tmp_path / 'ur10.yaml').write_text(dump_trajectory(other))
    sha256 = trajectory.sha256
    path, typed, words = {
        'no file named': lambda: ('', sha256, ['trajectory_file']),
        'no such file': lambda: (tmp_path / 'no.yaml', sha256, ['no.yaml']),
        'not a trajectory': lambda: (tmp_path / 'text.yaml', sha256, ['text.yaml']),
        'no hash': lambda: (trajectory_file, '', ['arm.sha256']),
        'wrong hash': lambda: (trajectory_file, '0' * 64, ['arm.sha256', sha256]),
        'edited file': lambda: (
            edited(trajectory_file, tmp_path), sha256, ['changed', 'edited.yaml']
        ),
        'another robot': lambda: (tmp_path / 'ur10.yaml', other.sha256, ['ur10', 'ur5']),
    }[case]()
    runner.configure(trajectory_file=str(path), arm__sha256=typed)
    reason = runner.refused()
    for word in words:
        assert word in reason
    assert not robot.commands


def test_does_not_arm_with_another_token(make_desk):
    """A simulated robot that somebody else started is not moved."""
    robot, runner = make_desk({'simulation_token': 'another token'})
    runner.wait_for('IDLE')
    robot.wait(1.0)
    assert 'simulation_token' in runner.refused()
    assert not robot.commands


def test_does_not_arm_for_a_real_arm_whose_types_are_missing(make_desk, tmp_path):
    """Without a token an arm counts as real; without its types nothing is known of it."""
    blocked = tmp_path / 'blocked'
    blocked.mkdir()
    (blocked / 'controller_manager_msgs.py').write_text("raise ImportError('not installed')\n")
    robot, runner = make_desk({'simulation_token': ''}, token='', blocked=blocked)
    runner.wait_for('IDLE')
    robot.wait(1.0)
    assert 'controller_manager_msgs is not installed' in runner.refused()
    assert not robot.commands


def test_does_not_arm_without_a_robot(graph, trajectory, trajectory_file):
    """Nobody is there."""
    runner = Runner(graph, trajectory_file, trajectory.sha256)
    runner.wait_for('IDLE')
    assert 'no simulated robot' in runner.refused()


@pytest.mark.parametrize('fault', ['silent', 'broken'])
def test_does_not_arm_on_old_joint_states(desk, fault):
    """Joint states that stopped, or are not finite any more, are no measurement."""
    _, robot, runner = desk
    setattr(robot, fault, True)
    robot.wait(1.6)
    assert {'silent': 'no joint state', 'broken': 'not finite'}[fault] in runner.refused()
    assert not robot.commands


@pytest.mark.parametrize('kind', FOREIGN_TOPICS)
def test_does_not_move_beside_others(desk, kind):
    """Another source of joint states or another controller may be a real arm."""
    graph, robot, runner = desk
    runner.arm()
    intruder = join(graph, kind)
    count = robot.node.count_publishers if kind == 'publisher' else robot.node.count_subscribers
    wait_until(lambda: count(FOREIGN_TOPICS[kind]) == 2, 'the intruder')
    # Between arming and executing it is noticed, too; by name a moment later.
    robot.wait(0.5)
    assert FOREIGN_TOPICS[kind] in graph.refused('/experiment_runner/execute')
    runner.call('abort')
    wait_until(lambda: '/elsewhere/intruder' in runner.refused(), 'its name')
    assert FOREIGN_TOPICS[kind] in runner.refused()
    assert not robot.commands
    # It goes away, and the human may try again.
    graph.remove_node(intruder)
    runner.connect()


def positions_of(command, model):
    """Return the positions of a command's points, kinematic order (K, n)."""
    order = [list(command.joint_names).index(joint) for joint in model.joint_names]
    return np.array([point.positions for point in command.points])[:, order]


def check_stop_on_path(robot, model):
    """Check that the last command ends at rest, on the path that was sent and proved before."""
    motion, stop = robot.commands[-2:]
    assert not np.any(stop.points[-1].velocities)
    assert 0.2 <= seconds(stop.points[-1].time_from_start) <= LONGEST_STOP
    _, began, _ = robot.arrivals[-2]
    knots = np.vstack([began, positions_of(motion, model)])
    dense = np.vstack([
        knots[:-1] + share * np.diff(knots, axis=0) for share in np.linspace(0.0, 1.0, 11)
    ])
    for q in positions_of(stop, model):
        # Chords between knots 20 ms apart, at 10 rad/s^2 at most, are off by 0.5 mrad.
        assert np.min(np.max(np.abs(dense - q), axis=1)) < 2e-3


def check_stop_command(robot, model):
    """Check that the last command ends at rest, near where the arm was, without haste."""
    stop, (_, q, dq) = robot.commands[-1], robot.arrivals[-1]
    order = [list(stop.joint_names).index(joint) for joint in model.joint_names]
    end = stop.points[-1]
    assert not np.any(end.velocities)
    duration = seconds(end.time_from_start)
    assert 0.2 <= duration <= LONGEST_STOP
    furthest = np.max(np.abs(np.array(end.positions)[order] - q))
    assert furthest <= 0.25 * np.max(np.abs(dq)) + 0.05


@pytest.mark.parametrize('kind', ['publisher', pytest.param('listener', marks=long_test)])
def test_stops_when_somebody_joins(desk, ur5, kind):
    """In motion an intruder means a smooth stop and a latched fault that says so."""
    graph, robot, runner = desk
    runner.execute()
    robot.wait(0.5)
    told = len(robot.commands)
    intruder = join(graph, kind)
    reason = runner.wait_for('FAULT')
    assert FOREIGN_TOPICS[kind] in reason
    assert '_UNKNOWN_' not in reason
    assert len(robot.commands) == told + 1
    check_stop_on_path(robot, ur5)
    check_latched_fault(robot, runner)
    # Even when it has gone again, only a human who arms can go on.
    graph.remove_node(intruder)
    robot.wait(1.0)
    assert runner.state[0] == 'FAULT'


@pytest.mark.parametrize(('fault', 'word'), [
    ('broken', 'missing or not finite'),
    pytest.param('repeating', 'repeat the same one', marks=long_test),
])
def test_stops_when_joint_states_say_nothing(desk, planned_speed, fault, word):
    """Noticed, and nothing is sent to where the arm was: by topic it ends on its path."""
    _, robot, runner = desk
    runner.execute()
    robot.wait(0.5)
    since = time.monotonic()
    setattr(robot, fault, True)
    assert word in runner.wait_for('STOPPING')
    assert time.monotonic() - since < 2.0
    reason = runner.wait_for('FAULT')
    # Rest cannot be verified, and the fault says so.
    assert 'NOT' in reason or np.max(np.abs(robot.dq)) < 0.02
    for command in robot.commands:
        assert np.all(np.isfinite([point.positions for point in command.points]))
    assert np.max(robot.peak) <= 1.1 * planned_speed
    check_latched_fault(robot, runner)


def test_stops_an_arm_that_does_not_follow(desk, ur5):
    """A tracking error above the tolerance is a fault, and the joint is named."""
    _, robot, runner = desk
    runner.configure(tracking_tolerance=0.05)
    runner.arm()
    robot.deaf = True
    runner.call('execute')
    reason = runner.wait_for('FAULT')
    assert 'tracking error' in reason
    assert any(joint in reason for joint in ur5.joint_names)
    check_stop_command(robot, ur5)
    check_latched_fault(robot, runner)


def test_abort_stops_and_latches(desk, ur5):
    """~/abort in motion: one smooth stop, FAULT, and nothing after it; armed: disarmed."""
    _, robot, runner = desk
    runner.arm()
    assert runner.call('abort').success
    runner.wait_for('IDLE')
    assert not runner.call('execute').success
    assert not robot.commands
    runner.execute()
    wait_until(lambda: np.max(np.abs(robot.dq)) > 0.2, 'motion')
    told = len(robot.commands)
    assert runner.call('abort').success
    assert 'abort' in runner.wait_for('FAULT')
    assert len(robot.commands) == told + 1
    check_stop_on_path(robot, ur5)
    check_latched_fault(robot, runner)


def test_gives_signs_of_life_while_the_arm_moves(desk):
    """Three of them are two periods; at rest nothing is said again."""
    _, _, runner = desk
    for _ in range(ATTEMPTS):
        before = runner.told('EXECUTING')
        runner.execute()
        # A computer that is busy for a moment stops the arm.
        wait_until(
            lambda least=before + 3: (
                runner.told('EXECUTING') >= least or runner.state[0] == 'FAULT'
            ),
            'signs of life',
        )
        if runner.told('EXECUTING') >= before + 3:
            break
    else:
        pytest.fail(f'no signs of life: {runner.state}')
    runner.call('abort')
    runner.wait_for('FAULT')
    time.sleep(0.5)
    told = runner.told('FAULT')
    time.sleep(1.0)
    assert runner.told('FAULT') == told


def test_executes_what_was_armed(desk, ur5, trajectory, tmp_path):
    """Approach from where the arm stands, then the approved motion, once."""
    graph, robot, runner = desk
    assert 'not armed' in runner.call('execute').message
    for _ in range(ATTEMPTS):
        runner.arm()
        robot.commands.clear()
        robot.arrivals.clear()
        stood = robot.q.copy()
        # What is armed stays as it was armed.
        for name, value in (('trajectory_file', str(tmp_path / 'other.yaml')), ('speed', 0.5)):
            assert graph.configure('experiment_runner', {name: value})
        if runner.call('execute').success:
            assert not runner.call('execute').success
            busy = runner.call('arm')
            assert not busy.success
            assert 'BUSY' in busy.message or runner.state[0] == 'FAULT'
            if runner.reaches('DONE'):
                break
    assert 'worst tracking error' in runner.wait_for('DONE')
    check_commands(robot, ur5, trajectory, stood)
    # Once means once.
    assert not runner.call('execute').success
    robot.wait(1.0)
    assert len(robot.commands) == 2


def check_commands(robot, model, trajectory, stood):
    """Check that a robot was told to approach from where it stood, and then the motion."""
    assert len(robot.commands) == 2
    for command in robot.commands:
        times = [seconds(point.time_from_start) for point in command.points]
        assert np.all(np.diff(times) > 0.0)
        assert times[0] > 0.0
        # What a joint-trajectory controller takes for zero.
        assert np.max(np.abs(command.points[-1].velocities)) < 1e-7
    approach, motion = robot.commands
    order = [list(approach.joint_names).index(joint) for joint in model.joint_names]
    first = np.array(approach.points[0].positions)[order]
    assert np.max(np.abs(first - stood)) < 0.01
    assert np.max(np.abs([point.velocities for point in approach.points])) <= 1.0
    start = trajectory.sample(np.zeros(1)).q[0]
    np.testing.assert_allclose(
        np.array(approach.points[-1].positions)[order], start, rtol=0, atol=1e-9
    )
    times = np.array([seconds(point.time_from_start) for point in motion.points])
    # It rests at its start until the controller is there.
    rested = times[0]
    assert 0.0 < rested < 0.5
    wanted = trajectory.sample(times - rested)
    for field, values in (('positions', wanted.q), ('velocities', wanted.dq)):
        sent = np.array([getattr(point, field) for point in motion.points])[:, order]
        np.testing.assert_allclose(sent, values, rtol=0, atol=1e-6)
    assert times[-1] == pytest.approx(trajectory.duration + rested)
    # The motion was sent when the arm rested at its start.
    _, q, dq = robot.arrivals[1]
    assert np.max(np.abs(q - start)) < 0.01
    assert np.max(np.abs(dq)) < 0.02


def test_does_not_leave_from_outside_the_limits(desk, trajectory):
    """The way to the start is checked as the motion is; joint and limit are named."""
    graph, robot, runner = desk
    q = trajectory.sample(np.zeros(1)).q[0]
    q[2] = 3.3  # the elbow's limit is pi
    robot.restore(q)
    runner.arm()
    assert 'elbow_joint' in graph.refused('/experiment_runner/execute')
    assert not robot.commands
