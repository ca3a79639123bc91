# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Identification by groups of joints, each from its own torques alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.errors import RankDeficientError, UsageError
from robot_identification.estimation.estimate import check_count, Estimate, Estimator
from robot_identification.estimation.problem import IdentificationProblem, TriangularFactor
from robot_identification.estimation.solving import (
    describe_estimate, RANK_TOLERANCE, renew_weights, residual_deviation, rows_per_joint,
    solve_unknowns,
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
    estimated. That finds the truth, but does not use what the base joints know of the wrist:
    `WeightedLeastSquares` takes all joints at once and has smaller errors. Groups are of use
    where joints were recorded apart, or where the strong joints cannot be trusted.

    A thesis on the UR5 [1]_ estimates base, shoulder and elbow as if the arm ended there, and the
    wrist by itself. That is `neglect_distal`: what the later links do to the torques of the
    earlier joints is left out, and spoils the parameters there. A note says how large it was.

    Attributes
    ----------
    sizes : tuple of int, optional
        Joints in each group, from base to tip; by default two halves of the chain, the first
        with one more where their number is odd.
    neglect_distal : bool
        Leave out what the links of a group do to the joints before it, as the thesis does.
    reweightings : int
        How often each joint's weight is renewed from its residual; the thesis has no weights.

    References
    ----------
    .. [1] G. Porcelli, "Dynamic parameters identification of a UR5 robot manipulator", thesis,
       Politecnico di Torino, 2020, chapter 4.

    """

    sizes: tuple[int, ...] | None = None
    neglect_distal: bool = False
    reweightings: int = 3

    def __post_init__(self) -> None:
        for size in self.sizes or ():
            check_count(size, 1, 'a number in sizes of joint_groups')
        check_count(self.reweightings, 0, 'reweightings of joint_groups')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate group by group; see `Estimator.estimate`."""
        groups = self.groups(problem.n)
        # Refuses by name what all joints together do not determine.
        solve_unknowns(problem, np.ones(problem.n))
        if self.neglect_distal:
            return self._neglect(problem, groups)
        weights = renew_weights(
            problem, self.reweightings,
            lambda weights: _solve_in_turn(problem, weights, groups)[0],
        )
        theta, gain = _solve_in_turn(problem, weights, groups)
        deviation = rows_per_joint(problem, weights * residual_deviation(problem, theta))
        b = problem.reduction.rank
        return replace(
            describe_estimate(problem, weights, theta),
            covariance=((gain * deviation**2) @ gain.T)[:b, :b],
            notes=(
                f'joints were estimated in groups, {_describe(groups)}, the last first; all at '
                'once, by estimator wls, the errors are smaller',
            ),
        )

    def groups(self, n: int) -> tuple[IntArray, ...]:
        """Return the joints of each group, from base to tip; UsageError if sizes do not add up."""
        sizes = (n - n // 2, n // 2)[: min(n, 2)] if self.sizes is None else self.sizes
        if sum(sizes) != n:
            raise UsageError(
                f'the groups of joint_groups have {" + ".join(map(str, sizes))} joints and the '
                f'arm has {n}: give sizes that add up to {n}'
            )
        ends = accumulate(sizes)
        return tuple(
            np.arange(end - size, end) for end, size in zip(ends, sizes, strict=True)
        )

    def _neglect(
        self, problem: IdentificationProblem, groups: tuple[IntArray, ...]
    ) -> Estimate:
        """Estimate without what the links of a group do to the joints before it."""
        owner = _owners(problem, groups)
        cut = replace(
            problem,
            factors=tuple(
                _own_columns(problem.factors[joint], np.flatnonzero(owner == number))
                for number, joints in enumerate(groups) for joint in joints
            ),
        )
        weights = renew_weights(cut, self.reweightings)
        theta = solve_unknowns(cut, weights)
        left_out = np.sqrt(
            _neglected_squares(problem, cut, theta) / np.maximum(problem.samples, 1)
        )
        sizes = ', '.join(f'{value:.2g}' for value in left_out)
        return replace(
            describe_estimate(cut, weights, theta),
            problem=problem,
            notes=(
                f'joints were estimated in groups, {_describe(groups)}, without what the links '
                'of a group do to the joints before it: root mean square, by joint, '
                f'{sizes} N m (N); parameters and standard errors do not know of it',
            ),
        )


def _solve_in_turn(
    problem: IdentificationProblem, weights: FloatArray, groups: tuple[IntArray, ...]
) -> tuple[FloatArray, FloatArray]:
    """
    Minimize the squares of the last group, then, among the minima, those of the one before.

    Returns the unknowns (size,), and the map (size, m) to them from the right-hand side of the
    stacked problem. Raises RankDeficientError if no group determines something well enough.
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
        weakest = np.argmax(np.abs(free[:, 0]))
        raise RankDeficientError(
            f'groups of joints do not determine {free.shape[1]} combinations of base parameters, '
            f'one with {_name(problem, int(weakest))}: record a richer motion, or take all joints '
            'at once (--estimator wls)'
        )
    gain /= lengths[:, None]
    return gain @ z, gain


def _owners(problem: IdentificationProblem, groups: tuple[IntArray, ...]) -> IntArray:
    """Return the last group that each unknown acts on, shape (size,)."""
    owner = np.zeros(problem.size, dtype=int)
    for number, joints in enumerate(groups):
        for joint in joints:
            owner[problem.factors[joint].columns] = number
    return owner


def _own_columns(factor: TriangularFactor, own: IntArray) -> TriangularFactor:
    """Return the factor of a joint with some unknowns alone, by their old numbers."""
    part = factor.select(own)
    return replace(part, columns=own[part.columns])


def _neglected_squares(
    problem: IdentificationProblem, cut: IdentificationProblem, theta: FloatArray
) -> FloatArray:
    """Return the sum of squares of the torques left out at each joint, shape (n,) [N^2 m^2]."""
    squares = []
    for whole, part in zip(problem.factors, cut.factors, strict=True):
        left = theta[whole.columns].copy()
        left[np.isin(whole.columns, part.columns)] = 0.0
        squares.append(float(np.sum((whole.triangle[:, :-1] @ left) ** 2)))
    return np.array(squares)


def _describe(groups: tuple[IntArray, ...]) -> str:
    """Return the groups in words, joints counted from one."""
    return ' and '.join(
        f'{joints[0] + 1}' if len(joints) == 1 else f'{joints[0] + 1} to {joints[-1] + 1}'
        for joints in groups
    )


def _name(problem: IdentificationProblem, unknown: int) -> str:
    names = problem.reduction.names
    return names[unknown] if unknown < len(names) else 'the offset of one recording'
