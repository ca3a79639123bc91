# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""`robot-identification temperature`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.options import add_output_option
from robot_identification.cli.output import print_json
from robot_identification.cli.output import warn
from robot_identification.errors import DataError
from robot_identification.estimation.comparison.temperature import study_temperature
from robot_identification.estimation.comparison.temperature import temperature_content
from robot_identification.estimation.comparison.temperature_model import model_at
from robot_identification.estimation.comparison.temperature_model import model_over_temperature
from robot_identification.estimation.comparison.torque_change import motion_of_trajectory
from robot_identification.files import check_writable
from robot_identification.files import write_results
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.model_file import dump_identified_model
from robot_identification.model.model_file import load_identified_model
from robot_identification.report.temperature_report import render_temperature_report
from robot_identification.report.temperature_report import temperature_json
from robot_identification.report.temperature_report import temperature_text

MODEL_FILE = 'identified_model.yaml'
RESULT_FILES = ('temperature.json', 'report.html', 'results.txt', MODEL_FILE)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'temperature', 'lay friction of repeated identifications over temperature',
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
    models = [load_identified_model(path) for path in args.models]
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
        contents[MODEL_FILE] = dump_identified_model(model)
    write_results(args.output, contents, args.force)
    for note in notes:
        warn(note)
    if args.json:
        print_json(temperature_content(study))
    else:
        print(temperature_text(study))
        print(f'report: {args.output / "report.html"}')
    return 0
