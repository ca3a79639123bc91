# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The simulated robot is what its truth says, by Pinocchio, which takes no part in it."""

from known_models import gravity_torque, true_pinocchio
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.model import gravity_of_mounting, load_robot
from robot_identification.simulation import (
    draw_truth, MujocoRobot, NOISE_FREE, Sensors, true_inertial_parameters,
)
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import PHYSICS_STEP

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')

NAMES = ('ur5', 'ur10e', 'ur5e', 'youbot', 'mixed')


def arm(robots, name):
    robot = robots[name]
    if not np.all(np.isfinite(robot.drives.drive_gain)):
        robot = robot.with_drive_gains(np.linspace(3.0, 9.0, robot.n))
    return robot.with_gravity(gravity_of_mounting(0.3, -0.2, 0.1))


def reference(robot, time):
    """Return a smooth, lively reference within the limits."""
    phase = np.arange(robot.n)
    q = 0.15 * np.sin(4.0 * time + phase)
    return q, 0.6 * np.cos(4.0 * time + phase), -2.4 * np.sin(4.0 * time + phase)


@pytest.mark.parametrize('name', NAMES)
def test_current_is_inverse_dynamics_and_friction_over_the_true_gain(robots, name):
    """The torque of each step against Pinocchio's inverse dynamics of that very step."""
    robot = arm(robots, name)
    truth = draw_truth(robot, 3)
    model = true_pinocchio(robot, truth)
    data = model.createData()
    simulator = MujocoRobot(robot, truth, NOISE_FREE, reference(robot, 0.0)[0])
    largest = 0.0
    for step in range(400):
        before = simulator.true_sample()
        simulator.advance(*reference(robot, step * PHYSICS_STEP), PHYSICS_STEP)
        after = simulator.true_sample()
        acceleration = (after.dq - before.dq) / PHYSICS_STEP
        friction = truth.coulomb * np.tanh(before.dq / truth.velocity_width) \
            + truth.viscous * before.dq
        expected = pin.rnea(model, data, before.q, before.dq, acceleration) + friction
        torque = after.effort * truth.drive_gain
        # MuJoCo's Euler step is v' = v + h a exactly, so a is a difference of velocities: it
        # rounds at 1e-16 / 5e-4 times inertias below 20 kg m^2. 1e-8 leaves a margin of 100.
        np.testing.assert_allclose(torque, expected, rtol=1e-8, atol=1e-8 * np.abs(torque).max())
        np.testing.assert_allclose(
            after.q, before.q + PHYSICS_STEP * after.dq, rtol=0, atol=1e-14
        )
        largest = max(largest, np.abs(torque).max())
    assert largest > 5.0, 'and there was something to compare'


@pytest.mark.parametrize('name', NAMES)
def test_true_parameters_are_those_of_the_true_arm(robots, name):
    """Against the prior's parameters changed by hand in Pinocchio; both round at 1e-12."""
    robot = arm(robots, name)
    truth = draw_truth(robot, 5)
    expected = np.concatenate([
        body.toDynamicParameters() for body in list(true_pinocchio(robot, truth).inertias)[1:]
    ])
    np.testing.assert_allclose(true_inertial_parameters(robot, truth), expected, atol=1e-10)


def test_same_seed_same_bytes(robots):
    """True parameters and noise each have their own seed."""
    robot = arm(robots, 'ur5')

    def measure(truth_seed, seed):
        simulator = MujocoRobot(robot, draw_truth(robot, truth_seed), Sensors(), np.zeros(6), seed)
        samples = []
        for step in range(20):
            simulator.advance(*reference(robot, 0.002 * step), 0.002)
            measured, _ = simulator.measure()
            samples.append(np.concatenate([measured.q, measured.dq, measured.effort]))
        return np.array(samples).tobytes()

    assert measure(1, 2) == measure(1, 2)
    assert measure(1, 2) != measure(1, 3)
    assert measure(1, 2) != measure(2, 2)


def test_noise_is_as_stated(robots):
    """At rest, 4000 measurements: a standard deviation is known to 1.1 %, five of them allowed."""
    robot = arm(robots, 'ur5')
    sensors = Sensors(
        position_noise=1e-4, velocity_noise=2e-3, position_quantum=0.0, effort_noise=0.01
    )
    truth = draw_truth(robot, 1)
    simulator = MujocoRobot(robot, truth, sensors, np.zeros(6))
    pairs = [simulator.measure() for _ in range(4000)]
    for field, expected in {
        'q': 1e-4, 'dq': 2e-3, 'effort': 0.01 * robot.limits.effort / truth.drive_gain,
    }.items():
        noise = np.array([getattr(a, field) - getattr(b, field) for a, b in pairs])
        np.testing.assert_allclose(noise.std(axis=0), np.ones(6) * expected, rtol=0.055)
        assert np.all(np.abs(noise.mean(axis=0)) < 5.0 * noise.std(axis=0) / np.sqrt(4000))


def assert_rests(robot, q):
    """Check that the prior's arm at rest is held by gravity's torque alone, by Pinocchio."""
    truth = prior_truth(robot)
    found = MujocoRobot(robot, truth, NOISE_FREE, q).true_sample().effort * truth.drive_gain
    expected = gravity_torque(robot.pinocchio, q)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert np.abs(expected).max() > 1.0
    return found


def test_some_joints_locked(ur5):
    """The bodies behind a locked joint ride along, in both programs."""
    q = np.array([0.1, -1.0, 0.8, 0.0, 0.0, 0.0])
    found = assert_rests(load_robot('ur5', joints=ur5.joint_names[:3]), q[:3])
    np.testing.assert_allclose(found, assert_rests(ur5, q)[:3], rtol=1e-9, atol=1e-9)
