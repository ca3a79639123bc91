# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Effort that the URDF's bodies cannot have made is found, by joint and with its ratio."""

from dataclasses import replace
import re

from estimation.arm_problems import fourier_motion
from known_models import known_model, made_up_dataset
import numpy as np
import pytest
from robot_identification.model import make_robot_model, mount_tool, parse_urdf, rigid_torque, Tool
from robot_identification.model.regressor import Motion, prior_inertial_parameters
from robot_identification.processing.effort import effort_per_torque, find_contradictions

SAMPLES = 500
POSE = np.array([0.0, -1.2, 1.0, -0.5, 1.5, 0.0])
# Of the size that joints of a UR5 have.
COULOMB = np.array([8.0, 9.0, 6.0, 1.6, 1.7, 1.5])


def swinging(robot, seed=0):
    """Return eight seconds of swings about a bent pose."""
    motion = fourier_motion(robot.n, seed, SAMPLES, 0.2)
    return replace(motion, q=motion.q + POSE)


def torque_of(robot, motion, mass_factor=1.0):
    """Return the torque of the URDF's bodies times factors, with friction and a bias."""
    bodies = np.repeat(mass_factor * np.ones(robot.n), 10) * prior_inertial_parameters(robot)
    return known_model(
        robot, 'coulomb,viscous,offset', bodies, fc=COULOMB, fv=COULOMB, f0=0.1 * COULOMB
    ).torque(motion)


def dataset_of(robot, motion, effort, unit='Nm'):
    return made_up_dataset(robot.joint_names, motion, effort, len(motion) / 8.0, unit)


def ratios_of(robot, motion, torque, unit='Nm', gains=None):
    """Return the ratios of the joints of a recording of some torques that contradict the URDF."""
    effort = torque if gains is None else torque / gains
    if unit == 'A':
        robot = robot.with_drive_gains(gains)
    return ratios_in(find_contradictions(dataset_of(robot, motion, effort, unit), robot))


def ratios_in(contradictions):
    """Return the ratios by joint that contradictions with the URDF state."""
    return {
        name: float(re.search(rf'{name} ([-0-9.e+]+)', one.text)[1])
        for one in contradictions if one.text.startswith('measured over expected')
        for name in one.joints
    }


@pytest.mark.parametrize('seed', range(5))
def test_masses_that_are_wrong_by_a_fifth_are_no_ratios_of(ur5, seed):
    """In either direction, each link by another factor, with friction and noise."""
    motion = swinging(ur5, seed)
    rng = np.random.default_rng(seed)
    for factor in (0.8, 1.2, rng.uniform(0.8, 1.2, 6)):
        torque = torque_of(ur5, motion, factor)
        noisy = torque + 0.05 * np.std(torque, axis=0) * rng.normal(size=torque.shape)
        assert ratios_of(ur5, motion, noisy) == {}


@pytest.mark.parametrize('seed', range(3))
def test_a_wrong_sign_contradicts(ur5, seed):
    """Of the whole arm, and of one joint alone, which is named with the ratio."""
    motion = swinging(ur5, seed)
    torque = torque_of(ur5, motion)
    assert ratios_of(ur5, motion, -torque)['shoulder_lift_joint'] == pytest.approx(-1.0, abs=0.1)
    one = torque * [1.0, 1.0, -1.0, 1.0, 1.0, 1.0]
    assert ratios_of(ur5, motion, one) == {'elbow_joint': pytest.approx(-1.0, abs=0.1)}


@pytest.mark.parametrize('seed', range(3))
def test_a_wrong_unit_contradicts(ur5, seed):
    """Amperes read as newton metres, at a gain of 0.1 and of 10 N m/A; with the gain it is not."""
    motion = swinging(ur5, seed)
    torque = torque_of(ur5, motion)
    for gain in (0.1, 10.0):
        ratios = ratios_of(ur5, motion, torque, gains=np.full(6, gain))
        assert ratios['shoulder_lift_joint'] == pytest.approx(1.0 / gain, rel=0.1)
    assert ratios_of(ur5, motion, torque, 'A', np.full(6, 0.1)) == {}


@pytest.mark.parametrize(('factor', 'beyond'), [(1.0, False), (100.0, True), (1000.0, True)])
def test_effort_far_beyond_most_limits_contradicts(ur5, factor, beyond):
    """As of an arm whose joints are nearly all friction, so that its bodies say nothing."""
    motion = swinging(ur5)
    friction = COULOMB * np.tanh(motion.dq / 0.02) + 3.0 * motion.dq
    found = find_contradictions(dataset_of(ur5, motion, factor * friction), ur5)
    assert [one.joints == ur5.joint_names and one.of_several for one in found] == [True] * beyond
    if beyond:
        largest = np.abs(friction[:, 0]).max()
        said = re.search(r'shoulder_pan_joint ([0-9.e+]+)', found[0].text)
        assert float(said[1]) == pytest.approx(
            factor * largest / ur5.limits.effort[0], rel=0.1
        )


def test_what_says_nothing_of_the_bodies_is_no_ratios_of(ur5, rng):
    """Effort of friction and rotors with noise, of noise, or none at all; an arm that stands."""
    # Rotors of 20 kg m^2 turn with the bodies, and would look like heavier ones.
    motion = swinging(ur5)
    friction = COULOMB * np.tanh(motion.dq / 0.02) + 20.0 * motion.ddq
    noise = rng.normal(size=friction.shape)
    assert ratios_of(ur5, motion, friction + noise) == {}
    assert ratios_of(ur5, motion, torque_of(ur5, motion) + friction) == {}
    assert ratios_of(ur5, motion, noise) == {}
    assert ratios_of(ur5, motion, np.zeros_like(friction)) == {}
    still = Motion(np.tile(motion.q[0], (SAMPLES, 1)), 0 * motion.dq, 0 * motion.ddq)
    assert ratios_of(ur5, still, np.full_like(friction, 3.0)) == {}


TOOL = Tool(mass=4.0, center_of_mass=(0.02, -0.01, 0.1), size=(0.1, 0.1, 0.2))


@pytest.mark.parametrize('factor, contradicts', [(1.0, False), (3.0, True), (-1.0, True)])
def test_a_tool_that_the_urdf_lacks_is_no_contradiction(ur5, factor, contradicts):
    """Effort that no tool on the last link explains is one, with a tool, too."""
    text = mount_tool(ur5.urdf.text, 'ur5', 'tool0', TOOL)
    real = make_robot_model(parse_urdf(text, 'ur5'), joints=ur5.joint_names)
    motion = swinging(ur5)
    torque = factor * torque_of(real, motion)
    assert bool(ratios_of(ur5, motion, torque)) == contradicts
    # It would be several joints.
    expected = rigid_torque(ur5, motion)
    without_tool, _ = effort_per_torque(torque, expected, motion)
    assert np.sum(np.abs(np.log(np.abs(without_tool))) > np.log(2.5)) > 1
