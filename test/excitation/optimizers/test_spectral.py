# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The default search: descents from ever better starts, and polishes of the best."""

from dataclasses import replace

from excitation.optimizers.fake_problem import BALL, FakeProblem, RADIUS, run_search
from long_tests import long_test
import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.excitation import CRITERIA
from robot_identification.excitation.optimizers.local_search import (
    descend, Descent, MOST_EVALUATIONS, MOST_POLISHING, polish,
)
from robot_identification.excitation.optimizers.search import Candidate, Outcome, SearchState
from robot_identification.excitation.optimizers.spectral import (
    look, SMOOTH_STAGES, Spectral, STAGES,
)

CONDITION = CRITERIA['condition_number']
INF = float('inf')
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


class Cliff(FakeProblem):
    """Small steps, and a wall whose slope says nothing of where it is."""

    def __init__(self):
        super().__init__()
        self.first_radius = 0.3

    def path_limits(self, x, instants):
        return np.array([1.0 if x[0] < WALL else -0.1]), np.zeros((1, self.size))

    def repair(self, x):
        return None if x[0] < WALL else x


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


@pytest.mark.parametrize('kind', [FakeProblem, Matrices])
def test_the_first_round_looks_about_and_descends_from_random_starts(kind):
    """Looks come first, so that there is some motion soon; then descents by stages."""
    problem = kind()
    jobs = proposed(Spectral(starts=5), problem, SearchState())
    looks = [job.argument for job in jobs if job.function is look]
    descents = [job.argument for job in jobs if job.function is descend]
    assert [job.function for job in jobs] == [look] * len(looks) + [descend] * 5
    assert len(looks) >= 1
    starts = [*looks, *(job.start for job in descents)]
    assert len({start.tobytes() for start in starts}) == len(starts)
    expected = STAGES if any(problem.extremes) else SMOOTH_STAGES
    assert {job.stages for job in descents} == {expected}


def test_later_rounds_start_from_what_is_known():
    """Of four starts two are perturbations, one is put together from two others, one is random."""
    problem, optimizer = FakeProblem(), Spectral(starts=40)
    archive = tuple(
        replace(one, x=np.concatenate([one.x[:-1], [0.25]])) for one in archive_of(6)
    )
    jobs = proposed(optimizer, problem, SearchState(rounds=3, archive=archive))
    assert [job.function for job in jobs] == [descend] * 40
    starts = np.array([job.argument.start for job in jobs])
    xs = np.array([one.x for one in archive])
    for start in starts[1::4]:
        sources = [
            {k for k, x in enumerate(xs) if np.array_equal(x[feature], start[feature])}
            for feature in problem.features
        ]
        assert all(sources)
        # A recombination has each feature of one of two candidates. A perturbation leaves alone
        # what two candidates have in common. Good candidates are taken more often than bad ones.
        assert len({min(source) for source in sources if len(source) == 1}) <= 2
    perturbed = np.concatenate([starts[0::4], starts[2::4]])
    np.testing.assert_array_equal(perturbed[:, -1], 0.25)
    assert np.all(starts[3::4, -1] != 0.25)
    nearest = [
        int(np.argmin(np.linalg.norm(xs - start, axis=1))) for start in perturbed
    ]
    # Six candidates, weights 6 to 1: the better half has 15 of 21 parts.
    assert np.mean(np.array(nearest) < 3) > 0.55
    steps = [np.linalg.norm(xs[k] - start) for k, start in zip(nearest, perturbed, strict=True)]
    assert 0.0 < min(steps) < 0.3 * max(steps)


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


def test_smooth_criteria_are_not_polished():
    rough = tuple(replace(one, start=one.x) for one in archive_of(3))
    jobs = proposed(Spectral(starts=4), FakeProblem(), SearchState(rounds=1, archive=rough))
    assert {job.function for job in jobs} == {descend}


def test_the_archive_has_the_best_that_differ():
    """Sorted, feasible, no more than are kept; of two that are one motion the better."""
    optimizer, problem = Spectral(kept=3, polished=0), FakeProblem()
    old = archive_of(3)
    close = candidate(old[1].x * 1.001, 0.9)
    worse = candidate(old[0].x * 1.001, 0.1)
    outcomes = [
        Outcome((close, worse), 5), Outcome((), 1),
        Outcome((candidate(np.full(12, 4.0), -5.0, feasible=False),), 5),
    ]
    archive, _ = optimizer.learn(problem, SearchState(rounds=1, archive=old), outcomes)
    assert [one.objective for one in archive] == [0.0, 0.9, 2.0]
    best = candidate(np.full(12, 7.0), -1.0)
    archive, _ = optimizer.learn(
        problem, SearchState(rounds=1, archive=archive), [Outcome((best,), 5)]
    )
    assert [one.objective for one in archive] == [-1.0, 0.0, 0.9]


class Unfitted(FakeProblem):
    """A problem whose fitted candidates are as random as those drawn."""

    def fit(self, shares):
        return self.draw(np.random.default_rng(int(1e9 * np.abs(shares).sum())))


@long_test
def test_learning_from_earlier_searches_pays():
    """After the same evaluations, on an average of six seeds: ahead of random starts alone."""
    learnt, random = (
        np.mean([
            run_search(Spectral(starts=starts), Unfitted(3, 2), 1600, seed=seed).best.objective
            for seed in range(6)
        ]) for starts in (4, 200)
    )
    assert learnt < 0.8 * random


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


def test_stages_go_on_where_the_last_one_ended():
    """Their evaluations add up; a sharper stage lowers what the smoother one left."""
    rng = np.random.default_rng(3)
    one_better = 0
    for _ in range(5):
        start = 0.3 * rng.standard_normal(12)
        first = descend(Matrices(), Descent(start, STAGES[:1]))
        problem = Matrices()
        both = descend(problem, Descent(start, STAGES))
        assert both.evaluations == problem.objectives > first.evaluations
        one_better += both.candidates[0].objective < first.candidates[0].objective
    assert one_better >= 4


class Endless(FakeProblem):
    """Better whenever it is asked, downhill in another direction each time."""

    def descend(self, x, sharpness):
        self.objectives += 1
        rng = np.random.default_rng(self.objectives)
        return -100.0 * self.objectives, 0.01 * rng.standard_normal(self.size)


def test_a_descent_that_goes_astray_is_given_up():
    """What was reached by then is a candidate all the same."""
    outcome = descend(Endless(), Descent(np.full(12, 0.7), ((1.0, 10**6), (2.0, 10**6))))
    assert MOST_EVALUATIONS < outcome.evaluations <= 2 * MOST_EVALUATIONS + 1
    assert len(outcome.candidates) == 1


class Plateau(FakeProblem):
    """Infinitely bad where the first coefficient is positive; elsewhere as small as logarithms."""

    def descend(self, x, sharpness):
        value, slope = super().descend(x, sharpness)
        return (INF, np.zeros_like(x)) if x[0] > 0.0 else (0.1 * value, 0.1 * slope)


def test_a_descent_turns_round_where_the_criterion_is_infinite():
    """A step onto the plateau is no end and no warning."""
    found, = descend(Plateau(), Descent(np.full(12, -0.3), ((1.0, 100),))).candidates
    assert found.x[0] <= 0.0
    assert np.isfinite(found.objective)


def test_steps_among_obstacles_see_what_they_missed():
    """The first step ends behind the wall; seen there, it is kept from then on."""
    problem = Walled()
    found, = descend(problem, Descent(np.full(12, 0.5), ((1.0, 100),))).candidates
    assert found.x[0] == pytest.approx(WALL, abs=0.02)
    np.testing.assert_allclose(found.x[1:], 0.1, atol=0.05)


def test_steps_that_end_in_a_wall_are_taken_back():
    """Ever smaller ones come near it, and never in."""
    outcome = descend(Cliff(), Descent(np.full(12, 0.5), ((1.0, 100),)))
    found, = outcome.candidates
    assert found.feasible
    assert WALL <= found.x[0] < WALL + 0.1


def test_the_last_of_a_descent_is_scaled_or_says_what_it_violates():
    """A candidate that cannot be scaled into its limits keeps what it is, infeasible."""
    class Unrepaired(FakeProblem):
        def repair(self, x):
            return None

        def violation(self, x):
            return 0.25

    found, = descend(Unrepaired(), Descent(np.zeros(12), ((1.0, 20),))).candidates
    assert not found.feasible
    assert found.violation == 0.25
    assert found.objective == FakeProblem().objective(found.x)


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


def test_a_polished_motion_is_a_minimum_of_the_worst_condition():
    """No small step in any of many directions is better by more than the steps it stopped at."""
    problem = Matrices()
    rough, = descend(problem, Descent(np.zeros(12), STAGES)).candidates
    x = rough.x
    for _ in range(3):
        x = polish(problem, x).candidates[0].x
    best = problem.objective(x)
    rng = np.random.default_rng(6)
    for _ in range(200):
        step = rng.standard_normal(12)
        there = problem.repair(x + 1e-3 * step / np.linalg.norm(step))
        assert problem.objective(there) > best * (1.0 - 2e-3)


def test_a_polish_of_the_smallest_value_alone():
    """Where the largest ones do not count, the smallest is raised."""
    problem = Matrices()
    problem.extremes = (0, 3)
    start = 0.2 * np.random.default_rng(8).standard_normal(12)

    def smallest(x):
        return min(spectrum[2][-1] for spectrum in problem.spectra(x, 0, 3))

    problem.objective = lambda x: -smallest(x)
    polished, = polish(problem, start).candidates
    assert smallest(polished.x) > smallest(start) + 0.1
