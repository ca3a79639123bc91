# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Motions that rest at one pose after the other: what their forms share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.parametrizations.parametrization import (
    LONGEST_PERIOD, within_period,
)

# A step from 0 to 1 and its three derivatives at shares u of the time it takes.
Step = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray, FloatArray]]

# Shares of a move nearer than this to a jump of the acceleration are at the jump.
AT_JUMP = 1.0e-9
# Twice the share of the peak of a velocity that an even grid may miss.
PEAK_MISSED = 0.01
# A grid of a thousand samples per second cannot miss this much of an acceleration [s].
SHORTEST_BLEND = 0.01


@dataclass(frozen=True)
class Itinerary:
    """The order in which poses are visited, and when."""

    stops: tuple[int, ...]  # numbers of the poses; first and last are 0, the start
    rests: tuple[float, ...]  # at each stop but the first and the last [s]
    move_time: float  # from one stop to the next [s]

    def __post_init__(self) -> None:
        if self.duration > LONGEST_PERIOD:
            raise DescriptionError(
                f'{len(self.stops) - 1} moves of {self.move_time} s with {sum(self.rests):g} s of '
                f'dwell take {self.duration:g} s, at most {LONGEST_PERIOD:.0f} are allowed: take '
                'fewer poses, or a shorter dwell or move_time'
            )

    @property
    def move_starts(self) -> FloatArray:
        """Starts of the moves [s], one less than there are stops."""
        return np.concatenate([[0.0], np.cumsum(self.move_time + np.array(self.rests))])

    @property
    def duration(self) -> float:
        """Time from the first stop to the last [s]."""
        return float(self.move_starts[-1] + self.move_time)

    def instants(self, *shares: float) -> FloatArray:
        """Return the instants at some shares of every move [s], ascending, without repetition."""
        found = np.add.outer(self.move_starts, self.move_time * np.array(shares))
        instants = np.unique(found)
        # Instants that are one but for rounding are one.
        kept: FloatArray = instants[np.append(True, np.diff(instants) > AT_JUMP * self.move_time)]
        return kept

    def basis(
        self, t: FloatArray, step: Step
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """
        Return the bases of the start and the poses' offsets, B to dddB, shape (N, 1 + poses) each.

        See `Parametrization.basis`; `step` leads from one stop to the next.
        """
        t, starts = within_period(t, self.duration), self.move_starts
        move = np.clip(np.searchsorted(starts, t, side='right') - 1, 0, len(starts) - 1)
        u = (t - starts[move]) / self.move_time
        steps = step(np.clip(u, 0.0, 1.0))
        # A rest has no jerk, and neither has what is before the first move.
        steps[3][(u < 0.0) | (u > 1.0)] = 0.0
        stops, rows = np.array(self.stops), np.arange(len(t))
        bases = np.zeros((4, len(t), stops.max() + 1))
        for order, arriving in enumerate(steps):
            bases[order, rows, stops[move]] = (1.0 if order == 0 else 0.0) - arriving
            bases[order, rows, stops[move + 1]] = arriving
            bases[order] /= self.move_time**order
        # The poses are off the start: it carries all of them.
        bases[:, :, 0] = np.array([1.0, 0.0, 0.0, 0.0])[:, None]
        B, dB, ddB, dddB = bases
        return B, dB, ddB, dddB


def quintic_step(u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """
    Return the quintic from 0 to 1 and three derivatives by the share of its time `u`.

    It is at rest and without acceleration at both ends.
    """
    return (
        u**3 * (10.0 - 15.0 * u + 6.0 * u**2),
        30.0 * u**2 * (1.0 - u) ** 2,
        60.0 * u * (1.0 - u) * (1.0 - 2.0 * u),
        60.0 * (1.0 - 6.0 * u * (1.0 - u)),
    )


def trapezoidal_step(
    u: FloatArray, blend: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """
    Return as `quintic_step` a step with a velocity that rises, stays and falls evenly.

    `blend` is the share of the time in which the velocity rises, and in which it falls. At the
    four instants where the second derivative jumps it is zero, and the third is zero between them.
    """
    speed = 1.0 / (1.0 - blend)
    rise = speed / blend
    left = 1.0 - u
    rising, falling = u < blend, left < blend
    s = np.where(
        rising, 0.5 * rise * u**2,
        np.where(falling, 1.0 - 0.5 * rise * left**2, speed * (u - 0.5 * blend)),
    )
    ds = np.where(rising, rise * u, np.where(falling, rise * left, speed))
    inside = (np.minimum(u, left) > AT_JUMP) & (np.minimum(u, left) < blend - AT_JUMP)
    dds = np.where(inside, np.where(u < 0.5, rise, -rise), 0.0)
    return s, ds, dds, np.zeros_like(dds)


def check_dwell(name: str, value: Any, *, none_allowed: bool) -> None:
    """Check that the length of a rest is in its range; DescriptionError if not."""
    enough = value >= 0.0 if none_allowed else value > 0.0
    if not (enough and value <= LONGEST_PERIOD):
        least = 'at least 0' if none_allowed else 'above 0'
        raise DescriptionError(
            f'{name} is {value} s, it must be {least} and at most {LONGEST_PERIOD:.0f}'
        )


def check_blend(blend: float, move_time: float) -> None:
    """Check that the accelerated share of a move is in its range and long enough."""
    if not 0.0 < blend <= 0.5:
        raise DescriptionError(f'blend is {blend}, it must be above 0 and at most 0.5')
    if blend * move_time < SHORTEST_BLEND:
        raise DescriptionError(
            f'blend is {blend} of a move_time of {move_time} s: the arm accelerates in '
            f'{blend * move_time:g} s, at least {SHORTEST_BLEND} s are needed; raise one of them'
        )


def trapezoidal_samples(itinerary: Itinerary, blend: float) -> int:
    """Return the even samples that see the peaks of every move."""
    # Two while the arm accelerates, and one while it cruises or half a percent below the tip of
    # the triangle that is left without cruising.
    per_move = max(20.0, 2.0 / blend, 1.0 / (1.0 - (2.0 - PEAK_MISSED) * blend))
    return math.ceil(per_move * itinerary.duration / itinerary.move_time) + 1
