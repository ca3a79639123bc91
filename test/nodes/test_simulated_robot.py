# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The simulated robot stands where ur_robot_driver stands: same topics, names, units, manners.

What each of its faults does is tested in test/simulation.
"""

from contextlib import contextmanager
from itertools import pairwise
import time

from diagnostic_msgs.msg import DiagnosticArray
from nodes.ideal_robot import FOREIGN_TOPICS, join
import numpy as np
import pytest
from rclpy.qos import QoSProfile
from robot_identification.simulation.faults import StreamFaults
from robot_identification.simulation.scaled_controller import RESTART_TIME, RobotCondition
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

    @contextmanager
    def hearing(self, kind, topic):
        """Listen to a topic of the robot for a while, and note the last truth at each message."""
        heard = []
        subscription = self.graph.node.create_subscription(
            kind, f'{self.namespace}/{topic}',
            lambda message: heard.append((message, seconds(self.truth[-1].header.stamp))), 10_000,
        )
        wait_until(lambda: heard, f'a message of {topic}')
        yield heard
        self.graph.run(self.graph.node.destroy_subscription, subscription)

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

    def listen(self, duration, jump=0.0):
        """Return the joint states of a span of simulated time, by their stamps."""
        first, start = len(self.states), self.wait(duration)
        return [
            message for message in self.states[first:]
            if start <= seconds(message.header.stamp) - jump <= start + duration
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

    def set_off(self):
        """Send the robot on a way of three seconds, to and fro; return when it is under way."""
        back = self.position()[0] > START[0] + AWAY[0]
        target = self.move(-2.0 * AWAY if back else 2.0 * AWAY, 3.0)
        wait_until(lambda: np.max(np.abs(self.clock[-1].velocity)) > 0.2, 'motion')
        return target

    def wait_for_rest_at(self, target):
        """Wait until the robot rests at a position, within what elastic joints hang down."""
        wait_until(
            lambda: np.max(np.abs(self.position() - target)) < 0.01
            and np.max(np.abs(self.clock[-1].velocity)) < 0.01,
            'the robot to arrive',
        )

    def check_still(self):
        """Check that the arm rests for half a second."""
        since = self.wait(0.5)
        rests = [self.in_order(m) for m in list(self.truth) if seconds(m.header.stamp) >= since]
        assert np.ptp(rests, axis=0).max() < 2e-3

    def controller(self):
        (state,) = [
            entry.message for entry in self.controllers[-1].status
            if entry.name == CONTROLLER
        ]
        return state


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


# Joint states in half a second, and what is seen in them of each fault.
ALL = round(0.5 / PERIOD)
FAULTS = {
    'drop': (0.5, lambda states: 0.2 < len(states) / ALL < 0.8 and spans(states) > 0.4),
    'delay': (0.4, lambda states: 0 < len(states) and spans(states) < 0.4),
    'nan': (0.5, lambda states: any(np.isnan(values_of(state)).any() for state in states)),
    'silence': (True, lambda states: not states),
    # At rest, too, values have noise.
    'freeze': (True, lambda states: np.ptp(list(map(values_of, states)), axis=0).max() == 0.0),
    'shuffle': (True, lambda states: all(a.name != b.name for a, b in pairwise(states))),
    'clock_jump': (-40.0, bool),
}


def values_of(message):
    return [*message.position, *message.velocity, *message.effort]


def spans(messages):
    return np.ptp(stamps_of(messages))


@pytest.mark.parametrize('name', FAULTS)
def test_a_fault_is_in_the_joint_states_until_it_is_over(robot, name):
    """The truth, by which the time is known, goes on."""
    value, seen = FAULTS[name]
    jump = value if name == 'clock_jump' else 0.0
    with robot.fault(**{name: value}):
        assert seen(robot.listen(0.5, jump))
    assert not seen(robot.listen(0.5, jump))


def test_a_share_comes_twice_and_rotors_with_it(robot):
    """The second is the first, in every byte; rotor states keep the stamps of joint states."""
    with robot.hearing(JointState, 'rotor_states') as rotors, robot.fault(duplicate=0.5):
        states = robot.listen(1.2)
        twice = [b for a, b in pairwise(states) if a == b]
        assert len(twice) == np.count_nonzero(np.diff(stamps_of(states)) == 0.0)
        # Of n different ones half are there again: a third of all.
        assert abs(len(twice) / len(states) - 1.0 / 3.0) < 0.17
        wait_until(
            lambda: np.count_nonzero(np.isin(
                stamps_of([message for message, _ in list(rotors)]), stamps_of(twice)
            )) == 2 * len(twice),
            'the rotors of these, twice',
        )


def test_the_speed_slider_stretches_a_motion(robot):
    """At 40 % a motion of 0.8 s takes 2 s, and ends where it was to end."""
    with robot.fault(speed_scaling=40.0):
        since = robot.now()
        robot.wait_for_rest_at(robot.move(AWAY, 0.8))
        assert robot.now() - since > 1.8
        assert robot.scaling[-1].data == pytest.approx(40.0)


def test_a_protective_stop_stops_and_the_goal_goes_on(robot):
    """At rest within 0.7 s and for as long as it lasts; then on to the end."""
    target = robot.set_off()
    with robot.fault(safety_mode=3):
        wait_until(lambda: robot.safety[-1].data == 3, 'the safety mode')
        wait_until(lambda: robot.scaling[-1].data == 0.0, 'a speed scaling of 0')
        robot.wait(0.7)
        robot.check_still()
        assert robot.controller() == 'active'
        assert robot.running[-1].data is True
    robot.wait_for_rest_at(target)
    wait_until(lambda: robot.safety[-1].data == 1, 'a normal safety mode')
    wait_until(lambda: robot.scaling[-1].data == 100.0, 'full speed')


@pytest.mark.parametrize('name', ['program_running', 'controller_active'])
def test_an_inactive_controller_holds_and_takes_nothing(robot, name):
    """The arm stops and stays; a trajectory is ignored; nothing resumes when it is active."""
    robot.set_off()
    log = robot.graph.processes[0].log
    with robot.fault(**{name: False}):
        wait_until(lambda: robot.controller() == 'inactive', 'an inactive controller')
        wait_until(
            lambda: robot.running[-1].data is (name != 'program_running'), 'the program state'
        )
        robot.wait(1.0)
        refused = log.read_text().count('controller is not active')
        robot.move(AWAY, 1.0)
        wait_until(
            lambda: log.read_text().count('controller is not active') > refused, 'a log line'
        )
    wait_until(lambda: robot.controller() == 'active', 'an active controller')
    robot.check_still()


def test_a_driver_restart_is_silent_and_forgets(robot):
    """No joint state and no speed scaling for two seconds; then all that is latched, and rest."""
    with robot.hearing(Float64, SCALING) as scaling:
        robot.set_off()
        latched = (robot.controllers, robot.running, robot.safety)
        # The last one before the restart is heard already, or is still to come.
        counts, first = [len(m) for m in latched], len(robot.states) - 1
        assert robot.graph.call(f'{robot.name}/restart').success
        wait_until(lambda: len(robot.controllers) > counts[0] + 1, 'the end of the restart')
        robot.check_still()
        heard_at = [truth for _, truth in list(scaling)]
    wait_until(
        lambda: all(len(m) > n for m, n in zip(latched, counts, strict=True)), 'latched topics'
    )
    assert robot.controller() == 'active'
    # Two periods more or less; stamps are whole periods but for rounding.
    assert np.diff(stamps_of(robot.states[first:])).max() == pytest.approx(
        RESTART_TIME, abs=2.001 * PERIOD
    )
    # The speed scaling has no stamps: by the truth that came last before it.
    assert np.max(np.diff(heard_at)) > RESTART_TIME - 2 * SETTLED


def test_the_joints_warm_up(robot):
    """A thousand times faster than real ones: by half a degree in three seconds of motion."""
    with robot.hearing(JointState, 'joint_temperatures') as temperatures:
        robot.wait_for_rest_at(robot.set_off())
        heard = [message for message, _ in list(temperatures)]
    values = np.array([message.effort for message in heard])
    assert all(list(message.name) == list(robot.states[-1].name) for message in heard)
    assert np.all(np.diff([seconds(message.header.stamp) for message in heard]) > 0.0)
    assert values.max() > 24.5


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
