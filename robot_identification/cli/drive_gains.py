# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification drive-gains`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.cli.command import add_command
from robot_identification.cli.options import (
    add_json_option, add_output_option, add_robot_options, robot_from_options,
)
from robot_identification.cli.output import print_json, show, warn
from robot_identification.errors import UsageError
from robot_identification.files import check_writable
from robot_identification.model import EFFORT_UNITS, Payload, RobotModel, tool_frame
from robot_identification.recording import parse_joint_names
from robot_identification.studies.drive_gains import (
    CURRENTS, drive_gains_content, drive_gains_text, FEWEST_SHARED_POSES, find_drive_gains,
    GAIN_FILES, GainOptions, GainRequest, save_drive_gains, StaticPoseOptions, USES,
)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'drive-gains', 'find joint torque per motor current, with its scale',
        'robot-identification drive-gains poses_bag --robot ur5 -o gains', run,
    )
    parser.add_argument(
        'bags', nargs='+', type=Path, metavar='BAG',
        help='rosbag2 folder or file with static poses; with --payload those without it',
    )
    add_robot_options(parser)
    parser.add_argument('--topic', help='joint-state topic (default: /joint_states)')
    parser.add_argument(
        '--effort-unit', choices=EFFORT_UNITS,
        help="unit of the recorded effort; by default what the bag or the robot's YAML say",
    )
    parser.add_argument(
        '--joint-names', metavar='BAG=MODEL,..', help='what the bag calls the joints'
    )
    _add_scale_options(parser.add_argument_group('scale'))
    defaults = GainOptions()
    parser.add_argument(
        '--smallest-current', type=float, default=defaults.smallest_current, metavar='A',
        help='poses at which a joint has less are left out for it (default: %(default)s)',
    )
    parser.add_argument(
        '--intercept', action='store_true', help='allow the current an offset at rest'
    )
    parser.add_argument(
        '--shortest-dwell', type=float, default=defaults.dwells.shortest, metavar='S',
        help='minimum rest to count as a static pose (default: %(default)s); its last half is '
        'averaged',
    )
    add_output_option(parser, 'folder for drive_gains.json, results.txt and the report')
    add_json_option(parser)


def _add_scale_options(group: Any) -> None:
    """Add the options that say where the scale comes from."""
    group.add_argument(
        '--torque-from', default='target', metavar='SOURCE',
        help="at rest: target (default), the controller's target torques; urdf, the gravity of "
        'the masses in the URDF; or the gravity of an identified_model.yaml',
    )
    group.add_argument(
        '--current', choices=CURRENTS,
        help='by default target where torques are targets and it was recorded, else measured',
    )
    group.add_argument(
        '--payload', nargs=4, type=float, metavar=('MASS', 'X', 'Y', 'Z'),
        help='a known payload instead: mass [kg] and centre of mass [m]; bags with it follow '
        '--loaded',
    )
    group.add_argument(
        '--payload-inertia', nargs=6, type=float, default=[0.0] * 6,
        metavar=('IXX', 'IYY', 'IZZ', 'IXY', 'IXZ', 'IYZ'),
        help='about its centre of mass [kg m^2]; by default that of a point',
    )
    group.add_argument(
        '--payload-frame', metavar='LINK',
        help="link that the payload is stated in; by default the tool's (tool0, flange, ..)",
    )
    group.add_argument(
        '--loaded', nargs='+', type=Path, default=[], metavar='BAG', help='bags with the payload'
    )
    group.add_argument(
        '--use', choices=USES, default='auto',
        help='of a payload: its effect at poses that both runs have, or in motion; by default '
        f'poses where there are {FEWEST_SHARED_POSES}',
    )


def run(args: argparse.Namespace) -> int:
    """Find the gains and write the results."""
    for name in GAIN_FILES:
        check_writable(args.output / name, args.force)
    robot = robot_from_options(args)
    request = GainRequest(
        bags=tuple(args.bags), loaded=tuple(args.loaded),
        payload=None if args.payload is None else _payload(robot, args),
        topic=args.topic, effort_unit=args.effort_unit,
        joint_names=parse_joint_names(args.joint_names), torque_from=args.torque_from,
        current=args.current, use=args.use,
        options=GainOptions(
            smallest_current=args.smallest_current, intercept=args.intercept,
            dwells=StaticPoseOptions(
                shortest=args.shortest_dwell, averaged=0.5 * args.shortest_dwell
            ),
        ),
    )
    found = find_drive_gains(robot, request)
    save_drive_gains(args.output, robot, found, request, args.command_line, force=args.force)
    for note in found.notes:
        warn(note)
    if args.json:
        print_json(drive_gains_content(robot, found, request))
    else:
        show(drive_gains_text(robot, found), end='')
        show(f'report: {args.output / "report.html"}')
    return 0


def _payload(robot: RobotModel, args: argparse.Namespace) -> Payload:
    mass, *center = args.payload
    if not mass > 0.0:
        raise UsageError(f'the mass of the payload is {mass:g} kg, it must be positive')
    xx, yy, zz, xy, xz, yz = args.payload_inertia
    payload = Payload(
        mass, np.array(center), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
        tool_frame(robot, args.payload_frame),
    )
    if not payload.is_possible:
        raise UsageError(
            'no rigid body has this --payload-inertia: none of Ixx, Iyy, Izz is negative, or more '
            'than the sum of the others'
        )
    return payload
