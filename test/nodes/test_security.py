# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Nodes on an open graph: strangers do no harm, and a bare machine is enough."""

import importlib.util
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from ros_helpers import own_graph, wait_until
from security_policies import (
    COORDINATOR, FOLDER, LISTS, OPERATOR, policy_text, rights_on_graph, RUNNER, SIMULATED,
    STARTED_WITH,
)
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

QUIET_NODE = 'torque_predictor'
HOSTILE = '<script>alert(1)</script>\n[ERROR] [1.0] [forged]: all is well\x1b[2J\r'


def test_the_second_node_of_a_name_leaves(graph):
    """It says why and exits with 2; after a crash, a new one starts all the same."""
    first = graph.start(QUIET_NODE)
    names = graph.node.get_node_names
    wait_until(lambda: QUIET_NODE in names(), 'the first node')
    second = graph.start(QUIET_NODE)
    assert graph.exit_code(second) == 2
    assert f'another node named /{QUIET_NODE} is running' in second.log.read_text()
    assert first.exit_code is None
    graph.kill(first)
    third = graph.start(QUIET_NODE)
    wait_until(lambda: names().count(QUIET_NODE) > 1, 'the third node beside what is left')
    wait_until(lambda: names().count(QUIET_NODE) == 1, 'the end of what is left', 60.0)
    assert third.exit_code is None


def test_a_clock_that_does_not_come_is_told(graph):
    """After some seconds of wall time there is a warning; services and SIGTERM work on."""
    names = (QUIET_NODE, 'bag_recorder')
    nodes = [graph.start(name, {'use_sim_time': True}) for name in names]
    for name, node in zip(names, nodes, strict=True):
        wait_until(
            lambda log=node.log: 'nothing came on /clock' in log.read_text(), 'the warning'
        )
        assert graph.configure(f'/{name}', {'use_sim_time': 'yes'})
        node.process.send_signal(signal.SIGTERM)
        # Half a second of spinning at most, and the time a busy machine takes to end Python.
        assert graph.exit_code(node, 10.0) == 0


def test_names_of_strangers_cannot_forge_the_log(graph):
    """A joint name with line breaks and escape codes is one line of printable letters."""
    node = graph.start('simulated_robot', {'discovery_time': 0.0})
    topic = '/scaled_joint_trajectory_controller/joint_trajectory'
    # Publishing only once the robot listens, and at once: it does not stay beside strangers.
    commands = graph.publisher(JointTrajectory, topic)
    commands.publish(JointTrajectory(
        joint_names=[HOSTILE], points=[JointTrajectoryPoint(positions=[0.0])]
    ))
    wait_until(lambda: 'rejected' in node.log.read_text(), 'the trajectory to be rejected')
    said = node.log.read_text()
    assert '<script>' in said
    assert '\x1b' not in said
    assert '\r' not in said
    assert not any(line.startswith('[ERROR] [1.0]') for line in said.splitlines())


@pytest.mark.parametrize(
    'environment',
    [
        {'LC_ALL': 'C', 'LANG': 'C', 'HOME': '/proc/no_home', 'DISPLAY': ''},
        {'LC_ALL': 'C', 'ROS_LOG_DIR': '/dev/null/logs'},
    ],
    ids=['no home', 'no folder for logs'],
)
def test_a_bare_machine_is_enough(graph, tmp_path, environment):
    """Without locale, home, display or a place for logs, a bag goes to a path of any letters."""
    node = graph.start('bag_recorder', {'minimum_free_space': 1.0}, environment=environment)
    publisher = graph.node.create_publisher(JointState, '/joint_states', 10)
    folder = tmp_path / 'ein Ordner für Säcke 袋'
    folder.mkdir()
    bag = folder / 'bag 1'
    assert graph.configure('/bag_recorder', {'start.output': str(bag)}) == []
    graph.done('/bag_recorder/start')
    publisher.publish(JointState(name=['a'], position=[1.0]))
    graph.done('/bag_recorder/stop')
    assert list(bag.glob('*.mcap'))
    assert 'no log file is written' in node.log.read_text()


NAMES = (*STARTED_WITH, OPERATOR)
MOTION = ('joint_trajectory', 'follow_joint_trajectory')
TESTER = 'friction_tester'


def committed():
    found = {}
    for path in sorted(FOLDER.glob('*.xml')):
        root = ElementTree.parse(path).getroot()
        (enclave,) = root.findall('enclaves/enclave')
        (profile,) = enclave.findall('profiles/profile')
        rights = {verb: set() for _, _, verbs in LISTS for verb in verbs}
        for plural, singular, verbs in LISTS:
            for element in profile.findall(plural):
                ((verb, rule),) = element.attrib.items()
                assert verb in verbs
                assert rule == 'ALLOW'
                rights[verb] |= {entry.text for entry in element.findall(singular)}
        assert root.attrib == {'version': '0.2.0'}
        assert enclave.get('path') == f'/{path.stem}'
        assert profile.attrib == {'ns': '/', 'node': path.stem}
        found[path.stem] = rights
    return found


def absolute(name, node):
    """Return a name of a policy in full, for nodes of the root namespace."""
    if name.startswith('~'):
        return name.replace('~', f'/{node}', 1)
    return name if name.startswith('/') else f'/{name}'


def test_policies_are_those_of_the_running_nodes(tmp_path):
    """Every topic, service and action that a node has is in its file, and nothing else."""
    for node, rights in rights_on_graph(tmp_path).items():
        assert (FOLDER / f'{node}.xml').read_text() == policy_text(node, rights), (
            f'{node} has other rights on the graph: look at the difference, then `make policies`'
        )


@pytest.mark.parametrize(('does', 'allowed'), [
    # Publishes trajectories to a controller, or calls its action.
    (lambda rights, _: any(
        name.rpartition('/')[2] in MOTION for name in rights['publish'] | rights['call']
    ), {RUNNER}),
    # Commands torques.
    (lambda rights, _: 'forward_effort_controller/commands' in rights['publish'], {TESTER}),
    # Configures and calls the runner.
    (lambda rights, node: any(
        absolute(name, node).startswith(f'/{RUNNER}/') and not name.endswith('/status')
        for name in rights['request'] - {'~/get_parameters'}
    ), {COORDINATOR, OPERATOR}),
    # Feigns joint states, or a clock, which is nobody's on a real robot.
    (lambda rights, _: rights['publish'] & {'joint_states', 'robot_description', '/clock'},
     {SIMULATED}),
], ids=['motion', 'torques', 'arming', 'feigning'])
def test_who_may_do_what_is_dangerous(does, allowed):
    """Nobody else; every node has a policy."""
    policies = committed()
    assert set(policies) == set(NAMES)
    assert {node for node, rights in policies.items() if does(rights, node)} == allowed


def test_sros2_reads_the_policies():
    """Its own schema accepts every file."""
    policy = pytest.importorskip('sros2.policy', reason='sros2 is not installed')
    for name in NAMES:
        policy.load_policy(FOLDER / f'{name}.xml')


PROBE = """
import rclpy
rclpy.init(args=['--ros-args', '--enclave', '/probe'])
rclpy.create_node('probe')
"""
ARTEFACTS = ('identity_ca.cert.pem', 'cert.pem', 'key.pem', 'permissions_ca.cert.pem',
             'governance.p7s', 'permissions.p7s')


def security_environment(keystore, enclave):
    """Return the environment of a process in an enclave, of which everything is asked."""
    return {
        'ROS_SECURITY_ENABLE': 'true', 'ROS_SECURITY_STRATEGY': 'Enforce',
        'ROS_SECURITY_KEYSTORE': str(keystore), 'ROS_SECURITY_ENCLAVE_OVERRIDE': enclave,
    }


def missing_security(folder):
    """Return why security cannot be enforced here, empty where it can."""
    # A node in an enclave of files that are no keys is refused by every middleware.
    enclave = folder / 'enclaves' / 'probe'
    enclave.mkdir(parents=True)
    for name in ARTEFACTS:
        (enclave / name).write_text('no key')
    probe = subprocess.run(
        [sys.executable, '-c', PROBE], capture_output=True, text=True,
        env={**os.environ, **security_environment(folder, '/probe')},
    )
    assert probe.returncode != 0
    if "doesn't have the security libraries" in probe.stderr:
        return 'the middleware is built without security (as that of PyPI is)'
    if importlib.util.find_spec('sros2') is None:
        return 'sros2 is not installed, which makes the keys'
    return ''


def test_a_node_without_security_is_told_in_words(graph, tmp_path):
    """Asked to enforce what it has not, or with bad keys, a node refuses in one line."""
    missing_security(tmp_path)
    node = graph.start(
        'torque_predictor', environment=security_environment(tmp_path, '/probe')
    )
    assert graph.exit_code(node) == 2
    assert 'error: ROS refuses to start' in node.log.read_text()


def test_enforced_policies_let_the_nodes_work_and_nobody_else(tmp_path, monkeypatch):
    """Services answer the operator; a node without keys is not met; others cannot command."""
    problem = missing_security(tmp_path / 'probe')
    if problem:
        pytest.skip(problem)
    keystore = tmp_path / 'keystore'
    subprocess.run(['ros2', 'security', 'create_keystore', str(keystore)], check=True)
    for name in NAMES:
        subprocess.run(['ros2', 'security', 'create_enclave', str(keystore), f'/{name}'],
                       check=True)
        subprocess.run(['ros2', 'security', 'create_permission', str(keystore), f'/{name}',
                        str(FOLDER / f'{name}.xml')], check=True)
    for key, value in security_environment(keystore, f'/{OPERATOR}').items():
        monkeypatch.setenv(key, value)
    with own_graph(tmp_path) as graph:
        for name in ('bag_recorder', 'identifier'):
            graph.start(name, environment=security_environment(keystore, f'/{name}'))
        assert 'start.output' in graph.call('/bag_recorder/start').message
        assert 'identify.output' in graph.call('/identifier/identify').message
        stranger = graph.start('torque_predictor', environment={'ROS_SECURITY_ENABLE': 'false'})
        wait_until(lambda: stranger.exit_code is None, 'the stranger to run')
        script = (
            'import rclpy\nfrom trajectory_msgs.msg import JointTrajectory\n'
            "rclpy.init()\nnode = rclpy.create_node('identifier')\n"
            "node.create_publisher(JointTrajectory, '{topic}', 10)\n"
        ).format(topic='scaled_joint_trajectory_controller/joint_trajectory')
        refused = subprocess.run(
            [sys.executable, '-c', script], capture_output=True, text=True,
            env={**graph.environment, **security_environment(keystore, '/identifier')},
        )
        assert refused.returncode != 0, 'an identifier could command the arm'
        assert 'torque_predictor' not in graph.node.get_node_names()
