# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Figures by matplotlib, for what `plot` does not draw: PNG inside the page.

It is loaded with the first of them: it takes as long to load as the rest of the package, and most
commands draw nothing. Nothing here touches pyplot's global state.
"""

from __future__ import annotations

import base64
import io
from typing import Any, TYPE_CHECKING

from markupsafe import escape, Markup
import numpy as np
from robot_identification.report.plot import FONT_SIZE, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Of the palette of a picture.
COLOURS = 64


def new_figure(
    width: float,
    height: float,
    resolution: float,
    margins: tuple[float, float, float, float] | None = None,
) -> Figure:
    """
    Return an empty figure that needs no screen; size in inch, resolution in dots/inch.

    `margins` are the space of the labels at the left, below, at the right and above [inch];
    without them it is found from the labels, which takes as long as drawing them.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(
        figsize=(width, height), dpi=resolution,
        layout='constrained' if margins is None else None,
    )
    FigureCanvasAgg(figure)
    if margins is not None:
        left, below, right, above = margins
        figure.subplots_adjust(
            left / width, below / height, 1.0 - right / width, 1.0 - above / height
        )
    return figure


def label_axes(axes: Axes, vertical: str, horizontal: str) -> None:
    """Give a panel its labels, no text of the user's, and the look of all panels."""
    from matplotlib import ticker

    for axis in (axes.xaxis, axes.yaxis):
        # Labels have the room that is left for them: no more than five, none of many digits.
        if axis.get_scale() == 'linear':
            axis.set_major_locator(ticker.MaxNLocator(5))
            axis.set_major_formatter(ticker.FormatStrFormatter('%.4g'))
    axes.set_ylabel(vertical, fontsize=FONT_SIZE)
    axes.set_xlabel(horizontal, fontsize=FONT_SIZE)
    axes.tick_params(labelsize=FONT_SIZE)
    axes.grid(True, color='#e0e0e0', linewidth=0.6)
    axes.margins(x=0.01)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)


def picture_of(
    figure: Figure, title: str, alternative: str, colours: int = COLOURS
) -> Picture:
    """
    Return a figure of `new_figure` as a picture inside the page.

    The title above it may be empty; `alternative` is its alternative text. Curves and dots need
    few colours: with a palette, of at most 256 `colours`, a picture takes a third of the bytes.
    The same figure gives the same bytes.
    """
    from PIL import Image

    canvas: Any = figure.canvas
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert('RGB')
    buffer = io.BytesIO()
    image.quantize(colours, dither=Image.Dither.NONE).save(buffer, format='png')
    encoded = base64.b64encode(buffer.getvalue()).decode('ascii')
    return Picture(
        Markup(f'<img src="data:image/png;base64,{encoded}" alt="{escape(alternative)}">'),
        title, alternative,
    )
