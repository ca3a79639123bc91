# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What all nodes share: the command line, and the end of a node of several threads."""

import subprocess
import sys

import pytest
from robot_identification.nodes.command_line import options_as_parameters


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
