# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Change of friction in some seconds of motion, by least squares on the residual.

Residuals of all joints together are laid onto the shape that the model's friction has, and onto
what else may be in them: an offset and the acceleration of each joint, and the ten inertial
parameters of a body on the last link. That body pulls all joints at once, as it would, so that a
payload is not taken for friction. Joints that do not slide are left out.

Samples are reduced to triangular factors block by block; nothing else of them is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import FloatArray
from robot_identification.model import inertial_regressor, Motion, RobotModel
import scipy

# Columns of a joint: one, ddq, the payload's ten, friction, residual.
PAYLOAD = slice(2, 12)
OWN = (0, 1, 12)
FRICTION, RESIDUAL, WIDTH = 12, 13, 14
# Samples are averaged over that time: motion is slower, noise is not [s].
GROUP = 0.02
# Directions of the payload that a motion hardly shows are not used to explain anything: with
# columns of length one, those with smaller singular values count as not there.
SHOWN = 1.0e-3
PASSES = 3  # of reweighting; chosen, as weights need not be precise
# Of what friction is, a residual is not taken as smaller.
SMALLEST_RESIDUAL = 1.0e-3
# A block is left out if its residuals are larger than those of its neighbours, unless many are.
STRIKING, FEW = 3.0, 1.0 / 3.0
# Others are not those of joints [deg C].
POSSIBLE_TEMPERATURES = (-100.0, 300.0)


@dataclass(frozen=True, eq=False)
class MotionBlock:
    """Some seconds of motion, reduced."""

    stop: float  # stamp of the last sample [s]
    factors: FloatArray  # (n, 14, 14): triangular factor of each joint's rows in which it slides
    rows: FloatArray  # (n,): how many these are
    sliding: FloatArray  # (n, 2): how long each joint slid forwards and backwards [s]
    temperature: FloatArray  # (n,): mean while sliding [deg C]; NaN where it is not known


@dataclass(frozen=True)
class FrictionChange:
    """Change of the friction of one joint, from its residuals."""

    change: float  # measured friction over that of the model, minus 1
    standard_error: float  # of `change`, from the scatter between blocks
    unexplained: float  # rms of what is left of the residual, over that of the model's friction
    # Rms of the torque that the model lacks and that is not friction, over that of friction.
    load: float
    temperature: float  # mean while sliding [deg C]; NaN where it is not known


def reduce_block(
    robot: RobotModel, stamps: FloatArray, samples: FloatArray, slow_velocity: float
) -> MotionBlock:
    """
    Reduce consecutive samples of increasing stamps (N,) [s], N at least 2.

    `samples` (N, 6, n) are position, velocity, acceleration, friction of the model and residual,
    all finite, and temperature, which may be NaN. Joints below `slow_velocity` [rad/s] do not
    slide.
    """
    n = robot.n
    number = ((stamps - stamps[0]) / GROUP).astype(int)
    first = np.flatnonzero(np.diff(number, prepend=-1))
    counts = np.diff(first, append=stamps.size)
    mean = np.add.reduceat(samples[:, :5], first, axis=0) / counts[:, None, None]
    q, dq, ddq, friction, residual = mean.transpose(1, 0, 2)
    forth = np.minimum.reduceat(samples[:, 1], first, axis=0) > slow_velocity
    back = np.maximum.reduceat(samples[:, 1], first, axis=0) < -slow_velocity
    slides = forth | back
    factors, moving = np.zeros((n, WIDTH, WIDTH)), np.any(slides, axis=1)
    if np.any(moving):
        body = inertial_regressor(robot, Motion(q, dq, ddq).rows(moving)).reshape(-1, n, 10 * n)
        for joint in range(n):
            chosen = slides[moving, joint]
            factors[joint] = triangular(np.column_stack([
                np.ones(np.count_nonzero(chosen)), ddq[moving][chosen, joint],
                body[chosen, joint, -10:], friction[moving][chosen, joint],
                residual[moving][chosen, joint],
            ]))
    period = (stamps[-1] - stamps[0]) / (stamps.size - 1)
    sliding = period * np.stack([counts @ forth, counts @ back], axis=1)
    return MotionBlock(
        float(stamps[-1]), factors, np.sum(slides, axis=0).astype(float), sliding,
        _mean_temperature(samples[:, 5], slides[np.repeat(np.arange(first.size), counts)]),
    )


def _mean_temperature(temperature: FloatArray, slides: NDArray[np.bool_]) -> FloatArray:
    """Return the mean over the samples in which each joint slides, NaN where none is known."""
    coldest, warmest = POSSIBLE_TEMPERATURES
    known = slides & (temperature > coldest) & (temperature < warmest)
    count = np.sum(known, axis=0)
    total = np.sum(np.where(known, temperature, 0.0), axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def triangular(rows: FloatArray) -> FloatArray:
    """Return the square triangular factor of rows, shape (N, w) to (w, w)."""
    R = np.linalg.qr(rows, mode='r')
    square = np.zeros((rows.shape[1], rows.shape[1]))
    square[: len(R)] = R
    return square


def estimate_change(blocks: Sequence[MotionBlock], joint: int) -> FrictionChange | None:
    """
    Return the change of the friction of a joint over blocks in which it slides.

    The few blocks whose residuals are outliers are left out: a person may have touched the arm.
    None where the model has no friction that varies.
    """
    found = _Fit(blocks, joint)
    if found.size == 0.0:
        return None
    rms = found.block_rms
    good = rms <= STRIKING * np.median(rms)
    if 0 < np.count_nonzero(~good) < FEW * len(blocks):
        blocks = [block for block, keep in zip(blocks, good, strict=True) if keep]
        found = _Fit(blocks, joint)
    temperature = np.array([block.temperature[joint] for block in blocks])
    known = np.isfinite(temperature)
    return FrictionChange(
        float(found.coefficients[joint, FRICTION]), found.standard_error, found.unexplained,
        found.load, float(np.mean(temperature[known])) if np.any(known) else np.nan,
    )


class _Fit:
    """
    Least squares over all joints, weighted by the residuals of each.

    The standard error is that of clusters, which blocks are: residuals within a block depend on
    each other, and those of different blocks hardly do.
    """

    def __init__(self, blocks: Sequence[MotionBlock], joint: int) -> None:
        self._factors = np.stack([block.factors for block in blocks])
        self._rows = np.stack([block.rows for block in blocks])
        self._joint = joint
        B, n = self._rows.shape
        merged = np.stack([
            triangular(self._factors[:, i].reshape(B * WIDTH, WIDTH)) for i in range(n)
        ])
        rows = np.maximum(self._rows.sum(axis=0), 1.0)
        # The first column is the offset: below its row, it is taken out.
        sizes = np.linalg.norm(merged[:, 1:, FRICTION], axis=1) / np.sqrt(rows)
        self.size = float(sizes[joint])
        rms = np.linalg.norm(merged[:, 1:, RESIDUAL], axis=1) / np.sqrt(rows)
        for _ in range(PASSES):
            floor = np.maximum(rms, SMALLEST_RESIDUAL * sizes)
            self._weights = np.divide(1.0, floor, out=np.zeros(n), where=floor > 0.0)
            self.coefficients, self._R, self._scale = _solve(merged, self._weights)
            left = np.einsum('jrc,jc->jr', merged, self._residual_of())
            rms = np.linalg.norm(left, axis=1) / np.sqrt(rows)
        if self.size > 0.0:
            other = merged[joint, :, :FRICTION] @ self.coefficients[joint, :FRICTION]
            self.load = float(np.linalg.norm(other) / np.sqrt(rows[joint]) / self.size)
            self.unexplained = float(rms[joint] / self.size)

    def _residual_of(self) -> FloatArray:
        """Return what takes a joint's columns to what is left of its residual, (n, 14)."""
        return np.column_stack([-self.coefficients, np.ones(len(self.coefficients))])

    @property
    def block_rms(self) -> FloatArray:
        """Rms of what is left of the joint's residual in each block, shape (B,)."""
        left = self._factors[:, self._joint] @ self._residual_of()[self._joint]
        rows = np.maximum(self._rows[:, self._joint], 1.0)
        rms: FloatArray = np.linalg.norm(left, axis=1) / np.sqrt(rows)
        return rms

    @property
    def standard_error(self) -> float:
        """Standard error of the joint's change of friction, from the scatter of blocks."""
        B, n = self._rows.shape
        chosen = np.zeros(len(self._scale))
        chosen[_column_of(self._joint, FRICTION)] = 1.0 / self._scale[
            _column_of(self._joint, FRICTION)
        ]
        once = scipy.linalg.solve_triangular(self._R, chosen, trans='T')
        direction = scipy.linalg.solve_triangular(self._R, once) / self._scale
        along = np.stack([_expand(direction, i) for i in range(n)])
        seen = np.einsum('bjrc,jc->bjr', self._factors[..., :RESIDUAL], along)
        left = np.einsum('bjrc,jc->bjr', self._factors, self._residual_of())
        scores = np.einsum('bjr,bjr,j->b', seen, left, self._weights**2)
        return float(np.sqrt(B / max(B - 1, 1) * np.sum(scores**2)))


def _column_of(joint: int, own: int) -> int:
    """Return the place of one of a joint's own columns among those of all joints."""
    return 10 + 3 * joint + OWN.index(own)


def _expand(values: FloatArray, joint: int) -> FloatArray:
    """Return the values of all columns as those of one joint, shape (13,)."""
    own = np.zeros(RESIDUAL)
    own[PAYLOAD] = values[:10]
    own[list(OWN)] = values[10 + 3 * joint: 13 + 3 * joint]
    return own


def _solve(
    merged: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """
    Return coefficients (n, 13), and the triangular factor and the scale of the columns.

    Small rows below make directions that are not shown zero; the change of friction itself is
    only kept from being singular.
    """
    n = len(merged)
    columns = np.zeros((n, WIDTH, 10 + 3 * n))
    for joint in range(n):
        columns[joint, :, :10] = merged[joint, :, PAYLOAD]
        columns[joint, :, 10 + 3 * joint: 13 + 3 * joint] = merged[joint][:, list(OWN)]
    X = (weights[:, None, None] * columns).reshape(n * WIDTH, -1)
    y = (weights[:, None] * merged[:, :, RESIDUAL]).ravel()
    scale = np.linalg.norm(X, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    small = np.full(X.shape[1], SHOWN)
    small[[_column_of(joint, FRICTION) for joint in range(n)]] = SHOWN**2
    Q, R = np.linalg.qr(np.vstack([X / scale, np.diag(small)]))
    values = scipy.linalg.solve_triangular(R, Q.T @ np.append(y, np.zeros(small.size))) / scale
    return np.stack([_expand(values, joint) for joint in range(n)]), R, scale
