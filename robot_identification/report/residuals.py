# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Residuals of a prediction, joint by joint: size, shape and memory, in figures and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.processing import Dataset
from robot_identification.report.explanation import Scored
from robot_identification.report.figures import decimate, MARGINS, WIDTH
from robot_identification.report.formatting import effort_unit_text, number
from robot_identification.report.plot import (
    BAND, BARS, Drawing, MEASURED, Panel, Picture, PREDICTED, RESIDUAL,
)
from robot_identification.validation import (
    autocovariance, contiguous_parts, independent_share, ljung_box, noise_deviation,
)
import scipy

# How far back the autocorrelation is drawn [s].
MEMORY = 0.5
SIGNALS = ('position', 'velocity', 'acceleration', 'direction')
SPECTRUM_POINTS = 300  # that are drawn; chosen: half a pixel each


@dataclass(frozen=True, eq=False)
class JointResidual:
    """Residual of the effort of one joint over some recordings."""

    joint: str
    unit: str  # of the effort
    samples: int  # number of samples m
    # (m,): measured minus predicted, in `unit`; empty once it is not needed any more.
    values: FloatArray
    # Mean and median size and standard deviation, then the same over the noise of the effort: with
    # the last 1 nothing but noise is left. NaN where the effort has no noise.
    figures: tuple[float, ...]
    autocorrelation: FloatArray  # (lags + 1,): from lag zero; NaN where the residual is zero
    rate: float  # samples in a second [Hz]
    white_probability: float  # that white noise is as correlated, by Ljung and Box
    independent: float  # number of independent samples that say as much of the mean
    # With SIGNALS of the joint; NaN where one of the two is constant.
    correlations: tuple[float, ...]
    parts: tuple[FloatArray, ...]  # the values by parts without a gap

    def __len__(self) -> int:
        return self.samples

    @property
    def is_zero(self) -> bool:
        """Return whether nothing is left, or the same at all samples."""
        return not bool(np.isfinite(self.autocorrelation[0]))

    @property
    def band(self) -> float:
        """Half width of the band that holds 99 % of the autocorrelations of white noise."""
        return 2.5758 / math.sqrt(max(len(self), 1))  # of the normal distribution, two-sided

    @property
    def lag_one(self) -> float:
        """Correlation of neighbouring samples."""
        return float(self.autocorrelation[1]) if len(self.autocorrelation) > 1 else math.nan

    @property
    def outside(self) -> float:
        """Share of the autocorrelations that lie outside the band; 0.01 for white noise."""
        return float(np.mean(np.abs(self.autocorrelation[1:]) > self.band))

    @property
    def is_white(self) -> bool:
        """Return whether it cannot be distinguished from white noise, or differs immaterially."""
        return not self.white_probability < 0.01 or self.independent > 0.8 * len(self)

    def finding(self) -> str:
        """Return in words whether the residual is white, and what it goes with."""
        if self.is_zero:
            return 'no residual'
        follows = self.strongest_signal()
        if self.is_white:
            return 'white' if not follows else f'white, but correlated with {follows}'
        return f'not white, correlated with {follows}' if follows else 'not white'

    def without_samples(self) -> JointResidual:
        """Return what is known of it, without the samples: those of a long bag take memory."""
        return replace(self, values=np.zeros(0), parts=())

    def strongest_signal(self) -> str:
        """Return the signal that the residual goes with most; empty if with none."""
        sizes = np.nan_to_num(np.abs(self.correlations))
        return SIGNALS[int(np.argmax(sizes))] if sizes.max() > 0.3 else ''


@dataclass(frozen=True, eq=False)
class ResidualSection:
    """The residuals of all joints."""

    verdict: str  # whether they are white noise, and what that means
    joints: tuple[JointResidual, ...]  # by joint, without samples
    pictures: tuple[Picture, ...]  # by joint

    @property
    def neighbour_correlation(self) -> float:
        """Correlation of neighbouring residuals, the median over joints; NaN of none."""
        known = [one.lag_one for one in self.joints if np.isfinite(one.lag_one)]
        return float(np.median(known)) if known else math.nan

    @property
    def independent_share(self) -> float:
        """Independent samples over samples, the median over joints; 1 where there is none."""
        shares = [one.independent / len(one) for one in self.joints]
        known = [share for share in shares if np.isfinite(share)]
        return float(np.median(known)) if known else 1.0


def residual_section(bags: Sequence[Scored]) -> ResidualSection:
    """Return the section on the residuals of recordings of the same joints in one unit."""
    joints, pictures = [], []
    for residual in collect_residuals(bags):
        pictures.append(residual_picture(residual))
        joints.append(residual.without_samples())
    return ResidualSection(whiteness_words(joints), tuple(joints), tuple(pictures))


def collect_residuals(bags: Sequence[Scored]) -> Iterator[JointResidual]:
    """
    Yield the residual of every joint over all recordings of the same joints in one unit.

    One joint at a time, so that a long recording needs memory for one joint's copies only.
    """
    for joint in range(bags[0].predicted.shape[1]):
        yield _of_joint(bags, joint)
        for bag in bags:
            bag.dataset.release()


def whiteness_words(residuals: Sequence[JointResidual]) -> str:
    """Return in a sentence what the residuals of the joints say of the model."""
    coloured = [one for one in residuals if not one.is_zero and not one.is_white]
    if not coloured:
        return (
            'The residuals cannot be distinguished from white noise, or hardly differ from it: '
            'the model explains everything that the motion can explain.'
        )
    share = np.median([one.independent / len(one) for one in coloured])
    which = 'all joints' if len(coloured) == len(residuals) else ', '.join(
        one.joint for one in coloured
    )
    return (
        f'The residuals of {which} are not white noise: the samples have the '
        f'information of {number(100.0 * float(share), 2)} % as many independent ones. The model '
        'lacks an effect, as is usual with real arms, and standard errors that assume '
        'independent samples would be too small.'
    )


def _of_joint(bags: Sequence[Scored], joint: int) -> JointResidual:
    first = bags[0].dataset
    # A slow recording is drawn no further back than a quarter of it.
    rate = float(np.median([bag.dataset.rate for bag in bags]))
    samples = sum(int(np.count_nonzero(bag.rows)) for bag in bags)
    lags = int(np.clip(MEMORY * rate, 25, 400))
    lags = max(1, min(lags, samples // 4))
    products = np.zeros(lags + 1)
    values, parts, signals, noises = [], [], [], []
    for bag in bags:
        dataset, rows = bag.dataset, bag.rows
        residual = dataset.effort[rows, joint] - bag.predicted[rows, joint]
        values.append(residual)
        signals.append(_signals(dataset, joint, np.flatnonzero(rows)))
        noises.append(float(noise_deviation(dataset.effort[dataset.fitted, joint][:, None])[0]))
        centred = residual - residual.mean()
        for part in contiguous_parts(dataset, rows):
            parts.append(residual[part])
            products += autocovariance(centred[part][:, None], lags)[0]
    joined = values[0] if len(values) == 1 else np.concatenate(values)
    size = np.abs(joined)
    figures = float(size.mean()), float(np.median(size)), float(joined.std())
    noise = float(np.nanmedian(noises)) if np.isfinite(noises).any() else math.nan
    noise = noise if noise > 0.0 else math.nan
    is_zero = not products[0] > 0.0
    return JointResidual(
        joint=first.joint_names[joint],
        unit=first.effort_unit,
        samples=len(joined),
        values=joined,
        figures=(*figures, *(figure / noise for figure in figures)),
        autocorrelation=np.full(lags + 1, np.nan) if is_zero else products / products[0],
        rate=rate,
        white_probability=ljung_box(products, len(joined)),
        independent=math.nan if is_zero else len(joined) * independent_share(
            products, len(joined)
        ),
        correlations=tuple(
            _correlation(joined, signal) for signal in np.concatenate(signals).T
        ),
        parts=tuple(parts),
    )


def _signals(dataset: Dataset, joint: int, rows: np.ndarray) -> FloatArray:
    motion = dataset.motion
    dq = motion.dq[rows, joint]
    return np.column_stack([motion.q[rows, joint], dq, motion.ddq[rows, joint], np.sign(dq)])


def _correlation(one: FloatArray, other: FloatArray) -> float:
    first, second = one - one.mean(), other - other.mean()
    size = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / size if size > 0.0 else math.nan


def residual_picture(residual: JointResidual) -> Picture:
    """Draw the distribution and the autocorrelation of the residual of a joint."""
    drawing = Drawing(WIDTH, 4.4)
    histogram, quantiles, memory, spectrum = drawing.panels(
        MARGINS, rows=(1.0, 1.0), columns=2, gaps=(MARGINS[0], 0.62)
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


def segment_length(samples: int, rate: float) -> int:
    """
    Return the samples of a segment of a spectrum; 0 where there are too few for any.

    It is two seconds long, for a resolution of 0.5 Hz.
    """
    fewest = 32
    length = min(samples, int(max(2.0 * rate, fewest)))
    return length if length >= fewest else 0


def spectrum_of(residual: JointResidual) -> tuple[FloatArray, FloatArray]:
    """
    Return frequencies [Hz] and the amplitude density of a residual, both of shape (m,).

    The mean over the parts without a gap, by Welch's method; the integral of its square is the
    residual's variance. Empty where no part is long enough.
    """
    length = segment_length(max(map(len, residual.parts), default=0), residual.rate)
    if not length:
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
    # What lies beyond is in the outermost bins.
    reach = min(float(np.abs(values - centre).max()), 5.0 * deviation) or 1.0
    shown = np.clip(values, centre - reach, centre + reach)
    heights, edges = np.histogram(
        shown, 50, range=(centre - reach, centre + reach), density=True
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
    share = (np.arange(150) + 0.5) / 150
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
