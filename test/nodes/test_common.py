# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What all nodes share: the command line, and the end of a node of several threads."""

import subprocess
import sys
import time

import pytest
from rcl_interfaces.msg import SetParametersResult
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.parameter import Parameter
from robot_identification.errors import UsageError
from robot_identification.nodes.command_line import options_as_parameters
from robot_identification.nodes.common import act_after_setting, run_node, set_own_parameter
from std_msgs.msg import String


@pytest.mark.parametrize(('words', 'code', 'stream', 'said'), [
    (['--help'], 0, 'stdout', 'A simulated robot that stands where'),
    (['-h', '--ros-args', '-p', 'robot:=ur5'], 0, 'stdout', 'docs/parameters.md'),
    (['--robot', 'ur5'], 2, 'stderr', 'error: unknown argument --robot of simulated_robot'),
    (['--ros-args', '--nope'], 2, 'stderr', '--nope'),
    (['--ros-args', '-p', 'truthseed:=3'], 2, 'stderr', 'truthseed (did you mean truth_seed?)'),
    (['--ros-args', '-p', 'robot:=ur5e'], 2, 'stderr', 'are unknown: give them with drive_gains'),
])
def test_a_node_answers_what_is_not_of_ros(graph, words, code, stream, said):
    """It does not start: help names where parameters are documented, the rest is refused."""
    found = subprocess.run(
        [sys.executable, '-m', 'robot_identification.nodes.simulated_robot', *words],
        env=graph.environment, capture_output=True, text=True, timeout=60,
    )
    assert found.returncode == code, found.stderr
    assert said in getattr(found, stream)


def test_messages_of_nodes_name_parameters():
    """The one with the name of the option, or below a service; commands and others stay."""
    parameters = ['start.output', 'identify.start', 'identify.drive_gains', 'drive_gains', 'stop']
    assert options_as_parameters(
        'give --drive-gains, or --start/--stop; or --urdf FILE by `excite --drive-gains`',
        parameters,
    ) == 'give drive_gains, or identify.start/stop; or --urdf FILE by `excite --drive-gains`'


class Ending(Node):
    """Is finished while a callback of another thread still works."""

    def __init__(self):
        super().__init__('ending')
        self.finished, self.done = None, False
        self._publisher = self.create_publisher(String, '~/word', 1)
        self._timer = self.create_timer(0.01, self._work, callback_group=ReentrantCallbackGroup())

    def _work(self):
        self._timer.cancel()
        self.finished = 0
        # Longer than the wait that once was there for it.
        time.sleep(0.3)
        self._publisher.publish(String(data='the last one'))
        self.done = True


@pytest.mark.usefixtures('graph', 'own_signals')
def test_a_callback_ends_before_what_it_uses(capsys):
    """On a busy machine it takes its time; an answer of a service was lost then."""
    nodes = []

    def make():
        nodes.append(Ending())
        return nodes[0]

    assert run_node(make, threads=3, arguments=['ending']) == 0
    assert nodes[0].done
    assert capsys.readouterr().err == ''


class Setting(Node):
    """Notes what it acts on; `strict` true lets nothing else be set."""

    def __init__(self):
        super().__init__('setting')
        self.finished, self.acted, self.tried = None, [], 0
        self.declare_parameter('strict', False)
        self.declare_parameter('value', 0)
        self.add_on_set_parameters_callback(self._refuse)
        act_after_setting(self, lambda parameters: self.acted.append(
            {one.name: one.value for one in parameters}
        ))
        self._timer = self.create_timer(0.01, self._work)

    def _refuse(self, parameters):
        return SetParametersResult(
            successful=not any(one.name == 'strict' and one.value for one in parameters),
            reason='too strict',
        )

    def _work(self):
        self._timer.cancel()
        both = [Parameter('value', value=1), Parameter('strict', value=True)]
        assert not self.set_parameters_atomically(both).successful
        with pytest.raises(UsageError, match='strict of setting cannot be set: too strict'):
            set_own_parameter(self, 'strict', True)
        set_own_parameter(self, 'value', 2)
        set_own_parameter(self, 'value', 3)
        self._timer = self.create_timer(0.01, self._end)

    def _end(self):
        if self.acted:
            self.finished = 0


@pytest.mark.usefixtures('graph', 'own_signals')
@pytest.mark.parametrize('distribution', ['jazzy', 'humble'])
def test_a_node_acts_on_what_was_set_alone(monkeypatch, distribution):
    """Not on what another callback refused; in the same order on Humble, if later."""
    if distribution == 'humble':
        monkeypatch.delattr(Node, 'add_post_set_parameters_callback')
    nodes = []

    def make():
        nodes.append(Setting())
        return nodes[0]

    assert run_node(make, arguments=['setting']) == 0
    acted = [one for one in nodes[0].acted if 'value' in one]
    assert acted == [{'value': 2}, {'value': 3}]
