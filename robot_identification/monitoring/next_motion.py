# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Which of some motions would shrink most what an identified model knows least.

Information of independent recordings adds up: that of the model is its covariance, that of a
motion follows from its regressor and the noise of the joints, before anything is recorded. Unlike
`excitation.sequential`, which is about the parameters of an experiment file, this is about those
of the model as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
import math

import numpy as np
from robot_identification.arrays import FloatArray, IntArray, triangle_of
from robot_identification.errors import UsageError
from robot_identification.excitation import (
    DENSE_RATE, information_root, InformationGrowth, REFERENCE_ACCELERATION, REFERENCE_SAMPLES,
    REFERENCE_VELOCITY, Trajectory, WEAK_SHARE,
)
from robot_identification.model import (
    block_slices, IdentifiedModel, initial_friction_states, Motion, observation_matrix,
)
from robot_identification.monitoring.online_noise import residual_noise

# Parameters that a ranking is about, the weakest of the model.
WEAKEST = 5


@dataclass(frozen=True, eq=False)
class RankedMotion:
    """Expected effect of one motion."""

    name: str  # of the motion
    duration: float  # of one run [s]
    # By which factor the errors of the weakest parameters shrink, their geometric mean; 1 is not
    # at all.
    gain: float
    after: FloatArray  # (b,): standard errors of the base parameters after one run
    # (n,): standard deviation of the predicted torque after one run [N m].
    torque_after: FloatArray


@dataclass(frozen=True, eq=False)
class MotionRanking:
    """
    Motions, the best one first.

    Errors assume residuals that are white in time, as those of a model file do; where they are
    not, what motions add is less than stated, for all of them alike.
    """

    motions: tuple[RankedMotion, ...]  # the best one first
    # Of the base parameters.
    names: tuple[str, ...]
    units: tuple[str, ...]
    before: FloatArray  # (b,): standard errors now
    # (b,): the same over the largest error that is not weak, see `sequential.allowed_errors`.
    weakness: FloatArray
    weakest: tuple[int, ...]  # parameters that the ranking is about, the weakest first
    # (n,): standard deviation of the predicted torque now: root mean square over random poses,
    # speeds and accelerations within the limits [N m].
    torque_before: FloatArray

    @property
    def text(self) -> str:
        """The advice in one line."""
        best, worst = self.motions[0], self.weakest[0]
        joint = int(np.argmax(self.torque_before / np.maximum(best.torque_after, 1e-300)))
        return (
            f'next motion: {best.name} ({best.duration:.0f} s) would shrink the errors of '
            f'{", ".join(self.names[i] for i in self.weakest)} {best.gain:.2g} times; '
            f'{self.names[worst]}: {self.before[worst]:.2g} to {best.after[worst]:.2g} '
            f'{self.units[worst]}; predicted torque of joint {joint + 1}: '
            f'{self.torque_before[joint]:.2g} to {best.torque_after[joint]:.2g} N m'
        )


def rank_motions(
    model: IdentifiedModel,
    motions: Mapping[str, Trajectory],
    *,
    noise: tuple[float, ...] | None = None,
    rate: float | None = None,
    count: int = WEAKEST,
) -> MotionRanking:
    """
    Rank motions by how much one run of each would shrink the largest errors of a model.

    Parameters
    ----------
    model : IdentifiedModel
        What is known.
    motions : mapping of str to Trajectory
        Candidates by name.
    noise : tuple of float, optional
        Standard deviation of each joint's residual [N m]; by default that of the model.
    rate : float, optional
        Recorded samples per second [Hz]; by default that of the model's robot.
    count : int
        How many of the weakest parameters it is about.

    Raises
    ------
    UsageError
        If there is no motion, one is of other joints, or noise or rate are not known.
    DescriptionError
        If the model's covariance is none.

    """
    if not motions:
        raise UsageError('there is no motion to rank: give at least one trajectory')
    for name, trajectory in motions.items():
        if trajectory.joint_names != model.robot.joint_names:
            raise UsageError(
                f'{name} moves {", ".join(trajectory.joint_names)}; the model is of '
                f'{", ".join(model.robot.joint_names)}'
            )
    spread = residual_noise(model, noise)
    rate = model.robot.sampling_rate if rate is None else rate
    if not 0.0 < rate < math.inf:
        raise UsageError(f'the sampling rate is {rate} Hz, a positive one is needed')
    known, _ = information_root(model.covariance)
    reference = _base_matrix(model, _reference_motion(model))
    reference = reference.reshape(-1, model.robot.n, len(known))
    torque_before = _torque_spread(reference, InformationGrowth.of(known, known[:0]), 0.0)
    signal = np.sqrt(np.mean((reference / spread[:, None]) ** 2, axis=0)).max(axis=0)
    allowed = WEAK_SHARE * np.maximum(
        np.abs(model.theta_base), 1.0 / np.maximum(signal, np.finfo(float).tiny)
    )
    before = model.standard_errors
    weakness = before / allowed
    weakest = np.argsort(-weakness, kind='stable')[:count]
    ranked = [
        _ranked(model, name, trajectory, known, spread, rate, reference, before, weakest)
        for name, trajectory in motions.items()
    ]
    ranked.sort(key=lambda one: (-one.gain, one.name))
    return MotionRanking(
        tuple(ranked), model.reduction.names, model.reduction.units, before, weakness,
        tuple(int(i) for i in weakest), torque_before,
    )


def _ranked(
    model: IdentifiedModel, name: str, trajectory: Trajectory, known: FloatArray,
    noise: FloatArray, rate: float, reference: FloatArray, before: FloatArray, weakest: IntArray,
) -> RankedMotion:
    count = max(math.ceil(trajectory.duration * DENSE_RATE), 2)
    motion = trajectory.sample(np.arange(count) * trajectory.duration / count)
    shown = _triangle(model, motion, noise) * math.sqrt(rate * trajectory.duration / count)
    growth = InformationGrowth.of(known, shown)
    after = growth.standard_errors(1.0)
    gain = float(np.exp(np.mean(np.log(before[weakest] / after[weakest]))))
    return RankedMotion(
        name, trajectory.duration, gain, after, _torque_spread(reference, growth, 1.0)
    )


def _with_temperature(model: IdentifiedModel, motion: Motion) -> Motion:
    if model.temperature is None:
        return motion
    warmth = np.tile(model.temperature, (len(motion), 1))
    return Motion(motion.q, motion.dq, motion.ddq, warmth, starts=motion.starts)


def _base_matrix(model: IdentifiedModel, motion: Motion) -> FloatArray:
    matrix = observation_matrix(
        model.robot, model.parameters, _with_temperature(model, motion)
    )
    return matrix[:, model.reduction.independent]


def _triangle(model: IdentifiedModel, motion: Motion, noise: FloatArray) -> FloatArray:
    """Return the triangular factor of a motion's rows, divided by the noise."""
    motion = _with_temperature(model, motion)
    states = initial_friction_states(model.parameters)
    triangle = np.zeros((0, model.reduction.rank))
    for rows in block_slices(len(motion)):
        part = motion.part(rows)
        matrix = observation_matrix(model.robot, model.parameters, part, states)
        matrix = matrix[:, model.reduction.independent] / np.tile(noise, len(part))[:, None]
        triangle = triangle_of(np.asfortranarray(np.vstack([triangle, matrix])))
    return triangle


def _torque_spread(
    reference: FloatArray, growth: InformationGrowth, runs: float
) -> FloatArray:
    """Return the standard deviation of each joint's torque over some samples, shape (n,)."""
    information = growth.known**2 + runs * growth.shown**2
    seen = information > 0.0
    parts = reference @ (growth.X[:, seen] / np.sqrt(information[seen]))
    spread: FloatArray = np.sqrt(np.mean(np.sum(parts**2, axis=2), axis=0))
    return spread


def _reference_motion(model: IdentifiedModel) -> Motion:
    """Return random poses, speeds and accelerations within the limits of the arm."""
    limits = model.robot.limits
    rng = np.random.default_rng(0)
    shape = (REFERENCE_SAMPLES, model.robot.n)

    def within(limit: FloatArray, usual: float) -> FloatArray:
        finite: FloatArray = np.where(np.isfinite(limit), limit, usual)
        return finite

    lower, upper = within(limits.lower, -math.pi), within(limits.upper, math.pi)
    speed = within(limits.velocity, REFERENCE_VELOCITY)
    acceleration = within(limits.acceleration, REFERENCE_ACCELERATION)
    return Motion(
        rng.uniform(lower, upper, shape), rng.uniform(-speed, speed, shape),
        rng.uniform(-acceleration, acceleration, shape), starts=tuple(range(REFERENCE_SAMPLES)),
    )
