# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot stands where ur_robot_driver stands: same topics, names, units, manners."""

from itertools import pairwise
import json

from nodes.ideal_robot import COMMANDS, FOREIGN_TOPICS, join
import numpy as np
import pytest
from ros_helpers import LATCHED, own_graph, seconds, wait_until
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

TRUE_STATES = '/simulated_robot/noise_free_joint_states'
START = [0.1, -1.4, 1.3, -1.5, -1.2, 0.4]
SEED = 11
PERIOD = 0.008
ALPHABETICAL = [
    'elbow_joint', 'shoulder_lift_joint', 'shoulder_pan_joint', 'wrist_1_joint',
    'wrist_2_joint', 'wrist_3_joint',
]


def point(time_from_start, positions, velocities=None):
    """Return a trajectory point."""
    nanoseconds = round(time_from_start * 1e9)
    result = JointTrajectoryPoint(positions=[float(q) for q in positions])
    if velocities is not None:
        result.velocities = [float(dq) for dq in velocities]
    result.time_from_start.sec, result.time_from_start.nanosec = divmod(nanoseconds, 10**9)
    return result


def positions(message, joints):
    """Return positions in another joint order, shape (n,)."""
    values = dict(zip(message.name, message.position, strict=True))
    return np.array([values[joint] for joint in joints])


def wait_for_simulated_seconds(states, duration):
    """Wait until joint states have come in for so long a simulated time; return these."""
    first = len(states)
    wait_until(
        lambda: len(states) > first + 1
        and seconds(states[-1].header.stamp) - seconds(states[first].header.stamp) >= duration,
        f'{duration} s of joint states',
    )
    return states[first:]


@pytest.fixture(scope='module')
def robot_graph(tmp_path_factory):
    """Return a graph with a simulated robot four times faster than real time."""
    with own_graph(tmp_path_factory.mktemp('simulated_robot')) as graph:
        graph.start('simulated_robot', {
            'real_time_factor': 4.0, 'publish_truth': True, 'truth_seed': SEED,
            'initial_positions': START, 'simulation_token': 'secret', 'discovery_time': 0.0,
        })
        yield graph


@pytest.fixture(scope='module')
def states(robot_graph):
    """Return the joint states, a list that grows."""
    heard = robot_graph.hear(JointState, '/joint_states')
    wait_until(lambda: heard, 'a joint state')
    return heard


def test_speaks_like_the_driver(robot_graph, states):
    """Names are alphabetical, every array is filled, and all is finite."""
    for message in wait_for_simulated_seconds(states, 0.2):
        assert list(message.name) == ALPHABETICAL
        for values in (message.position, message.velocity, message.effort):
            assert len(values) == len(ALPHABETICAL)
            assert np.all(np.isfinite(values))
    scaling = robot_graph.hear(
        Float64, '/speed_scaling_state_broadcaster/speed_scaling'
    )
    running = robot_graph.hear(
        Bool, '/io_and_status_controller/robot_program_running', LATCHED
    )
    wait_until(lambda: scaling and running, 'speed scaling and program state')
    assert scaling[0].data == 100.0
    assert running[0].data is True


def test_stamps_increase_at_the_rate_of_the_driver(states):
    """125 Hz of the UR5's controller, to the nanosecond."""
    seen = wait_for_simulated_seconds(states, 1.0)
    stamps = np.array([m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in seen])
    steps = np.diff(stamps)
    assert np.all(steps > 0)
    # What is lost on a busy machine leaves a gap of whole periods.
    periods = steps / (PERIOD * 1e9)
    np.testing.assert_allclose(periods, np.round(periods), atol=1e-6)
    assert np.median(periods) == 1.0


def test_description_and_identity_wait_for_late_subscribers(robot_graph, states, ur5):
    """Both are latched."""
    description = robot_graph.hear(String, '/robot_description', LATCHED)
    identity = robot_graph.hear(String, '/simulated_robot/identity', LATCHED)
    wait_until(lambda: description and identity, 'latched messages')
    assert description[0].data == ur5.urdf.text
    assert json.loads(identity[0].data) == {'token': 'secret', 'node': '/simulated_robot'}


def test_clock_runs_with_the_joint_states(robot_graph, states):
    """Faster than real time means /clock, and its time is that of the stamps."""
    clock = robot_graph.hear(Clock, '/clock')
    seen = wait_for_simulated_seconds(states, 0.5)
    stamps = {(m.header.stamp.sec, m.header.stamp.nanosec) for m in states}
    wait_until(lambda: len(clock) > 10, 'clock ticks')
    ticks = [(tick.clock.sec, tick.clock.nanosec) for tick in clock[: len(seen) // 2]]
    assert all(earlier < later for earlier, later in pairwise(ticks))
    wait_until(
        lambda: set(ticks) <= stamps.union(
            (m.header.stamp.sec, m.header.stamp.nanosec) for m in states
        ),
        'the joint states of these ticks',
    )


def test_executes_a_trajectory_of_the_topic(robot_graph, states, ur5):
    """Joints are found by name, in whatever order, and end where they were told."""
    publisher = robot_graph.publisher(JointTrajectory, COMMANDS)
    away = np.array([0.3, -0.2, 0.25, -0.3, 0.2, -0.4])
    target = positions(states[-1], ur5.joint_names) + away
    order = [3, 0, 5, 1, 4, 2]
    message = JointTrajectory(
        joint_names=[ur5.joint_names[i] for i in order],
        points=[point(1.5, target[order], np.zeros(6))],
    )
    first = len(states)
    publisher.publish(message)
    wait_until(
        lambda: np.max(np.abs(positions(states[-1], ur5.joint_names) - target)) < 0.005
        and np.max(np.abs(states[-1].velocity)) < 0.02,
        'the robot to arrive',
    )
    settled = wait_for_simulated_seconds(states, 0.5)
    for state in settled:
        assert np.max(np.abs(positions(state, ur5.joint_names) - target)) < 0.005
    # It moved, it did not jump: the stated duration was kept.
    moving = [s for s in states[first:] if np.max(np.abs(s.velocity)) > 0.02]
    took = seconds(moving[-1].header.stamp) - seconds(moving[0].header.stamp)
    assert 1.0 < took < 2.0


def malformed_trajectories(joints, q):
    """Yield trajectories that a joint-trajectory controller, or a careful one, refuses."""
    zero, away = np.zeros(6), q + 0.5
    nan, infinite = away.copy(), zero.copy()
    nan[2], infinite[1] = np.nan, np.inf
    yield 'a position is NaN', joints, [point(1.0, nan, zero)]
    yield 'a velocity is infinite', joints, [
        point(1.0, q + 0.2, infinite), point(2.0, away, zero)
    ]
    yield 'times do not increase', joints, [point(1.0, q + 0.2, zero), point(1.0, away, zero)]
    yield 'times decrease', joints, [point(2.0, q + 0.2, zero), point(1.0, away, zero)]
    yield 'a time is negative', joints, [point(-1.0, q + 0.2, zero), point(1.0, away, zero)]
    yield 'it ends in motion', joints, [point(1.0, away, zero + 0.3)]
    yield 'a joint is unknown', [*joints[:-1], 'gripper_joint'], [point(1.0, away, zero)]
    yield 'a joint is missing', joints[:-1], [point(1.0, away[:-1], zero[:-1])]
    yield 'a joint comes twice', [*joints[:-1], joints[0]], [point(1.0, away, zero)]
    yield 'there are too few positions', joints, [point(1.0, away[:-1], zero)]
    yield 'velocities stop half-way', joints, [point(1.0, q + 0.2, zero), point(2.0, away)]
    yield 'there are no points', joints, []
    yield 'there are no positions', joints, [point(1.0, [], zero)]


def test_ignores_malformed_trajectories(robot_graph, states, ur5):
    """Each gets its log line; the robot stays where it is and still serves good ones."""
    publisher = robot_graph.publisher(JointTrajectory, COMMANDS)
    log = robot_graph.processes[0].log
    before = wait_for_simulated_seconds(states, 0.1)[-1]
    q = positions(before, ur5.joint_names)
    first = len(states)
    for what, joints, points in malformed_trajectories(list(ur5.joint_names), q):
        refused = log.read_text().count('trajectory rejected')
        publisher.publish(JointTrajectory(joint_names=joints, points=points))
        wait_until(
            lambda count=refused: log.read_text().count('trajectory rejected') > count,
            f'a log line although {what}',
        )
    wait_for_simulated_seconds(states, 0.5)
    for state in states[first:]:
        assert np.max(np.abs(positions(state, ur5.joint_names) - q)) < 1e-3
    publisher.publish(JointTrajectory(
        joint_names=list(ur5.joint_names), points=[point(1.0, q - 0.1, np.zeros(6))]
    ))
    wait_until(
        lambda: np.max(np.abs(positions(states[-1], ur5.joint_names) - q + 0.1)) < 0.005,
        'a good trajectory to be executed',
    )


def check_reason(robot, kind):
    """Check that the robot says what it met; a node found first by its topic has no name yet."""
    assert FOREIGN_TOPICS[kind] in robot.last_words()
    assert '_UNKNOWN_' not in robot.last_words()


@pytest.mark.parametrize('kind', FOREIGN_TOPICS)
def test_leaves_a_graph_that_it_is_not_alone_on(graph, kind):
    """Beside anybody's joint states or controller it ends with exit code 5 and says why."""
    robot = graph.start('simulated_robot', {'real_time_factor': 2.0, 'discovery_time': 0.0})
    wait_until(graph.hear(JointState, '/joint_states').__len__, 'a joint state')
    assert robot.exit_code is None
    join(graph, kind)
    assert graph.exit_code(robot) == 5
    check_reason(robot, kind)


@pytest.mark.parametrize('kind', FOREIGN_TOPICS)
def test_does_not_say_a_word_beside_a_robot(graph, kind):
    """Where a robot is already, no simulated joint state is published at all."""
    join(graph, kind)
    heard = graph.hear(JointState, '/joint_states')
    robot = graph.start('simulated_robot')
    assert graph.exit_code(robot) == 5
    check_reason(robot, kind)
    assert not heard
