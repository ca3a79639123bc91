# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Local searches from random starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.excitation.optimizers.local_search import descend, Descent
from robot_identification.excitation.optimizers.optimizer import (
    ExcitationProblem, Job, Optimizer, SearchState,
)
from robot_identification.excitation.parametrizations.parametrization import check_count

# The criterion itself, kinks and all.
PLAIN_STAGES = ((float('inf'), 100),)


@dataclass(frozen=True)
class Multistart(Optimizer):
    """
    Random starts, from each of which the criterion itself is minimized; `starts` in a round.

    The comparison of Tika et al. 2020: what is found without learning from earlier searches.
    """

    starts: int = 16

    def __post_init__(self) -> None:
        check_count('starts of multistart', self.starts, 1, 10_000)

    def propose(
        self, problem: ExcitationProblem, state: SearchState, rng: np.random.Generator
    ) -> Sequence[Job]:
        """Return searches from random starts."""
        return [
            Job(descend, Descent(problem.draw(rng), PLAIN_STAGES)) for _ in range(self.starts)
        ]
