# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
One commander of an arm on this computer: a claim that a node takes when it is armed.

The topics of a graph do not say which node commands an arm: two nodes with one `simulation_token`,
or two that send to one action, look alike. A claim is a set of names, one for each joint of a
topic of joint states. The kernel gives a name to one process at a time, and takes it back when
that process ends, however it ends. No message tells of it, so that no message refuses an arming.
"""

from __future__ import annotations

from collections.abc import Sequence
import errno
import hashlib
import socket
import sys

from rclpy.node import Node
from robot_identification.errors import UnsafeMotionError
from robot_identification.nodes.graph import JOINT_STATES

PREFIX = '\0robot_identification/'
DIGITS = 32  # hexadecimal digits of a SHA-256 that are used; chosen: 128 bits do not collide


class ArmClaim:
    """
    Lets one node of this computer at a time command an arm.

    An arm is a set of joints on a topic of joint states; the simulated one is also its token,
    empty for a real arm. Two claims exclude each other if they have a joint or the token in
    common, for any names and namespaces of the nodes. The names are abstract sockets of Linux:
    taken in one step, shared by all users, and without a file that could stay behind.
    """

    def __init__(self, node: Node, token: str = '') -> None:
        self._node, self._token = node, token
        self._topic = node.resolve_topic_name(JOINT_STATES)
        self._names: list[str] = []
        self._taken: list[socket.socket] = []

    @property
    def held(self) -> bool:
        """Return whether the arm is claimed by this node."""
        return bool(self._names)

    def acquire(self, joints: Sequence[str]) -> None:
        """
        Claim the arm with these joints of the joint states.

        Raises UnsafeMotionError if another process has it; this node then has no claim.
        """
        names = self._names_of(joints)
        if names == self._names:
            return
        self.release()
        try:
            self._take(names)
        except OSError as error:
            self.release()
            if error.errno == errno.EADDRINUSE:
                raise UnsafeMotionError(
                    f'the arm on {self._topic} is claimed by another process of this computer: '
                    'only one node may command an arm; abort or end that one first (`ros2 node '
                    'list` shows it)'
                ) from error
            self._node.get_logger().warning(
                f'nothing keeps another process from commanding the arm on {self._topic} too: '
                f'abstract sockets cannot be used here ({error})'
            )
        self._names = names

    def check(self) -> None:
        """Raise UnsafeMotionError if the arm is not claimed."""
        if not self._names:
            raise UnsafeMotionError(
                f'{self._node.get_fully_qualified_name()} has no claim of the arm on '
                f'{self._topic}: arm again'
            )

    def release(self) -> None:
        """Release the arm; to be called when this node no longer moves it."""
        for taken in self._taken:
            taken.close()
        self._names, self._taken = [], []

    def _names_of(self, joints: Sequence[str]) -> list[str]:
        """Return the names of a claim; hashed, as tokens are private."""
        domain = self._node.context.get_domain_id()
        names = [f'{domain} joint {self._topic} {joint}' for joint in joints]
        names += [f'{domain} token {self._token}'] if self._token else []
        # Sorted: of two that want some of the same names, one gets the first of them.
        return sorted(hashlib.sha256(name.encode()).hexdigest()[:DIGITS] for name in names)

    def _take(self, names: Sequence[str]) -> None:
        if sys.platform != 'linux':
            raise OSError(f'{sys.platform} has none')
        for name in names:
            taken = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._taken.append(taken)
            taken.bind(f'{PREFIX}{name}')
