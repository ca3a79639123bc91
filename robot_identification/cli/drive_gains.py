# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""`robot-identification drive-gains`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.options import add_output_option
from robot_identification.cli.options import add_robot_options
from robot_identification.cli.options import parse_joint_names
from robot_identification.cli.options import robot_from_options
from robot_identification.cli.output import print_json
from robot_identification.cli.output import warn
from robot_identification.errors import NotIdentifiableError
from robot_identification.errors import UsageError
from robot_identification.estimation.drive_gains import average_approaches
from robot_identification.estimation.drive_gains import compare_with_known
from robot_identification.estimation.drive_gains import DriveGains
from robot_identification.estimation.drive_gains import GainOptions
from robot_identification.estimation.drive_gains import gains_from_motion
from robot_identification.estimation.drive_gains import gains_from_poses
from robot_identification.estimation.drive_gains import payload_differences
from robot_identification.estimation.drive_gains import read_rests
from robot_identification.estimation.dwells import DwellOptions
from robot_identification.experiment.bag import read_recording
from robot_identification.experiment.recording import Recording
from robot_identification.files import check_writable
from robot_identification.model.identified_model import KinematicFilter
from robot_identification.model.model_file import load_identified_model
from robot_identification.model.payload import Payload
from robot_identification.model.payload import tool_frame
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.regressor import static_regressor
from robot_identification.model.robot_model import EFFORT_UNITS
from robot_identification.model.robot_model import RobotModel
from robot_identification.pipeline import choose_effort_unit
from robot_identification.processing.dataset import FloatArray
from robot_identification.processing.loading import check_robot_name
from robot_identification.processing.process import process
from robot_identification.report.gain_report import drive_gains_content
from robot_identification.report.gain_report import drive_gains_text
from robot_identification.report.gain_report import GAIN_FILES
from robot_identification.report.gain_report import save_drive_gains

# With fewer poses that both runs have, the motion says more.
FEWEST_SHARED_POSES = 3


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
    group = parser.add_argument_group('scale')
    group.add_argument(
        '--torque-from', default='target', metavar='SOURCE',
        help="at rest: target (default), the controller's target torques; urdf, the gravity of "
        'the masses in the URDF; or the gravity of an identified_model.yaml',
    )
    group.add_argument(
        '--current', choices=('target', 'measured'),
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
        '--use', choices=('auto', 'poses', 'motion'), default='auto',
        help='of a payload: its effect at poses that both runs have, or in motion; by default '
        f'poses where there are {FEWEST_SHARED_POSES}',
    )
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
        help='shorter rests are no poses (default: %(default)s); the last half is averaged',
    )
    add_output_option(parser, 'folder for drive_gains.json, results.txt and the report')
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Find the gains and write the results."""
    for name in GAIN_FILES:
        check_writable(args.output / name, args.force)
    if (args.payload is None) != (not args.loaded):
        raise UsageError('--payload and --loaded go together: what it weighs, and bags with it')
    robot = robot_from_options(args)
    options = GainOptions(
        smallest_current=args.smallest_current, intercept=args.intercept,
        dwells=DwellOptions(shortest=args.shortest_dwell, averaged=0.5 * args.shortest_dwell),
    )
    bare, loaded = (_read(robot, args, bags) for bags in (args.bags, args.loaded))
    notes = [
        note for recording in (*bare, *loaded)
        if (note := check_robot_name(recording, robot.name))
    ]
    payload = None
    if args.payload is None:
        found = _from_poses(robot, args, bare, options)
    else:
        payload = _payload(robot, args)
        found = _from_payload(robot, args, (bare, loaded), payload, options)
    found = compare_with_known(robot, replace(found, notes=(*notes, *found.notes)))
    save_drive_gains(
        args.output, robot, found, args.bags, args.loaded, payload, args.command_line,
        force=args.force,
    )
    for note in found.notes:
        warn(note)
    if args.json:
        print_json(drive_gains_content(robot, found, args.bags, args.loaded, payload))
    else:
        print(drive_gains_text(robot, found), end='')
        print(f'report: {args.output / "report.html"}')
    return 0


def _read(
    robot: RobotModel, args: argparse.Namespace, bags: Sequence[Path]
) -> list[Recording]:
    names = parse_joint_names(args.joint_names)
    return [
        read_recording(
            bag, robot.joint_names, topic=args.topic, names=names, encoders=robot.encoders
        )
        for bag in bags
    ]


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


def _measured(
    robot: RobotModel, args: argparse.Namespace, recordings: Sequence[Recording]
) -> str:
    """Return where measured currents are: a channel, or the effort."""
    if all(len(recording.channels.get('actual_current', ())) for recording in recordings):
        return 'actual_current'
    unit = choose_effort_unit(args.effort_unit, recordings, robot)
    if unit != 'A':
        raise NotIdentifiableError(
            f'{recordings[0].source}: effort is in N m and no actual_current was recorded: '
            'without a current there is no drive gain to find'
        )
    return 'effort'


def _from_poses(
    robot: RobotModel, args: argparse.Namespace, recordings: Sequence[Recording],
    options: GainOptions,
) -> DriveGains:
    torque, torque_from = _torque_source(robot, args.torque_from)
    has = {
        name: all(len(recording.channels.get(name, ())) for recording in recordings)
        for name in ('target_torque', 'target_current')
    }
    if torque is None and not has['target_torque']:
        raise NotIdentifiableError(
            f'{", ".join(recording.source for recording in recordings)}: the scale is not '
            'observable. Currents alone do not tell torques: record target_moment with the joint '
            'states, give a known payload (--payload, --loaded), or trust masses (--torque-from)'
        )
    wanted = args.current
    if wanted is None:
        wanted = 'target' if torque is None and has['target_current'] else 'measured'
    current = 'target_current' if wanted == 'target' else _measured(robot, args, recordings)
    readings = read_rests(recordings, options, torque or 'target_torque', current)
    notes = []
    if torque is None and wanted == 'target':
        notes += _compare_currents(robot, args, recordings, options)
    return gains_from_poses(
        robot.joint_names, average_approaches(readings), options, method='poses',
        torque_from=torque_from, current_from=_words(current), notes=notes,
    )


def _compare_currents(
    robot: RobotModel, args: argparse.Namespace, recordings: Sequence[Recording],
    options: GainOptions,
) -> list[str]:
    """Return how far measured currents are from their targets at rest: eq. 32 takes them equal."""
    try:
        measured = read_rests(
            recordings, options, 'target_current', _measured(robot, args, recordings)
        )
    except (NotIdentifiableError, UsageError):
        return []
    points = average_approaches(measured)
    differences = [
        max(abs(point.current - point.torque) for point in of_joint) for of_joint in points
    ]
    worst = int(np.argmax(differences))
    return [
        f'measured and target currents at rest, both approaches averaged, differ by up to '
        f'{differences[worst]:.3g} A ({robot.joint_names[worst]})'
    ]


def _torque_source(
    robot: RobotModel, source: str
) -> tuple[Callable[[FloatArray], FloatArray] | None, str]:
    """Return what gives torques of poses, None for the targets, and its name."""
    if source == 'target':
        return None, "the controller's target torque"
    if source == 'urdf':
        theta, words = prior_inertial_parameters(robot), 'gravity of the masses in the URDF'
    else:
        model = load_identified_model(Path(source))
        if model.relative_scale:
            raise UsageError(
                f'{source} has a relative scale: its torques are per unknown gain, and cannot '
                'give the gains'
            )
        if model.robot.joint_names != robot.joint_names:
            raise UsageError(
                f'{source} is of the joints {", ".join(model.robot.joint_names)}, not of '
                f'{", ".join(robot.joint_names)}'
            )
        theta, words = model.theta_lifted[: 10 * robot.n], f'gravity of {source}'

    def torque(q: FloatArray) -> FloatArray:
        return (static_regressor(robot, q) @ theta).reshape(q.shape)

    return torque, words


def _words(current: str) -> str:
    return {
        'target_current': "the controller's target current",
        'actual_current': 'measured current (actual_current)',
        'effort': 'measured current (effort)',
    }[current]


def _from_payload(
    robot: RobotModel,
    args: argparse.Namespace,
    runs: tuple[Sequence[Recording], Sequence[Recording]],
    payload: Payload,
    options: GainOptions,
) -> DriveGains:
    current = _measured(robot, args, [*runs[0], *runs[1]])
    if args.use != 'motion':
        try:
            bare, loaded = (
                read_rests(recordings, options, np.zeros_like, current) for recordings in runs
            )
            points = payload_differences(robot, bare, loaded, payload)
        except NotIdentifiableError:
            if args.use == 'poses':
                raise
            points = ()
        shared = len(points[0]) if points else 0
        if args.use == 'poses' and not shared:
            raise NotIdentifiableError(
                'the runs without and with the payload have no pose in common: rest at the same '
                'poses in both, or choose --use motion'
            )
        if args.use == 'poses' or shared >= FEWEST_SHARED_POSES:
            return gains_from_poses(
                robot.joint_names, points, options, method='payload_poses',
                torque_from=f'known payload of {payload.mass:g} kg', current_from=_words(current),
            )
    if current != 'effort':
        raise UsageError(
            'gains from a payload in motion need the current as the effort of the joint states, '
            'which here is in N m: rest at the same poses in both runs instead (--use poses)'
        )
    datasets = tuple(
        [process(recording, KinematicFilter(), 'A', robot=robot) for recording in recordings]
        for recordings in runs
    )
    return gains_from_motion(robot, datasets[0], datasets[1], payload)
