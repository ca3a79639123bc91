# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The sliding friction of an identified model: Coulomb and viscous, for any laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DataError
from robot_identification.model import (
    FrictionLaw, IdentifiedModel, sliding_columns, sliding_speeds,
)
from robot_identification.validation import freedom_of_sums, MOST_FREEDOM

# Up to this speed friction is compared where neither file nor limits say one [rad/s].
USUAL_SPEED = 1.0
# A smaller share of a law is rounding.
ROUNDING = 1.0e-9


@dataclass(frozen=True, eq=False)
class SlidingRange:
    """Range in which friction is compared."""

    speeds: FloatArray  # (n,): largest speed of each joint [rad/s]
    loads: FloatArray  # (n,): torque that each joint transmits [N m]


@dataclass(frozen=True, eq=False)
class SlidingFriction:
    """Friction of n joints in steady sliding, the mean of both directions."""

    # (n,): [N m] and [N m s/rad]; NaN for a joint without.
    coulomb: FloatArray
    viscous: FloatArray
    covariance: FloatArray  # (2 n, 2 n): of Coulomb friction of all joints, then viscous
    freedom: FloatArray  # (2 n,): degrees of freedom

    @property
    def standard_errors(self) -> FloatArray:
        """Return the standard errors of Coulomb and viscous friction, shape (2, n)."""
        return np.sqrt(np.diag(self.covariance)).reshape(2, -1)


def common_range(models: Sequence[IdentifiedModel]) -> SlidingRange:
    """Return the speeds up to which friction of all models is known, and their mean load."""
    speeds, loads = [], []
    for model in models:
        limit = model.robot.limits.velocity
        usual = np.where(np.isfinite(limit), limit, USUAL_SPEED)
        seen = np.asarray(model.quality.get('speeds', usual), dtype=float)
        speeds.append(np.where(seen > 0.0, seen, usual))
        loads.append(np.asarray(model.quality.get('loads', np.zeros(len(usual))), dtype=float))
    return SlidingRange(np.min(speeds, axis=0), np.mean(loads, axis=0))


def degrees_of_freedom(model: IdentifiedModel) -> tuple[FloatArray, bool]:
    """
    Return the degrees of freedom (b,) of the base parameters, and if they are known.

    They are `MOST_FREEDOM`, practically infinite, if the model file does not state them.
    """
    stated = np.asarray(model.quality.get('degrees_of_freedom', ()), dtype=float)
    if stated.shape != model.theta_base.shape:
        return np.full(len(model.theta_base), MOST_FREEDOM), False
    return np.clip(np.nan_to_num(stated, nan=1.0), 1.0, MOST_FREEDOM), True


def sliding_map(
    model: IdentifiedModel, where: SlidingRange
) -> tuple[FloatArray, BoolArray]:
    """
    Return how Coulomb and viscous friction follow from the b base parameters.

    Laws that are neither are replaced by the nearest of both, least squares over the speeds, at
    the model's own temperatures. Signs are left as they come out. ``M @ theta_base`` is Coulomb
    friction of all joints, then viscous, shape (2 n, b); the second value says where the model
    has such friction, shape (2 n,).
    """
    M = _term_map(model, 2, lambda law, joint, temperature: _plain_shares(
        law, sliding_speeds(float(where.speeds[joint])), float(where.loads[joint]), temperature
    ))
    M[np.abs(M) < ROUNDING] = 0.0
    flat = M.transpose(1, 0, 2).reshape(2 * len(M), -1)
    return flat, np.any(flat != 0.0, axis=1)


def sliding_torque_map(
    model: IdentifiedModel, where: SlidingRange, speeds: FloatArray
) -> FloatArray:
    """
    Return the factors (n, k, b) of the base parameters in friction torque at k speeds.

    `speeds` (k,) are positive and in any order [rad/s]; the torque is the mean of both directions.
    Loads are those of `where`, temperatures those of the model.
    """
    order = np.argsort(speeds)
    back = np.argsort(order)
    return _term_map(model, len(speeds), lambda law, joint, temperature: sliding_columns(
        law, speeds[order], float(where.loads[joint]), temperature
    )[back])


def _term_map(
    model: IdentifiedModel,
    rows: int,
    columns_of: Callable[[FrictionLaw, int, float], FloatArray],
) -> FloatArray:
    """
    Return what base parameters multiply in sums over the friction terms, shape (n, rows, b).

    `columns_of` returns that of a law's coefficients, of its joint and temperature, (rows, k).
    """
    parameters = model.parameters
    row_of = {int(column): row for row, column in enumerate(model.reduction.independent)}
    M = np.zeros((model.robot.n, rows, len(model.theta_base)))
    for term, columns in parameters.friction_columns:
        joint = term.joint
        found = columns_of(term.law, joint, term.law.temperature_at(
            None if model.temperature is None else model.temperature[joint]
        ))
        for k, column in enumerate(range(columns.start, columns.stop)):
            if column in row_of:
                M[joint, :, row_of[column]] += found[:, k]
    return M


def sliding_friction(model: IdentifiedModel, where: SlidingRange) -> SlidingFriction:
    """Return Coulomb and viscous friction of a model; see `sliding_map`."""
    M, known = sliding_map(model, where)
    values = np.where(known, M @ model.theta_base, np.nan)
    coulomb, viscous = values.reshape(2, -1)
    freedom, _ = degrees_of_freedom(model)
    return SlidingFriction(
        coulomb, viscous, M @ model.covariance @ M.T,
        freedom_of_sums(M, np.diag(model.covariance), freedom),
    )


def motor_friction(friction: SlidingFriction, gear_ratio: FloatArray) -> SlidingFriction:
    """Return friction on the motors' side: Coulomb over gear ratio (n,), viscous by its square."""
    if not np.all(np.isfinite(gear_ratio)) or np.any(gear_ratio == 0.0):
        raise DataError(
            f'gear ratios are {np.asarray(gear_ratio).tolist()}, and friction of motors needs all '
            'of them: write gear_ratio into the robot YAML'
        )
    scale = 1.0 / np.abs(gear_ratio)
    both = np.concatenate([scale, scale**2])
    return SlidingFriction(
        friction.coulomb * scale, friction.viscous * scale**2,
        friction.covariance * both * both[:, None], friction.freedom,
    )


def _plain_shares(
    law: FrictionLaw, speeds: FloatArray, load: float, temperature: float
) -> FloatArray:
    """Return the Coulomb and viscous share of each coefficient of a law, shape (2, k)."""
    if law.plain is not None:
        return np.array(law.plain)[:, None]
    basis = np.column_stack([np.ones_like(speeds), speeds])
    columns = sliding_columns(law, speeds, load, temperature)
    shares = np.linalg.lstsq(basis, columns, rcond=None)[0]
    return np.asarray(shares, dtype=float)
