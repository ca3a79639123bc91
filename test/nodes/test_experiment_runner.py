# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The experiment runner with an ideal robot in this process, which remembers what it is told.

What it does with the simulated robot's own node is in test_experiment_on_simulated_robot.py.
"""

from dataclasses import replace
import subprocess
import sys
import time

from nodes.ideal_robot import ATTEMPTS, COMMANDS, IdealRobot, Runner, TOKEN
import numpy as np
import pytest
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.experiment_file import load_experiment
from robot_identification.excitation.optimizers.optimizer import Budget
from robot_identification.excitation.trajectory import dump_trajectory
from robot_identification.execution.stop import DURATIONS
from robot_identification.model.registry import load_robot
from ros_helpers import own_graph, seconds, wait_until
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

# The longest stop that is tried [s], as a message rounds it.
LONGEST_STOP = DURATIONS[-1] + 1e-6


@pytest.fixture
def make_desk(graph, ur5, trajectory, trajectory_file):
    """Return what makes a runner and an ideal robot at the start of the motion."""
    def make(parameters=None, q=None, token=TOKEN, blocked=None):
        start = trajectory.sample(np.zeros(1)).q[0] + 0.1
        robot = IdealRobot(graph, ur5, start if q is None else q, token)
        environment = {'PYTHONPATH': str(blocked)} if blocked else None
        return robot, Runner(graph, trajectory_file, trajectory.sha256, parameters, environment)
    return make


@pytest.fixture(scope='module')
def planned_speed(trajectory):
    """Return the highest planned joint speed [rad/s]."""
    return np.max(np.abs(trajectory.sample(np.linspace(0.0, trajectory.duration, 2001)).dq))


@pytest.fixture(scope='module')
def refusing(ur5, trajectory, trajectory_file, tmp_path_factory):
    """Return a graph with a connected runner, for refusals that its parameters cause."""
    with own_graph(tmp_path_factory.mktemp('refusing')) as own:
        start = trajectory.sample(np.zeros(1)).q[0]
        robot = IdealRobot(own, ur5, start)
        runner = Runner(own, trajectory_file, trajectory.sha256)
        runner.connect()
        yield own, robot, runner


def edited(trajectory_file, tmp_path):
    """Return a file with another number of periods under the old hash."""
    path = tmp_path / 'edited.yaml'
    text = trajectory_file.read_text()
    assert 'periods: 1\n' in text
    path.write_text(text.replace('periods: 1\n', 'periods: 2\n'))
    return path


def of_another_robot(experiment_file, tmp_path):
    """Return a trajectory certified for a UR10, whose joints have the same names."""
    other = design_excitation(
        load_robot('ur10'), replace(load_experiment(experiment_file), optimizer='random'),
        seed=1, budget=Budget(20),
    )
    path = tmp_path / 'ur10.yaml'
    path.write_text(dump_trajectory(other))
    return path, other.sha256


@pytest.mark.parametrize('case', [
    'no file named', 'no such file', 'not a trajectory', 'no hash', 'wrong hash', 'edited file',
    'another robot',
])
def test_does_not_arm(refusing, trajectory, trajectory_file, experiment_file, tmp_path, case):
    """What is not the approved file of this robot is refused, in words, and nothing moves."""
    graph, robot, runner = refusing
    (tmp_path / 'text.yaml').write_text('schema_version: 1\nhello: world\n')
    path, sha256, words = {
        'no file named': lambda: ('', trajectory.sha256, ['trajectory_file']),
        'no such file': lambda: (tmp_path / 'no.yaml', trajectory.sha256, ['no.yaml']),
        'not a trajectory': lambda: (tmp_path / 'text.yaml', trajectory.sha256, ['text.yaml']),
        'no hash': lambda: (trajectory_file, '', ['arm.sha256']),
        'wrong hash': lambda: (trajectory_file, '0' * 64, ['arm.sha256', trajectory.sha256]),
        'edited file': lambda: (
            edited(trajectory_file, tmp_path), trajectory.sha256, ['changed', 'edited.yaml']
        ),
        'another robot': lambda: (
            *of_another_robot(experiment_file, tmp_path), ['ur10', 'ur5']
        ),
    }[case]()
    assert not graph.configure(
        'experiment_runner', {'trajectory_file': str(path), 'arm.sha256': sha256}
    )
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
def test_does_not_arm_on_old_joint_states(make_desk, fault):
    """Joint states that stopped, or are not finite any more, are no measurement."""
    robot, runner = make_desk()
    runner.connect()
    setattr(robot, fault, True)
    stopped = time.monotonic()
    wait_until(lambda: time.monotonic() - stopped > 0.4, 'old joint states')
    assert {'silent': 'no joint state', 'broken': 'not finite'}[fault] in runner.refused()
    assert not robot.commands


FOREIGN_TOPICS = {'publisher': '/joint_states', 'listener': COMMANDS}


def join(graph, kind):
    """Bring a node to the graph that must not be there; return it."""
    node = graph.add_node('intruder', '/elsewhere')
    if kind == 'publisher':
        node.create_publisher(JointState, '/joint_states', 10)
    else:
        node.create_subscription(JointTrajectory, COMMANDS, lambda message: None, 10)
    return node


@pytest.mark.parametrize('kind', FOREIGN_TOPICS)
def test_does_not_arm_beside_others(graph, make_desk, kind):
    """Another source of joint states or another controller may be a real arm."""
    robot, runner = make_desk()
    runner.connect()
    intruder = join(graph, kind)
    answers = []

    def refused():
        answers.append(runner.call('arm'))
        return not answers[-1].success

    # It sees the intruder as soon as discovery does, and a moment later by name.
    wait_until(refused, 'arming to be refused')
    assert FOREIGN_TOPICS[kind] in answers[-1].message
    wait_until(
        lambda: refused() and '/elsewhere/intruder' in answers[-1].message, 'its name'
    )
    assert not runner.call('execute').success
    assert not robot.commands
    # It goes away, and the human may try again.
    graph.remove_node(intruder)
    runner.connect()


@pytest.mark.parametrize('kind', FOREIGN_TOPICS)
def test_does_not_execute_beside_others(graph, make_desk, kind):
    """An intruder between arming and executing is noticed, too."""
    robot, runner = make_desk()
    runner.arm()
    join(graph, kind)
    count = robot.node.count_publishers if kind == 'publisher' else robot.node.count_subscribers
    wait_until(lambda: count(FOREIGN_TOPICS[kind]) == 2, 'the intruder')
    robot.wait(0.5)
    answer = runner.call('execute')
    assert not answer.success
    assert FOREIGN_TOPICS[kind] in answer.message
    assert not robot.commands


def check_latched_fault(robot, runner):
    """Check that nothing moves any more, whatever is called."""
    robot.wait(0.5)
    q, told = robot.q.copy(), len(robot.commands)
    assert not runner.call('execute').success
    runner.call('abort')
    robot.wait(2.0)
    assert runner.state[0] == 'FAULT'
    assert len(robot.commands) == told
    assert np.max(np.abs(robot.q - q)) < 0.01


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


@pytest.mark.parametrize('kind', FOREIGN_TOPICS)
def test_stops_when_somebody_joins(graph, make_desk, ur5, kind):
    """In motion an intruder means a smooth stop and a latched fault that says so."""
    robot, runner = make_desk()
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
    runner.arm()


@pytest.mark.parametrize(('fault', 'word'), [
    ('silent', 'no joint state'), ('broken', 'missing or not finite'),
    ('repeating', 'repeat the same one'),
])
def test_stops_when_joint_states_say_nothing(make_desk, planned_speed, fault, word):
    """
    Noticed, and nothing is sent to where the arm was.

    A topic has no cancel: where no stop can be proved, the arm ends on its certified path. Rest
    cannot be verified then, and the fault says so.
    """
    robot, runner = make_desk()
    runner.execute()
    robot.wait(0.5)
    since = time.monotonic()
    setattr(robot, fault, True)
    assert word in runner.wait_for('STOPPING')
    assert time.monotonic() - since < 2.0
    reason = runner.wait_for('FAULT')
    assert 'NOT' in reason or np.max(np.abs(robot.dq)) < 0.02
    for command in robot.commands:
        assert np.all(np.isfinite([point.positions for point in command.points]))
    assert np.max(robot.peak) <= 1.1 * planned_speed
    check_latched_fault(robot, runner)


def test_stops_beside_a_second_source_while_states_are_frozen(graph, make_desk, planned_speed):
    """Both at once: the stop that the second source causes aims at no old place."""
    robot, runner = make_desk()
    runner.execute()
    robot.wait(0.5)
    robot.repeating = True
    join(graph, 'publisher')
    runner.wait_for('FAULT')
    assert np.max(robot.peak) <= 1.1 * planned_speed


def test_stops_an_arm_that_does_not_follow(make_desk, ur5):
    """A tracking error above the tolerance is a fault, and the joint is named."""
    robot, runner = make_desk({'tracking_tolerance': 0.05})
    runner.arm()
    robot.deaf = True
    runner.call('execute')
    reason = runner.wait_for('FAULT')
    assert 'tracking error' in reason
    assert any(joint in reason for joint in ur5.joint_names)
    check_stop_command(robot, ur5)
    check_latched_fault(robot, runner)


def test_abort_stops_and_latches(make_desk, ur5):
    """~/abort in motion: one smooth stop, FAULT, and nothing after it; armed: disarmed."""
    robot, runner = make_desk()
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


def test_executes_what_was_armed(graph, make_desk, ur5, trajectory, tmp_path):
    """Approach from where the arm stands, then the approved motion, once."""
    robot, runner = make_desk()
    runner.wait_for('IDLE')
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
    wanted = trajectory.sample(times)
    for field, values in (('positions', wanted.q), ('velocities', wanted.dq)):
        sent = np.array([getattr(point, field) for point in motion.points])[:, order]
        np.testing.assert_allclose(sent, values, rtol=0, atol=1e-6)
    assert times[-1] == pytest.approx(trajectory.duration)
    # The motion was sent when the arm rested at its start.
    _, q, dq = robot.arrivals[1]
    assert np.max(np.abs(q - start)) < 0.01
    assert np.max(np.abs(dq)) < 0.02


def test_does_not_leave_from_outside_the_limits(make_desk, trajectory):
    """The way to the start is checked as the motion is; joint and limit are named."""
    q = trajectory.sample(np.zeros(1)).q[0]
    q[2] = 3.3  # the elbow's limit is pi
    robot, runner = make_desk(q=q)
    runner.arm()
    answer = runner.call('execute')
    assert not answer.success
    assert 'elbow_joint' in answer.message
    assert not robot.commands


SLOW_RUNNER = """
import time
import robot_identification.execution.state_machine as machine
import robot_identification.nodes.experiment_runner as runner

make_plan = runner.make_plan


def plan_slowly(*arguments):
    time.sleep({planning})
    return make_plan(*arguments)


machine.ARMED_SECONDS, runner.make_plan = {armed}, plan_slowly
runner.main()
"""


@pytest.mark.parametrize(('armed', 'wait', 'planning'), [(0.3, 0.5, 0.0), (2.0, 0.0, 2.5)])
def test_arming_expires(
    graph, ur5, trajectory, trajectory_file, tmp_path, armed, wait, planning
):
    """Before the call, or while the motion is planned (the minute is shortened here)."""
    code = SLOW_RUNNER.format(armed=armed, planning=planning)
    robot = IdealRobot(graph, ur5, trajectory.sample(np.zeros(1)).q[0])
    with (tmp_path / 'runner.log').open('w') as log:
        process = subprocess.Popen(
            [sys.executable, '-c', code, '--ros-args',
             '-p', f'trajectory_file:={trajectory_file}',
             '-p', f'arm.sha256:="{trajectory.sha256}"',
             '-p', f'simulation_token:="{TOKEN}"', '-p', 'dry_run:=false',
             '-p', 'commissioning:=false', '-p', 'require_recorder:=false',
             '-p', 'allowed_read_roots:=["/"]'],
            env=graph.environment, stdout=log, stderr=log, start_new_session=True,
        )
    try:
        arm = '/experiment_runner/arm'
        wait_until(lambda: graph.call(arm).success, 'the runner to be armed')
        begun = time.monotonic()
        wait_until(lambda: time.monotonic() - begun >= wait, 'the armed time to pass')
        answer = graph.call('/experiment_runner/execute')
        assert not answer.success
        assert 'arm again' in answer.message
        assert not robot.commands
    finally:
        process.kill()
        process.wait()


def test_ends_quietly_when_idle(graph, make_desk):
    """Without a motion Ctrl-C is no interruption: exit code 0, no command."""
    robot, runner = make_desk()
    runner.connect()
    runner.process.stop()
    assert graph.exit_code(runner.process) == 0
    assert not robot.commands
