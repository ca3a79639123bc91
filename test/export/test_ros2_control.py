# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters for plugins of ros2_control; `test_sim_to_real.py` feeds them to one."""

from xml.etree import ElementTree

from export.exported_models import exported_models, random_motion, rigid_torque
from known_models import pinocchio_torque
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.export.ros2_control import export_ros2_control
from robot_identification.export.urdf import make_urdf
from robot_identification.model import for_pinocchio
import yaml


def parameters_of(model):
    return yaml.safe_load(export_ros2_control(model))['/**']['ros__parameters']


def torque_of_chain(text, root, tip, gravity, motion):
    """Return the torques (N, n) of the links between two of a URDF, as KDL takes them."""
    robot = ElementTree.fromstring(text)
    above = {one.find('child').get('link'): one for one in robot.findall('joint')}
    links, joints = {root}, []
    while tip != root:
        links.add(tip)
        joints.append(above[tip])
        tip = above[tip].find('parent').get('link')
    for one in [*robot.findall('link'), *robot.findall('joint')]:
        if one not in joints and one.get('name') not in links:
            robot.remove(one)
    arm = pin.buildModelFromXML(for_pinocchio(ElementTree.tostring(robot, encoding='unicode')))
    arm.gravity.linear = np.array(gravity)
    arm.armature = np.zeros(arm.nv)
    return pinocchio_torque(arm, motion)


@pytest.mark.parametrize(('name', 'root', 'tip', 'gravity', 'calls'), [
    ('ur5', 'base_link', 'tool0', [4.0, 0.0, -8.0], 2),
    # Services of the driver take six joints, and this arm has five.
    ('youbot', 'base_link', 'arm_link_5', [0.0, 0.0, -9.81], 0),
])
def test_root_tip_and_gravity_are_those_of_the_model(
    robots, rng, name, root, tip, gravity, calls
):
    model = exported_models(robots)[name]
    text = export_ros2_control(model)
    found = parameters_of(model)
    assert found == {'root': root, 'tip': tip, 'gravity': gravity}
    # Parameters of ROS are of one type: an integer among the doubles would be refused.
    assert all(type(value) is float for value in found['gravity'])
    assert text.count('# ros2 service call') == calls
    motion = random_motion(model, rng)
    np.testing.assert_allclose(
        torque_of_chain(make_urdf(model).text, **found, motion=motion),
        rigid_torque(model, motion), atol=1e-9,
    )
