# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification compare`."""

import argparse

from robot_identification.cli.options import (
    add_output_option, model_file, options_given, result_folder,
)
from robot_identification.cli.output import print_results, with_report
from robot_identification.options import add_arguments
from robot_identification.studies.comparison import (
    comparison_file_content, comparison_text, ComparisonOptions, run_comparison,
)

EXAMPLE = (
    'robot-identification compare cold/identified_model.yaml warm/identified_model.yaml\n'
    '  robot-identification compare ur3/identified_model.yaml ur5/identified_model.yaml '
    '--joints-of-size'
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        'models', nargs='+', type=model_file, metavar='MODEL',
        help='identified_model.yaml; each is compared with the first',
    )
    add_arguments(parser, ComparisonOptions)
    add_output_option(
        parser, 'folder for comparison.json, report and results; by default nothing is written',
        required=False,
    )


def run(args: argparse.Namespace) -> None:
    """Compare, print, and write where asked to."""
    options = options_given(args, ComparisonOptions)
    folder = None if args.output is None else result_folder(args)
    result = run_comparison(args.models, options, folder)
    text = comparison_text(result)
    print_results(
        args, comparison_file_content(result), text if folder is None else with_report(args, text)
    )
