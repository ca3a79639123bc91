# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Mock hardware of ur_robot_driver: motion and recording, and no effort.

    pytest test/simulators/test_mock_hardware.py

It needs ur_robot_driver and a workspace with this package, see docs/launch.md.
"""

from launching import launched, why_not_installed, why_not_launchable
import pytest
from robot_identification.errors import DataError
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.model.registry import load_robot
from robot_identification.pipeline import identify
from ros_helpers import own_graph
from simulators.by_hand import Person
from simulators.judging import largest_deviation


@pytest.mark.timeout(2400)
def test_motion_is_executed_and_recorded_and_effort_is_missing(tmp_path):
    """The recording holds the motion, and the identifier says why nothing comes of it."""
    reason = why_not_launchable() or why_not_installed('ur_robot_driver')
    if reason:
        pytest.skip(reason)
    with own_graph(tmp_path) as graph:
        with launched('mock_hardware', {'ur_type': 'ur5e'}, tmp_path, graph.environment):
            person = Person(graph, tmp_path, 'ur5e', 'A')
            trajectory = person.design(1)
            bag = person.climb(trajectory)
    robot = load_robot('ur5e')
    # States mirror the commands; half a step of the comparison at 1 rad/s is 0.01 rad.
    assert largest_deviation(bag, robot, load_trajectory(trajectory)) < 0.05
    with pytest.raises(DataError, match=r'zero throughout: mock hardware'):
        identify(robot, [bag], IdentifyOptions())
