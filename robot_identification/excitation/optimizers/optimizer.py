# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Interface of every optimizer, and the problem it is given.

An optimizer works in rounds. It proposes jobs that do not depend on each other, and receives their
results in the order of the proposal; see `search` for what follows from that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import FloatArray

ALIKE = 1.0e-2  # candidates nearer than this share of their length are one


class ExcitationProblem(Protocol):
    """A motion to be found: a candidate is a vector x of the free coefficients."""

    @property
    def size(self) -> int:
        """Return the number of free coefficients."""
        ...

    @property
    def features(self) -> tuple[NDArray[np.int64], ...]:
        """Groups of coefficients: those of each joint, as indices into x."""
        ...

    @property
    def first_radius(self) -> float:
        """Largest change of a coefficient in one step; infinite where nothing can be hit."""
        ...

    @property
    def extremes(self) -> tuple[int, int]:
        """Return how many of the largest and smallest singular values the criterion is about."""
        ...

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return a random candidate that keeps the limits."""
        ...

    def fit(self, order: int, shares: FloatArray) -> FloatArray:
        """Return the candidate nearest to samples (N, n) of a derivative, as limit shares."""
        ...

    def objective(self, x: FloatArray) -> float:
        """Return the criterion of a candidate; smaller is better."""
        ...

    def descend(self, x: FloatArray, sharpness: float) -> tuple[float, FloatArray]:
        """Return a smooth stand-in for the objective and its gradient (size,)."""
        ...

    def spectra(
        self, x: FloatArray, largest: int, smallest: int
    ) -> list[tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
        """Return log singular values and gradients of each set of samples, both ends."""
        ...

    def lift(self, x: FloatArray) -> FloatArray:
        """Return x with the auxiliary variables of the linear limits behind it."""
        ...

    def linear_limits(self) -> tuple[FloatArray, FloatArray]:
        """Return A, b of the limits ``A @ lift(x) <= b``."""
        ...

    def box(self) -> tuple[FloatArray, FloatArray]:
        """Return the least and largest values worth trying of each free coefficient."""
        ...

    def path_limits(self, x: FloatArray, instants: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g and its Jacobian of the limits ``g(x) <= 0``, collisions seen at instants."""
        ...

    def instants(self) -> FloatArray:
        """Return the instants [s] at which a search sees collisions at first."""
        ...

    def missed(self, x: FloatArray) -> FloatArray:
        """Return instants [s] at which a candidate comes too near to something."""
        ...

    def violation(self, x: FloatArray) -> float:
        """Return the sum of what limits are broken by, as shares of them; 0 if all are kept."""
        ...

    def repair(self, x: FloatArray) -> FloatArray | None:
        """Return the nearest scaled-down candidate that keeps all limits, or None."""
        ...

    def is_clear(self, x: FloatArray) -> bool:
        """Return whether a repaired candidate is proved to touch nothing."""
        ...


@dataclass(frozen=True)
class Budget:
    """Limits of a search."""

    # Most objective evaluations; the job that reaches them is still finished.
    evaluations: int = 2000
    seconds: float = float('inf')  # most wall-clock time [s]


@dataclass(frozen=True)
class Progress:
    """Progress of a long search."""

    best: float  # criterion of the best feasible candidate, infinite before there is one
    # Evaluations so far, and feasible candidates found.
    evaluations: int
    feasible: int
    share: float  # of the budget used, 0 to 1
    # Until the time limit, or by the pace so far until the evaluations are used up [s].
    seconds_left: float


@dataclass(frozen=True, eq=False)
class Candidate:
    """An evaluated motion."""

    x: FloatArray  # free coefficients, shape (size,)
    objective: float  # criterion
    violation: float  # sum of broken limits, see `ExcitationProblem.violation`
    feasible: bool  # whether it keeps every limit and is clear of collisions
    start: FloatArray | None = None  # start of the local search that led to it, shape (size,)


def distinct(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return candidates without those that are nearly one before, of which nothing new is made."""
    kept: list[Candidate] = []
    for one in candidates:
        if not any(
            np.linalg.norm(one.x - other.x) < ALIKE * np.linalg.norm(other.x) for other in kept
        ):
            kept.append(one)
    return tuple(kept)


@dataclass(frozen=True, eq=False)
class Job:
    """A function of a module, for another process, with its picklable second argument."""

    function: Callable[[ExcitationProblem, Any], Outcome]
    argument: Any


@dataclass(frozen=True, eq=False)
class Outcome:
    """Candidates that a job found, and the evaluations it took."""

    candidates: tuple[Candidate, ...]
    evaluations: int


@dataclass(frozen=True, eq=False)
class SearchState:
    """All that a search knows between two rounds, and goes on from."""

    rounds: int = 0  # finished
    evaluations: int = 0
    feasible: int = 0  # number of feasible candidates found
    best: Candidate | None = None  # best feasible candidate
    archive: tuple[Candidate, ...] = ()  # kept by the optimizer, in its own order
    memory: Mapping[str, float] = field(default_factory=dict)  # numbers kept by the optimizer


@dataclass(frozen=True)
class Optimizer(ABC):
    """
    An optimizer: options are dataclass fields, and all it remembers is in the search's state.

    Same state and same `rng`, same jobs.
    """

    @abstractmethod
    def propose(
        self, problem: ExcitationProblem, state: SearchState, rng: np.random.Generator
    ) -> Sequence[Job]:
        """Return the jobs of the next round; none if there is nothing left to do."""

    def learn(
        self, problem: ExcitationProblem, state: SearchState, outcomes: Sequence[Outcome]
    ) -> tuple[tuple[Candidate, ...], Mapping[str, float]]:
        """
        Return archive and memory after a round, from the outcomes of its jobs in their order.

        `state` is that before the round, but with the best candidate after it. By default nothing
        is kept but that.
        """
        return (), {}
