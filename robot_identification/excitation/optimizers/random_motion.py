# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A random motion, for validation or as way-points: nothing is minimized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation.optimizers.optimizer import (
    Candidate, ExcitationProblem, Job, Optimizer, Outcome, SearchState,
)


@dataclass(frozen=True)
class RandomMotion(Optimizer):
    """
    The first random candidate that keeps all limits and is clear of collisions.

    Its objective is reported and not minimized: a motion to validate with should not be the one
    that a model is best at. Of the form `fourier` it is a pseudo-random motion, of `via_points` a
    way through random poses.
    """

    def propose(
        self, problem: ExcitationProblem, state: SearchState, rng: np.random.Generator
    ) -> Sequence[Job]:
        """Return one draw, and none after the first that will do."""
        return [Job(look, problem.draw(rng))] if state.best is None else []


def draw_fitted(
    problem: ExcitationProblem, rng: np.random.Generator, order: int, samples: int,
    band: tuple[float, float],
) -> FloatArray:
    """
    Return the candidate nearest to random samples, within its limits or not.

    They are `samples` for each joint, the first and the last zero, of position, velocity or
    acceleration (`order` 0, 1, 2), with magnitudes in a band of shares of the limits.
    """
    shape = (samples, len(problem.features))
    shares = rng.uniform(*band, shape) * rng.choice([-1.0, 1.0], shape)
    shares[[0, -1]] = 0.0
    return problem.fit(order, shares)


def look(problem: ExcitationProblem, x: FloatArray) -> Outcome:
    """Scale a candidate into the limits and prove it clear; one that fails is no candidate."""
    repaired = problem.repair(x)
    if repaired is None or not problem.is_clear(repaired):
        return Outcome((), 1)
    return Outcome((Candidate(repaired, problem.objective(repaired), 0.0, True, x),), 1)
