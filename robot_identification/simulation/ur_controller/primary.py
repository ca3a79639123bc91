# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The primary and secondary interfaces of a controller (TCP ports 30001 and 30002).

The robot states itself ten times a second, and takes lines: commands, and programs in URScript.
Of programs it runs one: that of External Control, whose text says where the sockets of the driver
are. Packets are a size (int32, header included), a type (uint8) and a payload, big endian.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import re
import struct

import numpy as np
from robot_identification.simulation.ur_controller.robot import (
    CB3_TYPES, ROBOT_TYPES, RobotMode, SafetyMode, UrRobot,
)
from robot_identification.simulation.ur_controller.session import ProtocolError, Session

PORT, SECONDARY_PORT = 30001, 30002
RATE = 10.0  # of the state [Hz]
LARGEST_PROGRAM = 1_000_000  # [bytes]; chosen: that of External Control has 50 000
SOCKETS = ('trajectory_socket', 'script_command_socket', 'reverse_socket')
_MESSAGE, _STATE = 20, 16  # types of packets
_VERSION, _SAFETY, _KEY, _EXCEPTION = 3, 5, 7, 10  # kinds of messages
_JOINT_ACCELERATION = 40.0  # of the configuration [rad/s^2]
_SOURCE = 254  # of messages: undefined
_CALIBRATED = 2  # state of the kinematics: measured, and made linear
_NAME = re.compile(r'(def|sec)\s+(\w+)\s*\(\s*\)\s*:')
_SOCKET = re.compile(
    r'\w+\(\s*"([^"]*)"\s*,\s*(\d{1,5})\s*,\s*"(' + '|'.join(SOCKETS) + r')"'
)


@dataclass(frozen=True)
class Program:
    """The program of External Control: its name and the driver's sockets, by their names."""

    name: str
    sockets: dict[str, tuple[str, int]]


def read_program(text: str) -> tuple[str, Program | None]:
    """Return the name of a program in URScript, and what it is if it is External Control."""
    match = _NAME.search(text)
    name = '' if match is None else match[2]
    sockets = {found[3]: (found[1], int(found[2])) for found in _SOCKET.finditer(text)}
    is_known = set(sockets) == set(SOCKETS) and all(
        0 < port < 2**16 for _, port in sockets.values()
    )
    return name, Program(name, sockets) if is_known else None


class PrimarySession(Session):
    """
    One connection; `run` takes External Control and says whether the robot may run it.

    `receive` takes bytes as they come; `cycle` returns what the robot has to say. Raises
    ProtocolError for a text that does not end.
    """

    def __init__(self, robot: UrRobot, run: Callable[[Program], bool]) -> None:
        self._robot, self._run = robot, run
        self._buffer = bytearray()
        self._lines: list[str] = []
        self._size = 0
        self._next = 0.0
        self._safety: SafetyMode | None = None
        self._running = ''
        self._replies = bytearray()

    def greeting(self) -> bytes:
        """Return the first packet, the version."""
        major, minor, bugfix, build = self._robot.version
        name = b'URControl'
        return self._message(_VERSION, struct.pack(
            f'>b{len(name)}sBBii', len(name), name, major, minor, bugfix, build
        ) + b'28-11-2026, 00:00:00')

    def receive(self, data: bytes) -> bytes:
        """Take lines: commands at once, programs when they end."""
        self._buffer += data
        self._size += len(data)
        while b'\n' in self._buffer:
            line, _, self._buffer = self._buffer.partition(b'\n')
            self._take_line(line.decode('utf-8', 'replace').rstrip('\r'))
        if self._size > LARGEST_PROGRAM:
            raise ProtocolError(f'a program of more than {LARGEST_PROGRAM} bytes')
        if not self._lines and not self._buffer:
            self._size = 0
        return b''

    def _take_line(self, line: str) -> None:
        robot = self._robot
        if not self._lines and _NAME.match(line) is None:
            commands: dict[str, Callable[[], None]] = {
                'power on': robot.power_on, 'power off': robot.power_off,
                'set robotmode run': robot.release_brakes,
                'set unlock protective stop': robot.unlock,
                'stop program': lambda: robot.stop('stopped by a client'),
            }
            if line.strip() in commands:
                commands[line.strip()]()
            return
        self._lines.append(line)
        if line == 'end':
            text, self._lines = '\n'.join(self._lines), []
            self._execute(text)

    def _execute(self, text: str) -> None:
        name, program = read_program(text)
        if program is None:
            if text.startswith('def'):
                self._replies += self._message(_EXCEPTION, struct.pack('>ii', 1, 1) + (
                    b'this simulated controller runs External Control only'
                ))
            self._robot.messages.append(f'{name}: not run, it is not External Control')
        elif not self._run(program):
            self._robot.messages.append(f'{name}: not run, the arm may not move')

    def cycle(self) -> bytes:
        """Return what is due in this cycle."""
        robot, parts = self._robot, [bytes(self._replies)]
        self._replies.clear()
        if robot.safety_mode is not self._safety:
            self._safety = robot.safety_mode
            parts.append(self._message(
                _SAFETY, struct.pack('>iiBII', 0, 0, robot.safety_mode, 0, 0)
            ))
        running = '' if robot.program is None else robot.program_name
        if running != self._running:
            if self._running:
                parts.append(self._key('PROGRAM_XXX_STOPPED', self._running))
            if running:
                parts.append(self._key('PROGRAM_XXX_STARTED', running))
            self._running = running
        if robot.time >= self._next:
            self._next = robot.time + 1.0 / RATE
            parts.append(_packet(_STATE, self._state()))
        return b''.join(parts)

    def _message(self, kind: int, body: bytes) -> bytes:
        time = int(1e6 * self._robot.time)
        return _packet(_MESSAGE, struct.pack('>QBB', time, _SOURCE, kind) + body)

    def _key(self, title: str, text: str) -> bytes:
        return self._message(_KEY, struct.pack(
            f'>iiB{len(title)}s', 0, 0, len(title), title.encode()
        ) + text.encode())

    def _state(self) -> bytes:
        robot = self._robot
        powered = robot.robot_mode != RobotMode.POWER_OFF
        mode = struct.pack(
            '>Q7?BBdddB', int(1e6 * robot.time), True, True, powered,
            robot.safety_mode == SafetyMode.ROBOT_EMERGENCY_STOP,
            robot.safety_mode == SafetyMode.PROTECTIVE_STOP,
            robot.program is not None and not robot.paused, robot.paused,
            robot.robot_mode, 0, robot.fraction, robot.scaling, 1.0, 0,
        )
        board = struct.pack(
            '>2I2B2d2b2d4f3BI3B', 0, robot.outputs, 0, 0, 0.0, 0.0, 0, 0, 0.0, 0.0,
            30.0, 48.0, 0.0, 0.0, robot.safety_mode, 0, 0, 0, 0, 0, 0,
        )
        rows = [robot.kinematics[name] for name in ('theta', 'a', 'd', 'alpha')]
        kinematics = struct.pack('>6I24dI', *robot.checksums(), *np.concatenate(rows), _CALIBRATED)
        limits = np.column_stack([robot.limits.lower, robot.limits.upper]).ravel()
        motion = np.column_stack([robot.limits.velocity, [_JOINT_ACCELERATION] * 6]).ravel()
        lengths = [robot.kinematics[name] for name in ('a', 'd', 'alpha', 'theta')]
        is_cb3 = robot.name in CB3_TYPES
        configuration = struct.pack(
            '>24d5d24d4i', *limits, *motion, 1.05, 1.4, 0.25, 1.2, 0.5, *np.concatenate(lengths),
            0, 1 if is_cb3 else 2, ROBOT_TYPES[robot.name], 0 if is_cb3 else 1,
        )
        parts = {0: mode, 3: board, 5: kinematics, 6: configuration}
        return b''.join(_packet(kind, body) for kind, body in parts.items())


def _packet(kind: int, body: bytes) -> bytes:
    return struct.pack('>IB', 5 + len(body), kind) + body
