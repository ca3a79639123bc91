# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Components of the errors of a bag: direction, speed, frequency, noise, memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.model import KinematicFilter
from robot_identification.processing import Dataset, HIGHEST_CUTOFF, low_pass, MOVING_SPEED
from robot_identification.texts import short_repr
from robot_identification.validation.metrics import (
    is_constant, noise_deviation, normalized_error, partial_rms, relative_error, square_over_mean,
    variance_accounted_for,
)
from robot_identification.validation.parameter_error import BAND
from robot_identification.validation.whiteness import autocovariance, independent_share, ljung_box

# Between what the motion of an arm drives and what vibrates, of one pass of a filter [Hz].
SPLIT_FREQUENCY = 9.5
# Moving joints below this speed [rad/s] show what friction does near standstill.
SLOW_SPEED = 0.1
# Lags over which residuals are asked for correlation [s].
LONGEST_MEMORY = 5.0


@dataclass(frozen=True, eq=False)
class ErrorDetails:
    """
    Components of the errors of a bag, in the unit of its effort unless another is named.

    All arrays have shape (n,); NaN where there are no samples, or the effort is constant.
    """

    mae: FloatArray  # mean size of the error
    largest: FloatArray  # largest size of the error
    relative: FloatArray  # norm of the error over that of the effort
    explained: FloatArray  # share of the effort's variance that the prediction accounts for
    factor: FloatArray  # a of the least-squares fit effort = a * prediction + offset
    scaled: FloatArray  # NRMSE with that factor and offset
    of_limit: FloatArray  # RMS error over the joint's effort limit; NaN where that is unknown
    forward: FloatArray  # RMS error where the joint moves forward
    backward: FloatArray
    slow: FloatArray  # where it moves below SLOW_SPEED
    resting: FloatArray
    forward_samples: FloatArray  # number of samples behind `forward`
    backward_samples: FloatArray
    slow_samples: FloatArray
    resting_samples: FloatArray
    low: FloatArray  # RMS of the error below `split`
    high: FloatArray  # and above it
    split: float  # frequency [Hz]
    noise: FloatArray  # deviation of what neighbouring samples of the effort do not share
    floor: FloatArray  # the same over the deviation of the effort
    lag_one: FloatArray  # correlation of neighbouring errors
    independent_samples: FloatArray  # that would say as much of the mean error
    white_probability: FloatArray  # that white noise is as correlated, by Ljung and Box
    zero: FloatArray  # NRMSE of a prediction of zero; that of the effort's mean is 1
    urdf: FloatArray  # NRMSE of the URDF's bodies without friction
    uncorrected: FloatArray  # NRMSE without the corrections of the model; NaN where it has none
    # Share of the samples in the band of 95 % that the model states, in motion and at rest.
    covered_moving: FloatArray
    covered_resting: FloatArray
    normalized: FloatArray  # error as Tika et al. print it, see `normalized_error`
    normalized_total: float  # the same of all joints, by rows
    square_over_mean: float  # see the function of that name

    __repr__ = short_repr


def measure_details(
    dataset: Dataset,
    predicted: FloatArray,
    rows: BoolArray,
    *,
    urdf: FloatArray | None = None,
    limits: FloatArray | None = None,
    stated: FloatArray | None = None,
    uncorrected: FloatArray | None = None,
) -> ErrorDetails:
    """
    Return what the errors of a prediction (N, n) are made of, at the samples `rows` (N,).

    `urdf` (N, n) is the effort of the URDF's bodies, `limits` (n,) the largest effort of the
    joints, not finite where unknown, `stated` (N, n) the standard deviation that the model
    states of its prediction, and `uncorrected` (N, n) its prediction without corrections, NaN for
    a joint without any; all are in the bag's unit.
    """
    measured = dataset.effort[rows]
    residual = measured - predicted[rows]
    dq = dataset.motion.dq[rows]
    unknown = np.full(residual.shape[1], np.nan)
    constant = is_constant(measured)
    deviation = np.where(constant, np.nan, np.std(measured, axis=0))
    speed = np.abs(dq)
    kinds = {
        'forward': dq > MOVING_SPEED,
        'backward': dq < -MOVING_SPEED,
        'slow': (speed > MOVING_SPEED) & (speed < SLOW_SPEED),
        'resting': speed <= MOVING_SPEED,
    }
    low, high, split = split_frequencies(dataset, residual, rows)
    noise = noise_deviation(dataset.effort[rows & dataset.fitted])
    # What is left of a constant error is rounding.
    centred = np.where(is_constant(residual), 0.0, residual - residual.mean(axis=0))
    samples = len(residual)
    products = autocovariance(centred, int(min(samples - 1, LONGEST_MEMORY * dataset.rate)))
    power = np.where(products[:, 0] > 0.0, products[:, 0], np.nan)
    limits = unknown if limits is None else limits
    known = np.isfinite(limits) & (limits > 0.0)
    normalized, total = normalized_error(residual)
    factor, scaled = _nearest_factor(measured, predicted[rows])
    return ErrorDetails(
        mae=np.mean(np.abs(residual), axis=0),
        largest=np.max(np.abs(residual), axis=0),
        relative=relative_error(measured, residual),
        explained=variance_accounted_for(measured, residual),
        factor=factor,
        scaled=scaled,
        of_limit=np.sqrt(np.mean(residual**2, axis=0)) / np.where(known, limits, np.nan),
        **{kind: partial_rms(residual, chosen) for kind, chosen in kinds.items()},
        **{
            f'{kind}_samples': np.count_nonzero(chosen, axis=0) for kind, chosen in kinds.items()
        },
        low=low,
        high=high,
        split=split,
        noise=noise,
        floor=noise / deviation,
        lag_one=products[:, 1] / power if products.shape[1] > 1 else unknown,
        independent_samples=np.array([
            samples * independent_share(own, samples) for own in products
        ]),
        white_probability=np.array([ljung_box(own, samples) for own in products]),
        zero=np.sqrt(np.mean(measured**2, axis=0)) / deviation,
        **{
            name: (
                unknown if other is None
                else np.sqrt(np.mean((measured - other[rows]) ** 2, axis=0)) / deviation
            )
            for name, other in (('urdf', urdf), ('uncorrected', uncorrected))
        },
        covered_moving=_covered(residual, stated, rows, ~kinds['resting']),
        covered_resting=_covered(residual, stated, rows, kinds['resting']),
        normalized=normalized,
        normalized_total=total,
        square_over_mean=square_over_mean(measured, residual),
    )


def _nearest_factor(
    measured: FloatArray, predicted: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """
    Return a of the least-squares fit effort = a * prediction + offset, and its NRMSE, (n,) each.

    Both are NaN where effort or prediction is constant.
    """
    effort, torque = measured - measured.mean(axis=0), predicted - predicted.mean(axis=0)
    square = np.sum(torque**2, axis=0)
    size = np.sum(effort**2, axis=0)
    changing = (square > 0.0) & ~is_constant(measured)
    factor = np.sum(effort * torque, axis=0) / np.where(changing, square, np.nan)
    left = size - factor**2 * square
    scaled = np.sqrt(np.maximum(left, 0.0) / np.where(changing, size, np.nan))
    return factor, scaled


def _covered(
    residual: FloatArray, stated: FloatArray | None, rows: BoolArray, chosen: BoolArray
) -> FloatArray:
    """Return the share of chosen samples (m, n) that the stated band holds, shape (n,)."""
    counts = np.count_nonzero(chosen, axis=0)
    if stated is None:
        return np.full(residual.shape[1], np.nan)
    inside = chosen & (np.abs(residual) <= BAND * stated[rows])
    return np.where(
        counts > 0, np.count_nonzero(inside, axis=0) / np.maximum(counts, 1), np.nan
    )


def join_details(parts: Sequence[ErrorDetails]) -> ErrorDetails:
    """Return the details of an arm from those of its joints on the same samples."""
    joined = {
        entry.name: np.concatenate([getattr(part, entry.name) for part in parts])
        for entry in fields(ErrorDetails)
        if isinstance(getattr(parts[0], entry.name), np.ndarray)
    }
    normalized = joined['normalized']
    return ErrorDetails(
        **joined,
        split=parts[0].split,
        normalized_total=float(np.linalg.norm(normalized)) / len(normalized),
        square_over_mean=sum(part.square_over_mean for part in parts),
    )


def split_frequencies(
    dataset: Dataset, residual: FloatArray, rows: BoolArray
) -> tuple[FloatArray, FloatArray, float]:
    """Return the RMS (n,) of an error (m, n) below and above a frequency, and that [Hz]."""
    split = min(SPLIT_FREQUENCY, HIGHEST_CUTOFF * dataset.rate / 2.0)
    shortest = int(np.ceil(3.0 * dataset.rate / split)) + 1
    low = residual.copy()
    kinematic_filter = KinematicFilter(order=2, cutoff=split)
    for part in contiguous_parts(dataset, rows):
        if part.stop - part.start > shortest:
            low[part] = low_pass(residual[part], dataset.rate, kinematic_filter)
    high = residual - low
    return (
        np.sqrt(np.mean(low**2, axis=0)), np.sqrt(np.mean(high**2, axis=0)), split
    )


def contiguous_parts(dataset: Dataset, rows: BoolArray) -> list[slice]:
    """Return where chosen samples, counted among themselves, follow each other without a gap."""
    number = np.full(len(dataset), -1)
    for index, segment in enumerate(dataset.segments):
        number[segment] = index
    at = np.flatnonzero(rows)
    breaks = 1 + np.flatnonzero((np.diff(at) != 1) | (np.diff(number[at]) != 0))
    edges = [0, *breaks.tolist(), len(at)]
    return [slice(first, last) for first, last in pairwise(edges)]
