# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The study of temperature as one function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from robot_identification.blas import one_blas_thread
from robot_identification.errors import DataError
from robot_identification.files import ResultFolder
from robot_identification.model import dump_model, IdentifiedModel, load_model
from robot_identification.options import check_options, option
from robot_identification.report import json_text
from robot_identification.studies.comparison import motion_of_trajectory
from robot_identification.studies.temperature.model import model_at, model_over_temperature
from robot_identification.studies.temperature.report import (
    render_temperature_report, temperature_content, temperature_text,
)
from robot_identification.studies.temperature.trend import study_temperature, TemperatureStudy

MODEL_FILE = 'identified_model.yaml'
TEMPERATURE_FILES = ('temperature.json', 'report.html', 'results.txt', MODEL_FILE)


@dataclass(frozen=True)
class TemperatureOptions:
    """
    Options of the study of temperature.

    The fields say in their declaration what each is.
    """

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
