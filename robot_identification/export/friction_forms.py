# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Friction of joints in the forms that simulators know, fitted to the identified curve.

The curve is that of steady sliding, the mean of both directions, over the speeds and at the mean
load that the model was identified at.
"""

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.export.arm import (
    check_consistent, covered, plain_friction, UNKNOWN_SPEED,
)
from robot_identification.model import IdentifiedModel, sliding_speeds, steady_torque
import scipy

# What a joint of a MuJoCo model can be given.
PLAIN, POLYNOMIAL, LUGRE = 'plain', 'polynomial', 'lugre'
FORMS = {
    PLAIN: 'Coulomb and viscous friction, for every version of MuJoCo',
    POLYNOMIAL: 'Coulomb friction and damping of the first to the third power of velocity',
    LUGRE: 'static and Coulomb friction with presliding (a passive dcmotor), and damping',
}
# Versions of MuJoCo that read it, tried with 3.7, 3.12, 3.16, 3.17 and 4.0.
NEEDED_VERSIONS = {POLYNOMIAL: '3.7', LUGRE: '4.0'}
# Stribeck velocities that are tried, as parts of the fastest speed; chosen: from below the
# slowest sliding to where the curve is a parabola.
STRIBECK_PARTS = np.geomspace(0.01, 1.0, 25)
# Displacement at which a LuGre bristle yields [rad], chosen: a tenth of a degree, stiff for the
# gears of an arm and wide for steps of a millisecond.
PRESLIDING = 2.0e-3
# Of the bristle [s], chosen: damped within a few steps of a simulator.
BRISTLE_TIME = 1.0e-3


@dataclass(frozen=True)
class FittedFriction:
    """Friction of a joint in one of the forms, and how well it is that of the model."""

    form: str
    coulomb: float  # [N m]
    # Of the first to third power of velocity [N m (s/rad)^k].
    damping: tuple[float, float, float]
    static: float  # at rest; that of Coulomb in forms without it [N m]
    stribeck: float  # velocity at which one turns into the other [rad/s]; 1 without
    # Root of the mean square and largest difference from the curve [N m]; of the curve itself.
    misfit: float
    largest_misfit: float
    size: float

    def torque(self, speeds: FloatArray) -> FloatArray:
        """Return friction in steady sliding at positive speeds (m,) [N m]."""
        first, second, third = self.damping
        return (
            self.coulomb + (self.static - self.coulomb) * np.exp(-(speeds / self.stribeck) ** 2)
            + speeds * (first + speeds * (second + speeds * third))
        )

    def describe(self, joint: str) -> str:
        """Return how well the form is the identified friction of a joint, in words."""
        share = 100.0 * self.misfit / self.size if self.size > 0.0 else 0.0
        return (
            f'{joint}: {self.form} friction misses the identified one by {self.misfit:.2g} N m '
            f'({share:.2g} %), at most {self.largest_misfit:.2g} N m'
        )


def friction_curve(
    model: IdentifiedModel, theta: FloatArray, joint: int
) -> tuple[FloatArray, FloatArray]:
    """
    Return the friction of a joint with parameters (p,) in steady sliding at its mean load.

    Positive, ascending speeds (m,) [rad/s], and the torques against the motion there (m,), the
    mean of both directions [N m].
    """
    speeds = sliding_speeds(covered(model, 'speeds', joint) or UNKNOWN_SPEED)
    load = covered(model, 'loads', joint)
    torque = np.zeros(len(speeds))
    for term, columns in model.parameters.friction_columns:
        if term.joint == joint:
            temperature = term.law.temperature_at(None)
            forth, back = (
                steady_torque(term.law, theta[columns], sign * speeds, load, temperature)
                for sign in (1.0, -1.0)
            )
            torque += 0.5 * (forth - back)
    return speeds, torque


def fit_friction(
    model: IdentifiedModel, theta: FloatArray, joint: int, form: str
) -> FittedFriction:
    """Return the friction of a joint with parameters (p,) in a form; none of it gives energy."""
    speeds, torque = friction_curve(model, theta, joint)
    if form == PLAIN:
        coulomb, viscous = plain_friction(model, theta, joint)
        values = (coulomb, (viscous, 0.0, 0.0), coulomb, 1.0)
    elif form == POLYNOMIAL:
        values = _fit_polynomial(speeds, torque)
    else:
        values = _fit_lugre(speeds, torque)
    fitted = FittedFriction(form, *values, 0.0, 0.0, float(np.sqrt(np.mean(torque**2))))
    missed = fitted.torque(speeds) - torque
    return replace(
        fitted, misfit=float(np.sqrt(np.mean(missed**2))),
        largest_misfit=float(np.abs(missed).max()),
    )


def fit_all_frictions(model: IdentifiedModel, form: str) -> list[FittedFriction]:
    """
    Return the friction of every joint of a physically consistent model in a form.

    Raises UsageError if there is no such form, InconsistentModelError as `check_consistent`.
    """
    if form not in FORMS:
        raise UsageError(f'no form of friction {form!r:.40}: there are {", ".join(FORMS)}')
    theta = check_consistent(model)
    return [fit_friction(model, theta, joint, form) for joint in range(model.robot.n)]


_Values = tuple[float, tuple[float, float, float], float, float]


def _fit_polynomial(speeds: FloatArray, torque: FloatArray) -> _Values:
    """Return the least squares; friction rises beyond the fastest speed, and is never negative."""
    v = speeds / speeds[-1]
    columns, beyond = (
        np.column_stack([share**power for power in range(4)]) for share in (v, 2.0 * v)
    )
    for least in (-np.inf, 0.0):
        found = scipy.optimize.lsq_linear(
            columns, torque, ([0.0, 0.0, least, 0.0], np.inf)
        ).x
        if np.all(beyond @ found >= 0.0):
            break
    coulomb, *damping = found / speeds[-1] ** np.arange(4)
    first, second, third = (float(value) for value in damping)
    return float(coulomb), (first, second, third), float(coulomb), 1.0


def _fit_lugre(speeds: FloatArray, torque: FloatArray) -> _Values:
    """Return the least squares over Stribeck velocities, then of all constants at once."""
    fastest = speeds[-1]

    def columns(stribeck: float) -> FloatArray:
        return np.column_stack([
            np.ones_like(speeds), np.exp(-(speeds / stribeck) ** 2), speeds
        ])

    def best(stribeck: float) -> tuple[float, FloatArray]:
        found = scipy.optimize.lsq_linear(columns(stribeck), torque, (0.0, np.inf))
        return float(found.cost), found.x

    start = min(STRIBECK_PARTS * fastest, key=lambda stribeck: best(stribeck)[0])
    refined = scipy.optimize.least_squares(
        lambda logarithm: columns(np.exp(logarithm[0])) @ best(np.exp(logarithm[0]))[1]
        - torque, [np.log(start)], bounds=([np.log(1e-3 * fastest)], [np.log(2 * fastest)]),
    )
    stribeck = float(np.exp(refined.x[0]))
    coulomb, drop, viscous = (float(value) for value in best(stribeck)[1])
    return coulomb, (viscous, 0.0, 0.0), coulomb + drop, stribeck
