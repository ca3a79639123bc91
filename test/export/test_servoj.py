# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A Universal Robot is told the certified motion, setpoint by setpoint, and nothing else."""

from dataclasses import replace
import re

import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UnsafeMotionError
from robot_identification.excitation import (
    FourierParametrization, knot_coefficients, SampledParametrization, Trajectory,
)
from robot_identification.export.servoj import JOINTS, servoj_program

CERTIFICATE = {'robot': 'ur5'}


@pytest.fixture
def trajectory(rng):
    """Return a certified motion of a UR5, two periods of three seconds."""
    form = FourierParametrization(harmonics=3, base_period=3.0)
    coefficients = 0.1 * rng.normal(size=(6, form.n_coefficients))
    return Trajectory('ur5', JOINTS, form, coefficients, 2, CERTIFICATE)


def poses(text, command):
    """Return the joint positions of every call of a command."""
    found = re.findall(rf'^  {command}\(\[([^\]]*)\], (.*)\)$', text, flags=re.MULTILINE)
    arguments = {rest for _, rest in found}
    return np.array([[float(q) for q in row.split(', ')] for row, _ in found]), arguments


def test_every_control_period_has_its_setpoint(trajectory):
    """Nine digits are written; the last setpoint is the end, where the motion rests."""
    long = replace(trajectory, form=FourierParametrization(harmonics=3, base_period=3.501))
    setpoints, arguments = poses(servoj_program(long), 'servoj')
    assert arguments == {'t=0.008, lookahead_time=0.03, gain=500'}
    assert len(setpoints) == 876
    times = np.minimum(0.008 * np.arange(1, len(setpoints) + 1), 7.002)
    np.testing.assert_allclose(setpoints, long.sample(times).q, atol=0.51e-9)


def test_it_goes_to_the_start_first_and_stops_at_the_end(trajectory):
    text = servoj_program(trajectory)
    start, arguments = poses(text, 'movej')
    np.testing.assert_allclose(start, trajectory.sample(np.zeros(1)).q, atol=0.51e-9)
    assert arguments == {'a=0.5, v=0.25'}
    lines = text.splitlines()
    assert lines[4] == 'def robot_identification_motion():'
    assert lines[5].startswith('  movej(') and lines[6].startswith('  servoj(')
    assert lines[-2:] == ['  stopj(2.0)', 'end']
    assert text.count('movej(') == text.count('stopj(') == 1
    assert f'# sha256 {trajectory.sha256}' in lines and "# Robot 'ur5', fourier, 6 s" in lines


def test_no_name_ends_the_comment_that_it_stands_in(trajectory):
    """A line of a program is not smuggled in by a file's name of the robot."""
    name = 'ur5\nmovej([0,0,0,0,0,0])\u2028'
    text = servoj_program(replace(trajectory, robot=name, certificate={'robot': name}))
    assert [line for line in text.splitlines() if line.startswith('movej')] == []
    assert text.isascii()


def test_joints_may_have_a_prefix(trajectory):
    prefixed = replace(trajectory, joint_names=tuple(f'left_{joint}' for joint in JOINTS))
    assert servoj_program(prefixed).count('servoj(') == 750


def test_what_starts_in_motion_is_refused():
    """A certificate by an older program may not have looked."""
    q = np.zeros((2, 6))
    moving = knot_coefficients(q, q + 0.3, q)
    form = SampledParametrization([0.0, 1.0])
    with pytest.raises(UnsafeMotionError, match=r'shoulder_pan_joint moves at 0.3 rad/s'):
        servoj_program(Trajectory('ur5', JOINTS, form, moving, 1, CERTIFICATE))


@pytest.mark.parametrize(('changes', 'error', 'words'), [
    *(({'joint_names': names}, DescriptionError, r'has the joints .*; URScript moves Universal')
      for names in (JOINTS[:5], (*JOINTS, 'gripper'), JOINTS[::-1], ('x', *JOINTS[1:]), ())),
    ({'periods': 1000}, DescriptionError, r'3000 s with a setpoint every 0.008 s'),
    ({'certificate': {}}, UnsafeMotionError, r'no certificate.*excite --evaluate'),
    ({'certificate': {'robot': 'ur10e'}}, UnsafeMotionError,
     r"is of 'ur5' and certified for 'ur10e'"),
])
def test_other_arms_long_programs_and_what_is_not_certified_are_refused(
    trajectory, changes, error, words
):
    with pytest.raises(error, match=words):
        servoj_program(replace(trajectory, **changes))
