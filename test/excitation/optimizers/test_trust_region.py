# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Steps of sequential quadratic programming: where they end, and what they keep on the way."""

import multiprocessing
import os
import signal
import time

from excitation.optimizers.fake_problem import BALL, FakeProblem, RADIUS, run_search, state_bytes
import numpy as np
import pytest
from robot_identification.errors import IdentificationError
from robot_identification.excitation import CRITERIA
from robot_identification.excitation.optimizers import trust_region
from robot_identification.excitation.optimizers.genetic import Genetic
from robot_identification.excitation.optimizers.local_search import (
    descend, Descent, MOST_POLISHING, polish,
)
from robot_identification.excitation.optimizers.search import (
    Budget, Candidate, Job, Outcome, Search, SearchState, Workers,
)
from robot_identification.excitation.optimizers.spectral import RandomMotion, Spectral, STAGES
from robot_identification.excitation.optimizers.trust_region import (
    Pace, solve_program, TrustRegion,
)

PACE = Pace(evaluations=200, tolerance=1e-9, radius=0.3, largest=1.0)


class Valley:
    """Rosenbrock's function in a disc, above a line; the last variable is not bounded by steps."""

    def __init__(self, radius=1.2, height=-0.5):
        self.rows, self.bounds = np.array([[0.0, -1.0, 0.0]]), np.array([-height])
        self.boxed, self.radius = 2, radius
        self.seen = []

    def value(self, z):
        self.seen.append(z.copy())
        x, y, w = z
        bend = y - x * x
        return (1 - x) ** 2 + 10 * bend**2 + (w - 3) ** 2, np.array(
            [-2 * (1 - x) - 40 * x * bend, 20 * bend, 2 * (w - 3)]
        )

    def curved(self, z):
        x, y, _ = z
        return np.array([x * x + y * y - self.radius**2]), np.array([[2 * x, 2 * y, 0.0]])


@pytest.mark.parametrize('start', [(-1.0, 0.5, 0.0), (0.0, 0.0, 9.0), (3.0, -2.0, 0.0)])
@pytest.mark.parametrize(
    ('radius', 'height', 'minimum'),
    # Within the disc; on its edge, by its angles a million apart; where the line meets the edge.
    [(1.5, -0.5, (1.0, 1.0)), (1.0, -0.5, (0.78874, 0.61473)), (1.0, 0.8, (0.6, 0.8))],
)
def test_a_search_ends_in_the_minimum(start, radius, height, minimum):
    """From within the limits and from without."""
    valley = Valley(radius, height)
    search = TrustRegion(valley, PACE)
    found = search.run(np.array(start))
    # Of the last case there are two, left and right.
    np.testing.assert_allclose(np.abs(found), [*minimum, 3.0], atol=2e-3)
    assert search.evaluations == len(valley.seen) < 100


# --- quadratic programs ------------------------------------------------------------------


INTERIOR_POINT = 'interior point'


@pytest.fixture(params=['daqp', INTERIOR_POINT])
def solver(request, monkeypatch):
    """Have programs solved by DAQP, or without it."""
    if request.param == INTERIOR_POINT:
        monkeypatch.setattr(trust_region, '_import_daqp', lambda: None)
    else:
        pytest.importorskip('daqp', reason='DAQP, which solves quadratic programs, is missing')
    return request.param


def random_program(rng, limits):
    """Return a program of 12 unknowns, of which the origin keeps all limits."""
    root = rng.standard_normal((12, 12))
    return (
        root @ root.T + 0.1 * np.eye(12), rng.standard_normal(12),
        rng.standard_normal((limits, 12)), rng.uniform(0.0, 0.5, limits),
    )


@pytest.mark.parametrize('limits', [0, 5, 200])
def test_what_is_returned_is_the_minimum(solver, rng, limits):
    """By the conditions of Karush, Kuhn and Tucker, which are sufficient here."""
    for _ in range(5):
        hessian, gradient, rows, bounds = random_program(rng, limits)
        d, multipliers = solve_program(hessian, gradient, rows, bounds)
        left = bounds - rows @ d
        slope = hessian @ d + gradient + rows.T @ multipliers
        # The interior point ends at 1e-10 of the numbers involved, which are of the order of 100.
        assert np.all(left > -1e-7)
        assert np.all(multipliers > -1e-7)
        np.testing.assert_allclose(slope, 0.0, atol=1e-6)
        np.testing.assert_allclose(left * multipliers, 0.0, atol=1e-6)


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


pytest.importorskip('pymoo')


def test_the_best_survive_those_in_violation_last():
    """Deb's rules: what keeps the limits before what does not, whatever its objective."""
    parents = tuple(
        Candidate(np.full(2, k), objective, violation, violation == 0.0)
        for k, (objective, violation) in enumerate([(3.0, 0.0), (5.0, 0.0), (1.0, 0.5)])
    )
    children = (Candidate(np.zeros(2), 4.0, 0.0, True), Candidate(np.zeros(2), 0.0, 0.2, False))
    archive, _ = Genetic(population=4).learn(
        FakeProblem(), SearchState(archive=parents), [Outcome(children, 2)]
    )
    assert [(one.violation, one.objective) for one in archive] == [
        (0.0, 3.0), (0.0, 4.0), (0.0, 5.0), (0.2, 0.0)
    ]


FOREVER = float('inf')
# A worker begins within a few seconds, also on a busy machine; it ends at once.
PATIENCE = 20.0


def children():
    """Return the processes that this one has started and that have not ended yet."""
    return {child.pid for child in multiprocessing.active_children()}


def wait_until_none_is_left():
    """Wait for processes that were told to end; fail if one does not, and end it."""
    end = time.monotonic() + PATIENCE
    while children() and time.monotonic() < end:
        for child in multiprocessing.active_children():
            child.join(0.1)
    left = multiprocessing.active_children()
    for child in left:
        child.kill()
        child.join()
    assert left == []


def test_two_processes_find_what_one_finds():
    """To the last bit, and with as many evaluations, whoever is done first."""
    states = []
    for processes in (1, 2):
        with Workers(FakeProblem, processes) as workers:
            states.append(
                Search(Spectral(starts=5), workers, 4, lambda progress: None).run(Budget(900))
            )
    wait_until_none_is_left()
    # The budget ends within a round: jobs that were begun beyond it count nothing.
    assert states[0].rounds > 1
    assert state_bytes(states[0]) == state_bytes(states[1])


def test_a_killed_process_is_an_error_that_says_what_to_do():
    """As the system does when memory is short; no other process is left behind."""
    # The problem is a process' own number, the job kills it.
    with pytest.raises(IdentificationError, match=r'killed.* memory .*\(--processes 1\)'), \
            Workers(os.getpid, 2) as workers:
        list(workers.run([Job(os.kill, signal.SIGKILL)] * 3, FOREVER))
    wait_until_none_is_left()
