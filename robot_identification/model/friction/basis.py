# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The functions of motion that friction is a sum of.

A law declares one term for each of its coefficients. Batch evaluation, in `FrictionLaw.columns`,
and evaluation of single samples, for all joints at once, follow from the same declaration.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.friction.curves import (
    Constant, signed_power, signed_power_by_velocity, smooth_sign, smooth_sign_by_velocity,
    static_share, static_share_by_velocity,
)

# Function of the position, with a memory; its constants are the radius and the step in which
# positions are read, or 0 [rad]. See `run_stops` and `steady_positions`.
STOP = 'stop'


class BasisTerm(NamedTuple):
    """Function of motion that one coefficient of a friction law multiplies."""

    kind: str  # key of CURVES, or STOP
    constants: tuple[float, ...] = ()
    per_load: bool = False  # times the absolute torque that the joint transmits [N m]
    reference: float | None = None  # times the temperature above this one [deg C]


def _velocity(dq: FloatArray, factor: Constant) -> FloatArray:
    return factor * dq


def _sign(dq: FloatArray, zero: Constant) -> FloatArray:
    return np.where(np.abs(dq) > zero, np.sign(dq), 0.0)


def _static_sign(
    dq: FloatArray, width: Constant, velocity: Constant, exponent: Constant
) -> FloatArray:
    return smooth_sign(dq, width) * static_share(dq, velocity, exponent)


def _kinetic_sign(
    dq: FloatArray, width: Constant, velocity: Constant, exponent: Constant
) -> FloatArray:
    kinetic: FloatArray = (1.0 - static_share(dq, velocity, exponent)) * smooth_sign(dq, width)
    return kinetic


def _forward_share(dq: FloatArray, width: Constant) -> FloatArray:
    return (1.0 + smooth_sign(dq, width)) / 2.0


def _backward_share(dq: FloatArray, width: Constant) -> FloatArray:
    return (1.0 - smooth_sign(dq, width)) / 2.0


def _static_sign_slope(
    dq: FloatArray, width: float, velocity: float, exponent: float
) -> FloatArray:
    share = static_share(dq, velocity, exponent)
    share_slope = static_share_by_velocity(dq, velocity, exponent)
    return share * smooth_sign_by_velocity(dq, width) + share_slope * smooth_sign(dq, width)


def _kinetic_sign_slope(
    dq: FloatArray, width: float, velocity: float, exponent: float
) -> FloatArray:
    share = static_share(dq, velocity, exponent)
    share_slope = static_share_by_velocity(dq, velocity, exponent)
    return (
        (1.0 - share) * smooth_sign_by_velocity(dq, width) - share_slope * smooth_sign(dq, width)
    )


# Of the velocity [rad/s] and the constants of a term, which may be arrays that broadcast with it.
CURVES: MappingProxyType[str, Callable[..., FloatArray]] = MappingProxyType({
    'one': np.ones_like,
    'velocity': _velocity,
    'power': signed_power,
    'sign': _sign,
    'smooth_sign': smooth_sign,
    'static_sign': _static_sign,
    'kinetic_sign': _kinetic_sign,
    'forward_sign': lambda dq, width: _forward_share(dq, width) * smooth_sign(dq, width),
    'backward_sign': lambda dq, width: _backward_share(dq, width) * smooth_sign(dq, width),
    'forward_velocity': lambda dq, width: _forward_share(dq, width) * dq,
    'backward_velocity': lambda dq, width: _backward_share(dq, width) * dq,
})
# Their derivatives by the velocity, zero where one jumps.
SLOPES: MappingProxyType[str, Callable[..., FloatArray]] = MappingProxyType({
    'one': np.zeros_like,
    'velocity': lambda dq, factor: np.full_like(dq, factor),
    'power': signed_power_by_velocity,
    'sign': lambda dq, zero: np.zeros_like(dq),
    'smooth_sign': smooth_sign_by_velocity,
    'static_sign': _static_sign_slope,
    'kinetic_sign': _kinetic_sign_slope,
    'forward_sign': lambda dq, width: (
        (0.5 + smooth_sign(dq, width)) * smooth_sign_by_velocity(dq, width)
    ),
    'backward_sign': lambda dq, width: (
        (0.5 - smooth_sign(dq, width)) * smooth_sign_by_velocity(dq, width)
    ),
    'forward_velocity': lambda dq, width: (
        _forward_share(dq, width) + smooth_sign_by_velocity(dq, width) * dq / 2.0
    ),
    'backward_velocity': lambda dq, width: (
        _backward_share(dq, width) - smooth_sign_by_velocity(dq, width) * dq / 2.0
    ),
})
