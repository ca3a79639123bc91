# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Figures of the reports: PNG inside the page.

They hold no text of the user's (joint and bag names stand in the page around them), so that no
name can be taken for a formula or miss a glyph. Nothing here touches pyplot's global state.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
import io
from typing import Any, TYPE_CHECKING

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.processing import Dataset
from robot_identification.report.canvas import new_figure
from robot_identification.report.formatting import effort_unit_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's blue and vermilion beside grey: distinguishable in every kind of colour vision.
MEASURED, PREDICTED, RESIDUAL = '#767676', '#0072b2', '#d55e00'
# Narrow, so that the text is still legible where a phone shows the figure 360 pixels wide.
WIDTH = 5.4
FONT_SIZE = 10  # [points]
EFFORT_HEIGHT = 2.9  # [inches]
# Room for the labels of a panel [inch]: left, below, right, above.
MARGINS = (0.78, 0.52, 0.08, 0.08)
# At the left where the label has two lines.
WIDE_LABELS = 0.95
# The part of a recording that is drawn beside the whole.
ZOOM_WIDTH, ZOOM_SECONDS, ZOOM_RESOLUTION = 3.0, 2.0, 120.0
MAXIMUM_RESOLUTION = 150.0  # [dots per inch]
# A panel of dense noise takes 0.1 MB at full resolution; with more panels than these they get
# coarser, and bags beyond are not drawn, so that a page stays below 5 MB.
FULL_RESOLUTION_PANELS = 24
MAXIMUM_PANELS = 24  # of one page
# Of the palette of a picture.
COLOURS = 64
# Points of one curve; four to the pixel.
MAXIMUM_POINTS = 4000


@dataclass(frozen=True)
class Picture:
    """A figure inside the page."""

    source: str  # data URI of the PNG
    title: str  # what stands above it; may be empty
    alternative: str  # alternative text


@dataclass(frozen=True)
class PictureGroup:
    """The pictures of one bag: every joint over the whole of it, and over its worst part."""

    bag: str
    pictures: tuple[Picture, ...]
    zooms: tuple[Picture, ...] = ()


def drawn_bags(joints: int, bags: int) -> int:
    """Return how many of the bags are drawn, joint by joint."""
    return min(bags, max(1, MAXIMUM_PANELS // joints))


def choose_resolution(panels: int) -> float:
    """Return the dots per inch at which so many panels keep the page small."""
    return min(MAXIMUM_RESOLUTION,
               MAXIMUM_RESOLUTION * float(np.sqrt(FULL_RESOLUTION_PANELS / max(panels, 1))))


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
    chosen = np.unique([
        edge + index
        for edge, part in zip(edges, np.split(values, edges[1:-1]), strict=False)
        for index in (part.argmin(), part.argmax())
    ])
    return t[chosen], values[chosen]


def effort_pictures(
    dataset: Dataset, predicted: FloatArray, resolution: float
) -> PictureGroup:
    """
    Draw measured and predicted effort (N, n) of every joint over time, the residual below.

    Beside the whole recording are the two seconds with the largest error of the joint. The
    resolution is in dots per inch.
    """
    unit = effort_unit_text(dataset.effort_unit)
    whole = _EffortFigure(unit, WIDTH, resolution)
    zoom = _EffortFigure(unit, ZOOM_WIDTH, min(resolution, ZOOM_RESOLUTION))
    pictures, zooms = [], []
    for joint, name in enumerate(dataset.joint_names):
        measured = dataset.effort[:, joint]
        rows = dataset.scored & np.isfinite(measured) & np.isfinite(predicted[:, joint])
        what = f'Measured and predicted effort of {name} over time, the residual below'
        pictures.append(whole.draw(dataset, predicted, joint, rows, name, what))
        part = worst_part(dataset.stamps, measured - predicted[:, joint], rows)
        zooms.append(zoom.draw(
            dataset, predicted, joint, rows & part, '',
            f'{what}: the {ZOOM_SECONDS:g} s with the largest error',
        ))
    return PictureGroup(dataset.source, tuple(pictures), tuple(zooms))


class _EffortFigure:
    """Two panels that are drawn again with other curves: that is faster than to make them."""

    def __init__(self, unit: str, width: float, resolution: float) -> None:
        self._figure, (effort, residual) = _figure(2, EFFORT_HEIGHT, resolution, width)
        self._lines = (
            effort.plot([], [], color=MEASURED, linewidth=1.6)[0],
            effort.plot([], [], color=PREDICTED, linewidth=0.9)[0],
            residual.plot([], [], color=RESIDUAL, linewidth=0.8)[0],
        )
        residual.axhline(0.0, color='black', linewidth=0.6)
        label_axes(effort, f'effort [{unit}]', '')
        label_axes(residual, f'residual\n[{unit}]', 'time [s]')

    def draw(
        self, dataset: Dataset, predicted: FloatArray, joint: int, rows: BoolArray, title: str,
        alternative: str,
    ) -> Picture:
        """Return the curves of one joint at some samples."""
        measured, model = dataset.effort[:, joint], predicted[:, joint]
        for line, values in zip(self._lines, (measured, model, measured - model), strict=True):
            line.set_data(*_curve(dataset, values, rows))
        for axes in self._figure.axes:
            axes.relim()
            axes.autoscale_view()
        return picture_of(self._figure, title, alternative)


def worst_part(
    stamps: FloatArray, residual: FloatArray, rows: BoolArray, seconds: float = ZOOM_SECONDS
) -> BoolArray:
    """
    Return the rows (N,) of the seconds in which the squared residual is largest.

    Stamps (N,) do not decrease [s]; the residual (N,) is finite in `rows`. All rows if the
    recording is shorter.
    """
    total = np.concatenate([[0.0], np.cumsum(np.where(rows, residual, 0.0) ** 2)])
    after = np.searchsorted(stamps, stamps + seconds, side='right')
    # Parts that run out at the end are shorter than they could be.
    complete = np.flatnonzero(stamps <= stamps[-1] - seconds)
    if not complete.size:
        return np.ones(len(stamps), dtype=bool)
    first = complete[np.argmax((total[after] - total[:-1])[complete])]
    part = np.zeros(len(stamps), dtype=bool)
    part[first: after[first]] = True
    return part


def interval_picture(dataset: Dataset, resolution: float) -> Picture:
    """Draw the time between neighbouring samples of a recording."""
    figure, (axes,) = _figure(1, 2.2, resolution)
    t, interval = decimate(dataset.stamps[1:], 1e3 * np.diff(dataset.stamps))
    axes.plot(t, interval, color=PREDICTED, linewidth=0.7)
    longest = float(interval.max(initial=0.0))
    axes.set_ylim(0.0, 1.2 * longest or 1.0)
    label_axes(axes, 'interval [ms]', 'time [s]')
    alternative = (
        f'Time between neighbouring samples: median {1e3 / dataset.rate:.1f} ms, '
        f'longest {longest:.1f} ms'
    )
    return picture_of(figure, '', alternative)


def singular_value_picture(singular_values: FloatArray) -> Picture:
    """Draw the singular values of the weighted problem with columns of unit length."""
    from matplotlib import ticker

    figure, (axes,) = _figure(1, 2.6, MAXIMUM_RESOLUTION)
    axes.semilogy(
        np.arange(1, len(singular_values) + 1), singular_values, 'o', color=PREDICTED, markersize=4
    )
    # Plain numbers also where all of them lie within one decade.
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_minor_locator(ticker.NullLocator())
    axes.yaxis.set_major_formatter(ticker.FormatStrFormatter('%g'))
    label_axes(axes, 'singular value', 'number')
    alternative = (
        f'{len(singular_values)} singular values from {singular_values.max():.2g} '
        f'down to {singular_values.min():.2g}'
    )
    return picture_of(figure, '', alternative)


def temperature_picture(
    name: str, temperature: FloatArray, values: FloatArray, errors: FloatArray, line: FloatArray
) -> Picture:
    """
    Draw viscous friction of the joint `name` over temperature.

    `temperature` [deg C], `values` and their standard `errors` [N m s/rad] are those of the runs,
    each (m,); `line` (2, k) has temperatures and values of a line, with k = 0 if there is none.
    """
    figure, (axes,) = _figure(1, 2.6, MAXIMUM_RESOLUTION)
    axes.errorbar(
        temperature, values, yerr=errors, fmt='o', color=PREDICTED, markersize=4, capsize=3
    )
    axes.plot(*line, color=RESIDUAL, linewidth=1.2)
    label_axes(axes, 'viscous friction\n[N m s/rad]', 'temperature [°C]')
    axes.margins(x=0.05)
    return picture_of(
        figure, name, f'Viscous friction of {name} over its temperature, with a line'
    )


def _curve(
    dataset: Dataset, values: FloatArray, rows: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return a curve that is broken where the recording has a gap."""
    total = max(int(np.count_nonzero(rows)), 1)
    pieces = [(np.zeros(0), np.zeros(0))]
    for segment in dataset.segments:
        chosen = segment.start + np.flatnonzero(rows[segment])
        if chosen.size:
            limit = max(2, MAXIMUM_POINTS * chosen.size // total)
            pieces.append(decimate(dataset.stamps[chosen], values[chosen], limit))
            pieces.append((np.array([np.nan]), np.array([np.nan])))
    t, curve = zip(*pieces, strict=True)
    return np.concatenate(t), np.concatenate(curve)


def _figure(
    panels: int, height: float, resolution: float, width: float = WIDTH
) -> tuple[Figure, Sequence[Axes]]:
    figure = new_figure(width, height, resolution, (WIDE_LABELS, *MARGINS[1:]))
    axes = figure.subplots(
        panels, 1, squeeze=False, sharex=True,
        gridspec_kw={'height_ratios': [2, 1][:panels], 'hspace': 0.12},
    )
    return figure, list(axes[:, 0])


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
    return Picture(f'data:image/png;base64,{encoded}', title, alternative)
