# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The default search: descents from ever better starts, polishes; and the first random motion."""

from excitation.optimizers.fake_problem import BALL, FakeProblem, RADIUS, run_search
import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.excitation import CRITERIA
from robot_identification.excitation.optimizers.local_search import (
    descend, Descent, MOST_POLISHING, polish,
)
from robot_identification.excitation.optimizers.spectral import RandomMotion, Spectral, STAGES

CONDITION = CRITERIA['condition_number']


class Matrices(FakeProblem):
    """The larger condition number of two matrices that are linear in x, within the same limits."""

    # Minima are where singular values meet.

    def __init__(self):
        super().__init__()
        rng = np.random.default_rng(5)
        self.extremes = (3, 3)
        self.matrices = rng.standard_normal((2, self.size + 1, 20, 6))

    def sets(self, x):
        return np.einsum('x,sxrc->src', np.append(1.0, x), self.matrices)

    def objective(self, x):
        self.objectives += 1
        return max(CONDITION(W) for W in self.sets(x))

    def descend(self, x, sharpness):
        self.objectives += 1
        values, slopes = [], []
        for W, by_x in zip(self.sets(x), self.matrices[:, 1:], strict=True):
            value, gradient = CONDITION.descend(W, sharpness)
            values.append(value)
            slopes.append(np.einsum('xrc,rc->x', by_x, gradient))
        return float(np.mean(values)), np.mean(slopes, axis=0)

    def spectra(self, x, largest, smallest):
        self.objectives += 1
        spectra = []
        for W, by_x in zip(self.sets(x), self.matrices[:, 1:], strict=True):
            values, gradients = CONDITION.log_spectrum(W, np.arange(6))
            slopes = np.einsum('xrc,krc->kx', by_x, gradients)
            spectra.append((
                values[:largest], slopes[:largest], values[6 - smallest:], slopes[6 - smallest:],
            ))
        return spectra


@pytest.mark.parametrize(
    ('options', 'message'),
    [({'starts': 3}, 'starts of spectral is 3'), ({'starts': 4.0}, 'starts of spectral is 4.0'),
     ({'kept': 1}, 'kept of spectral is 1'), ({'polished': -1}, 'polished of spectral is -1')],
)
def test_wrong_options_are_refused_by_name(options, message):
    with pytest.raises(DescriptionError, match=message):
        Spectral(**options)


# --- descents ------------------------------------------------------------------------------


def test_a_descent_ends_in_a_minimum(rng):
    """Its evaluations are those made, the last one for the candidate."""
    for _ in range(5):
        problem = FakeProblem()
        start = 0.5 * problem.draw(rng)
        outcome = descend(problem, Descent(start, ((1.0, 200),)))
        found, = outcome.candidates
        _, slope = FakeProblem().descend(found.x, 1.0)
        # Searches end where steps gain less than 1e-4; the hills are as steep as 25.
        assert np.linalg.norm(slope) < 0.5
        assert found.objective < FakeProblem().objective(start)
        assert outcome.evaluations == problem.objectives
        np.testing.assert_array_equal(found.start, start)
        assert found.feasible == (np.linalg.norm(found.x - BALL) > RADIUS)


# --- polishes ------------------------------------------------------------------------------


def test_a_polish_makes_the_worst_condition_smaller_and_none_larger():
    """From what smooth descents left, in most cases by a percent and more."""
    rng = np.random.default_rng(4)
    gains = []
    for _ in range(6):
        rough, = descend(
            Matrices(), Descent(0.3 * rng.standard_normal(12), STAGES)
        ).candidates
        problem = Matrices()
        outcome = polish(problem, rough.x)
        polished, = outcome.candidates
        assert polished.feasible or not rough.feasible
        assert outcome.evaluations == problem.objectives <= MOST_POLISHING + 10
        assert problem.violation(polished.x) < 1e-9
        gains.append(rough.objective / polished.objective - 1.0)
    assert min(gains) >= -1e-9
    assert np.median(gains) > 0.01


# --- random motions ----------------------------------------------------------------------


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
