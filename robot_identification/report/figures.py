# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Figures of the reports, inside the page.

They hold no text of the user's: joint and bag names stand in the page around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.model import IdentifiedModel, rigid_torque
from robot_identification.processing import Dataset
from robot_identification.report.arm_figure import arm_drawing
from robot_identification.report.formatting import effort_unit_text
from robot_identification.report.plot import (
    Drawing, MEASURED, Panel, Picture, PREDICTED, RESIDUAL, URDF,
)

# Narrow, so that the text is still legible where a phone shows the figure 360 pixels wide.
WIDTH = 5.4
EFFORT_HEIGHT, SCATTER_HEIGHT = 2.9, 2.8  # [inches]
# Room for the labels of a panel [inch]: left, below, right, above.
MARGINS = (0.78, 0.52, 0.08, 0.08)
# At the left where the label has two lines.
WIDE_LABELS = 0.95
# Between panels that share an axis [inch].
GAP = 0.12
# The part of a recording that is drawn beside the whole.
ZOOM_WIDTH, ZOOM_SECONDS = 3.0, 2.0
MAXIMUM_PANELS = 24  # of one page
# An interval that differs by more of the period is worth a picture: beyond this jitter of a
# recording is to be repaired.
UNEVEN_SHARE = 0.1
# Points of one curve, chosen: three to the pixel. With more panels than these there are fewer, so
# that a page of dense noise stays below 5 MB.
MAXIMUM_POINTS, FULL_PANELS = 2000, 24
# Samples of a recording at which the URDF's effort is computed; chosen: a tenth of a second.
MOST_URDF_SAMPLES = 20_000
# Abscissa, ordinate and colour.
Series = tuple[FloatArray, FloatArray, str]


@dataclass(frozen=True)
class PictureGroup:
    """The pictures of one bag: every joint over the whole of it, and over its worst part."""

    bag: str
    pictures: tuple[Picture, ...]
    zooms: tuple[Picture, ...]
    arm: str  # markup of its poses, for the script


def drawn_bags(joints: int, bags: int) -> int:
    """Return how many of the bags are drawn, joint by joint."""
    return min(bags, max(1, MAXIMUM_PANELS // joints))


def points_of_curve(panels: int) -> int:
    """Return the points of a curve with which so many panels keep the page small."""
    return MAXIMUM_POINTS * FULL_PANELS // max(panels, FULL_PANELS)


def decimate(
    t: FloatArray, values: FloatArray, limit: int = MAXIMUM_POINTS
) -> tuple[FloatArray, FloatArray]:
    """
    Return a curve (N,) reduced to at most `limit` points that keeps every peak.

    Of every bin the smallest and the largest value stay; all values must be finite.
    """
    if len(t) <= limit:
        return t, values
    edges = np.linspace(0, len(t), max(limit // 2, 1) + 1).astype(int)
    chosen = []
    for extreme in (np.minimum, np.maximum):
        own = np.repeat(extreme.reduceat(values, edges[:-1]), np.diff(edges))
        at = np.flatnonzero(values == own)
        chosen.append(at[np.searchsorted(at, edges[:-1])])
    taken = np.unique(np.concatenate(chosen))
    return t[taken], values[taken]


def effort_pictures(
    model: IdentifiedModel, dataset: Dataset, predicted: FloatArray, points: int
) -> PictureGroup:
    """
    Draw measured and predicted effort (N, n) of every joint over time, the residual below.

    The URDF's own effort, without friction, is beside them. To the right of the whole recording
    are the two seconds with the largest error of the joint. A curve has at most so many points.
    """
    pictures, zooms = [], []
    urdf = _urdf_effort(model, dataset)
    for joint, name in enumerate(dataset.joint_names):
        measured = dataset.effort[:, joint]
        rows = dataset.scored & np.isfinite(measured) & np.isfinite(predicted[:, joint])
        what = f'Effort of {name} over time, measured, predicted and of the URDF; residual below'
        curves = (measured, predicted[:, joint], measured - predicted[:, joint], urdf[:, joint])
        unit = model.robot.unit(effort_unit_text(dataset.effort_unit), joint)
        drawn = _draw_effort(dataset, curves, rows, (points, WIDTH), unit)
        pictures.append(drawn.picture(name, what))
        part = worst_part(dataset.stamps, curves[2], rows)
        zoomed = _draw_effort(dataset, curves, rows & part, (points, ZOOM_WIDTH), unit)
        zooms.append(zoomed.picture(
            '', f'{what}: the {ZOOM_SECONDS:g} s with the largest error'
        ))
    return PictureGroup(
        dataset.source, tuple(pictures), tuple(zooms), arm_drawing(model.robot, dataset)
    )


def _draw_effort(
    dataset: Dataset, curves: Sequence[FloatArray], rows: BoolArray, size: tuple[int, float],
    unit: str,
) -> Drawing:
    """
    Draw curves (N,) at some samples: measured, predicted, the residual below, the URDF's.

    `size` is the number of points of a curve, and the width.
    """
    points, width = size
    drawing = Drawing(width, EFFORT_HEIGHT)
    effort, residual = drawing.panels(
        (WIDE_LABELS, *MARGINS[1:]), rows=(2.0, 1.0), gaps=(0.0, GAP)
    )
    measured, predicted, left, urdf = (
        _curve(dataset, curve, rows & np.isfinite(curve), points) for curve in curves
    )
    effort.curve(*urdf, URDF, 0.9, name='URDF', dashed=True)
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
        chosen = np.arange(0, len(dataset), 1 + len(dataset) // MOST_URDF_SAMPLES)
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


@dataclass(frozen=True)
class Intervals:
    """The time between neighbouring samples of a recording."""

    bag: str
    words: str  # how long it is
    picture: Picture | None  # over time; none where it is always the same, which needs no picture


def sample_intervals(dataset: Dataset, points: int) -> Intervals:
    """Return the intervals of a recording in words and, unless they are even, as a picture."""
    intervals, period = np.diff(dataset.stamps), 1.0 / dataset.rate
    words = (
        f'Time between neighbouring samples: median {1e3 * period:.1f} ms, '
        f'longest {1e3 * intervals.max(initial=0.0):.1f} ms'
    )
    uneven = bool(np.any(np.abs(intervals - period) > UNEVEN_SHARE * period))
    return Intervals(
        dataset.source, words, _interval_picture(dataset, points, words) if uneven else None
    )


def scores_differ(scores: Sequence[float]) -> bool:
    """Return whether candidates are distinguished by their scores, to the digits shown."""
    return len({f'{score:.4f}' for score in scores}) > 1


def _interval_picture(dataset: Dataset, points: int, words: str) -> Picture:
    drawing, panel = single_panel(2.2)
    t, interval = decimate(dataset.stamps[1:], 1e3 * np.diff(dataset.stamps), points)
    panel.curve(t, interval, PREDICTED, 0.7)
    longest = float(interval.max(initial=0.0))
    panel.y.set_limits(0.0, 1.2 * longest or 1.0)
    panel.label('interval [ms]', 'time [s]')
    return drawing.picture('', words)


def singular_value_picture(singular_values: FloatArray) -> Picture:
    """Draw the singular values of the weighted problem with columns of unit length."""
    drawing, panel = single_panel(2.6)
    panel.y.logarithmic = True
    panel.dots(np.arange(1.0, len(singular_values) + 1), singular_values, PREDICTED, 4.0)
    panel.label('singular value', 'number')
    return drawing.picture('', (
        f'{len(singular_values)} singular values from {singular_values.max():.2g} '
        f'down to {singular_values.min():.2g}'
    ))


def temperature_picture(
    words: tuple[str, str], temperature: FloatArray, values: FloatArray, errors: FloatArray,
    line: FloatArray,
) -> Picture:
    """
    Draw viscous friction over temperature; `words` are the name of the joint, and the unit.

    `temperature` [deg C], `values` and their standard `errors` are those of the runs,
    each (m,); `line` (2, k) has temperatures and values of a line, with k = 0 if there is none.
    """
    name, unit = words
    drawing, panel = single_panel(2.6)
    panel.error_bars(temperature, values, errors, PREDICTED)
    panel.dots(temperature, values, PREDICTED, 4.0)
    panel.curve(line[0], line[1], RESIDUAL, 1.2)
    panel.label(f'viscous friction\n[{unit}]', 'temperature [°C]')
    panel.x.margin = 0.05
    return drawing.picture(
        name, f'Viscous friction of {name} over its temperature, with a line'
    )


def draw_panel(
    points: Sequence[Series], line: Series | None, labels: tuple[str, str], *, joined: bool = False
) -> Drawing:
    """
    Draw points, or curves if `joined`, and a line behind them.

    A series is abscissa, ordinate and colour. `labels` are those of the two axes, abscissa first,
    and contain no text of the user's.
    """
    drawing, panel = single_panel(SCATTER_HEIGHT, MARGINS[0])
    if line is not None:
        panel.curve(*line, 1.2)
    for series in points:
        if joined:
            panel.curve(*series, 0.9)
        else:
            panel.dots(*series, 4.0)
    panel.label(labels[1], labels[0])
    if not joined:
        panel.x.margin = 0.05
    return drawing


def single_panel(height: float, left: float = WIDE_LABELS) -> tuple[Drawing, Panel]:
    """Return a drawing so high with one panel, and room for the labels at its left [inch]."""
    drawing = Drawing(WIDTH, height)
    panel, = drawing.panels((left, *MARGINS[1:]))
    return drawing, panel


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
