# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The runner on the real controllers of ros2_control: what it does, and what is done to it.

    pytest -rA test/simulators/test_controllers.py

It needs controller_manager, ros2_controllers and ur_controllers (docs/execution.md).
"""

import signal
import time

import pytest
from robot_identification.excitation import Budget, design_excitation, load_experiment
from robot_identification.model import load_robot
from ros_helpers import wait_until
from sensor_msgs.msg import JointState
from simulators.by_hand import EXPERIMENT
from simulators.controllers import (
    bench, BROADCASTER, JTC, of_driver, OTHER, SCALED, SLIDER, SPEEDS,
)
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.timeout(900)

# Of a stop that is proved: it may have 3.1, and the jitter of the manager adds some; a hold of
# mock hardware, which follows every command, has 16 over the same 0.1 s [rad/s^2].
SMOOTH = 6.0
HARD = float('inf')
# A stop takes 1.8 s at most (docs/execution.md), and a busy machine a moment more [s].
STOP = 2.5
# Every row is this far from the planned path at most [rad]; chosen: half the tolerance.
LARGEST_ERROR = 0.05


@pytest.fixture(scope='module')
def ur5e():
    return load_robot('ur5e')


@pytest.fixture(scope='module')
def motion(ur5e, tmp_path_factory):
    """Return a motion of five seconds that reaches 1.6 rad/s."""
    file = tmp_path_factory.mktemp('motion') / 'experiment.yaml'
    file.write_text(EXPERIMENT.format(period=5.0))
    return design_excitation(ur5e, load_experiment(file), seed=1, budget=Budget(20))


@pytest.fixture
def desk(tmp_path, ur5e, motion):
    """Return what makes a bench whose controller of a kind has other parameters than usual."""
    def make(kind=JTC, joints=ur5e.joint_names, **changes):
        runner = changes.pop('runner', {})
        settings = {
            name: of_driver(ur5e.joint_names) for name in (JTC, OTHER, SCALED)
        }
        settings[kind] = of_driver(joints, **changes)
        settings[SCALED]['speed_scaling_interface_name'] = 'speed_scaling/speed_scaling_factor'
        settings[SPEEDS] = {'state_publish_rate': 100.0}
        settings[SLIDER] = {
            'joints': ['speed_scaling'], 'interface_name': 'speed_scaling_factor'
        }
        return bench(tmp_path, ur5e, motion, settings, **runner)

    return make


def spawn(arm, kind=JTC):
    """Load what stands beside a controller, and this one."""
    arm.spawn(BROADCASTER, kind, *([SPEEDS, SLIDER] if kind == SCALED else []))


def check_done(arm, deadline=60.0):
    """Wait for DONE; check that the arm did not go faster than planned, nor off the path."""
    reason = arm.wait_for('DONE', deadline=deadline)
    found = arm.movement()
    arm.report(found, reason)
    assert float(reason.split()[-2]) < LARGEST_ERROR
    assert found.speed < 1.05 * arm.fastest
    return found


# --- to the end ----------------------------------------------------------------------------------


@pytest.mark.parametrize('way', ['action', 'topic'])
def test_commissioning_is_climbed(desk, tmp_path, way):
    """Dry, slow and at full speed, with the recorder, which has lost nothing."""
    with desk(runner={'interface': way, 'require_recorder': True, 'dry_run': True}) as arm:
        spawn(arm)
        (tmp_path / 'motion.yaml.runs').unlink()
        answer = arm.begin()
        assert 'nothing was sent' in answer and f'by {way} of {JTC}' in answer
        # Whatever stands there: mock hardware names no driver that is installed.
        assert 'version not known' in answer
        assert arm.movement().speed == 0.0
        recorder = arm.record(tmp_path / 'bag')
        for speed in 0.1, 1.0:
            arm.begin(dry_run=False, speed=speed)
            check_done(arm, deadline=200.0)
        lost = recorder()
        print(f'lost joint states of the slow and the fast run: {lost}')
        assert lost == 0


@pytest.mark.parametrize('kind', [JTC, SCALED])
def test_another_order_of_joints(desk, ur5e, kind):
    """Of the controller; that of joint_states is alphabetical anyway."""
    with desk(kind, joints=sorted(ur5e.joint_names)) as arm:
        spawn(arm, kind)
        arm.begin()
        check_done(arm)


# --- what a person does --------------------------------------------------------------------------

SIGNALS = [signal.SIGTERM, signal.SIGHUP, *[signal.SIGINT] * 10]


@pytest.mark.parametrize('number', SIGNALS)
def test_a_signal_stops_on_the_path(desk, number):
    """Smoothly, every time, and the process ends when the arm rests."""
    with desk() as arm:
        spawn(arm)
        arm.begin()
        since = arm.wait_for_full_speed()
        arm.runner.process.process.send_signal(number)
        arm.fault(since, 'interrupted', rest=STOP, acceleration=SMOOTH)
        assert arm.graph.exit_code(arm.runner.process) == 130


@pytest.mark.parametrize('kind, way', [(JTC, 'action'), (JTC, 'topic'), (SCALED, 'action')])
def test_abort_stops_on_the_path(desk, kind, way):
    """By a trajectory that slows down on it."""
    with desk(kind, runner={'interface': way}) as arm:
        spawn(arm, kind)
        arm.begin()
        since = arm.wait_for_full_speed()
        assert arm.runner.call('abort').success
        arm.fault(since, 'aborted by a call', rest=STOP, acceleration=SMOOTH)


# --- what others do ------------------------------------------------------------------------------


def publish(kind, topic):
    """Return what makes another node publish a topic."""
    def join(arm):
        arm.graph.add_node('intruder', '/elsewhere').create_publisher(kind, topic, 10)

    return join


def stall(arm):
    """Let the controllers do nothing for a while."""
    arm.managers[0].send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    arm.managers[0].send_signal(signal.SIGCONT)


OTHERS = {
    # What happens in full motion, the words of the fault, the time to rest, the acceleration.
    'preempted': (
        lambda arm: arm.preempt(JTC), f'{JTC} ended the motion with code -1', 3.0, SMOOTH
    ),
    'deactivated': (lambda arm: arm.switch([], [JTC]), f'{JTC} is inactive', 0.5, HARD),
    'switched': (lambda arm: arm.switch([OTHER], [JTC]), f'{JTC} is inactive', 0.5, HARD),
    'stalled': (stall, 'no joint state for', 1.5 + STOP, HARD),
    'commands': (
        publish(JointTrajectory, f'/{JTC}/joint_trajectory'), 'no other node may command', STOP,
        SMOOTH,
    ),
    'joint states': (publish(JointState, '/joint_states'), 'one arm is wanted', STOP, SMOOTH),
}


@pytest.mark.parametrize('way', ['action', 'topic'])
@pytest.mark.parametrize('event, words, rest, acceleration', OTHERS.values(), ids=OTHERS)
def test_what_others_do_is_a_fault(desk, way, event, words, rest, acceleration):
    """At rest soon, with the words of what it was, and nothing goes on."""
    with desk(runner={'interface': way}) as arm:
        spawn(arm)
        arm.spawn(OTHER, inactive=True)
        arm.begin()
        since = arm.wait_for_full_speed()
        event(arm)
        if (event, way) == (OTHERS['preempted'][0], 'topic'):
            # Of a topic nobody tells that it is not followed any more.
            words = 'tracking error of'
        arm.fault(since, words, rest=rest, acceleration=acceleration)


@pytest.mark.parametrize('kind', [JTC, SCALED])
@pytest.mark.parametrize('decelerates', [True, False])
def test_a_goal_that_another_client_cancels(desk, kind, decelerates):
    """The controller slows down as its parameters say, else it holds; the dry run says which."""
    changes = {'constraints': {'decelerate_on_cancel': True}, 'each': {
        'max_deceleration_on_cancel': 5.0
    }} if decelerates else {}
    with desk(kind, **changes) as arm:
        spawn(arm, kind)
        arm.begin(dry_run=True)
        said = 'is slowed down' if decelerates else 'or aborted is held at once'
        assert f'a goal that is cancelled {said}' in arm.runner.state[1]
        arm.begin(dry_run=False)
        since = arm.wait_for_full_speed()
        arm.cancel_all(kind)
        arm.fault(
            since, 'another client cancelled', rest=1.0, acceleration=12.0 if decelerates else HARD
        )


def test_a_manager_that_is_killed(desk):
    """Nobody knows where the arm is: it says so, and whom to turn to."""
    with desk() as arm:
        spawn(arm)
        arm.begin()
        arm.wait_for_full_speed()
        arm.managers[0].kill()
        reason = arm.wait_for('FAULT')
        print(reason)
        assert reason.startswith('NOT verified at rest after: ')
        assert 'stop the program on the pendant' in reason


def test_a_recorder_that_is_killed(desk, tmp_path):
    """What is not recorded is stopped."""
    with desk(runner={'require_recorder': True}) as arm:
        spawn(arm)
        arm.record(tmp_path / 'bag')
        arm.begin()
        since = arm.wait_for_full_speed()
        arm.graph.kill(arm.recorder)
        arm.fault(since, 'no sign of life', rest=0.9 + STOP, acceleration=SMOOTH)


# --- tolerances of the controller ----------------------------------------------------------------


@pytest.mark.parametrize('kind', [JTC, SCALED])
def test_constraints_that_are_too_tight(desk, kind):
    """The controller gives the motion, or the way to its start, up by itself, and holds."""
    with desk(kind, each={'trajectory': 2e-5}) as arm:
        spawn(arm, kind)
        since = time.time()
        arm.begin()
        arm.fault(since, f'{kind} ended the motion with code -4', rest=30.0, acceleration=HARD)


@pytest.mark.parametrize('kind', [JTC, SCALED])
def test_an_arm_beside_its_commands(desk, kind):
    """Nothing is planned for an arm that is held beside where its controller holds it."""
    with desk(kind, runner={'offset': 0.02}) as arm:
        spawn(arm, kind)
        arm.runner.configure(arm__sha256=arm.trajectory.sha256)
        arm.runner.arm()
        answer = arm.runner.call('execute')
        assert not answer.success
        assert f'{kind} holds it, at most 0.01 rad' in answer.message


# --- speed scaling -------------------------------------------------------------------------------


@pytest.mark.parametrize('kind', [JTC, SCALED])
def test_half_the_speed_is_no_fault(desk, kind):
    """From full motion on, by the hardware's scaling, or what the controller is told."""
    with desk(kind) as arm:
        spawn_at_full_scaling(arm, kind)
        arm.begin()
        arm.wait_for_full_speed()
        set_scaling(arm, kind, 0.5)
        # A busy machine takes tenths of a second to set it.
        since = time.time()
        check_done(arm)
        assert arm.movement(since + 0.2).speed < 0.55 * arm.fastest


@pytest.mark.parametrize('kind', [JTC, SCALED])
def test_no_speed_for_too_long_is_a_fault(desk, kind):
    """After `scaling_timeout`; what the controller holds is taken back."""
    with desk(kind, runner={'scaling_timeout': 2.0}) as arm:
        spawn_at_full_scaling(arm, kind)
        arm.begin()
        since = arm.wait_for_full_speed()
        set_scaling(arm, kind, 0.0)
        arm.fault(since, 'scaling', rest=STOP, acceleration=HARD)
        set_scaling(arm, kind, 1.0)
        time.sleep(2.0)
        assert arm.movement(since + 3.0).speed < 0.005


def spawn_at_full_scaling(arm, kind):
    """
    Spawn a controller that has met the publisher of its scaling.

    It may find one that begins in mid-motion later than the runner does.
    """
    spawn(arm, kind)
    set_scaling(arm, kind, 1.0)


def set_scaling(arm, kind, factor):
    """Let a controller follow with a share of the speed."""
    if kind == SCALED:
        arm.set_slider(factor)
    else:
        arm.tell_scaling(kind, factor)


def test_a_slider_below_the_top_from_the_beginning(desk):
    """The scaled controller states the scaling of its base class, which is always 1."""
    with desk(SCALED) as arm:
        spawn(arm, SCALED)
        arm.set_slider(0.5)
        arm.begin()
        assert check_done(arm).speed < 0.55 * arm.fastest


# --- what is not as it should be -----------------------------------------------------------------


def nothing(arm):
    arm.spawn(BROADCASTER)


def inactive(arm):
    arm.spawn(BROADCASTER)
    arm.spawn(JTC, inactive=True)


def another_type(arm):
    """Activate a controller that takes no trajectories."""
    arm.spawn(BROADCASTER, SLIDER)


def two_managers(arm):
    spawn(arm)
    arm.start_manager({})
    service = '/controller_manager/list_controllers'
    wait_until(lambda: arm.graph.node.count_services(service) == 2, f'a second {service}')


WRONG = {
    'none': (nothing, {}, '0 joint-trajectory controllers are active'),
    'inactive': (inactive, {}, f'{JTC} (inactive)'),
    'another type': (another_type, {}, '0 joint-trajectory controllers are active'),
    'other joints': (spawn, {'joints': 5}, 'is a controller of other joints'),
    'two managers': (two_managers, {}, '2 nodes offer controller_manager/list_controllers'),
}


@pytest.mark.parametrize('prepare, changes, words', WRONG.values(), ids=WRONG)
def test_is_not_armed(desk, ur5e, prepare, changes, words):
    """What is wrong is named, and nothing moves."""
    changed = {'joints': ur5e.joint_names[:5]} if changes else {}
    with desk(**changed) as arm:
        prepare(arm)
        arm.wait_for_joint_states()
        reason = arm.refusal(words)
        arm.report(arm.movement(), reason)
        assert arm.movement().speed == 0.0
        assert not arm.runner.call('execute').success
