# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Gazebo by ur_simulation_gz: motion, recording, stops, and what the effort is.

    pytest -rA test/simulators/test_gazebo.py

It needs ur_simulation_gz and a workspace with this package, see docs/launch.md.
"""

import time

from launching import launched, why_not_installed, why_not_launchable
import pytest
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.model import load_robot, parse_urdf
from robot_identification.pipeline import identify
from ros_helpers import LATCHED, own_graph, wait_until
from simulators.by_hand import FLOOR, Person
from simulators.judging import largest_deviation
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

switching = pytest.importorskip('controller_manager_msgs.srv', reason='needs controller_manager')

CONTROLLER = 'joint_trajectory_controller'


def switch(graph, **controllers):
    """Activate or deactivate controllers."""
    kind, service = switching.SwitchController, '/controller_manager/switch_controller'
    request = kind.Request(strictness=kind.Request.STRICT, **controllers)
    assert graph.answer(graph.request(kind, service, request)).ok


def command(graph):
    """Come as another node that may command the arm."""
    node = graph.add_node('intruder', '/elsewhere')
    node.create_publisher(JointTrajectory, f'/{CONTROLLER}/joint_trajectory', 10)
    return node


# What happens in motion, the words of the fault, and what undoes it.
STOPS = {
    'abort': (lambda graph: graph.call('experiment_runner/abort'), 'aborted by a call', None),
    'deactivated': (
        lambda graph: switch(graph, deactivate_controllers=[CONTROLLER]), 'is inactive',
        lambda graph, _: switch(graph, activate_controllers=[CONTROLLER]),
    ),
    'another commander': (
        command, 'no other node may command', lambda graph, node: graph.remove_node(node),
    ),
}


@pytest.mark.timeout(2400)
def test_motion_stops_and_recording(tmp_path):
    """Commissioning is climbed, stops are smooth, and the recording is one to identify from."""
    reason = why_not_launchable() or why_not_installed('ur_simulation_gz')
    if reason:
        pytest.skip(reason)
    with own_graph(tmp_path) as graph:
        descriptions = graph.hear(String, 'robot_description', LATCHED)
        with launched('gazebo', {'ur_type': 'ur5e'}, tmp_path, graph.environment):
            person = Person(graph, tmp_path, 'ur5e', 'Nm', cell=FLOOR)
            trajectory = person.design(1)
            bag = person.climb(trajectory)
            for name, (stop, words, undo) in STOPS.items():
                person.begin(trajectory)
                wait_until(lambda: person.state()['state'] == 'EXECUTING', 'the motion', 120.0)
                time.sleep(3.0)
                done = stop(graph)
                wait_until(lambda: person.state()['state'] == 'FAULT', f'a fault: {name}', 60.0)
                person.end_recording()
                fault = person.state()['reason']
                print(f'{name}: {fault}')
                assert fault.startswith('at rest after: ') and words in fault
                if undo:
                    undo(graph, done)
            wait_until(lambda: descriptions, 'the description of the arm')
    robot = load_robot('ur5e', urdf=parse_urdf(descriptions[-1].data, 'robot_description'))
    # States follow the commands with a gain of 50 1/s: 1.9 rad/s stay 0.04 rad behind.
    assert largest_deviation(bag, robot, load_trajectory(trajectory)) < 0.08
    # How good that is depends on the clock of the controllers (docs/launch.md).
    print(identify(robot, [bag], IdentifyOptions()))
