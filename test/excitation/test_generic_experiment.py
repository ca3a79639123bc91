# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The experiment of an arm that has no experiment file."""

from builders import joint, link, robot_urdf
from hypothesis import given, settings, strategies as st
import numpy as np
import pytest
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation import (
    Budget, design_excitation, find_unchecked, make_generic_experiment, motion_limits,
)
from robot_identification.excitation.certificate import find_experiment_gaps
from robot_identification.execution.checks import check_nothing_unchecked
from robot_identification.model import load_robot, make_robot_model, parse_urdf

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


def test_what_is_known_is_checked():
    """Of a known arm with shapes and limits nothing is left open, and its make's window holds."""
    robot = load_robot('ur5e')
    made = make_generic_experiment(robot)
    assert made.notes == ()
    assert made.experiment.collision
    assert find_experiment_gaps(robot, made.experiment) == find_unchecked(robot) == ()
    assert made.experiment.window['shoulder_lift_joint'] == (-2.8, -0.3)


def test_a_slide_that_needs_most_of_its_force_has_a_motion():
    """A lift carries 1 kg, 9.81 N of 13 N, above the usual share of 61 %; it is said."""
    robot = make_robot_model(parse_urdf(robot_urdf(
        link('base'), link('carriage', 1.0),
        joint('lift', 'base', 'carriage', kind='prismatic', axis=(0, 0, 1),
              limit='<limit lower="0" upper="0.4" effort="13" velocity="0.1"/>'),
    ), 'the test'))
    made = make_generic_experiment(robot)
    assert made.experiment.margins.torque == 0.8
    assert any('80% of the torque limits' in note for note in made.notes)
    design_excitation(robot, made.experiment, seed=0, budget=Budget(3))
