# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A study is planned in its cell, by the figures of the node that will execute it."""

from builders import joint, link, robot_urdf
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation import (
    Budget, design_excitation, Laboratory, make_generic_experiment, motion_limits, plan_study,
    slab, Trajectory, USUAL_HOME, usual_window,
)
from robot_identification.excitation.experiment_plan import home_pose, MARGINS
from robot_identification.excitation.feasibility import Feasibility
from robot_identification.execution.checks import check_nothing_unchecked
from robot_identification.execution.safety import check_lab_margins
from robot_identification.model import load_robot, make_robot_model, parse_urdf


@pytest.fixture(scope='module')
def ur5e():
    return load_robot('ur5e')


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


# --- an arm without an experiment file ---------------------------------------------------


BOX = '<collision><geometry><box size="0.05 0.05 0.05"/></geometry></collision>'


def arm(limits, kinds=None, shapes=True):
    """Return an arm in a row whose joints have these limit elements."""
    kinds = kinds or ['revolute'] * len(limits)
    parts = [link('base')]
    for k, (limit, kind) in enumerate(zip(limits, kinds, strict=True)):
        body = link(f'body{k}', 1.0)
        parts.append(body.replace('</link>', f'{BOX if shapes else ""}</link>'))
        parts.append(joint(
            f'joint{k}', 'base' if k == 0 else f'body{k - 1}', f'body{k}', kind=kind,
            axis=((0, 0, 1), (0, 1, 0))[k % 2], xyz=(0, 0, 0.3), limit=limit,
        ))
    return make_robot_model(parse_urdf(robot_urdf(*parts), 'the test'))


@settings(deadline=None, max_examples=60)
@given(st.lists(
    st.tuples(
        st.floats(-7.0, 3.0), st.floats(0.02, 9.0), st.sampled_from([0.0, 0.05, 1.0, 3.0, 12.0])
    ), min_size=1, max_size=4,
))
def test_any_limits_leave_room_and_are_kept(ranges):
    """Windows lie within the limits less the margin, are at most a turn wide, and not empty."""
    robot = arm([
        f'<limit lower="{low}" upper="{low + span}" effort="500" velocity="{speed}"/>'
        for low, span, speed in ranges
    ])
    made = make_generic_experiment(robot)
    limits = motion_limits(robot, made.experiment)
    assert np.all(limits.lower < limits.upper)
    assert np.all(limits.lower >= robot.limits.lower) and np.all(
        limits.upper <= robot.limits.upper
    )
    assert np.all(limits.upper - limits.lower <= 2.0 * np.pi + 1e-5), 'rounded to 1e-6'
    assert np.all(np.isfinite(limits.velocity)) and np.all(np.isfinite(limits.acceleration))
    # The base harmonic can sweep what it is to sweep without being faster than the margin.
    period = made.experiment.form.base_period
    assert 10.0 <= period <= 60.0
    unstated = [not np.isfinite(limit) for limit in robot.limits.velocity]
    assert any('velocity' in note for note in made.notes) == any(unstated)


@pytest.mark.parametrize('kind', ['continuous', 'prismatic', 'revolute'])
def test_an_arm_that_states_nothing_gets_a_motion(kind):
    """What was chosen for it is kept and is listed: a real arm does not execute it."""
    limit = '<limit lower="-0.3" upper="0.3" effort="0" velocity="0"/>'
    robot = arm([limit, limit], ['revolute', kind], shapes=False)
    made = make_generic_experiment(robot)
    trajectory = design_excitation(robot, made.experiment, seed=0, budget=Budget(5))
    motion = trajectory.sample(np.linspace(0.0, trajectory.duration, 2000))
    assert np.all(np.abs(motion.dq) <= motion_limits(robot, made.experiment).velocity + 1e-9)
    listed = {entry['kind'] for entry in trajectory.certificate['not_checked']}
    assert {'velocity', 'acceleration', 'torque', 'collision'} <= listed
    with pytest.raises(UnsafeMotionError, match='not checked in full'):
        check_nothing_unchecked(robot, trajectory)
