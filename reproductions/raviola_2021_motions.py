# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Excitation of a UR3 and a UR5 as in Raviola et al. 2021: ground and ceiling, equal budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from reproductions.pieces import Pieces
from reproductions.raviola_2021_printed import ROBOTS, TITLES
from reproductions.reproduction import Claim, Control, statement, Table
from reproductions.seeds import compare_ratios, interval_of, ratios_to_itself, TEN_SEEDS
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.evaluation import evaluate_motion
from robot_identification.excitation.experiment import Experiment
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.optimizers import DEFAULT_OPTIMIZER
from robot_identification.excitation.optimizers.search import Budget
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.registry import load_robot

# Population as in section 3.2. Generations are few, so that ten seeds take minutes; one run of a
# genetic algorithm says little.
POPULATION, GENERATIONS = 300, 6
# Evaluations of this package's own search, for comparison.
OWN_EVALUATIONS = 100
VALIDATION_SEED, VALIDATION_DRAWS = 7, 200
# "About half": what still counts as that.
HALF, ABOUT = 0.5, 0.1
GENETIC, OWN = 'genetic', DEFAULT_OPTIMIZER


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
    found : mapping of str to tuple of Trajectory
        Excitation on the ground by arm, with every seed.
    tables : tuple of Table
        Condition numbers.
    claims : tuple of Claim
        About them.

    """

    excitation: Mapping[str, Trajectory]
    validation: Mapping[str, Trajectory]
    ceiling: Trajectory
    found: Mapping[str, tuple[Trajectory, ...]]
    tables: tuple[Table, ...]
    claims: tuple[Claim, ...]


def experiment_of(name: str, mounting: str = 'ground') -> Experiment:
    """Return the paper's experiment for an arm."""
    suffix = '' if mounting == 'ground' else f'_{mounting}'
    return load_experiment(find_experiment(f'raviola_2021_{name}{suffix}'))


@dataclass(frozen=True, eq=False)
class Design:
    """A motion that a search found, its condition number, and evaluations."""

    trajectory: Trajectory
    condition: float
    evaluations: int


def design(name: str, mounting: str, optimizer: str, seed: int, pieces: Pieces) -> Design:
    """Return the motion of the paper's genetic algorithm, or of the default search."""
    experiment = experiment_of(name, mounting)
    robot = load_robot(name)
    genetic = optimizer == GENETIC
    changed = replace(
        experiment, optimizer=optimizer,
        optimizer_options={'population': POPULATION} if genetic else {},
    )
    evaluations = POPULATION * GENERATIONS if genetic else OWN_EVALUATIONS

    def search() -> dict[str, Any]:
        found = design_excitation(robot, changed, seed=seed, budget=Budget(evaluations))
        return {
            'coefficients': found.coefficients, 'condition': condition(name, mounting, found),
            'evaluations': int(found.certificate['search']['evaluations']),
        }

    found = pieces.get(f'{name}_{mounting}_{optimizer}_{evaluations}_{seed}', search)
    trajectory = Trajectory(
        robot.name, robot.joint_names, experiment.form,
        np.asarray(found['coefficients'], dtype=np.float64), experiment.periods, {},
    )
    return Design(trajectory, found['condition'], found['evaluations'])


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


# By arm, mounting and search: a motion for each seed.
Designs = dict[tuple[str, str, str], tuple[Design, ...]]


def find_motions(report: Callable[[float], None], pieces: Pieces) -> Motions:
    """Design and draw all motions; `report` is given the share that is done."""
    wanted = [
        *(('ur5', mounting, optimizer) for mounting in ('ground', 'ceiling')
          for optimizer in (GENETIC, OWN)),
        ('ur3', 'ground', GENETIC),
    ]
    designs: Designs = {}
    for number, (name, mounting, optimizer) in enumerate(wanted):
        report(number / len(wanted))
        designs[name, mounting, optimizer] = tuple(
            design(name, mounting, optimizer, seed, pieces) for seed in TEN_SEEDS
        )
    first = {
        mounting: designs['ur5', mounting, GENETIC][0].trajectory
        for mounting in ('ground', 'ceiling')
    }
    # Motions on the ground and under the ceiling by the condition numbers in either mounting.
    crossed = {
        (made_for, mounting): condition('ur5', mounting, first[made_for])
        for made_for in ('ground', 'ceiling') for mounting in ('ground', 'ceiling')
    }
    found = {
        name: tuple(one.trajectory for one in designs[name, 'ground', GENETIC])
        for name in ROBOTS
    }
    return Motions(
        {name: motions[0] for name, motions in found.items()},
        {name: draw_validation(name) for name in ROBOTS}, first['ceiling'], found,
        (_condition_table(designs), _crossed_table(crossed)), _ratio_claims(designs),
    )


def _ratios(designs: Designs, optimizer: str) -> list[float]:
    """Return condition numbers under the ceiling over those on the ground, by seed."""
    return [
        ceiling.condition / ground.condition
        for ceiling, ground in zip(
            designs['ur5', 'ceiling', optimizer], designs['ur5', 'ground', optimizer], strict=True
        )
    ]


def _condition_table(designs: Designs) -> Table:
    rows: list[tuple[str | int | None, ...]] = []
    for optimizer, words in (
        (GENETIC, f'UR5, genetic, {POPULATION} individuals'), (OWN, f'UR5, {OWN}, this package'),
    ):
        ground, ceiling = (
            designs['ur5', mounting, optimizer] for mounting in ('ground', 'ceiling')
        )
        rows.append((
            words, max(one.evaluations for one in (*ground, *ceiling)), _spread(ground),
            _spread(ceiling), interval_of(_ratios(designs, optimizer)).words(),
        ))
    small = designs['ur3', 'ground', GENETIC]
    rows.append((
        f'UR3, genetic, {POPULATION} individuals', max(one.evaluations for one in small),
        _spread(small), None, None,
    ))
    return Table(
        'conditions', 'Condition numbers of excitation, ground and ceiling (section 3.2)',
        ('search', 'evaluations of each', 'ground', 'ceiling', 'ceiling over ground'),
        tuple(rows),
        f'Geometric means of {len(TEN_SEEDS)} seeds and their intervals of 95 %. Base parameters '
        'in standard Denavit-Hartenberg frames, SI units, 125 samples a second. The paper prints '
        'no condition numbers, only "about half".',
    )


def _spread(designs: Sequence[Design]) -> str:
    return interval_of([one.condition for one in designs]).words()


def _crossed_table(crossed: Mapping[tuple[str, str], float]) -> Table:
    return Table(
        'crossed', 'The same two motions of the UR5 under either gravity',
        ('motion designed for', 'condition number on the ground', 'under the ceiling'),
        tuple(
            (made_for, crossed[made_for, 'ground'], crossed[made_for, 'ceiling'])
            for made_for in ('ground', 'ceiling')
        ),
    )


def _ratio_claims(designs: Designs) -> tuple[Claim, ...]:
    what = f'condition number of the {TITLES["ur5"]} under the ceiling over that on the ground'
    claims = []
    for optimizer in (GENETIC, OWN):
        ratios = _ratios(designs, optimizer)
        ground = [one.condition for one in designs['ur5', 'ground', optimizer]]
        claims += [
            compare_ratios(
                f'{what}: below one, {optimizer}', 'yes', ratios, ground, why='equal evaluations'
            ),
            half_claim(f'{what}, {optimizer}', ratios, ratios_to_itself(ground)),
        ]
    return tuple(claims)


def _about_half(ratios: Sequence[float]) -> bool | None:
    """Return whether the interval of a mean ratio is about one half; None where it is across."""
    found = interval_of(ratios)
    if HALF - ABOUT <= found.low and found.high <= HALF + ABOUT:
        return True
    return False if found.high < HALF - ABOUT or found.low > HALF + ABOUT else None


def half_claim(what: str, ratios: Sequence[float], same: Sequence[float]) -> Claim:
    """Return the claim that a ratio is about one half, with that of a mounting to itself."""
    return statement(
        what, 'about 0.5', f'{interval_of(ratios).words()}, {len(ratios)} seeds',
        _about_half(ratios),
        'the interval of the mean decides; the paper prints no condition numbers, and one run of '
        'each search', control=Control(
            f'ground over ground, other seeds: {interval_of(same).words()}',
            _about_half(same) is False,
        ),
    )
