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

"""`robot-identification robots`."""

from __future__ import annotations

import argparse
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.output import print_json
from robot_identification.model.catalogue import known_robots


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'robots', 'list the known robots and their files',
        'robot-identification robots', run,
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the catalogue."""
    robots = known_robots()
    if args.json:
        print_json({'robots': [
            {'name': r.name, 'description': r.description, 'yaml': r.yaml, 'urdf': r.urdf}
            for r in robots
        ]})
        return 0
    width = max((len(robot.name) for robot in robots), default=0)
    for robot in robots:
        print(f'{robot.name:<{width}}  {robot.description}')
        print(f'{"":<{width}}  {robot.yaml}')
        print(f'{"":<{width}}  {robot.urdf}')
    return 0
