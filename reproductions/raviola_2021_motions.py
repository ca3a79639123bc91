# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Excitation of a UR3 and a UR5 as in Raviola et al. 2021: ground and ceiling, equal budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from reproductions.known_motion import statement
from reproductions.raviola_2021_printed import ROBOTS, TITLES
from reproductions.reproduction import Claim, Table
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.evaluation import evaluate_motion
from robot_identification.excitation.experiment_file import (
    Experiment, find_experiment, load_experiment,
)
from robot_identification.excitation.optimizers.optimizer import Budget
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.registry import load_robot

# As in section 3.2; generations, and how often the search between mountings is repeated: one run
# of a genetic algorithm says little.
POPULATION, GENERATIONS = 300, 12
SEEDS = (0, 1, 2)
# The search of this package's own, for comparison.
OWN_SEARCH, OWN_EVALUATIONS = 'spectral', 150
VALIDATION_SEED, VALIDATION_DRAWS = 7, 200
# "About half": what still counts as that.
HALF, ABOUT = 0.5, 0.1

Designs = Mapping[tuple[str, str, int], Trajectory]


@dataclass(frozen=True, eq=False)
class Motions:
    """
    Designed and drawn motions.

    Attributes
    ----------
    excitation, validation : mapping of str to Trajectory
        By arm, on the ground.
    ceiling : Trajectory
        Excitation of the UR5 that hangs.
    tables : tuple of Table
        Condition numbers.
    claims : tuple of Claim
        About them.

    """

    excitation: Mapping[str, Trajectory]
    validation: Mapping[str, Trajectory]
    ceiling: Trajectory
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]


def experiment_of(name: str, mounting: str = 'ground') -> Experiment:
    """Return the paper's experiment for an arm."""
    suffix = '' if mounting == 'ground' else f'_{mounting}'
    return load_experiment(find_experiment(f'raviola_2021_{name}{suffix}'))


def design(name: str, mounting: str, seed: int) -> Trajectory:
    """Return a motion that the paper's genetic algorithm finds."""
    experiment = replace(
        experiment_of(name, mounting), optimizer='genetic',
        optimizer_options={'population': POPULATION},
    )
    return design_excitation(
        load_robot(name), experiment, seed=seed, budget=Budget(POPULATION * GENERATIONS)
    )


def design_our_way(name: str, mounting: str) -> Trajectory:
    """Return a motion that this package's own search finds in fewer evaluations."""
    experiment = replace(
        experiment_of(name, mounting), optimizer=OWN_SEARCH, optimizer_options={}
    )
    return design_excitation(load_robot(name), experiment, seed=0, budget=Budget(OWN_EVALUATIONS))


def draw_validation(name: str) -> Trajectory:
    """Return a motion of random coefficients within the same bounds (section 5)."""
    experiment = replace(experiment_of(name), optimizer='random', optimizer_options={})
    return design_excitation(
        load_robot(name), experiment, seed=VALIDATION_SEED, budget=Budget(VALIDATION_DRAWS)
    )


def condition(name: str, mounting: str, trajectory: Trajectory) -> float:
    """Return the condition number of a motion in a mounting, at 125 samples a second."""
    experiment = experiment_of(name, mounting)
    robot = load_robot(name).with_gravity(experiment.gravity)
    return evaluate_motion(robot, experiment, trajectory).dense['condition_number']


def find_motions(report: Callable[[float], None]) -> Motions:
    """Design and draw all motions; `report` is given the share that is done."""
    wanted = [('ur5', mounting, seed) for seed in SEEDS for mounting in ('ground', 'ceiling')]
    wanted.append(('ur3', 'ground', SEEDS[0]))
    designs: dict[tuple[str, str, int], Trajectory] = {}
    for number, (name, mounting, seed) in enumerate(wanted):
        report(number / (len(wanted) + 2))
        designs[name, mounting, seed] = design(name, mounting, seed)
    ours = {}
    for number, mounting in enumerate(('ground', 'ceiling')):
        report((len(wanted) + number) / (len(wanted) + 2))
        ours[mounting] = design_our_way('ur5', mounting)
    first = SEEDS[0]
    # Motions on the ground and under the ceiling by the condition numbers in either mounting.
    crossed = {
        (made_for, mounting): condition('ur5', mounting, designs['ur5', made_for, first])
        for made_for in ('ground', 'ceiling') for mounting in ('ground', 'ceiling')
    }
    table, ratios = _condition_table(designs, ours)
    return Motions(
        {name: designs[name, 'ground', first] for name in ROBOTS},
        {name: draw_validation(name) for name in ROBOTS},
        designs['ur5', 'ceiling', first],
        (table, _crossed_table(crossed)),
        _ratio_claims(ratios),
    )


def _found(name: str, mounting: str, trajectory: Trajectory) -> tuple[int, float]:
    """Return evaluations of a search, and the condition number of what it found."""
    return (
        int(trajectory.certificate['search']['evaluations']),
        condition(name, mounting, trajectory),
    )


def _condition_table(
    designs: Designs, ours: Mapping[str, Trajectory]
) -> tuple[Table, list[float]]:
    rows: list[tuple[str | float | int | None, ...]] = []
    ratios = []
    for seed in SEEDS:
        evaluations, ground = _found('ur5', 'ground', designs['ur5', 'ground', seed])
        _, ceiling = _found('ur5', 'ceiling', designs['ur5', 'ceiling', seed])
        ratios.append(ceiling / ground)
        rows.append((
            f'UR5, genetic, {POPULATION} individuals, seed {seed}', evaluations, ground, ceiling,
            ceiling / ground,
        ))
    evaluations, ground = _found('ur5', 'ground', ours['ground'])
    _, ceiling = _found('ur5', 'ceiling', ours['ceiling'])
    ratios.append(ceiling / ground)
    rows.append((
        f'UR5, {OWN_SEARCH}, this package', evaluations, ground, ceiling, ceiling / ground
    ))
    evaluations, ground = _found('ur3', 'ground', designs['ur3', 'ground', SEEDS[0]])
    rows.append((
        f'UR3, genetic, {POPULATION} individuals, seed {SEEDS[0]}', evaluations, ground, None, None
    ))
    return Table(
        'conditions', 'Condition numbers of excitation, ground and ceiling (section 3.2)',
        ('search', 'evaluations of each', 'ground', 'ceiling', 'ceiling over ground'),
        tuple(rows),
        'Base parameters in standard Denavit-Hartenberg frames, SI units, 125 samples a second. '
        'The paper prints no condition numbers, only "about half".',
    ), ratios


def _crossed_table(crossed: Mapping[tuple[str, str], float]) -> Table:
    return Table(
        'crossed', 'The same two motions of the UR5 under either gravity',
        ('motion designed for', 'condition number on the ground', 'under the ceiling'),
        tuple(
            (made_for, crossed[made_for, 'ground'], crossed[made_for, 'ceiling'])
            for made_for in ('ground', 'ceiling')
        ),
    )


def _ratio_claims(ratios: list[float]) -> tuple[Claim, ...]:
    middle = float(np.median(ratios))
    found = f'{middle:.2f} ({min(ratios):.2f} to {max(ratios):.2f})'
    what = f'condition number of the {TITLES["ur5"]} under the ceiling over that on the ground'
    return (
        statement(
            f'{what}: below one', 'yes', f'in {sum(ratio < 1.0 for ratio in ratios)} of '
            f'{len(ratios)} pairs of searches', max(ratios) < 1.0,
            'equal evaluations in every pair',
        ),
        statement(
            what, 'about 0.5', found, abs(middle - HALF) <= ABOUT,
            'median and range of the pairs; the paper prints no condition numbers, and one run of '
            'each search',
        ),
    )
