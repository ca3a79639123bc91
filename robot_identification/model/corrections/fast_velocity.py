# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The drive's answer to the velocity that it measures."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.model.corrections.correction import (
    CorrectionGroup, CorrectionSignals, Evidence, SampleSums,
)
from robot_identification.model.robot_model import RobotModel

# Memory of the filter [s]; measured on the current and torque signals of five arms.
MEMORY = 0.02
# Lags up to this many samples have a column each; more are summed in so many geometric bins.
SINGLE_LAGS = 12
# A measured velocity that is the smooth one up to this share of its spread has nothing to tell.
LEAST_DIFFERENCE = 1.0e-3


@dataclass(frozen=True)
class FastVelocity(CorrectionGroup):
    """
    A short filter of measured minus smooth velocity.

    The velocity loop of a drive reacts to what its encoder says, noise and vibration included,
    and a motion planned or smoothed does not have that.

    Attributes
    ----------
    bins : tuple of pairs of int
        First and last lag of each column [samples]; negative ones look ahead. A column is the sum
        of the lagged differences, zero beyond the ends of a part without a gap.

    """

    bins: tuple[tuple[int, int], ...]

    name = 'fast_velocity'
    meaning = 'reaction of the drive to fast changes of the velocity that it measures'
    ridges = (0.03,)
    needs_velocity = True

    def __post_init__(self) -> None:
        bins = tuple(tuple(pair) for pair in self.bins)
        if not bins or any(
            len(pair) != 2 or not all(isinstance(lag, int) for lag in pair) or pair[0] > pair[1]
            for pair in bins
        ):
            raise DescriptionError(f'bins of {self.name} are {self.bins!r}: pairs of lags needed')
        object.__setattr__(self, 'bins', bins)

    @classmethod
    def candidates(cls, evidence: Evidence) -> tuple[CorrectionGroup, ...]:
        """Return a filter of past samples, and one of both sides."""
        joint, signals = evidence.joint, evidence.signals
        for one in signals:
            measured, smooth = one.measured_dq[:, joint], one.motion.dq[:, joint]
            if not np.isfinite(measured).all() or not (
                np.std(measured - smooth) > LEAST_DIFFERENCE * np.std(smooth)
            ):
                return ()
        past = _lag_bins(min(one.rate for one in signals))
        if evidence.causal:
            return (cls(past),)
        ahead = tuple((-last, -first) for first, last in reversed(past) if last > 0)
        return cls(past), cls(ahead + past)

    @property
    def size(self) -> int:
        return len(self.bins)

    @property
    def reach(self) -> int:
        return max(max(abs(first), abs(last)) for first, last in self.bins)

    def columns(
        self, robot: RobotModel, signals: CorrectionSignals, joint: int
    ) -> FloatArray:
        difference = signals.measured_dq[:, joint] - signals.motion.dq[:, joint]
        columns = np.zeros((len(difference), self.size))
        for start, stop in pairwise(signals.edges):
            part, x = columns[start:stop], difference[start:stop]
            for at, (first, last) in enumerate(self.bins):
                for lag in range(first, last + 1):
                    if 0 <= lag < len(x):
                        part[lag:, at] += x[: len(x) - lag]
                    elif -len(x) < lag < 0:
                        part[:lag, at] += x[-lag:]
        return columns

    def add_to(self, sums: SampleSums, joint: int, coefficients: FloatArray) -> None:
        """Add the group; one that looks ahead raises a `DescriptionError`."""
        if min(first for first, _ in self.bins) < 0:
            raise DescriptionError(f'bins of {self.name} look ahead: no correction of a live arm')
        taps = np.zeros(1 + max(last for _, last in self.bins))
        for (first, last), coefficient in zip(self.bins, coefficients, strict=True):
            taps[first: last + 1] += coefficient
        sums.add_taps(joint, taps)


def _lag_bins(rate: float) -> tuple[tuple[int, int], ...]:
    """Return the lags from 0 to the memory of the filter at a rate [Hz]."""
    longest = max(round(MEMORY * rate), 1)
    if longest <= SINGLE_LAGS:
        return tuple((lag, lag) for lag in range(longest + 1))
    edges = np.unique(np.round([0.0, *np.geomspace(1.0, longest, SINGLE_LAGS)]).astype(int))
    return ((0, 0), *((int(low) + 1, int(high)) for low, high in pairwise(edges)))
