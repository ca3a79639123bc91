# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Weights of rows by their residuals, for estimators that outliers must not lead astray."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray

# Standard deviation of normal numbers over the median of their sizes.
NORMAL_DEVIATION = 1.4826
# Share of the squared residuals that weights must take away to differ from ones without looking
# at all rows again; chosen, far above rounding.
CLEAR_SHARE = 1.0e-3


class HuberWeights:
    """
    Square roots of Huber's weights [1]_, and sums of the residuals that they were asked for.

    `scale` (n,) is the standard deviation of each joint's residual [N m]; residuals beyond
    `tuning` of them count linearly.

    References
    ----------
    .. [1] P. J. Huber, "Robust estimation of a location parameter", Annals of Mathematical
       Statistics 35(1), 1964.
    .. [2] P. J. Huber, "Robust Statistics", Wiley, 1981, chapter 7.

    """

    def __init__(self, scale: FloatArray, tuning: float = 1.345) -> None:
        self.scale, self._tuning = scale, tuning
        self._medians = [SizeMedian() for _ in scale]
        self._sums = np.zeros((7, len(scale)))

    def __call__(self, joint: int, residual: FloatArray) -> FloatArray:
        """Return the factors on rows of a joint with residuals of shape (m,) [N m]."""
        u = np.abs(residual) / self.scale[joint]
        weight = 1.0 / np.maximum(u / self._tuning, 1.0)
        score = weight * u
        self._medians[joint].add(residual)
        self._sums[:, joint] += [
            len(u), weight.sum(), score @ score, np.count_nonzero(u <= self._tuning),
            np.count_nonzero(weight < 0.5), u @ u, score @ u,
        ]
        roots: FloatArray = np.sqrt(weight)
        return roots

    def merge(self, other: HuberWeights) -> None:
        """Take the residuals that another has seen, too."""
        for median, theirs in zip(self._medians, other._medians, strict=True):
            median.merge(theirs)
        self._sums += other._sums

    @property
    def differ_from_one(self) -> bool:
        """Return whether weights clearly take something away."""
        squares, weighted = self._sums[5:]
        return bool(np.any(weighted < (1.0 - CLEAR_SHARE) * squares))

    @property
    def deviation(self) -> FloatArray:
        """Standard deviation by the median of the residuals seen, shape (n,) [N m]."""
        return NORMAL_DEVIATION * np.array([median.value for median in self._medians])

    @property
    def damped(self) -> FloatArray:
        """Share of each joint's rows that count less than half, shape (n,)."""
        share: FloatArray = self._sums[4] / np.maximum(self._sums[0], 1.0)
        return share

    def row_deviation(
        self, joint_weights: FloatArray, parameters: float
    ) -> tuple[FloatArray, FloatArray]:
        """
        Return how the weighted rows of each joint scatter, as far as the solution is concerned.

        First the factors (n,) on them that turn their squares into the curvature of the loss, then
        the standard deviations (n,) of the rows multiplied by these. Averages over the joint stand
        for those of single rows, with Huber's correction for the number of `parameters` that each
        joint pays for [2]_, eq. 7.6.
        """
        count, weight, score, undamped = self._sums[:4]
        mean_slope = np.maximum(undamped / count, np.finfo(float).eps)
        variance = score / np.maximum(count - parameters, 1.0)
        correction = 1.0 + parameters / count * (1.0 - mean_slope) / mean_slope
        curvature: FloatArray = np.sqrt(mean_slope / (weight / count))
        deviation: FloatArray = (
            correction * joint_weights * self.scale * np.sqrt(variance / mean_slope)
        )
        return curvature, deviation


class SizeMedian:
    """
    Median of the sizes of numbers that come in parts, in memory that does not grow.

    Up to `LARGEST_SAMPLE` numbers it is exact. More are counted in classes of equal ratio, and
    the median is right to a part in 700.
    """

    LARGEST_SAMPLE = 200_000
    CLASSES_PER_DOUBLING = 512
    # Two to this power is the least and the greatest size that is distinguished.
    LEAST, GREATEST = -60, 40

    def __init__(self) -> None:
        self._sizes: list[FloatArray] = []
        self._number = 0
        self._counts: FloatArray | None = None

    def add(self, values: FloatArray) -> None:
        """Take more numbers, shape (m,)."""
        sizes = np.abs(values)
        self._number += len(sizes)
        if self._counts is not None:
            self._count(self._counts, sizes)
            return
        self._sizes.append(sizes)
        if self._number > self.LARGEST_SAMPLE:
            classes = (self.GREATEST - self.LEAST) * self.CLASSES_PER_DOUBLING
            self._counts = np.zeros(classes)
            for part in self._sizes:
                self._count(self._counts, part)
            self._sizes = []

    def merge(self, other: SizeMedian) -> None:
        """Take the numbers that another has, too; as if they had been added here."""
        if other._counts is None:
            for sizes in other._sizes:
                self.add(sizes)
            return
        if self._counts is None:
            self._counts = np.zeros(len(other._counts))
            for sizes in self._sizes:
                self._count(self._counts, sizes)
            self._sizes = []
        self._counts += other._counts
        self._number += other._number

    def _count(self, counts: FloatArray, sizes: FloatArray) -> None:
        powers = np.log2(np.maximum(sizes, 2.0**self.LEAST)) - self.LEAST
        classes = np.minimum((powers * self.CLASSES_PER_DOUBLING).astype(int), len(counts) - 1)
        counts += np.bincount(classes, minlength=len(counts))

    @property
    def value(self) -> float:
        """Return the median; zero of no numbers."""
        if self._number == 0:
            return 0.0
        if self._counts is None:
            return float(np.median(np.concatenate(self._sizes)))
        cumulated = np.cumsum(self._counts)
        place = int(np.searchsorted(cumulated, 0.5 * self._number))
        if place == 0:
            return 0.0
        inside = (0.5 * self._number - cumulated[place - 1]) / self._counts[place]
        return float(2.0 ** ((place + inside) / self.CLASSES_PER_DOUBLING + self.LEAST))
