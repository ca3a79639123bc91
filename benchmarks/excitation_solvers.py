# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Searches for an excitation: how good a motion is after so much processor time, in one process.

Processor time, as a shared machine takes wall time away; a search on two processors has twice as
much of it in the same wall time. The times are those of `AT`.
"""

from __future__ import annotations

import sys
import time

from robot_identification.excitation.experiment_file import (
    Experiment, find_experiment, load_experiment, read_experiment,
)
from robot_identification.excitation.optimizers import DEFAULT_OPTIMIZER, OPTIMIZERS
from robot_identification.excitation.optimizers.search import Budget, Progress, Search, Workers
from robot_identification.excitation.problem import TrajectoryProblem
from robot_identification.model.registry import load_robot

from .figures import Figure

# One seed each.
REPEATS = 5
AT = (5.0, 10.0, 30.0)  # [s] of processor time


class _EnoughError(Exception):
    """A search has used its processor time."""


def measure(repeats: int) -> list[Figure]:
    """Return the objective after some processor times, a value for each seed."""
    figures = []
    cases = [
        ('Tika, worse of 60 and 20 samples', load_robot('ur5_tika'), _shipped('tika_2020_ur5')),
        ('UR10, condition number', load_robot('ur10'), _of_a_ur10()),
        ('demo, log determinant', load_robot('ur5'), _shipped('demo')),
    ]
    for name, robot, experiment in cases:
        found = [_search(TrajectoryProblem(robot, experiment), seed)
                 for seed in range(repeats)]
        print(f'{name}: {found}', file=sys.stderr)
        figures += [
            Figure(f'{name}, after {seconds:g} s', '', tuple(bests[k] for bests in found))
            for k, seconds in enumerate(AT)
        ]
    return figures


def _shipped(name: str) -> Experiment:
    return load_experiment(find_experiment(name))


def _of_a_ur10() -> Experiment:
    """Return every limit and all columns: bodies, Coulomb, viscous and rotors, in 10 s."""
    return read_experiment({
        'schema_version': 1, 'periods': 1,
        'trajectory': {'form': 'fourier', 'harmonics': 7, 'base_period': 10.0},
        'friction': 'coulomb,viscous', 'rotor_inertia': True,
        'criterion': 'condition_number', 'samples': 100,
    }, 'ur10')


def _search(problem: TrajectoryProblem, seed: int) -> list[float]:
    """Return the best objective after each of the times."""
    started, bests = time.process_time(), [float('inf')] * len(AT)

    def report(progress: Progress) -> None:
        used = time.process_time() - started
        for k, seconds in enumerate(AT):
            if used <= seconds:
                bests[k] = progress.best
        if used > AT[-1]:
            raise _EnoughError

    with Workers(lambda: problem) as workers:
        try:
            Search(OPTIMIZERS[DEFAULT_OPTIMIZER](), workers, seed, report).run(Budget(10**9))
        except _EnoughError:
            pass
    return bests
