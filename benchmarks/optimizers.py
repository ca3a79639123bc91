# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The optimizers on one experiment, with the same time and processes, over several seeds."""

from __future__ import annotations

from dataclasses import replace
import sys

from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.optimizers import OPTIMIZERS
from robot_identification.excitation.optimizers.search import Budget
from robot_identification.model.registry import load_robot
from robot_identification.parallel import available_processors

from .figures import Figure

# One seed each.
REPEATS = 5
SECONDS = 30.0
EXPERIMENT, ROBOT = 'tika_2020_ur5', 'ur5_tika'
COMPARED = ('spectral', 'memetic', 'genetic')


def measure(repeats: int) -> list[Figure]:
    """Return dense condition numbers and evaluations of each optimizer."""
    experiment, robot = load_experiment(find_experiment(EXPERIMENT)), load_robot(ROBOT)
    figures = []
    for name in COMPARED:
        assert name in OPTIMIZERS
        found = []
        for seed in range(repeats):
            trajectory = design_excitation(
                robot, replace(experiment, optimizer=name, optimizer_options={}), seed=seed,
                budget=Budget(10**9, SECONDS), processes=available_processors(),
            )
            found.append(trajectory.certificate)
            print(f'{name} seed {seed}: {found[-1]["search"]["objective"]}', file=sys.stderr)
        figures += [
            Figure(f'{name}: worst condition number of 60 and 20 samples', '', tuple(
                certificate['search']['objective'] for certificate in found
            )),
            Figure(f'{name}: condition number, dense', '', tuple(
                certificate['criteria_dense']['condition_number'] for certificate in found
            )),
            Figure(f'{name}: evaluations', '', tuple(
                float(certificate['search']['evaluations']) for certificate in found
            )),
        ]
    return figures
