# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Launch files read without ROS 2 launch: each action is recorded with what it was made of."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
import importlib
import importlib.util
from pathlib import Path
import sys
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
SHARED = (
    'robot_identification.nodes.foreign_arguments', 'robot_identification.nodes.launch_files',
)
MODULES = (
    'launch', 'launch.actions', 'launch.conditions', 'launch.event_handlers',
    'launch.launch_description_sources', 'launch.logging', 'launch.substitutions', 'launch_ros',
    'launch_ros.actions', 'launch_ros.parameter_descriptions', 'launch_ros.substitutions',
)


# What launch says of a process that has done its work.
ENDED_WELL = SimpleNamespace(process_name='a process', returncode=0)
RUNNING = SimpleNamespace(is_shutdown=False)


class Made:
    """What stands for an action or a substitution of launch: the arguments it was made with."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.given, self.named = given, named
        # As of `OnProcessExit`: what follows where the process has done its work.
        follow = named.get('on_exit')
        self.following = follow(ENDED_WELL, RUNNING) if callable(follow) else ()


class _Recorded(ModuleType):
    """A module of launch in which every name is a class that records."""

    def __getattr__(self, name: str) -> type:
        if name.startswith('__'):
            raise AttributeError(name)
        made = type(name, (Made,), {})
        setattr(self, name, made)
        return made


def executables() -> list[str]:
    """Return the nodes that setup.py installs."""
    for statement in ast.parse((ROOT / 'setup.py').read_text()).body:
        if isinstance(statement, ast.Assign) and statement.targets[0].id == 'nodes':
            return ast.literal_eval(statement.value)
    raise AssertionError('setup.py has no list of nodes')


@contextmanager
def recorded_launch() -> Iterator[None]:
    """Put what records in the place of launch, and of what launch files share."""
    with mock.patch.dict(sys.modules, {name: _Recorded(name) for name in MODULES}):
        for name in SHARED:
            sys.modules.pop(name, None)
            importlib.import_module(name)
        yield


def load_shared() -> ModuleType:
    """Return what launch files share."""
    with recorded_launch():
        return sys.modules['robot_identification.nodes.launch_files']


def load(path: Path) -> ModuleType:
    """Return a launch file as a module; `generate_launch_description` returns what was made."""
    with recorded_launch():
        spec = importlib.util.spec_from_file_location(path.stem.replace('.', '_'), path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def describe(path: Path) -> Made:
    return load(path).generate_launch_description()


def within(made: Any) -> Iterator[Made]:
    """Yield everything that was made, from the outside in."""
    if isinstance(made, Made):
        yield made
        for part in vars(made).values():
            yield from within(part)
    elif isinstance(made, dict):
        for part in (*made, *made.values()):
            yield from within(part)
    elif isinstance(made, (list, tuple)) or type(made) is type({}.items()):
        for part in made:
            yield from within(part)


def of_kind(made: Any, kind: str) -> list[Made]:
    """Return what is of a class of launch, by its name."""
    return [part for part in within(made) if type(part).__name__ == kind]


def declared_in(path: Path) -> dict[str, dict[str, Any]]:
    """Return how a file declares its arguments, by their names."""
    return {
        part.given[0]: part.named for part in of_kind(describe(path), 'DeclareLaunchArgument')
    }


def read_in(made: Any) -> set[str]:
    return {part.given[0] for part in of_kind(made, 'LaunchConfiguration')}


def included_in(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the files that a file includes: `package/name`, and the arguments they are given."""
    found = []
    for part in of_kind(describe(path), 'IncludeLaunchDescription'):
        package, folder, name = part.given[0].given[0]
        assert folder == 'launch'
        found.append((f'{package.given[0]}/{name}', dict(part.named['launch_arguments'])))
    return found


def nodes_in(path: Path) -> list[dict[str, Any]]:
    """Return how a file makes its nodes; what waits for a process has it, too."""
    return list({id(part): part.named for part in of_kind(describe(path), 'Node')}.values())


def parameters_of(node: dict[str, Any]) -> set[str]:
    """Return the names of the parameters that one of our nodes is given."""
    return {
        name for part in of_kind(node.get('parameters', ()), 'ParametersFile')
        for name in part.names.values()
    }
