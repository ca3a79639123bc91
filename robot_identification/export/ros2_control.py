# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write what plugins and controllers of ros2_control need beside the exported URDF, as YAML."""

from __future__ import annotations

import textwrap

from robot_identification.export.arm import exported_arm
from robot_identification.model import IdentifiedModel, tool_frame
import yaml

# Joints of every Universal Robot, which the driver's services take one value for each of.
UR_JOINTS = 6
SOLVER = (
    'Parameters of an inverse-dynamics plugin (kdl_inverse_dynamics_solver or alike), in its '
    'namespace, beside robot_description from `export --urdf`. Neither rotors nor friction are in '
    'a URDF, and so not in its torques.'
)
DRIVER = (
    'A Universal Robot in direct torque control (PolyScope 5.25.1, 10.12.1 and later) adds '
    'gravity and its own friction itself. What it has to know of this arm:'
)
SCALES = (
    'Scales of its own friction, for a controller that feeds the identified friction forward. '
    'Without one leave them as they are:'
)


def export_ros2_control(model: IdentifiedModel) -> str:
    """
    Return root, tip and gravity for an inverse-dynamics plugin, as YAML.

    Calls of the services of ur_robot_driver are in comments, for arms of six joints. Raises as
    `check_consistent`.
    """
    arm = exported_arm(model)
    gravity = [float(value) + 0.0 for value in arm.gravity]
    parameters = {'root': arm.root, 'tip': tool_frame(model.robot), 'gravity': gravity}
    text = _comment(f'{arm.name}, identified by robot_identification. {SOLVER}')
    text += yaml.safe_dump(
        {'/**': {'ros__parameters': parameters}}, sort_keys=False, default_flow_style=None
    )
    if len(arm.joints) != UR_JOINTS:
        return text
    x, y, z = (repr(value) for value in gravity)
    none = repr([0.0] * UR_JOINTS)
    return text + _comment(DRIVER) + (
        '# ros2 service call /gravity_update_controller/set_gravity ur_msgs/srv/SetGravity '
        f'"{{gravity: {{header: {{frame_id: {arm.root}}}, vector: {{x: {x}, y: {y}, z: {z}}}}}}}"'
        '\n'
    ) + _comment(SCALES) + (
        '# ros2 service call /friction_model_controller/set_friction_model_parameters '
        'ur_msgs/srv/SetFrictionModelParameters '
        f'"{{parameters: {{viscous_scale: {none}, coulomb_scale: {none}}}}}"\n'
    )


def _comment(text: str) -> str:
    return ''.join(f'# {line}\n' for line in textwrap.wrap(text, 95))
