# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A simulator that reads the exported URDF has the identified arm."""

from dataclasses import replace
import xml.etree.ElementTree as ElementTree

from builders import FINGERS, joint, link, robot_urdf
from export.exported_models import model_of
import numpy as np
import pytest
from robot_identification.export.urdf import export_urdf
from robot_identification.model import (
    load_robot, make_robot_model, parse_urdf, prior_inertial_parameters,
)
from scipy.optimize import lsq_linear

KEPT_PART = (
    'Bodies without a moving joint of their own, with the part of their inertia that was found'
)


def read_again(text, robot):
    """Return Pinocchio's model of a URDF text, joints locked as in the robot."""
    again = make_robot_model(parse_urdf(text, 'exported'), joints=robot.joint_names,
                             gravity=robot.gravity)
    return again.pinocchio


def test_friction_and_rotors_have_their_place(ur5):
    """Viscous is damping, Coulomb of either kind is friction, rotors stand in the comment."""
    model = model_of(ur5, prior_inertial_parameters(ur5))
    text = export_urdf(model)
    root = ElementTree.fromstring(text)
    joints = {element.get('name'): element for element in root.findall('joint')}
    for number, name in enumerate(ur5.joint_names):
        found = joints[name].findall('dynamics')
        assert len(found) == 1
        row = [model.parameters.names.index(f'{symbol}{number + 1}') for symbol in ('fv', 'fc')]
        damping, friction = model.theta_consistent[row]
        assert float(found[0].get('damping')) == pytest.approx(damping)
        assert float(found[0].get('friction')) == pytest.approx(friction)
    fixed = joints['flange-tool0']
    assert fixed.find('dynamics') is None
    # The first two are seen only in combinations; the others are identified alone.
    index = model.parameters.reflected_inertia_slice.start
    assert f'wrist_3_joint {model.theta_consistent[index + 5]:.6g}' in text.split('-->')[0]


def test_friction_that_would_drive_is_not_exported(ur5):
    """A negative coefficient would feed energy into a simulation."""
    model = model_of(ur5, prior_inertial_parameters(ur5))
    theta = model.theta_consistent.copy()
    theta[model.parameters.names.index('fv4')] = -0.5
    root = ElementTree.fromstring(export_urdf(replace(model, theta_consistent=theta)))
    dynamics = root.find("joint[@name='wrist_1_joint']/dynamics")
    assert float(dynamics.get('damping')) == 0.0


@pytest.mark.parametrize('quality', [
    {}, {'speeds': [0.2, 0.5, 1.0, 1.5, 2.0, 3.0], 'loads': [0.0, 30.0, 20.0, 5.0, 4.0, 1.0]},
])
def test_a_dictionary_is_exported_as_the_nearest_plain_friction(ur5, quality):
    """
    Over the speeds and at the loads that the model was found at, or up to 1 rad/s without load.

    By squares of the difference from 0.05 rad/s to that speed, neither of the two negative.
    """
    model = model_of(
        ur5, prior_inertial_parameters(ur5), 'dictionary,offset', quality=quality
    )
    root = ElementTree.fromstring(export_urdf(model))
    joints = {element.get('name'): element for element in root.findall('joint')}
    lifted, law = model.theta_lifted, model.parameters.friction[0].law
    for index, name in enumerate(ur5.joint_names):
        _, columns = model.parameters.friction_columns[index]
        coefficients = dict(zip(law.symbols, lifted[columns], strict=True))
        speeds = np.linspace(0.05, quality.get('speeds', [1.0] * 6)[index], 100)
        load = quality.get('loads', [0.0] * 6)[index]
        curve = np.zeros(100)
        for (kind, constant), value in zip(law.terms, coefficients.values(), strict=True):
            size = load if kind.startswith('load') else 1.0
            shape = {
                'viscous': constant * speeds, 'presliding': 1.0,
                'sliding': np.tanh(speeds / constant),
                'stribeck': np.tanh(speeds / 0.01) * np.exp(-(speeds / constant) ** 2),
            }[kind.removeprefix('load_')]
            curve += value * size * shape
        friction, damping = lsq_linear(
            np.column_stack([np.ones(100), speeds]), curve, (0.0, np.inf), 'bvls'
        ).x
        dynamics = joints[name].find('dynamics')
        assert float(dynamics.get('damping')) == pytest.approx(damping, rel=1e-6)
        assert float(dynamics.get('friction')) == pytest.approx(friction, rel=1e-6)


def test_panda_fingers_keep_their_own_inertials(panda_urdf):
    """They stand on locked joints: what is identified is the hand with them, and they stay."""
    # The whole arm, fingers locked where they were, has the model's inertials again.
    names = [f'panda_joint{i}' for i in range(1, 8)]
    robot = load_robot(urdf=panda_urdf, joints=names)
    inertial = prior_inertial_parameters(robot).copy()
    inertial[60:70] *= 1.1
    inertial[10:20] *= 0.9
    text = export_urdf(model_of(robot, inertial))
    before, after = (
        {element.get('name'): element for element in ElementTree.fromstring(t).findall('link')}
        for t in (robot.urdf.text, text)
    )
    urdf = parse_urdf(text, 'exported')
    assert {joint.name for joint in urdf.joints} == {*names, *FINGERS}
    for finger in ('panda_leftfinger', 'panda_rightfinger', 'panda_hand'):
        old, new = before[finger].find('inertial'), after[finger].find('inertial')
        assert (old is None) == (new is None)
        if old is not None:
            assert ElementTree.canonicalize(ElementTree.tostring(old), strip_text=True) \
                == ElementTree.canonicalize(ElementTree.tostring(new), strip_text=True)
    exported = read_again(text, robot)
    found = np.concatenate([body.toDynamicParameters() for body in list(exported.inertias)[1:]])
    np.testing.assert_allclose(found, inertial, atol=1e-9)


# Of a body, and of none where the link stands alone: by much, and by rounding.
@pytest.mark.parametrize('principal', [
    (0.02, 0.03, 0.025), (0.002, 0.003, 0.006), (-5e-20, 0.0, 5e-20),
])
def test_bodies_fixed_to_a_link_keep_the_part_that_was_found(principal):
    """The tool fixed to the hand weighs more than both were found to: less of it, the same arm."""
    text = robot_urdf(
        link('ground'), link('hand', 1.0, principal=principal), link('tool', 2.0),
        joint('one', 'ground', 'hand', axis=(0, 1, 0)),
        joint('mount', 'hand', 'tool', 'fixed', limit=''),
    )
    robot = make_robot_model(parse_urdf(text, 'arm'))
    found = 0.5 * prior_inertial_parameters(robot)
    exported = export_urdf(model_of(robot, found))
    assert f'{KEPT_PART}: tool 0.' in exported
    body, = list(read_again(exported, robot).inertias)[1:]
    np.testing.assert_allclose(body.toDynamicParameters(), found, atol=1e-9)
