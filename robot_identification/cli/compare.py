# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification compare`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_identification import load_model, load_robot
from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.output import print_json, show
from robot_identification.errors import UsageError
from robot_identification.files import check_writable, write_results
from robot_identification.model import IdentifiedModel, load_joint_drives
from robot_identification.studies.comparison import (
    change_of_torque, compare_joints_of_size, compare_models, ComparedPair, CompareResult,
    comparison_file_content, comparison_json, comparison_text, JointsOfSize, motion_of_trajectory,
    render_comparison_report, shared_motion,
)

RESULT_FILES = ('comparison.json', 'report.html', 'results.txt')


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'compare', 'say what differs between models beyond its uncertainty',
        'robot-identification compare cold/identified_model.yaml warm/identified_model.yaml\n'
        '  robot-identification compare ur3/identified_model.yaml ur5/identified_model.yaml '
        '--joints-of-size', run,
    )
    parser.add_argument(
        'models', nargs='+', type=Path, metavar='MODEL',
        help='identified_model.yaml; each is compared with the first',
    )
    parser.add_argument(
        '--joints-of-size', action='store_true',
        help='compare friction of joints with the same drive, instead of parameters',
    )
    parser.add_argument(
        '--robots', nargs='+', metavar='R',
        help='known robots or robot YAMLs that say drives and gear ratios, one for each model; by '
        'default those with the names of the arms',
    )
    parser.add_argument(
        '--trajectory', type=Path, metavar='FILE',
        help='trajectory along which torques are compared; by default a motion of our own',
    )
    parser.add_argument(
        '-o', '--output', type=Path, metavar='OUT',
        help='folder for comparison.json, report and results; by default nothing is written',
    )
    parser.add_argument(
        '--force', action='store_true', help='overwrite what is there already'
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, print, and write where asked to."""
    if args.output is not None:
        for name in RESULT_FILES:
            check_writable(args.output / name, args.force)
    if args.robots is not None and not args.joints_of_size:
        raise UsageError('--robots is for --joints-of-size')
    if args.joints_of_size and args.trajectory is not None:
        raise UsageError('--trajectory is for models of one arm, not for --joints-of-size')
    models = [load_model(path) for path in args.models]
    result = (
        CompareResult((), _sizes(models, args.robots)) if args.joints_of_size
        else CompareResult(_pairs(models, args.models, args.trajectory))
    )
    if args.output is not None:
        write_results(args.output, {
            'comparison.json': comparison_json(result),
            'report.html': render_comparison_report(result, args.command_line),
            'results.txt': comparison_text(result),
        }, args.force)
    if args.json:
        print_json(comparison_file_content(result))
    else:
        show(comparison_text(result), end='')
        if args.output is not None:
            show(f'report: {args.output / "report.html"}')
    return 0


def _pairs(
    models: list[IdentifiedModel], paths: list[Path], trajectory: Path | None
) -> tuple[ComparedPair, ...]:
    if len(models) < 2:
        raise UsageError('compare needs two models or more, each of which meets the first')
    first = models[0]
    pairs = []
    for path, other in zip(paths[1:], models[1:], strict=True):
        comparison = compare_models(first, other)
        motion = shared_motion((first, other)) if trajectory is None else motion_of_trajectory(
            trajectory, first.robot.joint_names
        )
        pairs.append(ComparedPair(
            (str(paths[0]), str(path)), comparison, change_of_torque(first, other, motion)
        ))
    return tuple(pairs)


def _sizes(
    models: list[IdentifiedModel], robots: list[str] | None
) -> tuple[JointsOfSize, ...]:
    if robots is not None and len(robots) != len(models):
        raise UsageError(
            f'--robots names {len(robots)} robots for {len(models)} models: name one for each'
        )
    names = robots or [model.robot.name for model in models]
    drives, ratios = [], []
    for name, model in zip(names, models, strict=True):
        drives.append(load_joint_drives(name))
        joints = list(model.robot.joint_names)
        ratios.append(load_robot(name, joints=joints).drives.gear_ratio)
    return compare_joints_of_size(models, drives, ratios)
