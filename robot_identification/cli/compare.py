# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification compare`."""

from __future__ import annotations

import argparse
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import (
    add_json_option, add_output_option, model_file, result_folder,
)
from robot_identification.cli.output import print_results, show
from robot_identification.options import add_arguments, from_values
from robot_identification.studies.comparison import (
    comparison_file_content, comparison_text, ComparisonOptions, run_comparison,
)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'compare',
        'robot-identification compare cold/identified_model.yaml warm/identified_model.yaml\n'
        '  robot-identification compare ur3/identified_model.yaml ur5/identified_model.yaml '
        '--joints-of-size', run,
    )
    parser.add_argument(
        'models', nargs='+', type=model_file, metavar='MODEL',
        help='identified_model.yaml; each is compared with the first',
    )
    add_arguments(parser, ComparisonOptions)
    add_output_option(
        parser, 'folder for comparison.json, report and results; by default nothing is written',
        required=False,
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, print, and write where asked to."""
    options = from_values(ComparisonOptions, lambda key: getattr(args, key))
    folder = None if args.output is None else result_folder(args)
    result = run_comparison(args.models, options, folder)
    if folder is None and not args.json:
        show(comparison_text(result), end='')
    else:
        print_results(args, (), comparison_file_content(result), comparison_text(result))
    return 0
