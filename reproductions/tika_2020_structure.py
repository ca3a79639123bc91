# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The base list of Tika et al.: expressions, order, standard deviations."""

from __future__ import annotations

import numpy as np
from reproductions import tika_2020_printed as paper
from reproductions.gautier_khalil import regroup
from reproductions.reproduction import Cell, Table
from reproductions.tika_2020_arm import Fit
from reproductions.tika_2020_search import paper_experiment
from robot_identification.arrays import FloatArray
from robot_identification.excitation.information import BaseColumns, standard_errors
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.base_parameters import BaseReduction, reduce_to_base
from robot_identification.model.base_structure import (
    find_symbols, PUBLISHED_ORDERS, published_rows, to_text,
)
from robot_identification.model.frames import link_frames
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters, split_name
from robot_identification.model.robot_model import RobotModel


def unit_deviations(robot: RobotModel, trajectory: Trajectory) -> FloatArray:
    """Return equation 33 for the planned motion in the order of table II, shape (52,)."""
    columns = BaseColumns(robot, paper_experiment())
    t = np.arange(0.0, paper.PERIOD, 1.0 / paper.RATE)
    W = columns.matrix(trajectory.sample(t))
    found = standard_errors(W) * np.sqrt(len(W) / robot.n / paper.SAMPLES)
    ordered: FloatArray = found[rows_of_paper(columns.reduction)]
    return ordered


def count_base(robot: RobotModel, *, drives: bool = True) -> int:
    """Return how many base parameters an arm has, with friction and rotors or of bodies alone."""
    laws = parse_friction(paper_experiment().friction if drives else 'none')
    return reduce_to_base(robot, make_standard_parameters(robot.n, laws, drives)).rank


def rules_apart(robot: RobotModel, *, wall: bool) -> float:
    """
    Return how far the rules of reference 15 are from the set of QR: the largest factor apart.

    Infinite where the sets are led by other parameters. On a wall the rules are those of an arm
    whose first axis is not vertical, while QR has the arm as it stands.
    """
    table = robot.denavit_hartenberg
    assert table is not None  # of a robot that is shipped with one
    rules = regroup(
        table.alpha.tolist(), table.a.tolist(), table.d.tolist(),
        gravity_along_first_axis=not wall,
    )
    reduction = reduce_to_base(
        robot, make_standard_parameters(robot.n, (), False), frames=link_frames(robot, 'mdh')
    )
    if sorted(rules) != sorted(reduction.names):
        return float('inf')
    return max(
        abs(rules[leading].get(name, 0.0) - float(factor))
        for leading, row in zip(reduction.names, reduction.K, strict=True)
        for name, factor in zip(reduction.parameters.names, row, strict=True)
    )


def rows_of_paper(reduction: BaseReduction) -> list[int]:
    """Return base parameters in the order of table II: links, then Fc, Fv and A of all joints."""
    inertial = published_rows(reduction, PUBLISHED_ORDERS['tika'])[: paper.INERTIAL]
    drives = [row for row in range(reduction.rank) if row not in inertial]
    kinds = ('fcs', 'fv', 'Ia')

    def place(row: int) -> tuple[int, int]:
        symbol, joint = split_name(reduction.names[row])
        return kinds.index(symbol), joint

    return [*inertial, *sorted(drives, key=place)]


def links_table(robot: RobotModel) -> Table:
    """Return table I beside the geometry of the shipped arm."""
    table = robot.denavit_hartenberg
    assert table is not None  # of a robot that is shipped with one
    rows: list[tuple[Cell, ...]] = [
        (
            j + 1, {0: '0', 1: 'pi/2', -1: '-pi/2'}[alpha], float(table.alpha[j]), a,
            float(table.a[j]), d, float(table.d[j]),
        )
        for j, (alpha, a, d) in enumerate(paper.LINKS)
    ]
    return Table(
        'links', 'Table I: modified Denavit-Hartenberg parameters',
        ('joint', 'alpha, paper', 'alpha [rad]', 'a, paper [m]', 'a [m]', 'd, paper [m]', 'd [m]'),
        tuple(rows),
        'The base is at the height of the shoulder and frame 6 at the wrist centre.',
    )


def base_table(
    robot: RobotModel, deviations: FloatArray, fit: Fit, theta_true: FloatArray
) -> Table:
    """Return table II: expressions, standard deviations by both formulas, values."""
    columns = BaseColumns(robot, paper_experiment())
    reduction = columns.reduction
    found = find_symbols(robot, reduction, link_frames(robot, 'mdh'))
    at = {name: row for row, name in enumerate(fit.model.reduction.names)}
    errors = fit.model.standard_errors
    rows: list[tuple[Cell, ...]] = []
    for place, row in enumerate(rows_of_paper(reduction), start=1):
        ours = at[reduction.names[row]]
        rows.append((
            place, to_text(found.expressions[row]), paper.DEVIATIONS.get(place),
            float(deviations[place - 1]), float(errors[ours]), float(theta_true[ours]),
            float(fit.ordinary.theta[ours]), float(fit.model.theta_base[ours]),
        ))
    return Table(
        'base', 'Table II: base parameters, standard deviations and values',
        (
            'number', 'expression, derived here', 'sigma, paper', 'sigma, unit noise',
            'standard error, CLS', 'true value', 'OLS', 'CLS',
        ),
        tuple(rows),
        'sigma is equation 33, the deviation that noise of 1 N m on 25000 samples a joint would '
        'leave. The standard errors are those of our residuals with their correlation in time. '
        'True friction is that of an unloaded joint. A dash stands where our copy of the paper '
        'cannot be read.',
    )
