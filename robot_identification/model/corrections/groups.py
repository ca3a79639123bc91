# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The groups of corrections.

To add one: write its class here, add one line to CORRECTIONS; the contract tests run over every
entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.model.corrections.correction import (
    CorrectionGroup, CorrectionSignals, Evidence, SampleSums,
)
from robot_identification.model.regressor import block_slices
from robot_identification.model.robot_model import RobotModel

# Lags up to this many samples have a column each; more are summed in so many geometric bins.
SINGLE_LAGS = 12


@dataclass(frozen=True)
class FastVelocity(CorrectionGroup):
    """
    A short filter of measured minus smooth velocity.

    The velocity loop of a drive reacts to what its encoder says, noise and vibration included,
    and a motion planned or smoothed does not have that.
    """

    # First and last lag of each column [samples]; negative ones look ahead. A column is the sum of
    # the lagged differences, zero beyond the ends of a part without a gap.
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
            # One that is the smooth one up to a thousandth of its spread has nothing to tell.
            if not np.isfinite(measured).all() or not (
                np.std(measured - smooth) > 1.0e-3 * np.std(smooth)
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
    # 20 ms; measured on the current and torque signals of five arms.
    longest = max(round(0.02 * rate), 1)
    if longest <= SINGLE_LAGS:
        return tuple((lag, lag) for lag in range(longest + 1))
    edges = np.unique(np.round([0.0, *np.geomspace(1.0, longest, SINGLE_LAGS)]).astype(int))
    return ((0, 0), *((int(low) + 1, int(high)) for low, high in pairwise(edges)))


def harmonics(q: FloatArray, orders: Sequence[int]) -> FloatArray:
    """Return sines and cosines of multiples of positions (N,) [rad], shape (N, 2 orders)."""
    angles = np.outer(q, orders)
    return np.hstack([np.sin(angles), np.cos(angles)])


def check_orders(orders: Sequence[int], what: str) -> tuple[int, ...]:
    """Return orders as a tuple; a `DescriptionError` if they are no whole numbers from 1."""
    if not orders or not all(isinstance(order, int) and order >= 1 for order in orders):
        raise DescriptionError(f'orders of {what} are {orders!r}: whole numbers from 1 needed')
    return tuple(orders)


@dataclass(frozen=True)
class _Waves(CorrectionGroup):
    """Sines and cosines of multiples of the joint's position."""

    orders: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, 'orders', check_orders(self.orders, self.name))

    @property
    def size(self) -> int:
        return 2 * len(self.orders)

    def columns(
        self, robot: RobotModel, signals: CorrectionSignals, joint: int
    ) -> FloatArray:
        return harmonics(signals.motion.q[:, joint], self.orders)

    def add_to(self, sums: SampleSums, joint: int, coefficients: FloatArray) -> None:
        sums.add_waves(joint, self.orders, *np.split(coefficients, 2))


@dataclass(frozen=True)
class PositionSeries(_Waves):
    """Sines and cosines of low multiples of the joint's position."""

    # Periods a turn; measured: higher ones were never accepted on real arms.
    orders: tuple[int, ...] = (1, 2, 3, 4, 5)

    name = 'position_series'
    meaning = 'torque that repeats with a turn of the joint'
    ridges = (1.0, 0.1)
    # Measured: with one, residuals shifted in time were accepted for a tenth of the joints.
    certainty = 2.0
    # On 15 s a residual shifted in time was accepted for 5 to 30 % of the joints.
    shortest_motion = 20.0
    is_shared_with_bodies = True

    @classmethod
    def candidates(cls, evidence: Evidence) -> tuple[CorrectionGroup, ...]:
        """Return the series of the low orders."""
        return (cls(),)


@dataclass(frozen=True)
class JointDeviation(CorrectionGroup):
    """The joint's own columns of the bodies once more, free for that joint alone."""

    parameters: tuple[int, ...]  # numbers of the standard parameters of the bodies

    name = 'joint_deviation'
    meaning = 'deviation of the joint from the bodies that all joints share'
    ridges = (1.0, 0.1)
    # Measured: with one, residuals shifted in time were accepted for a tenth of the joints.
    certainty = 2.0
    # As for the series of positions.
    shortest_motion = 20.0
    is_shared_with_bodies = True

    def __post_init__(self) -> None:
        if not self.parameters or not all(
            isinstance(one, int) and one >= 0 for one in self.parameters
        ):
            raise DescriptionError(
                f'parameters of {self.name} are {self.parameters!r}: whole numbers from 0 needed'
            )
        object.__setattr__(self, 'parameters', tuple(self.parameters))

    @classmethod
    def candidates(cls, evidence: Evidence) -> tuple[CorrectionGroup, ...]:
        # Bodies before the joint do not act on it.
        own = tuple(one for one in evidence.rigid if one >= 10 * evidence.joint)
        return (cls(own),) if own else ()

    @property
    def size(self) -> int:
        return len(self.parameters)

    def columns(
        self, robot: RobotModel, signals: CorrectionSignals, joint: int
    ) -> FloatArray:
        N, own = len(signals.motion), list(self.parameters)
        # Every joint asks for the same signals; one of more than 16 MB is not kept for that.
        if N * 10 * robot.n**2 <= 2_000_000:
            return signals.regressor(robot)[:, joint, own]
        columns = np.empty((N, self.size))
        for rows in block_slices(N):
            columns[rows] = signals.part(rows).regressor(robot)[:, joint, own]
        return columns

    def add_to(self, sums: SampleSums, joint: int, coefficients: FloatArray) -> None:
        sums.add_bodies(joint, self.parameters, coefficients)


# Periods a turn that are looked at: twice the ratio of the gears of arms, 50 to 160, and its half.
LOWEST_ORDER, HIGHEST_ORDER = 30, 420


@dataclass(frozen=True)
class Ripple(_Waves):
    """Sines and cosines of a high multiple of the position, and of its neighbours."""

    name = 'ripple'
    meaning = 'torque ripple of the gear'
    ridges = (0.3,)
    # Measured: with one, coloured noise of 12 s was accepted for 9 % of the joints.
    certainty = 2.0

    @classmethod
    def candidates(cls, evidence: Evidence) -> tuple[CorrectionGroup, ...]:
        """Return the order that explains most in both halves."""
        q = np.concatenate([
            one.motion.q[rows, evidence.joint]
            for one, rows in zip(evidence.signals, evidence.rows, strict=True)
        ])
        order = find_ripple_order(q, np.concatenate(evidence.residuals))
        return () if order is None else (cls((order - 1, order, order + 1)),)


def find_ripple_order(q: FloatArray, residual: FloatArray) -> int | None:
    """
    Return the periods a turn of the largest ripple in a residual (N,) over positions (N,) [rad].

    None where no order explains enough in both halves of the samples.
    """
    half = len(q) // 2
    shares = np.minimum(
        _explained(q[:half], residual[:half]), _explained(q[half:], residual[half:])
    )
    best = int(np.argmax(shares))
    # Measured: noise explains less.
    return LOWEST_ORDER + best if shares[best] > 0.01 else None


def _explained(q: FloatArray, residual: FloatArray) -> FloatArray:
    """Return the share of the squares that each order explains."""
    step = np.exp(1j * q)
    turn = np.exp(1j * LOWEST_ORDER * q)
    squares = max(float(residual @ residual), np.finfo(float).tiny)
    shares = np.empty(HIGHEST_ORDER - LOWEST_ORDER + 1)
    for at in range(len(shares)):
        # Sine and cosine of a fast phase are orthogonal, each of squared length N / 2.
        shares[at] = 2.0 * abs(turn @ residual) ** 2 / len(q) / squares
        turn = turn * step
    return shares
