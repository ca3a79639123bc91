# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
What a person does at the robot, and faults, by lines on a port of this host (TCP port 29990).

A real controller has no such interface: it has a teach pendant, buttons and cables. Each line is
answered by one line of JSON: the state of the robot, and the peaks of its motion.
"""

from __future__ import annotations

from collections.abc import Callable
import json
import math

from robot_identification.simulation.ur_controller.robot import Faults, Peaks, UrRobot
from robot_identification.simulation.ur_controller.session import LineSession

PORT = 29990
LONGEST_DELAY, LONGEST_CUT = 2.0, 600.0  # that can be asked for [s]


class PendantSession(LineSession):
    """One connection; `play` starts the program of the driver."""

    def __init__(self, robot: UrRobot, play: Callable[[], bool]) -> None:
        super().__init__()
        self._robot = robot
        self._actions: dict[str, Callable[[], object]] = {
            'state': lambda: None, 'reset peaks': self._reset, 'power on': robot.power_on,
            'power off': robot.power_off, 'brake release': robot.release_brakes,
            'protective stop': robot.protective_stop, 'unlock': robot.unlock,
            'emergency stop': robot.emergency_stop, 'restart safety': robot.restart_safety,
            'pause': robot.pause, 'stop': lambda: robot.stop('stopped at the pendant'),
            'play': lambda: robot.resume() if robot.paused else play(),
            'payload ignored': lambda: setattr(robot.faults, 'payload_ignored', True),
            'no faults': self._clear,
        }
        self._values: dict[str, tuple[float, Callable[[float], object]]] = {
            'slider': (1.0, lambda value: setattr(robot, 'slider', value)),
            'delay': (LONGEST_DELAY, lambda value: setattr(robot.faults, 'delay', value)),
            'loss': (1.0, lambda value: setattr(robot.faults, 'loss', value)),
            'rtde cut': (
                LONGEST_CUT, lambda value: setattr(robot.faults, 'cut_until', robot.time + value)
            ),
        }

    def _reset(self) -> None:
        self._robot.peaks = Peaks()

    def _clear(self) -> None:
        self._robot.faults = Faults()

    def answer(self, line: str) -> str:
        """Do what a line says, and return the state of the robot in JSON."""
        return json.dumps(self._act(line))

    def _act(self, line: str) -> dict[str, object]:
        robot = self._robot
        name, _, number = line.rpartition(' ')
        if line in self._actions:
            self._actions[line]()
        elif name in self._values:
            largest, act = self._values[name]
            try:
                value = float(number)
            except ValueError:
                value = math.nan
            if not 0.0 <= value <= largest:
                return {'error': f'{name} is {number!r:.40}, allowed are 0 to {largest:g}'}
            act(value)
        else:
            known = sorted([*self._actions, *(f'{each} VALUE' for each in self._values)])
            return {'error': f'{line!r:.40} is unknown, known are: {", ".join(known)}'}
        peaks = robot.peaks
        return {
            'time': robot.time, 'robot_mode': robot.robot_mode.name,
            'safety_mode': robot.safety_mode.name, 'program': robot.runtime.name,
            'slider': robot.slider, 'speed_scaling': robot.fraction * robot.scaling,
            'payload': robot.payload, 'peak_speed': peaks.speed,
            'peak_acceleration': peaks.acceleration,
            'moved_at': peaks.moved_at if math.isfinite(peaks.moved_at) else None,
            'messages': list(robot.messages)[-5:],
        }
