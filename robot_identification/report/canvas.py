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
from robot_identification.report.plot import Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = 64  # of the palette of a picture


def new_figure(width: float, height: float, resolution: float) -> Figure:
    """Return an empty figure that needs no screen; size in inch, resolution in dots/inch."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=resolution, layout='constrained')
    FigureCanvasAgg(figure)
    return figure


def picture_of(figure: Figure, alternative: str) -> Picture:
    """
    Return a figure of `new_figure` as a picture inside the page, without a title.

    Curves and dots need few colours: with a palette a picture takes a third of the bytes. The
    same figure gives the same bytes.
    """
    from PIL import Image

    canvas: Any = figure.canvas
    canvas.draw()
    image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert('RGB')
    buffer = io.BytesIO()
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(buffer, format='png')
    encoded = base64.b64encode(buffer.getvalue()).decode('ascii')
    return Picture(
        Markup(f'<img src="data:image/png;base64,{encoded}" alt="{escape(alternative)}">'),
        '', alternative,
    )
