# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification drive-gains`."""

import argparse
from pathlib import Path

from robot_identification.cli.options import (
    add_output_option, add_robot_options, options_given, result_folder, robot_from_options,
)
from robot_identification.cli.output import print_results, with_report
from robot_identification.options import add_arguments
from robot_identification.studies.drive_gains import (
    drive_gains_content, drive_gains_text, DriveGainsOptions, run_drive_gains,
)

EXAMPLE = 'robot-identification drive-gains poses_bag --robot ur5 -o gains'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        'bags', nargs='+', type=Path, metavar='BAG',
        help='recordings with static poses, bags or tables; with --payload those without it',
    )
    add_robot_options(parser)
    add_arguments(parser, DriveGainsOptions)
    add_output_option(parser, 'folder for drive_gains.json, results.txt and the report')


def run(args: argparse.Namespace) -> None:
    """Find the gains and write the results."""
    options = options_given(args, DriveGainsOptions)
    result = run_drive_gains(robot_from_options(args), args.bags, options, result_folder(args))
    print_results(
        args, drive_gains_content(result), with_report(args, drive_gains_text(result)),
        result.found.notes,
    )
