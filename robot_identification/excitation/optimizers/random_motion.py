# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""A random motion, for validation or as way-points: nothing is minimised."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.excitation.optimizers.optimizer import Candidate
from robot_identification.excitation.optimizers.optimizer import ExcitationProblem
from robot_identification.excitation.optimizers.optimizer import FloatArray
from robot_identification.excitation.optimizers.optimizer import Job
from robot_identification.excitation.optimizers.optimizer import Optimizer
from robot_identification.excitation.optimizers.optimizer import Outcome
from robot_identification.excitation.optimizers.optimizer import SearchState


@dataclass(frozen=True)
class RandomMotion(Optimizer):
    """
    The first random candidate that keeps all limits and is clear of collisions.

    Its objective is reported and not minimised: a motion to validate with should not be the one
    that a model is best at. Of the form `fourier` it is a pseudo-random motion, of `via_points` a
    way through random poses.
    """

    def propose(
        self, problem: ExcitationProblem, state: SearchState, rng: np.random.Generator
    ) -> Sequence[Job]:
        """Return one draw, and none after the first that will do; see `Optimizer.propose`."""
        return [Job(look, problem.draw(rng))] if state.best is None else []

    def learn(
        self, problem: ExcitationProblem, state: SearchState, outcomes: Sequence[Outcome]
    ) -> tuple[tuple[Candidate, ...], Mapping[str, float]]:
        """Keep nothing: the search's state has what was found; see `Optimizer.learn`."""
        return (), {}


def draw_fitted(
    problem: ExcitationProblem, rng: np.random.Generator, order: int, samples: int,
    band: tuple[float, float],
) -> FloatArray:
    """
    Return the candidate nearest to random samples, within its limits or not.

    Parameters
    ----------
    problem : ExcitationProblem
        The problem.
    rng : numpy.random.Generator
        Where the samples come from.
    order : {0, 1, 2}
        What they are of: position, velocity or acceleration.
    samples : int
        Their number for each joint; the first and the last are zero.
    band : tuple of float
        Their least and largest magnitude, as shares of the limits.

    """
    shape = (samples, len(problem.features))
    shares = rng.uniform(*band, shape) * rng.choice([-1.0, 1.0], shape)
    shares[[0, -1]] = 0.0
    return problem.fit(order, shares)


def look(problem: ExcitationProblem, x: FloatArray) -> Outcome:
    """
    Scale a candidate into the limits and prove it clear; what fails is no candidate.

    Parameters
    ----------
    problem : ExcitationProblem
        The problem.
    x : ndarray, shape (size,)
        Free coefficients.

    """
    repaired = problem.repair(x)
    if repaired is None or not problem.is_clear(repaired):
        return Outcome((), 1)
    return Outcome((Candidate(repaired, problem.objective(repaired), 0.0, True, x),), 1)
