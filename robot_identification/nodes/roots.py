# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Paths that parameters name, inside the folders that the operator allowed.

Every node on the graph can set a parameter and call a service: only what is below
`allowed_read_roots` is read, and only below `allowed_write_roots` anything is written.
"""

from __future__ import annotations

import os
from pathlib import Path

from rclpy.node import Node
from robot_identification.allowed_paths import inside_roots, root_folders
from robot_identification.errors import UsageError
from robot_identification.excitation import find_experiment
from robot_identification.model import find_urdf, share_directory
from robot_identification.nodes.common import (
    declare_roots, READ_ROOTS, value_of, WRITE_ROOTS,
)

__all__ = [
    'allowed_to_read', 'allowed_to_write', 'declare_roots', 'is_shipped', 'read_path',
    'read_paths', 'readable_experiment', 'readable_robot', 'write_path',
]


def read_path(node: Node, name: str) -> Path:
    """
    Return the file or folder to read that a parameter names, resolved.

    Raises UsageError if the parameter is empty, or names nothing that may be read.
    """
    return allowed_to_read(node, name, _value(node, name))


def read_paths(node: Node, name: str) -> list[Path]:
    """
    Return the files or folders to read that a parameter lists, resolved; empty ones are left out.

    Raises UsageError if one of them may not be read.
    """
    return [
        allowed_to_read(node, name, path) for path in value_of(node, name) or () if path
    ]


def write_path(node: Node, name: str) -> Path:
    """
    Return the file or folder to write that a parameter names, resolved.

    Raises UsageError if the parameter is empty, or names a place that may not be written.
    """
    return _allowed(node, name, _value(node, name), WRITE_ROOTS)


def allowed_to_read(node: Node, name: str, path: str | Path) -> Path:
    """
    Return a path, resolved, if it may be read; `name` is the parameter that led to it.

    Raises UsageError if it may not, or is not there.
    """
    found = _allowed(node, name, path, READ_ROOTS)
    if not found.exists():
        raise UsageError(f'{name} of {node.get_name()}: no such file: {path}')
    return found


def allowed_to_write(node: Node, name: str, path: str | Path) -> Path:
    """Return a path, resolved, if it may be written, else raise UsageError."""
    return _allowed(node, name, path, WRITE_ROOTS)


def readable_robot(node: Node) -> str:
    """
    Return what the parameter `robot` names: a known robot, or a robot YAML that may be read.

    The description that a YAML names must be readable, too, or one of those shipped. Raises
    UsageError if either is outside of the roots, or the parameter names a description itself.
    """
    path = str(node.get_parameter('robot').value)
    if path.endswith(('.yaml', '.yml')):
        path = str(allowed_to_read(node, 'robot', path))
    urdf = find_urdf(path)
    if not is_shipped(urdf):
        allowed_to_read(node, 'robot', urdf)
    return path


def readable_experiment(node: Node, name: str) -> Path:
    """
    Return the experiment file that a parameter names: a shipped one, or one that may be read.

    Raises UsageError if it may not be read, or is not there.
    """
    value = _value(node, name)
    # What is outside is refused whether it is there or not.
    found = Path(value) if '/' in value else find_experiment(value)
    return found if is_shipped(found) else allowed_to_read(node, name, found)


def is_shipped(path: Path) -> bool:
    """
    Return whether a path is one of the package's own descriptions and configurations.

    A workspace installed by links has these lead to its sources, so links are not followed.
    """
    share = share_directory()
    written = Path(os.path.normpath(path.absolute()))
    return any(written.is_relative_to(share / folder) for folder in ('config', 'urdf'))


def _value(node: Node, name: str) -> str:
    value = value_of(node, name)
    if not value:
        raise UsageError(f'the parameter {name} of {node.get_name()} is not set')
    return str(value)


def _allowed(node: Node, name: str, path: str | Path, roots: str) -> Path:
    try:
        return inside_roots(path, root_folders(value_of(node, roots) or ()))
    except UsageError as error:
        raise UsageError(
            f'{name} of {node.get_name()}: {error}; start the node with {roots} that hold it'
        ) from error
