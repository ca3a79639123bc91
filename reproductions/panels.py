# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The look that pictures of reproductions share: small panels, few colours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
import io
from typing import TYPE_CHECKING

from reproductions.reproduction import Picture, picture_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, RESOLUTION = 8.0, 100.0
SMALL, SMALLER = 8.0, 7.0
# A few lines and letters need no more, and files are a third as large.
COLOURS = 64
BLACK, BLUE, RED, GREEN, GREY = '#202020', '#2060c0', '#c03020', '#2a8a3a', '#a8a8a8'


def new_figure(width: float, height: float, resolution: float) -> Figure:
    """Return an empty figure that needs no screen; size in inch, resolution in dots/inch."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=resolution, layout='constrained')


def panels(rows: int, columns: int, height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure of a height [inch] and its panels, row by row."""
    figure = new_figure(WIDTH, height, RESOLUTION)
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def finish(axes: Axes, title: str, across: str = '', up: str = '') -> None:
    """Give a panel its words and a quiet frame."""
    axes.set_title(title, fontsize=SMALL)
    axes.set_xlabel(across, fontsize=SMALLER)
    axes.set_ylabel(up, fontsize=SMALLER)
    axes.tick_params(labelsize=SMALLER)
    axes.grid(True, color='#e4e4e4', linewidth=0.6)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)


def legend_above(figure: Figure, axes: Axes) -> None:
    """Write what the lines of a panel are above all panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc='outside upper center', ncols=len(labels), fontsize=SMALL,
        frameon=False,
    )


def hide(unused: Iterable[Axes]) -> None:
    """Leave panels empty that have nothing to show."""
    for axes in unused:
        axes.set_axis_off()


def small_picture(name: str, title: str, alternative: str, figure: Figure) -> Picture:
    """Return a figure as a picture of few colours; see `reproduction.picture_of`."""
    from PIL import Image

    picture = picture_of(name, title, alternative, figure)
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(picture.png)) as image:
        few = image.convert('RGB').quantize(COLOURS, Image.Quantize.MAXCOVERAGE)
        few.save(buffer, 'PNG', optimize=True)
    return replace(picture, png=buffer.getvalue())
