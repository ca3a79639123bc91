# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Arguments for launch files of others, whose names and choices differ between ROS distributions.

Nothing here imports ROS: what a file declares comes as names and choices. Raised is RuntimeError,
before anything is started.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import difflib
from pathlib import Path
from typing import Any

from robot_identification.files import dump_yaml, read_yaml, write_atomically
from robot_identification.model import EFFORT_UNITS

# By their names since Jazzy.
HUMBLE_NAMES = {'use_mock_hardware': 'use_fake_hardware'}
# What to do where an argument is not declared.
REMEDIES = {
    'use_mock_hardware': 'start that driver yourself as its documentation says, and '
    'ur_robot.launch.py with launch_driver:=false',
    'tf_prefix': 'leave tf_prefix out, or take the ur_simulation_gz of Jazzy or later',
}
EFFORT_CHOICE = 'use_currents_as_efforts'
# Their controllers state no torques.
CB3_TYPES = ('ur3', 'ur5', 'ur10')
# Series of robots by the major version of their PolyScope, those with a dashboard server.
SERIES = {'3': 'CB3', '5': 'e-Series and newer'}
# Of names that are one with a slip of the keys, from 0 to 1; chosen: one letter in five.
SIMILARITY = 0.8
# Read by launch itself, for every process.
OF_LAUNCH = ('emulate_tty', 'sigkill_timeout', 'sigterm_timeout')


def names_beyond(given: Iterable[str], known: Sequence[str], file: str) -> list[str]:
    """
    Return the names that a launch file does not declare, which those that it includes may read.

    Raises RuntimeError if one of them looks like a misspelt name, which launch takes without a
    word.
    """
    beyond = [name for name in given if name not in (*known, *OF_LAUNCH)]
    for name in beyond:
        near = difflib.get_close_matches(name, known, n=1, cutoff=SIMILARITY)
        if near:
            raise RuntimeError(
                f'{name}:=... is no argument of {file}: did you mean {near[0]}? `ros2 launch '
                f'robot_identification {file} --show-args` lists all'
            )
    return beyond


@dataclass(frozen=True)
class DeclaredArguments:
    """Arguments of a launch file: choices by name, empty where any value is taken."""

    package: str
    name: str
    choices: Mapping[str, Sequence[str]]

    @property
    def file(self) -> str:
        """Return how messages name the file."""
        return f'{self.name} of {self.package}'

    def fitted(self, wanted: Mapping[str, str]) -> dict[str, str]:
        """Return wanted arguments by the names that the file declares."""
        return {self._declared_name(name, value): value for name, value in wanted.items()}

    def _declared_name(self, name: str, value: str) -> str:
        """Return how the file calls an argument."""
        older = HUMBLE_NAMES.get(name)
        declared = next((known for known in (name, older) if known in self.choices), None)
        if declared is None:
            names = name if older is None else f'{name} or {older}'
            raise RuntimeError(
                f'{name}:={value}: {self.file} declares no argument {names}: '
                f'{REMEDIES.get(name, f"leave {name} out")}'
            )
        allowed = self.choices[declared]
        if allowed and value not in allowed:
            raise RuntimeError(f'{name}:={value}: {self.file} takes {", ".join(allowed)}')
        return declared


def choose_effort(
    declared: DeclaredArguments, robot: str, unit: str, asked: str | None = None,
) -> tuple[dict[str, str], str]:
    """
    Return what makes a driver publish effort in a unit, and a sentence for the log.

    `asked` is what was given for the driver's own argument. Raises RuntimeError if the driver
    cannot, or if unit and argument contradict each other.
    """
    kind = EFFORT_UNITS[unit]
    currents = kind.is_current
    if EFFORT_CHOICE not in declared.choices:
        if not currents:
            raise RuntimeError(
                f'effort_unit:={unit}: {declared.file} declares no {EFFORT_CHOICE}: this driver '
                'publishes motor currents; give effort_unit:=A, or install a driver that '
                'publishes torques'
            )
        return {}, f'effort is motor current [A]; {declared.file} has no {EFFORT_CHOICE}'
    if not currents and robot in CB3_TYPES:
        raise RuntimeError(
            f'effort_unit:={unit} with ur_type:={robot}: a CB3 robot states motor currents and no '
            'torques; give effort_unit:=A'
        )
    choice = 'true' if currents else 'false'
    if asked is not None and asked.lower() != choice:
        raise RuntimeError(
            f'{EFFORT_CHOICE}:={asked} contradicts effort_unit {unit}: give effort_unit alone, '
            'A for motor currents and Nm or Nm-without-gravity for torques, which chooses it'
        )
    quantity = f'{kind.description} [{kind.symbol}]'
    if not currents:
        # The driver's own test and a review of it disagree about gravity.
        quantity += (
            ', of PolyScope 5.23, 10.11 and later; whether gravity is in it is not for the driver '
            'to choose, and `robot-identification doctor` finds it in a recording'
        )
    return {EFFORT_CHOICE: choice}, f'effort is {quantity}: {EFFORT_CHOICE}:={choice}'


def check_ursim_version(robot: str, version: str) -> None:
    """Raise RuntimeError if a version of URSim is not of a robot's series."""
    major = version.partition('.')[0]
    if version == 'latest':
        return
    if major not in SERIES:
        raise RuntimeError(
            f'ursim_version:={version}: only PolyScope 3 and 5 have the dashboard server by which '
            'this file learns that URSim is up'
        )
    needed = '3' if robot in CB3_TYPES else '5'
    if major != needed:
        raise RuntimeError(
            f'ursim_version:={version} with ur_type:={robot}: PolyScope {major} is of '
            f'{SERIES[major]}; give a version {needed}.x.y, or latest'
        )


def write_prefixed_controllers(source: Path, prefix: str, folder: Path) -> Path:
    """Write the controllers of a file for joints with a prefix, and return the new file."""
    content = read_yaml(source)
    names = {name for name in _joints(content) if not name.startswith(prefix)}
    if not names:
        raise RuntimeError(
            f'tf_prefix:={prefix}: {source} has no controller with joints that lack the prefix; '
            'give controllers_file:=, a file with the names of the simulated joints less their '
            'prefix'
        )
    path = folder / f'{prefix}{source.name}'
    write_atomically(path, dump_yaml(_prefixed(content, names, prefix)))
    return path


def _joints(content: Any) -> Iterator[str]:
    """Yield the joints of all controllers."""
    if isinstance(content, dict):
        for key, value in content.items():
            if key == 'joints' and isinstance(value, list):
                yield from (str(name) for name in value)
            else:
                yield from _joints(value)


def _prefixed(content: Any, names: set[str], prefix: str) -> Any:
    """Return a copy in which joints have the prefix, in lists and as keys of their limits."""
    if isinstance(content, dict):
        return {
            f'{prefix}{key}' if key in names else key: _prefixed(value, names, prefix)
            for key, value in content.items()
        }
    if isinstance(content, list):
        return [_prefixed(item, names, prefix) for item in content]
    return f'{prefix}{content}' if content in names else content
