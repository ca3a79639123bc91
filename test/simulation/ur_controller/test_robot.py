# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The robot of the simulated controller: its motion, its modes, and the truth in what it says."""

import math
import struct

import numpy as np
import pinocchio as pin
import pytest
import robot_identification as ri
from robot_identification.simulation import (
    MujocoRobot, NOISE_FREE, SimulatedArmOptions, UrOptions, UrRobot,
)
from robot_identification.simulation.ur_controller.control import ControlSession
from robot_identification.simulation.ur_controller.robot import ROBOT_TYPES

START = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
TRUTH_SEED = 3
# Of the driver: kept here as numbers, for the tested code has its own.
SERVO, SPEED, FORWARD, STOP = 1, 2, 3, -2


def make_robot(name='ur5e', **options):
    arm = ri.load_robot(name)
    if not np.all(np.isfinite(arm.drives.drive_gain)):
        arm = arm.with_drive_gains([10.0] * 6)
    truth = SimulatedArmOptions().truth(arm, TRUTH_SEED)
    return UrRobot(
        arm, truth, MujocoRobot(arm, truth, NOISE_FREE, START), UrOptions(**options)
    )


def moved(*way):
    """Return where the arm begins, with its first joints moved by this [rad]."""
    return START + np.pad(way, (0, 6 - len(way)))


class Driver:
    """The driver's side of External Control: bytes as its interfaces pack them."""

    def __init__(self, robot):
        self.robot = robot
        self.program = robot.start('externalControl')
        self.sockets = {
            name: ControlSession(robot, self.program, f'{name}_socket')
            for name in ('reverse', 'trajectory', 'script_command')
        }

    def send(self, socket, *numbers):
        self.sockets[socket].receive(struct.pack(f'>{len(numbers)}i', *numbers))

    def command(self, mode, values, timeout=0.04):
        self.send('reverse', round(1e3 * timeout), *(round(1e6 * v) for v in values), mode)

    def forward(self, action, points=0, timeout=1.0):
        self.send('reverse', round(1e3 * timeout), action, points, 0, 0, 0, 0, FORWARD)

    def spline(self, q, dq, time, ddq=None):
        numbers = [*q, *dq, *([0.0] * 6 if ddq is None else ddq), time]
        self.send('trajectory', *(round(1e6 * v) for v in numbers), 1 if ddq is None else 2, 51)

    def results(self):
        data = self.sockets['trajectory'].cycle()
        return list(struct.unpack(f'>{len(data) // 4}i', data))

    def step(self, seconds, keep=True):
        """Step for some time; the peak of the true speed, and the reference's jerkiest change."""
        speeds, self.accelerations = [], []
        for cycle in range(round(seconds / self.robot.period)):
            if keep and cycle % 50 == 0:
                self.forward(0)
            self.robot.step()
            speeds.append(np.abs(self.robot.arm.true_sample().dq).max())
            self.accelerations.append(np.abs(self.robot.reference.ddq).max())
        return max(speeds)


@pytest.mark.parametrize('name', sorted(ROBOT_TYPES))
def test_every_arm_of_universal_robots_stands_still(name):
    """At its rate, within a milliradian, in a pose that bends every joint."""
    robot = make_robot(name)
    assert robot.rate == pytest.approx(125.0 if name in ('ur3', 'ur5', 'ur10') else 500.0)
    assert robot.version[0] == (3 if name in ('ur3', 'ur5', 'ur10') else 5)
    for _ in range(50):
        robot.step()
    np.testing.assert_allclose(robot.sample.q, START, atol=1e-3)


@pytest.mark.parametrize('name', ['ur5e', 'ur5'])  # 500 Hz, and CB3 with 125 Hz
def test_a_servo_follows_with_the_lag_of_its_lookahead(name):
    """A ramp of 0.5 rad/s is followed 0.03 s behind, to 1 % of that way after ten lags."""
    driver = Driver(make_robot(name))
    period, robot = driver.robot.period, driver.robot
    for cycle in range(round(0.6 / period)):
        target = moved(0.5 * cycle * period)
        driver.command(SERVO, target)
        robot.step()
    lag = (target - robot.reference.q)[0] / 0.5
    # What is commanded in a cycle is followed in it.
    assert lag == pytest.approx(0.03 - period, abs=0.05 * 0.03 + period)
    assert robot.reference.dq[0] == pytest.approx(0.5, rel=1e-3)
    # The arm follows its reference: its servo of 12 Hz has the acceleration beforehand.
    np.testing.assert_allclose(robot.arm.true_sample().q, robot.reference.q, atol=0.02)


@pytest.mark.parametrize('late', ['network', 'robot'])
def test_commands_that_come_late_do_not_shake_the_arm(late):
    """At 1 rad/s with two cycles late in five: below 2 rad/s^2, where 500 is between commands."""
    driver, rng = Driver(make_robot()), np.random.default_rng(2)
    pending, steps, worst = [], 0, 0.0
    for cycle in range(500):
        pending.append(moved(0.002 * cycle))
        steps += 1
        is_late = rng.uniform() < 0.4
        if is_late and late == 'robot':
            continue  # It steps more often later.
        if not is_late:
            for target in pending:
                driver.command(SERVO, target, timeout=1.0)
            pending = []
        for _ in range(steps):
            driver.robot.step()
            worst = max(worst, np.abs(driver.robot.reference.ddq).max() if cycle > 50 else 0.0)
        steps = 0
    assert worst < 2.0


def test_a_paused_servo_stays_where_it_was_commanded():
    """
    A driver is slowed by both factors, and silent while paused; then it goes on.

    A change of the slider takes 7 rad/s^2 at 1 rad/s, for both factors change by 4 in a second.
    """
    driver, way, time = Driver(make_robot()), 0.0, 0.0
    robot = driver.robot
    for cycle in range(1500):
        if cycle in (200, 300):
            robot.slider = 0.3 if cycle == 200 else 1.0
        if cycle == 400:
            robot.pause()
        if cycle == 900:
            assert robot.is_at_rest and abs(robot.reference.q[0] - way) < 1e-4
            robot.resume()
        way += 0.002 * robot.fraction * robot.scaling * min(1.0, time)
        time += 0.002
        if robot.runtime in (2, 3):
            driver.command(SERVO, moved(way), timeout=0.04)
        robot.step()
        assert np.abs(robot.reference.ddq).max() < 12.0 and robot.program is not None


def test_a_driver_that_falls_silent_stops_the_arm():
    """After its timeout the program ends, and the arm rests at 4 rad/s^2, as UR's stopj(4)."""
    driver = Driver(make_robot())
    for cycle in range(200):
        driver.command(SERVO, moved(1.0 * cycle * 0.002), timeout=0.04)
        driver.robot.step()
    peak = driver.step(0.04 + 1.1 / 4.0 + 0.2, keep=False)
    assert 'no message' in driver.program.finished and driver.robot.program is None
    assert driver.robot.is_at_rest and peak < 1.1
    assert max(driver.accelerations[25:]) <= 4.0 + 1e-9


@pytest.mark.parametrize('kind', ['cubic', 'quintic'])
def test_splines_end_where_they_say_and_pass_their_points(kind):
    """A trajectory of SciPy's polynomials is followed to 1e-5 rad: numbers come in millionths."""
    from scipy.interpolate import BPoly
    rng = np.random.default_rng(4)
    times = np.array([0.0, 0.7, 1.5, 2.0])
    q = START + np.vstack([np.zeros(6), rng.uniform(-0.3, 0.3, (3, 6))])
    dq = np.vstack([np.zeros(6), rng.uniform(-0.2, 0.2, (2, 6)), np.zeros(6)])
    ddq = np.vstack([np.zeros(6), rng.uniform(-0.5, 0.5, (2, 6)), np.zeros(6)])
    rows = [q, dq] if kind == 'cubic' else [q, dq, ddq]
    truth = BPoly.from_derivatives(times, np.stack(rows, axis=1))
    driver = Driver(make_robot())
    driver.forward(1, 3)
    for k in range(1, 4):
        driver.spline(q[k], dq[k], times[k] - times[k - 1], None if kind == 'cubic' else ddq[k])
    for cycle in range(1, 1001):
        driver.robot.step()
        if cycle % 50 == 0:
            driver.forward(0)
        np.testing.assert_allclose(driver.robot.reference.q, truth(cycle * 0.002), atol=1e-5)
    driver.step(0.01)
    assert driver.results() == [0] and driver.robot.is_at_rest


@pytest.mark.parametrize('way', ['cancel', 'no point', 'too fast', 'another mode'])
def test_a_trajectory_that_ends_early_says_so_and_stops_at_4_rad_s2(way):
    driver = Driver(make_robot())
    driver.forward(1, 2)
    driver.spline(START + 0.5, [0.3] * 6, 1.0)
    if way == 'too fast':
        driver.spline(START + 30.0, [0.0] * 6, 1.0)
    driver.step(0.8)
    assert driver.results() == []
    if way == 'cancel':
        driver.forward(-1)
        # The second point was on its way: it is none of the next trajectory.
        driver.spline(START - 1.0, [0.0] * 6, 1.0)
    if way == 'another mode':
        driver.command(SPEED, [0.0] * 6, timeout=1.0)
    peak = driver.step(0.8, keep=way != 'another mode')
    assert driver.results() == [2 if way == 'no point' else 1]
    # speedj brakes at 40 rad/s^2.
    assert max(driver.accelerations[110:]) <= (40.0 if way == 'another mode' else 4.0) + 1e-9
    assert driver.robot.is_at_rest and peak < 1.0
    if way == 'cancel':
        here = driver.robot.reference.q
        driver.forward(1, 1)
        driver.spline(here + 0.1, [0.0] * 6, 1.0)
        driver.step(1.1)
        np.testing.assert_allclose(driver.robot.reference.q, here + 0.1, atol=2e-6)


def moving_driver():
    """Return a driver in a spline at about 0.9 rad/s in joint 1."""
    driver = Driver(make_robot())
    driver.forward(1, 1)
    driver.spline(moved(1.5), [0.0] * 6, 3.0, [0.0] * 6)
    driver.step(1.5)
    assert driver.robot.arm.true_sample().dq[0] > 0.85
    return driver


@pytest.mark.parametrize(('act', 'within', 'acceleration', 'mode'), [
    ('pause', 0.3, 6.0, 'RUNNING'), ('stop', 0.3, 4.0, 'RUNNING'),
    ('protective_stop', 0.1, 15.0, 'RUNNING'), ('emergency_stop', 0.1, 15.0, 'POWER_OFF'),
    ('power_off', 0.3, 4.0, 'POWER_OFF'),
])
def test_whatever_stops_the_arm_stops_it_in_time(act, within, acceleration, mode):
    """The true arm never gets faster, brakes within the limit, and rests in time."""
    driver = moving_driver()
    robot = driver.robot
    before = np.abs(robot.arm.true_sample().dq).max()
    getattr(robot, act)()
    assert driver.step(within) <= before + 0.05
    assert max(driver.accelerations) <= acceleration + 1e-6
    driver.step(0.3)
    assert np.abs(robot.arm.true_sample().dq).max() < 2e-3
    assert robot.robot_mode.name == mode
    if act in ('pause', 'protective_stop'):
        robot.unlock()
        assert robot.resume()
        driver.step(3.0)
        assert driver.results() == [0]
        np.testing.assert_allclose(robot.reference.q, moved(1.5), atol=1e-5)
    else:
        assert robot.program is None and not robot.resume()


@pytest.mark.parametrize('attack', ['spline', 'servo', 'speed'])
def test_nothing_that_is_sent_throws_the_arm(attack):
    """
    Numbers as large as they can be: the true arm stays near.

    The reference keeps to 1.1 of the limit; motors at their own limit overshoot it by a quarter.
    """
    driver, huge = Driver(make_robot()), 2140.0
    driver.forward(1, 2)
    driver.step(0.1)
    if attack == 'spline':
        driver.spline(START, [huge] * 6, 1e-6)
        driver.spline(START + huge, [-huge] * 6, huge, [huge] * 6)
    peak = 0.0
    for cycle in range(500):
        if attack == 'servo':
            driver.command(SERVO, START + 0.039 * (cycle + 1), timeout=1.0)
        if attack == 'speed':
            driver.command(SPEED, [huge] * 6, timeout=1.0)
        peak = max(peak, driver.step(0.002, keep=attack == 'spline'))
    assert driver.robot.safety_mode.name == 'PROTECTIVE_STOP' or driver.results()
    assert peak < 1.4 * driver.robot.limits.velocity.max()
    assert np.abs(driver.robot.arm.true_sample().q - START).max() < 1.0
    assert np.abs(driver.robot.arm.true_sample().dq).max() < 0.01


def test_points_that_never_came_are_waited_for_no_longer_than_half_a_second():
    """Of a trajectory that was cancelled; the next one takes its own."""
    driver = Driver(make_robot())
    driver.forward(1, 3)
    driver.spline(moved(0.1), [0.0] * 6, 0.5)
    driver.step(0.1)
    driver.forward(-1)
    driver.step(0.7)
    driver.results()
    here = driver.robot.reference.q
    driver.forward(1, 1)
    driver.spline(here + 0.1, [0.0] * 6, 0.5)
    driver.step(0.6)
    assert driver.results() == [0]


def test_an_arm_that_is_driven_out_of_its_limits_is_stopped():
    driver = Driver(make_robot())
    for cycle in range(400):
        driver.command(SPEED, [0.0, 0.0, 2.5 if cycle > 100 else 5.0, 0.0, 0.0, 0.0], timeout=1.0)
        driver.robot.step()
        if driver.robot.safety_mode.name == 'PROTECTIVE_STOP':
            break
    assert any('joint 3' in text for text in driver.robot.messages)
    assert driver.step(0.5, keep=False) < 1.2 * math.pi


def test_a_robot_at_rest_states_currents_that_hold_gravity():
    """Current times the true gain is Pinocchio's gravity torque of the true bodies and no more."""
    robot = make_robot()
    record, arm = robot.truth_record(), ri.load_robot('ur5e')
    # Moved links heavier by a factor, with shifted centres: by Pinocchio, which MuJoCo is not.
    model = arm.pinocchio.copy()
    for joint, (factor, shift) in enumerate(zip(
        record['mass_factor'], record['centre_shift'], strict=True
    ), start=1):
        body = model.inertias[joint]
        model.inertias[joint] = pin.Inertia(
            body.mass * factor, body.lever + np.array(shift), body.inertia * factor
        )
    for _ in range(500):
        robot.step()
    gravity = pin.computeGeneralizedGravity(model, model.createData(), robot.sample.q)
    np.testing.assert_allclose(
        robot.sample.effort * record['drive_gain'], gravity, rtol=1e-5, atol=1e-4
    )


def test_the_pose_and_the_speed_of_the_flange_are_pinocchios():
    """The base frame of UR is half a turn away from the description's."""
    robot, arm = make_robot(), ri.load_robot('ur5e')
    q, dq = moved(0.4, -0.3, 0.2, 0.5, -0.2, 1.0), np.arange(1.0, 7.0)
    model = arm.pinocchio
    data = model.createData()
    frame = model.getFrameId('tool0')
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    turn = pin.utils.rotate('z', math.pi)
    placement = pin.SE3(turn, np.zeros(3)) * data.oMf[frame]
    pose = robot.tool_pose(q)
    np.testing.assert_allclose(pose[:3], placement.translation, atol=1e-4)
    np.testing.assert_allclose(pin.exp3(pose[3:]), placement.rotation, atol=1e-4)
    J = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    np.testing.assert_allclose(
        robot.tool_speed(q, dq), np.concatenate([turn @ (J @ dq)[:3], turn @ (J @ dq)[3:]]),
        atol=1e-3,
    )


def test_what_is_recorded_of_it_identifies_its_truth():
    """A model of one spline motion predicts the true current of another, to 2 % of its spread."""
    robot, logs = make_robot(), []
    driver = Driver(robot)
    rng = np.random.default_rng(1)
    for _ in range(2):
        rows = []
        for _ in range(12):
            driver.forward(1, 1)
            driver.spline(START + rng.uniform(-1.0, 1.0, 6), [0.0] * 6, 1.6, [0.0] * 6)
            for cycle in range(810):
                if cycle % 50 == 0:
                    driver.forward(0)
                robot.step()
                rows.append((robot.time, robot.sample.q, robot.sample.dq, robot.sample.effort))
            assert driver.results() == [0]
        t, q, dq, effort = (np.array(column) for column in zip(*rows, strict=True))
        logs.append(ri.Recording.from_arrays(t, q, effort, dq=dq, unit='A'))
    arm = ri.load_robot('ur5e', drive_gains=robot.truth_record()['drive_gain'])
    found = ri.identify(arm, logs[0])
    assert np.all(ri.validate(found.model, logs[1]).nrmse < 0.02)
