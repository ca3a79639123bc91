# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Change of friction in some seconds of motion, by least squares on the residual.

Residuals of all joints together are laid onto the shape that the model's friction has, and onto
what else may be in them: an offset and the acceleration of each joint, and the ten inertial
parameters of a body on the last link. That body pulls all joints at once, as it would, so that a
payload is not taken for friction. Joints that do not slide are left out.

Samples are reduced to products of their columns block by block; nothing else of them is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray
from robot_identification.model import inertial_regressor, Motion, RobotModel

# Columns of a joint: one, ddq, the payload's ten, friction, residual.
FRICTION, RESIDUAL, WIDTH = 12, 13, 14
# Those that are fitted, as all joints have them: the payload's first, then the joint's own.
FITTED = np.array([*range(2, 12), 0, 1, FRICTION])
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
    products: FloatArray  # (n, 14, 14): of the columns of each joint, over rows in which it slides
    sliding: FloatArray  # (n, 2): how long each joint slid forwards and backwards [s]
    temperature: FloatArray  # (n,): mean while sliding [deg C]; NaN where it is not known

    @property
    def rows(self) -> FloatArray:
        """Number of rows in which each joint slides, shape (n,)."""
        return self.products[:, 0, 0]


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
    products, moving = np.zeros((n, WIDTH, WIDTH)), np.any(slides, axis=1)
    if np.any(moving):
        body = inertial_regressor(robot, Motion(q, dq, ddq).rows(moving)).reshape(-1, n, 10 * n)
        for joint in range(n):
            chosen = slides[moving, joint]
            rows = np.column_stack([
                np.ones(np.count_nonzero(chosen)), ddq[moving][chosen, joint],
                body[chosen, joint, -10:], friction[moving][chosen, joint],
                residual[moving][chosen, joint],
            ])
            products[joint] = rows.T @ rows
    period = (stamps[-1] - stamps[0]) / (stamps.size - 1)
    sliding = period * np.stack([counts @ forth, counts @ back], axis=1)
    return MotionBlock(
        float(stamps[-1]), products, sliding,
        _mean_temperature(samples[:, 5], slides[np.repeat(np.arange(first.size), counts)]),
    )


def _mean_temperature(temperature: FloatArray, slides: BoolArray) -> FloatArray:
    """Return the mean over the samples in which each joint slides, NaN where none is known."""
    coldest, warmest = POSSIBLE_TEMPERATURES
    known = slides & (temperature > coldest) & (temperature < warmest)
    count = np.sum(known, axis=0)
    total = np.sum(np.where(known, temperature, 0.0), axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


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
        found.change, found.standard_error, found.unexplained, found.load,
        float(np.mean(temperature[known])) if np.any(known) else np.nan,
    )


class _Fit:
    """
    Least squares over all joints, weighted by the residuals of each.

    The standard error is that of clusters, which blocks are: residuals within a block depend on
    each other, and those of different blocks hardly do.
    """

    def __init__(self, blocks: Sequence[MotionBlock], joint: int) -> None:
        self._products = np.stack([block.products for block in blocks])
        self._joint = joint
        merged = self._products.sum(axis=0)
        rows = np.maximum(merged[:, 0, 0], 1.0)
        # The first column is the offset, which is taken out.
        squares = np.diagonal(merged, axis1=1, axis2=2) - merged[:, 0] ** 2 / rows[:, None]
        sizes, rms = np.sqrt(
            np.maximum(squares[:, [FRICTION, RESIDUAL]], 0.0) / rows[:, None]
        ).T
        self.size = float(sizes[joint])
        for _ in range(PASSES):
            floor = np.maximum(rms, SMALLEST_RESIDUAL * sizes)
            self._weights = np.divide(1.0, floor, out=np.zeros_like(floor), where=floor > 0.0)
            coefficients, self._direction = _solve(merged, self._weights, joint)
            # Takes the columns of a joint to what is left of its residual.
            self._left = np.column_stack([-coefficients, np.ones(len(coefficients))])
            rms = _root_mean(merged, self._left, rows)
        self.change = float(coefficients[joint, FRICTION])
        if self.size > 0.0:
            other = np.append(coefficients[joint, :FRICTION], [0.0, 0.0])
            self.load = float(_root_mean(merged[joint], other, rows[joint]) / self.size)
            self.unexplained = float(rms[joint] / self.size)

    @property
    def block_rms(self) -> FloatArray:
        """Rms of what is left of the joint's residual in each block, shape (B,)."""
        products = self._products[:, self._joint]
        return _root_mean(
            products, self._left[self._joint], np.maximum(products[:, 0, 0], 1.0)
        )

    @property
    def standard_error(self) -> float:
        """Standard error of the joint's change of friction, from the scatter of blocks."""
        B = len(self._products)
        scores = np.einsum(
            'jc,bjcd,jd,j->b', self._direction, self._products[:, :, :RESIDUAL], self._left,
            self._weights**2,
        )
        return float(np.sqrt(B / max(B - 1, 1) * np.sum(scores**2)))


def _root_mean(products: FloatArray, columns: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the rms over some rows of columns (.., 14) added up, by their products."""
    squares = np.einsum('...c,...cd,...d->...', columns, products, columns)
    rms: FloatArray = np.sqrt(np.maximum(squares, 0.0) / rows)
    return rms


def _solve(
    merged: FloatArray, weights: FloatArray, joint: int
) -> tuple[FloatArray, FloatArray]:
    """
    Return the coefficients of all joints (n, 13), and what takes scores to the joint's change.

    Small numbers on the diagonal make directions that are not shown zero; the change of friction
    itself is only kept from being singular.
    """
    n = len(merged)
    # Where the fitted columns of each joint are among those of all joints.
    places: list[IntArray] = [
        np.array([*range(10), *range(10 + 3 * one, 13 + 3 * one)]) for one in range(n)
    ]
    normal, sides = np.zeros((10 + 3 * n, 10 + 3 * n)), np.zeros((10 + 3 * n, 2))
    for place, products in zip(places, weights[:, None, None] ** 2 * merged, strict=True):
        normal[np.ix_(place, place)] += products[np.ix_(FITTED, FITTED)]
        sides[place, 0] += products[FITTED, RESIDUAL]
    sides[places[joint][-1], 1] = 1.0
    scale = np.sqrt(np.diag(normal))
    scale = np.where(scale > 0.0, scale, 1.0)
    small = np.full(len(scale), SHOWN**2)
    small[[place[-1] for place in places]] = SHOWN**4
    values = np.linalg.solve(
        normal / np.outer(scale, scale) + np.diag(small), sides / scale[:, None]
    ) / scale[:, None]
    found = np.zeros((2, n, RESIDUAL))
    for one, place in enumerate(places):
        found[:, one, FITTED] = values[place].T
    return found[0], found[1]
