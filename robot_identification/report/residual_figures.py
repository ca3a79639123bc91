# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Four views of the residual of a joint: histogram, quantiles, autocorrelation, spectrum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.report.canvas import new_figure
from robot_identification.report.figures import (
    decimate, label_axes, MARGINS, MEASURED, Picture, picture_of, PREDICTED, RESIDUAL, WIDTH,
)
from robot_identification.report.formatting import effort_unit_text
from robot_identification.report.residuals import JointResidual
import scipy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT, RESOLUTION = 4.4, 110.0
BINS, QUANTILES, SPECTRUM_POINTS = 50, 150, 300
# The histogram ends here, in standard deviations; what lies beyond is in its outermost bins.
WIDEST = 5.0
SPECTRUM_SECONDS = 2.0  # of a segment, for a resolution of 0.5 Hz
SHORTEST_SPECTRUM = 32  # [samples]


def residual_picture(residual: JointResidual) -> Picture:
    """Draw the distribution and the autocorrelation of the residual of a joint."""
    figure = new_figure(WIDTH, HEIGHT, RESOLUTION, MARGINS)
    (histogram, quantiles), (memory, spectrum) = figure.subplots(
        2, 2, gridspec_kw={'wspace': 0.38, 'hspace': 0.36}
    )
    unit = effort_unit_text(residual.unit)
    _draw_histogram(histogram, residual.values, unit)
    _draw_quantiles(quantiles, residual.values)
    _draw_memory(memory, residual)
    _draw_spectrum(spectrum, residual, unit)
    return picture_of(
        figure, residual.joint,
        f'Residual of {residual.joint}: histogram with the normal curve, quantiles against those '
        'of the normal distribution, autocorrelation with its 99 % band, spectrum',
    )


def spectrum_of(residual: JointResidual) -> tuple[FloatArray, FloatArray]:
    """
    Return frequencies [Hz] and the amplitude density of a residual, both of shape (m,).

    The mean over the parts without a gap, by Welch's method; the integral of its square is the
    residual's variance. Empty where no part is long enough.
    """
    longest = max(map(len, residual.parts), default=0)
    length = min(longest, int(max(SPECTRUM_SECONDS * residual.rate, SHORTEST_SPECTRUM)))
    if length < SHORTEST_SPECTRUM:
        return np.zeros(0), np.zeros(0)
    frequencies = np.zeros(0)
    density, weight = np.zeros(length // 2 + 1), 0
    for part in residual.parts:
        if len(part) >= length:
            frequencies, own = scipy.signal.welch(part, residual.rate, nperseg=length)
            density += len(part) * own
            weight += len(part)
    return frequencies[1:], np.sqrt(density[1:] / weight)


def _draw_histogram(axes: Axes, values: FloatArray, unit: str) -> None:
    centre, deviation = float(values.mean()), float(values.std())
    reach = min(float(np.abs(values - centre).max()), WIDEST * deviation) or 1.0
    shown = np.clip(values, centre - reach, centre + reach)
    axes.hist(
        shown, BINS, range=(centre - reach, centre + reach), density=True, color='#e6a57e',
    )
    if deviation > 0.0:
        at = np.linspace(centre - reach, centre + reach, 200)
        axes.plot(
            at, scipy.stats.norm.pdf(at, centre, deviation), color=PREDICTED, linewidth=1.2
        )
    label_axes(axes, 'share', f'residual [{unit}]')
    axes.set_yticks([])


def _draw_quantiles(axes: Axes, values: FloatArray) -> None:
    share = (np.arange(QUANTILES) + 0.5) / QUANTILES
    # Both ends, where heavy tails show, are drawn as far as there are samples.
    tail = 0.5 / len(values)
    share = np.unique(np.concatenate([[tail], np.clip(share, tail, 1.0 - tail), [1.0 - tail]]))
    normal = scipy.stats.norm.ppf(share)
    deviation = float(values.std()) or 1.0
    axes.plot(normal[[0, -1]], normal[[0, -1]], color=MEASURED, linewidth=1.2)
    axes.plot(
        normal, (np.quantile(values, share) - values.mean()) / deviation, '.', color=RESIDUAL,
        markersize=3,
    )
    label_axes(axes, 'quantile, in std', 'of the normal curve')


def _draw_memory(axes: Axes, residual: JointResidual) -> None:
    lags = np.arange(len(residual.autocorrelation)) / residual.rate
    axes.axhspan(-residual.band, residual.band, color='#cfe3ef')
    axes.plot(*decimate(lags, np.nan_to_num(residual.autocorrelation), 400), color=RESIDUAL,
              linewidth=1.0)
    axes.axhline(0.0, color='black', linewidth=0.6)
    axes.set_ylim(min(-0.3, float(np.nan_to_num(residual.autocorrelation).min()) - 0.05), 1.05)
    label_axes(axes, 'autocorrelation', 'lag [s]')


def _draw_spectrum(axes: Axes, residual: JointResidual, unit: str) -> None:
    from matplotlib import ticker

    frequencies, amplitude = spectrum_of(residual)
    positive = amplitude > 0.0
    if positive.any():
        # White noise of the same variance would have this density everywhere.
        flat = float(residual.values.std()) / np.sqrt(residual.rate / 2.0)
        axes.axhline(flat, color=MEASURED, linewidth=1.2)
        axes.loglog(
            *decimate(frequencies[positive], amplitude[positive], SPECTRUM_POINTS),
            color=RESIDUAL, linewidth=1.0,
        )
    label_axes(axes, f'[{unit}/√Hz]', 'frequency [Hz]')
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(ticker.NullLocator())
