# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Four views of the residual of a joint: histogram, quantiles, autocorrelation, spectrum."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.report.figures import decimate, MARGINS, WIDTH
from robot_identification.report.formatting import effort_unit_text
from robot_identification.report.plot import (
    BAND, BARS, Drawing, MEASURED, Panel, Picture, PREDICTED, RESIDUAL,
)
from robot_identification.report.residuals import JointResidual
import scipy

HEIGHT = 4.4  # [inches]
# Between the panels: labels need as much as at the edge [inch].
GAPS = (0.78, 0.62)
BINS, QUANTILES, SPECTRUM_POINTS = 50, 150, 300
# The histogram ends here, in standard deviations; what lies beyond is in its outermost bins.
WIDEST = 5.0
SPECTRUM_SECONDS = 2.0  # of a segment, for a resolution of 0.5 Hz
SHORTEST_SPECTRUM = 32  # [samples]


def residual_picture(residual: JointResidual) -> Picture:
    """Draw the distribution and the autocorrelation of the residual of a joint."""
    drawing = Drawing(WIDTH, HEIGHT)
    histogram, quantiles, memory, spectrum = drawing.panels(
        MARGINS, rows=(1.0, 1.0), columns=2, gaps=GAPS
    )
    unit = effort_unit_text(residual.unit)
    _draw_histogram(histogram, residual.values, unit)
    _draw_quantiles(quantiles, residual.values)
    _draw_memory(memory, residual)
    _draw_spectrum(spectrum, residual, unit)
    return drawing.picture(
        residual.joint,
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


def _draw_histogram(panel: Panel, values: FloatArray, unit: str) -> None:
    centre, deviation = float(values.mean()), float(values.std())
    reach = min(float(np.abs(values - centre).max()), WIDEST * deviation) or 1.0
    shown = np.clip(values, centre - reach, centre + reach)
    heights, edges = np.histogram(
        shown, BINS, range=(centre - reach, centre + reach), density=True
    )
    panel.bars(edges, heights, BARS)
    if deviation > 0.0:
        at = np.linspace(centre - reach, centre + reach, 200)
        normal = np.exp(-0.5 * ((at - centre) / deviation) ** 2)
        panel.curve(at, normal / (np.sqrt(2.0 * np.pi) * deviation), PREDICTED, 1.2)
    panel.label('share', f'residual [{unit}]')
    panel.y.set_limits(0.0, 1.05 * panel.y.high)
    panel.y.ticked = False


def _draw_quantiles(panel: Panel, values: FloatArray) -> None:
    share = (np.arange(QUANTILES) + 0.5) / QUANTILES
    # Both ends, where heavy tails show, are drawn as far as there are samples.
    tail = 0.5 / len(values)
    share = np.unique(np.concatenate([[tail], np.clip(share, tail, 1.0 - tail), [1.0 - tail]]))
    normal = scipy.special.ndtri(share)
    deviation = float(values.std()) or 1.0
    panel.curve(normal[[0, -1]], normal[[0, -1]], MEASURED, 1.2)
    panel.dots(
        normal, (np.quantile(values, share) - values.mean()) / deviation, RESIDUAL, 2.2
    )
    panel.label('quantile, in std', 'of the normal curve')
    panel.x.margin = 0.03


def _draw_memory(panel: Panel, residual: JointResidual) -> None:
    lags = np.arange(len(residual.autocorrelation)) / residual.rate
    found = np.nan_to_num(residual.autocorrelation)
    panel.band(-residual.band, residual.band, BAND)
    panel.curve(*decimate(lags, found, 400), RESIDUAL, 1.0)
    panel.level(0.0)
    panel.y.set_limits(min(-0.3, float(found.min()) - 0.05), 1.05)
    panel.label('autocorrelation', 'lag [s]')


def _draw_spectrum(panel: Panel, residual: JointResidual, unit: str) -> None:
    frequencies, amplitude = spectrum_of(residual)
    positive = amplitude > 0.0
    if positive.any():
        panel.x.logarithmic = panel.y.logarithmic = True
        # White noise of the same variance would have this density everywhere.
        panel.level(float(residual.values.std()) / np.sqrt(residual.rate / 2.0), MEASURED, 1.2)
        panel.curve(
            *decimate(frequencies[positive], amplitude[positive], SPECTRUM_POINTS), RESIDUAL, 1.0
        )
    panel.label(f'[{unit}/√Hz]', 'frequency [Hz]')
