# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Criteria of excitation: functions of the base observation matrix.

Every criterion is a function of singular values, and smaller is better. Extreme singular values
have kinks where two of them meet, at which a search stalls; `Criterion.descend` replaces them by
smooth bounds that tighten as their sharpness grows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray

# Value of a function of singular values, and its gradient by them.
Spectral = Callable[[FloatArray, float], tuple[float, FloatArray]]


@dataclass(frozen=True)
class Criterion:
    """
    A criterion of base observation matrices (N n, b).

    `value` takes the singular values (b,) of ``W / sqrt(N n)``, largest first. `descent` takes
    them and a sharpness, and returns a function that is small where the criterion is, smooth where
    the sharpness is finite, with its gradient.
    """

    meaning: str
    unit_columns: bool  # whether columns are scaled to unit length first
    value: Callable[[FloatArray], float]
    descent: Spectral

    def __call__(self, W: FloatArray) -> float:
        """Return the criterion; infinite where the columns are dependent."""
        singular, _, _ = self._spectrum(W)
        return self.value(singular) if singular[-1] > 0.0 else float('inf')

    def descend(self, W: FloatArray, sharpness: float) -> tuple[float, FloatArray]:
        """
        Return a smooth approximation of the criterion and its gradient by the entries of W.

        `sharpness` is the exponent of the means that approximate extremes; infinite: the extremes
        themselves.
        """
        singular, right, lengths = self._spectrum(W)
        if not singular[-1] > 0.0:
            return float('inf'), np.zeros_like(W)
        value, by_singular = self.descent(singular, sharpness)
        # d s_i = u_i' dW v_i, and u_i s_i = W v_i.
        scaled = W / (lengths * np.sqrt(len(W)))
        by_scaled = (scaled @ (right * (by_singular / singular))) @ right.T
        return value, self._by_entries(by_scaled, W, lengths)

    def log_spectrum(self, W: FloatArray, wanted: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return logarithms of `wanted` singular values (m,), and gradients by W, (m, N n, b)."""
        singular, right, lengths = self._spectrum(W)
        scaled = W / (lengths * np.sqrt(len(W)))
        gradients = np.empty((len(wanted), *W.shape))
        for k, index in enumerate(wanted):
            left = scaled @ right[:, index] / singular[index] ** 2
            gradients[k] = self._by_entries(np.outer(left, right[:, index]), W, lengths)
        return np.log(singular[wanted]), gradients

    def _by_entries(
        self, by_scaled: FloatArray, W: FloatArray, lengths: FloatArray
    ) -> FloatArray:
        """Return a gradient by the entries of W from that by the entries of the scaled matrix."""
        if self.unit_columns:
            unit = W / lengths
            by_scaled = by_scaled - unit * np.sum(unit * by_scaled, axis=0)
        by_entries: FloatArray = by_scaled / (lengths * np.sqrt(len(W)))
        return by_entries

    def _spectrum(self, W: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return singular values, right vectors and what columns were divided by."""
        lengths = np.ones(W.shape[1])
        if len(W) < W.shape[1]:
            return np.zeros(W.shape[1]), np.eye(W.shape[1]), lengths
        if self.unit_columns:
            lengths = np.linalg.norm(W, axis=0)
            if not np.all(lengths > 0.0):
                return np.zeros(W.shape[1]), np.eye(W.shape[1]), lengths
        # By way of the triangular factor: much cheaper for tall matrices, and as accurate.
        triangle = np.linalg.qr(W / (lengths * np.sqrt(len(W))), mode='r')
        _, singular, right = np.linalg.svd(triangle)
        return singular, right.T, lengths


def _smallest(singular: FloatArray, sharpness: float) -> tuple[float, FloatArray]:
    """Return a lower bound of the logarithm of the smallest value, and its gradient."""
    value, gradient = _extreme(1.0 / singular, sharpness)
    return -value, gradient / singular**2


def _extreme(values: FloatArray, sharpness: float) -> tuple[float, FloatArray]:
    """Return an upper bound of the logarithm of the largest value, and its gradient."""
    index = int(np.argmax(values))
    if np.isinf(sharpness):
        gradient = np.zeros_like(values)
        gradient[index] = 1.0 / values[index]
        return float(np.log(values[index])), gradient
    exponent = 2.0 * sharpness
    powers = (values / values[index]) ** exponent
    total = powers.sum()
    value = float(np.log(values[index]) + np.log(total) / exponent)
    return value, powers / total / values


def _ratio(singular: FloatArray, sharpness: float) -> tuple[float, FloatArray]:
    largest, by_largest = _extreme(singular, sharpness)
    smallest, by_smallest = _smallest(singular, sharpness)
    return largest - smallest, by_largest - by_smallest


def _mean_log(singular: FloatArray, _: float) -> tuple[float, FloatArray]:
    count = len(singular)
    return float(-2.0 * np.mean(np.log(singular))), -2.0 / (count * singular)


def _log_trace_of_inverse(singular: FloatArray, _: float) -> tuple[float, FloatArray]:
    inverse = singular**-2.0
    total = inverse.sum()
    return float(np.log(total)), -2.0 * inverse / (singular * total)


def _condition(singular: FloatArray) -> float:
    return float(singular[0] / singular[-1])


CRITERIA: dict[str, Criterion] = {
    # Depend on the units and on the choice of the base set: compare only within one set.
    'condition_number': Criterion('condition number of W', False, _condition, _ratio),
    'condition_number_scaled': Criterion(
        'condition number of W with columns of unit length', True, _condition, _ratio
    ),
    # Differences between motions depend neither on units nor on the base set.
    'log_determinant': Criterion(
        'minus the mean logarithm of the information per sample (D-optimality)',
        False, lambda s: float(-2.0 * np.mean(np.log(s))), _mean_log,
    ),
    'trace_of_inverse': Criterion(
        'sum of the variances of base parameters for one sample of unit noise (A-optimality)',
        False, lambda s: float(np.sum(s**-2.0)), _log_trace_of_inverse,
    ),
}
