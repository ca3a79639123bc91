# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Launch files only wire: those that put nodes and drivers together, and the predictor's."""

import ast
import json
from pathlib import Path
import re
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

from launch_descriptions import (
    declared_in, describe, ENDED_WELL, FILES, included_in, load, load_shared, nodes_in, of_kind,
    parameters_of, read_in, ROOT, SHARED,
)
from long_tests import long_test
import pytest
from robot_identification.errors import UsageError
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.execution.commissioning import CommissioningKey, completed_stages, STAGES
from robot_identification.execution.safety import kinematics_sha256
from robot_identification.files import read_yaml
from robot_identification.model.registry import load_robot
from robot_identification.nodes.foreign_arguments import (
    check_ursim_version, choose_effort, DeclaredArguments, names_beyond,
    write_prefixed_controllers,
)
from ros_helpers import own_graph
from simulators.by_hand import Person
from simulators.judging import largest_deviation
import yaml

# Nodes of ours that a file starts itself; others are started by the files that it includes.
STARTED = {
    'experiment': {
        'simulated_robot', 'trajectory_generator', 'experiment_runner', 'bag_recorder',
        'identifier', 'experiment_coordinator',
    },
    'gazebo': set(),
    'mock_hardware': set(),
    'replay': {'identifier'},
    'temperature_study': set(),
    'torque_predictor': {'torque_predictor'},
    'ur_robot': {'rtde_reader'},
    'ursim': set(),
}
# They put nodes together.
TOGETHER = STARTED.keys() - {'torque_predictor'}
# Nodes of others, by package: what RViz needs.
FOREIGN_NODES = {('rviz2', 'rviz2'), ('robot_state_publisher', 'robot_state_publisher')}


def name_of(path):
    return path.name.removesuffix('.launch.py')


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_only_wires(path):
    """Only launch, the standard library and what launch files share is imported."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [node.module] if isinstance(node, ast.ImportFrom) else [
            alias.name for alias in getattr(node, 'names', []) if isinstance(node, ast.Import)
        ]
        for name in names:
            package = name.partition('.')[0]
            assert (
                package in ('launch', 'launch_ros') or package in sys.stdlib_module_names
                or name in SHARED
            )
    started = {(node['package'], node['executable']) for node in nodes_in(path)}
    assert started == {('robot_identification', name) for name in STARTED[name_of(path)]}
    if name_of(path) == 'experiment':
        foreign = {(node['package'], node['executable']) for node in nodes_of_rviz().values()}
        assert foreign == FOREIGN_NODES


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_nodes_have_the_parameters_that_they_are_given(path):
    """Those of the files in config/nodes, which the nodes themselves declare."""
    for node in nodes_in(path):
        text = (ROOT / 'config' / 'nodes' / f'{node["executable"]}.yaml').read_text()
        known = set(re.findall(r'^# {5}([\w.]+):', text, re.MULTILINE))
        assert parameters_of(node) - {'use_sim_time'} <= known, node['executable']


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_every_argument_is_described_and_used(path):
    """A description is a sentence; an argument that nothing reads would be a lie."""
    declared = declared_in(path)
    assert declared
    assert len(of_kind(describe(path), 'DeclareLaunchArgument')) == len(declared)
    for name, given in declared.items():
        assert isinstance(given['default_value'], str), f'{name} has no default'
        description = given['description']
        assert len(description) > 10 and description.endswith('.'), f'{name}: {description}'
        if given['default_value'] in ('true', 'false'):
            assert given['choices'] == ['true', 'false'], name
    # What is checked before the start, or handed to a file of others, is read by functions.
    source = {
        argument.value
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and getattr(call.func, 'id', '') in ('LaunchConfiguration', 'values_of')
        for argument in call.args if isinstance(argument, ast.Constant)
    }
    assert read_in(describe(path)) | source == set(declared)


@pytest.fixture(scope='module')
def argument():
    """Return what makes an argument of a kind."""
    launch_files = load_shared()
    return lambda kind, default: launch_files.Argument('mounting', default, 'Of a test.', kind)


@pytest.mark.parametrize('text, kind, value', [
    ('anything', str, 'anything'), ('', str, ''), ('true', bool, True), ('3', int, 3),
    ('2', float, 2.0), ('1e-3', float, 1e-3), ('[]', list[float], []), ('', list[float], None),
    ('[0, 0, 3.14]', list[float], [0.0, 0.0, 3.14]), ('[2e-3, 1e-05]', list[float], [2e-3, 1e-5]),
    ('[/home/a b, relative]', list[str], ['/home/a b', 'relative']),
])
def test_values_are_those_of_parameters(text, kind, value, argument):
    """In a list of numbers some may be whole, or without a decimal point."""
    made = argument(kind, '').value_of(text)
    assert made == value and type(made) is type(value)
    if kind == list[float]:
        assert all(isinstance(one, float) for one in made or ())


def check_values(path, **given):
    """Return the values as a file's own check leaves them."""
    check, = (
        made.named['function'] for made in of_kind(describe(path), 'OpaqueFunction')
        if made.named['function'].__name__ == 'check_values'
    )
    values = {argument.name: argument.default for argument in load(path).ARGUMENTS}
    context = SimpleNamespace(launch_configurations={**values, **given})
    check(context)


@pytest.mark.parametrize('path', [
    path for path in FILES if 'ur_type' in declared_in(path)
], ids=name_of)
def test_an_unknown_robot_is_refused_before_anything_starts(path):
    """By every file that has one, so that the exit code of the launch says it."""
    with pytest.raises(UsageError, match="unknown robot 'ur6'"):
        check_values(path, ur_type='ur6')


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_included_files_take_what_they_are_given(path):
    """Only arguments that the included file declares; those of both files are passed on."""
    # Launch hands a value down by its name alone; what it means there must be said. So no node of
    # a second arm stays in the namespace, or with the joint names, of the first.
    declared = set(declared_in(path))
    for included, given in included_in(path):
        package, _, name = included.partition('/')
        assert package == 'robot_identification'
        known = set(declared_in(ROOT / 'launch' / name))
        assert set(given) <= known, f'{included} does not declare {set(given) - known}'
        assert declared & known <= set(given), f'{included}: {declared & known - set(given)}'


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_every_node_stands_in_the_namespace(path):
    """Also those of others: two arms side by side share nothing but /clock, /tf and /rosout."""
    for node in nodes_in(path):
        assert read_in(node['namespace']) == {'namespace'}
        assert 'namespace' in declared_in(path)


def nodes_of_rviz(**given):
    """Return what the experiment starts for RViz, by package."""
    path = ROOT / 'launch' / 'experiment.launch.py'
    make, = (
        made.named['function'] for made in of_kind(describe(path), 'OpaqueFunction')
        if made.named['function'].__name__ == 'nodes_of_rviz'
    )
    values = {argument.name: argument.default for argument in load(path).ARGUMENTS}
    context = SimpleNamespace(launch_configurations={**values, 'launch_rviz': 'true', **given})
    return {node.named['package']: node.named for node in make(context)}


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_nothing_arms_by_itself(path):
    """A person types the hash back; what launch files call is the identifier alone."""
    constants = {
        node.value for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert not any('arm' in text.split('/') for text in constants)


@pytest.mark.parametrize('path', FILES, ids=name_of)
def test_every_program_can_be_chosen(path):
    """Those that the coordinator knows, no others."""
    source = ROOT / 'robot_identification' / 'nodes' / 'programs.py'
    known = next(
        {key.value for key in statement.value.keys}
        for statement in ast.parse(source.read_text()).body
        if isinstance(statement, ast.AnnAssign) and statement.target.id == 'PROGRAMS'
    )
    if 'program' in declared_in(path):
        assert set(declared_in(path)['program']['choices']) == known
    for _, given in included_in(path):
        if isinstance(given.get('program'), str):
            assert given['program'] in known


def started_in(path, executable):
    """Return what gives a node its parameters, for each of its processes."""
    return [
        node['parameters'][0].given[0] for node in nodes_in(path)
        if node['executable'] == executable
    ]


def test_a_simulated_experiment_is_no_dry_run():
    """Beside a driver it is one, and stages are required, unless somebody says otherwise."""
    simulated, real = (
        file.texts for file in started_in(ROOT / 'launch' / 'experiment.launch.py',
                                          'experiment_runner')
    )
    assert simulated['dry_run'] == simulated['commissioning'] == 'false'
    assert 'simulation_token' in simulated and 'simulation_token' not in real
    assert read_in([real['dry_run'], real['commissioning']]) == {'dry_run', 'commissioning'}
    for name in TOGETHER - {'replay'}:
        declared = declared_in(ROOT / 'launch' / f'{name}.launch.py')
        for argument in 'dry_run', 'commissioning':
            assert declared[argument]['default_value'] == 'true', name


@pytest.mark.parametrize('name', ['experiment', 'replay', 'ursim'])
def test_what_follows_a_failure_is_the_end(name):
    """Of URSim, of the replay and of the experiment; the exit code of the launch says so."""
    failed = SimpleNamespace(process_name='wait_for_ursim-2', returncode=1)
    handlers = [
        handler for handler in of_kind(
            describe(ROOT / 'launch' / f'{name}.launch.py'), 'OnProcessExit'
        )
        if handler.named['target_action'].named.get('executable') != 'experiment_runner'
    ]
    assert handlers
    for handler in handlers:
        follow = handler.named['on_exit']
        with pytest.raises(RuntimeError, match='wait_for_ursim-2 ended with exit code 1'):
            follow(failed, SimpleNamespace(is_shutdown=False))
        # Nothing fails, and nothing new is started, once the operator has pressed Ctrl-C.
        for event in (failed, ENDED_WELL):
            assert follow(event, SimpleNamespace(is_shutdown=True)) == []
        # Of which a process may have heard before the launch itself.
        for code in (130, -2):
            interrupted = SimpleNamespace(process_name='a process', returncode=code)
            end, = follow(interrupted, SimpleNamespace(is_shutdown=False))
            assert type(end).__name__ == 'Shutdown'


def test_a_killed_runner_is_no_stop():
    """The launch knows at once that nobody watches the arm; the others hear it 20 s later."""
    path = ROOT / 'launch' / 'experiment.launch.py'
    handlers = [
        handler for handler in of_kind(describe(path), 'OnProcessExit')
        if handler.named['target_action'].named['executable'] == 'experiment_runner'
    ]
    assert len(handlers) == 2  # the simulated arm's, and that of a driver
    for handler in handlers:
        for shutdown in (False, True):
            tell, context = handler.named['on_exit'], SimpleNamespace(is_shutdown=shutdown)
            note, = tell(SimpleNamespace(returncode=-9), context)
            assert 'emergency stop' in note.named['msg']
            for code in (0, 2, 130, -2, -15):
                assert tell(SimpleNamespace(returncode=code), context) == []


def test_a_replay_waits_for_its_listeners():
    """`ros2 bag play` by itself does not, and drops what they have not taken yet."""
    path = ROOT / 'launch' / 'replay.launch.py'
    players = [
        part.named['cmd'] for part in of_kind(describe(path), 'ExecuteProcess')
        if part.named['name'] == 'player'
    ]
    assert players
    for command in players:
        # Above the time in which Fast DDS announces itself again.
        assert float(command[command.index('--delay') + 1]) > 3.0
        assert int(command[command.index('--wait-for-all-acked') + 1]) > 0
        profile = command[command.index('--qos-profile-overrides-path') + 1].given[0][1:]
        assert read_yaml(ROOT.joinpath(*profile)) == {
            '/joint_states': {'reliability': 'reliable', 'history': 'keep_all'},
        }


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


pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')


@long_test
def test_a_person_commissions_a_motion(tmp_path):
    """Dry, slow, full: the last recording holds the motion, and every stage is noted."""
    with own_graph(tmp_path) as graph:
        roots = {'allowed_read_roots': [str(tmp_path)], 'allowed_write_roots': [str(tmp_path)]}
        token = {'simulation_token': 'of this test'}
        clock = {'use_sim_time': True}
        graph.start('simulated_robot', {**token, 'real_time_factor': 4.0, 'discovery_time': 0.1})
        graph.start('trajectory_generator', {**clock, **roots})
        graph.start('bag_recorder', {**clock, **roots})
        graph.start('experiment_runner', {
            **token, **clock, **roots, 'commissioning': True, 'approach_speed': 1.0,
        })
        person = Person(graph, tmp_path, 'ur5', 'A', period=2.0)
        trajectory = person.design(1)
        bag = person.climb(trajectory)
    robot, designed = load_robot('ur5'), load_trajectory(trajectory)
    # Servo and steps of the comparison; a pose that was missed is far off.
    assert largest_deviation(bag, robot, designed) < 0.1
    key = CommissioningKey(
        designed.sha256, robot.name, robot.urdf_sha256, kinematics_sha256(robot), '',
    )
    assert completed_stages(trajectory, key) == set(STAGES)


CONFIG = Path(__file__).resolve().parents[2] / 'config'
RVIZ = CONFIG / 'rviz' / 'preview.rviz'
PLOTJUGGLER = CONFIG / 'plotjuggler' / 'torques.xml'
FOXGLOVE = CONFIG / 'foxglove' / 'experiment.json'
# The three of the file that `robot-identification predict` writes.
PREDICTED = {'/measured', '/predicted', '/residual'}
# By robot_state_publisher, which a driver brings along.
OF_OTHERS = {'/tf', '/tf_static'}
NODES = (
    'simulated_robot', 'trajectory_generator', 'experiment_runner', 'bag_recorder', 'identifier',
    'torque_predictor',
)


def curves():
    return [curve.get('name') for curve in ElementTree.parse(PLOTJUGGLER).iter('curve')]


def sums():
    """Return the curves that PlotJuggler adds up: what they are made of, by name."""
    return {
        snippet.get('name'): [snippet.findtext('linked_source'), *(
            source.text for source in snippet.find('additional_sources')
        )]
        for snippet in ElementTree.parse(PLOTJUGGLER).iter('snippet')
    }


def topics_of_rviz():
    """Return the topics in RViz's layout; TF has none there."""
    displays = yaml.safe_load(RVIZ.read_text())['Visualization Manager']['Displays']
    return {
        value['Value'] for display in displays for name, value in display.items()
        if name in ('Topic', 'Description Topic')
    }


def topics_of_plotjuggler():
    """Return the topics in PlotJuggler's layout: a curve is TOPIC/JOINT/FIELD."""
    sources = [name for name in curves() if name not in sums()]
    sources += [source for made_of in sums().values() for source in made_of]
    return {re.fullmatch(r'(/.*)/\w+/effort', source).group(1) for source in sources}


def topics_of_foxglove():
    """Return the topics in Foxglove's layout, message paths cut off behind the topic."""
    found = set()
    for panel in json.loads(FOXGLOVE.read_text())['configById'].values():
        found |= {path['value'].partition('.')[0] for path in panel.get('paths', [])}
        found |= set(panel.get('topics', {}))
        found |= {layer['topic'] for layer in panel.get('layers', {}).values() if 'topic' in layer}
        found |= {
            panel[name].partition('.')[0]
            for name in ('topicPath', 'topicToRender') if name in panel
        }
    return found


@long_test
def test_every_topic_is_published(tmp_path):
    """By one of our nodes on a graph, by a driver, or in the file that `predict` writes."""
    ros_helpers = pytest.importorskip('ros_helpers')
    with ros_helpers.own_graph(tmp_path) as graph:
        for node in NODES:
            graph.start(node)
        wanted = topics_of_rviz() | topics_of_plotjuggler() | topics_of_foxglove()
        expected = wanted - PREDICTED - OF_OTHERS
        assert len(expected) >= 8

        def missing():
            return {topic for topic in expected if not graph.node.count_publishers(topic)}

        ros_helpers.wait_until(
            lambda: not missing() or any(process.exit_code for process in graph.processes),
            'the topics of the layouts', 30.0,
        )
        assert not missing()


# What the drivers of some distributions declare of what is given to them; empty: any value.
CONTROLLERS = ('joint_trajectory_controller', 'forward_velocity_controller')
HUMBLE = {'use_fake_hardware': (), 'initial_joint_controller': (
    'scaled_joint_trajectory_controller', *CONTROLLERS,
)}
JAZZY = {'use_mock_hardware': (), 'initial_joint_controller': (
    'scaled_joint_trajectory_controller', *CONTROLLERS,
)}
LYRICAL = {'use_mock_hardware': (), 'initial_joint_controller': CONTROLLERS}
NEWEST = {**LYRICAL, 'use_currents_as_efforts': ()}


def driver(choices):
    return DeclaredArguments('ur_robot_driver', 'ur_control.launch.py', choices)


def test_mock_hardware_has_the_name_of_the_distribution():
    """Launch takes a name that nothing declares without a word, and the real driver starts."""
    wanted = {'use_mock_hardware': 'true'}
    assert driver(HUMBLE).fitted(wanted) == {'use_fake_hardware': 'true'}
    for choices in (JAZZY, LYRICAL):
        assert driver(choices).fitted(wanted) == wanted
    unknown = driver({'simulate': ()})
    with pytest.raises(RuntimeError, match=(
        r'^use_mock_hardware:=true: ur_control\.launch\.py of ur_robot_driver declares no '
        r'argument use_mock_hardware or use_fake_hardware: start that driver yourself'
    )):
        unknown.fitted(wanted)


def test_a_choice_is_one_of_the_distribution():
    """The scaled controller is no choice any more in Lyrical; nothing is chosen in its place."""
    wanted = {'initial_joint_controller': 'scaled_joint_trajectory_controller'}
    assert driver(JAZZY).fitted(wanted) == wanted
    with pytest.raises(RuntimeError, match='takes joint_trajectory_controller, forward_velocity'):
        driver(LYRICAL).fitted(wanted)
    with pytest.raises(RuntimeError, match='declares no argument gripper: leave gripper out'):
        driver(LYRICAL).fitted({'gripper': 'none'})


@pytest.mark.parametrize('unit, choice, words', [
    ('A', 'true', 'motor current [A]'), ('Nm', 'false', 'joint torque [N m]'),
])
def test_the_unit_of_the_effort_is_pinned(unit, choice, words):
    """Where the driver has the choice: its default changes with the release."""
    chosen, note = choose_effort(driver(NEWEST), 'ur5e', unit)
    assert chosen == {'use_currents_as_efforts': choice}
    assert words in note and f'use_currents_as_efforts:={choice}' in note
    assert choose_effort(driver(NEWEST), 'ur5e', unit, choice) == (chosen, note)
    other = {'true': 'false', 'false': 'true'}[choice]
    with pytest.raises(RuntimeError, match=f'use_currents_as_efforts:={other} contradicts'):
        choose_effort(driver(NEWEST), 'ur5e', unit, other)


@pytest.mark.parametrize('robot, version, reason', [
    ('ur5e', '3.15.8', r'ur_type:=ur5e: PolyScope 3 is of CB3; give a version 5\.x\.y, or latest'),
    ('ur10', '5.22.1', r'PolyScope 5 is of e-Series and newer; give a version 3\.x\.y'),
    ('ur15', '10.8.0', 'only PolyScope 3 and 5 have the dashboard server'),
])
def test_another_version_is_refused(robot, version, reason):
    """start_ursim.sh would refuse it, too, when the driver already waits; or there is no sign."""
    with pytest.raises(RuntimeError, match=f'^ursim_version:={version}.*{reason}'):
        check_ursim_version(robot, version)


def simulation_controllers(joints):
    """Return controllers as a simulation configures them."""
    return {
        'controller_manager': {'ros__parameters': {
            'update_rate': 500, 'trajectories': {'type': 'a/JointTrajectoryController'},
        }},
        'trajectories': {'ros__parameters': {
            'joints': joints, 'command_interfaces': ['position'],
            'constraints': {'goal_time': 0.0, **{
                name: {'trajectory': 0.2, 'goal': 0.1} for name in joints
            }},
        }},
    }


def test_controllers_get_the_prefix_in_every_place(tmp_path):
    """Joints in lists and as keys of their limits; nothing else changes."""
    joints = list(load_robot('ur5e').joint_names)
    source = tmp_path / 'ur_controllers.yaml'
    source.write_text(yaml.safe_dump(simulation_controllers(joints)))
    path = write_prefixed_controllers(source, 'left_', tmp_path / 'log')
    assert path == tmp_path / 'log' / 'left_ur_controllers.yaml'
    prefixed = simulation_controllers([f'left_{name}' for name in joints])
    assert yaml.safe_load(path.read_text()) == prefixed


# As of ur_robot.launch.py, with what only files of others declare.
KNOWN = ('dry_run', 'experiment', 'headless_mode', 'model_file', 'robot_ip', 'ur_type')


@pytest.mark.parametrize('name, meant', [
    ('robotip', 'robot_ip'), ('headles_mode', 'headless_mode'), ('dryrun', 'dry_run'),
    ('expriment', 'experiment'), ('ur_typ', 'ur_type'),
])
def test_a_misspelt_name_is_refused(name, meant):
    """Launch takes it without a word, and leaves the argument at its default."""
    with pytest.raises(RuntimeError, match=f'^{name}:=.* of ur_robot.*: did you mean {meant}[?]'):
        names_beyond(['ur_type', name], KNOWN, 'ur_robot.launch.py')
