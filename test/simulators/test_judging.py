# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What recordings beside mock hardware are judged by: tried on those of our own simulator."""

from dataclasses import replace

from builders import write_run
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.excitation import FourierParametrization, Trajectory
from robot_identification.model import load_robot
from robot_identification.pipeline import identify
from robot_identification.recording.simulated_run import simulate
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import NOISE_FREE
from simulators.judging import largest_deviation

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
pytest.importorskip('rosbags', reason='rosbags, which writes the bags, is not installed')


def motion(robot, seed):
    """Return eight seconds of a UR5 about the pose with its elbow up, not proved by anything."""
    form = FourierParametrization(harmonics=4, base_period=8.0)
    coefficients = np.random.default_rng(seed).normal(size=(robot.n, form.n_coefficients)) * 0.15
    coefficients[:, 0] = (0.0, -1.57, 1.3, -1.57, -1.57, 0.0)
    return Trajectory(robot.name, robot.joint_names, form, coefficients, 1, {})


@pytest.fixture(scope='module')
def links():
    """Return a UR5 without friction and rotors, as Gazebo and URSim have it, and two motions."""
    robot = load_robot('ur5')
    return robot, prior_truth(robot), (motion(robot, 1), motion(robot, 2))


@pytest.fixture(scope='module')
def run(links):
    """Return the first motion as an ideal simulator executes it."""
    robot, truth, trajectories = links
    return simulate(robot, trajectories[0], truth, NOISE_FREE)


def test_zero_effort_is_told(tmp_path, links, run):
    """Mock hardware and old bridges publish zeros: nothing can be said of them."""
    bag = write_run(tmp_path / 'bag', links[0], run, effort=np.zeros_like(run.true[2]))
    # Also where drive gains would be needed, as those of an e-Series arm: they do not help.
    drives = replace(links[0].drives, torque_constant=np.full(links[0].n, np.nan))
    for robot in links[0], replace(links[0], drives=drives):
        for unit in 'A', 'Nm':
            with pytest.raises(DataError, match=r'zero throughout: mock hardware'):
                identify(robot, [bag], IdentifyOptions(effort_unit=unit))


def test_a_motion_is_found_in_its_recording(tmp_path, links, run):
    """It is found where it is; another motion is not."""
    robot, _, trajectories = links
    bag = write_run(tmp_path / 'bag', robot, run)
    # Half a step of the comparison at 1 rad/s, and the servo of the simulator.
    assert largest_deviation(bag, robot, trajectories[0]) < 0.03
    assert largest_deviation(bag, robot, trajectories[1]) > 0.2
    with pytest.raises(ValueError, match=r'the motion takes'):
        largest_deviation(bag, robot, trajectories[0], speed=0.5)
