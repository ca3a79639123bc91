# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The exciting motion of G. Porcelli's thesis: as printed, checked, and found anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from reproductions import porcelli_2020_data as thesis
from reproductions.porcelli_2020_structure import LINK_NAMES
from reproductions.reproduction import Table
from robot_identification.arrays import FloatArray
from robot_identification.excitation.base_columns import BaseColumns
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.experiment_file import (
    Experiment, find_experiment, load_experiment,
)
from robot_identification.excitation.fourier_conventions import (
    conservative_bounds, end_residuals, nearest_at_rest, PRINTED_TOLERANCE,
)
from robot_identification.excitation.optimizers.optimizer import Budget
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import Motion
import scipy

EXPERIMENT = 'porcelli_2020_ur5'
PERIOD = 2.0 * np.pi / thesis.BASE_RATE
# Samples of one period: enough for extrema to 1e-4, and for condition numbers to four digits.
DENSE, SAMPLES = 4000, 100
GRID = 16
# Slower than this is rest [rad/s]: rounding must not have the direction that friction has.
REST = 1.0e-6
# Of the searches: objective evaluations, so that every machine finds the same.
EVALUATIONS = 2000
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
    """Return the thesis' instants: three periods at 125 Hz, 2500 of them [s]."""
    return np.arange(round(thesis.PERIODS * PERIOD * thesis.SAMPLING_RATE)) / thesis.SAMPLING_RATE


def repaired() -> tuple[FloatArray, FloatArray]:
    """Return the coefficients at rest at both ends that are nearest to the printed ones."""
    return nearest_at_rest(thesis.SINES, thesis.COSINES)


def ends_table() -> Table:
    """Return what the printed coefficients leave of eq. 3.58."""
    velocity, acceleration = end_residuals(thesis.SINES, thesis.COSINES)
    a, b = repaired()
    changed = np.maximum(
        np.abs(a - thesis.SINES).max(axis=1), np.abs(b - thesis.COSINES).max(axis=1)
    )
    return Table(
        'ends', 'Rest at the ends (thesis eq. 3.58) by tables 4.1 and 4.2',
        ('joint', 'Σ l a_l [rad]', 'Σ l² b_l [rad]', 'velocity at t = 0 [rad/s]',
         'acceleration at t = 0 [rad/s²]', 'at rest', 'largest change of the repair [rad]'),
        tuple(
            (name, round(float(velocity[k]), 9) + 0.0, round(float(acceleration[k]), 9) + 0.0,
             round(float(thesis.BASE_RATE * velocity[k]), 9) + 0.0,
             round(float(thesis.BASE_RATE**2 * acceleration[k]), 9) + 0.0,
             'yes' if max(abs(velocity[k]), abs(acceleration[k])) <= PRINTED_TOLERANCE else 'no',
             float(changed[k]))
            for k, name in enumerate(LINK_NAMES)
        ),
        f'Sums up to {PRINTED_TOLERANCE:g} rad are put down to the four printed digits.',
    )


def bounds_table() -> Table:
    """Return the bounds of eq. 3.57 and what the motion really reaches."""
    bounds = conservative_bounds(thesis.SINES, thesis.COSINES, thesis.BASE_RATE)
    printed = reached(thesis.SINES, thesis.COSINES)
    mended = reached(*repaired())
    return Table(
        'bounds', 'Limits (thesis eq. 3.57 and table 2.6) and the motion of tables 4.1 and 4.2',
        ('joint', 'position, bound [rad]', 'velocity, bound [rad/s]', 'velocity, reached',
         'acceleration, bound [rad/s²]', 'acceleration, reached',
         'acceleration, reached when repaired'),
        tuple(
            (name, *(float(column[k]) for column in (
                bounds[0], bounds[1], printed[1], bounds[2], printed[2], mended[2],
            )))
            for k, name in enumerate(LINK_NAMES)
        ),
        'Bounds take the amplitudes of all harmonics together, whatever their phases; limits are '
        '2π rad, π rad/s and π rad/s². Positions are those off the centre, which is not printed.',
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
    true = series(thesis.SINES, thesis.COSINES, t, np.zeros(thesis.JOINTS))
    velocity, acceleration = derivatives_as_printed(thesis.SINES, thesis.COSINES, t)
    return float(np.abs(velocity - true.dq).max()), float(np.abs(acceleration - true.ddq).max())


@dataclass(frozen=True)
class Conditions:
    """
    Condition numbers of a group's motions.

    Attributes
    ----------
    printed : float
        The thesis' cost.
    best, worst : float
        Of Y_B, for the printed coefficients about the best and the worst centre.
    squared : float
        Of Y_B' Y_B about the best centre.
    center : ndarray, shape (n,)
        The best centre [rad].
    genetic, conservative, exact : float
        Of Y_B, for motions found here: by a genetic algorithm of the thesis' size and by gradients
        within the bounds of eq. 3.57, and by gradients within what motions really reach.

    """

    printed: float
    best: float
    worst: float
    squared: float
    center: FloatArray
    genetic: float
    conservative: float
    exact: float


def find_conditions(group: str, report: Callable[[], None]) -> Conditions:
    """Judge the printed motion of a group and search for others within the same limits."""
    name, joints = thesis.GROUPS[group]
    robot = load_robot(name)
    experiment = load_experiment(find_experiment(EXPERIMENT))
    columns = BaseColumns(robot, experiment)
    best, worst, center = _about_centers(columns, joints)
    report()
    found = []
    for changed, evaluations in (
        (replace(experiment, optimizer='genetic'), thesis.INDIVIDUALS * (1 + thesis.GENERATIONS)),
        (experiment, EVALUATIONS),
        (replace(experiment, bounds='sampled'), EVALUATIONS),
    ):
        found.append(_search(columns, changed, evaluations))
        report()
    return Conditions(
        thesis.COSTS[group], best, worst, best**2, center, found[0], found[1], found[2]
    )


def find_whole_arm() -> float:
    """Return the condition number of a motion for all six joints at once, by gradients."""
    experiment = load_experiment(find_experiment(EXPERIMENT))
    columns = BaseColumns(load_robot('ur5_porcelli'), experiment)
    return _search(columns, experiment, EVALUATIONS)


def _about_centers(columns: BaseColumns, joints: slice) -> tuple[float, float, FloatArray]:
    """Return best and worst condition number over the centre, and the best centre."""
    a, b, t = thesis.SINES[joints], thesis.COSINES[joints], one_period(SAMPLES)

    def condition(last: FloatArray) -> float:
        # The first axis is vertical: where it stands does not matter.
        center = np.concatenate([[0.0], last])
        return float(np.linalg.cond(columns.matrix(series(a, b, t, center))))

    angles = np.linspace(-np.pi, np.pi, GRID, endpoint=False)
    tried = [(condition(np.array([x, y])), x, y) for x in angles for y in angles]
    found = scipy.optimize.minimize(
        condition, min(tried)[1:], method='Nelder-Mead', options={'xatol': 1e-4, 'fatol': 1e-4}
    )
    return float(found.fun), max(tried)[0], np.concatenate([[0.0], found.x])


def _search(columns: BaseColumns, experiment: Experiment, evaluations: int) -> float:
    """Return cond(Y_B) of the best motion found, at the thesis' instants."""
    found = design_excitation(
        columns.robot, experiment, seed=0, budget=Budget(evaluations)
    )
    return float(np.linalg.cond(columns.matrix(found.sample(recorded_instants()))))


def conditions_table(found: dict[str, Conditions], whole: float) -> Table:
    """Return condition numbers, printed and found."""
    rows: list[tuple[str | float | None, ...]] = [
        (group, one.printed, one.best, one.worst, one.squared, one.genetic, one.conservative,
         one.exact)
        for group, one in found.items()
    ]
    rows.append((WHOLE_ARM, None, None, None, None, None, whole, None))
    return Table(
        'conditions', 'Cost of the exciting motions: condition numbers',
        ('group', 'printed cost', 'cond(Y_B), printed motion, best centre',
         'cond(Y_B), worst centre', "cond(Y_B' Y_B), best centre",
         'cond(Y_B), genetic, same limits', 'cond(Y_B), gradients, same limits',
         'cond(Y_B), gradients, exact limits'),
        tuple(rows),
        f'Base sets of the thesis, SI units. Genetic: {thesis.INDIVIDUALS} individuals and '
        f'{thesis.GENERATIONS} generations as in the thesis; gradients: {EVALUATIONS} '
        'evaluations. Same limits: eq. 3.57; exact limits: what the motion reaches.',
    )
