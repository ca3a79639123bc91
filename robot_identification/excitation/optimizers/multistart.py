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

"""Local searches from random starts."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.excitation.optimizers.local_search import descend
from robot_identification.excitation.optimizers.local_search import Descent
from robot_identification.excitation.optimizers.optimizer import Candidate
from robot_identification.excitation.optimizers.optimizer import ExcitationProblem
from robot_identification.excitation.optimizers.optimizer import Job
from robot_identification.excitation.optimizers.optimizer import Optimizer
from robot_identification.excitation.optimizers.optimizer import Outcome
from robot_identification.excitation.optimizers.optimizer import SearchState
from robot_identification.excitation.parametrizations.parametrization import check_count

# The criterion itself, kinks and all.
PLAIN_STAGES = ((float('inf'), 100),)


@dataclass(frozen=True)
class Multistart(Optimizer):
    """
    Random starts, from each of which the criterion itself is minimised.

    The comparison of Tika et al. 2020: what is found without learning from earlier searches.

    Attributes
    ----------
    starts : int
        Starts of a round.

    """

    starts: int = 16

    def __post_init__(self) -> None:
        check_count('starts of multistart', self.starts, 1, 10_000)

    def propose(
        self, problem: ExcitationProblem, state: SearchState, rng: np.random.Generator
    ) -> Sequence[Job]:
        """Return searches from random starts; see `Optimizer.propose`."""
        return [
            Job(descend, Descent(problem.draw(rng), PLAIN_STAGES)) for _ in range(self.starts)
        ]

    def learn(
        self, problem: ExcitationProblem, state: SearchState, outcomes: Sequence[Outcome]
    ) -> tuple[tuple[Candidate, ...], Mapping[str, float]]:
        """Keep nothing: the search's state has the best; see `Optimizer.learn`."""
        return (), {}
