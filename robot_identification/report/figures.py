# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Helpers of all figures, and the smaller ones.

Figures of pages hold no text of the user's: joint and bag names stand around them.
"""

from __future__ import annotations

from collections.abc import Sequence
import io
from typing import TYPE_CHECKING

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.report.plot import (
    Drawing, FONT_SIZE, GRID, Panel, Picture, POINTS_PER_INCH, PREDICTED,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Narrow, so that the text is still legible where a phone shows the figure 360 pixels wide.
WIDTH = 5.4
# Room for the labels of a panel [inch]: left, below, right, above.
MARGINS = (0.78, 0.52, 0.08, 0.08)
# At the left where the label has two lines.
WIDE_LABELS = 0.95
# Between panels that share an axis [inch].
GAP = 0.12
# Points of one curve, chosen: three to the pixel.
MAXIMUM_POINTS = 2000
# Abscissa, ordinate and colour.
Series = tuple[FloatArray, FloatArray, str]


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


def draw_panel(
    points: Sequence[Series], line: Series | None, labels: tuple[str, str], *, joined: bool = False
) -> Drawing:
    """
    Draw points, or curves if `joined`, and a line behind them.

    A series is abscissa, ordinate and colour. `labels` are those of the two axes, abscissa first,
    and contain no text of the user's.
    """
    drawing, panel = single_panel(2.8, MARGINS[0])
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


def draw_png(drawings: Sequence[tuple[str, Drawing]], columns: int) -> bytes:
    """
    Return drawings, each with a title, in rows of so many, as PNG.

    The same drawings give the same bytes. matplotlib takes as long to load as all the rest.
    """
    from matplotlib.figure import Figure

    title = 2.0 * FONT_SIZE  # room above [points]
    rows = [drawings[first: first + columns] for first in range(0, len(drawings), columns)]
    heights = [title + max(drawing.height for _, drawing in row) for row in rows]
    each = max(drawing.width for _, drawing in drawings)
    width, height = columns * each, sum(heights)
    figure = Figure(figsize=(width / POINTS_PER_INCH, height / POINTS_PER_INCH), dpi=130.0)
    for row, top in zip(rows, np.cumsum([0.0, *heights]), strict=False):
        for column, (text, drawing) in enumerate(row):
            left = column * each
            figure.text(
                (left + 0.5 * drawing.width) / width, 1.0 - (top + title) / height, text,
                ha='center', parse_math=False,
            )
            for panel in drawing.all_panels:
                below = top + title + panel.top + panel.y.length
                _draw_axes(panel, figure.add_axes((
                    (left + panel.left) / width, 1.0 - below / height,
                    panel.x.length / width, panel.y.length / height,
                )))
    buffer = io.BytesIO()
    figure.savefig(buffer, format='png', metadata={'Software': None})
    return buffer.getvalue()


def _draw_axes(panel: Panel, axes: Axes) -> None:
    """Draw a panel with matplotlib."""
    for mark in panel.marks:
        if not mark.width:
            axes.fill(mark.x, mark.y, color=mark.colour)
        elif mark.dots:
            axes.plot(mark.x, mark.y, 'o', color=mark.colour, markersize=mark.width)
        else:
            axes.plot(
                mark.x, mark.y, color=mark.colour, linewidth=mark.width,
                linestyle='--' if mark.dashed else '-',
            )
    axes.set(xlim=panel.x.ends(), ylim=panel.y.ends(), xlabel=panel.x.label, ylabel=panel.y.label)
    axes.tick_params(labelsize=FONT_SIZE, labelbottom=panel.x.numbered)
    axes.grid(True, color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[['top', 'right']].set_visible(False)
