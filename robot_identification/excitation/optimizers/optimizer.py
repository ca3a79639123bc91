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

"""What every optimizer does, and the problem it is given."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
import time
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class ExcitationProblem(Protocol):
    """A motion to be found: candidates are coefficient arrays of shape (n, c) [rad]."""

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return a random candidate, feasible or not."""
        ...

    def repair(self, coefficients: FloatArray) -> FloatArray | None:
        """Return the nearest scaled-down feasible candidate, or None."""
        ...

    def is_clear(self, coefficients: FloatArray) -> bool:
        """Return whether a repaired candidate touches nothing; asked of improvements only."""
        ...

    def objective(self, coefficients: FloatArray) -> float:
        """Return the criterion of a candidate; smaller is better."""
        ...


@dataclass(frozen=True)
class Budget:
    """
    When to stop.

    Attributes
    ----------
    evaluations : int
        Most objective evaluations.
    seconds : float
        Most wall-clock time [s].

    """

    evaluations: int = 6000
    seconds: float = float('inf')

    def clock(self) -> Callable[[int], bool]:
        """Return a function that says whether another evaluation may follow so many."""
        end = time.monotonic() + self.seconds
        return lambda done: done < self.evaluations and time.monotonic() < end


@dataclass(frozen=True)
class Progress:
    """What a long search tells: best criterion, evaluations, share of the budget used."""

    best: float
    evaluations: int
    share: float


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best candidate (n, c), its criterion, and the evaluations it took."""

    coefficients: FloatArray | None
    objective: float
    evaluations: int


@dataclass(frozen=True)
class Optimizer(ABC):
    """An optimizer: options are dataclass fields, one verb does the work."""

    @abstractmethod
    def minimize(
        self,
        problem: ExcitationProblem,
        budget: Budget,
        rng: np.random.Generator,
        report: Callable[[Progress], None],
    ) -> Optimum:
        """
        Search for the feasible candidate of the smallest objective.

        Same `rng` state and same number of evaluations give the same bytes.
        """
