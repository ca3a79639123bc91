# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A study is planned in its cell, by the figures of the node that will execute it."""

from pathlib import Path
import re

import numpy as np
import pytest
import robot_identification
from robot_identification.errors import UnsafeMotionError, UsageError
from robot_identification.excitation import (
    APPROACH_SPEED, Laboratory, plan_study, slab, Trajectory, USUAL_HOME, usual_window,
)
from robot_identification.excitation.experiment_plan import home_pose, MARGINS
from robot_identification.excitation.feasibility import Feasibility
from robot_identification.execution.safety import check_lab_margins
from robot_identification.model.registry import load_robot


@pytest.fixture(scope='module')
def ur5e():
    return load_robot('ur5e')


def test_the_way_to_the_start_is_as_fast_as_the_runner_s():
    """The plan's figure is the default of the node's parameter."""
    # Read as text: the nodes need ROS, which need not be here.
    nodes = Path(robot_identification.__file__).parent / 'nodes'
    stated = {
        float(value) for path in nodes.glob('*.py')
        for value in re.findall(r"'approach_speed',\s*([0-9.]+)", path.read_text())
    }
    assert stated == {APPROACH_SPEED}


@pytest.mark.parametrize(
    ('side', 'axis', 'sign'),
    [('front', 0, 1), ('back', 0, -1), ('left', 1, 1), ('right', 1, -1), ('above', 2, 1),
     ('below', 2, -1)],
)
def test_a_slab_begins_at_its_distance(side, axis, sign):
    """Its near face is there, and it is wide in the other two directions."""
    found = slab('wall', side, 0.7)
    size, xyz = np.array(found.size), np.array(found.xyz)
    near = xyz[axis] - sign * 0.5 * size[axis]
    assert near == pytest.approx(sign * 0.7, abs=1e-12)
    others = [k for k in range(3) if k != axis]
    assert np.all(size[others] >= 6.0)
    np.testing.assert_array_equal(xyz[others], 0.0)


def test_slabs_that_are_none_are_refused():
    with pytest.raises(UsageError, match=r"wall: 'behind' is no side, known are front"):
        slab('wall', 'behind', 1.0)
    with pytest.raises(UsageError, match=r'wall: 600 m away, at most 6 m'):
        slab('wall', 'back', 600.0)


def test_home_is_usual_where_that_is_clear(ur5e):
    """Among obstacles it is another pose, which is clear of them."""
    window = usual_window(ur5e)
    assert home_pose(ur5e, Laboratory(window=window)) == USUAL_HOME
    # The tool of the usual pose is right in front of the arm, half a metre away.
    blocked = Laboratory(
        window=window, obstacles=(slab('table', 'below', 0.01), slab('wall', 'front', 0.35))
    )
    home = home_pose(ur5e, blocked)
    assert home != USUAL_HOME
    motion = plan_study(ur5e, blocked)[-1]
    collision = Feasibility(ur5e, motion.experiment).collision
    pose = np.array([[home[joint] for joint in ur5e.joint_names]])
    assert collision.closest(pose, np.zeros(1)).distance > motion.experiment.clearance


@pytest.mark.parametrize(
    ('changed', 'reason'),
    [
        ({'mounting': (0.0, np.nan, 0.0)}, r'finite angles are needed'),
        ({'effort_unit': 'mA'}, r"effort unit is 'mA', it is one of A, Nm"),
        ({'source': 'usb'}, r"source of data is 'usb', it is one of ros, csv, simulated"),
        ({'collision': False, 'obstacles': (slab('table', 'below', 0.0),)}, r'no use for a table'),
    ],
)
def test_laboratories_are_checked(changed, reason):
    with pytest.raises(UsageError, match=reason):
        Laboratory(**changed)


def test_margins_are_those_of_a_real_arm(ur5e):
    """A motion at the margins of the plan is one that the runner accepts, one beyond is not."""
    experiment = plan_study(ur5e, Laboratory(window=usual_window(ur5e)))[1].experiment
    assert MARGINS == {**vars(experiment.margins)}
    form = experiment.form
    coefficients = np.zeros((ur5e.n, form.n_coefficients))
    # Wrist 3, about whose axis there is hardly any torque.
    coefficients[-1, 1] = 1.0
    fastest = np.abs(form.sample(coefficients, np.linspace(0.0, 10.0, 20_001))[1]).max()
    for share, accepted in ((0.999 * MARGINS['velocity'], True), (0.81, False)):
        scale = share * ur5e.limits.velocity[-1] / fastest
        trajectory = Trajectory(
            ur5e.name, ur5e.joint_names, form, scale * coefficients, 1, {}
        )
        if accepted:
            check_lab_margins(ur5e, trajectory)
        else:
            with pytest.raises(UnsafeMotionError, match=r'80% of the speeds'):
                check_lab_margins(ur5e, trajectory)
