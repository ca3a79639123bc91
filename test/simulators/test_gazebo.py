# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Gazebo by ur_simulation_gz: sign and size of the effort against inverse dynamics.

    pytest test/simulators/test_gazebo.py

It needs ur_simulation_gz and a workspace with this package, see docs/launch.md.
"""

from launching import launched, why_not_installed, why_not_launchable
import pytest
from robot_identification.model import load_robot, parse_urdf
from ros_helpers import LATCHED, own_graph, wait_until
from simulators.by_hand import Person
from simulators.judging import judge_effort_against_inverse_dynamics
from std_msgs.msg import String


@pytest.mark.timeout(3600)
def test_effort_has_sign_and_size_of_inverse_dynamics(tmp_path):
    """Joint by joint, on the recorded motion, with the description that Gazebo was given."""
    reason = why_not_launchable() or why_not_installed('ur_simulation_gz')
    if reason:
        pytest.skip(reason)
    with own_graph(tmp_path) as graph:
        descriptions = graph.hear(String, 'robot_description', LATCHED)
        with launched('gazebo', {'ur_type': 'ur5e'}, tmp_path, graph.environment):
            person = Person(graph, tmp_path, 'ur5e', 'Nm')
            bag = person.climb(person.design(1))
            wait_until(lambda: descriptions, 'the description of the arm')
    robot = load_robot('ur5e', urdf=parse_urdf(descriptions[-1].data, 'robot_description'))
    judged = judge_effort_against_inverse_dynamics(bag, robot)
    print(f'slopes {judged.slope.round(3)}, residual shares {judged.residual_share.round(3)}')
    assert judged.reasons == ()
