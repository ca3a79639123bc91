# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""One panel of points or curves, for the reports of drive gains and payloads."""

from __future__ import annotations

from collections.abc import Sequence

from robot_identification.arrays import FloatArray
from robot_identification.report.canvas import new_figure
from robot_identification.report.figures import (
    label_axes, MARGINS, MAXIMUM_RESOLUTION, Picture, picture_of, WIDTH,
)

HEIGHT = 2.8  # [inches]
# Abscissa, ordinate and colour.
Series = tuple[FloatArray, FloatArray, str]


def draw_panel(
    points: Sequence[Series],
    line: Series | None,
    labels: tuple[str, str],
    title: str,
    alternative: str,
    *,
    joined: bool = False,
) -> Picture:
    """
    Draw points, or curves if `joined`, and a line behind them.

    A series is abscissa, ordinate and colour. `labels` are those of the two axes, abscissa first,
    and contain no text of the user's.
    """
    figure = new_figure(WIDTH, HEIGHT, MAXIMUM_RESOLUTION, MARGINS)
    axes = figure.subplots()
    if line is not None:
        axes.plot(line[0], line[1], color=line[2], linewidth=1.2)
    for abscissa, ordinate, colour in points:
        if joined:
            axes.plot(abscissa, ordinate, color=colour, linewidth=0.9)
        else:
            axes.plot(abscissa, ordinate, 'o', color=colour, markersize=4)
    label_axes(axes, labels[1], labels[0])
    if not joined:
        axes.margins(x=0.05)
    return picture_of(figure, title, alternative)
