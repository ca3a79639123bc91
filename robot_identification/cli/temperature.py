# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification temperature`."""

import argparse

from robot_identification.cli.options import (
    add_output_option, model_file, options_given, result_folder,
)
from robot_identification.cli.output import print_results, with_report
from robot_identification.options import add_arguments
from robot_identification.studies.temperature import (
    run_temperature, temperature_content, temperature_text, TemperatureOptions,
)

EXAMPLE = (
    'robot-identification temperature cold/identified_model.yaml warm/identified_model.yaml '
    '-o temperature'
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        'models', nargs='+', type=model_file, metavar='MODEL',
        help='identified_model.yaml of one arm at different temperatures, in any order',
    )
    add_arguments(parser, TemperatureOptions)
    add_output_option(parser, 'folder for temperature.json, model, report and results')


def run(args: argparse.Namespace) -> None:
    """Fit the lines and write the results."""
    options = options_given(args, TemperatureOptions)
    result = run_temperature(args.models, options, result_folder(args))
    text = with_report(args, f'{temperature_text(result.study)}\n')
    print_results(args, temperature_content(result.study), text, result.notes)
