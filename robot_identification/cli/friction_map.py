# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification friction-map`."""

import argparse
from dataclasses import replace
from pathlib import Path

from robot_identification import load_experiment
from robot_identification.cli.options import (
    add_output_option, add_robot_options, options_given, refuse_options, result_folder,
    robot_from_options,
)
from robot_identification.cli.output import print_results, say, with_report
from robot_identification.errors import UsageError
from robot_identification.options import add_arguments, options_of
from robot_identification.studies.friction_map import (
    friction_map_content, friction_map_text, FrictionMapOptions, PLAN_FILE, run_friction_map,
    run_friction_plan, SegmentPlan,
)

EXAMPLE = 'robot-identification friction-map cold_bag warm_bag --robot ur5 -o friction'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        'bags', nargs='*', type=Path, metavar='BAG',
        help='rosbag2 folders or files in which one joint after the other makes constant-'
        'velocity segments, both ways',
    )
    add_robot_options(parser)
    add_arguments(parser, FrictionMapOptions)
    group = parser.add_argument_group('making the motion instead')
    group.add_argument(
        '--plan', metavar='EXPERIMENT',
        help='write the segments of each joint as a certified trajectory within the limits of '
        'this experiment file',
    )
    group.add_argument(
        '--of', nargs='+', metavar='JOINT', help='joints to plan (default: all)'
    )
    add_arguments(group, SegmentPlan)
    # The older name of --travel.
    group.add_argument('--stroke', dest='travel', type=float, help=argparse.SUPPRESS)
    add_output_option(parser, 'folder for the map, its curves and the report')


def run(args: argparse.Namespace) -> None:
    """Make the map, or the motion for it."""
    if (args.plan is None) == (not args.bags):
        raise UsageError('name either bags to map, or an experiment file with --plan')
    if args.plan is not None:
        _plan(args)
        return
    refuse_options(
        args, [*(one.name for one in options_of(SegmentPlan)), 'of'],
        'is for designing a motion: add --plan, or leave it out',
    )
    options = options_given(args, FrictionMapOptions)
    found = run_friction_map(
        robot_from_options(args), args.bags,
        replace(options, model_gains=args.drive_gains is None), result_folder(args),
    )
    text = with_report(args, friction_map_text(found))
    print_results(args, friction_map_content(found), text, found.notes)


def _plan(args: argparse.Namespace) -> None:
    """Write the segments of each joint."""
    robot = robot_from_options(args)
    experiment = load_experiment(args.plan)
    if args.gravity is not None or args.mounting is not None:
        experiment = replace(experiment, gravity=robot.gravity)
    plan = options_given(args, SegmentPlan)
    made = run_friction_plan(robot, experiment, args.of, plan, result_folder(args))
    files = {joint: args.output / PLAN_FILE.format(joint) for joint in made}
    for joint, trajectory in made.items():
        say(f'{joint}: {trajectory.duration:.0f} s of segments')
    print_results(args, {
        'trajectories': [
            {'joint': joint, 'file': files[joint], 'duration': one.duration, 'sha256': one.sha256}
            for joint, one in made.items()
        ],
    }, '\n'.join(map(str, files.values())))
