# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The study of temperature: `temperature` with its options and results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.blas import one_blas_thread
from robot_identification.errors import DataError
from robot_identification.files import ResultFolder
from robot_identification.model import dump_model, IdentifiedModel, load_model
from robot_identification.options import check_options, option
from robot_identification.report import (
    attributes, bullets, fixed, json_text, Meaning, NOT_AVAILABLE, number, percent, Picture,
    PREDICTED, render_page, RESIDUAL, single_panel, text_table, wrap,
)
from robot_identification.studies.comparison import (
    motion_of_trajectory, p_words, TORQUE_HEADER, torque_rows,
)
from robot_identification.studies.temperature.line import TemperatureLine
from robot_identification.studies.temperature.model import model_at, model_over_temperature
from robot_identification.studies.temperature.trend import study_temperature, TemperatureStudy

HEADER = (
    'joint', 'from', 'to [deg C]', 'viscous', 'per K', 'std error', 'R^2', 'change',
    'Coulomb',
)
# A change of friction that other causes make as well.
SMALL_CHANGE = 0.05
MODEL_FILE = 'identified_model.yaml'
TEMPERATURE_FILES = ('temperature.json', 'report.html', 'results.txt', MODEL_FILE)


@dataclass(frozen=True)
class TemperatureOptions:
    """Options of the study of temperature."""

    trajectory: Path | None = option(
        Path, 'trajectory along which torques are compared',
        otherwise='a slow motion within the limits', metavar='FILE',
    )
    at: tuple[float, ...] | None = option(
        float, 'write the model at these temperatures [deg C], one for all joints or one for '
        'each, instead of the one that follows temperature', count='+', metavar='T',
    )

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True, eq=False)
class TemperatureResult:
    """Result of the study of temperature."""

    study: TemperatureStudy  # the lines
    # The model that follows them, or that at the temperatures asked for; None where the models
    # have friction that follows temperature already.
    model: IdentifiedModel | None
    notes: tuple[str, ...]  # what a reader should know


@one_blas_thread()
def run_temperature(
    paths: Sequence[Path], options: TemperatureOptions | None = None,
    folder: ResultFolder | None = None,
) -> TemperatureResult:
    """
    Fit friction against temperature through identifications of one arm.

    `paths` are two or more model files, in any order, with the temperatures of their recordings;
    without `folder` nothing is written. Raises DataError if the models are of different arms, a
    temperature is missing, or none varies, UsageError if a file or the folder cannot be used.
    """
    options = TemperatureOptions() if options is None else options
    if folder is not None:
        folder.check(TEMPERATURE_FILES)
    models = [load_model(path) for path in paths]
    motion = None if options.trajectory is None else motion_of_trajectory(
        options.trajectory, models[0].robot.joint_names
    )
    study = study_temperature(models, motion)
    model, notes = _make_model(models, study, options)
    if folder is not None:
        contents = {
            'temperature.json': json_text(temperature_content(study)),
            'report.html': render_temperature_report(
                study, tuple(str(path) for path in paths), folder.command_line
            ),
            'results.txt': temperature_text(study),
        }
        if model is not None:
            contents[MODEL_FILE] = dump_model(model)
        folder.write(contents)
    return TemperatureResult(study, model, (*study.notes, *notes))


def _make_model(
    models: Sequence[IdentifiedModel], study: TemperatureStudy, options: TemperatureOptions
) -> tuple[IdentifiedModel | None, tuple[str, ...]]:
    """Return the model that is written, if there is one, with notes on it."""
    try:
        if options.at is None:
            return model_over_temperature(models, study), ()
        n = len(study.joints)
        at = options.at * n if len(options.at) == 1 else options.at
        return model_at(models, study, np.array(at))
    except DataError as error:
        if options.at is not None:
            raise
        return None, (f'no model is written: {error}',)


def temperature_rows(study: TemperatureStudy) -> list[tuple[str, ...]]:
    """Return the cells of the table of lines, one row for each joint; titles are HEADER."""
    rows: list[tuple[str, ...]] = []
    for joint in study.joints:
        line = joint.viscous_line
        coulomb = (
            f'moves (p{p_words(joint.coulomb_p)})' if joint.coulomb_moves
            else 'constant' if joint.coulomb_line is not None else NOT_AVAILABLE
        )
        rows.append((
            joint.joint,
            fixed(float(joint.temperature.min()), 1), fixed(float(joint.temperature.max()), 1),
            number(float(joint.viscous[0])), *_line_cells(line), percent(joint.viscous_change),
            coulomb,
        ))
    return rows


def share_words(study: TemperatureStudy) -> str:
    """Return the change of torque by size of joint in words."""
    sizes = ', '.join(
        f'{percent(share)} of {limit:g} {_limit_unit(study, limit)}'
        for limit, share in study.share_of_limit.items()
    )
    return f'Mean of the largest changes by size of joint: {sizes or NOT_AVAILABLE}.'


def _limit_unit(study: TemperatureStudy, limit: float) -> str:
    """Return the unit of the torque limit of the joints of one size."""
    change = study.torque
    return ' or '.join(dict.fromkeys(
        change.unit(joint) for joint, one in enumerate(change.limit) if one == limit
    ))


def temperature_text(study: TemperatureStudy) -> str:
    """Return a study as plain text, at most 100 columns wide."""
    lines = [
        *wrap(f'Friction of {study.robot} over temperature, {len(study.order)} runs'),
        '',
        *text_table(HEADER, temperature_rows(study)),
        '',
        *wrap(
            f'Viscous friction changed by {percent(study.mean_viscous_change)} on average from '
            'the coldest to the warmest run.'
        ),
        '',
        *wrap(f'Change of torque between these two, along a motion of {study.torque.samples} '
              'samples:'),
        *text_table(TORQUE_HEADER, torque_rows(study.torque)),
        *wrap(share_words(study)),
        *bullets(study.notes),
    ]
    return '\n'.join(lines) + '\n'


def temperature_content(study: TemperatureStudy) -> dict[str, Any]:
    """Return the content of temperature.json (docs/formats/temperature.md); NaN stays NaN."""
    return {
        'schema_version': 1,
        'robot': study.robot,
        'order': [index + 1 for index in study.order],
        'mean_viscous_change': study.mean_viscous_change,
        'joints': [
            {
                **attributes(
                    joint, 'joint', 'temperature', 'viscous_change', 'coulomb_moves', 'coulomb_p',
                    'note',
                ),
                'viscous': _coefficient_content(
                    joint.viscous, joint.viscous_errors, joint.viscous_line
                ),
                'coulomb': _coefficient_content(
                    joint.coulomb, joint.coulomb_errors, joint.coulomb_line
                ),
                'exponential': joint.exponential and asdict(joint.exponential),
            }
            for joint in study.joints
        ],
        'torque': {
            **attributes(study.torque, 'samples', 'mean', 'largest'),
            'share_of_limit': [
                {'limit': limit, 'share': share}
                for limit, share in study.share_of_limit.items()
            ],
        },
        'notes': list(study.notes),
    }


def _coefficient_content(
    values: FloatArray, errors: FloatArray, line: TemperatureLine | None
) -> dict[str, Any]:
    return {
        'values': values,
        'standard_errors': errors,
        'line': None if line is None else {
            **attributes(
                line, 'slope', 'slope_error', 'intercept', 'intercept_error', 'reference', 'value',
                'value_error', 'r_squared', 'p_value', 'excess', 'change',
                degrees_of_freedom='freedom',
            ),
            'range': [line.lowest, line.highest],
        },
    }


def temperature_meaning(study: TemperatureStudy) -> Meaning:
    """Return the meaning of a study for a user of the models."""
    lowest = min(float(joint.temperature.min()) for joint in study.joints)
    highest = max(float(joint.temperature.max()) for joint in study.joints)
    moving = [joint.joint for joint in study.joints if joint.coulomb_moves]
    without = [joint.joint for joint in study.joints if joint.viscous_line is None]
    most = int(np.argmax(study.torque.largest))
    change = study.mean_viscous_change
    sentences = [
        f'Viscous friction changed by {percent(change)} on average from {fixed(lowest, 0)} to '
        f'{fixed(highest, 0)} °C; along one motion that is up to '
        f'{number(float(study.torque.largest[most]))} {study.torque.unit(most)} of torque',
        f'Coulomb friction moves with temperature on {", ".join(moving)}' if moving
        else 'Coulomb friction does not move with temperature beyond chance',
    ]
    if without:
        sentences.append(f'no line could be laid for {", ".join(without)}')
    return Meaning(
        'Friction depends on temperature' if abs(change) > SMALL_CHANGE
        else 'Friction hardly depends on temperature',
        'plain', tuple(sentences),
        'predict with the model that follows temperature wherever joint temperatures are recorded'
        if not without else
        'record more runs over a wider range of temperatures: a line needs them',
    )


def render_temperature_report(
    study: TemperatureStudy, paths: tuple[str, ...], command_line: str = ''
) -> str:
    """Return the report of a study of models of these paths; the HTML file needs no network."""
    return render_page(
        'temperature.html.j2',
        study=study,
        meaning=temperature_meaning(study),
        header=HEADER,
        rows=temperature_rows(study),
        torque_header=TORQUE_HEADER,
        torque_rows=torque_rows(study.torque),
        share_words=share_words(study),
        pictures=[_picture(study, j) for j in range(len(study.joints))],
        models=[paths[i] for i in study.order],
        command_line=command_line,
    )


def _line_cells(line: TemperatureLine | None) -> tuple[str, str, str]:
    if line is None:
        return (NOT_AVAILABLE,) * 3
    return number(line.slope), number(line.slope_error, 2), fixed(line.r_squared, 2)


def _picture(study: TemperatureStudy, index: int) -> Picture:
    joint = study.joints[index]
    drawing, panel = single_panel(2.6)
    panel.error_bars(joint.temperature, joint.viscous, joint.viscous_errors, PREDICTED)
    panel.dots(joint.temperature, joint.viscous, PREDICTED, 4.0)
    if joint.viscous_line is not None:
        line = joint.viscous_line
        ends = np.array([line.lowest, line.highest])
        panel.curve(ends, np.array([line.at(end) for end in ends]), RESIDUAL, 1.2)
    panel.label(f'viscous friction\n[{joint.viscous_unit}]', 'temperature [°C]')
    panel.x.margin = 0.05
    return drawing.picture(
        joint.joint, f'Viscous friction of {joint.joint} over its temperature, with a line'
    )
