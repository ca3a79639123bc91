# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The friction tester: arming, pre-test and test on a simulated wheel, and every way to end."""

import re
import signal

from diagnostic_msgs.msg import DiagnosticArray
from nodes.effort_robot import COMMANDS, EffortRobot, HELD, JOINT, REMAP
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.model.registry import load_robot
from robot_identification.nodes.friction_tester import CAP_FACTOR
from robot_identification.nodes.tested_joint import JointUnderTest
from robot_identification.simulation.effort_joint import EffortJointConstants
from robot_identification.studies.break_away.estimate import load_break_away
from ros_helpers import LATCHED, own_graph, state_in, wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

NODE = '/friction_tester'
# A base wheel of the youBot (report, section 4.2.1); its inertia is that of a rotor of 1.35e-5
# kg m^2 behind a gear of 26.
WHEEL = EffortJointConstants(inertia=0.009, static=0.126, coulomb=0.1, viscous=0.01)
# The silence that is accepted is long, as the machine may be busy.
PARAMETERS = {
    'joint': JOINT, 'torque_limit': 0.5, 'inertia': WHEEL.inertia, 'continuous': True,
    'pre_test.step': 0.06, 'settle_time': 0.1, 'repeats': 2, 'state_timeout': 1.5,
    'ramp_rate': 0.2, 'onset_travel': 1e-4, 'dry_run': False,
}
BREAK_AWAY = {
    'mode': 'break_away', 'torque_cap': 0.2, 'ramp_rate': 0.2, 'dry_run': False, 'overwrite': True,
}


class Person:
    """Who tests: the node, the robot, and what a person does."""

    def __init__(self, graph, output):
        self.graph, self.output = graph, output
        self.robot = EffortRobot(graph, WHEEL)
        self.node = graph.start(
            'friction_tester', {**PARAMETERS, 'output': str(output)}, None, *REMAP
        )
        self._heard = graph.hear_matched(DiagnosticArray, f'{NODE}/state', LATCHED)
        wait_until(lambda: self._heard, 'the state')

    @property
    def state(self):
        return state_in(self._heard[-1])

    def wait_for(self, *states):
        wait_until(lambda: self.state['state'] in states, f'{states}')
        return self.state

    def call(self, verb):
        return self.graph.call(f'{NODE}/{verb}')

    def configure(self, **values):
        """Set parameters that must be taken; dots are written as two underscores."""
        assert self.graph.configure(
            NODE, {name.replace('__', '.'): value for name, value in values.items()}
        ) == []

    def arm(self, **values):
        """Set parameters, and arm as the node says."""
        self.call('abort')
        self.configure(**values)

        def asked():
            """Return the answer as soon as the robot is known; discovery takes its time."""
            answer = self.call('arm')
            return answer if 'set it to' in answer.message else None

        text = wait_until(asked, 'the text to type').message.rpartition("set it to '")[2]
        self.configure(arm__confirmation=text.rstrip("'"))
        answer = self.call('arm')
        assert answer.success, answer.message
        return answer.message

    def begin(self, **values):
        """Arm and execute; the torque is on its way."""
        self.arm(**values)
        self.robot.commands.clear()
        assert self.call('execute').success
        wait_until(lambda: max(map(np.max, self.robot.commands), default=0.0) > 0.0, 'a torque')

    def assert_ended(self, words):
        state = self.wait_for('FAULT')
        assert words in state['reason']
        assert self.robot.commands[-1] == [0.0]
        assert 'not armed' in self.call('execute').message


@pytest.fixture(scope='module')
def tester(tmp_path_factory):
    """Return a tester beside a wheel, for all tests here."""
    folder = tmp_path_factory.mktemp('friction_tester')
    with own_graph(folder) as graph:
        yield Person(graph, folder / 'results')


def test_nothing_is_sent_before_somebody_arms(tester):
    """Nor in a dry run, which says what would be done; a confirmation is good for one arming."""
    assert 'not armed' in tester.call('execute').message
    tester.configure(torque_cap=0.0)
    reason = tester.graph.refused(f'{NODE}/arm')
    assert 'pre_test' in reason or 'joint state' in reason
    assert f'break_away {JOINT} 0.2 Nm' in tester.arm(torque_cap=0.2, dry_run=True)
    assert tester.graph.configure(NODE, {'torque_cap': 0.4}) != []
    assert 'dry run: nothing was sent' in tester.graph.done(f'{NODE}/execute')
    assert tester.robot.commands == []
    assert not tester.call('arm').success
    assert tester.robot.commands == []


def test_the_pre_test_sets_the_cap_and_the_test_finds_the_torque(tester):
    """By hand first; then the median is that of the simulated wheel, and the report is there."""
    tester.arm(mode='pre_test', torque_cap=0.0, dry_run=False, ramp_rate=0.5)
    tester.robot.commands.clear()
    assert tester.call('execute').success

    def ended():
        tester.call('step')
        return tester.state['state'] in ('DONE', 'FAULT')

    wait_until(ended, 'the end of the pre-test')
    assert tester.state['state'] == 'DONE', tester.state
    # The ramp grows by at most sqrt(2 I r v) = 0.034 N m until the wheel is at the threshold.
    cap = float(tester.state['torque_cap'])
    assert CAP_FACTOR * 0.126 <= cap <= CAP_FACTOR * 0.18
    assert 'wheel_3 moved at' in tester.state['reason']
    tester.configure(mode='break_away', joint=HELD)
    assert f'torque_cap {cap:g} N m is that of {JOINT}' in tester.call('arm').message
    tester.begin(joint=JOINT, ramp_rate=0.2, overwrite=False)
    assert 'BUSY' in tester.call('arm').message
    state = tester.wait_for('DONE', 'FAULT')
    assert state['state'] == 'DONE', state
    assert np.max(np.abs(tester.robot.commands)) <= cap
    assert tester.robot.commands[-1] == [0.0]
    robot, (found,) = load_break_away(tester.output / 'break_away.yaml')
    assert robot == ''
    assert found.run.joint == JOINT
    assert [found.boxes[direction].count for direction in (1, -1)] == [2, 2]
    for direction in (1, -1):
        # A lost message adds a step of 4 ms, 0.6 %.
        assert found.boxes[direction].median == pytest.approx(WHEEL.static, rel=0.02)
        way = {1: 'up', -1: 'down'}[direction]
        assert float(state[f'medians {way}']) == pytest.approx(
            found.boxes[direction].median, abs=1e-6
        )
    assert (tester.output / 'report.html').is_file()
    # What is there is not replaced without a word.
    answer = tester.call('arm')
    assert 'holds results of wheel_3 already' in answer.message


def test_a_joint_that_is_not_held_ends_the_test(tester):
    """It is named, as is one that joint states do not name any more."""
    tester.begin(**BREAK_AWAY)
    tester.robot.drift = 0.01
    tester.assert_ended(f'{HELD} has moved')
    tester.robot.drift = 0.0
    tester.begin()
    tester.robot.alone = True
    tester.assert_ended(f'do not show any more where {HELD} is')
    tester.robot.alone = False
    # The torque that answers a position that is not a number is zero.
    tester.begin()
    tester.robot.position_lost = True
    tester.assert_ended('position of a joint state is nan')
    tester.robot.position_lost = False


def test_nobody_else_may_command(tester):
    """Another commander is named before and during the test."""
    # The wheel is faster than real time: at the usual rate its test ends before the next look.
    tester.begin(**{**BREAK_AWAY, 'ramp_rate': 0.01})
    other = tester.graph.add_node('somebody_else')
    other.create_publisher(Float64MultiArray, COMMANDS, 1)
    tester.assert_ended('somebody_else publishes')
    wait_until(lambda: 'somebody_else' in tester.call('arm').message, 'the other one known')
    tester.graph.remove_node(other)


def test_silence_and_the_end_of_the_process_zero_the_torque(tester):
    """A silent driver latches FAULT; SIGINT in a test says zero before the node ends."""
    tester.begin(**BREAK_AWAY)
    tester.robot.silent = True
    tester.assert_ended('no new joint state for')
    tester.robot.silent = False
    tester.begin()
    tester.node.process.send_signal(signal.SIGINT)
    assert tester.graph.exit_code(tester.node) == 130
    wait_until(lambda: tester.robot.commands[-1] == [0.0], 'zero')


def test_a_joint_of_a_described_arm_is_read_as_the_model_counts():
    """Encoder zero, gravity, inertia and limits are those of the description."""
    robot = load_robot('youbot', gravity=(0.0, 0.0, -9.81))
    joint = JointUnderTest.find(robot, 'left_arm_joint_3', 'left_')
    q = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    names = [f'left_{name}' for name in robot.joint_names]
    message = JointState(
        name=names[::-1], position=robot.encoders.to_reading(q)[::-1].tolist(),
        velocity=[0.5, 0.4, 0.3, 0.2, 0.1],
    )
    reading = joint.read(message)
    assert reading.q == pytest.approx(0.3, abs=1e-12)
    assert reading.dq == 0.3
    assert np.isnan(reading.effort)
    assert sorted(reading.others) == sorted(set(names) - {'left_arm_joint_3'})
    # The moment of gravity is the slope of the potential energy over the joint.
    h, torque = 1e-5, joint.gravity(message)
    data = robot.pinocchio.createData()
    step = h * np.eye(5)[2]
    slope = (
        pin.computePotentialEnergy(robot.pinocchio, data, q + step)
        - pin.computePotentialEnergy(robot.pinocchio, data, q - step)
    ) / (2.0 * h)
    # Central differences of a sine: h^2 / 6 of it, and rounding over h.
    assert torque(0.3) == pytest.approx(slope, abs=1e-6)
    # The same energy gives the inertia; the youBot's rotors are not published.
    v = np.eye(5)[2]
    assert joint.inertia(message) == pytest.approx(
        2.0 * pin.computeKineticEnergy(robot.pinocchio, data, q, v), rel=1e-9
    )
    assert joint.torque_limit(0.0) == pytest.approx(0.8 * 6.0)
    with pytest.raises(UnsafeMotionError, match='80% of the limit'):
        joint.torque_limit(6.0)
    with pytest.raises(UnsafeMotionError, match='beyond its limits'):
        joint.check_range(2.5, 0.3)


def test_a_joint_of_an_arm_and_a_tester_that_dies(graph, tmp_path):
    """By real nodes: gravity is refused or subtracted; a killed tester cannot say zero."""
    robot, tested = load_robot('youbot'), 'arm_joint_2'
    graph.start('simulated_robot', {
        'command_interface': 'effort', 'discovery_time': 0.0, 'in_arm': True,
        'robot': 'youbot', 'joint': tested,
        'initial_positions': [0.0, 0.15, -0.4, 0.3, 0.0],
    })
    node = graph.start('friction_tester', {
        'robot': 'youbot', 'joint': tested, 'torque_cap': 1.4, 'output': str(tmp_path),
        'state_timeout': 1.5, 'settle_time': 0.0,
    })
    states = graph.hear_matched(JointState, '/joint_states')

    def refusal():
        """Return the answer once the robot is known; discovery takes its time."""
        message = graph.call(f'{NODE}/arm').message
        return '' if 'no joint state' in message or 'no subscriber' in message else message

    # -0.295 N m; it sagged by a tenth of a milliradian.
    assert re.search(
        r'gravity has a moment of -0\.29\d* N m on arm_joint_2', wait_until(refusal, 'a refusal')
    )
    assert graph.configure(NODE, {'pose': 'gravity_subtracted'}) == []
    # 80 % of the 9.5 N m of the YAML, gravity included.
    assert graph.configure(NODE, {'torque_cap': 7.5}) == []
    assert 'more than torque_limit 7.6 N m' in refusal()
    assert graph.configure(NODE, {'torque_limit': 8.0}) == []
    assert 'are 7.6 N m' in refusal()
    text = f'break_away {tested} 1.4 Nm'
    assert graph.configure(NODE, {'torque_limit': 0.0, 'torque_cap': 1.4}) == []
    assert f"set it to '{text}'" in refusal()
    assert graph.configure(NODE, {'arm.confirmation': text, 'dry_run': False}) == []
    graph.done(f'{NODE}/arm')
    plan = graph.done(f'{NODE}/execute')
    assert 'without the rotor' in plan
    assert f'N m on {tested}: keep clear of where it may fall' in plan
    assert list(states[-1].name) == sorted(robot.joint_names)
    at = states[-1].name.index(tested)
    wait_until(lambda: abs(states[-1].effort[at]) > 0.2, 'the torque against gravity')
    graph.kill(node)
    wait_until(lambda: states[-1].effort[at] == 0.0, 'zero torque')
    positions = np.array([state.position for state in states])
    # Less than break-away acted: nothing moved by more than a bristle yields, and noise.
    assert np.all(np.ptp(positions, axis=0) < 1e-3)
