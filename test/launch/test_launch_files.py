# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Launch files only wire: one for each node, every argument described."""

import ast
from pathlib import Path
import sys

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / 'launch').glob('*.launch.py'))
# It plays the person who calls the services, and has no launch file of its own.
ALONE = {'experiment_coordinator'}


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
        (call, {keyword.arg: keyword.value for keyword in call.keywords})
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, 'id', '') == function
    ]


def texts(tree):
    """Return all text constants in a piece of code."""
    return {
        node.value for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_there_is_one_for_every_node():
    """And one for all of them."""
    assert {name_of(path) for path in FILES} == (nodes_of_setup() - ALONE) | {'experiment'}


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
    started = [keywords['executable'].value for _, keywords in calls(path, 'Node')]
    expected = [name_of(path)] if name_of(path) != 'experiment' else ['experiment_coordinator']
    assert started == expected
    for _, keywords in calls(path, 'Node'):
        assert keywords['package'].value == 'robot_identification'


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_every_argument_is_described_and_used(path):
    """A description is a sentence; an argument that nothing reads would be a lie."""
    declared = calls(path, 'DeclareLaunchArgument')
    assert declared
    names = [call.args[0].value for call, _ in declared]
    assert len(set(names)) == len(names)
    for name, (_, keywords) in zip(names, declared, strict=True):
        assert 'default_value' in keywords, f'{name} has no default'
        description = ' '.join(texts(keywords['description']))
        assert len(description) > 10, f'{name} is not described'
        assert description.endswith('.'), f'{name}: {description}'
    read = {call.args[0].value for call, _ in calls(path, 'LaunchConfiguration')}
    assert read == set(names)


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_included_files_take_what_they_are_given(path):
    """experiment.launch.py passes on only arguments that the included file declares."""
    for call, keywords in calls(path, 'include'):
        (included,) = [text for text in texts(call.args[0]) if text.endswith('.launch.py')]
        declared = {
            call.args[0].value
            for call, _ in calls(ROOT / 'launch' / included, 'DeclareLaunchArgument')
        }
        given = set(keywords) - {'condition'}
        assert given <= declared, f'{included} does not declare {given - declared}'


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_every_parameter_is_one_of_the_node(path):
    """ROS takes a parameter that the node does not declare without a word."""
    source = ROOT / 'robot_identification' / 'nodes'
    for _, keywords in calls(path, 'Node'):
        known = {'use_sim_time'}
        for module in (source / f"{keywords['executable'].value}.py", source / 'common.py'):
            known |= texts(ast.parse(module.read_text()))
        for given in keywords['parameters'].elts:
            assert {key.value for key in given.keys} <= known


def test_the_simulated_robot_can_be_started_as_any_arm_that_it_can_be():
    """What its parameters make of it: joints that stick, give way and warm up."""
    path = ROOT / 'launch' / 'simulated_robot.launch.py'
    declared = {call.args[0].value for call, _ in calls(path, 'DeclareLaunchArgument')}
    assert {'truth_seed', 'static_friction', 'stiffness', 'warm_up'} <= declared


def test_all_are_included_in_the_experiment():
    """The experiment starts every node by its own launch file."""
    experiment = ROOT / 'launch' / 'experiment.launch.py'
    included = {
        text for text in texts(ast.parse(experiment.read_text())) if text.endswith('.launch.py')
    }
    assert included == {path.name for path in FILES} - {experiment.name}


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
