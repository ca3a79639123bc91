# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification identify`."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import robot_identification
from robot_identification import report, validation
from robot_identification.cli.options import (
    add_output_option, add_robot_options, add_save_mapping_option, options_given, RECORDING,
    result_folder, robot_from_options,
)
from robot_identification.cli.output import print_results, say
from robot_identification.cli.tables import save_mapping, show_tables, understand_tables
from robot_identification.errors import NotIdentifiableError
from robot_identification.estimation import Identification, IdentifyOptions
from robot_identification.options import add_arguments
from robot_identification.parallel import LOCAL, open_executor

EXAMPLE = 'robot-identification identify bag --robot ur5 -o result'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
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


def run(args: argparse.Namespace) -> int | None:
    """Identify and write the results."""
    result_folder(args).check(report.RESULT_FILES)
    options = options_given(args, IdentifyOptions)
    robot = robot_from_options(args)
    tables = understand_tables(
        args.bags, robot.joint_names, options.joint_names, options.table_mapping
    )
    if not args.json:
        show_tables(tables, robot.position_units)
    save_mapping(args.save_mapping, tables, args.force)
    with open_executor(args.scheduler, args.processes) as executor:
        found = robot_identification.identify(robot, args.bags, options, executor)
    report.save_identification(found, args.output, args.command_line, force=args.force)
    text = (
        f'{report.summary_text(found)}\nreport: {args.output / "report.html"}, all figures: '
        f'{args.output / "results.txt"}'
    )
    return conclude(args, found, _content(args, found), text, found.notes)


def conclude(
    args: argparse.Namespace, found: Identification, content: dict[str, Any], text: str,
    notes: Iterable[str],
) -> int | None:
    """
    Print the results of an identification.

    Returns the exit code, and reports the error, where data do not determine every parameter: a
    raised one would print a second object on stdout with --json.
    """
    if not found.unidentifiable:
        print_results(args, content, text, notes)
        return None
    resting = ', '.join(found.stationary_joints)
    refused = NotIdentifiableError(
        f'the data do not determine {", ".join(found.unidentifiable)}'
        + (f' ({resting} hardly moved)' if resting else '')
        + f'; a reduced model was written to {args.output}: record a motion in which every joint '
        'moves fast and slowly, both ways'
    )
    content |= {'error': str(refused), 'exit_code': refused.exit_code}
    print_results(args, content, text, notes)
    say(f'error: {refused}')
    return refused.exit_code


def _content(args: argparse.Namespace, found: Identification) -> dict[str, Any]:
    """Return what --json prints."""
    return {
        'output': args.output,
        'verdict': found.verdict.level,
        'reasons': found.verdict.reasons,
        'next_step': found.verdict.next_step,
        **validation.verdict_content(found.verdict),
        'base_parameters': found.model.reduction.rank,
        'lost': found.unidentifiable,
        'cross_validation': [
            validation.errors_content(errors) for errors in found.cross_validation
        ],
    }
