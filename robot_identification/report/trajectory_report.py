# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Report and picture of a motion: is it proved safe, what will it show, and how to run it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
import math
from typing import Any

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.excitation import (
    CRITERIA, criteria_columns, describe_certificate_gaps, describe_waived_collision, Evaluation,
    Experiment, motion_limits, Obstacle, tool_path, Trajectory, UNITS_NOTE,
    WeakParameter,
)
from robot_identification.model import describe_placeholders, rigid_torque, RobotModel
from robot_identification.report.figures import draw_png, GAP, MARGINS, WIDE_LABELS, WIDTH
from robot_identification.report.formatting import NOT_AVAILABLE, number, percent
from robot_identification.report.page import render_page
from robot_identification.report.parameters import WEAK_SHARE
from robot_identification.report.plot import (
    Drawing, GRID, MEASURED, Picture, PREDICTED, RESIDUAL,
)
from robot_identification.validation import Verdict
import scipy

LIMIT_UNITS = {
    'position': 'rad', 'velocity': 'rad/s', 'acceleration': 'rad/s²', 'torque': 'N m',
    'jerk': 'rad/s³',
}
CURVE, LIMIT, BEGIN = PREDICTED, RESIDUAL, '#009e73'
INSTANTS = 600  # of a period; chosen: smooth at the resolution of the figure
# Name, values (m, n), lower and upper limits (n,) and unit.
Curves = tuple[str, FloatArray, FloatArray, FloatArray, str]
# Axes of the root frame, across and up.
VIEWS = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class LimitRow:
    """Margin of a motion to one kind of limit."""

    # The limit, its unit, and the joint that comes nearest.
    kind: str
    unit: str
    joint: str
    # What the joint reaches, the limit with its margin, and the part of it that is used.
    value: float
    limit: float
    share: float
    when: str  # in words


def render_trajectory_report(
    robot: RobotModel,
    trajectory: Trajectory,
    experiment: Experiment,
    evaluation: Evaluation,
    *,
    path: str = '',
    refused: str = '',
    command_line: str = '',
) -> str:
    """
    Return the report of a trajectory, one HTML file that needs no network.

    `path` is where the trajectory was written, empty if it was not; `refused` is why it has no
    certificate, empty if it has one.
    """
    certificate = {} if refused else trajectory.certificate
    before = certificate.get('search', {}).get('criteria_before')
    columns = criteria_columns(evaluation, {'random start': before} if before else None)
    return render_page(
        'trajectory.html.j2',
        robot=robot,
        trajectory=trajectory,
        certificate=certificate,
        experiment=experiment,
        evaluation=evaluation,
        verdict=judge_trajectory(
            robot, trajectory, evaluation, refused, describe_placeholders(robot)
        ),
        refused=refused,
        not_checked=describe_certificate_gaps(certificate, trajectory.joint_names),
        limits=limit_rows(robot, certificate),
        criteria_titles=tuple(columns),
        # Name, meaning and values of each.
        criteria=[
            (
                name.replace('_', ' '), criterion.meaning,
                [_cell(values.get(name)) for values in columns.values()],
            )
            for name, criterion in CRITERIA.items()
        ],
        units_note=UNITS_NOTE,
        weak=evaluation.weak,
        hardly_shown=hardly_shown(evaluation),
        joints=joint_pictures(robot, trajectory, experiment),
        paths=path_pictures(robot, trajectory, experiment),
        path=path or 'trajectory.yaml',
        command_line=command_line,
    )


def judge_trajectory(
    robot: RobotModel, trajectory: Trajectory, evaluation: Evaluation, refused: str,
    masses: str = '',
) -> Verdict:
    """
    Return whether a motion may be run and is informative.

    `refused` says why there is no certificate, `masses` why the masses of the description look
    invented; both may be empty.
    """
    weak = hardly_shown(evaluation)
    shows = (
        f'{len(weak)} of {len(evaluation.weak)} parameters are hardly shown: '
        f'{", ".join(one.name for one in weak[:5])}'
        + (' and others' if len(weak) > 5 else '')
        if weak else f'all {len(evaluation.weak)} parameters with a value are shown'
    )
    if refused:
        return Verdict(
            'bad', (f'not certified: {refused}', *([masses] if masses else []), shows),
            'change the motion or the margins: nothing executes a motion without a certificate',
        )
    certificate = trajectory.certificate
    limits = limit_rows(robot, certificate)
    nearest = max(limits, key=lambda row: row.share, default=None)
    gaps = describe_certificate_gaps(certificate, trajectory.joint_names)
    reasons = [*gaps, *([masses] if masses else [])]
    if nearest is not None:
        reasons.append(
            f'every limit {"that is known " if gaps else ""}is kept with its margin; nearest is '
            f'the {nearest.kind} of {nearest.joint}, {percent(nearest.share)} of what the margin '
            'leaves'
        )
    reasons += [*_clearance_words(certificate), shows]
    reserve = certificate.get('torque_reserve')
    is_limited = certificate.get('collision') == 'off' or bool(gaps or masses)
    if reserve is not None and reserve < 0.2:
        reasons.append(
            f'only {percent(reserve)} of the torque limit is left for friction, which the '
            'description does not know'
        )
        is_limited = True
    return Verdict(
        'usable' if weak or is_limited else 'good', tuple(reasons),
        'simulate it, state what is missing, and certify it again: the runner of a real arm '
        'refuses a motion that was not checked in full' if gaps else
        'simulate it, then run it slowly with the hash below and the emergency stop in your hand',
    )


def hardly_shown(evaluation: Evaluation) -> tuple[WeakParameter, ...]:
    """Return the parameters that one run leaves unknown by more than half of their value."""
    return tuple(
        one for one in evaluation.weak
        if one.share > WEAK_SHARE or not math.isfinite(one.standard_error)
    )


def limit_rows(robot: RobotModel, certificate: Mapping[str, Any]) -> tuple[LimitRow, ...]:
    """Return how near a certified motion comes to each kind of limit."""
    places = {name: joint for joint, name in enumerate(robot.joint_names)}

    def unit_of(kind: str, joint: str) -> str:
        unit = LIMIT_UNITS.get(kind, '')
        return robot.unit(unit, places[joint]) if joint in places else unit

    return tuple(
        LimitRow(
            kind.replace('_', ' '),
            unit_of(kind, str(use['joint'])),
            str(use['joint']),
            float(use['value']),
            math.nan if use['limit'] is None else float(use['limit']),
            float(use['share']),
            'by its bound' if use['time'] is None else f'at {use["time"]:.2f} s',
        )
        for kind, use in certificate.get('limits', {}).items()
    )


def _clearance_words(certificate: Mapping[str, Any]) -> tuple[str, ...]:
    entry = certificate.get('collision')
    if not isinstance(entry, dict):
        waived = describe_waived_collision(certificate)
        return (waived,) if waived else ()
    if entry['nearest'] is None:
        return ('there is nothing that the arm could touch',)
    return (
        f'{entry["clearance"]:g} m to the arm itself and to obstacles is kept at every '
        f'instant; nearest come {" and ".join(entry["pair"])}, '
        f'{number(entry["nearest"])} m at {entry["time"]:.2f} s',
    )


def _cell(value: float | None) -> str:
    if value is None or math.isnan(value):
        return NOT_AVAILABLE
    return number(value, 4) if math.isfinite(value) else 'infinite'


def trajectory_png(robot: RobotModel, trajectory: Trajectory, experiment: Experiment) -> bytes:
    """
    Return the pictures of a motion, certified or not, as one PNG; same motion, same bytes.

    Raises UsageError if the experiment names an unknown joint.
    """
    return draw_png([
        *_joint_drawings(robot, trajectory, experiment),
        *_path_drawings(robot, trajectory, experiment),
    ], len(VIEWS))


def _curves(
    robot: RobotModel, trajectory: Trajectory, experiment: Experiment
) -> tuple[FloatArray, tuple[Curves, ...]]:
    """Return times (m,), and position, velocity, acceleration and torque of all joints there."""
    limits = motion_limits(robot, experiment)
    t = np.linspace(0.0, trajectory.form.duration, INSTANTS)
    motion = trajectory.sample(t)
    torque = rigid_torque(robot.with_gravity(experiment.gravity), motion)
    return t, (
        ('position', motion.q, limits.lower, limits.upper, 'rad'),
        ('velocity', motion.dq, -limits.velocity, limits.velocity, 'rad/s'),
        ('acceleration', motion.ddq, -limits.acceleration, limits.acceleration, 'rad/s²'),
        ('torque', torque, -limits.torque, limits.torque, 'N m'),
    )


def joint_pictures(
    robot: RobotModel, trajectory: Trajectory, experiment: Experiment
) -> tuple[Picture, ...]:
    """
    Draw position, velocity, acceleration and torque of every joint over one period.

    Torques are those of the description's bodies, without friction. The limits that the
    experiment's margins and windows leave are dashed lines.
    """
    return tuple(
        drawing.picture(name, (
            f'Position, velocity, acceleration and torque of {name} over one period, limits '
            'dashed'
        )) for name, drawing in _joint_drawings(robot, trajectory, experiment)
    )


def _joint_drawings(
    robot: RobotModel, trajectory: Trajectory, experiment: Experiment
) -> Iterator[tuple[str, Drawing]]:
    t, rows = _curves(robot, trajectory, experiment)
    for joint, name in enumerate(robot.joint_names):
        drawing = Drawing(WIDTH, 4.4)
        panels = drawing.panels(
            (WIDE_LABELS, *MARGINS[1:]), rows=(1.0,) * len(rows), gaps=(0.0, GAP)
        )
        for panel, (what, values, lower, upper, unit) in zip(panels, rows, strict=True):
            panel.curve(t, values[:, joint], CURVE, 1.2, name=what)
            for limit in _near_limits(values[:, joint], lower[joint], upper[joint]):
                panel.curve(t[[0, -1]], np.full(2, limit), LIMIT, 1.0, dashed=True)
            panel.y.margin = 0.12
            panel.x.numbered = panel is panels[-1]
            panel.label(
                f'[{robot.unit(unit, joint)}]', 'time [s]' if panel is panels[-1] else ''
            )
        yield name, drawing


def path_pictures(
    robot: RobotModel, trajectory: Trajectory, experiment: Experiment
) -> tuple[Picture, ...]:
    """
    Draw the path of the tool in three projections, with the boxes of the cell.

    A dot is at start and end, a square at the base.
    """
    return tuple(
        drawing.picture('', text)
        for text, drawing in _path_drawings(robot, trajectory, experiment)
    )


def _path_drawings(
    robot: RobotModel, trajectory: Trajectory, experiment: Experiment
) -> Iterator[tuple[str, Drawing]]:
    path, ends, half = _seen_path(robot, trajectory)
    seen = ('from above', 'from the side', 'from the front')
    for (across, up), view in zip(VIEWS, seen, strict=True):
        drawing = Drawing(0.8 * WIDTH, 0.8 * WIDTH - MARGINS[0] + MARGINS[1])
        panel, = drawing.panels(MARGINS)
        for outline in _outlines(experiment, [across, up]):
            x, y = np.vstack([outline, outline[:1]]).T
            panel.fill(x, y, GRID)
            panel.curve(x, y, MEASURED, 0.8)
        panel.curve(path[:, across], path[:, up], CURVE, 1.2)
        panel.dots(path[:1, across], path[:1, up], BEGIN, 6.0)
        side = 0.02 * half * np.array([-1.0, -1.0, 1.0, 1.0])
        panel.fill(side, np.roll(side, 1), '#000')
        panel.x.set_limits(*ends[:, across])
        panel.y.set_limits(*ends[:, up])
        panel.label(f'{"xyz"[up]} [m]', f'{"xyz"[across]} [m]')
        yield f'Path of the tool {view}', drawing


def _seen_path(
    robot: RobotModel, trajectory: Trajectory
) -> tuple[FloatArray, FloatArray, float]:
    """Return the path (m, 3) of the tool, both ends (2, 3) of what is shown, and half of it."""
    t = np.linspace(0.0, trajectory.form.duration, INSTANTS)
    path = tool_path(robot, trajectory.sample(t).q)
    # The base is the origin of the root frame, and of what people measure from.
    shown = np.vstack([path, np.zeros(3)])
    # Half as much again is seen around it: walls of a cell are larger than the arm.
    half = 0.75 * max(float(np.ptp(shown, axis=0).max()), 0.1)
    centre = 0.5 * (shown.max(axis=0) + shown.min(axis=0))
    return path, np.array([centre - half, centre + half]), half


def _outlines(experiment: Experiment, plane: Sequence[int]) -> Iterator[FloatArray]:
    """Yield the corners (k, 2) of the boxes that stand in a cell, as they are seen."""
    for obstacle in experiment.obstacles:
        if not obstacle.link:
            corners = box_corners(obstacle)[:, plane]
            yield corners[scipy.spatial.ConvexHull(corners).vertices]


def _near_limits(values: FloatArray, *limits: float) -> list[float]:
    """Return the limits within four times what is used; others leave the panel to the motion."""
    middle = 0.5 * (values.max() + values.min())
    reach = max(2.0 * float(np.ptp(values)), 1e-3)
    return [limit for limit in limits if abs(limit - middle) <= reach]


def box_corners(obstacle: Obstacle) -> FloatArray:
    """Return the eight corners of a box in the frame it stands in [m], shape (8, 3)."""
    signs = np.array(list(product((-0.5, 0.5), repeat=3)))
    corners: FloatArray = (
        signs * obstacle.size @ pin.rpy.rpyToMatrix(*obstacle.rpy).T + obstacle.xyz
    )
    return corners
