# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Random starts, from each of which the criterion itself is minimized, and nothing is kept."""

from excitation.optimizers.fake_problem import FakeProblem
import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.excitation.optimizers.local_search import descend
from robot_identification.excitation.optimizers.multistart import Multistart
from robot_identification.excitation.optimizers.optimizer import Candidate, SearchState

INF = float('inf')


@pytest.mark.parametrize('starts', [0, 2.5, True])
def test_wrong_options_are_refused_by_name(starts):
    with pytest.raises(DescriptionError, match=f'starts of multistart is {starts}'):
        Multistart(starts)


def test_every_round_is_new_starts_of_the_unsmoothed_criterion():
    """Whatever is known already: starts are those that the problem draws, in their order."""
    problem = FakeProblem()
    known = SearchState(
        rounds=4, archive=(Candidate(np.zeros(12), 1.0, 0.0, True),), memory={'any': 1.0}
    )
    for state in (SearchState(), known):
        jobs = Multistart(5).propose(problem, state, np.random.default_rng(2))
        rng = np.random.default_rng(2)
        assert [job.function for job in jobs] == [descend] * 5
        for job in jobs:
            np.testing.assert_array_equal(job.argument.start, problem.draw(rng))
            assert [sharpness for sharpness, _ in job.argument.stages] == [INF]
        assert Multistart(5).learn(problem, state, []) == ((), {})
