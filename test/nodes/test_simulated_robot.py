# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot stands where ur_robot_driver stands: same topics, names, units, manners."""

from contextlib import contextmanager
from itertools import pairwise
import time

from diagnostic_msgs.msg import DiagnosticArray
from nodes.runner import FOREIGN_TOPICS, join
import numpy as np
import pytest
from rclpy.qos import QoSProfile
from robot_identification.simulation.faults import StreamFaults
from robot_identification.simulation.scaled_controller import RobotCondition
from ros_helpers import LATCHED, own_graph, seconds, wait_until
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64, Int8, String, UInt8
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

CONTROLLER = 'scaled_joint_trajectory_controller'
COMMANDS = f'{CONTROLLER}/joint_trajectory'
SCALING = 'speed_scaling_state_broadcaster/speed_scaling'
RUNNING = 'io_and_status_controller/robot_program_running'
START = [0.1, -1.4, 1.3, -1.5, -1.2, 0.4]
PERIOD = 0.008
PREFIX = 'left_'
TRUTH = 'simulated_robot/noise_free_joint_states'
LAST = QoSProfile(depth=1)
# One topic may be so much behind another [s].
SETTLED = 0.1
AWAY = np.array([0.5, 0.2, -0.3, 0.4, -0.4, 0.5])
DEFAULTS = {**vars(StreamFaults()), **vars(RobotCondition())}


def trajectory(joints, target, duration):
    point = JointTrajectoryPoint(
        positions=[float(q) for q in target], velocities=[0.0] * len(joints),
        accelerations=[0.0] * len(joints),
    )
    nanoseconds = round(duration * 1e9)
    point.time_from_start.sec, point.time_from_start.nanosec = divmod(nanoseconds, 10**9)
    return JointTrajectory(joint_names=list(joints), points=[point])


def stamps_of(messages):
    return np.array([seconds(message.header.stamp) for message in messages])


class Watched:
    """A simulated robot, and lists of all that it says; the clock keeps the last message only."""

    def __init__(self, graph, joints, namespace='', prefix=''):
        self.graph, self.namespace = graph, namespace
        self.name = f'{namespace}/simulated_robot'
        self.joints = [prefix + joint for joint in joints]
        self.truth = self.hear(JointState, TRUTH)
        self.clock = self.hear(JointState, TRUTH, LAST)
        self.states = self.hear(JointState, 'joint_states')
        self.scaling = self.hear(Float64, SCALING)
        self.running = self.hear(Bool, RUNNING, LATCHED)
        self.safety = self.hear(UInt8, 'simulated_robot/safety_mode', LATCHED)
        self.controllers = self.hear(DiagnosticArray, 'simulated_robot/controllers', LATCHED)
        self.commands = graph.publisher(JointTrajectory, f'{namespace}/{COMMANDS}')
        wait_until(
            lambda: self.truth and self.states and self.scaling and self.controllers,
            f'all topics of {self.name}',
        )

    def hear(self, kind, topic, *qos):
        return self.graph.hear(kind, f'{self.namespace}/{topic}', *qos)

    def now(self):
        """Return the present simulated time [s]; the second message from now on has it."""
        count = len(self.clock)
        wait_until(lambda: len(self.clock) > count + 1, 'the time')
        return seconds(self.clock[-1].header.stamp)

    def wait(self, duration):
        """Wait a span of simulated time, until what was said in it has come; return its start."""
        start = self.now()
        end = start + duration
        wait_until(lambda: seconds(self.truth[-1].header.stamp) > end + SETTLED, 'time to pass')
        return start

    def listen(self, duration):
        """Return the joint states of a span of simulated time, by their stamps."""
        first, start = len(self.states), self.wait(duration)
        return [
            message for message in self.states[first:]
            if start <= seconds(message.header.stamp) <= start + duration
        ]

    def inject(self, **faults):
        """Inject faults, or end them, from the next cycle on."""
        assert not self.graph.configure(
            self.name, {f'inject.{name}': value for name, value in faults.items()}
        )
        self.now()

    @contextmanager
    def fault(self, **faults):
        self.inject(**faults)
        try:
            yield
        finally:
            self.inject(**{name: DEFAULTS[name] for name in faults})

    def move(self, away, duration):
        """Send the robot away from where it is; return the target, kinematic order."""
        target = self.position() + away
        self.commands.publish(trajectory(self.joints, target, duration))
        return target

    def position(self):
        return self.in_order(self.clock[-1])

    def in_order(self, message):
        values = dict(zip(message.name, message.position, strict=True))
        return np.array([values[joint] for joint in self.joints])

    def wait_for_rest_at(self, target):
        """Wait until the robot rests at a position, within what elastic joints hang down."""
        wait_until(
            lambda: np.max(np.abs(self.position() - target)) < 0.01
            and np.max(np.abs(self.clock[-1].velocity)) < 0.01,
            'the robot to arrive',
        )


@pytest.fixture(scope='module')
def robot(tmp_path_factory, ur5):
    """Return a simulated robot four times faster than real time."""
    with own_graph(tmp_path_factory.mktemp('faults')) as graph:
        graph.start('simulated_robot', {
            'real_time_factor': 4.0, 'publish_truth': True, 'initial_positions': START,
            'discovery_time': 0.0, 'tf_prefix': PREFIX, 'stiffness': 2e4, 'warm_up': 1000.0,
            'simulation_token': 'secret',
        })
        yield Watched(graph, ur5.joint_names, prefix=PREFIX)


def test_nothing_is_wrong_at_first(robot):
    """The stand-ins say so, to whoever comes late."""
    mode = robot.hear(Int8, 'simulated_robot/robot_mode', LATCHED)
    wait_until(lambda: mode and robot.safety and robot.running, 'the latched states')
    assert (mode[-1].data, robot.safety[-1].data, robot.running[-1].data) == (7, 1, True)
    assert robot.scaling[-1].data == 100.0
    states = {
        one.name: (one.hardware_id, one.message) for one in robot.controllers[-1].status
    }
    assert states[CONTROLLER] == ('ur_controllers/ScaledJointTrajectoryController', 'active')
    assert states['forward_velocity_controller'][1] == 'inactive'


def test_joint_states_are_those_of_the_driver(robot):
    """In alphabetical order, all arrays full and finite; at 125 Hz of a UR5, to the nanosecond."""
    seen = robot.listen(1.0)
    for message in seen:
        assert list(message.name) == sorted(robot.joints)
        assert len(values_of(message)) == 3 * len(robot.joints)
        assert np.all(np.isfinite(values_of(message)))
    stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in seen]
    periods = np.diff(stamps) / (PERIOD * 1e9)
    # What is lost on a busy machine leaves a gap of whole periods.
    np.testing.assert_allclose(periods, np.round(periods), atol=1e-6)
    assert np.min(periods) > 0.0 and np.median(periods) == 1.0


def test_clock_runs_with_the_joint_states(robot):
    """Faster than real time means /clock, and its time is that of the stamps."""
    clock = robot.hear(Clock, 'clock')
    wait_until(lambda: len(clock) > 30, 'clock ticks')
    ticks = [seconds(tick.clock) for tick in clock[:30]]
    assert all(earlier < later for earlier, later in pairwise(ticks))
    wait_until(
        lambda: set(ticks) <= set(stamps_of(list(robot.states))), 'the joint states of these ticks'
    )


def values_of(message):
    return [*message.position, *message.velocity, *message.effort]


@pytest.mark.parametrize(('condition', 'safety', 'scaling', 'running', 'controller'), [
    ({'safety_mode': 3}, 3, 0.0, True, 'active'),
    ({'speed_scaling': 40.0}, 1, 40.0, True, 'active'),
    ({'program_running': False}, 1, 100.0, False, 'inactive'),
    ({'controller_active': False}, 1, 100.0, True, 'inactive'),
], ids=lambda value: next(iter(value)) if isinstance(value, dict) else '')
def test_a_condition_is_told_until_it_is_over(
    robot, condition, safety, scaling, running, controller
):
    """What the arm does then is tested in test/simulation."""
    def told():
        states = {one.name: one.message for one in robot.controllers[-1].status}
        return (
            robot.safety[-1].data, robot.scaling[-1].data, robot.running[-1].data,
            states[CONTROLLER],
        )

    with robot.fault(**condition):
        wait_until(lambda: told() == (safety, scaling, running, controller), 'the condition')
    wait_until(lambda: told() == (1, 100.0, True, 'active'), 'its end')


def test_a_contact_is_in_the_effort_and_ends_by_itself(robot):
    """How large it is is tested in test/simulation."""
    def effort():
        return np.array(robot.clock[-1].effort)

    free = effort()
    robot.inject(
        contact_link='wrist_3_link', contact_point=[0.0, 0.0, 0.1],
        contact_duration=0.8, contact_force=[30.0, -40.0, 60.0],
    )
    wait_until(lambda: np.max(np.abs(effort() - free)) > 1.0, 'the contact')
    wait_until(lambda: np.max(np.abs(effort() - free)) < 0.2, 'its end')
    force = robot.graph.parameter(robot.name, 'inject.contact_force')
    assert list(force) == [0.0, 0.0, 0.0]


def test_description_and_identity_wait_for_late_subscribers(robot, ur5):
    """The prefix is on every joint and link, as the driver's, so that RViz finds them."""
    description = robot.hear(String, 'robot_description', LATCHED)
    identity = robot.hear(DiagnosticArray, 'simulated_robot/identity', LATCHED)
    wait_until(lambda: description and identity, 'latched messages')
    one, = identity[-1].status
    assert (one.hardware_id, one.name) == ('secret', '/simulated_robot')
    text = description[-1].data
    assert all(f'"{joint}"' in text for joint in robot.joints)
    assert not any(f'"{joint}"' in text for joint in ur5.joint_names)
    assert text.replace(f'"{PREFIX}', '"') == ur5.urdf.text


def test_two_namespaces_are_two_cells(graph, ur5):
    """Two robots side by side take each other for nobody; each follows its own commands only."""
    prefixes = {'left': 'left_', 'right': ''}
    processes = [
        graph.start('simulated_robot', {
            'publish_truth': True, 'initial_positions': START, 'discovery_time': 0.5,
            'tf_prefix': prefix,
        }, None, f'__ns:=/{side}') for side, prefix in prefixes.items()
    ]
    left, right = (
        Watched(graph, ur5.joint_names, f'/{side}', prefix) for side, prefix in prefixes.items()
    )
    still = right.position()
    left.wait_for_rest_at(left.move(AWAY, 0.8))
    assert np.max(np.abs(right.position() - still)) < 1e-3
    left.inject(silence=True, safety_mode=3)
    right.wait_for_rest_at(right.move(-AWAY, 0.8))
    assert right.listen(0.2)
    assert right.safety[-1].data == 1
    # Longer than the checks for foreigners are apart.
    left.wait(1.0)
    assert [process.exit_code for process in processes] == [None, None]
    topics = {name for name, _ in graph.node.get_topic_names_and_types()}
    assert not topics & {'/clock', '/joint_states'}
    # In real time stamps are those of the wall clock, but for what a busy machine makes late.
    assert abs(right.now() - time.time()) < 10.0
    # Joints have the prefix, or are not ours.
    left.commands.publish(trajectory(ur5.joint_names, still, 1.0))
    log = processes[0].log
    wait_until(lambda: 'trajectory rejected' in log.read_text(), 'a log line')


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
