# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
What goes wrong with the simulated robot, over DDS, one fault after the other on one robot.

It has a prefix, elastic joints and warms up, so that all of these go together with every fault.
Figures are from stamps; the noise-free joint states are not the driver's and come always.
"""

from contextlib import contextmanager
from itertools import pairwise
import json

from nodes.robot_in_namespace import robot_in
import numpy as np
import pytest
from rclpy.qos import QoSProfile
from robot_identification.simulation.faults import StreamFaults
from robot_identification.simulation.scaled_controller import RESTART_TIME, RobotCondition
from ros_helpers import LATCHED, own_graph, seconds, wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64, Float64MultiArray, Int8, String, UInt8
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
    """Return a trajectory to one point, at rest."""
    point = JointTrajectoryPoint(
        positions=[float(q) for q in target], velocities=[0.0] * len(joints),
        accelerations=[0.0] * len(joints),
    )
    nanoseconds = round(duration * 1e9)
    point.time_from_start.sec, point.time_from_start.nanosec = divmod(nanoseconds, 10**9)
    return JointTrajectory(joint_names=list(joints), points=[point])


def stamps_of(messages):
    """Return the stamps of messages [s]."""
    return np.array([seconds(message.header.stamp) for message in messages])


class Watched:
    """
    A simulated robot, and lists of all that it says.

    A client on a busy machine may be seconds behind with what it has received. The clock here
    keeps nothing but the last message, so that it is the robot's; everything else is looked at
    by its stamps, in spans of time that begin after a fault has been injected.
    """

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
        self.controllers = self.hear(String, 'simulated_robot/controllers', LATCHED)
        self.commands = graph.publisher(JointTrajectory, f'{namespace}/{COMMANDS}')
        wait_until(
            lambda: self.truth and self.states and self.scaling and self.controllers,
            f'all topics of {self.name}',
        )

    def hear(self, kind, topic, *qos):
        """Listen to a topic of the robot."""
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
        self.graph.node.destroy_subscription(subscription)

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
        """Inject faults for a while."""
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
        """Return the present true position, kinematic order."""
        return self.in_order(self.clock[-1])

    def in_order(self, message):
        """Return the positions of a message, kinematic order."""
        values = dict(zip(message.name, message.position, strict=True))
        return np.array([values[joint] for joint in self.joints])

    def track(self, since):
        """Return stamps, positions and largest speeds of the truth from a time on."""
        messages = [m for m in list(self.truth) if seconds(m.header.stamp) >= since]
        return (
            stamps_of(messages), np.array([self.in_order(m) for m in messages]),
            np.array([np.max(np.abs(m.velocity)) for m in messages]),
        )

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

    def controller(self):
        """Return the state of the trajectory controller."""
        (state,) = [
            entry['state'] for entry in json.loads(self.controllers[-1].data)
            if entry['name'] == CONTROLLER
        ]
        return state


@pytest.fixture(scope='module')
def robot(tmp_path_factory, ur5):
    """Return a simulated robot four times faster than real time."""
    with own_graph(tmp_path_factory.mktemp('faults')) as graph:
        graph.start('simulated_robot', {
            'real_time_factor': 4.0, 'publish_truth': True, 'initial_positions': START,
            'discovery_time': 0.0, 'tf_prefix': PREFIX, 'stiffness': 2e4, 'warm_up': 1000.0,
        })
        yield Watched(graph, ur5.joint_names, prefix=PREFIX)


def test_nothing_is_wrong_at_first(robot):
    """The stand-ins say so, to whoever comes late."""
    mode = robot.hear(Int8, 'simulated_robot/robot_mode', LATCHED)
    wait_until(lambda: mode and robot.safety and robot.running, 'the latched states')
    assert (mode[-1].data, robot.safety[-1].data, robot.running[-1].data) == (7, 1, True)
    assert robot.scaling[-1].data == 100.0
    states = {c['name']: (c['type'], c['state']) for c in json.loads(robot.controllers[-1].data)}
    assert states[CONTROLLER] == ('ur_controllers/ScaledJointTrajectoryController', 'active')
    assert states['forward_velocity_controller'][1] == 'inactive'


def test_a_share_of_joint_states_is_dropped(robot):
    """Half of 150, within five standard deviations; what is left has its own stamps."""
    with robot.fault(drop=0.5):
        stamps = stamps_of(robot.listen(1.2))
    assert abs(len(stamps) / (1.2 / PERIOD) - 0.5) < 0.2
    periods = np.diff(stamps) / PERIOD
    np.testing.assert_allclose(periods, np.round(periods), atol=1e-3)


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


def test_a_share_has_a_value_that_is_not_a_number(robot):
    with robot.fault(nan=0.5):
        states = robot.listen(1.2)
    wrong = [
        np.count_nonzero(np.isnan([*m.position, *m.velocity, *m.effort])) for m in states
    ]
    assert set(wrong) == {0, 1}
    assert abs(np.mean(wrong) - 0.5) < 0.2


def test_a_delay_comes_later_under_the_old_stamps(robot):
    """By 0.4 s of simulated time, measured against the truth that is not delayed."""
    with robot.fault(delay=0.4), robot.hearing(JointState, 'joint_states') as heard:
        robot.wait(1.0)
        late = [truth - seconds(message.header.stamp) for message, truth in list(heard)]
    stamps = stamps_of([message for message, _ in heard])
    # Two topics overtake each other by some messages.
    assert abs(np.median(late) - 0.4) < 0.1
    assert np.all(np.diff(stamps) > 0.0)


def test_silence(robot):
    """No joint state while the truth goes on; afterwards they are back."""
    with robot.fault(silence=True):
        assert not robot.listen(1.0)
    assert robot.listen(0.2)


def test_frozen_values_under_new_stamps(robot):
    """Of all of them, in a moving arm."""
    robot.set_off()
    with robot.fault(freeze=True):
        states = robot.listen(0.5)
        moved = np.ptp([m.position for m in robot.truth[-30:]], axis=0)
    values = np.array([[*m.position, *m.velocity, *m.effort] for m in states])
    assert len(values) > 30
    assert np.ptp(values, axis=0).max() == 0.0
    assert np.all(np.diff(stamps_of(states)) > 0.0)
    assert moved.max() > 0.02


def test_another_order_in_every_joint_state(robot):
    """The name says whose value it is: each is that of the truth at its stamp, within noise."""
    with robot.fault(shuffle=True):
        states = robot.listen(0.5)
    orders = [tuple(m.name) for m in states]
    assert all(set(order) == set(robot.joints) for order in orders)
    assert all(a != b for a, b in pairwise(orders))
    truth = {seconds(m.header.stamp): robot.in_order(m) for m in list(robot.truth)}
    for message in states:
        expected = truth[seconds(message.header.stamp)]
        assert np.max(np.abs(robot.in_order(message) - expected)) < 1e-4


@pytest.mark.parametrize('jump', [40.0, -40.0])
def test_a_clock_jump_is_in_the_stamps_of_joint_states(robot, jump):
    """From then on, by so much to the nanosecond, and back again."""
    with robot.fault(clock_jump=jump):
        states = robot.listen(0.2, jump)
    assert len(states) > 20
    truth = {(m.header.stamp.sec, m.header.stamp.nanosec) for m in list(robot.truth)}
    for stamp in (message.header.stamp for message in states):
        # Both stamps are rounded to the 0.24 us that 1.7e9 s can have as a number.
        assert any((stamp.sec - round(jump), stamp.nanosec + off) in truth
                   for off in range(-500, 501))
    assert robot.listen(0.2)


def test_the_speed_slider_stretches_a_motion(robot):
    """At 40 % a motion of 0.8 s takes 2 s, and ends where it was to end."""
    with robot.fault(speed_scaling=40.0):
        since = robot.now()
        robot.wait_for_rest_at(robot.move(AWAY, 0.8))
        assert robot.scaling[-1].data == pytest.approx(40.0)
    stamps, q, _ = robot.track(since)
    share = ((q - q[0]) / AWAY)[:, 0]
    # A quintic has 1 % of its way behind it after 10.6 % of its time, and 99 % after 89.4 %.
    took = stamps[np.argmax(share > 0.99)] - stamps[np.argmax(share > 0.01)]
    assert took == pytest.approx(0.788 * 2.0, rel=0.05)


def test_a_protective_stop_stops_and_the_goal_goes_on(robot, ur5):
    """
    At rest within v / a plus what the servo needs, still for two seconds, and then to the end.

    The servo follows at 12 Hz with little delay; elastic joints ring a little: 0.15 s, 2 mrad.
    """
    target = robot.set_off()
    since = robot.now()
    with robot.fault(safety_mode=3):
        wait_until(lambda: robot.safety[-1].data == 3, 'the safety mode')
        wait_until(lambda: robot.scaling[-1].data == 0.0, 'a speed scaling of 0')
        robot.wait(2.7)
        stamps, q, speed = robot.track(since)
        assert robot.controller() == 'active'
        assert robot.running[-1].data is True
    # The request needs a moment from here to there.
    stopping = stamps[np.argmax(speed < 0.8 * speed.max())]
    needed = speed.max() / ur5.limits.acceleration.min()
    assert speed[stamps > stopping + needed + 0.15].max() < 0.02
    still = q[stamps > stamps[-1] - 2.0]
    assert np.ptp(still, axis=0).max() < 2e-3
    robot.wait_for_rest_at(target)
    wait_until(lambda: robot.safety[-1].data == 1, 'a normal safety mode')
    wait_until(lambda: robot.scaling[-1].data == 100.0, 'full speed')


INTERRUPTIONS = {'program_running': False, 'controller_active': False}


@pytest.mark.parametrize('name', INTERRUPTIONS)
def test_an_inactive_controller_holds_and_takes_nothing(robot, name):
    """The arm stops and stays; a trajectory is ignored; nothing resumes when it is active."""
    robot.set_off()
    with robot.fault(**{name: False}):
        wait_until(lambda: robot.controller() == 'inactive', 'an inactive controller')
        wait_until(
            lambda: robot.running[-1].data is (name != 'program_running'), 'the program state'
        )
        robot.wait(1.0)
        since = robot.now()
        log = robot.graph.processes[0].log
        refused = log.read_text().count('controller is not active')
        robot.move(AWAY, 1.0)
        wait_until(
            lambda: log.read_text().count('controller is not active') > refused, 'a log line'
        )
        robot.wait(1.0)
    wait_until(lambda: robot.controller() == 'active', 'an active controller')
    robot.wait(1.0)
    assert np.ptp(robot.track(since)[1], axis=0).max() < 2e-3
    robot.wait_for_rest_at(robot.move(np.zeros(6), 0.5))


def test_a_driver_restart_is_silent_and_forgets(robot):
    """Nothing on any of its topics for two seconds; then everything latched again, and rest."""
    with robot.hearing(Float64, SCALING) as scaling:
        robot.set_off()
        latched = (robot.controllers, robot.running, robot.safety)
        counts, first, since = [len(m) for m in latched], len(robot.states), robot.now()
        assert robot.graph.call(f'{robot.name}/restart').success
        wait_until(lambda: len(robot.controllers) > counts[0] + 1, 'the end of the restart')
        robot.wait(1.0)
        heard_at = [truth for _, truth in list(scaling)]
    wait_until(
        lambda: all(len(m) > n for m, n in zip(latched, counts, strict=True)), 'latched topics'
    )
    listed = [json.loads(message.data) for message in robot.controllers[counts[0]:]]
    states = [entry['state'] for entries in listed for entry in entries
              if entry['name'] == CONTROLLER]
    assert (states[0], states[-1]) == ('inactive', 'active')
    stamps = stamps_of(robot.states[first:])
    silence = np.argmax(np.diff(stamps))
    assert np.diff(stamps)[silence] == pytest.approx(RESTART_TIME, abs=2 * PERIOD)
    # The speed scaling has no stamps: by the truth that came last before it.
    assert np.max(np.diff(heard_at)) > RESTART_TIME - 2 * SETTLED
    _, q, _ = robot.track(max(since, stamps[silence] + 1.0))
    assert np.ptp(q, axis=0).max() < 2e-3


def test_the_joints_warm_up(robot):
    """A thousand times faster than real ones: by half a degree in three seconds of motion."""
    with robot.hearing(Float64MultiArray, 'joint_temperatures') as temperatures:
        robot.wait_for_rest_at(robot.set_off())
        values = np.array([message.data for message, _ in list(temperatures)])
    assert values.shape[1] == 6
    assert values.max() > 24.5


def test_description_has_the_prefix(robot, ur5):
    """On every joint and link, as the driver's, so that RViz finds them."""
    description = robot.hear(String, 'robot_description', LATCHED)
    wait_until(lambda: description, 'a description')
    text = description[-1].data
    assert all(f'"{joint}"' in text for joint in robot.joints)
    assert not any(f'"{joint}"' in text for joint in ur5.joint_names)
    assert text.replace(f'"{PREFIX}', '"') == ur5.urdf.text


def test_two_namespaces_are_two_cells(graph, ur5):
    """Two robots side by side take each other for nobody; each follows its own commands only."""
    sides = {'left': {'tf_prefix': 'left_'}, 'right': {}}
    common = {'publish_truth': True, 'initial_positions': START, 'discovery_time': 0.5}
    with robot_in(graph, 'left', {**common, **sides['left']}) as left_process, \
            robot_in(graph, 'right', {**common, **sides['right']}) as right_process:
        left, right = (
            Watched(graph, ur5.joint_names, f'/{side}', parameters.get('tf_prefix', ''))
            for side, parameters in sides.items()
        )
        still = right.position()
        left.wait_for_rest_at(left.move(AWAY, 0.8))
        assert np.max(np.abs(right.position() - still)) < 1e-3
        left.inject(silence=True, safety_mode=3)
        target = right.move(-AWAY, 0.8)
        right.wait_for_rest_at(target)
        assert right.listen(0.2)
        assert right.safety[-1].data == 1
        # Longer than the checks for foreigners are apart.
        left.wait(1.0)
        assert left_process.poll() is None
        assert right_process.poll() is None
        topics = {name for name, _ in graph.node.get_topic_names_and_types()}
        assert '/clock' not in topics
        assert '/joint_states' not in topics
