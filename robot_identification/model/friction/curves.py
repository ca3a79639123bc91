# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The nonlinear curves that friction laws share, each with its derivatives by its shape constants.

All are finite, and raise no warning, for every finite velocity: at rest, far beyond the passage
through zero, and where an exponential underflows.
"""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
import scipy

# A shape constant, or one for every velocity.
Constant = FloatArray | float


def smooth_sign(dq: FloatArray, width: Constant) -> FloatArray:
    """Return ``tanh(dq / width)``, shape (N,): the sign with a smooth passage through zero."""
    return np.tanh(dq / width)


def smooth_sign_by_velocity(dq: FloatArray, width: float) -> FloatArray:
    """Return the derivative of `smooth_sign` by the velocity, shape (N,) [s/rad]."""
    # 1 - tanh^2 without its cancellation, and without the overflow of cosh.
    decay = np.exp(-2.0 * np.abs(dq / width))
    slope: FloatArray = 4.0 * decay / (1.0 + decay) ** 2 / width
    return slope


def smooth_sign_by_width(dq: FloatArray, width: float) -> FloatArray:
    """Return the derivative of `smooth_sign` by its width, shape (N,) [s/rad]."""
    return -dq / width * smooth_sign_by_velocity(dq, width)


def static_share(dq: FloatArray, velocity: Constant, exponent: Constant) -> FloatArray:
    """
    Return ``exp(-abs(dq / velocity)^exponent)``, shape (N,).

    The share of the static friction that is left at a velocity: one at rest, zero in sliding.
    """
    return np.exp(-np.abs(dq / velocity) ** exponent)


def static_share_by_velocity(dq: FloatArray, velocity: float, exponent: float) -> FloatArray:
    """Return the derivative of `static_share` by the velocity dq, shape (N,); zero at rest."""
    ratio = np.abs(dq / velocity)
    # At rest an exponent below 1 has a cusp.
    moving = np.where(ratio > 0.0, ratio, 1.0)
    slope: FloatArray = (
        -exponent * moving ** (exponent - 1.0) / velocity * np.exp(-ratio**exponent) * np.sign(dq)
    )
    return slope


def static_share_by_shape(
    dq: FloatArray, velocity: float, exponent: float
) -> tuple[FloatArray, FloatArray]:
    """Return the derivatives of `static_share` by velocity [s/rad] and exponent, shapes (N,)."""
    ratio = np.abs(dq / velocity)
    power = ratio**exponent
    share = np.exp(-power)
    # xlogy is zero at rest, where the logarithm alone is not finite.
    return share * power * exponent / velocity, -share * scipy.special.xlogy(power, ratio)


def signed_power(dq: FloatArray, exponent: Constant) -> FloatArray:
    """Return ``sign(dq) abs(dq)^exponent`` of a velocity in rad/s, shape (N,)."""
    return np.sign(dq) * np.abs(dq) ** exponent


def signed_power_by_exponent(dq: FloatArray, exponent: float) -> FloatArray:
    """Return the derivative of `signed_power` by its exponent, shape (N,); zero at rest."""
    speed = np.abs(dq)
    slope: FloatArray = np.sign(dq) * scipy.special.xlogy(speed**exponent, speed)
    return slope


def signed_power_by_velocity(dq: FloatArray, exponent: float) -> FloatArray:
    """Return the derivative of `signed_power` by the velocity, shape (N,); zero at rest."""
    speed = np.abs(dq)
    slope: FloatArray = np.where(
        speed > 0.0, exponent * np.where(speed > 0.0, speed, 1.0) ** (exponent - 1.0), 0.0
    )
    return slope
