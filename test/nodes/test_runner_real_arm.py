# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The runner on an arm that counts as real: no token, its driver's message types, every check."""

from contextlib import contextmanager
from dataclasses import replace
import json
from pathlib import Path
import subprocess
import sys
import time

from interfaces import overlay
from long_tests import long_test
from model.test_urdf import with_prefix
from nodes.runner import ATTEMPTS, commissioned, is_busy, is_over, Runner, SERIAL
import numpy as np
import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robot_identification.excitation.trajectory import dump_trajectory
from robot_identification.execution.commissioning import (
    DRY_RUN, FULL, record_path, SLOW, slow_speed,
)
from robot_identification.execution.safety import tool_speed
from robot_identification.execution.stop import DURATIONS
from robot_identification.files import read_yaml
from ros_helpers import own_graph, wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.timeout(900)  # the first test here compiles the message types

DRIVER = Path(__file__).with_name('real_driver.py')
PREFIX = 'left_'
CONTROLLER = 'joint_trajectory_controller'
SCALED = 'scaled_joint_trajectory_controller'
KEPT = QoSProfile(
    depth=1000, reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
USUAL = {
    'payload': [0.0], 'dry_run': True, 'commissioning': True, 'speed': 1.0, 'serial': SERIAL,
}
RESTS = 0.01


class Desk:
    """The driver, which says that somebody records, and the runner."""

    def __init__(self, graph, runner, start, sha256):
        self.graph, self.runner, self.start, self.sha256 = graph, runner, start, sha256
        self._events = graph.hear(String, '/real_driver/events', KEPT)
        self._orders = graph.publisher(String, '/real_driver/do', KEPT)

    def events(self, *kinds):
        said = [json.loads(message.data) for message in list(self._events)]
        return [event for event in said if not kinds or event['what'] in kinds]

    @property
    def told(self):
        return self.events('goal', 'topic')

    def order(self, verb, *values, **when):
        """Let the driver do something; return when it has heard."""
        heard = len(self.events('ordered'))
        order = {'verb': verb, 'values': values, **when}
        self._orders.publish(String(data=json.dumps(order)))
        wait_until(lambda: len(self.events('ordered')) > heard, f'{order} to be heard')

    def be_able(self):
        """Let the arm be as it is when nothing is wrong."""
        for verb, value in (
            ('set_program', True), ('set_safety', 1), ('set_mode', 7),
            ('tell_scaling', 1.0), ('list_types', {}), ('drift', 0.0),
            ('list_controllers', {CONTROLLER: 'active', SCALED: 'inactive'}),
        ):
            self.order(verb, value)

    def configure(self, **parameters):
        assert not self.graph.configure('experiment_runner', parameters)

    def ends(self, told):
        """Return how the goals ended from the one on before which so many were told."""
        said = self.events('goal', 'topic', 'ended')
        first = [i for i, event in enumerate(said) if event['what'] != 'ended'][told]
        return [event['status'] for event in said[first:] if event['what'] == 'ended']

    def refusal(self, word):
        """Return why the runner does not arm, as soon as a word is in it."""
        def refused():
            answer = self.runner.call('arm')
            if answer.success:
                # It does not know yet what speaks against that.
                self.runner.call('abort')
                self.configure(**{'arm.sha256': self.sha256})
                return ''
            return word in answer.message and answer.message

        return wait_until(refused, f'a refusal with {word!r}: {self.runner.state}')

    def begin(self, *, factor, **parameters):
        """Stand near the start, arm, and execute, again where a busy machine lets it wait."""
        self.order('set_factor', factor)
        self.order('place', (self.start + 0.02).tolist())

        def answered():
            # Each arming needs the hash typed anew.
            self.configure(**{**parameters, 'arm.sha256': self.sha256})
            self.runner.arm()
            answer = self.runner.call('execute')
            return answer if answer.success or not is_busy(answer.message) else None

        # Of a machine that lets the runner wait, the driver's new pace is learned after a while.
        answer = wait_until(answered, 'an answer')
        assert answer.success, answer.message
        return answer.message

    def execute(self, wanted, *, factor, order=None, **parameters):
        """Execute until a state is reached; return its reason and how many were told before."""
        # Again where a busy machine lets the runner wait for messages, which is a fault, too.
        for _ in range(ATTEMPTS):
            told = len(self.told)
            if order:
                # One second of its time into the motion, which is the second trajectory.
                self.order(*order, trajectory=2, after=1.0)
            self.begin(factor=factor, **parameters)
            wait_until(
                lambda: self.runner.state[0] == wanted or is_over(*self.runner.state), wanted
            )
            state, reason = self.runner.state
            # The arm goes on five times as fast: what comes late is far from where it was.
            if not is_over(state, reason) or not (is_busy(reason) or 'tracking error' in reason):
                assert state == wanted, reason
                return reason, told
            self.be_able()
        pytest.fail(f'{ATTEMPTS} attempts, now {self.runner.state}')

    def check_fault(self, told):
        """Check that FAULT is latched, so many were told, and nothing moves; return where."""
        assert not self.runner.call('execute').success
        watched = len(self.events('watched'))
        self.order('set_factor', 10.0)
        self.order('watch', 2.0)
        wait_until(lambda: len(self.events('watched')) > watched, "two seconds of the arm's time")
        assert self.runner.state[0] == 'FAULT'
        # What the driver said before is known by now: its messages keep their order.
        assert len(self.told) == told, self.told[told:]
        last = self.events('watched')[-1]
        assert last['moved'] < RESTS
        return last['q']


@contextmanager
def desk(folder, model, trajectory, file, parameters, **driver):
    """Yield a desk on a graph of its own; `driver` has further settings of the driver."""
    variables = overlay()
    start = trajectory.sample(np.zeros(1)).q[0]
    settings = folder / 'driver.json'
    settings.write_text(json.dumps({
        'joints': [PREFIX + joint for joint in model.joint_names], 'q': start.tolist(),
        'description': with_prefix(model.urdf.text, PREFIX),
        'controller': CONTROLLER, 'states': {}, **driver,
    }))
    with own_graph(folder) as graph, (folder / 'driver.log').open('w') as log:
        process = subprocess.Popen(
            [sys.executable, str(DRIVER), str(settings)], env={**graph.environment, **variables},
            stdout=log, stderr=log, start_new_session=True,
        )
        try:
            runner = Runner(graph, file, trajectory.sha256, {
                'simulation_token': '', 'tf_prefix': PREFIX,
                # A driver that is faster than real time has a simulation's stamps.
                'use_sim_time': True, **parameters,
            }, variables, free={})
            yield Desk(graph, runner, start, trajectory.sha256)
        finally:
            process.kill()
            process.wait()
            print((folder / 'driver.log').read_text())


@pytest.fixture(scope='module')
def file(trajectory, tmp_path_factory):
    """Return the motion in a folder of its own, whose record is only ours."""
    path = tmp_path_factory.mktemp('real') / 'motion.yaml'
    path.write_text(dump_trajectory(trajectory))
    return path


@pytest.fixture(scope='module')
def shared(ur5, trajectory, file, tmp_path_factory):
    """Return the desk of all cases with the action."""
    folder = tmp_path_factory.mktemp('desk')
    with desk(folder, ur5, trajectory, file, {}) as found:
        assert 'state what the arm carries' in found.refusal('payload')
        yield found


@pytest.fixture
def arm(shared, trajectory, file):
    """Return the same, with everything as usual before and after."""
    yield shared
    shared.configure(**USUAL, **{'trajectory_file': str(file), 'arm.sha256': trajectory.sha256})
    shared.be_able()


# --- before anything moves -------------------------------------------------------------------


def beyond_margins(trajectory):
    """Return the motion turned until the pan joint comes within 0.05 rad of its stop."""
    coefficients = trajectory.coefficients.copy()
    highest = trajectory.sample(trajectory.times(1000.0)).q[:, 0].max()
    coefficients[0, 0] += 2.0 * np.pi - 0.05 - highest
    return replace(trajectory, coefficients=coefficients)


REFUSED = {
    'payload not stated': ({'payload': [-1.0]}, None, 'state what the arm carries'),
    'payload below zero': ({'payload': [-0.5]}, None, 'state what the arm carries'),
    'no serial': ({'serial': ''}, None, 'serial is empty'),
    'no commissioning': ({'commissioning': False}, None, 'only a simulated robot may go without'),
    'the top of commissioning': ({'dry_run': False}, None, 'needs a dry run'),
    'two controllers': (
        {}, ('list_controllers', {SCALED: 'active'}),
        '2 joint-trajectory controllers are active',
    ),
    'no controller': (
        {}, ('list_controllers', {CONTROLLER: 'inactive'}),
        '0 joint-trajectory controllers are active',
    ),
    # One that takes trajectories another way, as a passthrough controller does.
    'another type': (
        {}, ('list_types', {CONTROLLER: 'ur_controllers/PassthroughTrajectoryController'}),
        '0 joint-trajectory controllers are active',
    ),
    'in motion': ({}, ('drift', 0.1), 'is to rest first'),
    'protective stop': ({}, ('set_safety', 3), 'PROTECTIVE_STOP'),
    'powered off': ({}, ('set_mode', 3), 'robot mode is 3'),
    'no program': ({}, ('set_program', False), 'controllers are active'),
}


@pytest.mark.parametrize(('parameters', 'order', 'words'), [
    # Every second one by day: each is a check of its own, and all are in one list.
    pytest.param(*case, id=name, marks=long_test if number % 2 else ())
    for number, (name, case) in enumerate(REFUSED.items())
])
def test_does_not_arm(arm, tmp_path, trajectory, parameters, order, words):
    """The reason is said; in a folder without a record, nothing is ever told."""
    file = tmp_path / 'own.yaml'
    file.write_text(dump_trajectory(trajectory))
    arm.configure(**{**USUAL, **parameters, 'trajectory_file': str(file)})
    if order:
        arm.order(*order)
    told = len(arm.told)
    reason = arm.refusal(words)
    assert 'controllers are active' not in words or SCALED in reason
    assert not arm.runner.call('execute').success
    assert len(arm.told) == told


def test_does_not_arm_for_a_motion_too_near_to_a_stop(arm, trajectory, tmp_path):
    """The hardware would allow it; joint and limit are named."""
    near = beyond_margins(trajectory)
    path = tmp_path / 'near.yaml'
    path.write_text(dump_trajectory(near))
    arm.configure(**USUAL, **{'trajectory_file': str(path), 'arm.sha256': near.sha256})
    reason = arm.refusal('on a real arm')
    assert 'position of shoulder_pan_joint' in reason


OTHERS = {
    'commands': (
        lambda node: node.create_publisher(JointTrajectory, f'/{CONTROLLER}/joint_trajectory', 10),
        'no other node may command',
    ),
    'joint states': (
        lambda node: node.create_publisher(JointState, '/joint_states', 10), 'one arm is wanted',
    ),
    # Services are counted by their names: whichever answers first would name the controllers.
    'manager': (
        lambda node: node.create_service(
            Trigger, '/controller_manager/list_controllers', lambda request, response: response
        ),
        '2 nodes offer controller_manager/list_controllers',
    ),
}


@pytest.mark.parametrize(('join', 'words'), OTHERS.values(), ids=OTHERS)
def test_does_not_arm_beside_others(arm, join, words):
    """Who else commands the arm, or is another one, is named."""
    arm.configure(**USUAL)
    intruder = arm.graph.add_node('intruder', '/elsewhere')
    join(intruder)
    try:
        arm.refusal(words)
        assert 'nodes offer' in words or '/elsewhere/intruder' in arm.refusal('intruder')
    finally:
        arm.graph.remove_node(intruder)
    # It goes away, and a dry run may be had.
    arm.runner.connect()


# --- commissioning ------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def slow(ur5, trajectory):
    """Return the largest share of the planned speed that is slow."""
    return slow_speed(tool_speed(ur5, trajectory))


@pytest.fixture(scope='module')
def climbed(shared, file, slow):
    """Climb commissioning: return what was told at each stage, and what was said at its end."""
    found = {}
    for stage, factor, parameters in (
        (DRY_RUN, 15.0, {}), (SLOW, 15.0, {'dry_run': False, 'speed': slow}),
        (FULL, 10.0, {'dry_run': False}),
    ):
        if stage == DRY_RUN:
            before = len(shared.told)
            message = shared.begin(factor=factor, **USUAL)
        else:
            message, before = shared.execute('DONE', factor=factor, **{**USUAL, **parameters})
        runs = read_yaml(record_path(file))['runs']
        found[stage] = message, shared.told[before:], shared.runner.content, runs
    return found


def test_a_dry_run_tells_what_would_be_done_and_does_nothing(climbed):
    """The controller it found, the way, the knots; noted as the first stage."""
    message, told, _, runs = climbed[DRY_RUN]
    assert 'nothing was sent' in message
    assert f'by action of {CONTROLLER}' in message
    assert not told
    assert [run['stage'] for run in runs] == [DRY_RUN]


@pytest.mark.parametrize('stage', [SLOW, FULL])
def test_each_stage_is_done_by_goals(climbed, ur5, trajectory, slow, stage):
    """Approach and motion, once each, in the names of the driver, at the speed of the stage."""
    _, told, content, runs = climbed[stage]
    assert [one['what'] for one in told] == ['goal', 'goal']
    for goal in told:
        assert goal['joints'] == [PREFIX + joint for joint in ur5.joint_names]
        assert not any(goal['dq'])
    approach, motion = told
    np.testing.assert_allclose(
        approach['q'], trajectory.sample(np.zeros(1)).q[0], atol=1e-9
    )
    speed = slow if stage == SLOW else 1.0
    # With a rest at its start.
    assert 0.0 < motion['duration'] - trajectory.duration / speed < 0.5
    peak = np.abs(trajectory.sample(trajectory.times(50.0)).dq).max()
    assert motion['peak'] == pytest.approx(speed * peak)
    assert content['controller'] == CONTROLLER
    # Delayed by nothing but the transport of messages.
    assert float(content['worst_tracking_error']) < 0.05
    assert [run['stage'] for run in runs] == [DRY_RUN, SLOW, FULL][:len(runs)]
    assert runs[-1]['stage'] == stage
    assert runs[-1]['speed'] == pytest.approx(speed)


# --- in motion -------------------------------------------------------------------------------


BROKEN = {
    'path tolerance': (
        ('end_goal', -4, 'Aborted due to path tolerance violation'),
        'code -4: Aborted due to path tolerance violation',
    ),
    'cancelled': (('cancel',), f'another client cancelled the motion of {CONTROLLER}'),
    'protective stop': (('set_safety', 3), 'PROTECTIVE_STOP'),
    'switched': (('list_controllers', {CONTROLLER: 'inactive'}), f'{CONTROLLER} is inactive'),
}


@pytest.mark.parametrize(('order', 'words'), BROKEN.values(), ids=BROKEN)
def test_what_ends_the_motion_is_a_fault(arm, climbed, order, words):
    """The goal is taken back, nothing is told any more, and the fault says what it was."""
    cancelled = len(arm.events('cancel'))
    reason, told = arm.execute('FAULT', factor=5.0, order=order, **{**USUAL, 'dry_run': False})
    assert words in reason
    assert 'at rest after' in reason
    arm.check_fault(told + 2)
    if order[0] == 'set_safety':
        # Or it would go on when it is released.
        assert len(arm.events('cancel')) > cancelled
        arm.order('set_safety', 1)
        arm.check_fault(told + 2)


def test_the_scaling_that_the_controller_is_told_is_followed(arm, climbed):
    """Half of it from the first second on is no lag: not even the servo's 0.2 s are used up."""
    reason, _ = arm.execute(
        'DONE', factor=5.0, order=('tell_scaling', 0.5), **{**USUAL, 'dry_run': False}
    )
    # At the motion's 0.8 rad/s half a scaling would be out of tolerance within a second.
    assert float(reason.split()[-2]) < 0.1


def test_a_controller_that_is_told_to_hurry_is_stopped(arm, climbed):
    """The goal is cancelled, as a stop would be hurried, too; and nothing begins like that."""
    reason, told = arm.execute(
        'FAULT', factor=5.0, order=('tell_scaling', 2.0), **{**USUAL, 'dry_run': False}
    )
    assert 'follows 2 times as fast as planned' in reason and 'at rest after' in reason
    assert arm.ends(told)[-1] == 'canceled'
    arm.configure(**{'arm.sha256': arm.sha256})
    arm.runner.arm()
    assert arm.runner.call('execute').success
    wait_until(lambda: 'as fast as planned' in arm.runner.state[1], 'the refusal')
    assert arm.runner.state[1].startswith('not executed')


def test_a_typed_hash_is_good_for_one_arming(arm):
    """Who wants to arm again looks again, though nothing was executed."""
    arm.configure(**USUAL)
    arm.runner.connect()
    assert "arm.sha256 is ''" in arm.refusal('arm.sha256')


def aborted_in_motion(arm, states):
    """Abort at full speed; return the fault, and how many trajectories were told before."""
    _, told = arm.execute('EXECUTING', factor=1.0, **{**USUAL, 'dry_run': False})
    wait_until(lambda: len(arm.told) == told + 2, 'the motion')
    # Before it moves its goal is cancelled.
    wait_until(
        lambda: max(map(abs, states[-1].velocity)) > 0.3 or is_over(*arm.runner.state),
        'full motion',
    )
    assert arm.runner.call('abort').success
    return arm.runner.wait_for('FAULT'), told


def test_abort_is_one_goal_that_stops(arm, climbed):
    """It preempts the motion, which is never resumed."""
    # The pace of the driver's clock is learned while nothing moves.
    watched = len(arm.events('watched'))
    arm.order('set_factor', 1.0)
    arm.order('watch', 2.5)
    wait_until(lambda: len(arm.events('watched')) > watched, 'the pace to be learned')
    states = arm.graph.hear(JointState, '/joint_states')
    for _ in range(ATTEMPTS):
        reason, told = aborted_in_motion(arm, states)
        # Where joint states come late no stop is proved, and the goal is cancelled instead.
        if not is_busy(reason) and 'canceled' not in arm.ends(told):
            break
        arm.be_able()
    assert 'aborted by a call' in reason
    arm.check_fault(told + 3)
    stop = arm.told[-1]
    assert DURATIONS[0] - 1e-6 <= stop['duration'] <= DURATIONS[-1] + 1e-6
    assert not any(stop['dq'])
    # The approach may still be waiting for its controller to say that it is over.
    approach, *others = arm.ends(told)
    assert approach in ('succeeded', 'aborted')
    assert others == ['aborted', 'succeeded']


# --- what the controller states ---------------------------------------------------------------


def stated(model):
    """Return what the scaled controller of a UR states, for the joints of the driver."""
    joints = [PREFIX + joint for joint in model.joint_names]
    return {
        'joints': joints, 'state_interfaces': ['position', 'velocity'],
        'speed_scaling_interface_name': 'speed_scaling/speed_scaling_factor',
        'constraints.goal_time': 0.0, 'constraints.stopped_velocity_tolerance': 0.2,
        **{f'constraints.{joint}.trajectory': 0.2 for joint in joints},
        **{f'constraints.{joint}.goal': 0.1 for joint in joints},
    }


@pytest.fixture(scope='module')
def scaled(ur5, trajectory, tmp_path_factory):
    """Return the desk of the scaled controller; its manager came after the request to arm."""
    folder = tmp_path_factory.mktemp('scaled')
    file = commissioned(folder, ur5, trajectory)
    hardware = '<hardware><plugin>ur_robot_driver/URPositionHardwareInterface</plugin></hardware>'
    description = with_prefix(ur5.urdf.text, PREFIX).replace(
        '</robot>', f'<ros2_control name="ur5" type="system">{hardware}</ros2_control></robot>'
    )
    with desk(
        folder, ur5, trajectory, file, USUAL, controller=SCALED, states=stated(ur5),
        description=description,
    ) as arm:
        answer = arm.graph.request(Trigger, '/experiment_runner/arm', Trigger.Request())
        time.sleep(2.0)
        assert not answer.done()
        arm.order('offer_manager')
        yield arm, arm.graph.answer(answer)


def test_a_late_manager_and_the_parameters_are_waited_for(scaled):
    """The first request is answered when both are known: the dry run has read the parameters."""
    arm, answer = scaled
    assert answer.success, answer.message
    answer = arm.runner.call('execute')
    assert answer.success, answer.message
    assert f'by action of {SCALED}' in answer.message
    assert 'it has no constraints.decelerate_on_cancel' in answer.message
    assert 'driver: ur_robot_driver' in answer.message


def test_the_scaled_controller_follows_the_slider(scaled):
    """At 50 %, though its state says 1: the motion takes twice as long, and is no lag."""
    arm, _ = scaled
    arm.order('set_scaling', 0.5)
    reason, _ = arm.execute('DONE', factor=5.0, **{**USUAL, 'dry_run': False})
    # As with half a scaling that the controller is told.
    assert float(reason.split()[-2]) < 0.1
    arm.order('set_scaling', 1.0)


def test_a_slider_that_stays_at_zero_is_a_fault(scaled):
    """Nothing is left in the controller: it would go on with the slider."""
    arm, _ = scaled
    reason, _ = arm.execute(
        'FAULT', factor=5.0, order=('set_scaling', 0.0),
        **{**USUAL, 'dry_run': False, 'scaling_timeout': 4.0},
    )
    assert 'slider' in reason
    told = len(arm.told)
    arm.order('set_scaling', 1.0)
    arm.check_fault(told)
    arm.configure(scaling_timeout=30.0)


def test_a_way_begins_where_the_controller_holds_the_arm(scaled):
    """A servo that hangs 50 mrad off its reference is refused, one of 6 mrad is not."""
    arm, _ = scaled
    arm.order('hold_aside', 0.05)
    arm.order('place', (arm.start + 0.02).tolist())

    def refused():
        arm.configure(**USUAL, **{'arm.sha256': arm.sha256})
        arm.runner.arm()
        answer = arm.runner.call('execute')
        return not answer.success and 'holds it' in answer.message and answer.message

    assert '0.050 rad' in wait_until(refused, 'the refusal')
    arm.order('hold_aside', 0.006)
    wait_until(lambda: not refused(), 'the dry run')
    arm.order('hold_aside', 0.0)


def test_a_controller_of_other_joints_is_named_when_arming(scaled, ur5):
    """Before it rejects a goal; and why constraints cannot be used is in the dry run's answer."""
    arm, _ = scaled
    arm.configure(**USUAL, **{'arm.sha256': arm.sha256})
    usual = stated(ur5)
    last = usual['joints'][-1]
    arm.order('state_parameters', {'joints': [*usual['joints'][:-1], 'gripper']})
    told = len(arm.told)
    reason = arm.refusal('controller of other joints')
    assert f'lacks {last}' in reason and 'it has gripper' in reason
    assert len(arm.told) == told
    arm.order('state_parameters', {
        'joints': usual['joints'], f'constraints.{last}.goal': None,
    })
    assert f'no parameter constraints.{last}.goal' in arm.begin(factor=5.0, **USUAL)


# --- by topic --------------------------------------------------------------------------------


@long_test
def test_the_topic_is_used_where_it_is_asked_for(ur5, trajectory, tmp_path):
    """Though the action is offered; a program that stops is a fault there, too."""
    file = commissioned(tmp_path, ur5, trajectory)
    with desk(tmp_path, ur5, trajectory, file, {
        'interface': 'topic', 'payload': [0.0], 'serial': SERIAL,
        'controller': CONTROLLER, 'dry_run': False,
    }) as arm:
        _, told = arm.execute('DONE', factor=10.0)
        assert [one['what'] for one in arm.told[told:]] == ['topic', 'topic']
        joints = [PREFIX + joint for joint in ur5.joint_names]
        assert all(one['joints'] == joints for one in arm.told)
        reason, told = arm.execute('FAULT', factor=5.0, order=('set_program', False))
        assert 'no program is running' in reason
        # What it followed is replaced by staying where it is.
        rests = arm.check_fault(told + 3)
        assert np.max(np.abs(np.subtract(arm.told[-1]['q'], rests))) < RESTS
        # No goal is aborted here; the manager tells of the switch.
        arm.be_able()
        reason, told = arm.execute(
            'FAULT', factor=5.0, order=('list_controllers', {CONTROLLER: 'inactive'})
        )
        assert f'{CONTROLLER} is inactive' in reason
