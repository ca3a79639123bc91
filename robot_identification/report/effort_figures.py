# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Recorded and predicted effort over time, and the arm's poses for the cursor of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup
import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IndexArray
from robot_identification.model import IdentifiedModel, rigid_torque, RobotModel
from robot_identification.processing import Dataset
from robot_identification.report.explanation import Scored
from robot_identification.report.figures import (
    decimate, GAP, MARGINS, MAXIMUM_POINTS, single_panel, WIDE_LABELS, WIDTH,
)
from robot_identification.report.formatting import effort_unit_text
from robot_identification.report.plot import (
    Drawing, MEASURED, Picture, PREDICTED, RESIDUAL, URDF_COLOUR,
)

# The part of a recording that is drawn next to the whole [s].
ZOOM_SECONDS = 2.0
# Of one page with curves of all points; with more they have fewer, so that a page of dense noise
# stays below 5 MB.
MAXIMUM_PANELS = 24
SIZE = 1000  # units of the longer side of a drawing of the arm


def effort_section(model: IdentifiedModel, scored: Sequence[Scored]) -> dict[str, Any]:
    """Return pictures of recorded and predicted effort, as many as a page can hold."""
    drawn = drawn_bags(model.robot.n, len(scored))
    points = points_of_curve((model.robot.n + 1) * drawn)
    return {
        'intervals': [
            (one.dataset.source, *sample_intervals(one.dataset, points)) for one in scored[:drawn]
        ],
        # Of every recording: its name, the arm, and of every joint the whole and the worst part.
        'pictures': [
            (
                one.dataset.source, arm_drawing(model.robot, one.dataset),
                effort_pictures(model, one.dataset, one.predicted, points),
            )
            for one in scored[:drawn]
        ],
        'left_out': len(scored) - drawn,
    }


def drawn_bags(joints: int, bags: int) -> int:
    """Return how many of the bags are drawn, joint by joint."""
    return min(bags, max(1, MAXIMUM_PANELS // joints))


def points_of_curve(panels: int) -> int:
    """Return the points of a curve with which so many panels keep the page small."""
    return MAXIMUM_POINTS * MAXIMUM_PANELS // max(panels, MAXIMUM_PANELS)


def effort_pictures(
    model: IdentifiedModel, dataset: Dataset, predicted: FloatArray, points: int
) -> list[tuple[Picture, Picture]]:
    """
    Draw measured and predicted effort (N, n) of every joint over time, the residual below.

    The URDF's own effort, without friction, is beside them. With the picture of the whole
    recording comes that of the two seconds with the largest error of the joint. A curve has at
    most so many points.
    """
    pictures = []
    urdf = _urdf_effort(model, dataset)
    for joint, name in enumerate(dataset.joint_names):
        measured = dataset.effort[:, joint]
        rows = dataset.scored & np.isfinite(measured) & np.isfinite(predicted[:, joint])
        what = f'Effort of {name} over time, measured, predicted and of the URDF; residual below'
        curves = (measured, predicted[:, joint], measured - predicted[:, joint], urdf[:, joint])
        unit = model.robot.unit(effort_unit_text(dataset.effort_unit), joint)
        whole = _draw_effort(dataset, curves, rows, (points, WIDTH), unit)
        part = worst_part(dataset.stamps, curves[2], rows)
        zoomed = _draw_effort(dataset, curves, rows & part, (points, 3.0), unit)
        pictures.append((whole.picture(name, what), zoomed.picture(
            '', f'{what}: the {ZOOM_SECONDS:g} s with the largest error'
        )))
    return pictures


def _draw_effort(
    dataset: Dataset, curves: Sequence[FloatArray], rows: BoolArray, size: tuple[int, float],
    unit: str,
) -> Drawing:
    """
    Draw curves (N,) at some samples: measured, predicted, the residual below, the URDF's.

    `size` is the number of points of a curve, and the width.
    """
    points, width = size
    drawing = Drawing(width, 2.9)
    effort, residual = drawing.panels(
        (WIDE_LABELS, *MARGINS[1:]), rows=(2.0, 1.0), gaps=(0.0, GAP)
    )
    measured, predicted, left, urdf = (
        _curve(dataset, curve, rows & np.isfinite(curve), points) for curve in curves
    )
    effort.curve(*urdf, URDF_COLOUR, 0.9, name='URDF', dashed=True)
    effort.curve(*measured, MEASURED, 1.6, name='measured')
    effort.curve(*predicted, PREDICTED, 0.9, name='predicted')
    residual.curve(*left, RESIDUAL, 0.8, name='residual')
    for panel in (effort, residual):
        panel.x.include(dataset.stamps[rows])
        panel.x.is_time = True
    residual.level(0.0)
    effort.label(f'effort [{unit}]', '')
    effort.x.numbered = False
    residual.label(f'residual\n[{unit}]', 'time [s]')
    return drawing


def _urdf_effort(model: IdentifiedModel, dataset: Dataset) -> FloatArray:
    """Return the effort of the URDF's bodies (N, n) at evenly spread samples, elsewhere NaN."""
    effort = np.full(dataset.motion.q.shape, np.nan)
    # With unknown gains the URDF's torque is in another unit than the effort.
    if not model.relative_scale:
        # Twenty thousand take a tenth of a second.
        chosen = np.arange(0, len(dataset), 1 + len(dataset) // 20_000)
        torque = rigid_torque(model.robot, dataset.motion.rows(chosen))
        effort[chosen] = torque * model.effort_per_torque
    return effort


def worst_part(stamps: FloatArray, residual: FloatArray, rows: BoolArray) -> BoolArray:
    """
    Return the rows (N,) of the ZOOM_SECONDS in which the squared residual is largest.

    Stamps (N,) do not decrease [s]; the residual (N,) is finite in `rows`. All rows if the
    recording is shorter.
    """
    total = np.concatenate([[0.0], np.cumsum(np.where(rows, residual, 0.0) ** 2)])
    after = np.searchsorted(stamps, stamps + ZOOM_SECONDS, side='right')
    # Parts that run out at the end are shorter than they could be.
    complete = np.flatnonzero(stamps <= stamps[-1] - ZOOM_SECONDS)
    if not complete.size:
        return np.ones(len(stamps), dtype=bool)
    first = complete[np.argmax((total[after] - total[:-1])[complete])]
    part = np.zeros(len(stamps), dtype=bool)
    part[first: after[first]] = True
    return part


def sample_intervals(dataset: Dataset, points: int) -> tuple[str, Picture | None]:
    """Return the intervals of a recording in words and, unless they are even, as a picture."""
    intervals, period = np.diff(dataset.stamps), 1.0 / dataset.rate
    longest = 1e3 * float(intervals.max(initial=0.0))
    words = (
        f'Time between neighbouring samples: median {1e3 * period:.1f} ms, '
        f'longest {longest:.1f} ms'
    )
    # Beyond this the jitter of a recording is to be repaired.
    if not np.any(np.abs(intervals - period) > 0.1 * period):
        return words, None
    drawing, panel = single_panel(2.2)
    t, interval = decimate(dataset.stamps[1:], 1e3 * intervals, points)
    panel.curve(t, interval, PREDICTED, 0.7)
    panel.y.set_limits(0.0, 1.2 * longest or 1.0)
    panel.label('interval [ms]', 'time [s]')
    return words, drawing.picture('', words)


def _curve(
    dataset: Dataset, values: FloatArray, rows: BoolArray, points: int
) -> tuple[FloatArray, FloatArray]:
    """Return a curve of about so many points that is broken where the recording has a gap."""
    total = max(int(np.count_nonzero(rows)), 1)
    pieces = [(np.zeros(0), np.zeros(0))]
    for segment in dataset.segments:
        chosen = segment.start + np.flatnonzero(rows[segment])
        if chosen.size:
            limit = max(2, points * chosen.size // total)
            pieces.append(decimate(dataset.stamps[chosen], values[chosen], limit))
            pieces.append((np.array([np.nan]), np.array([np.nan])))
    t, curve = zip(*pieces, strict=True)
    return np.concatenate(t), np.concatenate(curve)


def arm_drawing(robot: RobotModel, dataset: Dataset) -> Markup:
    """
    Return a hidden drawing of the arm with its poses at the samples that are scored.

    Its data are times [s], and for each the points of the arm and of its shadow on the ground.
    """
    scored = np.flatnonzero(dataset.scored)
    # The script interpolates between them; 25 kB for six joints.
    rows = scored[np.linspace(0, len(scored) - 1, min(240, len(scored))).astype(int)]
    arm = joint_positions(robot, dataset.motion.q, rows)
    shadow = arm * (1.0, 1.0, 0.0)
    seen = np.concatenate([project(arm), project(shadow)], axis=1)
    low, high = seen.min(axis=(0, 1)), seen.max(axis=(0, 1))
    edge = 60  # left free
    scale = (SIZE - 2 * edge) / max(float(np.max(high - low)), np.finfo(float).tiny)
    places = (edge + scale * (seen - low)).round().astype(int)
    width, height = (2 * edge + scale * (high - low)).round().astype(int)
    times = ' '.join(f'{time:.3f}' for time in dataset.stamps[rows])
    poses = ';'.join(' '.join(map(str, pose.ravel())) for pose in places)
    return Markup(
        f'<svg class="arm" hidden viewBox="0 0 {width} {height}" data-times="{times}" '
        f'data-poses="{poses}" aria-hidden="true"><path class="shadow"/><path/></svg>'
    )


def joint_positions(robot: RobotModel, q: FloatArray, rows: IndexArray) -> FloatArray:
    """
    Return base, joints and the far end of the last link for some positions (N, n).

    Shape (m, n + 2, 3), in the frame of the base [m].
    """
    import pinocchio as pin

    model = robot.pinocchio
    data = model.createData()
    of_last = [frame.placement.translation for frame in model.frames
               if frame.parentJoint == model.njoints - 1]
    end = max(of_last, key=lambda place: float(np.linalg.norm(place)), default=np.zeros(3))
    points = np.zeros((len(rows), robot.n + 2, 3))
    for pose, row in zip(points, rows, strict=True):
        pin.forwardKinematics(model, data, np.ascontiguousarray(q[row]))
        for joint in range(1, model.njoints):
            pose[joint] = data.oMi[joint].translation
        pose[-1] = data.oMi[model.njoints - 1].act(end)
    return points


def project(points: FloatArray) -> FloatArray:
    """
    Return where points (.., 3) are seen in a parallel projection: across and down (.., 2).

    From the right of the x axis, and from above the horizon.
    """
    x, y, z = np.moveaxis(points, -1, 0)
    azimuth, elevation = np.radians([40.0, 20.0])
    across = y * np.cos(azimuth) - x * np.sin(azimuth)
    toward = x * np.cos(azimuth) + y * np.sin(azimuth)
    return np.stack([across, toward * np.sin(elevation) - z * np.cos(elevation)], axis=-1)
