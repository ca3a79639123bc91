# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the runner asks for before it moves anything, and what ends a motion."""

import math
import time

from diagnostic_msgs.msg import DiagnosticArray
from diagnostic_msgs.srv import SelfTest
from long_tests import long_test
from nodes.ideal_robot import ATTEMPTS, check_latched_fault, IdealRobot, Runner
import numpy as np
import pytest
from robot_identification.execution.commissioning import (
    CommissioningKey, DRY_RUN, note_stage, record_path, SLOW,
)
from robot_identification.execution.safety import kinematics_sha256
from robot_identification.execution.stop import DURATIONS
from robot_identification.execution.watch import FRESH
from robot_identification.files import read_yaml
from ros_helpers import LATCHED, paused, seconds, state_message, wait_until
from std_msgs.msg import Bool, UInt8


@pytest.fixture
def own_file(trajectory_file, tmp_path):
    """Return a copy of the motion, whose record nobody else writes."""
    path = tmp_path / 'own.yaml'
    path.write_text(trajectory_file.read_text())
    return path


@pytest.fixture
def real_time_desk(graph, ur5, trajectory, trajectory_file):
    """Return the same in real time: faster, a pause of 13 ms makes a state too old for a stop."""
    q = trajectory.sample(np.zeros(1)).q[0] + 0.05
    robot = IdealRobot(graph, ur5, q, factor=1.0)
    return graph, robot, Runner(graph, trajectory_file, trajectory.sha256)


class Recorder:
    """Answers that it records, until it is dead."""

    def __init__(self, graph):
        self._graph, self._node = graph, graph.add_node('bag_recorder')
        self.state, self.died_at, self._service = 'RECORDING', None, None
        self.live()

    def live(self):
        if self._service is None:
            self._service = self._node.create_service(SelfTest, '~/status', self._answer)

    def die(self):
        self._graph.run(self._node.destroy_service, self._service)
        self._service, self.died_at = None, time.monotonic()

    def _answer(self, request, response):
        response.passed = bytes([self.state == 'RECORDING'])
        response.status = state_message(self.state, reason='').status
        return response


def replay_recorder(graph):
    """Play a bag with the states of a recorder that records, ten times a second."""
    node = graph.add_node('rosbag2_player')
    publisher = node.create_publisher(DiagnosticArray, '/bag_recorder/state', LATCHED)
    state = state_message('RECORDING', reason='')
    node.create_timer(0.1, lambda: publisher.publish(state))


def rests_after(robot, runner, told, most=1):
    """Check that FAULT is latched and that at most so many commands came, and none after it."""
    assert len(robot.commands) <= told + most
    check_latched_fault(robot, runner)


# --- before a motion -------------------------------------------------------------------------


def test_a_dry_run_is_the_default_and_sends_nothing(graph, ur5, trajectory, own_file):
    """It plans everything, says what it would do, and is noted as the first stage."""
    q = trajectory.sample(np.zeros(1)).q[0] + 0.05
    robot = IdealRobot(graph, ur5, q)
    runner = Runner(graph, own_file, trajectory.sha256, free={})
    runner.arm()
    answer = runner.call('execute')
    assert answer.success
    assert 'nothing was sent' in answer.message
    assert not runner.call('execute').success
    robot.wait(0.5)
    assert not robot.commands
    run, = read_yaml(record_path(own_file))['runs']
    assert run['stage'] == DRY_RUN
    assert run['sha256'] == trajectory.sha256


def test_an_arm_is_commissioned_stage_by_stage(desk, ur5, trajectory, own_file):
    """Full speed is refused before a dry run, and before a slow run, of this very arm."""
    _, robot, runner = desk
    runner.configure(commissioning=True, trajectory_file=str(own_file))
    assert 'dry run' in runner.refused()
    of_arm = trajectory.sha256, ur5.name, ur5.urdf_sha256, kinematics_sha256(ur5)
    key = CommissioningKey(*of_arm, '')
    note_stage(own_file, key, DRY_RUN, speed=1.0, periods=1, worst_tracking_error=0.0)
    # The same of another arm is no stage of this one.
    other = CommissioningKey(*of_arm, 'another serial number')
    note_stage(own_file, other, SLOW, speed=0.05, periods=1, worst_tracking_error=0.0)
    assert 'slow run' in runner.refused()
    note_stage(own_file, key, SLOW, speed=0.05, periods=1, worst_tracking_error=0.0)
    runner.arm()
    assert not robot.commands


def test_periods_speed_and_knots_are_as_asked(desk, trajectory):
    """Twice the motion at half its speed takes four times as long."""
    _, robot, runner = desk
    runner.configure(periods=2, speed=0.5, knot_rate=25.0)
    runner.execute()
    wait_until(lambda: len(robot.commands) == 2, 'the motion')
    motion = robot.commands[1]
    times = np.array([seconds(point.time_from_start) for point in motion.points])
    # After a rest at its start.
    assert times[-1] - times[0] == pytest.approx(4.0 * trajectory.duration)
    np.testing.assert_allclose(np.diff(times), 2.0 / 25.0, atol=1e-6)


def test_what_moves_is_not_armed(desk):
    """Somebody moves the arm by hand or pendant: it is left alone."""
    _, robot, runner = desk
    robot.drift = 0.1
    robot.wait(0.5)
    assert 'rest' in runner.refused()
    assert not robot.commands


@pytest.mark.parametrize(('topic', 'message', 'word'), [
    ('/simulated_robot/safety_mode', UInt8(data=3), 'PROTECTIVE_STOP'),
    ('/io_and_status_controller/robot_program_running', Bool(data=False), 'program'),
])
def test_an_arm_that_cannot_move_is_not_armed(desk, topic, message, word):
    """The reason names the state."""
    _, robot, runner = desk
    robot.say(topic, message)
    wait_until(lambda: not runner.call('arm').success, 'a refusal')
    assert word in runner.refused()


def test_nothing_moves_unrecorded(desk):
    """Unless told otherwise; the recorder is asked, and what a bag says of one is not heeded."""
    graph, robot, runner = desk
    runner.configure(require_recorder=True)
    replay_recorder(graph)
    robot.wait(4.0)
    assert 'bag_recorder/status' in runner.attempt()
    recorder = Recorder(graph)
    recorder.state = 'IDLE'
    wait_until(lambda: 'IDLE' in runner.attempt(), 'the recorder to be heard')
    recorder.state = 'RECORDING'
    wait_until(lambda: runner.attempt() == 'approaching the start', 'the motion')


def test_one_arming_is_good_for_as_many_executions_as_it_says(desk):
    """Two here, and not a third."""
    _, robot, runner = desk
    runner.configure(arm__executions=2)
    runner.execute()
    for _ in range(2):
        assert runner.reaches('DONE')
        told = len(robot.commands)
        again = runner.call('execute')
        if not again.success:
            break
        assert runner.reaches('EXECUTING')
    assert not again.success
    assert 'not armed' in again.message
    assert len(robot.commands) == told == 4
    content = runner.content
    # Executed as planned, but for the interpolation of knots and the differences of samples.
    criteria = [name.removeprefix('planned ') for name in content if name.startswith('planned ')]
    assert criteria
    for name in criteria:
        planned, executed = (float(content[f'{what} {name}']) for what in ('planned', 'executed'))
        assert executed == pytest.approx(planned, rel=0.05, abs=0.05)


# --- in motion -------------------------------------------------------------------------------


def test_a_robot_that_stops_by_itself_is_not_moved_again(desk):
    """What it followed is taken back where it stands, so that a release moves nothing."""
    _, robot, runner = desk
    runner.execute()
    robot.wait(1.0)
    told = len(robot.commands)
    robot.hold()
    robot.say('/simulated_robot/safety_mode', UInt8(data=3))
    assert 'PROTECTIVE_STOP' in runner.wait_for('FAULT')
    for command in robot.commands[told:]:
        order = [list(command.joint_names).index(joint) for joint in robot.joints]
        end = np.array(command.points[-1].positions)[order]
        assert np.max(np.abs(end - robot.q)) < 0.01
    rests_after(robot, runner, told)


def test_a_slider_that_stays_at_zero_is_a_fault(desk):
    """Within two seconds of the time that is waited for it."""
    _, robot, runner = desk
    runner.configure(scaling_timeout=4.0)
    runner.execute()
    robot.wait(0.5)
    told = len(robot.commands)
    robot.scaling, stopped = 0.0, robot.now
    assert 'slider' in runner.wait_for('STOPPING')
    assert robot.now - stopped < 4.0 + 2.0
    runner.wait_for('FAULT')
    # A stop, and a hold in its place, as it would go on with the slider.
    rests_after(robot, runner, told, most=2)


def test_stops_soon_after_the_recorders_death(real_time_desk):
    """At rest by then; again where the machine let the robot wait until no stop is proved."""
    graph, robot, runner = real_time_desk
    runner.configure(require_recorder=True)
    recorder = Recorder(graph)
    replay_recorder(graph)
    runner.wait_until_found()
    for _ in range(ATTEMPTS):
        recorder.live()
        if not runner.begins():
            continue
        robot.wait(1.0)
        if not runner.reaches('EXECUTING'):
            continue
        told, robot.longest_wait = len(robot.commands), 0.0
        recorder.die()
        reason = runner.wait_for('FAULT')
        rests_after(robot, runner, told)
        lasted = math.inf
        if len(robot.commands) > told:
            end = robot.commands[-1].points[-1].time_from_start
            lasted = robot.arrived_at[-1] + seconds(end) - recorder.died_at
        # 0.8 s without an answer, a tick, and the longest stop that is tried.
        if lasted < 1.1 + DURATIONS[-1] or robot.longest_wait < FRESH:
            break
    assert lasted < 1.1 + DURATIONS[-1], reason
    assert 'sign of life' in reason


def test_a_runner_that_stalls_does_not_take_its_recorder_for_silent(real_time_desk):
    """What it heard meanwhile is yet to be read; the operator looks at the right process."""
    graph, robot, runner = real_time_desk
    runner.configure(require_recorder=True)
    Recorder(graph)
    for _ in range(ATTEMPTS):
        if not runner.begins():
            continue
        robot.wait(1.0)
        if runner.reaches('EXECUTING'):
            break
    told = len(robot.commands)
    with paused(runner.process):
        robot.wait(1.5)
    reason = runner.wait_for('FAULT')
    assert 'did not run' in reason
    rests_after(robot, runner, told)


@pytest.mark.parametrize(('attribute', 'value', 'word'), [
    ('jump', 400.0, 'stamps'),
    pytest.param('effort', np.full(6, 1e3), 'effort', marks=long_test),
])
def test_a_jump_of_the_clock_and_an_excessive_effort_end_it(
    real_time_desk, attribute, value, word
):
    """A stop is sent; again where the machine let the robot wait until no stop is proved."""
    _, robot, runner = real_time_desk
    usual, stops = getattr(robot, attribute), 0
    for _ in range(ATTEMPTS):
        setattr(robot, attribute, usual)
        if not runner.begins():
            continue
        # While it begins, an arm that rests may have been halted as well.
        wait_until(lambda: np.max(np.abs(robot.dq)) > 0.3, 'a speed that tells where it is')
        told, robot.longest_wait = len(robot.commands), 0.0
        setattr(robot, attribute, value)
        reason = runner.wait_for('FAULT')
        assert word in reason
        rests_after(robot, runner, told)
        stops = len(robot.commands) - told
        if stops or robot.longest_wait < FRESH:
            break
    assert stops == 1, reason
