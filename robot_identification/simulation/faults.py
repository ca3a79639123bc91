# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Faults of a stream of joint states between a robot and its subscribers."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray, IndexArray
from robot_identification.options import check_options, option


@dataclass(frozen=True)
class StreamFaults:
    """Faults of the joint states, none by default; ranges are chosen."""

    drop: float = option(
        float, 'share of the joint states that is lost', default=0.0, minimum=0.0, maximum=1.0
    )
    duplicate: float = option(
        float, 'share of the joint states that comes twice', default=0.0, minimum=0.0, maximum=1.0
    )
    nan: float = option(
        float, 'share of the joint states with a value that is not a number', default=0.0,
        minimum=0.0, maximum=1.0,
    )
    delay: float = option(
        float, 'how much later joint states are published [s of simulated time]; stamps stay',
        default=0.0, minimum=0.0, maximum=2.0,
    )
    silence: bool = option(bool, 'no joint states are published', default=False)
    freeze: bool = option(bool, 'joint states keep their values, under new stamps', default=False)
    repeat: bool = option(
        bool, 'the same joint state comes repeatedly, with its stamp', default=False
    )
    shuffle: bool = option(bool, 'every joint state has another order of joints', default=False)
    clock_jump: float = option(
        float, 'added to the stamps of joint states [s]', default=0.0,
        minimum=-100.0, maximum=100.0,
    )

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, eq=False)
class StreamSample:
    """One sample of a stream."""

    stamp: float  # when it was taken [s]
    values: tuple[FloatArray, ...]  # (n,): any quantities of n joints, in the joints' usual order
    order: IndexArray  # (n,): which joint is published first, second, .


class Stream:
    """
    Stream of samples of `n` joints with faults.

    The same seed, samples and faults give the same stream.
    """

    def __init__(self, n: int, seed: int) -> None:
        self.faults = StreamFaults()
        self._rng = np.random.default_rng(seed)
        self._order = np.arange(n)
        self._waiting: deque[tuple[float, list[StreamSample]]] = deque()
        self._frozen: tuple[FloatArray, ...] | None = None
        self._repeated: StreamSample | None = None

    def clear(self) -> None:
        """Lose what has not been published yet."""
        self._waiting.clear()

    def push(self, stamp: float, values: tuple[FloatArray, ...], now: float) -> list[StreamSample]:
        """
        Take a sample in, and return those that are published now: none, one, or several.

        `now` is the present time, on which `delay` counts [s]; one of the first three quantities
        (n,) may become NaN.
        """
        if self.faults.silence:
            self.clear()
            return []
        self._waiting.append((now, self._suffer(stamp, values)))
        published: list[StreamSample] = []
        # Sums of a period's multiples are rounded: a nanosecond is no delay.
        while self._waiting and self._waiting[0][0] + self.faults.delay <= now + 1e-9:
            published += self._waiting.popleft()[1]
        return published

    def _suffer(self, stamp: float, values: tuple[FloatArray, ...]) -> list[StreamSample]:
        faults = self.faults
        if not faults.freeze:
            self._frozen = None
        elif self._frozen is None:
            self._frozen = values
        if self._happens(faults.drop):
            return []
        sample = StreamSample(
            stamp + faults.clock_jump, self._frozen or values, self._next_order()
        )
        if not faults.repeat or self._repeated is None:
            self._repeated = sample
        sample = self._repeated
        if self._happens(faults.nan):
            sample = replace(sample, values=self._with_nan(sample.values))
        return [sample, sample] if self._happens(faults.duplicate) else [sample]

    def _happens(self, share: float) -> bool:
        return share > 0.0 and bool(self._rng.random() < share)

    def _next_order(self) -> IndexArray:
        n = self._order.size
        if not self.faults.shuffle:
            self._order = np.arange(n)
        elif n > 1:
            before = self._order
            while np.array_equal(before, self._order):
                self._order = self._rng.permutation(n)
        return self._order

    def _with_nan(self, values: tuple[FloatArray, ...]) -> tuple[FloatArray, ...]:
        # Position, velocity and effort; what else goes with them stays.
        fields = min(len(values), 3)
        field, joint = (int(self._rng.integers(size)) for size in (fields, values[0].size))
        spoilt = values[field].copy()
        spoilt[joint] = np.nan
        return (*values[:field], spoilt, *values[field + 1:])
