# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What every node has to do: describe its parameters, keep their ranges, start and end cleanly."""

from itertools import cycle
import os
from pathlib import Path
import signal
import subprocess
import sys

from launch_descriptions import executables
from long_tests import long_test
import pytest
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import DescribeParameters, ListParameters, SetParameters
from rclpy.parameter import Parameter
from ros_helpers import own_graph

# Parameters that rclpy itself declares.
BUILT_IN = ('use_sim_time', 'start_type_description_service', 'qos_overrides')
NUMBERS = (ParameterType.PARAMETER_DOUBLE, ParameterType.PARAMETER_INTEGER)
TEXTS = (ParameterType.PARAMETER_STRING, ParameterType.PARAMETER_STRING_ARRAY)
LISTS = {
    ParameterType.PARAMETER_DOUBLE_ARRAY: 0.0,
    ParameterType.PARAMETER_INTEGER_ARRAY: 1,
    ParameterType.PARAMETER_STRING_ARRAY: 'x',
}
# Texts that name one of few things, by the end of their names.
NAMED = ('effort_unit', 'estimator', 'friction', 'interface', 'program')


def refused_values(descriptor):
    """Return values that a parameter must not take: other types, out of bounds, not printable."""
    kind = descriptor.type
    values = [[b'x'], 'text' if kind not in TEXTS else 1.5]
    if kind in NUMBERS:
        return values + outside(descriptor)
    if kind == ParameterType.PARAMETER_STRING:
        values += ['x' * 10_000, 'line\nbreak', 'escape\x1b[2J']
        return values + ['no_such_thing'] * (descriptor.name.rpartition('.')[2] in NAMED)
    if kind in LISTS:
        entry = LISTS[kind]
        values.append([entry] * 10_000)
        if kind == ParameterType.PARAMETER_DOUBLE_ARRAY:
            values += [[float('nan')], [float('inf')]]
        elif kind == ParameterType.PARAMETER_STRING_ARRAY:
            values += [['x' * 10_000], ['line\nbreak']]
    return values


def outside(descriptor):
    """Return values below and above the range of a parameter."""
    if descriptor.type == ParameterType.PARAMETER_INTEGER:
        (allowed,) = descriptor.integer_range
        return [allowed.from_value - 1, allowed.to_value + 1]
    (allowed,) = descriptor.floating_point_range
    width = allowed.to_value - allowed.from_value
    return [allowed.from_value - 0.01 * width, allowed.to_value + 0.01 * width, float('inf'),
            float('nan')]


@pytest.fixture(scope='module')
def shared(tmp_path_factory):
    """Return a graph for one node after the other."""
    with own_graph(tmp_path_factory.mktemp('nodes')) as graph:
        yield graph


# Nodes that move an arm, record it or predict live.
BY_DAY = ('experiment_runner', 'bag_recorder', 'torque_predictor', 'identifier')


# All nodes are run by one function, so that each gets one of the signals.
@pytest.mark.parametrize(('name', 'number'), [
    pytest.param(name, number, marks=() if name in BY_DAY else long_test) for name, number in zip(
        executables(), cycle((signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)), strict=False
    )
])
def test_parameters_are_described_and_ranged(shared, tmp_path, name, number):
    """Each is described, and its bounds are kept; a reason is a line; a signal ends it well."""
    graph, parameters = shared, {}
    if name == 'experiment_coordinator':
        # With a token it waits for the other nodes of a simulation.
        parameters = {'output': str(tmp_path), 'simulation_token': 'of this test'}
    node = graph.start(name, parameters)
    own = [name for name in listed(graph, name) if not name.startswith(BUILT_IN)]
    assert own
    described = graph.answer(graph.request(
        DescribeParameters, f'/{name}/describe_parameters', DescribeParameters.Request(names=own)
    ))
    for descriptor in described.descriptors:
        assert len(descriptor.description) > 5, f'{descriptor.name} is not described'
        if descriptor.type in NUMBERS:
            assert descriptor.integer_range or descriptor.floating_point_range, (
                f'{descriptor.name} has no range'
            )
        if descriptor.type in (*TEXTS, *LISTS):
            assert descriptor.additional_constraints, f'{descriptor.name} has no bounds'
    tried = [
        (descriptor.name, value) for descriptor in described.descriptors
        for value in refused_values(descriptor)
    ]
    # One request, and still each value by itself.
    answer = graph.answer(graph.request(
        SetParameters, f'/{name}/set_parameters', SetParameters.Request(
            parameters=[Parameter(key, value=value).to_parameter_msg() for key, value in tried]
        ),
    ))
    for (key, value), result in zip(tried, answer.results, strict=True):
        assert not result.successful, f'{key} may be set to {value!r:.60}'
        assert 0 < len(result.reason) < 600
    assert node.exit_code is None
    node.process.send_signal(number)
    code = graph.exit_code(node, 10.0)
    # The coordinator was waiting for the others; the other nodes had nothing to do.
    assert code == 0 if name != 'experiment_coordinator' else code != 0


def listed(graph, node):
    return graph.answer(graph.request(
        ListParameters, f'/{node}/list_parameters', ListParameters.Request()
    )).result.names


# A node whose parent ignores a closed terminal.
IGNORING = """
import signal
from robot_identification.nodes.bag_recorder import main
for number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
main()
"""


def test_what_nohup_ignores_stays_ignored(graph):
    """SIGHUP and SIGQUIT do nothing then; SIGTERM ends the node as ever."""
    process = subprocess.Popen([sys.executable, '-c', IGNORING], env=graph.environment)
    try:
        for number in (None, signal.SIGHUP, signal.SIGQUIT):
            if number is not None:
                process.send_signal(number)
            # Signals are seen before the next request is served.
            assert listed(graph, 'bag_recorder')
        process.terminate()
        assert process.wait(10.0) == 0
    finally:
        process.kill()
        process.wait()


REFUSED_STARTS = (
    ('simulated_robot', {'real_time_factor': 100.0}, 'real_time_factor'),
    ('simulated_robot', {'truth_seed': 'one'}, 'truth_seed'),
    ('identifier', {'drive_gains': [1.0] * 1000}, 'at most 64'),
    ('identifier', {'identify.estimator': 'magic'}, 'it must be'),
    ('simulated_robot', {'drive_gains': [1.0, 2.0]}, 'gain'),
    ('simulated_robot', {'mounting': [0.0]}, 'roll, pitch and yaw'),
    ('experiment_runner', {'robot': 'hal9000'}, 'hal9000'),
    ('experiment_runner', {'joint_states_topic': 'ur/joint_states'},
     'joint_states_topic was removed in 2.0: remap the topic, -r joint_states:=TOPIC'),
    ('friction_tester', {'commands_topic': 'effort/commands'}, 'commands_topic was removed'),
    ('torque_predictor', {'model_file': '/no/such/model.yaml'}, '/no/such'),
    ('rtde_reader', {'robot_ip': 'not an address'}, 'is no address of a robot'),
    ('rtde_reader', {'robot_ip': '127.0.0.1', 'required_keys': ['target_q']},
     'target_q is required'),
)


def test_a_shared_file_may_have_parameters_of_others(graph):
    """Also under a name that an option once had; what was meant for the node is in the log."""
    node = graph.start('bag_recorder', {'profile': 'of another node', 'start.robto': 'ur5'})
    graph.refused('/bag_recorder/stop')
    said = node.log.read_text()
    assert 'has no parameter start.robto' in said
    assert 'profile was removed in 2.0' in said


def test_wrong_parameters_at_the_start_are_told_in_words(graph):
    """The node ends with an error line and its exit code, without a traceback."""
    nodes = [
        graph.start(name, parameters, None, f'__ns:=/n{number}')
        for number, (name, parameters, _) in enumerate(REFUSED_STARTS)
    ]
    for node, (_, _, words) in zip(nodes, REFUSED_STARTS, strict=True):
        code = graph.exit_code(node)
        said = node.log.read_text()
        assert code in (2, 4), said
        assert 'error:' in said
        assert words in said


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


def refused_robot(confined, places, path):
    """Return why a trajectory is not generated for the robot of a file."""
    return refusal(
        confined, 'trajectory_generator',
        {'robot': str(path), 'generate.experiment': 'demo',
         'generate.output': f'{places["root"]}/t.yaml'}, 'generate',
    )


@pytest.mark.parametrize('ending', ['urdf', 'xacro'])
def test_a_description_is_no_robot(confined, places, tmp_path, ending):
    """It would be read, and a xacro expanded, wherever it lies: inside and outside refused."""
    for folder in (tmp_path, Path(places['root'])):
        path = folder / f'arm.{ending}'
        path.write_text('<robot name="arm"/>')
        try:
            reason = refused_robot(confined, places, path)
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
            reason = refused_robot(confined, places, path)
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
