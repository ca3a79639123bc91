# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Energy of a motion: MuJoCo's kinetic energy, the balance of work, and intervals."""

from dataclasses import replace

from known_models import known_model, true_model
import numpy as np
import pytest
from recordings import fourier_motion
from robot_identification.model.regressor import energy_regressor, Motion
from robot_identification.simulation import mujoco_robot
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.studies.energy.study import energy_of_motion, with_possible_bodies

FRICTION = 'coulomb,viscous,offset,load'


def moving(n, rate=500.0, duration=3.0):
    t = np.arange(0.0, duration, 1.0 / rate)
    return t, fourier_motion(n, 2, t)


@pytest.fixture
def model(ur5, rng):
    """Return a UR5 with all kinds of friction, offsets and rotors, and a covariance."""
    truth = draw_truth(ur5, 4)
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    found = known_model(
        ur5, FRICTION, mujoco_robot.true_inertial_parameters(ur5, truth), fc=truth.coulomb,
        fv=truth.viscous, f0=rng.normal(size=6), fcl=0.02, Ia=truth.reflected_inertia,
    )
    root = 0.01 * rng.normal(size=(found.reduction.rank, found.reduction.rank))
    return replace(found, covariance=root @ root.T)


@pytest.mark.parametrize('name', ['ur5', 'youbot', 'mixed'])
def test_base_parameters_determine_kinetic_energy(robots, rng, name):
    """Changes of standard parameters that no torque shows change no kinetic energy."""
    found = known_model(robots[name])
    robot, reduction = found.robot, found.reduction
    theta = rng.normal(size=found.parameters.size)
    hidden = theta.copy()
    hidden[reduction.independent] -= reduction.K @ theta
    assert np.linalg.norm(hidden) > 1.0
    q, dq = rng.normal(size=(2, 20, robot.n))
    kinetic, potential = energy_regressor(robot, Motion(q, dq, dq))
    rotors = 0.5 * dq**2 @ hidden[found.parameters.reflected_inertia_slice]
    bodies = hidden[: 10 * robot.n]
    # Rounding of sums of some hundred terms of size 10.
    np.testing.assert_allclose(kinetic @ bodies + rotors, 0.0, atol=1e-9)
    # And potential energy by a constant only.
    assert np.ptp(potential @ bodies) < 1e-8


def test_kinetic_energy_is_that_of_mujoco(ur5):
    """The truth's base parameters give MuJoCo's energy of bodies and rotors."""
    mujoco = pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    truth = draw_truth(ur5, 4)
    simulated = mujoco_robot._build_model(mujoco, ur5, truth)
    t, motion = moving(6, rate=20.0)
    data = mujoco.MjData(simulated)
    energy = energy_of_motion(true_model(ur5, truth), t, motion)
    expected = np.zeros((len(t), 2))
    for k in range(len(t)):
        data.qpos[:], data.qvel[:] = motion.q[k], motion.dq[k]
        mujoco.mj_forward(simulated, data)
        mujoco.mj_energyPos(simulated, data)
        mujoco.mj_energyVel(simulated, data)
        expected[k] = data.energy
    # Both are exact; MuJoCo reads principal inertias and a turned frame from the URDF's tensor.
    np.testing.assert_allclose(energy.kinetic.value, expected[:, 1], rtol=1e-6)
    np.testing.assert_allclose(
        energy.potential, expected[:, 0] - expected[0, 0], atol=1e-5 * np.ptp(expected[:, 0])
    )


def test_work_is_energy_and_loss(model):
    """What joints deliver is the change of energy and what friction and offsets take."""
    t, motion = moving(6)
    energy = energy_of_motion(model, t, motion)
    stored = energy.kinetic.value - energy.kinetic.value[0] + energy.potential
    taken = stored + energy.loss.value + energy.bias
    # The trapezoidal rule at 2 ms; some 100 J are moved about.
    np.testing.assert_allclose(energy.delivered.value, taken, atol=1e-3)
    assert np.ptp(energy.delivered.value) > 50.0
    # Power is that of the model's own torque.
    torque = model.torque(motion)
    np.testing.assert_allclose(energy.joint_power, torque * motion.dq, atol=1e-9)
    np.testing.assert_allclose(energy.power.value, energy.joint_power.sum(axis=1), atol=1e-9)
    for total, joints in (
        (energy.delivered, energy.joint_delivered), (energy.loss, energy.joint_loss)
    ):
        np.testing.assert_allclose(total.value[-1], joints.value.sum(), rtol=1e-12)
    # Friction takes, whichever way a joint turns; offsets do not.
    assert np.all(np.diff(energy.loss.value) >= 0.0)
    assert np.any(np.diff(energy.bias) < 0.0)


def test_blocks_and_gaps(model):
    """More samples than a block are as many blocks; over a gap nothing is delivered."""
    t, motion = moving(6, duration=2.5)
    assert len(t) > 1024
    whole = energy_of_motion(model, t, motion)
    late = t + np.where(np.arange(len(t)) >= 700, 100.0, 0.0)
    gap = energy_of_motion(model, late, replace(motion, starts=(0, 700)))
    step = whole.delivered.value[700] - whole.delivered.value[699]
    np.testing.assert_allclose(
        gap.delivered.value[-1], whole.delivered.value[-1] - step, atol=1e-9
    )
    assert gap.delivered.value[700] == gap.delivered.value[699]


def test_intervals_hold_the_truth_as_often_as_they_say(model, rng):
    """Estimates are drawn about a truth by the covariance; 95 % of the intervals hold it."""
    t, motion = moving(6, rate=4.0)
    truth = energy_of_motion(model, t, motion)
    draws = rng.multivariate_normal(model.theta_base, model.covariance, size=400)
    held = []
    for theta in draws:
        found = energy_of_motion(replace(model, theta_base=theta), t, motion)
        held.append([
            bool(abs(each.value[at] - true.value[at]) <= each.half[at])
            for each, true, at in (
                (found.kinetic, truth.kinetic, 5), (found.power, truth.power, 5),
                (found.joint_loss, truth.joint_loss, 1), (found.delivered, truth.delivered, -1),
            )
        ])
    share = np.mean(held, axis=0)
    # Of 400 draws, 1 in 1000 has a share below 91.4 % by chance.
    assert np.all(share > 0.914), share
    assert np.mean(share) < 0.98


def test_bodies_that_can_exist_are_taken(model, rng):
    """Identified parameters may give negative energy, consistent ones do not."""
    consistent = np.zeros(model.parameters.size)
    truth = mujoco_robot.true_inertial_parameters(model.robot, draw_truth(model.robot, 4))
    consistent[: 60] = truth
    consistent[model.parameters.reflected_inertia_slice] = 0.5
    wrong = replace(
        model, theta_base=model.theta_base - 8.0 * rng.random(model.reduction.rank),
        theta_consistent=consistent, covariance=1e-6 * model.covariance,
    )
    t, motion = moving(6, rate=20.0)
    assert np.min(energy_of_motion(wrong, t, motion).kinetic.value) < 0.0
    possible, notes = with_possible_bodies(wrong)
    # The motion begins at rest.
    assert np.min(energy_of_motion(possible, t, motion).kinetic.value[1:]) > 0.0
    assert notes == ()
    same, (note,) = with_possible_bodies(replace(wrong, theta_consistent=None))
    assert same.theta_base is wrong.theta_base
    assert 'no physically consistent parameters' in note
