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

    @property
    def stops(self) -> tuple[IntArray, FloatArray]:
        """Return the joints of the stop operators, and their radii [rad], shape (s,)."""
        return self._stopped, self._radii

    def at(self, dq: FloatArray, deflections: FloatArray) -> FloatArray:
        """Return the values (m, k) at dq (m, n) [rad/s] and deflections (m, s) of the stops."""
        values = self._moving(dq)
        values[:, self._stops] = deflections / self._radii
        return values

    def _moving(self, dq: FloatArray) -> FloatArray:
        """Return the values (m, k) without those of the stops."""
        seen = dq.take(self._joints, axis=1)
        values = np.empty_like(seen)
        for curve, rows, constants in self._curves:
            values[:, rows] = curve(seen[:, rows], *constants)
        return values

    def step(self, q: FloatArray, dq: FloatArray) -> FloatArray:
        """Return the values (m, k) of the next sample at q (n,) [rad] and dq (m, n) [rad/s]."""
        values = self._moving(dq)
        if self._radii.size:
            if self._q is not None:
                moved = self._deflections + (q - self._q).take(self._stopped)
                self._deflections = np.minimum(np.maximum(moved, -self._radii), self._radii)
            self._q = q
            values[:, self._stops] = self._deflections / self._radii
        return values
