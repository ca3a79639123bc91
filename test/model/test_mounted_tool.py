# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A tool is a body of the URDF: it weighs what it weighs, where it is."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import UsageError
from robot_identification.model import (
    load_robot, mount_tool, parse_urdf, Payload, payload_from_parameters,
    prior_inertial_parameters, Tool, tool_frame, tool_placements,
)

LENGTHS = st.tuples(*[st.floats(0.01, 0.5)] * 3)


def with_tool(robot, tool):
    text = mount_tool(robot.urdf.text, 'ur5', tool_frame(robot), tool)
    return load_robot('ur5', urdf=parse_urdf(text, 'ur5 with a tool'))


@given(st.floats(0.1, 10.0), LENGTHS, LENGTHS)
def test_only_the_last_link_grows_by_the_tool(ur5, mass, center, size):
    """What is added to its parameters is the tool's solid box, to rounding of the text."""
    tool = Tool(mass, center, size)
    bare, carrying = (
        prior_inertial_parameters(robot).reshape(robot.n, 10)
        for robot in (ur5, with_tool(ur5, tool))
    )
    np.testing.assert_allclose(carrying[:-1], bare[:-1], atol=1e-12)
    x, y, z = np.square(size) * mass / 12.0
    box = Payload(mass, np.array(center), np.diag([y + z, x + z, x + y]), 'tool0')
    placement = tool_placements(ur5)['tool0']
    expected = placement.act(pin.Inertia(mass, box.center_of_mass, box.inertia))
    added = payload_from_parameters(carrying[-1] - bare[-1], 'last')
    # Masses of 0.1 kg beside links of kilograms, subtracted.
    assert added.mass == pytest.approx(mass, abs=1e-9)
    np.testing.assert_allclose(added.center_of_mass, expected.lever, atol=1e-7)
    np.testing.assert_allclose(added.inertia, expected.inertia, atol=1e-7)


@pytest.mark.parametrize(
    ('mass', 'center', 'size', 'reason'),
    [
        (0.0, (0, 0, 0), (1, 1, 1), r'mass of the tool is 0 kg.*give it in kg'),
        (1200.0, (0, 0, 0), (1, 1, 1), r'1200 kg'),
        (1.0, (0, 0, 60), (1, 1, 1), r'centre of mass of the tool.*give it in m'),
        (1.0, (0, 0, np.nan), (1, 1, 1), r'centre of mass'),
        (1.0, (0, 0, 0), (1, 0, 1), r'every edge must be positive'),
    ],
)
def test_what_is_no_tool_is_refused(mass, center, size, reason):
    with pytest.raises(UsageError, match=reason):
        Tool(mass, center, size)


def test_a_second_tool_is_refused(ur5):
    """An arm has one tool: what it carries already must come off."""
    tool = Tool(1.0, (0.0, 0.0, 0.05), (0.1, 0.1, 0.1))
    once = mount_tool(ur5.urdf.text, 'ur5', 'tool0', tool)
    with pytest.raises(UsageError, match=r'arm.urdf has a link mounted_tool already'):
        mount_tool(once, 'arm.urdf', 'tool0', tool)
