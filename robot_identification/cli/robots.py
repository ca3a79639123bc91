# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification robots`."""

from __future__ import annotations

import argparse
from typing import Any

from robot_identification.cli.command import add_command
from robot_identification.cli.options import add_json_option
from robot_identification.cli.output import print_json, show
from robot_identification.model import known_robots


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, 'robots', 'robot-identification robots', run,
    )
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Print the registry."""
    robots = known_robots()
    if args.json:
        print_json({'robots': [
            {'name': r.name, 'description': r.description, 'yaml': r.yaml, 'urdf': r.urdf}
            for r in robots
        ]})
        return 0
    width = max((len(robot.name) for robot in robots), default=0)
    for robot in robots:
        show(f'{robot.name:<{width}}  {robot.description}')
        show(f'{"":<{width}}  {robot.yaml}')
        show(f'{"":<{width}}  {robot.urdf}')
    return 0
