# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The sliding friction of an identified model, for any laws, and that of joints of one size.

Makers build several arms from few sizes of joints: the elbow of a UR3 and the wrists of a UR5 are
the same (Raviola et al. 2021), so their friction on the motor's side should be alike. Where it is
not, lubrication, wear or temperature differ, or a drive gain is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DataError
from robot_identification.model import (
    FrictionLaw, IdentifiedModel, sliding_columns, sliding_speeds,
)
from robot_identification.validation import freedom_of_sums, MOST_FREEDOM
import scipy

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
    M = np.zeros((model.robot.n, rows, model.parameters.size))
    for term, columns in model.parameters.friction_columns:
        temperature = term.law.temperature_at(
            None if model.temperature is None else model.temperature[term.joint]
        )
        M[term.joint, :, columns] = columns_of(term.law, term.joint, temperature)
    return M[:, :, model.reduction.independent]


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


@dataclass(frozen=True)
class JointFriction:
    """Friction of one joint on its motor's side."""

    model: int  # number of the model as it was given, from 1
    # Whose.
    robot: str
    joint: str
    temperature: float  # of the joint [deg C]; NaN where not recorded
    # ``fc = coulomb * gear_ratio`` [N m] and ``fv = viscous * gear_ratio^2`` [N m s/rad].
    coulomb: float
    # Standard errors.
    coulomb_error: float
    viscous: float
    viscous_error: float


@dataclass(frozen=True)
class JointsOfSize:
    """Joints of one size."""

    size: str  # as the robot YAMLs name it
    # Largest over smallest; NaN with one joint, or where one is not positive.
    coulomb_spread: float
    viscous_spread: float
    # Probability that joints of equal friction scatter as much by the errors of the models.
    coulomb_p: float
    viscous_p: float
    joints: tuple[JointFriction, ...]  # in the order of the models


def compare_joints_of_size(
    models: Sequence[IdentifiedModel],
    drives: Sequence[Mapping[str, str]],
    gear_ratios: Sequence[FloatArray],
) -> tuple[JointsOfSize, ...]:
    """
    Compare friction of joints of one size, of one or several robots, sorted by size.

    For each model, `drives` names the size by joint (joints without one are left out), and
    `gear_ratios` holds the ratios (n,). Raises DataError if no joint has a size, a gear ratio is
    missing, or a model has a relative scale.
    """
    found: dict[str, list[JointFriction]] = {}
    for number, (model, sizes, ratio) in enumerate(
        zip(models, drives, gear_ratios, strict=True), start=1
    ):
        names = model.robot.joint_names
        if not any(name in sizes for name in names):
            continue
        if model.relative_scale:
            raise DataError(
                f'the model of {model.robot.name} is of relative scale, for its drive gains were '
                'unknown: its friction cannot be compared with that of another arm'
            )
        sized = np.array([name in sizes for name in names])
        friction = motor_friction(
            sliding_friction(model, common_range([model])), np.where(sized, ratio, 1.0)
        )
        coulomb_errors, viscous_errors = friction.standard_errors
        for j, name in enumerate(names):
            if name in sizes:
                found.setdefault(sizes[name], []).append(JointFriction(
                    number, model.robot.name, name,
                    float('nan') if model.temperature is None else float(model.temperature[j]),
                    float(friction.coulomb[j]), float(coulomb_errors[j]),
                    float(friction.viscous[j]), float(viscous_errors[j]),
                ))
    if not found:
        names_of_robots = ', '.join(dict.fromkeys(model.robot.name for model in models))
        raise DataError(
            f'the robot YAMLs of {names_of_robots} state the size of no joint: add `drive` to '
            'their joints (docs/formats/robot.md), and name them with --robots'
        )
    return tuple(_of_size(size, found[size]) for size in sorted(found))


def _of_size(size: str, joints: Sequence[JointFriction]) -> JointsOfSize:
    coulomb = np.array([[joint.coulomb, joint.coulomb_error] for joint in joints])
    viscous = np.array([[joint.viscous, joint.viscous_error] for joint in joints])
    return JointsOfSize(
        size, _extreme_ratio(coulomb[:, 0]), _extreme_ratio(viscous[:, 0]),
        _homogeneity(coulomb), _homogeneity(viscous), tuple(joints),
    )


def _extreme_ratio(values: FloatArray) -> float:
    known = values[np.isfinite(values)]
    if len(known) < 2 or not known.min() > 0.0:
        return float('nan')
    return float(known.max() / known.min())


def _homogeneity(columns: FloatArray) -> float:
    """Return the p-value of a common mean, from values and their standard errors."""
    value, error = columns[np.isfinite(columns[:, 0]) & (columns[:, 1] > 0.0)].T
    if len(value) < 2:
        return float('nan')
    mean = np.average(value, weights=error**-2.0)
    return float(scipy.special.chdtrc(len(value) - 1, np.sum(((value - mean) / error) ** 2)))
