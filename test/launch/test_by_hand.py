# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What tests in simulators do by hand is tried on our own simulated robot."""

from long_tests import long_test
import pytest
from robot_identification.excitation.trajectory import load_trajectory
from robot_identification.execution.commissioning import CommissioningKey, completed_stages, STAGES
from robot_identification.execution.safety import kinematics_sha256
from robot_identification.model.registry import load_robot
from ros_helpers import own_graph
from simulators.by_hand import Person
from simulators.judging import largest_deviation

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')


@long_test
def test_a_person_commissions_a_motion(tmp_path):
    """Dry, slow, full: the last recording holds the motion, and every stage is noted."""
    with own_graph(tmp_path) as graph:
        roots = {'allowed_read_roots': [str(tmp_path)], 'allowed_write_roots': [str(tmp_path)]}
        token = {'simulation_token': 'of this test'}
        clock = {'use_sim_time': True}
        graph.start('simulated_robot', {**token, 'real_time_factor': 4.0, 'discovery_time': 0.1})
        graph.start('trajectory_generator', {**clock, **roots})
        graph.start('bag_recorder', {**clock, **roots})
        graph.start('experiment_runner', {
            **token, **clock, **roots, 'commissioning': True, 'approach_speed': 1.0,
        })
        person = Person(graph, tmp_path, 'ur5', 'A', period=2.0)
        trajectory = person.design(1)
        bag = person.climb(trajectory)
    robot, designed = load_robot('ur5'), load_trajectory(trajectory)
    # Servo and steps of the comparison; a pose that was missed is far off.
    assert largest_deviation(bag, robot, designed) < 0.1
    key = CommissioningKey(
        designed.sha256, robot.name, robot.urdf_sha256, kinematics_sha256(robot), '',
    )
    assert completed_stages(trajectory, key) == set(STAGES)
