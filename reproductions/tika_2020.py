# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tika et al. on a UR5: base list, memetic excitation, ordinary and constrained least squares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from reproductions import tika_2020_printed as paper
from reproductions.pieces import Pieces
from reproductions.reproduction import Cell, Picture, Report, Reproduction, Table
from reproductions.seeds import interval_of
from reproductions.tika_2020_arm import (
    Fit, identify_both, identify_by_default, least_inertia, load_unseen, NOISE_SEEDS,
    normalized_errors, simulated_arm, SMALL_ROTORS, smooth_torque, Trial, try_arm,
)
from reproductions.tika_2020_figures import draw_motion, draw_path, draw_search, draw_torques
from reproductions.tika_2020_findings import find_claims, Findings, MISPRINTS
from reproductions.tika_2020_rotors import RotorRun, try_motions
from reproductions.tika_2020_search import (
    certified, EVALUATIONS, Found, limit_uses, motion_of, POPULATION, ROBOT, SEARCH_SEEDS,
    search_seeds, Searches,
)
from reproductions.tika_2020_structure import (
    base_table, count_base, links_table, rules_apart, unit_deviations,
)
from robot_identification.arrays import FloatArray
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.registry import load_robot
from robot_identification.model.robot_model import RobotModel

TITLE = 'Tika et al. 2020: a UR5 and a memetic excitation'
REFERENCE = (
    'A. Tika, J. Ulmen and N. Bajcinca, "Dynamic parameter estimation utilizing optimized '
    'trajectories", Technische Universität Kaiserslautern, 2020'
)
JOINTS = 6
# Periods of the second arm, whose table needs no more.
FEW_PERIODS = 5
# Standard errors that an estimate is hardly ever off by where its model is right.
BEYOND = 3.0
LARGE_ROTORS = 'arm of table III with large rotors'
# Gravity on a wall [m/s^2], for controls: not along the first axis.
WALL = (0.0, -9.81, 0.0)


@dataclass(frozen=True, eq=False)
class Experiment:
    """
    The recorded arm: what was fitted and what was kept back.

    Attributes
    ----------
    fit : Fit
        From the optimized motion.
    theta_true : ndarray, shape (52,)
        True base parameters.
    errors : mapping of str to (ndarray of shape (6,), float)
        Normalized errors of joints and in total, by the headings of the paper's table III.
    pictures : tuple of Picture
        Figure 5.
    large_rotors : Fit
        From the same motion of an arm with larger rotor inertias.
    large_true : ndarray, shape (52,)
        True base parameters of that one.
    trials : tuple of Trial
        What makes parameters wrong.
    beyond_errors : int
        Inertial parameters three standard errors and more from their truth, by ordinary least
        squares.

    """

    fit: Fit
    theta_true: FloatArray
    errors: dict[str, tuple[FloatArray, float]]
    pictures: tuple[Picture, ...]
    large_rotors: Fit
    large_true: FloatArray
    trials: tuple[Trial, ...]
    beyond_errors: int


def reproduce(report: Report, pieces: Pieces) -> Reproduction:
    """
    Return the paper's results beside those of the simulated arm.

    Parameters
    ----------
    report : callable
        Is told the share that is done, from 0 to 1, and the stage.
    pieces : Pieces
        Where searches that were done before are found.

    """
    robot = load_robot(ROBOT)
    searches = search_seeds(robot, lambda share, stage: report(0.6 * share, stage), pieces)
    report(0.6, 'base parameters')
    motions = motions_found(robot, searches)
    excitation = certified(robot, searches[0].memetic)
    unseen = motion_of(robot, searches[0].random)
    deviations = tuple(
        unit_deviations(robot, motion_of(robot, one.memetic)) for one in searches
    )
    report(0.65, 'rotor inertias')
    runs = try_motions(robot, motions, pieces)
    report(0.8, 'simulated arm')
    with TemporaryDirectory() as folder:
        done = run_experiment(robot, excitation, unseen, Path(folder))
    report(0.95, 'figures')
    findings = find(searches, deviations, runs, done)
    memetic, random = searches[0].memetic, searches[0].random
    return Reproduction(
        'tika_2020',
        (
            links_table(robot), base_table(robot, deviations[0], done.fit, done.theta_true),
            search_table(memetic, random), seeds_table(searches), limits_table(excitation),
            errors_table(done), rotors_table(done), runs_table(runs, motions), inertia_table(done),
            causes_table(done),
        ),
        (
            draw_search(memetic, random), draw_motion(excitation), draw_path(robot, excitation),
            *done.pictures,
        ),
        find_claims(findings),
        MISPRINTS,
    )


def run_experiment(
    robot: RobotModel, excitation: Trajectory, unseen: Trajectory, folder: Path
) -> Experiment:
    """
    Record both motions on the simulated arm, fit one, and predict both.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    excitation, unseen : Trajectory
        Motions to estimate from and to validate with.
    folder : Path
        For the bags.

    """
    arm = simulated_arm(robot, SMALL_ROTORS)
    arm.record(excitation, folder / 'estimation', NOISE_SEEDS[0])
    arm.record(unseen, folder / 'validation', NOISE_SEEDS[1])
    fit = identify_both(arm, folder / 'estimation')
    dataset, problem = load_unseen(fit.model, folder / 'validation')
    by_method = {name: fit.models[name] for name in ('OLS', 'CLS')}
    errors = {
        f'{data}, {method}': normalized_errors(rows, model.theta_base)
        for data, rows in (('estimation', fit.problem), ('validation', problem))
        for method, model in by_method.items()
    }
    # The second period: the first begins with the drive catching up.
    size = round(paper.PERIOD * paper.RATE)
    period = slice(size, 2 * size)
    pictures = tuple(
        draw_torques(
            f'torques_{letter}', f'Figure 5 ({letter}): {method} on the {motion} motion',
            smooth_torque(data, robot)[period],
            by_method[method].torque(data.motion)[period], robot.joint_names,
        )
        for letter, method, motion, data in (
            ('a', 'CLS', 'optimized', fit.dataset), ('b', 'OLS', 'optimized', fit.dataset),
            ('c', 'OLS', 'validation', dataset),
        )
    )
    short = Trajectory(
        excitation.robot, excitation.joint_names, excitation.form, excitation.coefficients,
        FEW_PERIODS, {},
    )
    trials = [try_arm('arm of table III, OLS', arm, fit.ordinary_model)]
    large = simulated_arm(robot, 1.0)
    others = {**arm.with_simpler_friction(), LARGE_ROTORS: large}
    fits = {}
    for number, (name, other) in enumerate(others.items()):
        other.record(short, folder / f'other_{number}', NOISE_SEEDS[0])
        fits[name] = identify_both(other, folder / f'other_{number}')
        trials.append(try_arm(f'{name}, OLS', other, fits[name].ordinary_model))
    trials.append(try_arm(
        'arm of table III, identify by default', arm,
        identify_by_default(arm, folder / 'estimation'),
    ))
    second = fits[LARGE_ROTORS]
    inertial = fit.model.reduction.independent < 10 * robot.n
    apart = np.abs(arm.inertial_errors(fit.ordinary_model))
    return Experiment(
        fit, arm.true_values(fit.model), errors, pictures, second,
        large.true_values(second.model), tuple(trials),
        int(np.sum(apart > BEYOND * fit.ordinary_model.standard_errors[inertial])),
    )


def find(
    searches: tuple[Searches, ...], deviations: tuple[FloatArray, ...],
    runs: dict[str, tuple[RotorRun, ...]], done: Experiment,
) -> Findings:
    """Return the numbers that claims are made of."""
    fit, robot = done.fit, load_robot(ROBOT)
    wall = robot.with_gravity(WALL)
    return Findings(
        base=fit.model.reduction.rank,
        drives=count_drives(fit.model.reduction.names),
        controls={
            'base': count_base(wall), 'inertial': count_base(wall, drives=False),
            'friction': count_drives(count_names(robot, 'viscous'))['friction'],
            'rotors': count_drives(
                count_names(load_robot('ur5_porcelli_bse'), 'coulomb_sign,viscous')
            )['rotors'],
            'rows': int(done.large_rotors.problem.samples.sum()),
        },
        rules=(rules_apart(robot, wall=False), rules_apart(robot, wall=True)),
        searches=searches,
        deviations=deviations,
        errors=done.errors,
        runs=runs,
        inertia={name: least_inertia(model)[1] for name, model in fit.models.items()},
        beyond_errors=done.beyond_errors,
        rows=int(fit.problem.samples.sum()),
    )


def count_drives(names: tuple[str, ...]) -> dict[str, int]:
    """Return how many of some base parameters are of friction and of rotors."""
    return {
        kind: sum(name.startswith(symbols) for name in names)
        for kind, symbols in (('friction', ('fc', 'fv')), ('rotors', ('Ia',)))
    }


def count_names(robot: RobotModel, friction: str) -> tuple[str, ...]:
    """Return the base parameters of an arm with some friction and rotors."""
    parameters = make_standard_parameters(robot.n, parse_friction(friction), True)
    return reduce_to_base(robot, parameters).names


def seeds_table(searches: tuple[Searches, ...]) -> Table:
    """Return the condition numbers of every seed, and their means."""
    kinds = ('memetic', 'random', 'default')
    found = {
        kind: [getattr(one, kind) for one in searches] for kind in kinds
    }
    rows: list[tuple[Cell, ...]] = [
        (str(seed), *(found[kind][place].condition for kind in kinds),
         *(found[kind][place].dense for kind in kinds))
        for place, seed in enumerate(SEARCH_SEEDS)
    ]
    rows.append((
        'mean and interval of 95 %',
        *(interval_of([one.condition for one in found[kind]]).words() for kind in kinds),
        *(interval_of([one.dense for one in found[kind]]).words() for kind in kinds),
    ))
    rows.append(('paper', paper.MEMETIC_CONDITION, paper.RANDOM_CONDITION, *4 * (None,)))
    return Table(
        'seeds', 'Condition numbers of three searches with ten seeds',
        ('seed', 'memetic', 'random starts only', 'default of this package',
         'memetic, 125 Hz', 'random starts only, 125 Hz', 'default, 125 Hz'),
        tuple(rows),
        f'{EVALUATIONS} evaluations of each search; {POPULATION} local searches in a generation, '
        'where the paper has 100. At the 20 samples that are optimized, and at 125 Hz. Means are '
        'geometric.',
    )


def motions_found(robot: RobotModel, searches: Sequence[Searches]) -> dict[str, Trajectory]:
    """Return the motions that the three searches found with every seed, by search and seed."""
    return {
        f'{kind} {seed}': motion_of(robot, getattr(one, kind))
        for kind in ('memetic', 'random', 'default')
        for seed, one in zip(SEARCH_SEEDS, searches, strict=True)
    }


def runs_table(runs: dict[str, tuple[RotorRun, ...]], motions: Iterable[str]) -> Table:
    """Return what least squares make of rotor inertias with every motion."""
    rows: list[tuple[Cell, ...]] = [
        (
            f'{arm}, {motion}', min(run.ordinary), min(run.constrained),
            100.0 * (run.cost - 1.0) if min(run.ordinary) < 0.0 else None, run.poses,
        )
        for arm, found in runs.items() for motion, run in zip(motions, found, strict=True)
    ]
    return Table(
        'runs', 'Least rotor inertia of joints 3 to 6 with the motion of every search and seed',
        ('arm and motion', 'OLS [kg m²]', 'CLS [kg m²]', 'CLS above OLS in total error [%]',
         'poses where the mass matrix of OLS is not positive definite, of 1000'),
        tuple(rows),
        'One period each; a dash where the bound does not bind. The plain arm has small rotors, '
        'no friction that grows with the load and joints that do not stick.',
    )


def search_table(memetic: Found, random: Found) -> Table:
    """Return what each generation of both searches found."""
    rows: list[tuple[Cell, ...]] = [
        (
            f'{name} {number}', 'random' if generation.is_random else 'memetic',
            len(generation.solutions), generation.feasible,
            generation.best if np.isfinite(generation.best) else None, generation.evaluations,
        )
        for name, found in (('memetic', memetic), ('random only', random))
        for number, generation in enumerate(found.generations, start=1)
    ]
    return Table(
        'search', 'Figure 2 in numbers: generations of both searches',
        ('generation', 'starts', 'solutions', 'within limits', 'best so far', 'evaluations'),
        tuple(rows),
        'Both have their first four generations in common. Near copies of solutions are counted '
        'once under "solutions". The last generation of each is cut off where the evaluations '
        'end, and of it only the best solution is counted.',
    )


def limits_table(trajectory: Trajectory) -> Table:
    """Return how far the motion uses each kind of limit, checked at 1 kHz and at extrema."""
    return Table(
        'limits', 'Equations 28 to 30: the largest use of each kind of limit',
        ('limit', 'joint', 'value', 'allowed', 'share'),
        tuple(
            (kind, use['joint'], use['value'], use['limit'], use['share'])
            for kind, use in limit_uses(trajectory).items()
        ),
        'Position in rad, velocity in rad/s, acceleration in rad/s², torque in N m; torque limits '
        'are ours, the paper has none.',
    )


def errors_table(done: Experiment) -> Table:
    """Return table III beside ours."""
    names = tuple(paper.ERRORS)
    rows: list[tuple[Cell, ...]] = [
        (
            joint + 1,
            *(
                value for name in names
                for value in (paper.ERRORS[name][joint], float(done.errors[name][0][joint]))
            ),
        )
        for joint in range(JOINTS)
    ]
    rows.append((
        'total', *(value for name in names for value in (paper.TOTALS[name], done.errors[name][1]))
    ))
    rows.append((
        'total from joints',
        *(
            value for name in names
            for value in (
                total_of(paper.ERRORS[name]), total_of(tuple(done.errors[name][0]))
            )
        ),
    ))
    return Table(
        'errors', 'Table III: normalized errors [N m]',
        ('joint', *(column for name in names for column in (f'{name}, paper', name))),
        tuple(rows),
        'The last row is the root of the sum of squares of the joints, over six. Times the root '
        'of 25000 these are RMS errors: 0.0143 is 2.3 N m.',
    )


def total_of(joints: tuple[float, ...]) -> float:
    """Return the total that follows from the normalized errors of the joints [N m]."""
    return float(np.sqrt(np.sum(np.square(joints))) / len(joints))


def rotors_table(done: Experiment) -> Table:
    """Return the rotor inertias that stand alone, of both arms."""
    rows: list[tuple[Cell, ...]] = []
    for arm, fit, truth in (
        ('small rotors', done.fit, done.theta_true),
        ('large rotors', done.large_rotors, done.large_true),
    ):
        true, free, bound = (
            fit.rotor_inertias(theta)
            for theta in (truth, fit.ordinary.theta, fit.model.theta_base)
        )
        rows += [(f'{arm}, {name}', true[name], free[name], bound[name]) for name in true]
    return Table(
        'rotors', 'Rotor inertias of joints 3 to 6 [kg m²]',
        ('arm', 'true', 'OLS', 'CLS'), tuple(rows),
        'Those of joints 1 and 2 are in a sum with link inertias (rows 1 and 6 of table II) and '
        'have no bound. The large rotors have twenty times the inertia of the small ones; that '
        'arm moved for five periods.',
    )


def inertia_table(done: Experiment) -> Table:
    """Return whether the mass matrix is positive definite, by both estimates."""
    rows: list[tuple[Cell, ...]] = [
        (method, *least_inertia(model)) for method, model in done.fit.models.items()
    ]
    return Table(
        'inertia', 'Mass matrix in 1000 random poses',
        ('method', 'smallest eigenvalue [kg m²]', 'poses not positive definite'), tuple(rows),
        'The last row has physically consistent bodies, which this package found from the same '
        'recording.',
    )


def causes_table(done: Experiment) -> Table:
    """Return how wrong the parameters of several arms are."""
    return Table(
        'causes', 'What makes parameters wrong',
        (
            'arm and method', 'RMS error of inertial parameters', 'largest error',
            'negative rotor inertias', 'poses not positive definite',
        ),
        tuple(
            (trial.name, trial.rms, trial.largest, trial.negative, trial.poses)
            for trial in done.trials
        ),
        'Errors of the 36 inertial base parameters, SI units. Arms other than the first moved for '
        'five periods. The last row is the recording of the first, with friction chosen from the '
        'data.',
    )
