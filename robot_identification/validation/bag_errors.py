# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Errors of one bag on the recorded samples and the raw effort, in the unit of the bag.

With the root mean square stand the figures that papers print, each by its own definition and each
with its number of samples: they cannot be compared without it.

References
----------
.. [1] A. Tika, J. Ulmen, N. Bajcinca, "Dynamic parameter estimation utilizing optimized
   trajectories", 2020.
.. [2] A. Raviola, R. Guida, A. De Martin, S. Pastorelli, S. Mauro, M. Sorli, "Effects of
   temperature and mounting configuration on the dynamic parameters identification of industrial
   robots", Robotics 10(3), 2021.
.. [3] E. Madsen, S. A. Timm, N. A. Ujfalusi, O. S. Rosenlund, D. Brandt, X. Zhang, "Dynamics
   parametrization and calibration of flexible-joint collaborative industrial robot
   manipulators", Mathematical Problems in Engineering, 2020.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.model import KinematicFilter, rigid_torque, RobotModel
from robot_identification.processing import Dataset, HIGHEST_CUTOFF, low_pass, MOVING_SPEED
from robot_identification.texts import short_repr
from robot_identification.validation.band import BAND
from robot_identification.validation.whiteness import autocovariance, independent_share, ljung_box


@dataclass(frozen=True, eq=False)
class BagErrors:
    """Errors of one bag."""

    bag: str
    samples: int  # number of samples scored
    unit: str  # unit of the bag's effort
    joints: tuple[str, ...]  # kinematic order
    # (n,): root mean square error; the same over the standard deviation of the measured signal
    # (NaN where that is constant); over samples at which the joint moves (NaN where it never
    # does); mean of measured minus predicted.
    rmse: FloatArray
    nrmse: FloatArray
    rmse_moving: FloatArray
    bias: FloatArray
    details: ErrorDetails | None = None  # what the errors are made of

    __repr__ = short_repr

    @property
    def nrmse_mean(self) -> float:
        """Mean over the joints whose signal is not constant."""
        return _mean_of_finite(self.nrmse)

    @property
    def urdf_nrmse(self) -> FloatArray:
        """
        NRMSE of the URDF's bodies without friction on the same samples, shape (n,).

        NaN where the signal is constant, and everywhere with unknown drive gains: the URDF's
        torque is in another unit then.
        """
        return np.full(len(self.joints), np.nan) if self.details is None else self.details.urdf

    @property
    def urdf_nrmse_mean(self) -> float:
        """Mean of `urdf_nrmse` over the joints where it is known."""
        return _mean_of_finite(self.urdf_nrmse)


def _mean_of_finite(values: FloatArray) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if finite.size else float('nan')


def measure_errors(
    measured: FloatArray,
    predicted: FloatArray,
    moving: BoolArray,
    *,
    bag: str,
    unit: str,
    joints: tuple[str, ...],
    details: ErrorDetails | None = None,
) -> BagErrors:
    """
    Return the errors of predicted against measured effort, both (N, n) in `unit`.

    `moving` (N, n) marks samples at which each joint moves; `bag` and `joints` are names for the
    result. `details` is the breakdown of the errors, None where it was not measured.
    """
    residual = measured - predicted
    rmse = np.sqrt(np.mean(residual**2, axis=0))
    deviation = np.std(measured, axis=0)
    constant = is_constant(measured)
    return BagErrors(
        bag=bag,
        samples=len(measured),
        unit=unit,
        joints=joints,
        rmse=rmse,
        nrmse=np.where(constant, np.nan, rmse / np.where(constant, 1.0, deviation)),
        rmse_moving=partial_rms(residual, moving),
        bias=np.mean(residual, axis=0),
        details=details,
    )


def errors_at(
    dataset: Dataset, predicted: FloatArray, rows: BoolArray, effort: FloatArray | None = None
) -> BagErrors:
    """
    Return the errors of a prediction of some samples of a dataset.

    `rows` (N,) selects m samples; `predicted` (m, n) is the effort there in the bag's unit.
    `effort` (m, n) takes the place of what was recorded.
    """
    return measure_errors(
        dataset.effort[rows] if effort is None else effort, predicted, dataset.moving[rows],
        bag=dataset.source, unit=dataset.effort_unit, joints=dataset.joint_names,
    )


def score_urdf(
    robot: RobotModel, datasets: Sequence[Dataset], rows: Sequence[BoolArray], *,
    relative_scale: bool = False,
) -> tuple[BagErrors, ...]:
    """
    Return the errors of the URDF's inertial parameters, by bag.

    `rows` selects the samples (N,) of each dataset. A URDF has no friction: sign, velocity,
    acceleration and offset are fitted for each joint to the samples that are scored, so the errors
    are optimistic. With `relative_scale` they are NaN: the URDF's torque is in another unit than
    the effort.
    """
    results = []
    for dataset, chosen in zip(datasets, rows, strict=True):
        if relative_scale:
            unknown = np.full((np.count_nonzero(chosen), robot.n), np.nan)
            results.append(errors_at(dataset, unknown, chosen))
            continue
        scale = dataset.torque_per_effort(robot)
        motion = dataset.motion.rows(np.flatnonzero(chosen))
        rigid = rigid_torque(robot, motion)
        rest = dataset.effort[chosen] * scale - rigid
        explained = np.zeros_like(rest)
        for joint in range(robot.n):
            dq, ddq = motion.dq[:, joint], motion.ddq[:, joint]
            columns = np.column_stack([np.sign(dq), dq, ddq, np.ones(len(dq))])
            explained[:, joint] = columns @ np.linalg.lstsq(columns, rest[:, joint], rcond=None)[0]
        results.append(errors_at(dataset, (rigid + explained) / scale, chosen))
    return tuple(results)


EVERY = slice(None)  # joint
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
    joints: slice = EVERY,
    *,
    urdf: FloatArray | None = None,
    limits: FloatArray | None = None,
    stated: FloatArray | None = None,
    uncorrected: FloatArray | None = None,
) -> ErrorDetails:
    """
    Return what the errors of a prediction (N, n) of joints are made of, at the `rows` (N,).

    `urdf` (N, n) is the effort of the URDF's bodies, `limits` (n,) the largest effort of the
    joints, not finite where unknown, `stated` (N, n) the standard deviation that the model
    states of its prediction, and `uncorrected` (N, n) its prediction without corrections, NaN for
    a joint without any; all are in the bag's unit.
    """
    measured, dq = dataset.effort[rows, joints], dataset.motion.dq[rows, joints]
    residual = measured - predicted[rows, joints]
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
    noise = noise_deviation(dataset.effort[rows & dataset.fitted, joints])
    # What is left of a constant error is rounding.
    centred = np.where(is_constant(residual), 0.0, residual - residual.mean(axis=0))
    samples = len(residual)
    products = autocovariance(centred, int(min(samples - 1, LONGEST_MEMORY * dataset.rate)))
    power = np.where(products[:, 0] > 0.0, products[:, 0], np.nan)
    limits = unknown if limits is None else limits[joints]
    known = np.isfinite(limits) & (limits > 0.0)
    normalized, total = normalized_error(residual)
    factor, scaled = _nearest_factor(measured, predicted[rows, joints])
    band = None if stated is None else BAND * stated[rows, joints]
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
                else np.sqrt(np.mean((measured - other[rows, joints]) ** 2, axis=0)) / deviation
            )
            for name, other in (('urdf', urdf), ('uncorrected', uncorrected))
        },
        covered_moving=_covered(residual, band, ~kinds['resting']),
        covered_resting=_covered(residual, band, kinds['resting']),
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
    residual: FloatArray, band: FloatArray | None, chosen: BoolArray
) -> FloatArray:
    """Return the share of chosen samples (m, n) that the stated band holds, shape (n,)."""
    counts = np.count_nonzero(chosen, axis=0)
    if band is None:
        return np.full(residual.shape[1], np.nan)
    inside = chosen & (np.abs(residual) <= band)
    return np.where(
        counts > 0, np.count_nonzero(inside, axis=0) / np.maximum(counts, 1), np.nan
    )


def join_errors(parts: Sequence[BagErrors]) -> BagErrors:
    """Return the errors of an arm from those of its joints on the same samples."""
    joints = tuple(name for part in parts for name in part.joints)
    details = [part.details for part in parts if part.details is not None]
    joined = replace(parts[0], joints=joints, **_joined_arrays(parts))
    if not details:
        return joined
    arrays = _joined_arrays(details)
    total = float(np.linalg.norm(arrays['normalized'])) / len(joints)
    return replace(joined, details=replace(
        details[0], **arrays, normalized_total=total,
        square_over_mean=sum(one.square_over_mean for one in details),
    ))


def _joined_arrays(parts: Sequence[BagErrors] | Sequence[ErrorDetails]) -> dict[str, Any]:
    return {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name, value in vars(parts[0]).items() if isinstance(value, np.ndarray)
    }


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


# A signal that varies less than this, relative to its size, is constant: nothing to explain.
CONSTANT_SHARE = 1.0e-9
# The middle of the sizes of white noise lies at this multiple of its standard deviation.
MEDIAN_OF_NORMAL = 0.6745


def normalized_error(residual: FloatArray) -> tuple[FloatArray, float]:
    """
    Return the error that Tika et al. and Raviola et al. print, of each joint (n,) and in total.

    That of a joint is ``sqrt(r' r) / N`` of its residual, a column of (N, n), and not a root mean
    square, which is sqrt(N) times this. The total is over the n N rows of the regression [1]_;
    over the N points of the trajectory, one reading of [2]_, it is n times as much.
    """
    N = len(residual)
    joints = np.sqrt(np.sum(residual**2, axis=0)) / N
    return joints, float(np.sqrt(np.sum(residual**2)) / residual.size)


def square_over_mean(measured: FloatArray, residual: FloatArray) -> float:
    """
    Return the NMSE of Madsen et al. [3]_, in the unit of the effort.

    Sum over joints of the mean squared error over the mean absolute effort; `residual` is measured
    minus predicted, both (N, n). The definition follows from the printed unit, because the formula
    itself is not available; compare models on one recording only. Joints without effort are left
    out.
    """
    size = np.mean(np.abs(measured), axis=0)
    squares = np.mean(residual**2, axis=0)
    return float(np.sum(squares[size > 0.0] / size[size > 0.0]))


def variance_accounted_for(measured: FloatArray, residual: FloatArray) -> FloatArray:
    """
    Return 1 - var(residual) / var(measured), shape (n,); NaN where the signal is constant.

    Unlike ``R^2 = 1 - NRMSE^2`` it does not see a constant error.
    """
    constant = is_constant(measured)
    variance = np.where(constant, 1.0, np.var(measured, axis=0))
    return np.where(constant, np.nan, 1.0 - np.var(residual, axis=0) / variance)


def relative_error(measured: FloatArray, residual: FloatArray) -> FloatArray:
    """Return norm of the residual over norm of the effort, shape (n,); NaN where that is zero."""
    size = np.linalg.norm(measured, axis=0)
    return np.where(
        size > 0.0, np.linalg.norm(residual, axis=0) / np.where(size > 0.0, size, 1.0), np.nan
    )


def is_constant(measured: FloatArray) -> BoolArray:
    """Return which of n signals do not vary, shape (n,)."""
    largest = np.max(np.abs(measured), axis=0, initial=0.0)
    constant: BoolArray = np.std(measured, axis=0) <= CONSTANT_SHARE * np.maximum(largest, 1e-300)
    return constant


def noise_deviation(effort: FloatArray) -> FloatArray:
    """
    Return an upper bound (n,) of the standard deviation of white noise in a signal.

    `effort` (N, n) has consecutive samples; the result is in its unit, NaN for fewer than three
    samples. It is the median size of second differences, which hold little of a smooth signal and,
    by the median, nothing of its jumps. Noise that neighbouring samples share is not included.
    """
    if len(effort) < 3:
        return np.full(effort.shape[1], np.nan)
    second = np.abs(np.diff(effort, 2, axis=0))
    # The second difference of white noise has 1 + 4 + 1 times its variance.
    deviation: FloatArray = np.median(second, axis=0) / MEDIAN_OF_NORMAL / np.sqrt(6.0)
    return deviation


def partial_rms(residual: FloatArray, rows: BoolArray) -> FloatArray:
    """Return the root mean square of each column over its rows (N, n); NaN where it has none."""
    counts = np.count_nonzero(rows, axis=0)
    squares = np.sum(np.where(rows, residual, 0.0) ** 2, axis=0)
    return np.where(counts > 0, np.sqrt(squares / np.maximum(counts, 1)), np.nan)
