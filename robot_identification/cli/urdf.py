# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification urdf`."""

import argparse
from pathlib import Path

from robot_identification import load_robot
from robot_identification.cli.options import (
    add_output_option, add_xacro_arguments, parse_xacro_arguments,
)
from robot_identification.errors import UsageError
from robot_identification.files import check_writable, write_atomically
from robot_identification.model import (
    calibrate, find_urdf, find_xacro_arguments, parse_urdf, read_calibration, read_description,
)

EXAMPLE = 'robot-identification urdf --robot ur5 --calibration calibration.conf -o my_ur5.urdf'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument('--robot', metavar='R', help='a known robot, or a robot YAML')
    parser.add_argument(
        '--urdf', type=Path, metavar='FILE', help='a link table (.yaml), a xacro or a URDF'
    )
    add_xacro_arguments(parser)
    parser.add_argument(
        '--calibration', type=Path, metavar='FILE',
        help="calibration.conf of a Universal Robot's controller, or the YAML of its ROS driver's "
        'calibration tool',
    )
    add_output_option(parser, 'URDF to write')


def run(args: argparse.Namespace) -> None:
    """Write the URDF."""
    check_writable(args.output, args.force)
    if args.robot is None and args.urdf is None:
        raise UsageError('name what to write a URDF of: --robot R or --urdf FILE')
    if args.robot and args.urdf and args.calibration is None:
        raise UsageError('--robot beside --urdf names the arm of a --calibration: leave it out')
    path = args.urdf or find_urdf(args.robot)
    stated = {} if args.urdf else find_xacro_arguments(args.robot)
    text = read_description(path, stated | parse_xacro_arguments(args.xacro_arguments))
    urdf = parse_urdf(text, str(path))
    if args.calibration is not None:
        text = calibrate(
            load_robot(args.robot, urdf=urdf), text, read_calibration(args.calibration),
            str(args.calibration),
        )
        parse_urdf(text, str(args.output))
    write_atomically(args.output, text)
    print(f'written to {args.output}')
