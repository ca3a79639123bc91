# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Published tables of Fourier coefficients as files.

A mapping of `convention`, `base_rate` [rad/s], `a` and `b` (a row for each joint, in kinematic
order), `center` [rad] and, for misprinted tables, `repair: true`; see `fourier_conventions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from robot_identification.errors import DescriptionError, IdentificationError
from robot_identification.excitation.fourier_conventions import (
    check_ends, nearest_at_rest, to_sum_convention,
)
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.files import check_keys


def is_fourier_table(content: Any) -> bool:
    """Return whether the content of a file means to be a table of Fourier coefficients."""
    return isinstance(content, dict) and 'convention' in content


def trajectory_of_table(
    content: Mapping[str, Any], source: str, robot: str, joints: Sequence[str], periods: int
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
    return Trajectory(robot, tuple(joints), form, coefficients, periods, {})
