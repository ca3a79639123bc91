# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters for plugins of ros2_control; `test_sim_to_real.py` feeds them to one."""

from export.exported_models import exported_models
import pytest
from robot_identification.export.ros2_control import export_ros2_control
import yaml


@pytest.mark.parametrize(('name', 'root', 'tip', 'gravity', 'calls'), [
    ('ur5', 'base_link', 'tool0', [4.0, 0.0, -8.0], 2),
    # Services of the driver take six joints, and these arms have five and three.
    ('youbot', 'base_link', 'arm_link_5', [0.0, 0.0, -9.81], 0),
    ('everything', 'ground', 'hand', [1.0, -2.0, -9.0], 0),
])
def test_root_tip_and_gravity_are_those_of_the_model(robots, name, root, tip, gravity, calls):
    text = export_ros2_control(exported_models(robots)[name])
    found = yaml.safe_load(text)['/**']['ros__parameters']
    assert found == {'root': root, 'tip': tip, 'gravity': gravity}
    # Parameters of ROS are of one type: an integer among the doubles would be refused.
    assert all(type(value) is float for value in found['gravity'])
    assert text.count('# ros2 service call') == calls
