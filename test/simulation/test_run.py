# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What a simulated run holds is what a bag of it holds, in the units and signs of the driver."""

from dataclasses import replace

from builders import topics_of
import numpy as np
import pytest
from robot_identification.excitation import (
    FourierParametrization, SampledParametrization, Trajectory,
)
from robot_identification.model.registry import load_robot
from robot_identification.recording import read_recording, simulate_repeats, write_simulated_bag
from robot_identification.recording.simulated_run import simulate
from robot_identification.simulation import (
    draw_truth, published_effort, Sensors, with_elastic_joints, with_static_friction,
    with_warming,
)
from robot_identification.simulation.mujoco_robot import published_unit
from robot_identification.simulation.run import PoseOptions, simulate_poses

QUICK = PoseOptions(dwell=0.1, approach_time=0.2)


@pytest.fixture(scope='module')
def youbot():
    """Return the youBot, with one joint counted backwards."""
    robot = load_robot('youbot')
    signs = np.array([1.0, 1.0, 1.0, -1.0, 1.0])
    return replace(robot, encoders=replace(robot.encoders, sign=signs))


def make_trajectory(robot, closed=True):
    """Return a motion of two seconds, at rest at both ends; or one second that ends elsewhere."""
    if closed:
        form = FourierParametrization(harmonics=4, base_period=2.0)
        coefficients = np.random.default_rng(2).normal(0.0, 0.02, (robot.n, form.n_coefficients))
    else:
        form = SampledParametrization(times=(0.0, 1.0))
        coefficients = np.tile([0.2, 0.4, 0.0, 0.0, 0.0, 0.0], (robot.n, 1))
    return Trajectory(robot.name, robot.joint_names, form, coefficients, 1, {})


@pytest.mark.parametrize('name', ['ur5', 'youbot'])
def test_a_bag_holds_all_of_a_run(request, name, tmp_path):
    """Values are stored to the last bit; adding a zero of 3 rad to positions rounds at 1e-15."""
    robot = request.getfixturevalue(name)
    truth = with_elastic_joints(with_warming(with_static_friction(draw_truth(robot, 3))), 1e4)
    run = simulate_poses(robot, truth, Sensors(), np.full((1, robot.n), 0.3), QUICK)
    write_simulated_bag(tmp_path / 'bag', robot, run)
    found = read_recording(tmp_path / 'bag', robot.joint_names, encoders=robot.encoders)
    np.testing.assert_allclose(found.q, run.measured[0], atol=1e-14)
    np.testing.assert_array_equal(found.dq, run.measured[1])
    np.testing.assert_array_equal(found.effort, run.measured[2])
    assert found.metadata['effort_unit'] == {'ur5': 'A', 'youbot': 'Nm'}[name]
    for channel, values in (
        ('temperature', run.temperature), ('target_torque', run.target_torque),
        ('target_current', run.target_current),
    ):
        np.testing.assert_array_equal(found.channels[channel].values, values)
        np.testing.assert_allclose(found.channels[channel].stamps, found.stamps, atol=1e-9)
    assert topics_of(tmp_path / 'bag')['/rotor_states'][0] == (
        'sensor_msgs/msg/JointState'
    )
    rotors = read_recording(
        tmp_path / 'bag', robot.joint_names, topic='/rotor_states', encoders=robot.encoders
    )
    np.testing.assert_allclose(rotors.q, run.rotors[0], atol=1e-14)
    np.testing.assert_array_equal(rotors.dq, run.rotors[1])
    np.testing.assert_array_equal(rotors.stamps, found.stamps)


def test_effort_is_in_the_drivers_unit(ur5, youbot):
    """A driver in N m multiplies by its nominal gains: it does not know the true ones either."""
    current = np.array([1.0, -2.0, 0.5, 3.0, 0.1])
    assert published_unit(youbot) == 'Nm'
    np.testing.assert_array_equal(
        published_effort(youbot, current), youbot.drives.drive_gain * current
    )
    assert published_unit(ur5) == 'A'
    np.testing.assert_array_equal(published_effort(ur5, np.ones(6)), np.ones(6))
    unknown = replace(ur5, effort_unit='Nm').with_drive_gains(np.ones(6))
    unknown = replace(unknown, drives=replace(unknown.drives, torque_constant=np.full(6, np.nan)))
    assert published_unit(unknown) == 'A', 'nothing else is known'


@pytest.mark.parametrize('closed', [True, False])
def test_the_first_of_many_runs_is_the_only_one(ur5, closed):
    """To the last bit; then the others follow, after a way back where one is needed."""
    trajectory, truth = make_trajectory(ur5, closed), with_warming(draw_truth(ur5, 3))
    whole, runs = simulate_repeats(ur5, trajectory, truth, Sensors(), 3, seed=4)
    once = simulate(ur5, trajectory, truth, Sensors(), seed=4)
    for found, expected in zip(runs[0].measured, once.measured, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(runs) == 3
    count = len(once.stamps)
    assert [len(run.stamps) for run in runs] == [count] * 3
    assert (len(whole.stamps) == 3 * count) == closed
    np.testing.assert_allclose(np.diff(whole.stamps), 0.008, atol=1e-9)
    # A jump of the reference would show as a jump of the arm: at most 3 rad/s here.
    assert np.abs(np.diff(whole.true[0], axis=0)).max() < 3.0 * 0.008
    ends = [run.temperature[row] for run in runs for row in (0, -1)]
    assert np.all(np.diff(ends[::2], axis=0) > 0.0), 'warmer and warmer'
    # Without a jump: 8 ms of a joint that warms by 0.05 K in a run.
    if closed:
        np.testing.assert_allclose(ends[1:-1:2], ends[2::2], atol=1e-3)
