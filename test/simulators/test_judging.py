# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The judges of simulated recordings: right on our simulator, and not fooled by spoilt ones."""

from dataclasses import replace
import re

from builders import write_run
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.excitation import FourierParametrization, Trajectory
from robot_identification.model import gravity_of_mounting, load_robot
from robot_identification.model.identified_model import KinematicFilter
from robot_identification.pipeline import identify
from robot_identification.recording.simulated_run import simulate
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import NOISE_FREE
from simulators.judging import (
    CEILING, judge_effort_against_inverse_dynamics, largest_deviation, mounting_errors,
    MOUNTING_RATIO,
)

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
pytest.importorskip('rosbags', reason='rosbags, which writes the bags, is not installed')

# The filter is given: that it is chosen well is tested where it is chosen.
OPTIONS = IdentifyOptions(
    friction='none', estimator='wls', kinematic_filter=KinematicFilter(cutoff=10.0)
)


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


def write_torque(path, robot, run, change=lambda torque: torque):
    """Write a run with effort in N m, as gz_ros2_control publishes it."""
    order = np.argsort(robot.joint_names)
    torque = change(robot.drives.to_torque(run.true[2]))
    metadata = {'robot': robot.name, 'effort_unit': 'Nm'}
    return write_run(path, robot, run, effort=torque[:, order], metadata=metadata)


def test_the_torque_of_the_links_agrees_with_inverse_dynamics(tmp_path, links, run):
    """The simulator's torque along the motion is Pinocchio's: every sign, every size."""
    judged = judge_effort_against_inverse_dynamics(
        write_torque(tmp_path / 'bag', links[0], run), links[0]
    )
    assert judged.reasons == ()
    # What is left is the acceleration, which the judge gets from the positions.
    assert np.nanmax(np.abs(judged.slope - 1.0)) < 0.02
    assert np.isfinite(judged.slope[:4]).all()


SPOILT = {
    'sign': (lambda torque: torque * [1, -1, 1, 1, 1, 1], r'shoulder_lift_joint: the sign'),
    'unit': (lambda torque: torque / 13.0, r'shoulder_lift_joint: the size is wrong.* 0\.08 '),
    'order': (lambda torque: torque[:, [0, 2, 1, 3, 4, 5]], r'elbow_joint: '),
    'scale': (lambda torque: torque * [1, 1, 1.2, 1, 1, 1], r'elbow_joint: the size is wrong'),
}


@pytest.mark.parametrize('spoil, reason', SPOILT.values(), ids=SPOILT)
def test_wrong_effort_is_named(tmp_path, links, run, spoil, reason):
    """A sign, a unit, an order or a scale that is wrong is told by the joint's name."""
    judged = judge_effort_against_inverse_dynamics(
        write_torque(tmp_path / 'bag', links[0], run, spoil), links[0]
    )
    assert [found for found in judged.reasons if re.match(reason, found)], judged.reasons


def test_another_gravity_is_noticed(tmp_path, links, run):
    """The judge takes the gravity of the simulator, not the one of its prior."""
    robot = links[0].with_gravity(gravity_of_mounting(*CEILING))
    judged = judge_effort_against_inverse_dynamics(
        write_torque(tmp_path / 'bag', links[0], run), robot
    )
    assert any(reason.startswith('shoulder_lift_joint: the sign') for reason in judged.reasons)


def test_zero_effort_is_told(tmp_path, links, run):
    """Mock hardware and old bridges publish zeros: nothing can be said of them."""
    bag = write_torque(tmp_path / 'bag', links[0], run, np.zeros_like)
    with pytest.raises(DataError, match=r'zero throughout: mock hardware and older Gazebo'):
        judge_effort_against_inverse_dynamics(bag, links[0])
    # Also where drive gains would be needed, as those of an e-Series arm: they do not help.
    drives = replace(links[0].drives, torque_constant=np.full(links[0].n, np.nan))
    for robot in links[0], replace(links[0], drives=drives):
        for unit in 'A', 'Nm':
            with pytest.raises(DataError, match=r'zero throughout: mock hardware'):
                identify(robot, [bag], IdentifyOptions(effort_unit=unit))


def test_the_wrong_mounting_is_more_than_50_times_worse(tmp_path, links, run):
    """Identify on the ground, predict on the ceiling: section 7 of Raviola et al. 2021."""
    robot, truth, trajectories = links
    ceiling = robot.with_gravity(gravity_of_mounting(*CEILING))
    bags = [write_run(tmp_path / 'identified', robot, replace(run, measured=run.true))]
    for name, arm in (('ground', robot), ('ceiling', ceiling)):
        made = simulate(arm, trajectories[1], truth, NOISE_FREE)
        bags.append(write_run(tmp_path / name, arm, made))
    model = identify(robot, bags[:1], OPTIONS).model
    errors = mounting_errors(model, *bags[1:])
    # They print 0.0043, 0.0050 and 0.6144 N m for URSim, which has no friction either.
    assert errors.ratio > MOUNTING_RATIO
    # The model knows nothing of the mounting: it is as good on the ceiling as on the ground.
    assert errors.ceiling < 3.0 * errors.ground


def test_a_motion_is_found_in_its_recording(tmp_path, links, run):
    """It is found where it is; another motion is not."""
    robot, _, trajectories = links
    bag = write_run(tmp_path / 'bag', robot, run)
    # Half a step of the comparison at 1 rad/s, and the servo of the simulator.
    assert largest_deviation(bag, robot, trajectories[0]) < 0.03
    assert largest_deviation(bag, robot, trajectories[1]) > 0.2
    with pytest.raises(ValueError, match=r'the motion takes'):
        largest_deviation(bag, robot, trajectories[0], speed=0.5)
