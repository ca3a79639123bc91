# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""One panel of points or curves, for the reports of drive gains and payloads."""

from __future__ import annotations

from collections.abc import Sequence

from robot_identification.arrays import FloatArray
from robot_identification.report.figures import MARGINS, single_panel
from robot_identification.report.plot import Drawing

HEIGHT = 2.8  # [inches]
# Abscissa, ordinate and colour.
Series = tuple[FloatArray, FloatArray, str]


def draw_panel(
    points: Sequence[Series], line: Series | None, labels: tuple[str, str], *, joined: bool = False
) -> Drawing:
    """
    Draw points, or curves if `joined`, and a line behind them.

    A series is abscissa, ordinate and colour. `labels` are those of the two axes, abscissa first,
    and contain no text of the user's.
    """
    drawing, panel = single_panel(HEIGHT, MARGINS[0])
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
