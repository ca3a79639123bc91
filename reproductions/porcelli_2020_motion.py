# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The exciting motion of G. Porcelli's thesis: as printed, corrected, and found anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from reproductions import porcelli_2020_data as thesis
from reproductions.pieces import Pieces
from reproductions.porcelli_2020_corrections import conservative_bounds, corrected
from reproductions.porcelli_2020_structure import LINK_NAMES
from reproductions.reproduction import Table
from reproductions.seeds import interval_of, TEN_SEEDS
from robot_identification.arrays import FloatArray
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.experiment import Experiment
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.fourier_table import end_residuals, PRINTED_TOLERANCE
from robot_identification.excitation.information import BaseColumns
from robot_identification.excitation.optimizers.search import Budget
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import Motion

EXPERIMENT = 'porcelli_2020_ur5'
PERIOD = 2.0 * np.pi / thesis.BASE_RATE
# Samples of one period: enough for extrema to 1e-4.
DENSE = 4000
# Slower than this is rest [rad/s]: rounding must not have the direction that friction has.
REST = 1.0e-6
# Of each search by gradients: objective evaluations. After 200 there is a hundredth to gain.
EVALUATIONS = 300
WHOLE_ARM = 'whole arm'


def series(a: FloatArray, b: FloatArray, t: FloatArray, center: FloatArray) -> Motion:
    """
    Return the motion of eq. 3.54 with its true derivatives.

    Parameters
    ----------
    a, b : ndarray, shape (n, 5)
        Coefficients [rad].
    t : ndarray, shape (N,)
        Times [s].
    center : ndarray, shape (n,)
        Positions to move about [rad].

    """
    rate = thesis.BASE_RATE * np.arange(1, a.shape[1] + 1)
    s, c = np.sin(np.outer(t, rate)), np.cos(np.outer(t, rate))
    dq = (c * rate) @ a.T + (s * rate) @ b.T
    dq[np.abs(dq) <= REST] = 0.0
    return Motion(center + s @ a.T - c @ b.T, dq, -(s * rate**2) @ a.T + (c * rate**2) @ b.T)


def derivatives_as_printed(
    a: FloatArray, b: FloatArray, t: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return velocity and acceleration by eq. 3.55 and 3.56 as they stand, shapes (N, n)."""
    rate = thesis.BASE_RATE * np.arange(1, a.shape[1] + 1)
    s, c = np.sin(np.outer(t, rate)), np.cos(np.outer(t, rate))
    return (
        (c * rate) @ a.T - (s * rate) @ b.T, -(s * rate**2) @ a.T - (c * rate**2) @ b.T,
    )


def one_period(samples: int) -> FloatArray:
    """Return even instants of a period without its end, shape (samples,) [s]."""
    return PERIOD * np.arange(samples) / samples


def recorded_instants() -> FloatArray:
    """Return the instants of three periods at 125 Hz [s]; the thesis prints no number of them."""
    return np.arange(round(thesis.PERIODS * PERIOD * thesis.SAMPLING_RATE)) / thesis.SAMPLING_RATE


def ends_table() -> Table:
    """Return what the printed and the corrected coefficients leave of eq. 3.58."""
    printed = end_residuals(thesis.SINES, thesis.COSINES)
    right = end_residuals(*corrected())
    return Table(
        'ends', 'Rest at the ends (thesis eq. 3.58) by tables 4.1 and 4.2',
        ('joint', 'Σ l a_l [rad]', 'Σ l² b_l [rad]', 'velocity at t = 0 [rad/s]',
         'acceleration at t = 0 [rad/s²]', 'at rest', 'Σ l a_l, corrected [rad]',
         'Σ l² b_l, corrected [rad]'),
        tuple(
            (name, _plain(printed[0][k]), _plain(printed[1][k]),
             _plain(thesis.BASE_RATE * printed[0][k]),
             _plain(thesis.BASE_RATE**2 * printed[1][k]),
             'yes' if max(abs(printed[0][k]), abs(printed[1][k])) <= PRINTED_TOLERANCE else 'no',
             _plain(right[0][k]), _plain(right[1][k]))
            for k, name in enumerate(LINK_NAMES)
        ),
        f'Sums up to {PRINTED_TOLERANCE:g} rad are put down to the four printed digits and to the '
        'tolerance of the search, 0.001 by default in MATLAB.',
    )


def _plain(value: float) -> float:
    """Return a number without the rounding of sums."""
    return round(float(value), 9) + 0.0


def bounds_table() -> Table:
    """Return the bounds of eq. 3.57 and what the motion really reaches."""
    printed = conservative_bounds(thesis.SINES, thesis.COSINES, thesis.BASE_RATE)
    bounds = conservative_bounds(*corrected(), thesis.BASE_RATE)
    found = reached(*corrected())
    return Table(
        'bounds', 'Limits (thesis eq. 3.57 and table 2.6) and the motion of tables 4.1 and 4.2',
        ('joint', 'acceleration, bound as printed [rad/s²]',
         'acceleration, bound corrected [rad/s²]', 'acceleration, reached [rad/s²]',
         'velocity, bound [rad/s]', 'velocity, reached [rad/s]', 'position, bound [rad]'),
        tuple(
            (name, *(float(column[k]) for column in (
                printed[2], bounds[2], found[2], bounds[1], found[1], bounds[0],
            )))
            for k, name in enumerate(LINK_NAMES)
        ),
        'Bounds take the amplitudes of all harmonics together, whatever their phases; limits are '
        '2π rad, π rad/s and π rad/s². All but the first column are of the corrected motion.',
    )


def reached(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the largest position off the centre, velocity and acceleration, shapes (n,)."""
    motion = series(a, b, one_period(DENSE), np.zeros(len(a)))
    position, velocity, acceleration = (
        np.abs(values).max(axis=0) for values in (motion.q, motion.dq, motion.ddq)
    )
    return position, velocity, acceleration


def derivative_errors() -> tuple[float, float]:
    """Return how far eq. 3.55 and 3.56 as printed are off the derivatives of eq. 3.54."""
    t = one_period(DENSE)
    true = series(*corrected(), t, np.zeros(thesis.JOINTS))
    velocity, acceleration = derivatives_as_printed(*corrected(), t)
    return float(np.abs(velocity - true.dq).max()), float(np.abs(acceleration - true.ddq).max())


@dataclass(frozen=True)
class Conditions:
    """
    Condition numbers of a group's motions.

    Attributes
    ----------
    printed : float
        The thesis' cost.
    corrected, as_printed : float
        Of Y_B about the positions zero, for the corrected and for the printed coefficients.
    genetic, conservative, exact : tuple of float
        Of Y_B, for motions found here with ten seeds: by a genetic algorithm of the thesis' size
        and by gradients within the bounds of eq. 3.57, and by gradients within what motions
        really reach.

    """

    printed: float
    corrected: float
    as_printed: float
    genetic: tuple[float, ...]
    conservative: tuple[float, ...]
    exact: tuple[float, ...]


def find_conditions(group: str, pieces: Pieces) -> Conditions:
    """Judge the motion of a group and search for others within the same limits."""
    name, joints = thesis.GROUPS[group]
    experiment = load_experiment(find_experiment(EXPERIMENT))
    columns = BaseColumns(load_robot(name), experiment)
    found = {
        kind: pieces.get(f'{group}_{kind}', partial(_search_seeds, columns, changed, evaluations))
        for kind, changed, evaluations in (
            ('genetic', replace(experiment, optimizer='genetic'),
             thesis.INDIVIDUALS * (1 + thesis.GENERATIONS)),
            ('conservative', experiment, EVALUATIONS),
            ('exact', replace(experiment, bounds='sampled'), EVALUATIONS),
        )
    }
    about_zero = [
        condition_at_zero(columns, a[joints], b[joints])
        for a, b in (corrected(), (thesis.SINES, thesis.COSINES))
    ]
    return Conditions(
        thesis.COSTS[group], about_zero[0], about_zero[1], tuple(found['genetic']),
        tuple(found['conservative']), tuple(found['exact']),
    )


def find_whole_arm(pieces: Pieces) -> tuple[float, ...]:
    """Return the condition numbers of motions for all six joints at once, by gradients."""
    experiment = load_experiment(find_experiment(EXPERIMENT))
    columns = BaseColumns(load_robot('ur5_porcelli'), experiment)
    return tuple(pieces.get(
        'whole_arm', partial(_search_seeds, columns, experiment, EVALUATIONS)
    ))


def condition_at_zero(columns: BaseColumns, a: FloatArray, b: FloatArray) -> float:
    """Return cond(Y_B) of a motion about the positions zero, at the thesis' instants."""
    return float(np.linalg.cond(
        columns.matrix(series(a, b, recorded_instants(), np.zeros(len(a))))
    ))


def _search_seeds(
    columns: BaseColumns, experiment: Experiment, evaluations: int
) -> list[float]:
    """Return cond(Y_B) of the best motion of every seed, at the thesis' instants."""
    found = []
    for seed in TEN_SEEDS:
        best = design_excitation(columns.robot, experiment, seed=seed, budget=Budget(evaluations))
        found.append(float(np.linalg.cond(columns.matrix(best.sample(recorded_instants())))))
    return found


def conditions_table(found: dict[str, Conditions], whole: tuple[float, ...]) -> Table:
    """Return condition numbers, printed and found."""
    rows: list[tuple[str | float | None, ...]] = [
        (group, one.printed, one.corrected, one.as_printed, one.corrected**2,
         *(interval_of(values).words()
           for values in (one.genetic, one.conservative, one.exact)))
        for group, one in found.items()
    ]
    rows.append((WHOLE_ARM, None, None, None, None, None, interval_of(whole).words(), None))
    return Table(
        'conditions', 'Cost of the exciting motions: condition numbers',
        ('group', 'printed cost', 'cond(Y_B), corrected, q0 = 0', 'cond(Y_B), as printed, q0 = 0',
         "cond(Y_B' Y_B), corrected, q0 = 0",
         'cond(Y_B), genetic, same limits', 'cond(Y_B), gradients, same limits',
         'cond(Y_B), gradients, exact limits'),
        tuple(rows),
        f'Base sets of the thesis, SI units. Searches: geometric mean of {len(TEN_SEEDS)} seeds '
        f'and its interval of 95 %. Genetic: {thesis.INDIVIDUALS} individuals and '
        f'{thesis.GENERATIONS} generations as in the thesis; gradients: {EVALUATIONS} '
        'evaluations, the centre among the unknowns. Same limits: eq. 3.57; exact limits: what '
        'the motion reaches.',
    )
