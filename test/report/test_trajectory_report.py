# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The report of a trajectory says whether it may be run, what it shows, and how to run it."""

from dataclasses import replace

from builders import two_link_urdf
import pytest
from report import report_cases
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf
from robot_identification.report.trajectory_report import render_trajectory_report


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
