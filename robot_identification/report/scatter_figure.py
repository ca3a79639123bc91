# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""One panel of points or curves, for the reports of drive gains and payloads."""

from __future__ import annotations

from collections.abc import Sequence

from robot_identification.processing.dataset import FloatArray
from robot_identification.report.canvas import new_figure
from robot_identification.report.figures import label_axes
from robot_identification.report.figures import MARGINS
from robot_identification.report.figures import MAXIMUM_RESOLUTION
from robot_identification.report.figures import Picture
from robot_identification.report.figures import picture_of
from robot_identification.report.figures import WIDTH

HEIGHT = 2.8
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
    Draw some points, and a line behind them.

    Parameters
    ----------
    points : sequence of Series
        Abscissa, ordinate and colour.
    line : Series, optional
        The same of a line.
    labels : tuple of str
        Of the axes; no text of the user's.
    title, alternative : str
        Of the picture.
    joined : bool
        Draw curves, not points.

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
