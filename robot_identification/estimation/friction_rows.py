# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Rows of an arm without its friction, on which laws are tried that differ from joint to joint.

Bodies and rotors are computed once; the columns of a law follow from the motion of its joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray, triangle_of
from robot_identification.estimation.bounded import solve_bounded
from robot_identification.estimation.estimators.dictionary import SHORTEST_COLUMN
from robot_identification.estimation.identifiability import restrict_to_identifiable
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.separable import (
    eliminate_bodies, fit_shapes, law_columns, SeparableFit, ShapeProblem,
)
from robot_identification.model import FrictionLaw, joint_motion, JointMotion

# How often the joints' weights are renewed from their residuals.
REWEIGHTINGS = 2
# A residual below this part of the torque is rounding, not a reason for a large weight.
LEAST_RESIDUAL = 1.0e-6
# The load is that of the bodies found when no shape constant changes by more than this part.
SHAPE_TOLERANCE, MOST_ROUNDS = 1.0e-3, 10
# Candidates are searched on at most so many rows of a joint, evenly spread; what is chosen is
# searched once more on all of them.
MOST_SEARCHED = 4000


@dataclass(frozen=True, eq=False)
class RigidRows:
    """Rows of one joint."""

    columns: IntArray  # (k,) base parameters of bodies and rotor that act on the joint
    # (k,) those whose torque the gear transmits: no rotor's with an encoder of its own
    makes_load: BoolArray
    rigid: FloatArray  # (m, k) their columns [N m per parameter]
    tau: FloatArray  # (m,) measured torque [N m]
    motion: JointMotion  # the m samples; no load
    bag: IntArray  # (m,) recording that they come from
    sample: IntArray  # (m,) sample of it

    def taken(self, rows: Sequence[BoolArray]) -> RigidRows:
        """Return the rows whose samples a mask of each recording has."""
        chosen = np.zeros(len(self.tau), dtype=bool)
        for bag, mask in enumerate(rows):
            of_bag = np.flatnonzero(self.bag == bag)
            chosen[of_bag] = mask[self.sample[of_bag]]
        motion = self.motion
        return replace(
            self, rigid=self.rigid[chosen], tau=self.tau[chosen],
            motion=JointMotion(
                motion.q[chosen], motion.dq[chosen], motion.tau_rigid[chosen],
                motion.temperature[chosen],
            ),
            bag=self.bag[chosen], sample=self.sample[chosen],
        )

    def load_of(self, theta: FloatArray) -> FloatArray:
        """Return the torque that the gear transmits under base parameters (b,), shape (m,)."""
        bearing = self.makes_load
        load: FloatArray = self.rigid[:, bearing] @ theta[self.columns[bearing]]
        return load

    def with_load(self, theta: FloatArray) -> RigidRows:
        """Return the rows under the load of base parameters (b,)."""
        return replace(self, motion=replace(self.motion, tau_rigid=self.load_of(theta)))

    def thinned(self, most: int) -> RigidRows:
        """Return at most so many of the rows, evenly spread."""
        step = -(-len(self.tau) // most)
        if step <= 1:
            return self
        few = slice(None, None, step)
        return replace(
            self, rigid=self.rigid[few], tau=self.tau[few], motion=self.motion.part(few),
            bag=self.bag[few], sample=self.sample[few],
        )

    def shape_problem(self) -> ShapeProblem:
        """Return the problem of the joint's friction, with free bodies."""
        return eliminate_bodies(self.motion, self.rigid, self.tau)

    def table(self, laws: Sequence[FrictionLaw]) -> FloatArray:
        """Return the columns of bodies, rotor and laws, then the torque, shape (m, k + c + 1)."""
        return np.column_stack([self.rigid, law_columns(laws, self.motion), self.tau])

    def reduce(self, laws: Sequence[FrictionLaw]) -> JointPart:
        """Return the joint's part in a fit of the whole arm."""
        return JointPart(
            self.columns,
            np.array([s in law.signed for law in laws for s in law.symbols], dtype=bool),
            triangle_of(np.asfortranarray(self.table(laws))),
            len(self.tau),
        )


@dataclass(frozen=True, eq=False)
class JointPart:
    """Contribution of a joint with its friction to a fit of the whole arm."""

    columns: IntArray  # (k,) base parameters of bodies and rotor that act on the joint
    signed: BoolArray  # (c,) friction coefficients that may be negative
    triangle: FloatArray  # (k + c + 1, k + c + 1) factor of the joint's `RigidRows.table`
    samples: int  # rows behind it


@dataclass(frozen=True, eq=False)
class ArmSolution:
    """Bodies and friction of the whole arm."""

    # (b,) base parameters of bodies and rotors; zero where the rows do not determine them
    theta: FloatArray
    friction: tuple[FloatArray, ...]  # coefficients of each joint
    weights: FloatArray  # (n,) factor on the rows of each joint [1 / N m]


def joint_rows(observations: Observations) -> tuple[RigidRows, ...]:
    """Return the rows of every joint."""
    blocks, robot = list(observations.blocks()), observations.robot
    has_rotors = all(part.dataset.motion.rotor is not None for part in observations.data)
    of_bodies = observations.reduction.independent < 10 * robot.n
    found = []
    for joint in range(robot.n):
        tables, motions, bags, samples = [], [], [], []
        for block in blocks:
            part, rows = block.part, block.joints[joint]
            # Rows without effort are all zero there; a law would not be.
            if joint in part.constant_effort or not len(rows.samples):
                continue
            tables.append(rows.table)
            motions.append(joint_motion(part.dataset.motion.rows(rows.samples), joint))
            bags.append(np.full(len(rows.samples), block.bag))
            samples.append(rows.samples)
        columns = observations.columns(joint)
        table = np.concatenate([np.zeros((0, len(columns) + 1)), *tables])
        found.append(RigidRows(
            columns, of_bodies[columns] | (not has_rotors), table[:, :-1], table[:, -1],
            JointMotion(*(
                np.concatenate([np.zeros(0), *(getattr(motion, name) for motion in motions)])
                for name in ('q', 'dq', 'tau_rigid', 'temperature')
            )),
            np.concatenate([np.zeros(0, dtype=int), *bags]),
            np.concatenate([np.zeros(0, dtype=int), *samples]),
        ))
    return tuple(found)


def determined_bodies(observations: Observations, unexcited: Sequence[int]) -> IntArray:
    """Return the base parameters of bodies and rotors that some rows determine."""
    left = restrict_to_identifiable(observations.robot, observations.factor(), unexcited)
    place = {int(column): row for row, column in enumerate(observations.reduction.independent)}
    return np.array([place[int(c)] for c in left.problem.reduction.independent], dtype=int)


def solve_arm(
    parts: Sequence[JointPart], determined: IntArray, size: int, weights: FloatArray
) -> ArmSolution:
    """
    Fit bodies, rotors and friction of all joints together, friction not negative.

    Of `size` base parameters of bodies and rotors those that are not `determined` are zero;
    `weights` (n,) are factors on the rows of each joint [1 / N m].
    """
    counts = [len(part.signed) for part in parts]
    edges = size + np.concatenate([[0], np.cumsum(counts)])
    R = np.zeros((sum(len(part.triangle) for part in parts), edges[-1]))
    z, first = np.zeros(len(R)), 0
    shortest = np.zeros(edges[-1])
    for joint, (part, weight) in enumerate(zip(parts, weights, strict=True)):
        rows = slice(first, first + len(part.triangle))
        own = np.arange(edges[joint], edges[joint + 1])
        R[rows, np.concatenate([part.columns, own])] = weight * part.triangle[:, :-1]
        z[rows] = weight * part.triangle[:, -1]
        shortest[own] = SHORTEST_COLUMN * weight * np.sqrt(part.samples)
        first += len(part.triangle)
    bounded = np.concatenate([np.zeros(size, dtype=bool), *(~part.signed for part in parts)])
    used = np.concatenate([determined, np.arange(size, edges[-1])])
    x = np.zeros(edges[-1])
    x[used] = solve_bounded(R[:, used], z, bounded[used], shortest[used])
    friction = tuple(
        x[edges[joint]:edges[joint + 1]] for joint in range(len(parts))
    )
    return ArmSolution(x[:size], friction, weights)


def solve_weighted_arm(
    parts: Sequence[JointPart], determined: IntArray, size: int
) -> ArmSolution:
    """Fit as `solve_arm` does, each joint weighed by the deviation of its residual."""
    torque = np.array([
        np.linalg.norm(part.triangle[:, -1]) / np.sqrt(max(part.samples, 1)) for part in parts
    ])
    floor = LEAST_RESIDUAL * torque.max()
    solution = solve_arm(parts, determined, size, 1.0 / np.maximum(torque, floor))
    for _ in range(REWEIGHTINGS):
        deviation = [
            np.linalg.norm(residual_of(part, solution.theta, own)) / np.sqrt(max(part.samples, 1))
            for part, own in zip(parts, solution.friction, strict=True)
        ]
        solution = solve_arm(parts, determined, size, 1.0 / np.maximum(deviation, floor))
    return solution


def residual_of(part: JointPart, theta: FloatArray, friction: FloatArray) -> FloatArray:
    """Return a vector as long as the residual of a joint."""
    unknowns = np.concatenate([-theta[part.columns], -friction, [1.0]])
    residual: FloatArray = part.triangle @ unknowns
    return residual


def fit_arm_shapes(
    joints: Sequence[RigidRows],
    determined: IntArray,
    size: int,
    laws: Sequence[Sequence[FrictionLaw]],
    starts: Sequence[SeparableFit | None],
    most: int = MOST_SEARCHED,
) -> tuple[tuple[SeparableFit, ...], ArmSolution]:
    """
    Find the shape constants of all joints, one joint after the other until nothing changes.

    What joints have to do with each other here is the load, which the bodies found make; that of
    the rows, where they have one, is the first. Constants are searched on `most` rows of a joint.
    """
    few = [rows.thinned(most) for rows in joints]
    problems = [rows.shape_problem() for rows in few]
    fits = [
        fit_shapes(problem, own, start)
        for problem, own, start in zip(problems, laws, starts, strict=True)
    ]
    loaded = [
        joint for joint, own in enumerate(laws) if any(law.needs_rigid_torque for law in own)
    ]
    for _ in range(MOST_ROUNDS):
        parts = [rows.reduce(fit.laws) for rows, fit in zip(joints, fits, strict=True)]
        solution = solve_weighted_arm(parts, determined, size)
        change = 0.0
        for joint in loaded:
            load = few[joint].load_of(solution.theta)
            found = fit_shapes(problems[joint].with_load(load), laws[joint], fits[joint])
            change = max(change, *(
                abs(new.value / old.value - 1.0)
                for new, old in zip(found.constants, fits[joint].constants, strict=True)
            ))
            fits[joint] = found
        joints = [rows.with_load(solution.theta) for rows in joints]
        if change <= SHAPE_TOLERANCE:
            break
    return tuple(fits), solution
