# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The real launch files of the UR driver and its simulation, with executables that only take notes.

ROBOT_IDENTIFICATION_UR_STACKS names a folder with one folder for each ROS distribution, and in it
checkouts, at any depth, of ur_robot_driver, ur_simulation_gz, ur_description and
ur_client_library as that distribution has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
import json
import os
from pathlib import Path
import shutil
import sys
from typing import Any

from launch_descriptions import executables, ROOT
from launching import Launch, launched
from ros_helpers import wait_until
import yaml

VARIABLE = 'ROBOT_IDENTIFICATION_UR_STACKS'
DISTRIBUTIONS = ('humble', 'jazzy', 'kilted', 'lyrical', 'main')
NEEDED = ('ur_robot_driver', 'ur_simulation_gz', 'ur_description', 'ur_client_library')
# What their launch files start, by package.
EXECUTABLES = {
    'controller_manager': ('ros2_control_node', 'spawner'),
    'robot_state_publisher': ('robot_state_publisher',),
    'ros2bag': (),
    'ros_gz_bridge': ('parameter_bridge',),
    'ros_gz_sim': ('create',),
    'rviz2': ('rviz2',),
    'ur_client_library': ('start_ursim.sh', 'tool_communication.py'),
    'ur_robot_driver': (
        'controller_stopper_node', 'dashboard_client', 'robot_state_helper',
        'trajectory_until_node', 'ur_ros2_control_node', 'urscript_interface',
    ),
    'robot_identification': tuple(executables()),
}
COMMANDS = ('docker', 'gz', 'ros2', 'xacro')
# They end by themselves, the others when they are asked to.
BRIEF = ('create', 'docker', 'ros2', 'spawner', 'xacro')
# It prints what the launch file of a description needs to go on.
STAND_IN = """#!{python} -SE
import json, os, pathlib, signal, sys
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: os._exit(0))
path = pathlib.Path(sys.argv[0])
given = sys.argv[1:]
files = [value for key, value in zip(given, given[1:]) if key == '--params-file']
note = pathlib.Path(os.environ['STAND_IN_NOTES']) / str(os.getpid())
note.with_suffix('.part').write_text(json.dumps(dict(
    executable=path.name, package=path.parent.name, arguments=given,
    parameters=[pathlib.Path(file).read_text() for file in files],
)))
note.with_suffix('.part').rename(note.with_suffix('.json'))
if path.name == 'xacro':
    print('<robot name="ur"/>')
while path.name not in {brief}:
    signal.pause()
"""
# Of ros_gz_sim, which is no part of the stack.
GAZEBO = """from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import LaunchConfiguration


def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument('gz_args'),
        ExecuteProcess(cmd=['gz', 'sim', LaunchConfiguration('gz_args')]),
    ])
"""


def checkouts_of(distribution: str) -> dict[str, Path]:
    """Return where the packages of a distribution are, empty where none were given."""
    given = os.environ.get(VARIABLE)
    if not given:
        return {}
    found = {}
    for manifest in sorted((Path(given).expanduser() / distribution).rglob('package.xml')):
        name = manifest.read_text().partition('<name>')[2].partition('</name>')[0].strip()
        found[name] = manifest.parent
    return found


def why_no_stack(distribution: str) -> str:
    """Return why the launch files of a distribution cannot be evaluated, or an empty string."""
    if not os.environ.get(VARIABLE):
        return f'{VARIABLE} names no folder with the launch files of the UR driver'
    missing = [name for name in NEEDED if name not in checkouts_of(distribution)]
    return f'{os.environ[VARIABLE]}/{distribution} has no {", ".join(missing)}' if missing else ''


@dataclass(frozen=True)
class Started:
    """A process that a launch file started, as its stand-in noted it."""

    executable: str
    package: str
    arguments: list[str]
    parameters: list[str]

    def option(self, name: str) -> str:
        values = [text for text in self.arguments if text.startswith(f'{name}:=')]
        assert len(values) == 1, f'{name} in {self.arguments}'
        return values[0].partition(':=')[2]

    def parameter(self, name: str) -> Any:
        """Return the value of a parameter, that of the last file that has it."""
        found = [
            named['ros__parameters'][name]
            for text in self.parameters for named in yaml.safe_load(text).values()
            if name in named['ros__parameters']
        ]
        assert found, f'{self.executable} was given no {name}'
        return found[-1]


class Stack:
    """Packages in a prefix: launch files and configuration by links, executables by stand-ins."""

    def __init__(self, folder: Path, packages: Mapping[str, Path]) -> None:
        self.prefix, self.commands = folder / 'prefix', folder / 'commands'
        self.folder, self.notes = folder, folder / 'notes'
        for made in (self.commands, self.notes):
            made.mkdir(parents=True)
        # Launch files of ours from the tree, whatever is installed.
        for name, path in {**packages, 'robot_identification': ROOT}.items():
            self._install(name, path)
        for name in EXECUTABLES:
            if not (self.prefix / 'share' / name).exists():
                (folder / 'empty' / name).mkdir(parents=True)
                self._install(name, folder / 'empty' / name)
        launch_files = folder / 'empty' / 'ros_gz_sim' / 'launch'
        launch_files.mkdir()
        (launch_files / 'gz_sim.launch.py').write_text(GAZEBO)
        for name in COMMANDS:
            self._stand_in(self.commands / name)

    def _install(self, name: str, path: Path) -> None:
        index = self.prefix / 'share' / 'ament_index' / 'resource_index' / 'packages'
        index.mkdir(parents=True, exist_ok=True)
        (index / name).touch()
        (self.prefix / 'share' / name).symlink_to(path)
        for executable in EXECUTABLES.get(name, ()):
            self._stand_in(self.prefix / 'lib' / name / executable)

    def _stand_in(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STAND_IN.format(python=sys.executable, brief=BRIEF))
        path.chmod(0o755)

    def environment(self, graph: Mapping[str, str]) -> dict[str, str]:
        """Return variables by which these packages and commands come first, on a ROS graph."""
        def before(name: str, *paths: Path) -> str:
            return os.pathsep.join([*map(str, paths), os.environ.get(name, '')]).rstrip(':')

        return {
            **os.environ, **graph,
            'AMENT_PREFIX_PATH': before('AMENT_PREFIX_PATH', self.prefix),
            'PATH': before('PATH', self.commands),
            'PYTHONPATH': before('PYTHONPATH', ROOT),
            'STAND_IN_NOTES': str(self.notes),
        }

    def started(self) -> list[Started]:
        return [Started(**json.loads(path.read_text())) for path in self.notes.glob('*.json')]

    def launched(
        self, name: str, arguments: Mapping[str, Any], graph: Mapping[str, str] | None = None,
    ) -> AbstractContextManager[Launch]:
        """Return one of our launch files that runs, started by the real `ros2 launch`."""
        return launched(
            name, arguments, self.folder, self.environment(graph or {}),
            command=shutil.which('ros2'),
        )

    def wait_for(self, launch: Launch, *names: str) -> dict[str, list[Started]]:
        """Wait until executables were started, and return all that were, by name."""
        wait_until(
            lambda: self._noted(launch, names) or launch.process.poll() is not None,
            f'the start of {", ".join(names)}', 60.0,
        )
        found: dict[str, list[Started]] = {}
        for one in self.started():
            found.setdefault(one.executable, []).append(one)
        assert set(names) <= set(found), f'{sorted(set(names) - set(found))} were not started'
        return found

    def _noted(self, launch: Launch, names: tuple[str, ...]) -> bool:
        """Return whether these, and all that the log names, have taken their note."""
        started = [one.executable for one in self.started()]
        # xacro is run to evaluate a value, of which the log says nothing; what waits is ours.
        logged = sum(
            'process started with pid' in line and 'wait_for_ursim' not in line
            for line in launch.text().splitlines()
        )
        return set(names) <= set(started) and logged <= len(started) - started.count('xacro')
