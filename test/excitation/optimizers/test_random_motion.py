# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A random motion is the first that will do, not the best."""

from excitation.optimizers.fake_problem import FakeProblem, run_search
import numpy as np
from robot_identification.excitation.optimizers.spectral import RandomMotion

FIRST_TO_PASS = 3


class Picky(FakeProblem):
    """Scales only what is drawn fourth into its limits, and finds only that clear."""

    def __init__(self):
        super().__init__()
        self.draws = []

    def draw(self, rng):
        self.draws.append(super().draw(rng))
        return self.draws[-1]

    def repair(self, x):
        # The second and third draw can be repaired, and touch something.
        return 0.5 * x if len(self.draws) > 1 else None

    def is_clear(self, x):
        self.proofs += 1
        return len(self.draws) > FIRST_TO_PASS


def searched(problem):
    return run_search(RandomMotion(), problem, 50)


def test_the_first_that_is_clear_is_taken_and_the_search_ends():
    """One evaluation a draw; the objective is that of the motion taken, after its repair."""
    problem = Picky()
    state = searched(problem)
    assert len(problem.draws) == FIRST_TO_PASS + 1
    assert (state.evaluations, state.feasible) == (4, 1)
    np.testing.assert_array_equal(state.best.x, 0.5 * problem.draws[-1])
    # What cannot be repaired is not proved clear, what is not clear is not evaluated.
    assert (problem.proofs, problem.objectives) == (3, 1)
    assert state.best.objective == problem.objective(state.best.x)
    assert state.best.feasible and state.best.violation == 0.0


def test_nothing_is_proposed_when_there_is_a_motion():
    found = searched(FakeProblem())
    assert RandomMotion().propose(FakeProblem(), found, np.random.default_rng(3)) == []
    assert RandomMotion().learn(FakeProblem(), found, []) == ((), {})
