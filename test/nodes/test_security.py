# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Nodes on an open graph: strangers do no harm, and a bare machine is enough."""

import signal

import pytest
from ros_helpers import wait_until
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
