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
    Return evenly spaced speeds (SPEEDS,) [rad/s] from slow sliding up to `fastest`.

    `fastest`, up to which friction is known, is positive [rad/s]; where it is slower than sliding,
    the slowest is a tenth of it.
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
    Return the columns (m, k) of a law in steady sliding, the mean of both directions.

    At positive ascending `speeds` (m,) [rad/s], with the load that the joint transmits [N m] and
    its temperature [deg C].
    """
    forth, back = (
        sign * steady_columns(law, sign * speeds, load, temperature) for sign in (1.0, -1.0)
    )
    mean: FloatArray = 0.5 * (forth + back)
    return mean


def steady_columns(
    law: FrictionLaw, velocities: FloatArray, load: float, temperature: float
) -> FloatArray:
    """Return the columns (m, k) of a law in steady sliding, as in `steady_torque`."""
    motion = _steady_motion(velocities, load, temperature)
    return law.columns(motion, law.initial_state())[0][1:]


def steady_torque(
    law: FrictionLaw, coefficients: FloatArray, velocities: FloatArray, load: float,
    temperature: float,
) -> FloatArray:
    """
    Return the torque (m,) [N m] of a law in steady sliding in one direction.

    It has the sign of the motor's torque. `velocities` (m,) [rad/s] are of one sign, which a zero
    has, too; `coefficients` (k,) are in the order of the law's symbols. `load` is the torque that
    the joint transmits [N m], the temperature that of the joint [deg C].
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

    The result is [N m] and [N m s/rad], neither negative. `coefficients` (k,) and the `load` [N m]
    are as in `steady_torque`, at the temperature that the law refers to; `speeds` (m,) are
    positive [rad/s].
    """
    torque = sliding_torque(law, coefficients, speeds, load)
    columns = np.column_stack([np.ones_like(speeds), speeds])
    (coulomb, viscous), _ = scipy.optimize.nnls(columns, torque)
    return float(coulomb), float(viscous)
