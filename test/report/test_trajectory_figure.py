# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The picture of a motion shows every joint, its limits, the path of the tool and the cell."""

from dataclasses import replace
import re

from builders import mixed_urdf, two_link_urdf
from long_tests import long_test
import mujoco
import numpy as np
import pinocchio as pin
import pytest
from report import report_cases
from report.report_cases import some_motion
from robot_identification.excitation.collision import Obstacle
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.trajectory import tool_frame, tool_path
from robot_identification.model.registry import load_robot
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf
from robot_identification.report.effort_figures import arm_drawing, joint_positions, project, SIZE
from robot_identification.report.trajectory_report import (
    _joint_drawings, _path_drawings, box_corners, trajectory_png,
)


@pytest.fixture(scope='module')
def experiment():
    return replace(load_experiment(find_experiment('demo')), window={})


@pytest.fixture(scope='module')
def motion(ur5, experiment):
    return some_motion(ur5, experiment, 0.3)


def panels_of(drawings):
    return [drawing.all_panels for _, drawing in drawings]


def test_every_joint_has_its_curves_and_limits(ur5, motion, experiment):
    """Curves are the motion's samples; dashed lines are at the margins, where they are near."""
    drawings = list(_joint_drawings(ur5, motion, experiment))
    assert tuple(name for name, _ in drawings) == ur5.joint_names
    for joint, panels in enumerate(panels_of(drawings)):
        assert [panel.y.label for panel in panels] == ['[rad]', '[rad/s]', '[rad/s²]', '[N m]']
        for kind, panel in zip(('q', 'dq', 'ddq'), panels, strict=False):
            curve, *limits = panel.marks
            expected = getattr(motion.sample(curve.x), kind)[:, joint]
            np.testing.assert_allclose(curve.y, expected, atol=1e-12)
            assert len(limits) <= 2
            assert all(line.dashed for line in limits)
    margins = sorted(line.y[0] for line in drawings[0][1].all_panels[1].marks[1:])
    assert margins == pytest.approx(0.6 * ur5.limits.velocity[0] * np.array([-1.0, 1.0]))


def test_the_path_is_that_of_the_tool(ur5, motion, experiment):
    """By Pinocchio's own forward kinematics of the last link."""
    assert tool_frame(ur5) == 'tool0'
    q = motion.sample(np.linspace(0.0, 10.0, 5)).q
    model, data = ur5.pinocchio, ur5.pinocchio.createData()
    for pose, place in zip(q, tool_path(ur5, q), strict=True):
        pin.framesForwardKinematics(model, data, pose)
        expected = data.oMf[model.getFrameId('tool0')].translation
        np.testing.assert_allclose(place, expected, atol=1e-12)
    panels = [panel for panel, in panels_of(_path_drawings(ur5, motion, experiment))]
    assert [(panel.x.label, panel.y.label) for panel in panels] == [
        ('x [m]', 'y [m]'), ('x [m]', 'z [m]'), ('y [m]', 'z [m]'),
    ]
    curve = panels[0].marks[0]
    whole = tool_path(ur5, motion.sample(np.linspace(0.0, 10.0, len(curve.x))).q)
    np.testing.assert_allclose(np.column_stack([curve.x, curve.y]), whole[:, :2], atol=1e-12)


def test_boxes_of_the_cell_stand_where_they_are(ur5, motion, experiment):
    """A box turned by 45 degrees is seen from above as wide as its diagonal."""
    box = Obstacle('post', (0.2, 0.2, 1.0), (0.5, -0.4, 0.5), (0.0, 0.0, np.pi / 4))
    carried = Obstacle('gripper', (0.1, 0.1, 0.1), (0.0, 0.0, 0.05), (0.0, 0.0, 0.0), 'tool0')
    corners = box_corners(box)
    assert np.ptp(corners, axis=0) == pytest.approx([0.2 * np.sqrt(2)] * 2 + [1.0])
    assert corners.mean(axis=0) == pytest.approx([0.5, -0.4, 0.5])
    cell = replace(experiment, obstacles=(box, carried))
    above, = panels_of(_path_drawings(ur5, motion, cell))[0]
    shape, edge, path, *_ = above.marks
    assert np.ptp(shape.x) == np.ptp(edge.x) == pytest.approx(0.2 * np.sqrt(2))
    assert len(path.x) > len(edge.x)


@pytest.mark.parametrize('urdf', [
    pytest.param(mixed_urdf(), id='slides'),
    pytest.param(two_link_urdf(), id='two', marks=long_test),
])
def test_other_arms_have_pictures_too(urdf, experiment):
    """With joints that slide and names that look like formulas; same motion, same bytes."""
    robot = make_robot_model(parse_urdf(urdf, 'made up'))
    names = tuple(f'$x_{k}$ <joint> {k}' for k in range(robot.n))
    renamed = replace(robot, name='a $\\frac$', joint_names=names)
    motion = some_motion(renamed, experiment)
    picture = trajectory_png(renamed, motion, experiment)
    assert picture.startswith(b'\x89PNG')
    assert trajectory_png(renamed, motion, experiment) == picture


# --- the arm at the cursor ---------------------------------------------------------------


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
