# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The arm that is drawn at the cursor stands as MuJoCo's does, and is drawn to scale."""

import re

import mujoco
import numpy as np
from report import report_cases
from robot_identification.model.registry import load_robot
from robot_identification.report.arm_figure import arm_drawing, joint_positions, project, SIZE


def test_joints_are_where_mujoco_puts_them(rng):
    """All six of a UR5 in ten poses; the far end is no nearer to the last joint than its mass."""
    robot = load_robot('ur5')
    model = mujoco.MjModel.from_xml_string(re.sub(
        r'<(visual|collision)\b.*?</\1>', '', robot.urdf.text, flags=re.DOTALL
    ))
    data = mujoco.MjData(model)
    q = rng.uniform(-2.0, 2.0, (10, robot.n))
    found = joint_positions(robot, q, np.arange(10))
    places = [model.joint(name).qposadr[0] for name in robot.joint_names]
    for pose, values in zip(found, q, strict=True):
        data.qpos[places] = values
        mujoco.mj_kinematics(model, data)
        anchors = [data.joint(name).xanchor for name in robot.joint_names]
        np.testing.assert_allclose(pose[1:-1], anchors, atol=1e-9)
    assert np.all(found[:, 0] == 0.0)


def test_the_projection_keeps_what_is_upright_and_level():
    """A vertical is drawn upright, its length by the elevation; a ground point at its shadow."""
    points = np.array([[0.3, -0.2, 0.0], [0.3, -0.2, 1.0], [0.0, 0.0, 0.0]])
    foot, top, origin = project(points)
    assert foot[0] == top[0] and top[1] < foot[1]
    np.testing.assert_allclose(origin, 0.0, atol=0.0)
    # Seen from above the horizon at 20 degrees.
    np.testing.assert_allclose(foot[1] - top[1], np.cos(np.radians(20.0)), rtol=1e-12)


def test_the_drawing_has_a_pose_for_each_time():
    found = report_cases.identify_chain(3, 1, samples=300)
    dataset = found.datasets[0]
    drawing = str(arm_drawing(found.model.robot, dataset))
    times = np.array(re.search('data-times="(.*?)"', drawing).group(1).split(), float)
    poses = re.search('data-poses="(.*?)"', drawing).group(1).split(';')
    assert len(poses) == len(times) and np.all(np.diff(times) > 0.0)
    scored = dataset.stamps[dataset.scored]
    np.testing.assert_allclose(times[[0, -1]], scored[[0, -1]], atol=1e-3)
    places = np.array([pose.split() for pose in poses], float)
    # Base, three joints and the end, and the shadow of each; all inside the drawing.
    assert places.shape == (len(times), 2 * 2 * 5)
    assert places.min() > 0.0 and places.max() < SIZE
