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
from typing import TYPE_CHECKING

import numpy as np
from robot_identification.processing.dataset import BoolArray
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.dataset import FloatArray
from robot_identification.report.canvas import new_figure
from robot_identification.report.formatting import effort_unit_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's blue and vermilion beside grey: told apart by every kind of colour vision.
MEASURED, PREDICTED, RESIDUAL = '#767676', '#0072b2', '#d55e00'
# Narrow, so that the text is still legible where a phone shows the figure 360 pixels wide.
WIDTH = 5.4
FONT_SIZE = 10
MAXIMUM_RESOLUTION = 150.0
# A panel of dense noise takes 0.1 MB at full resolution; with more panels than these they get
# coarser, and bags beyond are not drawn, so that a page stays below 5 MB.
FULL_RESOLUTION_PANELS = 24
MAXIMUM_PANELS = 24
# Points of one curve; four to the pixel.
MAXIMUM_POINTS = 4000


@dataclass(frozen=True)
class Picture:
    """
    A figure inside the page.

    Attributes
    ----------
    source : str
        Data URI of the PNG.
    title : str
        What stands above it; may be empty.
    alternative : str
        What it shows, for those who do not see it.

    """

    source: str
    title: str
    alternative: str


@dataclass(frozen=True)
class PictureGroup:
    """The pictures of one bag."""

    bag: str
    pictures: tuple[Picture, ...]


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
    Return a curve of at most `limit` points that keeps every peak.

    Parameters
    ----------
    t, values : ndarray, shape (N,)
        The curve, finite.
    limit : int
        Number of points; of every bin the smallest and the largest value stay.

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
    Draw measured and predicted effort of every joint over time, the residual below.

    Parameters
    ----------
    dataset : Dataset
        The measured effort; its scored samples are drawn.
    predicted : ndarray, shape (N, n)
        Predicted effort in the bag's unit.
    resolution : float
        Dots per inch.

    """
    unit = effort_unit_text(dataset.effort_unit)
    pictures = tuple(
        _effort_picture(dataset, predicted[:, joint], joint, unit, resolution)
        for joint in range(len(dataset.joint_names))
    )
    return PictureGroup(dataset.source, pictures)


def interval_picture(dataset: Dataset, resolution: float) -> Picture:
    """Draw the time between neighbouring samples of a recording."""
    figure, (axes,) = _figure(1, 2.2, resolution)
    t, interval = decimate(dataset.stamps[1:], 1e3 * np.diff(dataset.stamps))
    axes.plot(t, interval, color=PREDICTED, linewidth=0.7)
    longest = float(interval.max(initial=0.0))
    axes.set_ylim(0.0, 1.2 * longest or 1.0)
    _label(axes, 'interval [ms]', 'time [s]')
    alternative = (
        f'Time between neighbouring samples: median {1e3 / dataset.rate:.1f} ms, '
        f'longest {longest:.1f} ms'
    )
    return _picture(figure, '', alternative)


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
    _label(axes, 'singular value', 'number')
    alternative = (
        f'{len(singular_values)} singular values from {singular_values.max():.2g} '
        f'down to {singular_values.min():.2g}'
    )
    return _picture(figure, '', alternative)


def temperature_picture(
    name: str, temperature: FloatArray, values: FloatArray, errors: FloatArray, line: FloatArray
) -> Picture:
    """
    Draw viscous friction over temperature.

    Parameters
    ----------
    name : str
        The joint.
    temperature, values, errors : ndarray, shape (m,)
        Of the runs [deg C], [N m s/rad]; errors are standard errors.
    line : ndarray, shape (2, k)
        Temperatures and values of the line; k is zero where there is none.

    """
    figure, (axes,) = _figure(1, 2.6, MAXIMUM_RESOLUTION)
    axes.errorbar(
        temperature, values, yerr=errors, fmt='o', color=PREDICTED, markersize=4, capsize=3
    )
    axes.plot(*line, color=RESIDUAL, linewidth=1.2)
    _label(axes, 'viscous friction\n[N m s/rad]', 'temperature [°C]')
    axes.margins(x=0.05)
    return _picture(figure, name, f'Viscous friction of {name} over its temperature, with a line')


def _effort_picture(
    dataset: Dataset, predicted: FloatArray, joint: int, unit: str, resolution: float
) -> Picture:
    measured = dataset.effort[:, joint]
    rows = dataset.scored & np.isfinite(measured) & np.isfinite(predicted)
    figure, (effort_axes, residual_axes) = _figure(2, 3.3, resolution)
    effort_axes.plot(*_curve(dataset, measured, rows), color=MEASURED, linewidth=1.6)
    effort_axes.plot(*_curve(dataset, predicted, rows), color=PREDICTED, linewidth=0.9)
    residual_axes.plot(
        *_curve(dataset, measured - predicted, rows), color=RESIDUAL, linewidth=0.8
    )
    residual_axes.axhline(0.0, color='black', linewidth=0.6)
    _label(effort_axes, f'effort [{unit}]', '')
    _label(residual_axes, f'residual\n[{unit}]', 'time [s]')
    name = dataset.joint_names[joint]
    return _picture(
        figure, name, f'Measured and predicted effort of {name} over time, the residual below'
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


def _figure(panels: int, height: float, resolution: float) -> tuple[Figure, Sequence[Axes]]:
    figure = new_figure(WIDTH, height, resolution)
    axes = figure.subplots(
        panels, 1, squeeze=False, sharex=True, gridspec_kw={'height_ratios': [2, 1][:panels]}
    )
    return figure, list(axes[:, 0])


def _label(axes: Axes, vertical: str, horizontal: str) -> None:
    axes.set_ylabel(vertical, fontsize=FONT_SIZE)
    axes.set_xlabel(horizontal, fontsize=FONT_SIZE)
    axes.tick_params(labelsize=FONT_SIZE)
    axes.grid(True, color='#e0e0e0', linewidth=0.6)
    axes.margins(x=0.01)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)


def _picture(figure: Figure, title: str, alternative: str) -> Picture:
    buffer = io.BytesIO()
    # Without the name of the software, the same data give the same bytes for longer.
    figure.savefig(buffer, format='png', metadata={'Software': None})
    encoded = base64.b64encode(buffer.getvalue()).decode('ascii')
    return Picture(f'data:image/png;base64,{encoded}', title, alternative)
