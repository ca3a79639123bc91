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

"""Best of random feasible starts, then a local polish."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from robot_identification.excitation.optimizers.optimizer import Budget
from robot_identification.excitation.optimizers.optimizer import ExcitationProblem
from robot_identification.excitation.optimizers.optimizer import FloatArray
from robot_identification.excitation.optimizers.optimizer import Optimizer
from robot_identification.excitation.optimizers.optimizer import Optimum
from robot_identification.excitation.optimizers.optimizer import Progress


@dataclass(frozen=True)
class Multistart(Optimizer):
    """
    Some random feasible starts, then random steps from the best.

    The polish is a (1 + 1) evolution strategy: a Gaussian step is kept if it improves, steps
    grow after a success and shrink after a failure such that one in five succeeds.

    Attributes
    ----------
    starts : int
        Evaluations spent on random starts; not a share of the budget, so that a run ended by its
        time limit can be replayed by its count.
    first_step : float
        Size of the first polishing steps, relative to the coefficients' own size.

    """

    starts: int = 300
    first_step: float = 0.3

    def minimize(
        self,
        problem: ExcitationProblem,
        budget: Budget,
        rng: np.random.Generator,
        report: Callable[[Progress], None],
    ) -> Optimum:
        """Search; see `Optimizer.minimize`."""
        may_go_on = budget.clock()
        best: FloatArray | None = None
        best_objective = np.inf
        step = self.first_step
        done = 0
        while may_go_on(done):
            starting = best is None or done < self.starts
            if starting or best is None:
                candidate = problem.repair(problem.draw(rng))
            else:
                size = np.std(best, axis=1, keepdims=True) + 1e-3
                candidate = problem.repair(best + step * size * rng.standard_normal(best.shape))
            done += 1
            objective = np.inf if candidate is None else problem.objective(candidate)
            improved = (
                candidate is not None and objective < best_objective
                and problem.is_clear(candidate)
            )
            if improved:
                best, best_objective = candidate, objective
            if not starting:
                # Equilibrium at one success in five.
                step = min(max(step * np.exp(0.2 if improved else -0.05), 1e-5), 1.0)
            if done % 50 == 0:
                report(Progress(best_objective, done, done / budget.evaluations))
        return Optimum(best, float(best_objective), done)
