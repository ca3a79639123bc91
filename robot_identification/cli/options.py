# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Options that several commands share."""

import argparse
from collections.abc import Sequence
from pathlib import Path
import shlex
from typing import TypeVar

from robot_identification import load_robot
from robot_identification.cli.output import say
from robot_identification.errors import UsageError
from robot_identification.files import BY_COMMAND, ResultFolder
from robot_identification.model import (
    find_urdf, find_xacro_arguments, gravity_of_mounting, read_urdf, RobotModel,
)
from robot_identification.options import angle, from_values

# Help of a command's recordings.
RECORDING = 'rosbag2 folder or file, or a table: CSV, TSV, TXT, Parquet, LeRobot, MAT, NPZ'
MODEL_FILE = 'identified_model.yaml'  # in a result folder
BAG_SUFFIXES = ('.mcap', '.db3')
Given = TypeVar('Given')


def options_given(args: argparse.Namespace, kind: type[Given]) -> Given:
    """Return the options of a dataclass that `add_arguments` added to a command."""
    return from_values(kind, lambda key: getattr(args, key))


def refuse_options(args: argparse.Namespace, names: Sequence[str], remark: str) -> None:
    """Raise UsageError with a remark if one of some options is given, which others make void."""
    for name in names:
        value = getattr(args, name)  # None, or of a switch false, if it is not given
        if value is not None and value is not False:
            option = '-o' if name == 'output' else f'--{name.replace("_", "-")}'
            raise UsageError(f'{option} {remark}')


def add_robot_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which arm."""
    group = parser.add_argument_group('arm')
    group.add_argument('--robot', metavar='R', help='a known robot, or a robot YAML')
    add_description_options(group)
    group.add_argument(
        '--drive-gains', nargs='+', type=float, metavar='G',
        help='joint torque per motor current [N m/A], or per position error of a servo [N m/rad], '
        'kinematic order',
    )
    gravity = group.add_mutually_exclusive_group()
    gravity.add_argument(
        '--mounting', nargs=3, type=angle, metavar=('ROLL', 'PITCH', 'YAW'),
        help='orientation of the root frame in the world [rad]; 180deg 0 0 for a ceiling',
    )
    gravity.add_argument(
        '--gravity', nargs=3, type=float, metavar=('GX', 'GY', 'GZ'),
        help="gravity in the URDF's root frame [m/s^2]",
    )


def add_description_options(parser: argparse._ActionsContainer) -> None:
    """Add the options that name a description and its joints."""
    parser.add_argument(
        '--urdf', type=Path, metavar='FILE',
        help="URDF, xacro or link table instead of the robot's own",
    )
    add_xacro_arguments(parser)
    parser.add_argument(
        '--joints', nargs='+', metavar='J',
        help='joints that move, in kinematic order; the others are held fixed at neutral, at '
        '`locked` of the robot YAML, or where a recording has them',
    )


def described_robot(args: argparse.Namespace, robot: str | None = None) -> RobotModel:
    """Return the arm that --urdf describes, with what a robot YAML says of it beside."""
    urdf = args.urdf
    if args.xacro_arguments:
        arguments = parse_xacro_arguments(args.xacro_arguments)
        if urdf is None and robot is not None:
            urdf = find_urdf(robot)
            arguments = find_xacro_arguments(robot) | arguments
        if urdf is None:
            raise UsageError('--xacro-arguments are for a --urdf that is xacro')
        urdf = read_urdf(urdf, arguments=arguments)
    found = load_robot(robot, urdf=urdf, joints=args.joints)
    for remark in found.remarks:
        say(f'note: {remark}')
    return found


def description_words(args: argparse.Namespace) -> str:
    """Return the options of a description as they were given."""
    words = ['--urdf', str(args.urdf)]
    if args.joints:
        words += ['--joints', *args.joints]
    if args.xacro_arguments:
        words += ['--xacro-arguments', *args.xacro_arguments]
    return shlex.join(words)


def add_model_argument(
    parser: argparse.ArgumentParser, what: str = 'identified_model.yaml, or its folder'
) -> None:
    """Add the model file."""
    parser.add_argument('model', type=model_file, metavar='MODEL', help=what)


def model_file(text: str) -> Path:
    """Return the model file that a path names: a result folder stands for the model in it."""
    path = Path(text)
    if (path / MODEL_FILE).is_file():
        return path / MODEL_FILE
    if any(file.suffix in BAG_SUFFIXES for file in (path, *path.glob('*')) if file.is_file()):
        raise argparse.ArgumentTypeError(
            f'{path} is a bag: a model stands here ({MODEL_FILE}, or the result folder of '
            'identify), bags follow it'
        )
    return path


def robot_from_options(args: argparse.Namespace) -> RobotModel:
    """Return the arm the options name."""
    robot = with_gravity_given(args, described_robot(args, args.robot))
    return robot if args.drive_gains is None else robot.with_drive_gains(args.drive_gains)


def with_gravity_given(args: argparse.Namespace, robot: RobotModel) -> RobotModel:
    """Return an arm with the gravity of --mounting or --gravity; as it is without them."""
    if args.mounting is not None:
        return robot.with_gravity(gravity_of_mounting(*args.mounting))
    return robot if args.gravity is None else robot.with_gravity(args.gravity)


def add_xacro_arguments(parser: argparse._ActionsContainer) -> None:
    """Add --xacro-arguments."""
    parser.add_argument(
        '--xacro-arguments', nargs='+', default=[], metavar='NAME:=VALUE',
        help='arguments of a xacro description; `doctor` names the declared ones',
    )


def parse_xacro_arguments(texts: list[str]) -> dict[str, str]:
    """Return the arguments of ``NAME:=VALUE`` texts; raise UsageError for another form."""
    pairs = [text.partition(':=') for text in texts]
    for text, (name, assigned, _) in zip(texts, pairs, strict=True):
        if not name or not assigned:
            raise UsageError(f'--xacro-arguments must read NAME:=VALUE but one is {text!r}')
    return {name: value for name, _, value in pairs}


def add_mapping_option(parser: argparse.ArgumentParser) -> None:
    """Add --mapping."""
    parser.add_argument(
        '--mapping', type=Path, metavar='FILE',
        help='columns and units of recordings that are tables (default: LOG.yaml beside each, '
        'else recognized)',
    )


def add_output_option(
    parser: argparse.ArgumentParser, what: str, *, required: bool = True
) -> None:
    """Add -o/--output and --force."""
    parser.add_argument(
        '-o', '--output', type=Path, required=required, metavar='OUT', help=what
    )
    add_force_option(parser)


def add_force_option(
    parser: argparse._ActionsContainer, what: str = 'overwrite existing files'
) -> None:
    """Add --force."""
    parser.add_argument('--force', action='store_true', help=what)


def add_save_mapping_option(parser: argparse.ArgumentParser) -> None:
    """Add --save-mapping."""
    parser.add_argument(
        '--save-mapping', type=Path, metavar='FILE',
        help='write the recognized columns of the first table as a mapping, to edit and pass '
        'with --mapping',
    )


def result_folder(args: argparse.Namespace) -> ResultFolder:
    """Return the folder of --output, with --force and what was typed."""
    return ResultFolder(args.output, args.force, args.command_line, BY_COMMAND)
