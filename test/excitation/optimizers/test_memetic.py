# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The memetic algorithm: its generations, its factors, its counts, and what it is for."""


from excitation.optimizers.fake_problem import FakeProblem, run_search
import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.excitation.optimizers.local_search import descend
from robot_identification.excitation.optimizers.memetic import (
    DOWN, look, Memetic, UP, walk,
)
from robot_identification.excitation.optimizers.search import Candidate, Outcome, SearchState

SMALL = Memetic(population=6)


def proposed(optimizer, state, seed=0):
    return optimizer.propose(FakeProblem(), state, np.random.default_rng(seed))


def solution(x, objective, *, feasible=True):
    """Return what a local search could have found."""
    x = np.full(12, float(x))
    return Candidate(x, objective, 0.0, feasible, x + 0.5)


def test_generations_are_random_first_then_bred_and_solved_in_turn():
    states = []
    run_search(SMALL, FakeProblem(), 1500, save=states.append)
    functions = [{job.function for job in proposed(SMALL, state)} for state in states[:4]]
    assert functions == [{look, walk}, {descend}, {look, walk}, {descend}]
    assert len(proposed(SMALL, states[1])) == SMALL.population
    starts = [one for one in states[1].archive if one.start is None]
    assert len(starts) == SMALL.population
    for job, start in zip(proposed(SMALL, states[1]), starts, strict=False):
        np.testing.assert_array_equal(job.argument.start, start.x)


def test_joints_are_permuted_among_solutions_and_nothing_else_changes():
    """Each coefficient has the same values, in another order, and whole joints move together."""
    solutions = tuple(solution(k, k) for k in range(8))
    state = SearchState(archive=solutions, memory={'generation': 1.0, 'exchanged': 0.5})
    for job in proposed(Memetic(), state)[:4]:
        mixed = job.argument
        np.testing.assert_array_equal(np.sort(mixed, axis=0), np.array([s.x for s in solutions]))
        changed = np.any(mixed != np.array([s.x for s in solutions]), axis=0)
        assert 1 <= changed.sum() <= 6
        for first in range(0, 12, 3):
            assert len(np.unique(mixed[:, first: first + 3], axis=1).T) == 1


def test_a_walk_goes_on_from_what_is_no_worse_up_to_its_depth():
    """With nothing better it is as many steps as loops; with all better, loops at each depth."""
    problem, x = FakeProblem(), np.full(12, 0.1)
    found = walk(problem, (Candidate(x, 0.0, 0.0, True, x), x + 1.0, 0.1, 5))
    assert found.evaluations == 4
    everything = walk(problem, (Candidate(x, np.inf, 0.0, True, x), x + 1.0, 0.0, 5))
    assert everything.evaluations == 4 + 4 * 4
    [one] = found.candidates
    assert not one.feasible
    # Five standard deviations of a step.
    assert np.all(np.abs(one.x - x) < 5 * 0.1)


def after_generation(optimizer, memory, objective):
    """Return the memory after local searches whose best was an objective."""
    best = solution(0.0, objective)
    state = SearchState(
        best=best, archive=(solution(1.0, 9.0), solution(2.0, 9.0)), memory=memory,
    )
    return optimizer.learn(FakeProblem(), state, [Outcome((best,), 1)])[1]


def test_factors_shrink_after_a_better_motion_and_grow_otherwise():
    memory = {'generation': 2.0, 'bred': 1.0, 'best': 7.0, 'exchanged': 0.5, 'spread': 0.4}
    better, worse = (after_generation(SMALL, memory, value) for value in (6.0, 7.0))
    assert (better['exchanged'], better['spread']) == (0.5 * DOWN, 0.4 * DOWN)
    assert (worse['exchanged'], worse['spread']) == (0.5 * UP, 0.4 * UP)
    assert (better['best'], worse['best']) == (6.0, 7.0)
    assert better['generation'] == 3.0


@pytest.mark.parametrize('options', [{'population': 1}, {'random_generations': 0}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(DescriptionError, match=rf'{next(iter(options))} of memetic is'):
        Memetic(**options)
