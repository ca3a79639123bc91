# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Empty figures.

The drawing library is loaded with the first of them: it takes as long to load as the rest of the
package, and most commands draw nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
