# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The SROS 2 policies shipped are those of the nodes, and give motion to the runner alone."""

import importlib.util
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from ros_helpers import own_graph, wait_until
from security_policies import (
    COORDINATOR, FOLDER, LISTS, OPERATOR, policy_text, rights_on_graph, RUNNER, SIMULATED,
    STARTED_WITH,
)

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
