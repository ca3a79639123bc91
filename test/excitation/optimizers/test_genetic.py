# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The genetic algorithm is pymoo's: generations, their count, and who survives."""

import sys

from excitation.optimizers.fake_problem import FakeProblem, run_search
import numpy as np
import pytest
from robot_identification.errors import MissingDependencyError
from robot_identification.excitation.optimizers.genetic import Genetic, OF_A_JOB
from robot_identification.excitation.optimizers.search import Candidate, Outcome, SearchState

pytest.importorskip('pymoo')

SMALL = Genetic(population=40)


def test_generations_are_split_into_jobs_and_counted_one_by_one():
    """An evaluation a candidate, and no objective is computed that is not counted."""
    problem, states = FakeProblem(), []
    run_search(SMALL, problem, 400, save=states.append)
    jobs = SMALL.propose(problem, states[-1], np.random.default_rng(0))
    assert [len(job.argument) for job in jobs] == [OF_A_JOB, 40 - OF_A_JOB]
    assert problem.objectives == states[-1].evaluations == 400
    assert len(states) == 400 // 40
    lowest, highest = problem.box()
    children = np.vstack([job.argument for job in jobs])
    assert np.all((children >= lowest) & (children <= highest))


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


def test_without_pymoo_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, 'pymoo.core.problem', None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'pymoo"):
        SMALL.propose(FakeProblem(), SearchState(), np.random.default_rng(0))
