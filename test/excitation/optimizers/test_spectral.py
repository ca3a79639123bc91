# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The default search: descents from ever better starts, polishes; and the first random motion."""

from dataclasses import replace

from excitation.optimizers.fake_problem import BALL, FakeProblem, RADIUS, run_search
import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.excitation import CRITERIA
from robot_identification.excitation.optimizers.local_search import (
    descend, Descent, MOST_POLISHING, polish,
)
from robot_identification.excitation.optimizers.search import Candidate, Outcome, SearchState
from robot_identification.excitation.optimizers.spectral import RandomMotion, Spectral, STAGES

CONDITION = CRITERIA['condition_number']
# The minimum of the bowl is at 0.1.
WALL = 0.3


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


class Walled(FakeProblem):
    """Small steps, and a wall in the bowl that is seen only at an instant that was missed."""

    # At an instant t the first coefficient must exceed t.

    def __init__(self):
        super().__init__()
        self.first_radius, self.instants = 0.3, np.array([-9.0])

    def missed(self, x):
        return np.array([WALL]) if x[0] < WALL - 1e-3 else np.zeros(0)

    def path_limits(self, x, instants):
        g, J = super().path_limits(x, instants)
        wall = np.tile(-np.eye(self.size)[0], (len(instants), 1))
        return np.concatenate([g, instants - x[0]]), np.vstack([J, wall])


def candidate(x, objective, start=None, feasible=True):
    return Candidate(np.array(x, dtype=float), objective, 0.0, feasible, start)


def archive_of(count, size=12):
    """Return candidates far from each other, best first, that were polished already."""
    rng = np.random.default_rng(9)
    return tuple(
        candidate(rng.standard_normal(size), float(rank)) for rank in range(count)
    )


def proposed(optimizer, problem, state, seed=1):
    return optimizer.propose(problem, state, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ('options', 'message'),
    [({'starts': 3}, 'starts of spectral is 3'), ({'starts': 4.0}, 'starts of spectral is 4.0'),
     ({'kept': 1}, 'kept of spectral is 1'), ({'polished': -1}, 'polished of spectral is -1')],
)
def test_wrong_options_are_refused_by_name(options, message):
    with pytest.raises(DescriptionError, match=message):
        Spectral(**options)


# --- rounds --------------------------------------------------------------------------------


def test_the_best_are_polished_once():
    """Candidates that know their start are rough; a polish forgets it, whatever it found."""
    problem, optimizer = Matrices(), Spectral(starts=4, polished=2)
    rough = tuple(
        replace(one, start=one.x) if k in (1, 2, 4) else one
        for k, one in enumerate(archive_of(5))
    )
    state = SearchState(rounds=1, archive=rough)
    jobs = proposed(optimizer, problem, state)
    assert [job.function for job in jobs] == [polish] * 2 + [descend] * 4
    np.testing.assert_array_equal(jobs[0].argument, rough[1].x)
    np.testing.assert_array_equal(jobs[1].argument, rough[2].x)
    better = candidate(rough[1].x + 0.5, 0.5, start=rough[1].x)
    found = candidate(np.full(12, 9.0), 0.7, start=np.zeros(12))
    outcomes = [Outcome((better,), 30), Outcome((rough[2],), 30), Outcome((found,), 50)]
    archive, memory = optimizer.learn(problem, state, outcomes)
    assert memory == {}
    assert [one.objective for one in archive] == [0.0, 0.5, 0.7, 1.0, 2.0, 3.0, 4.0]
    still_rough = [one.objective for one in archive if one.start is not None]
    assert still_rough == [0.7, 4.0]
    later = proposed(optimizer, problem, replace(state, archive=archive))
    np.testing.assert_array_equal(later[0].argument, found.x)
    np.testing.assert_array_equal(later[1].argument, rough[4].x)
    assert later[2].function is descend


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


def test_steps_among_obstacles_see_what_they_missed():
    """The first step ends behind the wall; seen there, it is kept from then on."""
    problem = Walled()
    found, = descend(problem, Descent(np.full(12, 0.5), ((1.0, 100),))).candidates
    assert found.x[0] == pytest.approx(WALL, abs=0.02)
    np.testing.assert_allclose(found.x[1:], 0.1, atol=0.05)


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
