# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Elastic joints obey their equations step by step, become rigid, and agree with the inverse."""

from dataclasses import replace

from known_models import true_pinocchio
import numpy as np
import pinocchio as pin
import pytest
from recordings import fourier_motion
from reproductions.elastic import inverse_elastic
from robot_identification.simulation import (
    draw_truth, MujocoRobot, NOISE_FREE, with_elastic_joints, with_warming,
)
from robot_identification.simulation.mujoco_robot import PHYSICS_STEP

STIFFNESS = 1.0e4
PERIOD = 4.0


@pytest.fixture(scope='module')
def truth(ur5):
    """Return a UR5 with the drives' inertia and friction of seed 3."""
    return draw_truth(ur5, 3)


@pytest.fixture(scope='module')
def motion(ur5):
    """One period of links' motion every 2 ms, up to 1.2 rad/s."""
    times = np.arange(2000) * PERIOD / 2000
    return fourier_motion(ur5.n, 1, times, period=PERIOD, speed=1.2)


def link_model(robot, truth):
    """Return Pinocchio's model of the true links, without rotors."""
    return true_pinocchio(robot, replace(truth, reflected_inertia=np.zeros(robot.n)))


@pytest.mark.parametrize('name', ['ur5', 'youbot'])
@pytest.mark.parametrize('damping', [0.0, 3.0])
def test_every_step_obeys_both_equations(robots, motion, name, damping):
    """Links by Pinocchio, rotors by hand, joined by the spring at the end of the step."""
    robot = robots[name]
    n = robot.n
    truth = with_elastic_joints(draw_truth(robot, 3), STIFFNESS, damping=damping)
    model = link_model(robot, truth)
    data = model.createData()
    simulator = MujocoRobot(robot, truth, NOISE_FREE, motion.q[0, :n])
    largest = 0.0
    for k in range(200):
        before = simulator.true_sample()
        simulator.advance(motion.q[k, :n], motion.dq[k, :n], motion.ddq[k, :n], PHYSICS_STEP)
        after = simulator.true_sample()
        spring = STIFFNESS * (after.rotor_q - after.q) + damping * (after.rotor_dq - after.dq)
        link = pin.rnea(model, data, before.q, before.dq, (after.dq - before.dq) / PHYSICS_STEP)
        rotor = truth.reflected_inertia * (after.rotor_dq - before.rotor_dq) / PHYSICS_STEP
        motor = rotor + truth.friction(before.rotor_dq) + spring
        # Accelerations are differences of velocities over 0.5 ms: 1e-16 / 5e-4 times inertias
        # below 20 kg m^2. The spring multiplies the rounding of angles, 1e-16, by 1e4.
        np.testing.assert_allclose(spring, link, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(after.effort * truth.drive_gain, motor, rtol=1e-8, atol=1e-8)
        largest = max(largest, np.abs(after.rotor_q - after.q).max())
    assert largest > 1e-4, 'and the joints gave way'


def test_stiffer_and_stiffer_it_becomes_the_rigid_arm(ur5, truth, motion):
    """The deviation falls with the stiffness, down to rounding."""
    deviations = []
    for stiffness in (1e7, 1e9, 1e11):
        arms = [
            MujocoRobot(ur5, arm, NOISE_FREE, motion.q[0])
            for arm in (truth, with_elastic_joints(truth, stiffness))
        ]
        largest = 0.0
        for q, dq, ddq in zip(motion.q[:200], motion.dq, motion.ddq, strict=False):
            for arm in arms:
                arm.advance(q, dq, ddq, 0.002)
            rigid, elastic = (arm.true_sample() for arm in arms)
            largest = max(largest, np.abs(rigid.q - elastic.q).max())
        deviations.append(largest)
    # At 1e7, 1e9 and 1e11 N m/rad: by a hundred each time, 20 % allowed for second-order terms.
    np.testing.assert_allclose(np.divide(deviations[:-1], deviations[1:]), 100.0, rtol=0.2)
    assert deviations[-1] < 1e-8
    torques = [arm.true_sample().effort * truth.drive_gain for arm in arms]
    np.testing.assert_allclose(*torques, atol=1e-5)


def test_inverse_obeys_the_equations(ur5, truth, motion):
    """Spring and rotor by hand, the link by Pinocchio, derivatives by central differences."""
    arm = with_elastic_joints(with_warming(truth), STIFFNESS, damping=5.0)
    found = inverse_elastic(ur5, arm, motion, PERIOD, temperature=30.0)
    model = link_model(ur5, truth)
    data = model.createData()
    link = np.array([
        pin.rnea(model, data, q, dq, ddq) for q, dq, ddq in zip(*arrays(motion), strict=True)
    ])
    np.testing.assert_allclose(found.joint_torque, link, atol=1e-9)
    bend, rate = found.rotor_q - motion.q, found.rotor_dq - motion.dq
    np.testing.assert_allclose(STIFFNESS * bend + 5.0 * rate, link, atol=1e-8)
    friction = arm.friction(found.rotor_dq, found.joint_torque, 30.0)
    np.testing.assert_allclose(
        found.motor_torque, arm.reflected_inertia * found.rotor_ddq + friction + link, atol=1e-12
    )
    np.testing.assert_allclose(found.current * arm.drive_gain, found.motor_torque, atol=1e-12)
    step = PERIOD / len(bend)
    for values, derivative in (
        (bend, rate), (rate, found.rotor_ddq - motion.ddq),
    ):
        difference = (np.roll(values, -1, axis=0) - np.roll(values, 1, axis=0)) / (2.0 * step)
        # Off by h^2 / 6 of the third derivative, 1e-4 of bends that follow up to 30 rad/s.
        np.testing.assert_allclose(
            difference, derivative, atol=3e-3 * np.abs(derivative).max()
        )


def arrays(motion):
    """Return position, velocity and acceleration."""
    return motion.q, motion.dq, motion.ddq
