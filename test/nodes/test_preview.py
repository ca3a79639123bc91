# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What RViz is given: the tool's path, the boxes of the cell, the nearest approach."""

import numpy as np
import pytest

try:
    from visualization_msgs.msg import Marker
except ImportError as error:
    pytest.skip(f'needs visualization_msgs: {error}', allow_module_level=True)
from robot_identification.excitation.collision import CollisionModel, Obstacle
from robot_identification.excitation.trajectory import tool_path
from robot_identification.nodes.preview import preview_markers

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


def test_the_nearest_approach_is_where_the_certificate_has_it(ur5, trajectory, markers):
    """Between the two bodies, at its time; the text tells pair, distance and time."""
    entry = trajectory.certificate['collision']
    ball, text = markers['nearest', 0], markers['nearest', 1]
    assert text.text.startswith(' and '.join(entry['pair']))
    assert f'{1e3 * entry["nearest"]:.0f} mm at {entry["time"]:.2f} s' in text.text
    model = CollisionModel(ur5)
    q = trajectory.sample(np.array([entry['time']])).q[0]
    distances = model.distances(q)
    pair = int(np.argmin(distances))
    assert model.pairs[pair] == tuple(entry['pair'])
    # The certificate has the time to a millisecond, at which nothing moves by 2 mm.
    assert distances[pair] == pytest.approx(entry['nearest'], abs=2e-3)
    np.testing.assert_allclose(vector(ball.pose.position), model.place(q, pair), atol=1e-3)


def test_motions_without_a_proof_have_no_nearest_approach(ur5, trajectory):
    open_cell = trajectory.with_certificate({**trajectory.certificate, 'collision': 'off'})
    array = preview_markers(ur5, open_cell, (), Marker().header.stamp)
    assert [marker.ns for marker in array.markers[1:]] == ['path', 'not_checked']
    assert array.markers[-1].text == 'collision: NOT CHECKED'


def test_what_was_not_checked_stands_above_the_start(ur5, trajectory, markers):
    """A text with the reason; nothing where everything was checked."""
    assert ('not_checked', 0) not in markers
    gaps = [{'kind': 'torque', 'joints': list(ur5.joint_names), 'reason': 'no masses'},
            {'kind': 'velocity', 'joints': ['elbow_joint'], 'reason': 'no limit'}]
    known = trajectory.with_certificate({**trajectory.certificate, 'not_checked': gaps})
    text = preview_markers(ur5, known, (), Marker().header.stamp).markers[-1]
    assert (text.ns, text.type) == ('not_checked', Marker.TEXT_VIEW_FACING)
    assert text.text == (
        'torque: NOT CHECKED\n  no masses\nvelocity of elbow_joint: NOT CHECKED\n  no limit'
    )
    start = tool_path(ur5, trajectory.sample(np.zeros(1)).q)[0]
    np.testing.assert_allclose(vector(text.pose.position) - start, [0.0, 0.0, 0.2], atol=1e-12)


def test_frames_may_have_a_prefix(ur5, trajectory, markers):
    """That of the driver's tf_prefix; nothing else is different."""
    array = preview_markers(ur5, trajectory, OBSTACLES, Marker().header.stamp, 'left_')
    for marker in array.markers[1:]:
        plain = markers[marker.ns, marker.id]
        assert marker.header.frame_id == f'left_{plain.header.frame_id}'
        marker.header.frame_id = plain.header.frame_id
        assert marker == plain
