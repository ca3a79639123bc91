# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Models of known arms whose parameters are set by name, or are those of a simulated truth."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import parse_friction
from robot_identification.model.identified_model import IdentifiedModel, SignalSource
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.robot_model import JointLimits
from robot_identification.processing import Dataset
from robot_identification.simulation.mujoco_robot import true_inertial_parameters


def base_of(robot, friction='none', rotors=False, **options):
    """Return the base parameters of an arm with some friction laws."""
    return reduce_to_base(
        robot, make_standard_parameters(robot.n, parse_friction(friction), rotors), **options
    )


def made_up_dataset(names, motion, effort, rate, unit='Nm', **more):
    """Return a dataset of exact kinematics in which every sample counts."""
    every = np.ones(len(motion), dtype=bool)
    return Dataset(
        'made up', names, np.arange(len(motion)) / rate, motion, effort, unit, every, every,
        (slice(0, len(motion)),), {}, rate, (), **more,
    )


def limited(robot, effort):
    """Return an arm with another effort limit [N m], of each joint or of all."""
    old = robot.limits
    return replace(robot, limits=JointLimits(
        old.lower, old.upper, old.velocity, old.acceleration, np.full(robot.n, effort)
    ))


def known_model(robot, friction='none', theta_bodies=None, **values):
    """Return a model with some bodies and named parameters of all joints or each: `fc=[..]`."""
    reduction = base_of(robot, friction, rotors=True)
    parameters = reduction.parameters
    theta = np.zeros(parameters.size)
    if theta_bodies is not None:
        theta[: 10 * robot.n] = theta_bodies
    for symbol, value in values.items():
        for joint, one in enumerate(np.broadcast_to(value, robot.n)):
            theta[parameters.names.index(f'{symbol}{joint + 1}')] = one
    return IdentifiedModel(
        robot, 'Nm', reduction, reduction.K @ theta, np.eye(reduction.rank), None, '',
        SignalSource(), {}, {},
    )


def true_pinocchio(robot, truth):
    """Return Pinocchio's model of the bodies and rotors of a truth, changed by hand."""
    model = robot.pinocchio.copy()
    for index in range(robot.n):
        body, factor = model.inertias[index + 1], truth.mass_factor[index]
        model.inertias[index + 1] = pin.Inertia(
            factor * body.mass, body.lever + truth.centre_shift[index], factor * body.inertia
        )
    model.armature = truth.reflected_inertia
    return model


def pinocchio_torque(model, motion):
    """Return the torques (N, n) that a motion has in a model of Pinocchio."""
    data = model.createData()
    return np.array([
        pin.rnea(model, data, *sample)
        for sample in zip(motion.q, motion.dq, motion.ddq, strict=True)
    ])


def mujoco_torque(mujoco, model, motion, names, locked=None):
    """Return the torques (N, n) of bodies and rotors alone that named joints have in MuJoCo."""
    model.dof_damping[:], model.dof_frictionloss[:] = 0.0, 0.0
    model.opt.disableflags |= (
        mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_ACTUATION
    )
    data, found = mujoco.MjData(model), []
    for name, position in (locked or {}).items():
        data.joint(name).qpos = position
    places = [model.joint(name).qposadr[0] for name in names]
    dofs = [model.joint(name).dofadr[0] for name in names]
    for q, dq, ddq in zip(motion.q, motion.dq, motion.ddq, strict=True):
        data.qpos[places], data.qvel[dofs], data.qacc[dofs] = q, dq, ddq
        mujoco.mj_inverse(model, data)
        found.append(data.qfrc_inverse[dofs].copy())
    return np.array(found)


def gravity_torque(model, q):
    """Return the torque [N m] that gravity has in a model of Pinocchio."""
    return pin.computeGeneralizedGravity(model, model.createData(), q)


def true_model(robot, truth):
    """Return the model of a simulated truth, but for what makes its joints stick."""
    return known_model(
        robot, 'coulomb,viscous', true_inertial_parameters(robot, truth), fc=truth.coulomb,
        fv=truth.viscous, Ia=truth.reflected_inertia,
    )
