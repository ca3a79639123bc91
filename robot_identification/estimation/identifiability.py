# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Unidentifiable parameters by name, and the problem without them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.model import BaseReduction, observation_matrix, random_motion, RobotModel
import scipy

# Part of a column, in units of what a lively motion (3 rad/s, 5 rad/s^2) would put into it, that
# the columns before it leave unexplained. The shared recordings of real arms have 1e-3 and more;
# a stationary joint's sensor noise reaches 1e-6.
LOSS_TOLERANCE = 1.0e-5


@dataclass(frozen=True, eq=False)
class IdentifiableProblem:
    """A problem all of whose parameters the data determine."""

    problem: IdentificationProblem  # with the reduced base parameters
    unidentifiable: tuple[str, ...]  # base parameters that the data do not determine
    stationary_joints: tuple[str, ...]  # joints that hardly moved


def reference_scale(robot: RobotModel, reduction: BaseReduction) -> FloatArray:
    """Return what a lively motion puts into each base column, (b,), as RMS per sample."""
    samples = 100
    motion = random_motion(robot, samples, np.random.default_rng(1))
    tau_rigid = np.ones((samples, robot.n))
    W = observation_matrix(robot, reduction.parameters, motion, None, tau_rigid)
    scale: FloatArray = np.linalg.norm(W[:, reduction.independent], axis=0) / np.sqrt(samples)
    return scale


def restrict_to_identifiable(
    robot: RobotModel,
    problem: IdentificationProblem,
    stationary_joints: Sequence[int],
    known: Mapping[str, float] | None = None,
) -> IdentifiableProblem:
    """
    Leave out what the data do not determine, folding it into what they do.

    Friction and reflected inertia of `stationary_joints` are not shown. Base parameters that are
    `known` need not be shown; they stay, but for those that are zero.
    """
    reduction = problem.reduction
    parameters = reduction.parameters
    given = np.array([name in (known or {}) for name in reduction.names])
    used = np.array([(known or {}).get(name, 0.0) != 0.0 for name in reduction.names])
    hidden = {
        column
        for term, columns in parameters.friction_columns
        if term.joint in stationary_joints
        for column in range(columns.start, columns.stop)
    }
    if parameters.reflected_inertia:
        start = parameters.reflected_inertia_slice.start
        hidden |= {start + joint for joint in stationary_joints}
    seen = np.array([column not in hidden for column in reduction.independent])
    # A dictionary has more terms than any data tell apart; its fit chooses among them.
    chosen_by_fit = {
        column
        for term, columns in parameters.friction_columns
        if not term.law.is_structural
        for column in range(columns.start, columns.stop)
    }
    tested = ~given & np.array(
        [column not in chosen_by_fit for column in reduction.independent], dtype=bool
    )
    seen = np.where(given, used, seen)
    R, _ = problem.stacked(np.ones(robot.n))
    reference = reference_scale(robot, reduction)
    scaled = R[:, : reduction.rank] / reference / np.sqrt(problem.samples.max())
    scaled = np.where(seen & tested, scaled, 0.0)
    triangle, pivots = scipy.linalg.qr(scaled, mode='r', pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(diagonal > LOSS_TOLERANCE))
    joints = tuple(robot.joint_names[joint] for joint in stationary_joints)
    kept = np.sort(pivots[:rank])
    unidentifiable = np.setdiff1d(np.flatnonzero(tested), kept)
    if not unidentifiable.size and seen.all():
        return IdentifiableProblem(problem, (), joints)
    folded = np.linalg.lstsq(scaled[:, kept], scaled[:, unidentifiable], rcond=None)[0]
    folded = folded * reference[unidentifiable] / reference[kept][:, None]
    folded[np.abs(folded) < 1e-6] = 0.0
    K = reduction.K.copy()
    K[kept] += folded @ reduction.K[unidentifiable]
    kept = np.sort(np.concatenate([kept, np.flatnonzero(seen & ~tested)]))
    smaller = replace(reduction, K=K[kept], independent=reduction.independent[kept])
    names = tuple(reduction.names[i] for i in unidentifiable) + tuple(
        # Not every term by its own name: none of the joint's friction is seen.
        f'{term.law.name}{term.joint + 1}'
        for term in parameters.friction
        if term.joint in stationary_joints and not term.law.is_structural
    )
    return IdentifiableProblem(problem.select(kept, smaller), names, joints)
