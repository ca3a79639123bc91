# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Identification by groups of joints, each from its own torques alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.errors import RankDeficientError
from robot_identification.estimation import (
    Estimate, Estimator, IdentificationProblem, TriangularFactor,
)
from robot_identification.estimation.solving import (
    describe_estimate, RANK_TOLERANCE, renew_weights, solve_unknowns,
)

# Directions that the torques of a group show by less than this part of what all torques show are
# left to the next group, if there is one: rounding of the description must not decide them.
GROUP_TOLERANCE = 1.0e-6


@dataclass(frozen=True)
class JointGroupLeastSquares(Estimator):
    """
    Weighted least squares of one group of joints after the other, from the tip to the base.

    The torques of the last joints depend on the last links alone. What they determine is taken
    from them; its part of the torques nearer to the base is taken off before the next group is
    estimated. Standard errors do not know of the groups.

    G. Porcelli's thesis on the UR5 (chapter 4) estimates base, shoulder and elbow as if the arm
    ended there, and the wrist by itself. That is `neglect_distal`: what the later links do to the
    torques of the earlier joints is left out, and spoils the parameters there.
    """

    sizes: tuple[int, ...]  # joints in each group, from base to tip
    neglect_distal: bool = False
    reweightings: int = 3  # of the joints by their residuals; the thesis has no weights

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate group by group; see `Estimator.estimate`."""
        ends = np.cumsum(self.sizes)
        groups = [np.arange(end - size, end) for size, end in zip(self.sizes, ends, strict=True)]
        if self.neglect_distal:
            cut = _without_distal(problem, groups)
            weights = renew_weights(cut, self.reweightings)
            estimate = describe_estimate(cut, weights, solve_unknowns(cut, weights))
            return replace(estimate, problem=problem)
        weights = renew_weights(
            problem, self.reweightings, lambda weights: _solve_in_turn(problem, weights, groups)
        )
        return describe_estimate(problem, weights, _solve_in_turn(problem, weights, groups))


def _without_distal(
    problem: IdentificationProblem, groups: list[IntArray]
) -> IdentificationProblem:
    """Return the problem without what the links of a group do to the joints before it."""
    # The last group that each unknown acts on.
    owner = np.zeros(problem.size, dtype=int)
    for number, joints in enumerate(groups):
        for joint in joints:
            owner[problem.factors[joint].columns] = number
    return replace(problem, factors=tuple(
        _own_columns(problem.factors[joint], np.flatnonzero(owner == number))
        for number, joints in enumerate(groups) for joint in joints
    ))


def _own_columns(factor: TriangularFactor, own: IntArray) -> TriangularFactor:
    """Return the factor of a joint with some unknowns alone, by their old numbers."""
    part = factor.select(own)
    return replace(part, columns=own[part.columns])


def _solve_in_turn(
    problem: IdentificationProblem, weights: FloatArray, groups: list[IntArray]
) -> FloatArray:
    """
    Minimize the squares of the last group, then, among the minima, those of the one before.

    Raises RankDeficientError if no group determines something well enough.
    """
    R, z = problem.stacked(weights)
    lengths = np.linalg.norm(R, axis=0)
    scaled = R / lengths
    heights = [len(factor.triangle) for factor in problem.factors]
    joint_of = np.repeat(np.arange(problem.n), heights)
    gain = np.zeros((problem.size, len(z)))
    free = np.eye(problem.size)
    for joints in reversed(groups):
        if not free.shape[1]:
            break
        rows = np.flatnonzero(np.isin(joint_of, joints))
        left, singular, right = np.linalg.svd(scaled[rows] @ free, full_matrices=True)
        tolerance = GROUP_TOLERANCE if joints[0] > 0 else RANK_TOLERANCE
        count = int(np.count_nonzero(singular > tolerance))
        solve = free @ (right[:count].T / singular[:count]) @ left[:, :count].T
        known = scaled[rows] @ gain
        gain = gain - solve @ known
        gain[:, rows] += solve
        free = free @ right[count:].T
    if free.shape[1]:
        raise RankDeficientError(
            f'groups of joints do not determine {free.shape[1]} combinations of base parameters'
        )
    theta: FloatArray = gain @ z / lengths
    return theta
