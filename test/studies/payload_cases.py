# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the tests of payloads and drive gains build: a UR5 that carries a known body, by MuJoCo."""

from dataclasses import replace

from builders import joint_states, write_bag
from estimation.arm_problems import arm_problem
import numpy as np
import pytest
from recordings import fourier_motion
from robot_identification.estimation.estimators.least_squares import WeightedLeastSquares
from robot_identification.estimation.uncertainty.covariance import residual_covariance
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import CoulombFriction, FrictionOffset, ViscousFriction
from robot_identification.model.identified_model import IdentifiedModel, SignalSource
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.payload import Payload
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics
from robot_identification.studies.payload.estimate import LoadedRun

# Standard deviation of the torque of each joint [N m]: 0.4 % of its limit, as simulated.
NOISE = np.array([0.6, 0.6, 0.6, 0.112, 0.112, 0.112])
# Static poses in which gravity acts on the shoulder, the elbow and the first wrist [rad].
POSES = np.array([
    [0.0, -0.3, 0.3, -1.2, 1.57, 0.0],
    [0.5, -0.9, 1.2, 0.2, 0.8, 0.5],
    [0.2, -1.2, 0.5, -0.5, 0.3, 1.0],
])
BODY = Payload(
    2.5,
    np.array([0.02, -0.03, 0.08]),
    np.array([[0.012, 0.001, -0.0005], [0.001, 0.010, 0.0008], [-0.0005, 0.0008, 0.006]]),
    'tool0',
)


def carrying(robot, body):
    """Return the arm with the body as a further link of its URDF, for MuJoCo alone."""
    x, y, z = body.center_of_mass
    i = body.inertia
    text = robot.urdf.text.replace('</robot>', (
        f'<link name="tool_body"><inertial><origin xyz="{x} {y} {z}"/><mass value="{body.mass}"/>'
        f'<inertia ixx="{i[0, 0]}" ixy="{i[0, 1]}" ixz="{i[0, 2]}" iyy="{i[1, 1]}" '
        f'iyz="{i[1, 2]}" izz="{i[2, 2]}"/></inertial></link>'
        f'<joint name="tool_body_joint" type="fixed"><parent link="{body.frame}"/>'
        '<child link="tool_body"/></joint></robot>'
    ))
    made = make_robot_model(
        parse_urdf(text, 'carrying'), name=robot.name, joints=robot.joint_names,
        gravity=robot.gravity,
    )
    return replace(
        made, drives=robot.drives, limits=robot.limits, effort_unit=robot.effort_unit,
        sampling_rate=robot.sampling_rate,
    )


def true_arm(robot, seed=3):
    """Return a truth whose last link is that of the URDF: its factor would scale the payload."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    truth = draw_truth(robot, seed)
    factor, shift = truth.mass_factor.copy(), truth.centre_shift.copy()
    factor[-1], shift[-1] = 1.0, 0.0
    return replace(truth, mass_factor=factor, centre_shift=shift)


def moving(robot, seed, samples=1500):
    """Return a motion at 125 Hz and up to 1.6 rad/s, as arms are identified with."""
    return fourier_motion(robot.n, seed, 0.008 * np.arange(samples))


def torque_of_simulator(robot, truth, motion):
    return inverse_dynamics(robot, truth, motion)


def record_pair(robot, truth, bags, samples, seed=0):
    """Write a motion without the body and another one with it, in ampere, to two bags."""
    rng = np.random.default_rng(seed)
    for bag, arm, number in zip(bags, (robot, carrying(robot, BODY)), (1, 2), strict=True):
        motion = moving(robot, number, samples)
        tau = torque_of_simulator(arm, truth, motion)
        tau = tau + NOISE * rng.normal(size=tau.shape)
        stamps = 1.0 + 0.008 * np.arange(samples)
        states = joint_states(
            robot.joint_names, stamps, motion.q, motion.dq, tau / truth.drive_gain
        )
        write_bag(bag, states, {'robot': robot.name, 'effort_unit': 'A'})


def identified(robot, motion, tau):
    """Return the model that weighted least squares find in torques along a motion."""
    # The law of the simulator, as an identification finds it that chooses among laws.
    laws = (CoulombFriction(width=0.02), ViscousFriction(), FrictionOffset())
    reduction = reduce_to_base(
        robot, make_standard_parameters(robot.n, laws, reflected_inertia=True)
    )
    estimate = WeightedLeastSquares().estimate(arm_problem(robot, reduction, motion, tau))
    return IdentifiedModel(
        robot, 'Nm', reduction, estimate.theta, residual_covariance(estimate).matrix, None, '',
        SignalSource(), {}, {},
    )


def bare_model(robot, truth, rng, samples=7500):
    """Return a model of the bare arm from a minute of noisy torques at 125 Hz."""
    motion = moving(robot, 1, samples)
    tau = torque_of_simulator(robot, truth, motion)
    return identified(robot, motion, tau + NOISE * rng.normal(size=tau.shape))


def run_of(motion, tau):
    return LoadedRun(motion, tau, np.ones(len(tau), dtype=bool), 0.008 * len(tau))
