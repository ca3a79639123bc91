# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`robot-identification robots`."""

import argparse

from robot_identification.cli.output import print_results
from robot_identification.model import known_robots

EXAMPLE = 'robot-identification robots'


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the command takes no options of its own."""


def run(args: argparse.Namespace) -> None:
    """Print the registry."""
    robots = known_robots()
    width = max((len(robot.name) for robot in robots), default=0)
    print_results(args, {'robots': [
        {'name': r.name, 'description': r.description, 'yaml': r.yaml, 'urdf': r.urdf}
        for r in robots
    ]}, '\n'.join(
        f'{name:<{width}}  {text}' for robot in robots for name, text in (
            (robot.name, robot.description), ('', robot.yaml), ('', robot.urdf)
        )
    ))
