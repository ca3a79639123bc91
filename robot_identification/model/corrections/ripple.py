# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Torque ripple of a gear, at an order that the residual shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.corrections.correction import (
    CorrectionGroup, CorrectionSignals, Evidence, SampleSums,
)
from robot_identification.model.corrections.position_series import check_orders, harmonics
from robot_identification.model.robot_model import RobotModel

# Periods a turn that are looked at: twice the ratio of the gears of arms, 50 to 160, and its half.
LOWEST_ORDER, HIGHEST_ORDER = 30, 420
# Share of the squared residual that an order explains in both halves at least; measured: noise
# explains less.
LEAST_SHARE = 0.01


@dataclass(frozen=True)
class Ripple(CorrectionGroup):
    """Sines and cosines of a high multiple of the position, and of its neighbours."""

    orders: tuple[int, ...]

    name = 'ripple'
    meaning = 'torque ripple of the gear'
    ridges = (0.3,)
    # Measured: with one, coloured noise of 12 s was accepted for 9 % of the joints.
    certainty = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, 'orders', check_orders(self.orders, self.name))

    @classmethod
    def candidates(cls, evidence: Evidence) -> tuple[CorrectionGroup, ...]:
        """Return the order that explains most in both halves."""
        q = np.concatenate([
            one.motion.q[rows, evidence.joint]
            for one, rows in zip(evidence.signals, evidence.rows, strict=True)
        ])
        order = find_ripple_order(q, np.concatenate(evidence.residuals))
        return () if order is None else (cls((order - 1, order, order + 1)),)

    @property
    def size(self) -> int:
        return 2 * len(self.orders)

    def columns(
        self, robot: RobotModel, signals: CorrectionSignals, joint: int
    ) -> FloatArray:
        return harmonics(signals.motion.q[:, joint], self.orders)

    def add_to(self, sums: SampleSums, joint: int, coefficients: FloatArray) -> None:
        sums.add_waves(joint, self.orders, *np.split(coefficients, 2))


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
    return LOWEST_ORDER + best if shares[best] > LEAST_SHARE else None


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
