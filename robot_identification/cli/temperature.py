# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification temperature`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification import load_model
from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option, add_output_option
from robot_identification.cli.output import print_json, show, warn
from robot_identification.errors import DataError
from robot_identification.files import check_writable, write_results
from robot_identification.model import dump_model, IdentifiedModel
from robot_identification.studies.comparison import motion_of_trajectory
from robot_identification.studies.temperature import (
    model_at, model_over_temperature, render_temperature_report, study_temperature,
    temperature_content, temperature_json, temperature_text,
)

MODEL_FILE = 'identified_model.yaml'
RESULT_FILES = ('temperature.json', 'report.html', 'results.txt', MODEL_FILE)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'temperature', 'fit friction against temperature',
        'robot-identification temperature cold/identified_model.yaml warm/identified_model.yaml '
        '-o temperature', run,
    )
    parser.add_argument(
        'models', nargs='+', type=Path, metavar='MODEL',
        help='identified_model.yaml of one arm at different temperatures, in any order',
    )
    parser.add_argument(
        '--trajectory', type=Path, metavar='FILE',
        help='trajectory along which torques are compared; by default a motion of our own',
    )
    parser.add_argument(
        '--at', nargs='+', type=float, metavar='T',
        help='write the model at these temperatures [deg C], one for all joints or one for each, '
        'instead of the one that follows temperature',
    )
    add_output_option(parser, 'folder for temperature.json, model, report and results')
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Lay the lines and write the results."""
    for name in RESULT_FILES:
        check_writable(args.output / name, args.force)
    models = [load_model(path) for path in args.models]
    motion = None if args.trajectory is None else motion_of_trajectory(
        args.trajectory, models[0].robot.joint_names
    )
    study = study_temperature(models, motion)
    contents = {
        'temperature.json': temperature_json(study),
        'report.html': render_temperature_report(
            study, tuple(str(path) for path in args.models), args.command_line
        ),
        'results.txt': temperature_text(study),
    }
    notes = [*study.notes]
    try:
        model: IdentifiedModel | None = model_over_temperature(models, study)
    except DataError as error:
        if args.at is not None:
            raise
        model = None
        notes.append(f'no model is written: {error}')
    if model is not None:
        if args.at is not None:
            given = args.at * model.robot.n if len(args.at) == 1 else args.at
            model, left = model_at(model, study, np.array(given))
            notes += left
        contents[MODEL_FILE] = dump_model(model)
    write_results(args.output, contents, args.force)
    for note in notes:
        warn(note)
    if args.json:
        print_json(temperature_content(study))
    else:
        show(temperature_text(study))
        show(f'report: {args.output / "report.html"}')
    return 0
