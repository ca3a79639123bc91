# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
SROS 2 policies of our nodes, from what the running nodes have on the graph.

``make policies`` writes security/policies, and a test compares. For nodes in a namespace:
``python test/security_policies.py /arm FOLDER``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, ExitStack
from pathlib import Path
import signal
import subprocess
import sys
import tempfile
import time
from xml.sax.saxutils import escape

from forked_nodes import ForkedProcess
from rclpy.action import (
    get_action_client_names_and_types_by_node, get_action_server_names_and_types_by_node,
)
from rclpy.node import Node, NodeNameNonExistentError
from robot_identification.files import dump_yaml, write_atomically
from robot_identification.nodes.bag_recorder import OPTIONAL_TOPICS
from robot_identification.nodes.motion_interface import LIST_SERVICE
from robot_identification.nodes.robot_state import MODE_TOPIC, SAFETY_TOPIC
from robot_identification.nodes.rtde_reader import KEYS
from ros_helpers import forker, Graph, own_graph, wait_until

FOLDER = Path(__file__).resolve().parents[1] / 'security' / 'policies'
NAMESPACE = '/arm'
# Where the coordinator does not find it: it would begin to work. And a joint on a bench is tested
# apart from the arm.
ELSEWHERE = {
    'trajectory_generator': '/elsewhere', 'friction_tester': '/bench',
}
TOKEN = 'shared'
OPERATOR = 'operator'
Rights = dict[str, set[str]]
SETTLED_SECONDS = 1.5
# Element of a list, element of its entries, and the verbs that are allowed.
LISTS = (
    ('topics', 'topic', ('publish', 'subscribe')),
    ('services', 'service', ('reply', 'request')),
    ('actions', 'action', ('execute', 'call')),
)
CONTROLLERS = ('scaled_joint_trajectory_controller', 'joint_trajectory_controller')
RUNNER, COORDINATOR = 'experiment_runner', 'experiment_coordinator'
SIMULATED = 'simulated_robot'
# What a node is started with, so that it has all that it can have.
STARTED_WITH: Mapping[str, Mapping[str, object]] = {
    SIMULATED: {
        'simulation_token': TOKEN, 'publish_truth': True, 'stiffness': 1e4,
        'real_time_factor': 2.0, 'discovery_time': 0.0,
    },
    'trajectory_generator': {'use_sim_time': True},
    RUNNER: {'simulation_token': TOKEN, 'use_sim_time': True},
    'bag_recorder': {'use_sim_time': True},
    'identifier': {'use_sim_time': True},
    'torque_predictor': {'use_sim_time': True, 'payload': True},
    'rtde_reader': {'use_sim_time': True},
    'friction_tester': {'use_sim_time': True},
    COORDINATOR: {
        'simulation_token': TOKEN, 'use_sim_time': True, 'output': '{folder}/output',
    },
}
# What comes and goes, or needs messages that only a robot machine has.
ALSO: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    SIMULATED: {
        'execute': (f'{CONTROLLERS[0]}/follow_joint_trajectory',),
        # With command_interface effort.
        'subscribe': ('forward_effort_controller/commands',),
    },
    'trajectory_generator': {'publish': ('~/preview',)},
    RUNNER: {
        'publish': tuple(f'{name}/joint_trajectory' for name in CONTROLLERS),
        'call': tuple(f'{name}/follow_joint_trajectory' for name in CONTROLLERS),
        'subscribe': (SAFETY_TOPIC, MODE_TOPIC, 'robot_description'),
        'request': (
            LIST_SERVICE,
            *(f'{name}/{verb}_parameters' for name in CONTROLLERS for verb in ('get', 'list')),
        ),
    },
    'bag_recorder': {
        'subscribe': (
            'joint_states', *OPTIONAL_TOPICS, 'simulated_robot/noise_free_joint_states',
            'torque_predictor/residual', 'robot_description',
        ),
        'request': (LIST_SERVICE, f'{RUNNER}/status'),
    },
    'identifier': {'subscribe': ('joint_states',)},
    # As soon as a robot has them.
    'rtde_reader': {'publish': tuple(f'rtde/{key}' for key in ('timestamp', *KEYS))},
    COORDINATOR: {
        'request': (
            'trajectory_generator/generate', 'bag_recorder/start', 'bag_recorder/stop',
            'identifier/identify', f'{RUNNER}/arm', f'{RUNNER}/execute', f'{RUNNER}/abort',
            *(f'{node}/set_parameters' for node in (
                'trajectory_generator', 'bag_recorder', 'identifier', 'torque_predictor', RUNNER,
            )),
        ),
    },
}


def namespace_of(name: str) -> str:
    return ELSEWHERE.get(name, NAMESPACE)


@contextmanager
def started_in_namespace(graph: Graph, folder: Path) -> Iterator[None]:
    """Run all nodes in a namespace, which tells relative names from absolute ones."""
    with ExitStack() as stack:
        for name, parameters in STARTED_WITH.items():
            file = folder / f'{name}.yaml'
            given = {
                key: value.format(folder=folder) if isinstance(value, str) else value
                for key, value in parameters.items()
            }
            given['allowed_write_roots'] = given['allowed_read_roots'] = [str(folder)]
            file.write_text(dump_yaml({'/**': {'ros__parameters': given}}))
            arguments = ['--ros-args', '-r', f'__ns:={namespace_of(name)}',
                         '--params-file', str(file)]
            log = folder / f'{name}.log'
            process = forker().start(name, arguments, graph.environment, log)
            stack.callback(_stop, process)
        yield


def _stop(process: ForkedProcess) -> None:
    for number in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
        process.send_signal(number)
        try:
            process.wait(10.0)
            return
        except subprocess.TimeoutExpired:
            continue


def rights_on_graph(folder: Path) -> dict[str, Rights]:
    """Return what each node has, as soon as nothing more is discovered."""
    with own_graph(folder) as graph, started_in_namespace(graph, folder):
        seen: dict[str, Rights] = {name: _empty() for name in STARTED_WITH}
        last_change = time.monotonic()

        def settled() -> bool:
            nonlocal last_change
            for name, rights in seen.items():
                for verb, names in _endpoints(graph.node, name).items():
                    if names - rights[verb]:
                        rights[verb] |= names
                        last_change = time.monotonic()
            complete = all('~/set_parameters' in r['reply'] for r in seen.values())
            return complete and time.monotonic() - last_change > SETTLED_SECONDS

        wait_until(settled, 'all nodes to be discovered', 120.0)
    for name, more in ALSO.items():
        for verb, names in more.items():
            seen[name][verb] |= set(names)
    for rights in seen.values():
        # Humble has no such service.
        rights['reply'].add('~/get_type_description')
    return {**seen, OPERATOR: operator_rights(seen)}


def operator_rights(nodes: Mapping[str, Rights]) -> Rights:
    """Return what the person at the command line needs: all services, and nothing that moves."""
    rights = _empty()
    for name, own in nodes.items():
        rights['request'] |= {service.replace('~', name, 1) for service in own['reply']}
        rights['subscribe'] |= {
            topic.replace('~', name, 1) for topic in own['publish']
            if 'joint_trajectory' not in topic
            and not topic.endswith('/commands')
        }
    rights['publish'] = {'/rosout', '/parameter_events'}
    return rights


def _empty() -> Rights:
    return {verb: set() for _, _, verbs in LISTS for verb in verbs}


def _endpoints(node: Node, name: str) -> Rights:
    """Return what a node has now, by names as they stand in a policy."""
    queries = {
        'publish': node.get_publisher_names_and_types_by_node,
        'subscribe': node.get_subscriber_names_and_types_by_node,
        'reply': node.get_service_names_and_types_by_node,
        'request': node.get_client_names_and_types_by_node,
        'execute': lambda *where: get_action_server_names_and_types_by_node(node, *where),
        'call': lambda *where: get_action_client_names_and_types_by_node(node, *where),
    }
    try:
        return {
            verb: {
                _in_policy(full, name) for full, _ in query(name, namespace_of(name))
                # They belong to an action, which a policy names as a whole.
                if '/_action/' not in full
            }
            for verb, query in queries.items()
        }
    except NodeNameNonExistentError:
        return _empty()


def _in_policy(full: str, node: str) -> str:
    """Return a name relative to the node or its namespace where it is below them."""
    namespace = namespace_of(node)
    for beginning, written in ((f'{namespace}/{node}/', '~/'), (f'{namespace}/', '')):
        if full.startswith(beginning):
            return written + full.removeprefix(beginning)
    return full


def policy_text(node: str, rights: Mapping[str, set[str]], namespace: str = '/') -> str:
    """Return the policy file of one node in an enclave of its name."""
    enclave = f'{namespace.rstrip("/")}/{node}'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<!-- Written by `make policies` from the running node: see docs/security.md. -->',
        '<policy version="0.2.0">', '  <enclaves>', f'    <enclave path="{escape(enclave)}">',
        '      <profiles>', f'        <profile ns="{escape(namespace)}" node="{escape(node)}">',
    ]
    for plural, singular, verbs in LISTS:
        for verb in verbs:
            if rights[verb]:
                lines.append(f'          <{plural} {verb}="ALLOW">')
                lines += [
                    f'            <{singular}>{escape(name)}</{singular}>'
                    for name in sorted(rights[verb])
                ]
                lines.append(f'          </{plural}>')
    lines += ['        </profile>', '      </profiles>', '    </enclave>', '  </enclaves>',
              '</policy>', '']
    return '\n'.join(lines)


def main() -> None:
    namespace = sys.argv[1] if len(sys.argv) > 1 else '/'
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else FOLDER
    with tempfile.TemporaryDirectory() as scratch:
        for node, rights in rights_on_graph(Path(scratch)).items():
            write_atomically(folder / f'{node}.xml', policy_text(node, rights, namespace))
            print(f'{folder / node}.xml')


if __name__ == '__main__':
    main()
