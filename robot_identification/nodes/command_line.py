# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Help of a node, and the refusal of arguments that are not of ROS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import inspect
from pathlib import Path
from typing import Any

from rclpy.utilities import remove_ros_args
from robot_identification.errors import UsageError

HELP = ('-h', '--help')


def asked_help(given: Sequence[str], make_node: Callable[[], Any]) -> str | None:
    """
    Return the help of a node where its command line asks for it, None where it is to start.

    `given` is the command line with the name of the executable. Raises UsageError for an argument
    that is not one of ROS.
    """
    name = Path(given[0]).stem if given else 'the node'
    words = remove_ros_args(list(given))[1:]
    if any(word in HELP for word in words):
        about = inspect.getdoc(inspect.getmodule(make_node)) or ''
        return (
            f'usage: {name} [--ros-args -p NAME:=VALUE ..]\n\n{about}\n\n'
            'Parameters are given behind --ros-args, each as -p NAME:=VALUE, or in a file by\n'
            '--params-file FILE; all are in docs/parameters.md, topics and services in '
            'docs/nodes.md.'
        )
    if words:
        raise UsageError(
            f'unknown argument {words[0]} of {name}: parameters are given as `--ros-args -p '
            'NAME:=VALUE`; --help says more'
        )
    return None
