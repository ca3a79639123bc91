# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What RViz is given: the tool's path, the boxes of the cell, the nearest approach."""

import numpy as np
import pytest
from robot_identification.excitation.collision import Obstacle
from robot_identification.excitation.trajectory import tool_path
from robot_identification.nodes.preview import preview_markers

try:
    from visualization_msgs.msg import Marker
except ImportError as error:
    pytest.skip(f'needs visualization_msgs: {error}', allow_module_level=True)

OBSTACLES = (
    Obstacle('table', (1.0, 2.0, 0.1), (0.0, 0.1, -0.3), (0.0, 0.0, np.pi / 2)),
    Obstacle('gripper', (0.05, 0.06, 0.07), (0.0, 0.0, 0.035), (0.0, 0.0, 0.0), 'tool0'),
)


def vector(message):
    return np.array([message.x, message.y, message.z])


@pytest.fixture(scope='module')
def markers(ur5, trajectory):
    """Return the markers of a certified motion, by namespace and number."""
    array = preview_markers(ur5, trajectory, OBSTACLES, Marker().header.stamp)
    assert array.markers[0].action == Marker.DELETEALL
    return {(marker.ns, marker.id): marker for marker in array.markers[1:]}


def test_the_path_is_that_of_the_tool(ur5, trajectory, markers):
    line = markers['path', 0]
    assert (line.type, line.header.frame_id) == (Marker.LINE_STRIP, 'base_link')
    places = np.array([vector(point) for point in line.points])
    times = np.linspace(0.0, trajectory.form.duration, len(places))
    expected = tool_path(ur5, trajectory.sample(times).q)
    np.testing.assert_allclose(places, expected, atol=1e-12)
    assert line.scale.x > 0.0


def test_boxes_stand_where_they_are_and_move_with_their_link(markers):
    table, gripper = markers['obstacles', 0], markers['obstacles', 1]
    assert table.header.frame_id == 'base_link'
    np.testing.assert_allclose(vector(table.scale), [1.0, 2.0, 0.1])
    np.testing.assert_allclose(vector(table.pose.position), [0.0, 0.1, -0.3])
    # A turn of 90 degrees about z.
    half = np.sqrt(0.5)
    assert table.pose.orientation.z == pytest.approx(half)
    assert table.pose.orientation.w == pytest.approx(half)
    assert (gripper.header.frame_id, gripper.frame_locked) == ('tool0', True)
    assert table.color.a < 1.0, 'the arm is seen through it'
