# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Write docs/parameters.md and config/nodes: what every node declares, as the node itself says it.

    python docs/_ext/node_parameters.py [FOLDER]

The nodes are made and asked, in a ROS graph of their own. Page and parameter files are kept in the
repository, so that the site can be built where there is no ROS; a test says when they are old.
FOLDER takes the place of the repository.
"""

from collections import Counter
from collections.abc import Iterator
import os
from pathlib import Path
import re
import sys
import tempfile
import textwrap
import time
from typing import Any

from robot_identification.nodes.bounds import LONGEST_TEXT
import yaml

ROOT = Path(__file__).resolve().parents[2]
# In the order of docs/nodes.md: module and class.
NODES = {
    'simulated_robot': 'SimulatedRobot',
    'trajectory_generator': 'TrajectoryGenerator',
    'experiment_runner': 'ExperimentRunner',
    'bag_recorder': 'BagRecorder',
    'identifier': 'Identifier',
    'torque_predictor': 'TorquePredictorNode',
    'friction_tester': 'FrictionTester',
    'rtde_reader': 'RtdeReader',
    'experiment_coordinator': 'ExperimentCoordinator',
}
KINDS = {bool: 'bool', int: 'int', float: 'float', str: 'text'}
LISTS = {'DOUBLE_ARRAY': 'list of float', 'STRING_ARRAY': 'list of text'}  # by type of rclpy
INTRODUCTION = """\
# Node parameters

On this page you can look up what every node declares. This page is written by
`docs/_ext/node_parameters.py` from the nodes themselves: change the declaration, not the page.

A value out of bounds, of another type or not finite is refused with a reason, at the start and
later. Where *fixed* stands only the start of a node may set the parameter. `NAME.x` belongs to the
service `~/NAME`: it is taken when the service is called. A text has at most 4096 printable
characters, if nothing else is said. What every node has, `use_sim_time`
and `started_at` among it, is left out.

Each node has a file of these parameters to copy, `config/nodes/NODE.yaml`: uncomment what you
change, and give the copy as `--ros-args --params-file FILE`, or to a launch file as
`params_file:=FILE`.

What the nodes do with them: [nodes](nodes.md); from launch files: [launch files](launch.md).
"""
# Of ROS itself.
FOREIGN = ('start_type_description_service',)
# A parameter that many nodes declare in the same words is listed once.
SHARED_BY = 3
USUAL_BOUND = f'at most {LONGEST_TEXT} characters'
# Longest default that a cell shows.
LONGEST = 60


class Declared:
    """
    One parameter: name, default, description, allowed values and whether it can be set later.

    Parameters
    ----------
    name : str
        Of the parameter.
    default : object
        Its type is the parameter's; a type of rclpy for a parameter that is not set.
    descriptor : rcl_interfaces.msg.ParameterDescriptor
        What the node said of it.

    """

    def __init__(self, name: str, default: Any, descriptor: Any) -> None:
        self.name, self.default = name, default
        self.description = descriptor.description
        allowed = descriptor.additional_constraints or _range_of(descriptor)
        self.allowed = '' if allowed == USUAL_BOUND else allowed
        self.fixed = descriptor.read_only

    @property
    def row(self) -> str:
        """Return the row of a table."""
        cells = (
            f'`{self.name}`', self.kind + (', fixed' if self.fixed else ''),
            self.shown_default, _cell(self.allowed), _cell(self.description),
        )
        return f'| {" | ".join(cells)} |'

    @property
    def is_set(self) -> bool:
        """Return whether there is a default, and not a type alone."""
        return getattr(self.default, 'name', '') not in LISTS

    @property
    def kind(self) -> str:
        """Return the type, in words."""
        if not self.is_set:
            return LISTS[self.default.name]
        if isinstance(self.default, list):
            return f'list of {KINDS[type(self.default[0])]}'
        return KINDS[type(self.default)]

    @property
    def shown_default(self) -> str:
        """Return the default as YAML would have it; nothing for an empty text."""
        if self.default in ('', ['']) or not self.is_set:
            return ''
        text = str(self.default).lower() if self.kind == 'bool' else str(self.default)
        text = text.replace("'", '')
        return f'`{text}`' if len(text) <= LONGEST else f'`{text[:LONGEST]}` ..'


def _range_of(descriptor: Any) -> str:
    for limits in descriptor.integer_range:
        return f'{limits.from_value} to {limits.to_value}'
    for limits in descriptor.floating_point_range:
        return f'{limits.from_value:g} to {limits.to_value:g}'
    return ''


def _cell(text: str) -> str:
    """Return a text for a cell of a table; what looks like HTML, a topic or code is left so."""
    return re.sub(r'([|<>*])', r'\\\1', ' '.join(text.split()))


def declared_parameters() -> dict[str, list[Declared]]:
    """Return the parameters of every node by its name, in the order they are declared."""
    os.environ.update(
        ROS_AUTOMATIC_DISCOVERY_RANGE='OFF',
        ROS_LOG_DIR=tempfile.mkdtemp(prefix='robot_identification_docs_'),
    )
    from importlib import import_module

    import rclpy
    from rclpy.node import Node
    from robot_identification.errors import IdentificationError

    found: dict[str, list[Declared]] = {}
    declare = Node.declare_parameter

    def note(node: Node, name: str, value: Any = None, descriptor: Any = None, *args, **others):
        parameter = declare(node, name, value, descriptor, *args, **others)
        if descriptor is not None and name not in FOREIGN:
            found.setdefault(node.get_name(), []).append(Declared(name, value, descriptor))
        return parameter

    Node.declare_parameter = note
    rclpy.init(args=['--ros-args', '--log-level', 'fatal'])
    try:
        for module, kind in NODES.items():
            make = getattr(import_module(f'robot_identification.nodes.{module}'), kind)
            try:
                _end(make())
            except IdentificationError as error:
                # It has declared everything before it misses a file.
                print(f'{module}: {error}')
    finally:
        Node.declare_parameter = declare
        rclpy.try_shutdown()
    return {name: found[name] for name in NODES}


def _end(node: Any) -> None:
    """Make a node end what it has begun."""
    deadline = time.monotonic() + 10.0
    while not getattr(node, 'close', lambda: True)() and time.monotonic() < deadline:
        time.sleep(0.02)
    node.destroy_node()


def page_lines(parameters: dict[str, list[Declared]]) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from INTRODUCTION.splitlines()
    counts = Counter(one.row for declared in parameters.values() for one in declared)
    shared = {row for row, count in counts.items() if count >= SHARED_BY}
    yield from table('Shared by several nodes', [row for row in counts if row in shared])
    for node, declared in parameters.items():
        yield from table(node, [one.row for one in declared if one.row not in shared])
        also = ', '.join(f'`{one.name}`' for one in declared if one.row in shared)
        if also:
            yield from ('', f'Also {also}: [shared](#shared-by-several-nodes).')


def table(title: str, rows: list[str]) -> Iterator[str]:
    """Yield the lines of a section with a table."""
    yield from ('', f'## {title}', '', '| parameter | type | default | allowed | meaning |',
                '|---|---|---|---|---|', *rows)


def file_lines(node: str, declared: list[Declared]) -> Iterator[str]:
    """Yield the lines of the parameter file of a node, in which everything is a comment."""
    yield f'# Parameters of {node} with their defaults (docs/parameters.md): copy the file and'
    yield '# uncomment the next two lines and what you change.'
    yield f'# /**/{node}:'
    yield '#   ros__parameters:'
    for one in declared:
        yield ''
        about = f'{one.kind}; {one.description}' if one.description else one.kind
        yield from textwrap.wrap(about, 99, initial_indent='# ', subsequent_indent='# ')
        value = ' # not set' if not one.is_set else yaml.safe_dump(
            one.default, default_flow_style=True, width=10**6
        ).splitlines()[0]
        yield f'#     {one.name}: {value}'


def write(root: Path) -> None:
    """Write the page and the parameter files."""
    parameters = declared_parameters()
    files = {root / 'docs' / 'parameters.md': page_lines(parameters)} | {
        root / 'config' / 'nodes' / f'{node}.yaml': file_lines(node, declared)
        for node, declared in parameters.items()
    }
    for path, lines in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('\n'.join([*lines, '']), encoding='utf-8')


if __name__ == '__main__':
    write(Path(*sys.argv[1:2] or [ROOT]))
