# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The regrouping rules of Gautier and Khalil for arms of revolute joints, in closed form.

Tika et al. take their base parameters from them (their reference 15): M. Gautier and W. Khalil,
"Direct calculation of minimum set of inertial parameters of serial robots", IEEE Transactions on
Robotics and Automation 6(3), 1990. The product finds base parameters by QR instead.
"""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
from robot_identification.arrays import FloatArray

# Parameters of a link in Pinocchio's order.
SYMBOLS = ('m', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Iyy', 'Ixz', 'Iyz', 'Izz')
M, MX, MY, MZ, XX, XY, YY, XZ, YZ, ZZ = range(10)
# Sines of angles below this are rounding, and so are factors.
PARALLEL, ROUNDING = 1.0e-9, 1.0e-12


def regroup(
    alpha: Sequence[float], a: Sequence[float], d: Sequence[float], *,
    gravity_along_first_axis: bool,
) -> dict[str, dict[str, float]]:
    """
    Return the inertial base parameters of an arm in its modified Denavit-Hartenberg frames.

    `alpha` [rad], `a` and `d` [m] are of n joints, all of which turn. For each base parameter, by
    the standard parameter that leads it, come the factors of all.
    """
    n = len(alpha)
    # What each parameter of a link stands for, as a sum of standard ones.
    forms = np.eye(10 * n).reshape(n, 10, 10 * n)
    for link in range(n - 1, -1, -1):
        before = forms[link - 1] if link else np.zeros((10, 10 * n))  # the base does not move
        _hand_on(forms[link], before, alpha[link], a[link], d[link])
    kept = np.ones((n, 10), dtype=bool)
    kept[:, [YY, MZ, M]] = False
    for link in range(_turning_alike(alpha)):
        kept[link, [XX, XY, XZ, YZ]] = False
        # On the first axis itself a link cannot swing; beside it the swing is seen.
        on_the_axis = all(length == 0.0 for length in a[1:link + 1])
        kept[link, [MX, MY]] = not (gravity_along_first_axis and on_the_axis)
    names = [f'{symbol}{link + 1}' for link in range(n) for symbol in SYMBOLS]
    return {
        names[10 * link + index]: {
            names[column]: float(forms[link, index, column])
            for column in np.flatnonzero(np.abs(forms[link, index]) > ROUNDING)
        }
        for link, index in np.argwhere(kept)
    }


def _turning_alike(alpha: Sequence[float]) -> int:
    """Return how many links, from the first, turn about one direction."""
    for link, angle in enumerate(alpha[1:], start=1):
        if abs(math.sin(angle)) > PARALLEL:
            return link
    return len(alpha)


def _hand_on(own: FloatArray, before: FloatArray, alpha: float, a: float, d: float) -> None:
    """Write Iyy, mz and m of a link as parameters of its own and of the link before, in place."""
    C, S = math.cos(alpha), math.sin(alpha)
    yy, mz, m = own[YY].copy(), own[MZ].copy(), own[M].copy()
    own[XX] -= yy
    turned = yy + 2.0 * d * mz + d**2 * m
    before[XX] += turned
    before[XY] += a * S * (mz + d * m)
    before[XZ] -= a * C * (mz + d * m)
    before[YY] += C**2 * turned + a**2 * m
    before[YZ] += C * S * turned
    before[ZZ] += S**2 * turned + a**2 * m
    before[MX] += a * m
    before[MY] -= S * (mz + d * m)
    before[MZ] += C * (mz + d * m)
    before[M] += m
