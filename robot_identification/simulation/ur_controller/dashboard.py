# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The dashboard server of a controller (TCP port 29999): a line in, a line out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from robot_identification.simulation.ur_controller.robot import (
    EXTERNAL_CONTROL, Runtime, UrRobot,
)
from robot_identification.simulation.ur_controller.session import LineSession

PORT = 29999
_RELEASE_DATE = 'Nov 28 2026'


class DashboardSession(LineSession):
    """One connection; `play` starts the program of the driver and says whether it could."""

    def __init__(self, robot: UrRobot, play: Callable[[], bool]) -> None:
        super().__init__()
        self._robot, self._play = robot, play
        self._quit = False

    @property
    def ended(self) -> bool:
        """Return whether the client has said `quit`."""
        return self._quit

    def greeting(self) -> bytes:
        """Return the line that begins the connection."""
        return b'Connected: Universal Robots Dashboard Server\n'

    def answer(self, line: str) -> str:
        """Return the answer to a line, as the server of PolyScope has it."""
        robot = self._robot
        name = f'{robot.loaded}.urp'
        playing = 'STOPPED' if robot.program is None else 'PAUSED' if robot.paused else 'PLAYING'
        safety, version = robot.safety_mode.name, robot.version
        stated = {
            'polyscopeversion':
                f'URSoftware {".".join(map(str, version))} ({_RELEASE_DATE})',
            'version': '.'.join(map(str, version)),
            'robotmode': f'Robotmode: {robot.robot_mode.name}',
            'safetymode': f'Safetymode: {safety}',
            'safetystatus': f'Safetystatus: {safety}',
            'running': f'Program running: {str(robot.runtime == Runtime.PLAYING).lower()}',
            'programstate': f'{playing} {name}',
            'is in remote control': 'true',
            'savelog': 'Log saved to disk',
            'get operational mode': 'AUTOMATIC',
            'get serial number': robot.options.serial,
            'get robot model': robot.name.rstrip('e').upper(),
            'get loaded program': f'Loaded program: /programs/{name}',
            'isprogramsaved': f'true {name}',
            'close popup': 'closing popup',
            'close safety popup': 'closing safety popup',
        }
        key = line.lower()
        if key in stated:
            return stated[key]
        if key in ('play', 'pause', 'stop'):
            return self._control(key)
        commands = {
            'power on': (robot.power_on, 'Powering on'),
            'power off': (robot.power_off, 'Powering off'),
            'brake release': (robot.release_brakes, 'Brake releasing'),
            'unlock protective stop': (robot.unlock, 'Protective stop releasing'),
            'restart safety': (robot.restart_safety, 'Restarting safety'),
        }
        if key in commands:
            act, answer = commands[key]
            act()
            return answer
        if key == 'quit':
            self._quit = True
            return 'Disconnected'
        first, _, rest = line.partition(' ')
        if first == 'load' and rest:
            robot.stop('another program was loaded')
            robot.loaded = PurePosixPath(rest).stem
            return f'Loading program: {rest}'
        texts = {'popup': 'showing popup', 'addToLog': 'Added log message'}
        return texts.get(first, f"could not understand: '{line}'")

    def _control(self, key: str) -> str:
        robot = self._robot
        if key == 'play':
            if robot.paused:
                started = robot.resume()
            elif robot.loaded == EXTERNAL_CONTROL:
                started = self._play()
            else:
                # Of another program nothing is known: the arm stands still while it runs.
                started = robot.start(robot.loaded) is not None
            return 'Starting program' if started else 'Failed to execute: play'
        if robot.program is None:
            return f'Failed to execute: {key}'
        if key == 'stop':
            robot.stop('stopped by the dashboard server')
            return 'Stopped'
        robot.pause()
        return 'Pausing program'
