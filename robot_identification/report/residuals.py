# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Residuals of a prediction, joint by joint: size, shape and memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
import math

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.processing import Dataset
from robot_identification.report.explanation import Scored
from robot_identification.report.formatting import number
from robot_identification.validation import (
    autocovariance, contiguous_parts, independent_share, ljung_box, noise_deviation,
)

# Share of the autocorrelations of white noise that stay within the band, and its half width for
# one sample.
BAND_CONFIDENCE = 0.99
BAND_QUANTILE = 2.5758  # of the normal distribution, two-sided 99 %
# How far back the autocorrelation is drawn [s].
MEMORY = 0.5
FEWEST_LAGS, MOST_LAGS = 25, 400
# How much less than all samples the independent ones must be, to be called fewer.
WHITE_SHARE = 0.8
# Below this, a correlation with the motion is nothing to look for.
CORRELATED = 0.3
SIGNALS = ('position', 'velocity', 'acceleration', 'direction')


@dataclass(frozen=True, eq=False)
class JointResidual:
    """Residual of the effort of one joint over some recordings."""

    joint: str
    unit: str  # of the effort
    samples: int  # number of samples m
    # (m,): measured minus predicted, in `unit`; empty once it is not needed any more.
    values: FloatArray
    # Standard deviation of what neighbouring samples of the effort do not share, at most.
    noise: float
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
        return BAND_QUANTILE / math.sqrt(max(len(self), 1))

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
        unlikely = self.white_probability < 1.0 - BAND_CONFIDENCE
        return not unlikely or self.independent > WHITE_SHARE * len(self)

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
        return SIGNALS[int(np.argmax(sizes))] if sizes.max() > CORRELATED else ''


@dataclass(frozen=True)
class ResidualSize:
    """Size of the residual of a joint."""

    # The joint, and the unit of its effort.
    joint: str
    unit: str
    # Of the size of the residual, in `unit`.
    mean: float
    median: float
    deviation: float  # standard deviation of the residual, in `unit`
    # The same three over the noise of the effort: with the deviation 1 nothing but noise is left.
    # NaN where the effort has no noise.
    normalized: tuple[float, float, float]


def collect_residuals(bags: Sequence[Scored]) -> Iterator[JointResidual]:
    """
    Yield the residual of every joint over all recordings of the same joints in one unit.

    One joint at a time, so that a long recording needs memory for one joint's copies only.
    """
    for joint in range(bags[0].predicted.shape[1]):
        yield _of_joint(bags, joint)
        for bag in bags:
            bag.dataset.release()


def residual_size(residual: JointResidual) -> ResidualSize:
    """Return mean and median size and standard deviation, physical and over the noise."""
    size = np.abs(residual.values)
    figures = (float(size.mean()), float(np.median(size)), float(residual.values.std()))
    noise = residual.noise if residual.noise > 0.0 else math.nan
    mean, median, deviation = (value / noise for value in figures)
    return ResidualSize(residual.joint, residual.unit, *figures, (mean, median, deviation))


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
    lags = int(np.clip(MEMORY * rate, FEWEST_LAGS, MOST_LAGS))
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
    is_zero = not products[0] > 0.0
    return JointResidual(
        joint=first.joint_names[joint],
        unit=first.effort_unit,
        samples=len(joined),
        values=joined,
        noise=float(np.nanmedian(noises)) if np.isfinite(noises).any() else math.nan,
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
