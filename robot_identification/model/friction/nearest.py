# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The Coulomb and viscous friction nearest to any law, for what knows no other."""

from __future__ import annotations

import math

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
        Ascending, at equal distances [rad/s].

    """
    slowest = SLOWEST_SLIDING if fastest > SLOWEST_SLIDING else 0.1 * fastest
    return np.linspace(slowest, fastest, SPEEDS)


def sliding_torque(
    law: FrictionLaw, coefficients: FloatArray, speeds: FloatArray, load: float
) -> FloatArray:
    """
    Return the friction of a law in steady sliding, the mean of both directions (m,) [N m].

    At positive speeds (m,) [rad/s], under a load [N m], at the temperature that the law refers to.
    """
    temperature = law.temperature_at(None)
    forth, back = (
        sign * steady_torque(law, coefficients, sign * speeds, load, temperature)
        for sign in (1.0, -1.0)
    )
    mean: FloatArray = 0.5 * (forth + back)
    return mean


def sliding_columns(
    law: FrictionLaw, speeds: FloatArray, load: float, temperature: float
) -> FloatArray:
    """
    Return the columns of a law in steady sliding, the mean of both directions.

    Parameters
    ----------
    law : FrictionLaw
        Any law.
    speeds : ndarray, shape (m,)
        Positive, ascending [rad/s].
    load : float
        Torque that the joint transmits [N m].
    temperature : float
        Of the joint [deg C].

    Returns
    -------
    ndarray, shape (m, k)
        In the order of the law's symbols.

    """
    forth, back = (
        sign * law.columns(
            _steady_motion(sign * speeds, load, temperature), law.initial_state()
        )[0][1:]
        for sign in (1.0, -1.0)
    )
    mean: FloatArray = 0.5 * (forth + back)
    return mean


def steady_torque(
    law: FrictionLaw, coefficients: FloatArray, velocities: FloatArray, load: float,
    temperature: float,
) -> FloatArray:
    """
    Return the torque of a law in steady sliding in one direction.

    Parameters
    ----------
    law : FrictionLaw
        Any law.
    coefficients : ndarray, shape (k,)
        In the order of its symbols.
    velocities : ndarray, shape (m,)
        Of one sign, which a zero has, too [rad/s].
    load : float
        Torque that the joint transmits [N m].
    temperature : float
        Of the joint [deg C].

    Returns
    -------
    ndarray, shape (m,)
        With the sign of the motor's torque [N m].

    """
    motion = _steady_motion(velocities, load, temperature)
    return law.evaluate(motion, coefficients, law.initial_state())[0][1:]


def _steady_motion(velocities: FloatArray, load: float, temperature: float) -> JointMotion:
    """Return velocities of one sign, each after a long way; the first only begins the way."""
    dq = np.append(velocities[0], velocities)
    return JointMotion(
        math.copysign(FAR, float(dq[0])) * np.arange(float(dq.size)), dq,
        np.full(dq.size, load), np.full(dq.size, temperature),
    )


def nearest_plain_friction(
    law: FrictionLaw, coefficients: FloatArray, speeds: FloatArray, load: float
) -> tuple[float, float]:
    """
    Return the Coulomb and viscous friction nearest to a law in steady sliding.

    Parameters
    ----------
    law, coefficients, load
        As in `steady_torque`, at the temperature that the law refers to.
    speeds : ndarray, shape (m,)
        Positive [rad/s].

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
