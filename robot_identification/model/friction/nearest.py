# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The Coulomb and viscous friction nearest to any law, for what knows no other."""

from __future__ import annotations

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model.friction.law import FrictionLaw, JointMotion
import scipy

# Slower, friction depends on displacement, and on the width of the passage through rest [rad/s].
SLOWEST_SLIDING = 0.05
SPEEDS = 100
# Further than any stop is wide [rad].
FAR = 1.0e3


def sliding_speeds(fastest: float) -> FloatArray:
    """
    Return speeds from slow sliding to the fastest that friction is known at.

    Parameters
    ----------
    fastest : float
        Positive [rad/s]; where it is slower than sliding, a tenth of it is the slowest.

    Returns
    -------
    ndarray, shape (SPEEDS,)
        Ascending and evenly spread [rad/s].

    """
    slowest = SLOWEST_SLIDING if fastest > SLOWEST_SLIDING else 0.1 * fastest
    return np.linspace(slowest, fastest, SPEEDS)


def sliding_torque(
    law: FrictionLaw, coefficients: FloatArray, speeds: FloatArray, load: float
) -> FloatArray:
    """
    Return the friction of a law in steady sliding, the mean of both directions.

    Parameters
    ----------
    law : FrictionLaw
        Any law. What it remembers is that of a long way in one direction; temperatures are those
        it refers to.
    coefficients : ndarray, shape (k,)
        In the order of its symbols.
    speeds : ndarray, shape (m,)
        Positive [rad/s].
    load : float
        Torque that the joint transmits [N m].

    Returns
    -------
    ndarray, shape (m,)
        Torque against the motion [N m]; a bias is no friction.

    """
    warmth = float(law.constants().get('reference', np.nan))
    found = []
    for sign in (1.0, -1.0):
        # The first sample only says where the way begins.
        dq: FloatArray = sign * np.append(speeds[0], speeds)
        motion = JointMotion(
            sign * FAR * np.arange(float(dq.size)), dq, np.full(dq.size, load),
            np.full(dq.size, warmth),
        )
        torque, _ = law.evaluate(motion, coefficients, law.initial_state())
        found.append(sign * torque[1:])
    mean: FloatArray = 0.5 * (found[0] + found[1])
    return mean


def nearest_plain_friction(
    law: FrictionLaw, coefficients: FloatArray, speeds: FloatArray, load: float
) -> tuple[float, float]:
    """
    Return the Coulomb and viscous friction nearest to a law in steady sliding.

    Parameters
    ----------
    law, coefficients, speeds, load
        As in `sliding_torque`.

    Returns
    -------
    coulomb : float
        Not negative [N m].
    viscous : float
        Not negative [N m s/rad].

    """
    torque = sliding_torque(law, coefficients, speeds, load)
    columns = np.column_stack([np.ones_like(speeds), speeds])
    (coulomb, viscous), _ = scipy.optimize.nnls(columns, torque)
    return float(coulomb), float(viscous)
