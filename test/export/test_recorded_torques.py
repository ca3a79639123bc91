# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Exports of a UR5 that was identified predict a recording of another motion as the model does.

The arm is MuJoCo's, with friction and rotors of its own and sensor noise; it is identified as it
comes. The URDF has bodies and plain friction, and its comment the rotors; the model has friction
of more terms, which is compared apart.
"""

import re

import numpy as np
import pinocchio as pin
import pytest
from robot_identification.export.mjcf import export_mjcf
from robot_identification.export.pinocchio_model import build_pinocchio_model
from robot_identification.export.urdf import export_urdf
from robot_identification.model.regressor import standard_torque
from robot_identification.model.urdf import parse_urdf
from robot_identification.processing.loading import load_for_model


@pytest.fixture(scope='module')
def recorded(identification, scene):
    """Return the model, a motion that it has not seen, its torques and the model's friction."""
    model = identification.model
    dataset, _ = load_for_model(model, scene('ur5').bags[1])
    motion = dataset.motion.part(slice(0, None, 5))
    measured = model.robot.drives.to_torque(dataset.effort[::5])
    theta = model.theta_consistent.copy()
    theta[: 60] = theta[model.parameters.reflected_inertia_slice] = 0.0
    bodies = model.with_consistent_parameters()
    passed_on = bodies.torque(motion)
    without = standard_torque(
        model.robot, model.parameters, model.theta_consistent - theta, motion
    )
    return model, motion, measured, passed_on - without


def rms(values):
    """Return the root mean square of each joint."""
    return np.sqrt(np.mean(values**2, axis=0))


def rotors_of_comment(text, names):
    """Return the reflected inertias that the URDF's comment states."""
    return np.array([float(re.search(f'{name} ([-0-9.e]+)', text)[1]) for name in names])


def by_pinocchio(arm, motion):
    """Return Pinocchio's torques along a motion."""
    data = arm.createData()
    return np.array([
        pin.rnea(arm, data, *sample)
        for sample in zip(motion.q, motion.dq, motion.ddq, strict=True)
    ])


def by_mujoco(arm, motion):
    """Return MuJoCo's torques of bodies and rotors along a motion."""
    import mujoco

    arm.dof_damping[:] = 0.0
    arm.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data, torque = mujoco.MjData(arm), []
    for sample in zip(motion.q, motion.dq, motion.ddq, strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = sample
        mujoco.mj_inverse(arm, data)
        torque.append(data.qfrc_inverse.copy())
    return np.array(torque)


def test_each_reader_errs_as_the_model_does(recorded):
    """
    RMS errors of torques are those of the model's, consistent or not.

    To 1e-6 of the error where rotors are exact; the comment has six digits of them, which is 1e-5.
    The consistent parameters of this arm have the base parameters, to the solver's 1e-6 or so of
    the torque: 1e-4 of the error is asked against those.
    """
    import mujoco

    model, motion, measured, friction = recorded
    names = model.robot.joint_names
    text = export_urdf(model)
    rotors = rotors_of_comment(text, names)
    from_urdf = pin.buildModelFromXML(text)
    from_urdf.armature = rotors
    simulated = mujoco.MjModel.from_xml_string(text)
    simulated.dof_armature[:] = rotors
    consistent = rms(measured - model.with_consistent_parameters().torque(motion))
    base = rms(measured - model.torque(motion))
    signal = rms(measured)
    assert np.all(consistent < 0.2 * signal), 'an error that is no prediction says nothing'
    for torque, precision in (
        (by_pinocchio(build_pinocchio_model(model), motion), 1e-6),
        (by_mujoco(mujoco.MjModel.from_xml_string(export_mjcf(model)), motion), 1e-6),
        (by_pinocchio(from_urdf, motion), 1e-5),
        (by_mujoco(simulated, motion), 1e-5),
    ):
        found = rms(measured - torque - friction)
        np.testing.assert_allclose(found, consistent, rtol=precision)
        np.testing.assert_allclose(found, base, rtol=1e-4)


def test_plain_friction_of_the_urdf_comes_near(recorded):
    """
    The file alone, with the rotors of its comment, explains the recording, too.

    What plain friction lacks is the passage through rest, and friction that grows with the load.
    At most three times the model's error is left (2.3 in joint 2, whose load varies most), and a
    sixth of that of the description with which the identification began (0.12).
    """
    model, motion, measured, _ = recorded
    text = export_urdf(model)
    arm = pin.buildModelFromXML(text)
    arm.armature = rotors_of_comment(text, model.robot.joint_names)
    plain = [
        (float(dynamics[1]), float(dynamics[2]))
        for dynamics in re.finditer('<dynamics damping="(.*?)" friction="(.*?)"', text)
    ]
    assert len(plain) == model.robot.n == len(parse_urdf(text, 'exported').joints)
    viscous, coulomb = np.array(plain).T
    torque = by_pinocchio(arm, motion) + viscous * motion.dq \
        + coulomb * np.tanh(motion.dq / 0.01)
    found = rms(measured - torque)
    described = rms(measured - by_pinocchio(model.robot.pinocchio, motion))
    assert np.all(found < 3.0 * rms(measured - model.torque(motion)))
    assert np.all(found < described / 6.0)
