# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The rooms of the house import from the rooms before them only, and ROS from one room only."""

import ast
from functools import cache
from graphlib import CycleError, TopologicalSorter
import importlib
from pathlib import Path
import subprocess
import sys

import pytest

PACKAGE = 'robot_identification'
ROOT = Path(__file__).resolve().parents[1]
ORDER = (
    'blas', 'lazy', 'ament_license', 'texts', 'errors', 'files', 'removed', 'options',
    'allowed_paths', 'arrays', 'parallel', 'model', 'simulation', 'excitation', 'execution',
    'rtde', 'recording', 'processing', 'validation', 'estimation', 'prediction', 'export',
    'report', 'pipeline', 'studies', 'monitoring', 'cli', 'nodes',
)
ROS_ROOM = 'nodes'
# Bags are read and written by rosbag2 where there is ROS and no rosbags, `identify` included.
ROS_ELSEWHERE = {('recording/rosbag2_file.py', 'rosbag2_py')}
# The front door is made of the rooms below these.
FRONT_ROOMS = ('cli', 'nodes')
ROS_MODULES = {
    'rclpy', 'rcutils', 'rmw', 'rosbag2_py', 'ros2cli', 'ros2run', 'ros2launch', 'tf2_ros',
    'tf2_py', 'controller_manager',
}
ROS_BEGINNINGS = ('launch', 'ament_', 'rosidl', 'rclpy', 'ros2', 'tf2_', 'colcon')
ROS_ENDINGS = ('_msgs', '_srvs', '_interfaces')


parsed = cache(ast.parse)


def is_ros(module):
    top = module.partition('.')[0]
    return (
        top in ROS_MODULES or top.startswith(ROS_BEGINNINGS) or top.endswith(ROS_ENDINGS)
    ) and top != PACKAGE


def imported_modules(tree, package):
    """Yield line and full name of everything a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *(node.module or '').split('.')] if node.module else base
            for alias in node.names:
                yield node.lineno, '.'.join([*base, alias.name])
        elif isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, 'attr', getattr(node.func, 'id', ''))
            argument = node.args[0]
            if name in ('import_module', '__import__') and isinstance(argument, ast.Constant):
                yield node.lineno, str(argument.value)


def breaches(sources):
    """Return what breaks the order, in words."""
    return [words for name, text in sources.items() for words in breaches_of_module(name, text)]


@cache
def breaches_of_module(name, text):
    """Return what a module breaks; the sources are the same for every made up breach."""
    parts = Path(name).with_suffix('').parts
    room = parts[0]
    if room == '__init__':
        return ()
    if room not in ORDER:
        return (f'{name}: the room {room!r} is not in the plan',)
    found = []
    for line, module in imported_modules(parsed(text), [PACKAGE, *parts[:-1]]):
        if is_ros(module) and room != ROS_ROOM and (name, module) not in ROS_ELSEWHERE:
            found.append(f'{name}:{line} imports {module}, which is ROS')
        if not module.startswith(f'{PACKAGE}.'):
            continue
        other = module.split('.')[1]
        if other not in (*ORDER, '__version__') and room not in FRONT_ROOMS:
            found.append(f'{name}:{line} imports {module} of the front door')
        if other in ORDER and ORDER.index(other) > ORDER.index(room):
            found.append(f'{name}:{line} imports {module}, a room behind its own')
    return tuple(found)


def package_sources():
    folder = ROOT / PACKAGE
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding='utf-8')
        for path in sorted(folder.rglob('*.py'))
    }


def test_the_package_keeps_the_order():
    """Everything is where the plan has it, and nothing reaches forward."""
    sources = package_sources()
    assert breaches(sources) == []
    rooms = {Path(name).with_suffix('').parts[0] for name in sources}
    assert rooms - {'__init__'} == set(ORDER)


def face_of(module):
    """Return the package that other rooms import from; each study has one of its own."""
    parts = module.split('.')
    return '.'.join(parts[: 3 if parts[1] == 'studies' and len(parts) > 2 else 2])


def stub_names(package):
    """Return the module by name of what the stub of a package lists."""
    stub = ROOT.joinpath(*package.split('.'), '__init__.pyi')
    if not stub.exists():
        return {}
    return {
        alias.name: f'{package}.{statement.module or alias.name}'
        for statement in parsed(stub.read_text('utf-8')).body
        if isinstance(statement, ast.ImportFrom) for alias in statement.names
    }


FACES = {
    '.'.join(path.parent.relative_to(ROOT).parts): stub_names(
        '.'.join(path.parent.relative_to(ROOT).parts)
    )
    for path in sorted((ROOT / PACKAGE).rglob('__init__.pyi'))
}


def module_of(name):
    parts = [PACKAGE, *Path(name).with_suffix('').parts]
    return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


def detours(sources):
    """Return the imports from another room that are not of a name of its face."""
    found = []
    for name, text in sources.items():
        module = module_of(name)
        for node in ast.walk(parsed(text)):
            if not isinstance(node, ast.ImportFrom) or not (node.module or '').startswith(PACKAGE):
                continue
            face = face_of(node.module) if '.' in node.module else PACKAGE
            if face not in FACES or (module != PACKAGE and face_of(module) == face):
                continue
            found += [
                f'{name}:{node.lineno} imports {alias.name} of {node.module}, which is not in '
                f'{face}/__init__.pyi'
                for alias in node.names
                if node.module != face or not (
                    alias.name in (*FACES[face], '__version__')
                    # A room as a whole, whose names are loaded when they are used.
                    or f'{face}.{alias.name}' in FACES
                )
            ]
    return found


def test_rooms_are_entered_by_their_face():
    """From another room only what its `__init__.pyi` lists is imported."""
    assert detours(package_sources()) == []


def module_behind(name, modules):
    """Return the module that a dotted name of the package is loaded from; None of others."""
    if name in modules:
        return name
    package, _, last = name.rpartition('.')
    if last in FACES.get(package, {}):
        module = FACES[package][last]
        return module_behind(module if module in FACES else f'{module}.{last}', modules)
    return package if package in modules else None


def cycle(sources):
    """Return modules of which each imports the next, the last one the first; or none."""
    modules = {module_of(name): name for name in sources}
    graph = {}
    for module, name in modules.items():
        package = Path(name).parent.parts
        found = imported_modules(parsed(sources[name]), [PACKAGE, *package])
        graph[module] = {module_behind(other, modules) for _, other in found} - {None, module}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1][::-1]
    return []


def test_no_module_imports_itself_by_way_of_others():
    """What a face lends counts as the module that it comes from."""
    sources = package_sources()
    assert cycle(sources) == []
    # The check can fail: within a folder, by a face, and for types only.
    for name, text in (
        ('model/friction/law.py', 'from robot_identification.model.friction import FRICTION_LAWS'),
        ('model/friction/basis.py', 'from robot_identification.model import FrictionLaw'),
        ('errors.py', 'from . import files'),
    ):
        assert cycle({**sources, name: f'{text}\n{sources[name]}'}), name


@pytest.mark.parametrize('package', FACES)
def test_names_of_a_face_can_be_imported(package):
    """Each name of the stub is found, and no module of the same name would take its place."""
    room = importlib.import_module(package)
    folder = ROOT.joinpath(*package.split('.'))
    modules = {path.stem for path in folder.glob('*.py')} | {
        path.parent.name for path in folder.glob('*/__init__.py')
    }
    for name, module in FACES[package].items():
        value = getattr(room, name)
        # Once such a module is imported, the package has it under its name.
        assert name not in modules or value is sys.modules[module], f'{package}: rename {name}'
    assert set(FACES[package]) == set(room.__all__)
    with pytest.raises(AttributeError, match='no_such_name'):
        _ = room.no_such_name


WITHOUT_ROS = """
import importlib
import pkgutil
import sys

sys.path.insert(0, {tests!r})
from test_layering import is_ros


class NoRos:
    def find_spec(self, name, path=None, target=None):
        if is_ros(name):
            raise ImportError(name + ' is ROS')


sys.meta_path.insert(0, NoRos())
import robot_identification

for module in pkgutil.walk_packages(robot_identification.__path__, 'robot_identification.'):
    if not module.name.startswith('robot_identification.nodes'):
        importlib.import_module(module.name)
        count = sum(name.startswith('robot_identification.') for name in sys.modules)
print(count)
"""


def test_everything_but_the_nodes_imports_without_ros():
    """Tried in a process of its own, in which no module of ROS can be found."""
    script = WITHOUT_ROS.format(tests=str(Path(__file__).parent))
    completed = subprocess.run(
        [sys.executable, '-c', script], capture_output=True, text=True, cwd=ROOT
    )
    assert completed.returncode == 0, completed.stderr
    assert int(completed.stdout) > 50
