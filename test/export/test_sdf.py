# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The SDF says what the arm is, in Gazebo's words; torques are in test_consumers.py."""

import xml.etree.ElementTree as ElementTree

from builders import joint, link, robot_urdf
from export.exported_models import changed_prior, model_of
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.export.sdf import export_sdf
from robot_identification.model import make_robot_model, parse_urdf


def tree_of(model):
    root = ElementTree.fromstring(export_sdf(model))
    assert (root.tag, root.get('version')) == ('sdf', '1.9')
    return root.find('model')


def test_joints_have_limits_and_friction(model):
    found = {element.get('name'): element for element in tree_of(model).findall('joint')}
    assert list(found) == ['fixed_to_world', *model.robot.joint_names]
    assert [element.get('type') for element in found.values()] \
        == ['fixed', 'revolute', 'prismatic', 'revolute']
    assert found['turn'].find('axis/limit/lower') is None
    slide = found['slide'].find('axis')
    assert [float(slide.findtext(f'limit/{key}')) for key in
            ('lower', 'upper', 'effort', 'velocity')] == [-0.3, 0.4, 120.0, 1.0]
    names = model.parameters.names
    for k, joint_name in enumerate(model.robot.joint_names, start=1):
        for symbol, key in (('fv', 'damping'), ('fc', 'friction')):
            text = found[joint_name].findtext(f'axis/dynamics/{key}')
            value = model.theta_consistent[names.index(f'{symbol}{k}')]
            assert float(text) == pytest.approx(value)


@pytest.mark.parametrize('gravity', [
    [0.0, 0.0, -9.81], [0.0, 0.0, 9.81], [9.81, 0.0, 0.0], [1.0, -2.0, -9.0], [0.0, 0.0, 0.0],
])
def test_gravity_points_down_in_the_world(robots, gravity):
    robot = robots['mixed'].with_gravity(gravity)
    pose = tree_of(model_of(robot, changed_prior(robot))).find('pose')
    turn = pin.Quaternion(np.array([float(word) for word in pose.text.split()])[3:])
    np.testing.assert_allclose(
        turn.toRotationMatrix() @ gravity, [0.0, 0.0, -np.linalg.norm(gravity)], atol=1e-12
    )


def test_names_that_sdf_has_only_once_are_told_apart():
    """Links, joints and frames share their names there, and `world` is the world's."""
    text = robot_urdf(
        link('world', 0.0, principal=(0, 0, 0)), link('one'), link('two_link'), link('two'),
        '<link name="fixed_to_world"/>',
        joint('one', 'world', 'one', axis=(0, 1, 0)),
        joint('two', 'one', 'two', axis=(1, 0, 0)),
        joint('a', 'two', 'two_link', 'fixed', limit=''),
        joint('b', 'two', 'fixed_to_world', 'fixed', limit=''),
    )
    robot = make_robot_model(parse_urdf(text, 'cell'))
    root = tree_of(model_of(robot, changed_prior(robot)))
    names = [element.get('name') for element in root if element.get('name')]
    assert len(names) == len(set(names))
    assert [element.get('name') for element in root.findall('link')] \
        == ['world_link', 'one_link', 'two_link_']
    assert [element.get('name') for element in root.findall('joint')] \
        == ['fixed_to_world_', 'one', 'two']
    assert root.find('link').find('inertial') is None, 'without a body SDF has its default'
    parents = [element.findtext('parent') for element in root.findall('joint')]
    assert parents == ['world', 'world_link', 'one_link']
