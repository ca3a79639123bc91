# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The default search: smooth descents, sharp polishes, and what good motions have in common.

With the random motions that searches begin with, and the optimizer that minimizes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation.optimizers.local_search import descend, Descent, polish
from robot_identification.excitation.optimizers.search import (
    Candidate, distinct, Job, Optimizer, Outcome, SearchState,
)
from robot_identification.excitation.parametrizations.parametrization import check_count
from robot_identification.excitation.problem import TrajectoryProblem

# Means of many singular values first, their extremes later, and friction that reverses as
# slowly: sharpness and most evaluations.
STAGES = ((2.0, 30), (8.0, 30), (32.0, 40))
# Criteria that have no extremes are smooth by themselves.
SMOOTH_STAGES = ((2.0, 60), (8.0, 60))
KNOTS = (12, 40)  # number of random velocities


@dataclass(frozen=True)
class RandomMotion(Optimizer):
    """
    The first random candidate that keeps all limits and is clear of collisions.

    Its objective is reported and not minimized: a motion to validate with should not be the one
    that a model is best at. Of the form `fourier` it is a pseudo-random motion, of `via_points` a
    way through random poses.
    """

    def propose(
        self, problem: TrajectoryProblem, state: SearchState, rng: np.random.Generator
    ) -> Sequence[Job]:
        """Return one draw, and none after the first that will do."""
        return [Job(look, problem.draw(rng))] if state.best is None else []


def draw_fitted(
    problem: TrajectoryProblem, rng: np.random.Generator, samples: int
) -> FloatArray:
    """
    Return the candidate nearest to random velocities, within its limits or not.

    They are `samples` for each joint, the first and the last zero, of 0.2 to 0.9 of the limits,
    the band of Tika et al. 2020.
    """
    shape = (samples, len(problem.features))
    shares = rng.uniform(0.2, 0.9, shape) * rng.choice([-1.0, 1.0], shape)
    shares[[0, -1]] = 0.0
    return problem.fit(shares)


def look(problem: TrajectoryProblem, x: FloatArray) -> Outcome:
    """Scale a candidate into the limits and prove it clear; one that fails is no candidate."""
    repaired = problem.repair(x)
    if repaired is None or not problem.is_clear(repaired):
        return Outcome((), 1)
    return Outcome((Candidate(repaired, problem.objective(repaired), 0.0, True, x),), 1)


@dataclass(frozen=True)
class Spectral(Optimizer):
    """
    Local searches on smooth bounds of the extreme singular values, from ever better starts.

    The first round starts at random. Later ones start from joints' motions of good candidates put
    together anew (recombination), from good candidates moved by a share of their distance to
    others (perturbation), and now and then at random. The best candidates are polished.
    """

    starts: int = 12  # of a round
    kept: int = 12  # good candidates that starts are made of
    polished: int = 2  # candidates polished in a round
    # largest perturbation as a share of the distance between two good candidates; the smallest is
    # a thirtieth of it
    step: float = 1.0

    def __post_init__(self) -> None:
        check_count('starts of spectral', self.starts, 4, 10_000)
        check_count('kept of spectral', self.kept, 2, 10_000)
        check_count('polished of spectral', self.polished, 0, 100)

    def propose(
        self, problem: TrajectoryProblem, state: SearchState, rng: np.random.Generator
    ) -> Sequence[Job]:
        """Return polishes and descents."""
        jobs = [
            Job(polish, candidate.x)
            for candidate in self._to_polish(problem, state)
        ]
        if state.rounds == 0:
            # A safe motion within a second, even if all descents fail.
            jobs += [Job(look, problem.draw(rng)) for _ in range(8)]
        stages = STAGES if any(problem.extremes) else SMOOTH_STAGES
        for k in range(self.starts):
            start = self._start(problem, state.archive, k, rng)
            jobs.append(Job(descend, Descent(start, stages)))
        return jobs

    def _to_polish(
        self, problem: TrajectoryProblem, state: SearchState
    ) -> tuple[Candidate, ...]:
        """Return the best candidates that were not polished: those that know their start."""
        if not any(problem.extremes):
            return ()
        rough = [candidate for candidate in state.archive if candidate.start is not None]
        return tuple(rough[: self.polished])

    def _start(
        self, problem: TrajectoryProblem, archive: tuple[Candidate, ...], k: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        if len(archive) < 2 or k % 4 == 3:
            return problem.draw(rng) if k % 8 == 3 else _draw_fast(problem, rng)
        # The better, the more often.
        weights = np.arange(float(len(archive)), 0.0, -1.0)
        first, second = rng.choice(
            len(archive), 2, replace=False, p=weights / weights.sum()
        )
        one, other = archive[first].x.copy(), archive[second].x
        if k % 2:
            for feature in problem.features:
                if rng.random() < 0.5:
                    one[feature] = other[feature]
            return np.asarray(one)
        # Near ones to get further, far ones to get away.
        step = self.step * 10.0 ** rng.uniform(-1.5, 0.0)
        distance: FloatArray = step * np.abs(one - other)
        return np.asarray(one + distance * rng.standard_normal(len(one)))

    def learn(
        self, problem: TrajectoryProblem, state: SearchState, outcomes: Sequence[Outcome]
    ) -> tuple[tuple[Candidate, ...], Mapping[str, float]]:
        """Keep the best candidates that differ."""
        done = self._to_polish(problem, state)
        old = [
            replace(candidate, start=None) if candidate in done else candidate
            for candidate in state.archive
        ]
        new = [
            candidate if k >= len(done) else replace(candidate, start=None)
            for k, outcome in enumerate(outcomes) for candidate in outcome.candidates
        ]
        feasible = [candidate for candidate in (*old, *new) if candidate.feasible]
        kept = distinct(sorted(feasible, key=lambda candidate: candidate.objective))
        return kept[: self.kept], {}


def _draw_fast(problem: TrajectoryProblem, rng: np.random.Generator) -> FloatArray:
    """
    Return the candidate nearest to random velocities that are high throughout, where it is safe.

    Fast motions show more than any other; among obstacles they mostly end in one.
    """
    if np.isfinite(problem.first_radius):
        return problem.draw(rng)
    return draw_fitted(problem, rng, int(rng.integers(*KNOTS)))
