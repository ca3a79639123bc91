# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The genetic algorithm is pymoo's: generations, their count, and who survives."""

import sys

from excitation.optimizers.fake_problem import FakeProblem
import numpy as np
import pytest
from robot_identification.errors import MissingDependencyError
from robot_identification.excitation.optimizers.genetic import Genetic
from robot_identification.excitation.optimizers.search import Candidate, Outcome, SearchState

pytest.importorskip('pymoo')

SMALL = Genetic(population=40)


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
