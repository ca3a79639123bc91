# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A scene as people keep them: the arm in its own file, classes, comments, odd blanks, CRLF."""

from builders import joint, link, robot_urdf
from export.exported_models import changed_prior, model_of
import numpy as np
from robot_identification.model import make_robot_model, parse_urdf

QUARTER = np.pi / 2.0
SCENE = b"""<?xml version="1.0"?>
<!-- a cell: the arm, and a table -->
<mujoco model="cell">
  <include file="arm/arm.xml"/>
  <worldbody>
    <light pos="0 0 1.5"/>
    <geom name="floor" type="plane" size="0 0 .05"/>
    <body name="table" pos="1 0 0"><joint name="drawer" class="rail"/>
      <geom type="box" size=".1 .1 .1"/></body>
  </worldbody>
</mujoco>
"""

# Frames of the bodies are not those of the description's links: the base is turned by a half turn,
# the upper arm by a quarter about its own axis, and axes come from classes.
ARM = b"""<mujoco model='arm'>
\t<compiler angle='radian' autolimits='true'/>
\t<default>
\t\t<joint range="-3 3"/>
\t\t<default class="drive"> <joint axis="0 1 0"/>
\t\t\t<default class="pan"><joint axis="0 0 1"/></default>
\t\t</default>
\t\t<default class="rail"><joint type="slide" axis="1 0 0" damping="4" armature="0.5"/></default>
\t</default>
\t<worldbody>
\t\t<body name="base" quat="0 0 0 1" pos="0.3 -0.2 0.5" childclass="drive">
\t\t\t<inertial mass="4.0" pos="0 0 0" diaginertia="0.01 0.01 0.02"/>
\t\t\t<body  name = "tower"   pos="0 0 0.2" >
\t\t\t\t<inertial   pos="0 0 0.1"\tmass='3.7'   diaginertia="0.01 0.01 0.006"
\t\t\t\t\tquat="1 0 0 0" />   <!-- from the data sheet -->
\t\t\t\t<joint name="turn" class="pan" armature="0.1"   damping='2' />
\t\t\t\t<geom type="capsule" size="0.05 0.1"/>
\t\t\t\t<body name="upper" pos="0 0.1 0.1" quat="1 0 1 0"> <joint name='lift'  ref="0.0"/><geom type="capsule" size=".04 .2" mass="2"/>
\t\t\t\t\t<frame pos="0 0 0.4"><body name="slider" quat="1 0 -1 0">
\t\t\t\t\t\t<joint name="reach" type="slide" axis="1 0 0" frictionloss="1e-1"/>
\t\t\t\t\t\t<inertial pos="0 0 0" mass="1" fullinertia="0.1 0.1 0.1 0 0 0"/>
\t\t\t\t\t\t<body name="hand" pos="0.1 0 0.05"><inertial pos="0 0 0.02" mass="0.3" diaginertia="1e-3 1e-3 1e-3"/></body>
\t\t\t\t\t\t<site name="tip" pos="0.2 0 0"/>
\t\t\t\t\t</body></frame>
\t\t\t\t</body>
\t\t\t</body>
\t\t</body>
\t</worldbody>
\t<actuator><motor joint="turn"/><position joint="lift" kp="100"/></actuator>
\t<keyframe><key name="home" qpos="0 -1 0.1 0" /></keyframe>
</mujoco>
"""  # noqa: E501


def arm_urdf():
    """Return the description of the arm in the scene, in frames of its own."""
    return robot_urdf(
        link('ground'), link('tower', 4.0, (0.0, 0.01, 0.1)),
        link('boom', 2.5, (0.2, 0.02, 0.0)), link('slider', 1.5, (0.05, 0.0, 0.01)),
        link('hand', 0.4, (0.0, 0.0, 0.02)),
        joint('turn', 'ground', 'tower', 'revolute', (0, 0, 1), (0, 0, 0.2), (0, 0, 0)),
        joint('lift', 'tower', 'boom', 'revolute', (0, 0, -1), (0, 0.1, 0.1),
              (QUARTER, 0, 0)),
        joint('reach', 'boom', 'slider', 'prismatic', (1, 0, 0), (0.4, 0, 0), (0, 0, 0)),
        joint('screws', 'slider', 'hand', 'fixed', xyz=(0.1, 0.05, 0.0),
              rpy=(-QUARTER, 0, 0), limit=''),
        name='scene_arm',
    )


def scene_model():
    """Return a model of the arm in the scene, with bodies that its description does not have."""
    robot = make_robot_model(parse_urdf(arm_urdf(), 'scene_arm'))
    return model_of(robot, changed_prior(robot), 'viscous,coulomb')


def write_scene(folder, scene=SCENE, arm=ARM, newline=b'\r\n'):
    """Write the scene and return its path."""
    (folder / 'arm').mkdir(parents=True, exist_ok=True)
    (folder / 'cell.xml').write_bytes(scene.replace(b'\n', newline))
    (folder / 'arm' / 'arm.xml').write_bytes(arm.replace(b'\n', newline))
    return folder / 'cell.xml'
