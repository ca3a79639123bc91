# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Joints of one size compared across robots.

Makers build several arms from few sizes of joints: the elbow of a UR3 and the wrists of a UR5 are
the same (Raviola et al. 2021), so their friction on the motor's side should be alike. Where it is
not, lubrication, wear or temperature differ, or a drive gain is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DataError
from robot_identification.model import IdentifiedModel
from robot_identification.studies.comparison.sliding import (
    common_range, motor_friction, sliding_friction,
)
import scipy


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


def joints_of_size_content(sizes: Sequence[JointsOfSize]) -> list[dict[str, Any]]:
    """Return joints by size as plain values (docs/formats/comparison.md); NaN stays NaN."""
    return [asdict(entry) for entry in sizes]


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
