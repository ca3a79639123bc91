# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Help of a node, and the refusal of arguments that are not of ROS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import inspect
from pathlib import Path
import re
from typing import Any

from rclpy.utilities import remove_ros_args
from robot_identification.errors import UsageError

HELP = ('-h', '--help')
_OPTION = re.compile(r'(?<![\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)')


def options_as_parameters(text: str, parameters: Iterable[str]) -> str:
    """
    Return a message with the parameters of a node in the place of options of the command line.

    The parameter has the name of the option, or ends with it after a dot. Commands in backticks
    stay, and so do options without a parameter.
    """
    # One without a dot comes last, and stays.
    deepest_first = sorted(parameters, key=lambda name: -name.count('.'))
    names = {name.rpartition('.')[2]: name for name in deepest_first}

    def named(option: re.Match[str]) -> str:
        return names.get(option[1].replace('-', '_'), option[0])

    parts = text.split('`')
    parts[::2] = [_OPTION.sub(named, part) for part in parts[::2]]
    return '`'.join(parts)


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
