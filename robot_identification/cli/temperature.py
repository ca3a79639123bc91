# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification temperature`."""

from __future__ import annotations

import argparse
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import (
    add_json_option, add_output_option, model_file, result_folder,
)
from robot_identification.cli.output import print_results
from robot_identification.options import add_arguments, from_values
from robot_identification.studies.temperature import (
    run_temperature, temperature_content, temperature_text, TemperatureOptions,
)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'temperature',
        'robot-identification temperature cold/identified_model.yaml warm/identified_model.yaml '
        '-o temperature', run,
    )
    parser.add_argument(
        'models', nargs='+', type=model_file, metavar='MODEL',
        help='identified_model.yaml of one arm at different temperatures, in any order',
    )
    add_arguments(parser, TemperatureOptions)
    add_output_option(parser, 'folder for temperature.json, model, report and results')
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Fit the lines and write the results."""
    options = from_values(TemperatureOptions, lambda key: getattr(args, key))
    result = run_temperature(args.models, options, result_folder(args))
    print_results(
        args, result.notes, temperature_content(result.study),
        f'{temperature_text(result.study)}\n',
    )
    return 0
