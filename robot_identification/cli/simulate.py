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

"""`robot-identification simulate`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.options import add_robot_options
from robot_identification.cli.options import robot_from_options
from robot_identification.cli.options import seed
from robot_identification.cli.output import print_json
from robot_identification.errors import UsageError
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.experiment.simulated_run import simulate
from robot_identification.experiment.simulated_run import write_simulated_bag
from robot_identification.simulation.truth import draw_truth
from robot_identification.simulation.twin import NOISE_FREE
from robot_identification.simulation.twin import Sensors


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'simulate', 'record a trajectory on a simulated robot',
        'robot-identification simulate --robot ur5 --trajectory trajectory.yaml -o bag', run,
    )
    add_robot_options(parser)
    parser.add_argument('--trajectory', type=Path, required=True, metavar='FILE')
    parser.add_argument(
        '--truth-seed', type=seed, default=0, metavar='S',
        help='which hidden robot: masses, friction, gains (default: %(default)s)',
    )
    parser.add_argument(
        '--seed', type=seed, default=0, metavar='S', help='of the sensor noise (default: 0)'
    )
    parser.add_argument('--noise-free', action='store_true', help='perfect sensors')
    parser.add_argument(
        '-o', '--output', type=Path, required=True, metavar='BAG', help='rosbag2 folder (MCAP)'
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Simulate and write the bag."""
    if args.output.exists():
        raise UsageError(f'{args.output} exists already: name another bag')
    robot = robot_from_options(args)
    trajectory = load_trajectory(args.trajectory)
    if (trajectory.robot, trajectory.joint_names) != (robot.name, robot.joint_names):
        raise UsageError(
            f'{args.trajectory} is for {trajectory.robot} with the joints '
            f'{", ".join(trajectory.joint_names)}, not for {robot.name} with '
            f'{", ".join(robot.joint_names)}'
        )
    if args.gravity is None and args.mounting is None and 'gravity' in trajectory.certificate:
        robot = robot.with_gravity(trajectory.certificate['gravity'])
    result = simulate(
        robot, trajectory, draw_truth(robot, args.truth_seed),
        NOISE_FREE if args.noise_free else Sensors(), seed=args.seed,
    )
    write_simulated_bag(args.output, robot, result, trajectory)
    if args.json:
        print_json({'bag': args.output, 'samples': len(result.stamps),
                    'duration': trajectory.duration})
    else:
        print(f'{args.output}: {len(result.stamps)} joint states, {trajectory.duration:g} s')
    return 0
