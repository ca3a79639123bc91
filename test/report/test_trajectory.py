# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The report of a trajectory states whether it may be run; its curves are those of the motion."""

from dataclasses import replace
import re

from builders import two_link_urdf
import mujoco
import numpy as np
import pytest
from report import report_cases
from report.report_cases import some_motion
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.model.registry import load_robot
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf
from robot_identification.report.effort_figures import joint_positions
from robot_identification.report.trajectory_report import (
    _joint_drawings, hardly_shown, judge_trajectory, render_trajectory_report,
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


@pytest.fixture(scope='module')
def case():
    """Return an arm, a certified motion of it, the experiment and the evaluation."""
    robot = make_robot_model(parse_urdf(two_link_urdf(), 'two <links>'))
    found, experiment, evaluation = report_cases.certified_motion(robot)
    return robot, found, experiment, evaluation


def test_a_certified_motion_is_told_with_its_hash(case):
    """Limits, criteria, weak parameters and what to type, with the hash of this very file."""
    robot, found, experiment, evaluation = case
    page = render_trajectory_report(
        robot, found, experiment, evaluation, path='some/where.yaml', command_line='excite <x>'
    )
    assert f'arm.sha256 {found.sha256}' in page
    assert 'Certified in part' in page and 'Not certified' not in page
    assert 'Acceleration: NOT CHECKED, no limit is known' in page
    for text in ('some/where.yaml', 'excite &lt;x&gt;', *(one.name for one in evaluation.weak)):
        assert text in page
    for name in robot.joint_names:
        assert f'<figcaption>{name}</figcaption>' in page
    assert 'Collision: NOT CHECKED.' in page
    assert page.count('aria-label="Path of the tool from') == 3
    assert 'data:image/png' not in page


def test_a_refused_motion_is_not_to_be_run(case):
    """The reason stands first, and there is no hash to type."""
    robot, found, experiment, evaluation = case
    bare = replace(found, certificate={})
    page = render_trajectory_report(
        robot, bare, experiment, evaluation, refused='velocity of one reaches 9 rad/s'
    )
    assert 'Not certified' in page and 'Do not run this motion.' in page
    assert 'velocity of one reaches 9 rad/s' in page
    assert 'arm.sha256' not in page


def test_weak_parameters_and_no_collision_check_make_a_motion_usable_only(case):
    robot, found, _, evaluation = case
    verdict = judge_trajectory(robot, found, evaluation, '')
    assert verdict.level == 'usable'
    assert any('collision: NOT CHECKED' in reason for reason in verdict.reasons)
    # A URDF states no limit of acceleration.
    assert verdict.reasons[0].startswith('acceleration: NOT CHECKED')
    assert 'the runner of a real arm refuses' in verdict.next_step
    sure = replace(evaluation, weak=tuple(
        replace(one, standard_error=0.01, prior=1.0) for one in evaluation.weak
    ))
    assert not hardly_shown(sure)
    seen = {**found.certificate, 'not_checked': [], 'collision': {
        'clearance': 0.02, 'nearest': 0.05, 'pair': ['a', 'b'], 'time': 1.0, 'obstacles': {},
    }}
    proved = found.with_certificate(seen)
    assert judge_trajectory(robot, proved, sure, '').level == 'good'
    made_up = judge_trajectory(robot, proved, sure, '', 'the masses look like placeholders')
    assert made_up.level == 'usable'
    assert made_up.reasons[0] == 'the masses look like placeholders'
    hungry = found.with_certificate({**seen, 'torque_reserve': 0.1})
    assert 'left for friction' in ' '.join(judge_trajectory(robot, hungry, sure, '').reasons)
    assert judge_trajectory(robot, hungry, sure, '').level == 'usable'
