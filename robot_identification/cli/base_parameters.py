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

"""`robot-identification base-parameters`."""

from __future__ import annotations

import argparse
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.options import add_robot_options
from robot_identification.cli.options import robot_from_options
from robot_identification.cli.output import print_json
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters

CLASS_WORDS = {
    'identifiable': 'identifiable alone',
    'combined': 'only in a combination',
    'unidentifiable': 'no motion shows them',
}


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'base-parameters', 'say which parameters of an arm motion can show',
        'robot-identification base-parameters --robot ur5 --friction coulomb,viscous '
        '--rotor-inertia', run,
    )
    add_robot_options(parser)
    parser.add_argument(
        '--friction', default='none', metavar='LAWS',
        help='comma list of friction laws, or none (default: %(default)s)',
    )
    parser.add_argument(
        '--rotor-inertia', action=argparse.BooleanOptionalAction, default=False,
        help='include reflected rotor inertias (default: no)',
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print rank, classes and expressions."""
    robot = robot_from_options(args)
    parameters = make_standard_parameters(
        robot.n, parse_friction(args.friction), args.rotor_inertia
    )
    reduction = reduce_to_base(robot, parameters)
    classes = reduction.classes()
    expressions = [reduction.expression(row) for row in range(reduction.rank)]
    if args.json:
        print_json({
            'robot': robot.name,
            'frames': 'joint',
            'gravity': robot.gravity,
            'standard_parameters': parameters.size,
            'rank': reduction.rank,
            'classes': {kind: list(names) for kind, names in classes.items()},
            'base_parameters': [
                {'name': name, 'unit': unit, 'expression': expression}
                for name, unit, expression in zip(
                    reduction.names, reduction.units, expressions, strict=True
                )
            ],
        })
        return 0
    print(
        f'{robot.name}: {reduction.rank} base parameters of {parameters.size} standard ones, '
        f'gravity ({", ".join(f"{value:.4g}" for value in robot.gravity)}) m/s^2, '
        'in joint frames'
    )
    for kind, names in classes.items():
        print(f'  {CLASS_WORDS[kind]} ({len(names)}): {" ".join(names) or "none"}')
    print('Joints: ' + ', '.join(
        f'{number} {name}' for number, name in enumerate(robot.joint_names, start=1)
    ))
    for number, (expression, unit) in enumerate(
        zip(expressions, reduction.units, strict=True), start=1
    ):
        print(f'{number:4d}  {expression}  [{unit}]')
    return 0
