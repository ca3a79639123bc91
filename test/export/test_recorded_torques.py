# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Exports of a UR5 that was identified predict a recording of another motion as the model does.

The arm is MuJoCo's, with friction and rotors of its own and sensor noise; it is identified as it
comes. The URDF has bodies and plain friction, and its comment the rotors; the model has friction
of more terms, which is compared apart.
"""

import re

from known_models import pinocchio_torque
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.export.urdf import export_urdf
from robot_identification.model import parse_urdf
from robot_identification.processing.loading import load_for_model


@pytest.fixture(scope='module')
def recorded(identification, scene):
    """Return the model, a motion that it has not seen, and its torques."""
    model = identification.model
    dataset, _ = load_for_model(model, scene('ur5').bags[1])
    measured = model.robot.drives.to_torque(dataset.effort[::5])
    return model, dataset.motion.part(slice(0, None, 5)), measured


def rms(values):
    """Return the root mean square of each joint."""
    return np.sqrt(np.mean(values**2, axis=0))


def rotors_of_comment(text, names):
    """Return the reflected inertias that the URDF's comment states."""
    return np.array([float(re.search(f'{name} ([-0-9.e]+)', text)[1]) for name in names])


def test_plain_friction_of_the_urdf_comes_near(recorded):
    """The file alone, with the rotors of its comment, explains the recording, too."""
    # What plain friction lacks is the passage through rest, and friction that grows with the load.
    # At most three times the model's error is left (2.3 in joint 2, whose load varies most), and a
    # sixth of that of the description with which the identification began (0.12).
    model, motion, measured = recorded
    text = export_urdf(model)
    arm = pin.buildModelFromXML(text)
    arm.armature = rotors_of_comment(text, model.robot.joint_names)
    plain = [
        (float(dynamics[1]), float(dynamics[2]))
        for dynamics in re.finditer('<dynamics damping="(.*?)" friction="(.*?)"', text)
    ]
    assert len(plain) == model.robot.n == len(parse_urdf(text, 'exported').joints)
    viscous, coulomb = np.array(plain).T
    torque = pinocchio_torque(arm, motion) + viscous * motion.dq \
        + coulomb * np.tanh(motion.dq / 0.01)
    found = rms(measured - torque)
    described = rms(measured - pinocchio_torque(model.robot.pinocchio, motion))
    assert np.all(found < 3.0 * rms(measured - model.torque(motion)))
    assert np.all(found < described / 6.0)
