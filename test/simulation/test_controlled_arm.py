# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The torque-controlled arm is what its truth says, and controllers track with it."""

from dataclasses import replace

from known_models import true_model
import numpy as np
import pytest
from recordings import write_small_arm
from robot_identification.model import load_robot, Motion
from robot_identification.prediction.sample_torque import RigidTorque
from robot_identification.simulation import (
    draw_truth, NOISE_FREE, quintic, with_static_friction,
)
from robot_identification.simulation.effort_arm import ControlledArm
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import PHYSICS_STEP
from validation_studies.controllers import ComputedTorque, PositionLoop, track

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')

Q = np.array([0.3, -0.5, 0.8])
RATE = 500.0
LOOP = PositionLoop()


@pytest.fixture(scope='module')
def robot(tmp_path_factory):
    return load_robot(str(write_small_arm(tmp_path_factory.mktemp('arm'))))


@pytest.fixture(scope='module')
def truth(robot):
    """Return other masses, centres and rotors than the description's, and joints that stick."""
    drawn = draw_truth(robot, 3)
    return with_static_friction(
        replace(drawn, drive_gain=robot.drives.drive_gain), load_share=0.0
    )


def moves(*ways, duration=0.6):
    """Return moves from rest to rest, one after the other, over some ways [rad] from Q on."""
    rest, rows, here = np.zeros(3), [], Q
    for way in ways:
        start, here = here, here + way
        rows += [
            quintic((start, rest, rest), (here, rest, rest), duration, k / RATE)
            for k in range(round(duration * RATE))
        ]
    return Motion(*(np.array(column) for column in zip(*rows, strict=True)))


@pytest.fixture(scope='module')
def motion():
    """Return a brisk move and a slow one that turns back."""
    return moves(np.array([0.4, 0.3, -0.4]), np.array([-0.05, -0.04, 0.05]))


def test_a_step_is_forward_dynamics_of_the_true_arm(robot, truth, rng):
    """The acceleration under a torque is MuJoCo's; against Pinocchio on the true parameters."""
    smooth = replace(truth, static=None, load_share=None)
    model = true_model(robot, smooth)
    arm = ControlledArm(robot, smooth, NOISE_FREE, Q)
    for _ in range(50):
        torque = rng.uniform(-40.0, 40.0, 3)
        before = arm.true_sample()
        arm.push(torque, PHYSICS_STEP)
        after = arm.true_sample()
        ddq = (after.dq - before.dq) / PHYSICS_STEP
        expected = RigidTorque(model)(before.q, before.dq, ddq) + smooth.friction(before.dq)
        # Euler's step is v' = v + h a exactly; without sticking, friction is that of the velocity
        # before. Rounding is 1e-16 / 5e-4 times inertias below 10 kg m^2.
        np.testing.assert_allclose(torque, expected, atol=1e-7)


def test_computed_torque_with_the_true_model_is_nearly_perfect(robot, motion):
    """Without friction, noise and delay what is left is the hold of 2 ms: half a period."""
    controller = ComputedTorque(RigidTorque(robot), LOOP)
    prompt, late = (
        track(
            ControlledArm(robot, prior_truth(robot), NOISE_FREE, motion.q[0]), motion, controller,
            RATE, delay,
        ).worst
        for delay in (0, 5)
    )
    # Of an acceleration of up to 6 rad/s^2 that is 6 mrad/s over a damping rate of 50 1/s: 0.1
    # mrad. With a delay of five periods it is some ten times as much.
    assert np.all(prompt < 2e-4)
    assert np.all((late > 4.0 * prompt) & (late < 4e-3))
