# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The functions of motion of all joints at one sample, those of one kind evaluated at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.model import CURVES, STOP


class JointFunction(NamedTuple):
    """A function of the motion of one joint; see `BasisTerm`."""

    kind: str
    constants: tuple[float, ...]
    joint: int


class SampleBasis:
    """
    Evaluation of functions that are sorted, sample after sample.

    Stop operators remember the sample before; all start at rest.
    """

    def __init__(self, functions: Sequence[JointFunction]) -> None:
        self._joints: IntArray = np.array([function.joint for function in functions], dtype=int)
        self._curves: list[tuple[Callable[..., FloatArray], slice, list[FloatArray]]] = []
        self._stops, self._radii = slice(0), np.zeros(0)
        start = 0
        for kind, group in groupby(functions, key=lambda function: function.kind):
            constants = np.array([function.constants for function in group]).T
            rows = slice(start, start + constants.shape[1])
            if kind == STOP:
                self._stops, self._radii = rows, constants[0]
            else:
                self._curves.append((CURVES[kind], rows, list(constants)))
            start = rows.stop
        self._stopped: IntArray = self._joints[self._stops]
        self.restart()

    def restart(self) -> None:
        """Forget the samples before."""
        self._deflections = np.zeros(len(self._radii))
        self._q: FloatArray | None = None

    def step(self, q: FloatArray, dq: FloatArray) -> FloatArray:
        """Return the values (m, k) of the next sample at q (n,) [rad] and dq (m, n) [rad/s]."""
        seen = dq.take(self._joints, axis=1)
        values = np.empty_like(seen)
        for curve, rows, constants in self._curves:
            values[:, rows] = curve(seen[:, rows], *constants)
        if self._radii.size:
            if self._q is not None:
                moved = self._deflections + (q - self._q).take(self._stopped)
                self._deflections = np.minimum(np.maximum(moved, -self._radii), self._radii)
            self._q = q
            values[:, self._stops] = self._deflections / self._radii
        return values
