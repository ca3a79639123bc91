# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Launch files only wire: one for each node, and those that put nodes and drivers together."""

import ast
from pathlib import Path
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
# It plays the person who calls the services, and has no launch file of its own.
ALONE = {'experiment_coordinator'}
# Of use with a model, or beside a robot, and no part of an experiment.
BESIDE = {'friction_tester', 'online_estimator', 'rtde_reader', 'simulated_effort_joint'}
# They start no node of ours themselves but by the files of the nodes.
TOGETHER = {
    'experiment', 'gazebo', 'mock_hardware', 'replay', 'temperature_study', 'ur_robot', 'ursim',
}
# Nodes of others, by package: what RViz needs.
FOREIGN_NODES = {('rviz2', 'rviz2'), ('robot_state_publisher', 'robot_state_publisher')}
# Launch files of others, with the arguments that they declare: ur_robot_driver 3.8.0 and
# ur_simulation_gz 2.5.0.
FOREIGN_FILES = {
    'ur_control.launch.py': {
        'ur_type', 'robot_ip', 'tf_prefix', 'headless_mode', 'use_mock_hardware',
        'initial_joint_controller', 'launch_rviz',
    },
    'ur_sim_control.launch.py': {
        'ur_type', 'tf_prefix', 'launch_rviz', 'gazebo_gui', 'world_file',
    },
}
# Of the files that drive an arm: what places its nodes and names its joints.
PLACED = {'namespace', 'tf_prefix', 'ur_type', 'mounting', 'allowed_read_roots'}


def name_of(path):
    """Return the name of a launch file without its endings."""
    return path.name.removesuffix('.launch.py')


def nodes_of_setup():
    """Return the node executables that setup.py installs."""
    for statement in ast.parse((ROOT / 'setup.py').read_text()).body:
        if isinstance(statement, ast.Assign) and statement.targets[0].id == 'nodes':
            return set(ast.literal_eval(statement.value))
    raise AssertionError('setup.py has no list of nodes')


def calls(path, function):
    """Return the calls of a function in a file, keyword arguments by name."""
    return [
        (call, {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, 'id', '') == function
    ]


def texts(tree):
    """Return all text constants in a piece of code."""
    return {
        node.value for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def named_tuples(path):
    """Return the tuples of names at the top of a file, with what they take from each other."""
    found = {}
    for statement in ast.parse(path.read_text()).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Tuple):
            found[statement.targets[0].id] = names_in(statement.value.elts, found)
    return found


def names_in(elements, known):
    """Return the texts of arguments or elements, starred names replaced by what they hold."""
    names = []
    for element in elements:
        if isinstance(element, ast.Starred):
            names += known[element.value.id]
        elif isinstance(element, ast.Constant):
            names.append(element.value)
    return names


def declared_in(path):
    """Return the names of the arguments that a file declares, in its order."""
    return [call.args[0].value for call, _ in calls(path, 'DeclareLaunchArgument')]


def read_in(path):
    """Return the names of the arguments that a file reads."""
    known = named_tuples(path)
    read = {
        name for function in ('LaunchConfiguration', 'value', 'passed_on')
        for call, _ in calls(path, function) for name in names_in(call.args, known)
    }
    return read


def includes_of(path):
    """Return pairs: a file that this one includes, and the arguments that it is given."""
    known, pairs = named_tuples(path), []
    for call, keywords in calls(path, 'include'):
        if not isinstance(call.args[0], ast.Constant):
            continue
        given = set(keywords) - {'condition'}
        for keyword in call.keywords:
            if keyword.arg is None:
                assert keyword.value.func.id == 'passed_on'
                given |= set(names_in(keyword.value.args, known))
        pairs.append((call.args[0].value, given))
    return pairs


def test_there_is_one_for_every_node():
    """And those that put them together."""
    assert {name_of(path) for path in FILES} == (nodes_of_setup() - ALONE) | TOGETHER


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_only_wires(path):
    """Nothing but launch and the standard library is imported; nodes are our executables."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [node.module] if isinstance(node, ast.ImportFrom) else [
            alias.name for alias in getattr(node, 'names', []) if isinstance(node, ast.Import)
        ]
        for name in names:
            package = name.partition('.')[0]
            assert package in ('launch', 'launch_ros') or package in sys.stdlib_module_names
    started = {
        (keywords['package'].value, keywords['executable'].value)
        for _, keywords in calls(path, 'Node')
    }
    expected = {name_of(path)} - TOGETHER
    if name_of(path) == 'experiment':
        expected = ALONE
    assert started - FOREIGN_NODES == {('robot_identification', name) for name in expected}


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_every_argument_is_described_and_used(path):
    """A description is a sentence; an argument that nothing reads would be a lie."""
    declared = calls(path, 'DeclareLaunchArgument')
    assert declared
    names = declared_in(path)
    assert len(set(names)) == len(names)
    for name, (_, keywords) in zip(names, declared, strict=True):
        assert 'default_value' in keywords, f'{name} has no default'
        description = ' '.join(texts(keywords['description']))
        assert len(description) > 10, f'{name} is not described'
        # A constant of several lines is one text.
        assert ast.literal_eval(keywords['description']).endswith('.'), f'{name}: {description}'
        if keywords['default_value'].value in ('true', 'false'):
            assert ast.literal_eval(keywords['choices']) == ['true', 'false'], name
    assert read_in(path) == set(names)


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_included_files_take_what_they_are_given(path):
    """Only arguments that the included file declares are passed on."""
    for included, given in includes_of(path):
        declared = set(declared_in(ROOT / 'launch' / included))
        assert given <= declared, f'{included} does not declare {given - declared}'


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_an_argument_of_both_files_is_passed_on(path):
    """
    Launch hands a value down by its name alone; what it means there must be said.

    So no node of a second arm stays in the namespace, or with the joint names, of the first.
    """
    for included, given in includes_of(path):
        shared = set(declared_in(path)) & set(declared_in(ROOT / 'launch' / included))
        assert shared <= given, f'{included} is not given {shared - given}'


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_drivers_take_what_they_are_given(path):
    """Arguments have the names that ur_robot_driver and ur_simulation_gz give them."""
    for call, keywords in calls(path, 'IncludeLaunchDescription'):
        foreign = [name for name in FOREIGN_FILES if name in texts(call.args[0])]
        if not foreign:
            continue
        arguments = keywords['launch_arguments'].func.value
        given = {key.value for key in arguments.keys if key is not None}
        for passed in ast.walk(arguments):
            if isinstance(passed, ast.Call) and getattr(passed.func, 'id', '') == 'passed_on':
                given |= set(names_in(passed.args, {}))
        assert given == FOREIGN_FILES[foreign[0]]


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_every_node_stands_in_the_namespace(path):
    """Also those of others: two arms side by side share nothing but /clock, /tf and /rosout."""
    for _, keywords in calls(path, 'Node'):
        namespace = keywords['namespace']
        if isinstance(namespace, ast.Name):
            assert namespace.id == 'namespace'
        else:
            assert texts(namespace) == {'namespace'}
        assert 'namespace' in declared_in(path)


@pytest.mark.parametrize('name', sorted(TOGETHER))
def test_arms_can_be_told_apart(name):
    """Files that start a driver place it themselves: Gazebo and the driver have one namespace."""
    declared = set(declared_in(ROOT / 'launch' / f'{name}.launch.py'))
    expected = PLACED - ({'namespace'} if name in ('gazebo', 'mock_hardware', 'ursim') else set())
    assert expected <= declared


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_nothing_arms_by_itself(path):
    """A person types the hash back; what launch files call is the identifier alone."""
    assert not any('arm' in text.split('/') for text in texts(ast.parse(path.read_text())))


def helpers_of(module):
    """Return the files of a node and of the modules in nodes/ that it imports."""
    folder = ROOT / 'robot_identification' / 'nodes'
    found, waiting = set(), [module]
    while waiting:
        path = folder / f'{waiting.pop()}.py'
        if path in found:
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                package, _, name = node.module.rpartition('.')
                if package == 'robot_identification.nodes':
                    waiting.append(name)
    return found


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_every_parameter_is_one_of_the_node(path):
    """ROS takes a parameter that the node does not declare without a word."""
    for _, keywords in calls(path, 'Node'):
        if keywords['package'].value != 'robot_identification':
            continue
        known = {'use_sim_time'}
        for module in helpers_of(keywords['executable'].value):
            known |= texts(ast.parse(module.read_text()))
        for given in keywords['parameters'].elts:
            assert {key.value for key in given.keys} <= known


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_every_program_can_be_chosen(path):
    """Those that the coordinator knows, no others."""
    source = ROOT / 'robot_identification' / 'nodes' / 'programs.py'
    known = next(
        {key.value for key in statement.value.keys}
        for statement in ast.parse(source.read_text()).body
        if isinstance(statement, ast.AnnAssign) and statement.target.id == 'PROGRAMS'
    )
    for call, keywords in calls(path, 'DeclareLaunchArgument'):
        if call.args[0].value == 'program':
            assert set(ast.literal_eval(keywords['choices'])) == known
    for _, keywords in calls(path, 'include'):
        if isinstance(keywords.get('program'), ast.Constant):
            assert keywords['program'].value in known


def test_a_simulated_experiment_is_no_dry_run():
    """Beside a driver it is one, and the ladder is climbed, unless somebody says otherwise."""
    runners = [
        (keywords, given) for (call, keywords), (included, given) in zip(
            calls(ROOT / 'launch' / 'experiment.launch.py', 'include'),
            includes_of(ROOT / 'launch' / 'experiment.launch.py'), strict=True,
        ) if included == 'experiment_runner.launch.py'
    ]
    (simulated, _), (real, passed) = runners
    assert simulated['dry_run'].value == simulated['ladder'].value == 'false'
    assert 'simulation_token' in simulated and 'simulation_token' not in real
    assert {'dry_run', 'ladder'} <= passed
    for name in TOGETHER - {'replay'}:
        path = ROOT / 'launch' / f'{name}.launch.py'
        for call, keywords in calls(path, 'DeclareLaunchArgument'):
            if call.args[0].value in ('dry_run', 'ladder'):
                assert keywords['default_value'].value == 'true', name


def test_the_simulated_robot_can_be_started_as_any_arm_that_it_can_be():
    """What its parameters make of it: joints that stick, give way and warm up."""
    declared = set(declared_in(ROOT / 'launch' / 'simulated_robot.launch.py'))
    assert {'truth_seed', 'static_friction', 'stiffness', 'warm_up'} <= declared


def test_all_are_included_in_the_experiment():
    """The experiment starts every node that it needs by its own launch file."""
    included = {name for name, _ in includes_of(ROOT / 'launch' / 'experiment.launch.py')}
    assert included == {path.name for path in FILES if name_of(path) not in TOGETHER | BESIDE}


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_launch_itself_reads_it(path):
    """As `ros2 launch --show-args` does: it loads, and describes every argument."""
    # The package on PyPI and our folder have the same name, but not this module.
    sources = pytest.importorskip(
        'launch.launch_description_sources', reason='ROS 2 launch is not installed'
    )
    launch = pytest.importorskip('launch')
    description = sources.get_launch_description_from_python_launch_file(str(path))
    assert isinstance(description, launch.LaunchDescription)
    arguments = description.get_launch_arguments()
    assert arguments
    for argument in arguments:
        assert argument.description
        assert argument.description != 'no description given'
