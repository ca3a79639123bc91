# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What all nodes share: the command line."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(('words', 'code', 'stream', 'said'), [
    (['--help'], 0, 'stdout', 'A simulated robot that stands where'),
    (['-h', '--ros-args', '-p', 'robot:=ur5'], 0, 'stdout', 'docs/parameters.md'),
    (['--robot', 'ur5'], 2, 'stderr', 'error: unknown argument --robot of simulated_robot'),
    (['--ros-args', '--nope'], 2, 'stderr', '--nope'),
])
def test_a_node_answers_what_is_not_of_ros(graph, words, code, stream, said):
    """It does not start: help names where parameters are documented, the rest is refused."""
    found = subprocess.run(
        [sys.executable, '-m', 'robot_identification.nodes.simulated_robot', *words],
        env=graph.environment, capture_output=True, text=True, timeout=60,
    )
    assert found.returncode == code, found.stderr
    assert said in getattr(found, stream)
