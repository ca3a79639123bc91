# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Published tables of Fourier coefficients, in the conventions of their papers.

As a file a table is a mapping of `convention`, `base_rate` [rad/s], `a` and `b` (a row for each
joint, in kinematic order), `center` [rad] and, for misprinted tables, `repair: true`.

Publications write the same motion in three ways, with w the base rate and l the harmonic:

- 'sum': a_l sin(l w t) - b_l cos(l w t) [1]_ [2]_, as here,
- 'div': (a_l sin(l w t) - b_l cos(l w t)) / (l w) [3]_ [4]_, amplitudes of velocity,
- 'plus_cosine': a_l sin(l w t) + b_l cos(l w t) [5]_; its b_0 is a part of the centre.

A table that was printed wrongly moves the robot with a jerk at its ends, so every table is to be
checked. Check and repair are for motions of whole base periods, whose end is their start.

References
----------
.. [1] G. Porcelli, master thesis, Politecnico di Torino 2020, eq. 3.54 to 3.58.
.. [2] A. Raviola et al., "Effects of temperature and mounting configuration on the dynamic
   parameters identification of industrial robots", Robotics 10(3), 83, 2021, eq. 5.
.. [3] J. Swevers et al., "Optimal robot excitation and identification", IEEE T-RA 13(5), 1997.
.. [4] A. Tika, J. Ulmen, N. Bajcinca, "Dynamic parameter estimation utilizing optimized
   trajectories", 2020.
.. [5] J. Rajagopal, R&D report, Bonn-Rhein-Sieg 2017.

"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import (
    DescriptionError, IdentificationError, UnsafeMotionError, UsageError,
)
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.files import check_keys

CONVENTIONS = ('sum', 'div', 'plus_cosine')
# Four printed digits, times l^2 up to 25, sum up to this [rad].
PRINTED_TOLERANCE = 0.002


def to_sum_convention(
    a: FloatArray, b: FloatArray, convention: str, base_rate: float
) -> tuple[FloatArray, FloatArray]:
    """
    Return a published table (n, K) in the convention of this package [rad].

    Coefficients of sine and cosine are as printed: [rad], or [rad/s] in 'div'; `base_rate` is the
    rate of the first harmonic [rad/s]. Raises a `UsageError` for an unknown convention, a
    `DescriptionError` for other than a table.
    """
    order = _orders(a, b)
    if not 0.0 < base_rate < np.inf:
        raise DescriptionError(f'base rate is {base_rate} rad/s, it must be above 0')
    if convention not in CONVENTIONS:
        raise UsageError(
            f'unknown convention {convention!r} of Fourier coefficients; known are '
            f'{", ".join(CONVENTIONS)}'
        )
    factor = 1.0 / (order * base_rate) if convention == 'div' else np.ones(order.size)
    return a * factor, b * (-factor if convention == 'plus_cosine' else factor)


def _orders(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return 1 to K of a table, which must be one."""
    if np.ndim(a) != 2 or np.shape(a) != np.shape(b) or np.size(a) == 0:
        raise DescriptionError(
            f'Fourier coefficients have shapes {np.shape(a)} and {np.shape(b)}; a row for each '
            'joint and a column for each harmonic is needed, as many of sine as of cosine'
        )
    return np.arange(1.0, np.shape(a)[1] + 1.0)


def end_residuals(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """
    Return velocity and acceleration at the ends for a base rate of 1 rad/s, shape (n,) each.

    They are the sums of l a_l and of l^2 b_l ([1]_ eq. 3.58), zero at rest.
    """
    order = _orders(a, b)
    return a @ order, b @ order**2


def check_ends(
    joint_names: Sequence[str],
    a: FloatArray,
    b: FloatArray,
    base_rate: float,
    *,
    tolerance: float = PRINTED_TOLERANCE,
) -> None:
    """
    Refuse a table in the convention 'sum' whose motion does not start and end at rest.

    `tolerance` is the largest sum that is attributed to printed digits [rad]. The
    `UnsafeMotionError` names every joint that is not at rest, and its speed at the start.
    """
    velocity, acceleration = end_residuals(a, b)
    if len(joint_names) != len(velocity):
        raise DescriptionError(
            f'Fourier coefficients have {len(velocity)} rows for {len(joint_names)} joints'
        )
    broken = []
    for joint, dq, ddq in zip(joint_names, velocity, acceleration, strict=True):
        # What is not a number is broken, too.
        if not abs(dq) <= tolerance:
            broken.append(f'{joint} starts with {dq * base_rate:.3f} rad/s (sum l a_l = {dq:.4f})')
        if not abs(ddq) <= tolerance:
            broken.append(
                f'{joint} starts with {ddq * base_rate**2:.3f} rad/s^2 (sum l^2 b_l = {ddq:.4f})'
            )
    if broken:
        raise UnsafeMotionError(
            'the Fourier coefficients do not start and end at rest: ' + '; '.join(broken)
            + f'; sums up to {tolerance:g} are allowed: look for misprints, or take the nearest '
            'coefficients at rest (`repair: true` in its file) and say so'
        )


def nearest_at_rest(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """
    Return the coefficients at rest at both ends that are nearest in least squares.

    This is the repair for misprinted tables; it changes every coefficient of a joint that is not
    at rest.
    """
    order = _orders(a, b)
    velocity, acceleration = end_residuals(a, b)
    return (
        a - np.outer(velocity, order) / np.sum(order**2),
        b - np.outer(acceleration, order**2) / np.sum(order**4),
    )


def is_fourier_table(content: Any) -> bool:
    """Return whether the content of a file means to be a table of Fourier coefficients."""
    return isinstance(content, dict) and 'convention' in content


def trajectory_of_table(
    content: Mapping[str, Any], source: str, robot: str, joints: Sequence[str]
) -> Trajectory:
    """
    Return the motion of a published table, of the form `fourier` with an empty certificate.

    Raises an `UnsafeMotionError` if it does not start and end at rest and `repair` is not true.
    """
    check_keys(content, source, {'convention', 'base_rate', 'a', 'b', 'center'}, {'repair'})
    try:
        a, b = (np.array(content[key], dtype=float) for key in ('a', 'b'))
        center = np.array(content['center'], dtype=float)
        rate = float(content['base_rate'])
    except (TypeError, ValueError) as error:
        raise DescriptionError(f'{source}: {error}') from error
    if center.shape != (len(joints),) or not np.all(np.isfinite(center)):
        raise DescriptionError(
            f'{source}: center must be {len(joints)} positions in rad, one for each of '
            f'{", ".join(joints)}'
        )
    try:
        a, b = to_sum_convention(a, b, str(content['convention']), rate)
        if content.get('repair', False) is not True:
            check_ends(joints, a, b, rate)
    except IdentificationError as error:
        raise type(error)(f'{source}: {error}') from error
    # Printed digits are off by a little even where the table is right.
    a, b = nearest_at_rest(a, b)
    form = FourierParametrization(harmonics=a.shape[1], base_period=2.0 * np.pi / rate)
    # The first amplitudes follow from the others.
    coefficients = np.column_stack([center, a[:, 1:], b[:, 1:]])
    return Trajectory(robot, tuple(joints), form, coefficients, 1, {})
