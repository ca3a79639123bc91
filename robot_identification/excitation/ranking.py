# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Ranking of existing motions by how much they would shrink the largest errors of a model.

As `sequential`, but for the parameters of the model as they are, instead of those of an experiment
file: nothing of the model is left open, and friction laws may have a state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import FloatArray, triangle_of
from robot_identification.errors import UsageError
from robot_identification.excitation.constraints import hardware_limits
from robot_identification.excitation.evaluation import DENSE_RATE
from robot_identification.excitation.information import information_root, InformationGrowth
from robot_identification.excitation.sequential import (
    allowed_errors, checked_rate, reference_motion, residual_noise,
)
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model import (
    block_slices, IdentifiedModel, initial_friction_states, Motion, observation_matrix,
)

# Number of parameters that a ranking is about, the weakest of the model. Chosen: as many as the
# table of a designed motion shows.
WEAKEST = 5


@dataclass(frozen=True, eq=False)
class RankedMotion:
    """Expected effect of one run of a motion."""

    name: str
    duration: float  # [s]
    # Factor by which the errors of the weakest parameters shrink, their geometric mean; 1 is not
    # at all.
    gain: float
    after: FloatArray  # standard errors of the base parameters, shape (b,)
    torque_after: FloatArray  # standard deviation of the predicted torque [N m], shape (n,)


@dataclass(frozen=True, eq=False)
class MotionRanking:
    """
    Motions, the best one first.

    Errors assume residuals that are white in time, as those of a model file do; where they are
    not, motions add less than stated, all of them alike.
    """

    motions: tuple[RankedMotion, ...]
    names: tuple[str, ...]  # of the base parameters, length b
    units: tuple[str, ...]
    torque_units: tuple[str, ...]  # of the torques below, length n
    before: FloatArray  # standard errors now, shape (b,)
    weakest: tuple[int, ...]  # parameters that the ranking is about, the weakest first
    # Standard deviation of the predicted torque now, root mean square over random poses, speeds
    # and accelerations within the limits [N m], shape (n,).
    torque_before: FloatArray

    @property
    def text(self) -> str:
        """Return the recommendation in one line."""
        best, worst = self.motions[0], self.weakest[0]
        joint = int(np.argmax(self.torque_before / np.maximum(best.torque_after, 1e-300)))
        return (
            f'next motion: {best.name} ({best.duration:.0f} s) would shrink the errors of '
            f'{", ".join(self.names[i] for i in self.weakest)} {best.gain:.2g} times; '
            f'{self.names[worst]}: {self.before[worst]:.2g} to {best.after[worst]:.2g} '
            f'{self.units[worst]}; predicted torque of joint {joint + 1}: '
            f'{self.torque_before[joint]:.2g} to {best.torque_after[joint]:.2g} '
            f'{self.torque_units[joint]}'
        )


def rank_motions(
    model: IdentifiedModel,
    motions: Mapping[str, Trajectory],
    *,
    rate: float | None = None,
    count: int = WEAKEST,
) -> MotionRanking:
    """
    Rank motions by how much one run of each would shrink a model's largest errors.

    `rate` is that of recorded samples [Hz], by default that of the model's robot; `count` the
    number of weakest parameters that are compared. Raises UsageError if there is no motion, one is
    of other joints, or noise or rate are not known; DescriptionError if the model's covariance is
    not valid, or its noise is not positive.
    """
    if not motions:
        raise UsageError('there is no motion to rank: give at least one trajectory')
    for name, trajectory in motions.items():
        if trajectory.joint_names != model.robot.joint_names:
            raise UsageError(
                f'{name} moves {", ".join(trajectory.joint_names)}; the model is of '
                f'{", ".join(model.robot.joint_names)}'
            )
    scale = residual_noise(model)
    rate = checked_rate(model.robot.sampling_rate if rate is None else rate)
    known, _ = information_root(model.covariance)
    reference = _base_matrix(model, reference_motion(hardware_limits(model.robot)))
    reference = reference.reshape(-1, model.robot.n, len(known))
    weakness = model.standard_errors / allowed_errors(reference, model.theta_base, scale)
    weakest = np.argsort(-weakness, kind='stable')[:count]
    ranked = []
    for name, trajectory in motions.items():
        growth = InformationGrowth.of(known, _shown(model, trajectory, scale, rate))
        after = growth.standard_errors(1.0)
        gain = np.exp(np.mean(np.log(model.standard_errors[weakest] / after[weakest])))
        ranked.append(RankedMotion(
            name, trajectory.duration, float(gain), after, _torque_error(reference, growth, 1.0)
        ))
    return MotionRanking(
        tuple(sorted(ranked, key=lambda one: (-one.gain, one.name))),
        model.reduction.names, model.reduction.units_of(model.robot),
        tuple(model.robot.unit('N m', joint) for joint in range(model.robot.n)),
        model.standard_errors,
        tuple(int(i) for i in weakest),
        _torque_error(reference, InformationGrowth.of(known, known[:0]), 0.0),
    )


def _shown(
    model: IdentifiedModel, trajectory: Trajectory, noise: FloatArray, rate: float
) -> FloatArray:
    """Return the square root of the information of one run, (b, b), block by block."""
    count = max(math.ceil(trajectory.duration * DENSE_RATE), 2)
    motion = trajectory.sample(np.arange(count) * trajectory.duration / count)
    states = initial_friction_states(model.parameters)
    triangle = np.zeros((0, model.reduction.rank))
    for rows in block_slices(count):
        part = motion.part(rows)
        matrix = _base_matrix(model, part, states) / np.tile(noise, len(part))[:, None]
        triangle = triangle_of(np.asfortranarray(np.vstack([triangle, matrix])))
    return triangle * math.sqrt(rate * trajectory.duration / count)


def _base_matrix(
    model: IdentifiedModel, motion: Motion, states: list[FloatArray] | None = None
) -> FloatArray:
    """Return the base observation matrix at the temperature of the model's recording."""
    motion = motion.at_temperature(model.temperature)
    matrix = observation_matrix(model.robot, model.parameters, motion, states)
    return matrix[:, model.reduction.independent]


def _torque_error(reference: FloatArray, growth: InformationGrowth, runs: float) -> FloatArray:
    """Return the standard deviation of each joint's torque over some samples, shape (n,)."""
    information = growth.known**2 + runs * growth.shown**2
    seen = information > 0.0
    parts = reference @ (growth.X[:, seen] / np.sqrt(information[seen]))
    error: FloatArray = np.sqrt(np.mean(np.sum(parts**2, axis=2), axis=0))
    return error
