# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Every node reads and writes below the folders it was allowed, whoever sets its parameters."""

import os
from pathlib import Path

import pytest
from ros_helpers import own_graph

NODES = (
    'bag_recorder', 'experiment_runner', 'identifier', 'torque_predictor', 'trajectory_generator',
)
# Node, parameter that names a path, what else has to be set, service that opens it.
READ = {
    'bags': ('identifier', 'identify.bags', {'identify.output': '{root}/result'}, 'identify'),
    'recipe': (
        'identifier', 'identify.config',
        {'identify.output': '{root}/result', 'identify.bags': ['{root}/file']}, 'identify',
    ),
    'mapping': (
        'identifier', 'identify.mapping',
        {'identify.output': '{root}/result', 'identify.bags': ['{root}/file']}, 'identify',
    ),
    'trajectory': ('experiment_runner', 'trajectory_file', {}, 'arm'),
    'model': ('torque_predictor', 'model_file', {}, None),
    'experiment': (
        'trajectory_generator', 'generate.experiment', {'generate.output': '{root}/t.yaml'},
        'generate',
    ),
}
WRITE = {
    'recording': ('bag_recorder', 'start.output', {}, 'start'),
    'result': ('identifier', 'identify.output', {'identify.bags': ['{root}/file']}, 'identify'),
    'design': ('trajectory_generator', 'generate.output', {}, 'generate'),
}
# Node, what it is started with, what it says at its early end.
DOOMED = {
    'an output outside': (
        'experiment_coordinator', {'output': '{outside}/new'}, 'outside of the allowed folders',
    ),
    'a relative root': (
        'identifier', {'allowed_read_roots': ['relative']}, 'allowed_read_roots',
    ),
    'a file as root': (
        'identifier', {'allowed_write_roots': ['{root}/file']}, 'allowed_write_roots',
    ),
}
ESCAPES = {
    'outside': ('{outside}/new', 'outside of the allowed folders'),
    'upwards': ('{root}/../outside/new', 'outside of the allowed folders'),
    'through a link': ('{root}/link/new', 'outside of the allowed folders'),
    'home': ('~/new', 'write the home folder in full'),
    'a FIFO': ('{root}/fifo', 'is neither a regular file nor a folder'),
    'a device': ('/dev/zero', 'outside of the allowed folders'),
    'a long name': ('{root}/' + 'x' * 300, 'File name too long'),
}


@pytest.fixture(scope='module')
def places(tmp_path_factory):
    """Return a folder that the nodes are allowed and one that they are not."""
    folder = tmp_path_factory.mktemp('places')
    root, outside = folder / 'root', folder / 'outside'
    root.mkdir()
    outside.mkdir()
    (root / 'file').write_text('schema_version: 1\n')
    (root / 'link').symlink_to(outside)
    os.mkfifo(root / 'fifo')
    return {'root': str(root), 'outside': str(outside)}


@pytest.fixture(scope='module')
def confined(places, tmp_path_factory):
    """Return a graph with all nodes that open paths, none of which may leave the root."""
    with own_graph(tmp_path_factory.mktemp('confined')) as graph:
        for name in NODES:
            graph.start(name, roots(places))
        for name, parameters, _ in DOOMED.values():
            graph.start(name, {**roots(places), **filled(parameters, places)})
        yield graph


def roots(places):
    return {'allowed_read_roots': [places['root']], 'allowed_write_roots': [places['root']]}


def filled(values, places):
    """Return parameters with the places in the place of their names."""
    return {
        key: [entry.format(**places) for entry in value] if isinstance(value, list)
        else value.format(**places)
        for key, value in values.items()
    }


def names_in(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def refusal(graph, node, values, service):
    """Return why parameters are not set, or else why the service is refused."""
    reasons = graph.configure(f'/{node}', values)
    if reasons or service is None:
        return '; '.join(reasons)
    answer = graph.call(f'/{node}/{service}')
    return '' if answer.success else answer.message


@pytest.mark.parametrize('case', [*READ, *WRITE])
def test_no_way_out(confined, places, case):
    """Whatever the path is, the answer names parameter and reason, and nothing is made."""
    node, name, others, service = {**READ, **WRITE}[case]
    values = filled(others, places)
    for escape, (text, words) in ESCAPES.items():
        path = text.format(**places)
        given = [path] if case == 'bags' else path
        reason = refusal(confined, node, {**values, name: given}, service)
        assert words in reason, f'{escape}: {reason!r}'
        assert name in reason, f'{escape}: {reason!r}'
    assert names_in(places['outside']) == []
    assert names_in(places['root']) == ['fifo', 'file', 'link']


@pytest.mark.parametrize('name', NODES)
def test_roots_are_not_widened_later(confined, places, name):
    """Only who starts a node says where it may go."""
    for roots_name in ('allowed_read_roots', 'allowed_write_roots'):
        (reason,) = confined.configure(f'/{name}', {roots_name: ['/']})
        assert 'read-only' in reason


@pytest.mark.parametrize('ending', ['urdf', 'xacro'])
def test_a_description_is_no_robot(confined, places, tmp_path, ending):
    """It would be read, and a xacro expanded, wherever it lies: inside and outside refused."""
    for folder in (tmp_path, Path(places['root'])):
        path = folder / f'arm.{ending}'
        path.write_text('<robot name="arm"/>')
        try:
            reason = refusal(
                confined, 'trajectory_generator',
                {'robot': str(path), 'generate.experiment': 'demo',
                 'generate.output': f'{places["root"]}/t.yaml'}, 'generate',
            )
        finally:
            path.unlink()
        assert 'is a description, and not a known robot' in reason


def test_a_robot_of_ones_own_is_a_path_too(confined, places, tmp_path):
    """A YAML outside is refused, and one inside whose description is outside."""
    outside = tmp_path / 'robot.yaml'
    outside.write_text('schema_version: 1\n')
    inside = Path(places['root']) / 'robot.yaml'
    for path in (outside, inside):
        inside.write_text(f'schema_version: 1\nurdf: {places["outside"]}/../secret.urdf\n')
        try:
            reason = refusal(
                confined, 'trajectory_generator',
                {'robot': str(path), 'generate.experiment': 'demo',
                 'generate.output': f'{places["root"]}/t.yaml'}, 'generate',
            )
        finally:
            inside.unlink()
        assert 'outside of the allowed folders' in reason
        assert 'robot of trajectory_generator' in reason


@pytest.mark.parametrize('number', range(len(DOOMED)), ids=DOOMED)
def test_a_wrong_start_ends_at_once(confined, number):
    """Exit code and one line are those of a wrong call."""
    process = confined.processes[len(NODES) + number]
    assert confined.exit_code(process) == 2
    assert list(DOOMED.values())[number][2] in process.log.read_text()
