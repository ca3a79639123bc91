# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Preview of a motion in RViz before it is executed.

The path of the tool, the boxes of the cell, the nearest approach and what was not checked. This
file is imported where visualization_msgs is installed.
"""

from __future__ import annotations

from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Pose, Quaternion, Vector3
import numpy as np
import pinocchio as pin
from robot_identification.excitation import (
    CollisionModel, describe_certificate_gaps, NOT_CHECKED, Obstacle, tool_path, Trajectory,
)
from robot_identification.model import RobotModel
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

PATH_POINTS = 400  # number of points of the shown path; chosen: it looks smooth
# [m]; chosen: seen with a whole arm in the window.
PATH_WIDTH, SPHERE, TEXT_HEIGHT, TEXT_ABOVE = 0.004, 0.03, 0.04, 0.06
# Clear of the text at the nearest approach, which may be at the start as well [m]; chosen: several
# heights of that text.
GAPS_ABOVE = 0.2
BLUE, GREY, ORANGE, WHITE = (
    ColorRGBA(r=r, g=g, b=b, a=a) for r, g, b, a in (
        (0.0, 0.45, 0.7, 1.0), (0.6, 0.6, 0.6, 0.4), (0.84, 0.37, 0.0, 0.9), (1.0, 1.0, 1.0, 1.0)
    )
)


def preview_markers(
    robot: RobotModel,
    trajectory: Trajectory,
    obstacles: Sequence[Obstacle],
    stamp: Time,
    prefix: str = '',
) -> MarkerArray:
    """
    Return the markers of a certified motion, in the frame of the URDF's root.

    Obstacles are the boxes of the cell; those that links carry move with them. `prefix` is the
    driver's `tf_prefix`, in front of the names of frames.
    """
    root = prefix + robot.root_link
    times = np.linspace(0.0, trajectory.form.duration, PATH_POINTS)
    path = tool_path(robot, trajectory.sample(times).q)
    header = Header(frame_id=root, stamp=stamp)
    line = _marker(header, 'path', Marker.LINE_STRIP, BLUE)
    line.scale.x = PATH_WIDTH
    line.points = [_point(place) for place in path]
    # What was shown of an earlier motion goes first.
    markers = [Marker(action=Marker.DELETEALL), line]
    for number, obstacle in enumerate(obstacles):
        carrier = prefix + obstacle.link if obstacle.link else root
        box = _marker(
            Header(frame_id=carrier, stamp=stamp), 'obstacles', Marker.CUBE, GREY, number
        )
        turn = pin.Quaternion(pin.rpy.rpyToMatrix(*obstacle.rpy))
        box.pose = Pose(
            position=_point(obstacle.xyz),
            orientation=Quaternion(x=turn.x, y=turn.y, z=turn.z, w=turn.w),
        )
        box.scale = Vector3(**dict(zip('xyz', map(float, obstacle.size), strict=True)))
        # A box that a link carries moves with it.
        box.frame_locked = bool(obstacle.link)
        markers.append(box)
    markers += _nearest(robot, trajectory, obstacles, header)
    return MarkerArray(markers=markers + _gaps(trajectory, path[0], header))


def _nearest(
    robot: RobotModel, trajectory: Trajectory, obstacles: Sequence[Obstacle], header: Header
) -> list[Marker]:
    """Return a ball and a text where bodies come nearest to each other."""
    entry = trajectory.certificate.get('collision')
    if not isinstance(entry, dict) or entry['nearest'] is None:
        return []
    model = CollisionModel(robot, obstacles)
    q = trajectory.sample(np.array([float(entry['time'])])).q[0]
    distances, pair = model.distances(q), tuple(entry['pair'])
    # A link may have several shapes: several pairs have the same names.
    nearest = min(
        (k for k, names in enumerate(model.pairs) if names == pair), key=lambda k: distances[k]
    )
    place = model.place(q, nearest)
    ball = _marker(header, 'nearest', Marker.SPHERE, ORANGE)
    ball.pose.position = _point(place)
    ball.scale = Vector3(x=SPHERE, y=SPHERE, z=SPHERE)
    text = _marker(header, 'nearest', Marker.TEXT_VIEW_FACING, WHITE, 1)
    text.pose.position = _point(place)
    text.pose.position.z += TEXT_ABOVE
    text.scale.z = TEXT_HEIGHT
    text.text = (
        f'{pair[0]} and {pair[1]}\n{1e3 * entry["nearest"]:.0f} mm at {entry["time"]:.2f} s'
    )
    return [ball, text]


def _gaps(trajectory: Trajectory, start: np.ndarray, header: Header) -> list[Marker]:
    """Return a text, above the start of the path, with what was not checked; none if all was."""
    certificate = trajectory.certificate
    lines = list(describe_certificate_gaps(certificate, trajectory.joint_names))
    if not isinstance(certificate.get('collision'), dict):
        lines.append(f'collision: {NOT_CHECKED}')
    if not lines:
        return []
    text = _marker(header, 'not_checked', Marker.TEXT_VIEW_FACING, ORANGE)
    text.pose.position = _point(start)
    text.pose.position.z += GAPS_ABOVE
    text.scale.z = TEXT_HEIGHT
    # RViz does not wrap lines: the reason goes below the quantity.
    text.text = '\n'.join(lines).replace(f'{NOT_CHECKED}, ', f'{NOT_CHECKED}\n  ')
    return [text]


def _marker(
    header: Header, namespace: str, kind: int, color: ColorRGBA, number: int = 0
) -> Marker:
    marker = Marker(ns=namespace, id=number, type=kind, action=Marker.ADD, color=color)
    # Each has a header of its own.
    marker.header.frame_id, marker.header.stamp = header.frame_id, header.stamp
    marker.pose.orientation.w = 1.0
    return marker


def _point(place: Sequence[float] | np.ndarray) -> Point:
    return Point(x=float(place[0]), y=float(place[1]), z=float(place[2]))
