# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification drive-gains`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import (
    add_json_option, add_output_option, add_robot_options, result_folder, robot_from_options,
)
from robot_identification.cli.output import print_results
from robot_identification.options import add_arguments, from_values
from robot_identification.studies.drive_gains import (
    drive_gains_content, drive_gains_text, DriveGainsOptions, run_drive_gains,
)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'drive-gains',
        'robot-identification drive-gains poses_bag --robot ur5 -o gains', run,
    )
    parser.add_argument(
        'bags', nargs='+', type=Path, metavar='BAG',
        help='recordings with static poses, bags or tables; with --payload those without it',
    )
    add_robot_options(parser)
    add_arguments(parser, DriveGainsOptions)
    add_output_option(parser, 'folder for drive_gains.json, results.txt and the report')
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Find the gains and write the results."""
    options = from_values(DriveGainsOptions, lambda key: getattr(args, key))
    result = run_drive_gains(robot_from_options(args), args.bags, options, result_folder(args))
    print_results(
        args, result.found.notes, drive_gains_content(result), drive_gains_text(result)
    )
    return 0
