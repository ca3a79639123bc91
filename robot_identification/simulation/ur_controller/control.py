# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The three sockets of External Control, from the robot's side.

The robot connects to the driver: trajectory, script commands, reverse. Bytes are cut into messages
of signed 32-bit integers here, and handed to the program and to the robot.
"""

from __future__ import annotations

import struct

import numpy as np
from robot_identification.simulation.ur_controller.external_control import (
    ExternalControl, POINT_SIZE, REVERSE_SIZE, SCALE, SCRIPT_SIZE,
)
from robot_identification.simulation.ur_controller.robot import UrRobot
from robot_identification.simulation.ur_controller.session import Session

# Commands on the script socket that the robot takes; others move or measure what is not simulated.
SET_PAYLOAD, SET_GRAVITY, SET_TARGET_PAYLOAD = 1, 9, 12
SIZES = {
    'reverse_socket': REVERSE_SIZE, 'trajectory_socket': POINT_SIZE,
    'script_command_socket': SCRIPT_SIZE,
}


class ControlSession(Session):
    """The messages of one of the sockets of a program, by its name in `SIZES`."""

    def __init__(self, robot: UrRobot, program: ExternalControl, name: str) -> None:
        self._robot, self._program, self.name = robot, program, name
        self._layout = struct.Struct(f'>{SIZES[name]}i')
        self._buffer = bytearray()

    @property
    def must_wait(self) -> bool:
        """Return whether the socket is not to be read for now."""
        return self.name == 'trajectory_socket' and self._program.is_full

    @property
    def ended(self) -> bool:
        """Return whether the program has ended."""
        return bool(self._program.finished)

    def close(self) -> None:
        """End the program where the driver has closed the socket that commands it."""
        if self.name == 'reverse_socket' and not self._program.finished:
            self._program.finished = 'the driver closed the reverse socket'

    def receive(self, data: bytes) -> bytes:
        """Take bytes as they come."""
        self._buffer += data
        size = self._layout.size
        whole = len(self._buffer) // size * size
        for message in self._layout.iter_unpack(bytes(self._buffer[:whole])):
            if self.name == 'reverse_socket':
                self._program.take(message)
            elif self.name == 'trajectory_socket':
                self._program.take_point(message)
            else:
                self._take_command(message)
        del self._buffer[:whole]
        return b''

    def _take_command(self, message: tuple[int, ...]) -> None:
        numbers = np.array(message[1:]) / SCALE
        if message[0] in (SET_PAYLOAD, SET_TARGET_PAYLOAD):
            inertia = numbers[4:10] if message[0] == SET_TARGET_PAYLOAD else np.zeros(6)
            self._robot.set_payload(float(numbers[0]), numbers[1:4], inertia)
        elif message[0] == SET_GRAVITY:
            self._robot.set_gravity(numbers[:3])

    def cycle(self) -> bytes:
        """Return the results of trajectories that are due."""
        if self.name != 'trajectory_socket':
            return b''
        results = self._program.results
        return b''.join(struct.pack('>i', results.popleft()) for _ in range(len(results)))
