# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification friction-map`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification import load_experiment, load_model, read_recording
from robot_identification.cli.command import add_command
from robot_identification.cli.options import (
    add_json_option, add_output_option, add_robot_options, add_window_options, robot_from_options,
)
from robot_identification.cli.output import print_json, say, show, warn
from robot_identification.errors import UsageError
from robot_identification.estimation import choose_drive_gains, choose_effort_unit
from robot_identification.excitation import dump_trajectory, find_experiment
from robot_identification.files import check_writable, write_results
from robot_identification.model import EFFORT_UNITS, IdentifiedModel, KinematicFilter, RobotModel
from robot_identification.processing import check_robot_name, Dataset, find_stationary, process
from robot_identification.recording import parse_joint_names
from robot_identification.studies.friction_map import (
    certified_segments, friction_map_content, FRICTION_MAP_FILES, friction_map_text, map_friction,
    MapRun, payload_mass, save_friction_map, SegmentOptions, SegmentPlan,
)

# Options of the plan, which make no sense beside bags.
PLAN_OPTIONS = ('slowest', 'fastest', 'count', 'travel', 'repeats')


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'friction-map', 'map friction over speed, payload and temperature',
        'robot-identification friction-map cold_bag warm_bag --robot ur5 -o friction', run,
    )
    parser.add_argument(
        'bags', nargs='*', type=Path, metavar='BAG',
        help='rosbag2 folders or files in which one joint after the other makes constant-'
        'velocity segments, both ways',
    )
    add_robot_options(parser)
    parser.add_argument('--topic', help='joint-state topic (default: /joint_states)')
    parser.add_argument(
        '--effort-unit', choices=EFFORT_UNITS,
        help="unit of the recorded effort; by default what the bag or the robot's YAML say",
    )
    parser.add_argument(
        '--relative-scale', action='store_true',
        help='accept currents of unknown drive gains: friction is then in A',
    )
    parser.add_argument(
        '--joint-names', metavar='BAG=MODEL,..', help='what the bag calls the joints'
    )
    parser.add_argument(
        '--payload', nargs='+', type=float, metavar='KG',
        help='mass that the flange carried, one for all bags or one for each, instead of what '
        'the bags note',
    )
    parser.add_argument(
        '--model', type=Path, metavar='FILE',
        help='identified_model.yaml: its gravity tells the directions apart, and its delay is '
        'taken; by default gravity is found in the segments',
    )
    parser.add_argument(
        '--delay', type=float, metavar='S',
        help='time by which effort lags behind position (default: that of the model, or 0)',
    )
    defaults = SegmentOptions()
    parser.add_argument(
        '--bins', type=int, default=defaults.bins,
        help='positions at which both ways are compared, at most (default: %(default)s)',
    )
    add_window_options(parser)
    _add_plan_options(parser)
    add_output_option(parser, 'folder for the map, its curves and the report')
    add_json_option(parser)


def _add_plan_options(parser: argparse.ArgumentParser) -> None:
    plan = SegmentPlan()
    group = parser.add_argument_group('making the motion instead')
    group.add_argument(
        '--plan', metavar='EXPERIMENT',
        help='write the segments of each joint as a certified trajectory within the limits of '
        'this experiment file',
    )
    group.add_argument(
        '--of', nargs='+', metavar='JOINT', help='joints to plan (default: all)'
    )
    for name, kind, unit, words in (
        ('slowest', float, 'RAD/S', f'slowest speed (default: {plan.slowest:g})'),
        ('fastest', float, 'RAD/S', 'fastest speed (default: what limits and range allow)'),
        ('count', int, 'N', f'number of speeds (default: {plan.count})'),
        ('travel', float, 'RAD', f'longest way to either side (default: {plan.travel:g})'),
        ('repeats', int, 'N', f'how often (default: {plan.repeats})'),
    ):
        group.add_argument(f'--{name}', type=kind, metavar=unit, help=words)
    # The older name of --travel.
    group.add_argument('--stroke', dest='travel', type=float, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Make the map, or the motion for it."""
    if (args.plan is None) == (not args.bags):
        raise UsageError(
            'name bags to map, or an experiment file with --plan to make the motion: one of both'
        )
    if args.plan is not None:
        return _plan(args)
    for name in (*PLAN_OPTIONS, 'of'):
        if getattr(args, name) is not None:
            raise UsageError(f'--{name} is of a motion to be made: add --plan, or leave it out')
    return _map(args)


def _plan(args: argparse.Namespace) -> int:
    """Write the segments of each joint."""
    robot = robot_from_options(args)
    experiment = load_experiment(find_experiment(args.plan))
    if args.gravity is not None or args.mounting is not None:
        experiment = replace(experiment, gravity=robot.gravity)
    given = {name: getattr(args, name) for name in PLAN_OPTIONS}
    plan = SegmentPlan(**{name: value for name, value in given.items() if value is not None})
    joints = args.of or list(robot.joint_names)
    names = [f'friction_{joint}.trajectory.yaml' for joint in joints]
    for name in names:
        check_writable(args.output / name, args.force)
    made = []
    for joint in joints:
        trajectory = certified_segments(robot, experiment, joint, plan)
        say(f'{joint}: {trajectory.duration:.0f} s of segments')
        made.append(trajectory)
    write_results(
        args.output,
        {name: dump_trajectory(one) for name, one in zip(names, made, strict=True)}, args.force,
    )
    if args.json:
        print_json({
            'trajectories': [
                {'joint': joint, 'file': args.output / name, 'duration': one.duration,
                 'sha256': one.sha256}
                for joint, name, one in zip(joints, names, made, strict=True)
            ],
        })
    else:
        for name in names:
            show(str(args.output / name))
    return 0


def _map(args: argparse.Namespace) -> int:
    """Make the map of some bags."""
    for name in FRICTION_MAP_FILES:
        check_writable(args.output / name, args.force)
    options = SegmentOptions(bins=args.bins)
    if args.payload is not None and len(args.payload) not in (1, len(args.bags)):
        raise UsageError(
            f'--payload names {len(args.payload)} masses for {len(args.bags)} bags: give one for '
            'all, or one for each'
        )
    for mass in args.payload or ():
        if not 0.0 <= mass < np.inf:
            raise UsageError(f'--payload is {mass:g} kg, a mass is at least 0')
    model = None if args.model is None else load_model(args.model)
    robot = robot_from_options(args)
    if model is not None and args.drive_gains is None:
        gains = model.robot.drives.drive_gain
        robot = robot.with_drive_gains(gains) if np.all(np.isfinite(gains)) else robot
    robot, runs, notes = _read(robot, args, model)
    found = map_friction(robot, runs, options, model)
    found = replace(found, notes=(*dict.fromkeys(notes), *found.notes))
    bags = [str(bag) for bag in args.bags]
    save_friction_map(args.output, found, bags, args.command_line, force=args.force)
    for note in found.notes:
        warn(note)
    if args.json:
        print_json(friction_map_content(found))
    else:
        show(friction_map_text(found), end='')
        show(f'report: {args.output / "report.html"}')
    return 0


def _read(
    robot: RobotModel, args: argparse.Namespace, model: IdentifiedModel | None
) -> tuple[RobotModel, list[MapRun], list[str]]:
    """Return the arm with usable gains and the runs, and what a reader should know."""
    names = parse_joint_names(args.joint_names)
    recordings = [
        read_recording(
            bag, robot.joint_names, topic=args.topic, names=names, encoders=robot.encoders
        )
        for bag in args.bags
    ]
    notes = [note for one in recordings if (note := check_robot_name(one, robot.name))]
    if model is not None and model.relative_scale:
        notes.append('the model has a relative scale: what is called N m here has it, too')
    unit = choose_effort_unit(args.effort_unit, recordings, robot)
    robot, relative = choose_drive_gains(robot, unit, args.relative_scale)
    if relative:
        notes.append('drive gains are unknown: what is called N m here is A')
        if model is not None:
            raise UsageError('--model is in N m and drive gains are unknown: leave one out')
    delay = args.delay
    if delay is None:
        delay = 0.0 if model is None else model.source.delay
    runs = []
    for number, recording in enumerate(recordings):
        # A segment at reduced speed is a segment at another speed.
        dataset = process(
            recording, KinematicFilter(), unit, start=args.start, stop=args.stop, robot=robot,
            delay=delay, keep_slowed=True,
        )
        runs.append(MapRun(dataset, _payload_of(args.payload, number, recording.metadata)))
        notes += _notes_of(dataset)
    return robot, runs, notes


def _notes_of(dataset: Dataset) -> list[str]:
    """
    Return the notes on a dataset, without those that any friction map has.

    All joints but one rest, and nothing but friction tells the delay: what is found is not one.
    """
    stationary = find_stationary(dataset.joint_names, np.ptp(dataset.motion.q, axis=0))
    delay = [] if dataset.found_delay is None else [dataset.found_delay.describe(dataset.delay)]
    return [note for note in dataset.notes if note not in stationary and note not in delay]


def _payload_of(
    given: Sequence[float] | None, number: int, metadata: Mapping[str, str]
) -> float:
    """Return the mass that a bag was recorded with [kg], NaN where it is not stated."""
    if given is not None:
        return float(given[number if len(given) > 1 else 0])
    return payload_mass(metadata.get('payload', ''))
