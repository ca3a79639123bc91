# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification identify`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_identification import identify
from robot_identification.cli.command import add_command
from robot_identification.cli.options import (
    add_json_option, add_output_option, add_robot_options, add_save_mapping_option,
    RECORDING, robot_from_options,
)
from robot_identification.cli.output import print_json, say, show, warn
from robot_identification.cli.tables import save_mapping, show_tables, understand_tables
from robot_identification.errors import NotIdentifiableError
from robot_identification.estimation import Identification, IdentifyOptions
from robot_identification.files import check_writable
from robot_identification.options import add_arguments, from_values
from robot_identification.parallel import LOCAL, open_executor
from robot_identification.report import (
    RESULT_FILES, save_identification, summary_text,
)
from robot_identification.validation import errors_content, verdict_content


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'identify', 'robot-identification identify bag --robot ur5 -o result', run,
    )
    parser.add_argument('bags', nargs='+', type=Path, metavar='BAG', help=RECORDING)
    add_robot_options(parser)
    add_arguments(parser, IdentifyOptions)
    parser.add_argument(
        '--scheduler', metavar='SCHEDULER',
        help=f'workers that read bags for the common fit: {LOCAL} (processes on this '
        'machine), or the address of a Dask scheduler, tcp://HOST:8786 (docs/many_bags.md); by '
        'default this process',
    )
    parser.add_argument(
        '--processes', type=int, metavar='N',
        help=f'number of processes of --scheduler {LOCAL}; by default one for each processor',
    )
    add_save_mapping_option(parser)
    add_output_option(parser, 'folder for model, report and results')
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Identify and write the results."""
    for name in RESULT_FILES:
        check_writable(args.output / name, args.force)
    options = from_values(IdentifyOptions, lambda key: getattr(args, key))
    robot = robot_from_options(args)
    tables = understand_tables(
        args.bags, robot.joint_names, options.joint_names, options.table_mapping
    )
    if not args.json:
        show_tables(tables, robot.position_units)
    save_mapping(args.save_mapping, tables, args.force)
    with open_executor(args.scheduler, args.processes) as executor:
        found = identify(robot, args.bags, options, executor)
    save_identification(found, args.output, args.command_line, force=args.force)
    for note in found.notes:
        warn(note)
    refused = not_identifiable(found, args.output)
    if args.json:
        print_json(_content(args, found, refused))
    else:
        show(summary_text(found))
        show(f'report: {args.output / "report.html"}, all figures: {args.output / "results.txt"}')
    if refused is not None:
        # Not raised: with --json stdout has its one object already.
        say(f'error: {refused}')
        return refused.exit_code
    return 0


def not_identifiable(found: Identification, output: Path) -> NotIdentifiableError | None:
    """Return the error of an identification whose data do not determine every parameter."""
    if not found.unidentifiable:
        return None
    resting = ', '.join(found.stationary_joints)
    return NotIdentifiableError(
        f'the data do not determine {", ".join(found.unidentifiable)}'
        + (f' ({resting} hardly moved)' if resting else '')
        + f'; a reduced model was written to {output}: record a motion in which every joint moves '
        'fast and slowly, both ways'
    )


def _content(
    args: argparse.Namespace, found: Identification, refused: NotIdentifiableError | None
) -> dict[str, Any]:
    """Return what --json prints."""
    return {
        'output': args.output,
        'verdict': found.verdict.level,
        'reasons': found.verdict.reasons,
        'next_step': found.verdict.next_step,
        **verdict_content(found.verdict),
        'base_parameters': found.model.reduction.rank,
        'lost': found.unidentifiable,
        'cross_validation': [errors_content(errors) for errors in found.cross_validation],
        **({} if refused is None else {'error': str(refused), 'exit_code': refused.exit_code}),
    }
