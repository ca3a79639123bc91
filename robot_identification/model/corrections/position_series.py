# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Torque that repeats with a turn of the joint: cables, eccentricity, cogging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.model.corrections.correction import (
    CorrectionGroup, CorrectionSignals, Evidence, SampleSums,
)
from robot_identification.model.robot_model import RobotModel

ORDERS = (1, 2, 3, 4, 5)  # periods a turn; measured: higher ones were never accepted on real arms


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
class PositionSeries(CorrectionGroup):
    """Sines and cosines of low multiples of the joint's position."""

    orders: tuple[int, ...] = ORDERS

    name = 'position_series'
    meaning = 'torque that repeats with a turn of the joint'
    ridges = (1.0, 0.1)
    # Measured: with one, residuals shifted in time were accepted for a tenth of the joints.
    certainty = 2.0
    # On 15 s a residual shifted in time was accepted for 5 to 30 % of the joints.
    shortest_motion = 20.0
    is_shared_with_bodies = True

    def __post_init__(self) -> None:
        object.__setattr__(self, 'orders', check_orders(self.orders, self.name))

    @classmethod
    def candidates(cls, evidence: Evidence) -> tuple[CorrectionGroup, ...]:
        return (cls(),)

    @property
    def size(self) -> int:
        return 2 * len(self.orders)

    def columns(
        self, robot: RobotModel, signals: CorrectionSignals, joint: int
    ) -> FloatArray:
        return harmonics(signals.motion.q[:, joint], self.orders)

    def add_to(self, sums: SampleSums, joint: int, coefficients: FloatArray) -> None:
        sums.add_waves(joint, self.orders, *np.split(coefficients, 2))
