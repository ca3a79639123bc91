# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""G. Porcelli's thesis on a UR5: chapter 4 and what it rests on, on simulated arms."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from reproductions import porcelli_2020_data as thesis
from reproductions.pieces import Pieces
from reproductions.porcelli_2020_corrections import corrections_table
from reproductions.porcelli_2020_energy import check_lagrangian
from reproductions.porcelli_2020_figures import (
    draw_model, draw_noise, draw_parameters, draw_trajectories,
)
from reproductions.porcelli_2020_findings import all_claims, all_misprints, EXACT, Findings
from reproductions.porcelli_2020_models import (
    count_inside, Fit, FITTED_FRICTION, identify_whole_arm, MODELS, NORMAL_95, REPEATS,
    SimulatedGroup, WholeArm,
)
from reproductions.porcelli_2020_motion import (
    bounds_table, conditions_table, ends_table, find_conditions, find_whole_arm,
)
from reproductions.porcelli_2020_structure import (
    base_list, base_table, bodies_table, count_base, counts_table, drives_table,
    printed_geometry_table, refusal_of_the_caption, tilted, torques_table,
)
from reproductions.reproduction import Cell, Report, Reproduction, Table
from robot_identification.model.registry import load_robot
from robot_identification.model.robot_model import RobotModel

TITLE = 'Porcelli 2020: identification of a UR5 in two groups of joints'
REFERENCE = (
    'G. Porcelli, "Dynamic parameters identification of a UR5 robot manipulator", master thesis, '
    'Politecnico di Torino, 2020'
)
JOINT_COLUMNS = tuple(f'joint {joint + 1} [N m]' for joint in range(thesis.JOINTS))
ONE_DRAW = 'C, torque constants wrong throughout'
FITTED = {'B': 'B fitted', 'D': 'D fitted'}


def reproduce(report: Report, pieces: Pieces) -> Reproduction:
    """Return the thesis' results beside ours; see `reproduction`."""
    report(0.0, 'bodies and base parameters')
    arm = load_robot('ur5_porcelli')
    groups = {name: load_robot(robot) for name, (robot, _) in thesis.GROUPS.items()}
    tables = [
        printed_geometry_table(arm), bodies_table(arm), drives_table(), torques_table(arm),
        counts_table(), *(base_table(name, base_list(robot)) for name, robot in groups.items()),
        ends_table(), corrections_table(), bounds_table(),
    ]
    conditions = {}
    for number, name in enumerate(groups):
        report(0.05 + 0.3 * number, f'motions of {name}')
        conditions[name] = find_conditions(name, pieces)
    report(0.65, 'motions of the whole arm')
    tables.append(conditions_table(conditions, find_whole_arm(pieces)))
    report(0.9, 'models A to D')
    simulated = {
        name: SimulatedGroup(robot, thesis.GROUPS[name][1]) for name, robot in groups.items()
    }
    fits = {name: fit_models(group) for name, group in simulated.items()}
    whole = identify_whole_arm()
    tables += [
        errors_table('errors', 'errors', fits), errors_table('validation', 'validation', fits),
        parameters_table(fits), coverage_table(simulated, fits), *wrist_tables(whole),
    ]
    report(0.97, 'figures')
    pictures = (
        draw_trajectories(),
        *(draw_model(model, *_pair(fits, model)) for model in MODELS),
        draw_noise(simulated['BSE']), draw_parameters(fits),
    )
    upright, inclined = (
        {name: count_base(robot, samples=thesis.RANDOM_POINTS) for name, robot in arms.items()}
        for arms in (groups, tilted(groups))
    )
    found = Findings(
        upright, inclined, conditions, fits,
        {name: exchange_friction(name, robot) for name, robot in groups.items()}, whole,
    )
    return Reproduction(
        'porcelli_2020', tuple(tables), pictures, all_claims(found),
        all_misprints(check_lagrangian(arm), refusal_of_the_caption()),
    )


def exchange_friction(group: str, robot: RobotModel) -> Fit:
    """Identify model B of a group whose joints have the friction of the other group's."""
    other, = (joints for name, (_, joints) in thesis.GROUPS.items() if name != group)
    return SimulatedGroup(robot, thesis.GROUPS[group][1], other).fit('B')


def fit_models(group: SimulatedGroup) -> dict[str, Fit]:
    """Identify the four models of a group, those with friction with and without it."""
    fits = {model: group.fit(model) for model in MODELS}
    fits[ONE_DRAW] = group.fit('C', one_draw=True)
    return fits | {
        name: group.fit(model, FITTED_FRICTION) for model, name in FITTED.items()
    }


def _pair(
    fits: Mapping[str, Mapping[str, Fit]], model: str
) -> tuple[dict[str, Fit], dict[str, Fit]]:
    """Return the fits of a model of both groups, as the thesis does it and with friction."""
    first = {group: found[model] for group, found in fits.items()}
    second = {group: found[FITTED.get(model, model)] for group, found in fits.items()}
    return first, second


def _value(number: float) -> Cell:
    """Return a number, or that it is nothing but rounding."""
    return float(number) if abs(number) >= EXACT else f'< {EXACT:g}'


def errors_table(
    name: str, kind: str, fits: Mapping[str, Mapping[str, Fit]]
) -> Table:
    """
    Return errors of all models by joint.

    Parameters
    ----------
    name : str
        Of the table.
    kind : {'errors', 'validation'}
        Along the motion that was identified from, or another one.
    fits : mapping of str to mapping of str to Fit
        By group, then by model.

    """
    labels = {model: model for model in (*MODELS, ONE_DRAW)} | {
        found: f'{model}, friction identified' for model, found in FITTED.items()
    }
    rows: list[tuple[Cell, ...]] = []
    for model, label in labels.items():
        values = np.concatenate([
            found[model].errors if kind == 'errors' else found[model].validation_errors
            for found in fits.values()
        ])
        rows.append((label, *(_value(value) for value in values)))
    title, note = {
        'errors': (
            'Errors of models A to D along the motion of the thesis, in place of figures 4.9 to '
            '4.33', 'Root mean square of the torque identified from minus that of eq. 4.6, noise '
            'included.',
        ),
        'validation': (
            'Errors of models A to D along another motion',
            'Root mean square, against torques without noise: a random motion within the same '
            'limits (thesis figure 3.6, which its chapter 4 does not show).',
        ),
    }[kind]
    return Table(name, title, ('model', *JOINT_COLUMNS), tuple(rows), note)


def parameters_table(fits: Mapping[str, Mapping[str, Fit]]) -> Table:
    """Return the base parameters of both groups with intervals."""
    rows: list[tuple[Cell, ...]] = []
    for group, found in fits.items():
        for k, name in enumerate(found['A'].names[:thesis.GROUP_BASE]):
            fitted = found['D fitted']
            rows.append((
                f'{group}: {name}', round(float(found['A'].true[k]), 9) + 0.0,
                round(float(found['A'].found[k]), 9) + 0.0, float(found['B'].found[k]),
                float(found['C'].found[k]), float(NORMAL_95 * found['C'].deviation[k]),
                float(found['D'].found[k]), float(fitted.found[k]),
                float(NORMAL_95 * fitted.deviation[k]),
            ))
    return Table(
        'parameters', 'Base parameters by models A to D [SI]',
        ('parameter', 'true', 'A', 'B', 'C', '± of C (95 %)', 'D', 'D, friction identified',
         '± of the last (95 %)'),
        tuple(rows),
        'Named by their first terms; the lists above have them in full. The thesis prints no '
        'values and no intervals.',
    )


def coverage_table(
    simulated: Mapping[str, SimulatedGroup], fits: Mapping[str, Mapping[str, Fit]]
) -> Table:
    """Return how often intervals contain what is true."""
    rows: list[tuple[Cell, ...]] = [
        ('C', *(count_inside(group, 'C', 'none') for group in simulated.values())),
        ('D, friction identified',
         *(count_inside(group, 'D', FITTED_FRICTION) for group in simulated.values())),
    ]
    for model, label in ((ONE_DRAW, ONE_DRAW), ('D', 'D, friction not identified')):
        shares = (found[model].inside / thesis.GROUP_BASE for found in fits.values())
        rows.append((f'{label}, one run', *shares))
    return Table(
        'coverage', 'Share of intervals of 95 % that contain the true value',
        ('model', *thesis.GROUPS), tuple(rows),
        f'Over {REPEATS} runs with noise of their own where not said otherwise. Intervals know '
        'nothing of constants that are wrong, nor of friction that is missing in the model.',
    )


def wrist_tables(whole: WholeArm) -> list[Table]:
    """Return what neglecting the wrist costs on an arm that carries it."""
    columns = ('how identified', *JOINT_COLUMNS)
    return [
        Table(
            'wrist',
            'The wrist neglected (thesis eq. 4.3) and not, along the motion of the thesis',
            columns,
            (
                ('torque of the links of the wrist', *whole.wrist.tolist()),
                *((name, *values.tolist()) for name, values in whole.errors.items()),
            ),
            'Root mean square against torques without noise. Six joints move at once, no '
            'friction, noise as in model C.',
        ),
        Table(
            'wrist_validation', 'The same along another motion', columns,
            tuple((name, *values.tolist()) for name, values in whole.validation_errors.items()),
        ),
    ]
