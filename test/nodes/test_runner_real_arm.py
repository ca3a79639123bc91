# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
The runner on an arm that counts as real: no token, the message types of its driver, every check.

The driver is `real_driver.py`, a process of its own; runner and driver live through all cases of
a fixture, so a fault is left as a human leaves it: by arming again.
"""

from contextlib import contextmanager
from dataclasses import replace
import json
from pathlib import Path
import subprocess
import sys

from interfaces import overlay
from model.test_urdf_prefix import with_prefix
from nodes.ideal_robot import ATTEMPTS
from nodes.ideal_robot import Runner
import numpy as np
import pytest
from rclpy.qos import DurabilityPolicy
from rclpy.qos import QoSProfile
from rclpy.qos import ReliabilityPolicy
from robot_identification.excitation.lab_safety import kinematics_sha256
from robot_identification.excitation.lab_safety import tool_speed
from robot_identification.excitation.ladder import DRY_RUN
from robot_identification.excitation.ladder import FULL
from robot_identification.excitation.ladder import note_rung
from robot_identification.excitation.ladder import record_path
from robot_identification.excitation.ladder import SLOW
from robot_identification.excitation.ladder import slow_speed
from robot_identification.excitation.ladder import Subject
from robot_identification.excitation.trajectory import dump_trajectory
from robot_identification.files import read_yaml
from ros_helpers import own_graph
from ros_helpers import wait_until
from sensor_msgs.msg import JointState
from std_msgs.msg import String
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
SERIAL = '20195501234'
USUAL = {
    'payload': [0.0], 'dry_run': True, 'ladder': True, 'speed': 1.0, 'serial': SERIAL,
}
RESTS = 0.01
# What a machine that lets runner or driver wait ends with; the arm goes on five times as fast.
BUSY = ('no joint state', 'sign of life', 'tracking error')


class Desk:
    """The driver, which says that somebody records, and the runner."""

    def __init__(self, graph, runner, start, sha256):
        self.graph, self.runner, self.start, self.sha256 = graph, runner, start, sha256
        self._events = graph.hear(String, '/real_driver/events', KEPT)
        self._orders = graph.publisher(String, '/real_driver/do', KEPT)

    def events(self, *kinds):
        """Return what the driver said, of some kinds or all."""
        said = [json.loads(message.data) for message in list(self._events)]
        return [event for event in said if not kinds or event['what'] in kinds]

    @property
    def told(self):
        """The trajectories that the driver was told, by action or topic."""
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
            ('set_program', True), ('set_safety', 1), ('set_mode', 7), ('set_rejects', False),
            ('list_controllers', {CONTROLLER: 'active', SCALED: 'inactive'}),
        ):
            self.order(verb, value)

    def configure(self, **parameters):
        """Set parameters of the runner."""
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
        """Stand near the start, arm, and execute."""
        self.order('set_factor', factor)
        self.order('place', (self.start + 0.02).tolist())
        # Each arming needs the hash typed anew.
        self.configure(**{**parameters, 'arm.sha256': self.sha256})
        self.runner.arm()
        answer = self.runner.call('execute')
        assert answer.success, answer.message
        return answer.message

    def execute(self, wanted, *, factor, order=None, **parameters):
        """
        Execute until a state is reached; return its reason and how many were told before.

        Where a busy machine lets the runner wait for messages, which is a fault, too: again.
        """
        for _ in range(ATTEMPTS):
            told = len(self.told)
            if order:
                # One second of its time into the motion, which is the second trajectory.
                self.order(*order, trajectory=2, after=1.0)
            self.begin(factor=factor, **parameters)
            wait_until(
                lambda: self.runner.state[0] in (wanted, 'FAULT'), f'{wanted}: {self.runner.state}'
            )
            state, reason = self.runner.state
            if state != 'FAULT' or not any(words in reason for words in BUSY):
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
def desk(folder, model, trajectory, file, parameters):
    """Yield a desk on a graph of its own."""
    variables = overlay()
    start = trajectory.sample(np.zeros(1)).q[0]
    settings = folder / 'driver.json'
    settings.write_text(json.dumps({
        'joints': [PREFIX + joint for joint in model.joint_names], 'q': start.tolist(),
        'description': with_prefix(model.urdf.text, PREFIX),
    }))
    with own_graph(folder) as graph, (folder / 'driver.log').open('w') as log:
        process = subprocess.Popen(
            [sys.executable, str(DRIVER), str(settings)], env={**graph.environment, **variables},
            stdout=log, stderr=log, start_new_session=True,
        )
        try:
            runner = Runner(graph, file, trajectory.sha256, {
                'simulation_token': '', 'tf_prefix': PREFIX, **parameters,
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
    'no ladder': ({'ladder': False}, None, 'only a simulated robot may go without'),
    'the top of the ladder': ({'dry_run': False}, None, 'needs a dry run'),
    'two controllers': (
        {}, ('list_controllers', {SCALED: 'active'}),
        '2 joint-trajectory controllers are active',
    ),
    'no controller': (
        {}, ('list_controllers', {CONTROLLER: 'inactive'}),
        '0 joint-trajectory controllers are active',
    ),
    'protective stop': ({}, ('set_safety', 3), 'PROTECTIVE_STOP'),
    'powered off': ({}, ('set_mode', 3), 'robot mode is 3'),
    'no program': ({}, ('set_program', False), 'controllers are active'),
}


@pytest.mark.parametrize(('parameters', 'order', 'words'), REFUSED.values(), ids=REFUSED)
def test_does_not_arm(arm, tmp_path, trajectory, parameters, order, words):
    """The reason is said; in a folder without a record, nothing is ever told."""
    file = tmp_path / 'own.yaml'
    file.write_text(dump_trajectory(trajectory))
    arm.configure(**{**USUAL, **parameters, 'trajectory_file': str(file)})
    if order:
        arm.order(*order)
    told = len(arm.told)
    reason = arm.refusal(words)
    if 'controllers are active' in words:
        assert CONTROLLER in reason
        assert SCALED in reason
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
    'commands': (JointTrajectory, f'/{CONTROLLER}/joint_trajectory', 'nobody else may command'),
    'joint states': (JointState, '/joint_states', 'one arm is wanted'),
}


@pytest.mark.parametrize(('kind', 'topic', 'words'), OTHERS.values(), ids=OTHERS)
def test_does_not_arm_beside_others(arm, kind, topic, words):
    """Who else commands the arm, or is another one, is named."""
    arm.configure(**USUAL)
    intruder = arm.graph.add_node('intruder', '/elsewhere')
    intruder.create_publisher(kind, topic, 10)
    try:
        arm.refusal(words)
        assert topic.rpartition('/')[2] in arm.refusal('/elsewhere/intruder')
    finally:
        arm.graph.remove_node(intruder)
    # It goes away, and a dry run may be had.
    arm.runner.connect()


# --- the ladder ------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def slow(ur5, trajectory):
    """Return the largest share of the planned speed that is slow."""
    return slow_speed(tool_speed(ur5, trajectory))


@pytest.fixture(scope='module')
def climbed(shared, file, slow):
    """Climb the ladder: return what was told at each rung, and what was said at its end."""
    found = {}
    for rung, factor, parameters in (
        (DRY_RUN, 15.0, {}), (SLOW, 15.0, {'dry_run': False, 'speed': slow}),
        (FULL, 10.0, {'dry_run': False}),
    ):
        if rung == DRY_RUN:
            before = len(shared.told)
            message = shared.begin(factor=factor, **USUAL)
        else:
            message, before = shared.execute('DONE', factor=factor, **{**USUAL, **parameters})
        runs = read_yaml(record_path(file))['runs']
        found[rung] = message, shared.told[before:], shared.runner.content, runs
    return found


def test_a_dry_run_tells_what_would_be_done_and_does_nothing(climbed):
    """The controller it found, the way, the knots; noted as the first rung."""
    message, told, _, runs = climbed[DRY_RUN]
    assert 'nothing was sent' in message
    assert f'by action of {CONTROLLER}' in message
    assert not told
    assert [run['rung'] for run in runs] == [DRY_RUN]


@pytest.mark.parametrize('rung', [SLOW, FULL])
def test_each_rung_is_climbed_by_goals(climbed, ur5, trajectory, slow, rung):
    """Approach and motion, once each, in the names of the driver, at the speed of the rung."""
    _, told, content, runs = climbed[rung]
    assert [one['what'] for one in told] == ['goal', 'goal']
    for goal in told:
        assert goal['joints'] == [PREFIX + joint for joint in ur5.joint_names]
        assert not any(goal['dq'])
    approach, motion = told
    np.testing.assert_allclose(
        approach['q'], trajectory.sample(np.zeros(1)).q[0], atol=1e-9
    )
    speed = slow if rung == SLOW else 1.0
    assert motion['duration'] == pytest.approx(trajectory.duration / speed)
    peak = np.abs(trajectory.sample(trajectory.times(50.0)).dq).max()
    assert motion['peak'] == pytest.approx(speed * peak)
    assert content['controller'] == CONTROLLER
    # Delayed by nothing but the transport of messages.
    assert content['worst_tracking_error'] < 0.05
    assert [run['rung'] for run in runs] == [DRY_RUN, SLOW, FULL][:len(runs)]
    assert runs[-1]['rung'] == rung
    assert runs[-1]['speed'] == pytest.approx(speed)


# --- in motion -------------------------------------------------------------------------------


PATH_TOLERANCE, INVALID_GOAL = -4, -1
BROKEN = {
    'path tolerance': (
        ('end_goal', PATH_TOLERANCE, 'Aborted due to path tolerance violation'),
        'code -4: Aborted due to path tolerance violation',
    ),
    'preempted': (
        ('end_goal', INVALID_GOAL, 'Goal is preempted by a new goal'),
        'code -1: Goal is preempted by a new goal',
    ),
    'cancelled': (('cancel',), f'somebody else cancelled the motion of {CONTROLLER}'),
    'protective stop': (('set_safety', 3), 'PROTECTIVE_STOP'),
    'no program': (('set_program', False), 'no program is running'),
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


def test_a_typed_hash_is_good_for_one_arming(arm):
    """Who wants to arm again looks again, though nothing was executed."""
    arm.configure(**USUAL)
    arm.runner.connect()
    assert "arm.sha256 is ''" in arm.refusal('arm.sha256')


def test_a_cancelled_motion_is_cancelled_until_that_is_acknowledged(arm, climbed):
    """The driver rejects the first five requests; before it has agreed nobody may arm."""
    arm.order('set_ignored_cancels', 5)
    _, told = arm.execute(
        'FAULT', factor=5.0, order=('set_safety', 3), **{**USUAL, 'dry_run': False}
    )
    wait_until(lambda: arm.ends(told)[-1:] == ['canceled'], 'the goal to be cancelled')
    arm.check_fault(told + 2)


def test_a_rejected_goal_is_a_fault(arm, climbed):
    """The approach is refused by the controller, and not tried again."""
    arm.order('set_rejects', True)
    reason, told = arm.execute('FAULT', factor=5.0, **{**USUAL, 'dry_run': False})
    assert f'{CONTROLLER} rejected the goal' in reason
    arm.check_fault(told + 1)


def test_abort_is_one_goal_that_stops(arm, climbed):
    """It preempts the motion, which is never resumed."""
    _, told = arm.execute('EXECUTING', factor=1.0, **{**USUAL, 'dry_run': False})
    wait_until(lambda: len(arm.told) == told + 2, 'the motion')
    assert arm.runner.call('abort').success
    assert 'aborted by a call' in arm.runner.wait_for('FAULT')
    arm.check_fault(told + 3)
    stop = arm.told[-1]
    assert stop['duration'] == pytest.approx(0.5)
    assert not any(stop['dq'])
    # The approach may still be waiting for its controller to say that it is over.
    approach, *others = arm.ends(told)
    assert approach in ('succeeded', 'aborted')
    assert others == ['aborted', 'succeeded']


# --- by topic --------------------------------------------------------------------------------


def test_the_topic_is_used_where_it_is_asked_for(ur5, trajectory, tmp_path):
    """Though the action is offered; a program that stops is a fault there, too."""
    file = tmp_path / 'motion.yaml'
    file.write_text(dump_trajectory(trajectory))
    subject = Subject(
        trajectory.sha256, ur5.name, ur5.urdf_sha256, kinematics_sha256(ur5), SERIAL
    )
    for rung in DRY_RUN, SLOW:
        note_rung(file, subject, rung, speed=0.1, periods=1, worst_tracking_error=0.0)
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
