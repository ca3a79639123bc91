# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Results of two encoders in addition to the parameters: stiffness of the gears, and the gain."""

from __future__ import annotations

from collections.abc import Sequence
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


def fit_stiffness(
    rows: FloatArray, theta: FloatArray, covariance: FloatArray, rate: float
) -> tuple[float, float]:
    """
    Return the stiffness of a joint and its standard error [N m/rad], NaN where none is seen.

    The line ``deflection = torque / K`` is fitted to rows (N, 1 + b): the position of the rotor
    less that of the link [rad], and the torque on the link by parameter. The deflection stands on
    the left because it is what is measured with noise. The error allows for residuals that are
    correlated in time, and for the errors of the torque.
    """
    bend, matrix = rows[:, 0], rows[:, 1:]
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
) -> FloatArray:
    """
    Return stiffness and its standard error of the joints of an identified arm, (2, n) [N m/rad].

    They follow from both sides of its gears. The offset of a recording is left aside, as encoders
    have different zeros, and so is what goes with the velocity: the rotor is read a little before
    or after the link. Where a rotor inertia is one parameter with that of a link, the torque that
    passes through the gear is known but for a part that goes with the acceleration, which is left
    aside, too.
    """
    n, reduction = model.robot.n, model.reduction
    of_bodies = np.flatnonzero(reduction.independent < 10 * n)
    theta = model.theta_base[of_bodies]
    covariance = model.covariance[np.ix_(of_bodies, of_bodies)]
    merged = np.zeros(n, dtype=bool)
    if model.parameters.reflected_inertia:
        rotors = model.parameters.reflected_inertia_slice
        merged = np.any(reduction.K[of_bodies, rotors], axis=0)
    rows: list[list[FloatArray]] = [[] for _ in range(n)]
    for motion in motions:
        bend = motion.drive_side.q - motion.q
        matrix = inertial_regressor(model.robot, motion).reshape(len(motion), n, -1)
        for joint in range(n):
            others = np.column_stack([
                np.ones(len(motion)), motion.dq[:, joint],
                *([motion.ddq[:, joint]] if merged[joint] else []),
            ])
            both = np.column_stack([
                bend[:, joint], matrix[:, joint, reduction.independent[of_bodies]],
            ])
            rows[joint].append(both - others @ np.linalg.lstsq(others, both, rcond=None)[0])
    return np.array([
        fit_stiffness(np.concatenate(own), theta, covariance, rate) for own in rows
    ]).T


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
    stiffness, errors = find_stiffness(
        model,
        [dataset.motion.rows(at) for dataset, at in zip(datasets, taken, strict=True)],
        datasets[0].rate * len(tau) / max(fitted, len(tau)),
    )
    return {
        'stiffness': stiffness,
        'stiffness_standard_errors': errors,
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
