# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Results of two encoders in addition to the parameters: stiffness of the gears, and the gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.model import (
    IdentifiedModel, inertial_regressor, Motion, prior_inertial_parameters, standard_torque,
)
from robot_identification.processing import Dataset, have_rotors
from robot_identification.validation.bag_errors import LONGEST_MEMORY, square_over_mean
from robot_identification.validation.whiteness import autocovariance, independent_share

# A deflection that follows the torque by less than so many standard errors shows no stiffness.
SEEN = 3.0


@dataclass(frozen=True, eq=False)
class JointStiffness:
    """Stiffness between rotor and link."""

    values: FloatArray  # (n,) [N m/rad]; NaN where the deflection does not follow the torque
    # (n,) [N m/rad]
    standard_errors: FloatArray


@dataclass(frozen=True, eq=False)
class BentJoint:
    """Deflection of one joint under its load, along one recording."""

    deflection: FloatArray  # (N,) position of the rotor less that of the link [rad]
    matrix: FloatArray  # (N, b) torque on the link by parameter [N m per parameter]
    others: FloatArray  # (N, m) what the deflection may follow besides


def fit_stiffness(
    recordings: Sequence[BentJoint], theta: FloatArray, covariance: FloatArray, rate: float
) -> tuple[float, float]:
    """
    Return the stiffness of a joint and its standard error [N m/rad], NaN where none is seen.

    The line ``deflection = torque / K + offset`` is fitted, with an offset for each recording, as
    encoders have different zeros. The deflection stands on the left because it is what is measured
    with noise. The error allows for residuals that are correlated in time, and for the errors of
    the torque.
    """
    parts = []
    for one in recordings:
        others = np.column_stack([np.ones(len(one.deflection)), one.others])
        both = np.column_stack([one.deflection, one.matrix])
        parts.append(both - others @ np.linalg.lstsq(others, both, rcond=None)[0])
    joined = np.concatenate(parts)
    bend, matrix = joined[:, 0], joined[:, 1:]
    load = matrix @ theta
    energy = float(load @ load)
    if not energy > 0.0 or not np.any(bend):
        return np.nan, np.nan
    compliance = float(load @ bend) / energy
    scores = (load * (bend - compliance * load))[:, None]
    products = autocovariance(scores, int(min(len(scores) - 1, LONGEST_MEMORY * rate)))[0]
    variance = float(np.sum(scores**2)) / independent_share(products, len(scores)) / energy**2
    by_theta = matrix.T @ (bend - 2.0 * compliance * load) / energy
    error = float(np.sqrt(variance + by_theta @ covariance @ by_theta))
    if not compliance > SEEN * error:
        return np.nan, np.nan
    return 1.0 / compliance, error / compliance**2


def find_stiffness(
    model: IdentifiedModel, motions: Sequence[Motion], rate: float
) -> JointStiffness:
    """
    Return the stiffness of the joints of an identified arm from both sides of its gears.

    Where a rotor inertia is one parameter with that of a link, the torque that passes through the
    gear is known but for a part that goes with the acceleration, which is then left aside. So is
    what goes with the velocity, which a constant time between both readings makes.
    """
    n, reduction = model.robot.n, model.reduction
    of_bodies = np.flatnonzero(reduction.independent < 10 * n)
    columns = reduction.independent[of_bodies]
    matrices = [
        inertial_regressor(model.robot, motion).reshape(len(motion), n, -1)[:, :, columns]
        for motion in motions
    ]
    rotors = model.parameters.reflected_inertia_slice
    merged = [
        bool(np.any(reduction.K[of_bodies, rotors.start + joint]))
        if model.parameters.reflected_inertia else False
        for joint in range(n)
    ]
    found = [
        fit_stiffness(
            [
                BentJoint(
                    motion.drive_side.q[:, joint] - motion.q[:, joint], matrix[:, joint],
                    # The rotor is read a little before or after the link: its way in that time.
                    np.column_stack(
                        [motion.dq[:, joint], *([motion.ddq[:, joint]] if merged[joint] else [])]
                    ),
                )
                for motion, matrix in zip(motions, matrices, strict=True)
            ],
            model.theta_base[of_bodies], model.covariance[np.ix_(of_bodies, of_bodies)], rate,
        )
        for joint in range(n)
    ]
    return JointStiffness(*np.array(found).T)


def two_encoder_figures(
    model: IdentifiedModel, datasets: Sequence[Dataset], rows: Sequence[BoolArray]
) -> dict[str, Any]:
    """
    Return stiffness and friction errors of the joints for the quality figures of a model file.

    `rows` (N,) choose samples of each dataset; docs/formats/model.md explains the figures.
    """
    if not have_rotors(datasets):
        return {}
    robot = model.robot
    theta = model.theta_lifted
    cad = with_bodies_of_urdf(model)
    taken = [np.flatnonzero(chosen) for chosen in rows]
    tau, found, expected = (
        np.concatenate(values) for values in (
            [
                dataset.effort[at] * dataset.torque_per_effort(robot)
                for dataset, at in zip(datasets, taken, strict=True)
            ],
            *(
                [
                    standard_torque(robot, model.parameters, values, dataset.motion)[at]
                    for dataset, at in zip(datasets, taken, strict=True)
                ]
                for values in (theta, cad)
            ),
        )
    )
    fitted = sum(int(np.count_nonzero(dataset.fitted)) for dataset in datasets)
    stiffness = find_stiffness(
        model,
        [dataset.motion.rows(at) for dataset, at in zip(datasets, taken, strict=True)],
        datasets[0].rate * len(tau) / max(fitted, len(tau)),
    )
    return {
        'stiffness': stiffness.values,
        'stiffness_standard_errors': stiffness.standard_errors,
        'nmse': square_over_mean(tau, tau - found),
        'nmse_urdf': square_over_mean(tau, tau - expected),
    }


def with_bodies_of_urdf(model: IdentifiedModel) -> FloatArray:
    """
    Return standard parameters, shape (p,), with the URDF's bodies and the model's drives.

    A rotor inertia that the model has as one parameter with that of a link is what the URDF's
    link leaves of it, which flatters the URDF.
    """
    n, reduction = model.robot.n, model.reduction
    theta = model.theta_lifted
    theta[: 10 * n] = prior_inertial_parameters(model.robot)
    if model.parameters.reflected_inertia:
        rotors = np.arange(model.parameters.size)[model.parameters.reflected_inertia_slice]
        rows = reduction.independent < 10 * n
        merged = np.any(reduction.K[np.ix_(rows, rotors)], axis=0)
        shares = reduction.K[np.ix_(rows, rotors[merged])]
        left = model.theta_base[rows] - reduction.K[rows, : 10 * n] @ theta[: 10 * n]
        theta[rotors[merged]] = np.maximum(np.linalg.lstsq(shares, left, rcond=None)[0], 0.0)
    return theta


def describe_two_encoder_figures(
    joint_names: Sequence[str], figures: dict[str, Any]
) -> tuple[str, ...]:
    """Return the figures of `two_encoder_figures` in words, none without them."""
    if not figures:
        return ()
    stiffness = ', '.join(
        f'{name} {value:.4g} +- {error:.2g}' if np.isfinite(value) else f'{name} not seen'
        for name, value, error in zip(
            joint_names, figures['stiffness'], figures['stiffness_standard_errors'], strict=True
        )
    )
    before, after = figures['nmse_urdf'], figures['nmse']
    change = f', {100.0 * (1.0 - after / before):.1f} % less' if before > 0.0 else ''
    return (
        f'joint stiffness [N m/rad]: {stiffness}',
        f'NMSE of Madsen et al. on the training data: {before:.4g} N m with the bodies of the '
        f'URDF, {after:.4g} N m with those found{change}',
    )
