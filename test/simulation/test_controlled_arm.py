# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The torque-controlled arm is what its truth says, and controllers track with it."""

from dataclasses import replace

from benchmarks.controllers import ComputedTorque, PdControl, PositionLoop, track
from known_models import true_model
import numpy as np
import pytest
from recordings import write_small_arm
from robot_identification.errors import UsageError
from robot_identification.model import load_robot, Motion
from robot_identification.prediction.feed_forward import FeedForward, FeedForwardOptions
from robot_identification.prediction.sample_torque import RigidTorque
from robot_identification.simulation import (
    draw_truth, NOISE_FREE, quintic, Sensors, with_elastic_joints, with_static_friction,
)
from robot_identification.simulation.effort_arm import ControlledArm
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import PHYSICS_STEP

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


def test_torque_goes_through_the_drives(robot, truth):
    """A drive makes a current by the stated gain, the motor a torque by the true one."""
    strong = replace(truth, drive_gain=1.1 * robot.drives.drive_gain)
    arm = ControlledArm(robot, strong, NOISE_FREE, Q)
    arm.push(np.full(3, 10.0), 0.01)
    sample = arm.true_sample()
    np.testing.assert_allclose(sample.effort, 10.0 / robot.drives.drive_gain, rtol=1e-12)
    arm.push(np.array([1e6, -1e6, 1e6]), 0.001)
    np.testing.assert_allclose(
        np.abs(arm.true_sample().effort * strong.drive_gain), robot.limits.effort
    )


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


@pytest.fixture(scope='module')
def errors(robot, truth, motion):
    """Return the root mean square errors [mrad] of some controllers."""
    model, described = true_model(robot, truth), RigidTorque(robot)
    inertia = np.diag(described.inertia(Q))

    def pd(**options):
        return PdControl(inertia, LOOP, FeedForward(model, FeedForwardOptions(**options)))

    friction = FeedForward(model, FeedForwardOptions(gravity=False))
    tried = {
        'pd': PdControl(inertia, LOOP),
        'gravity': pd(friction='none'),
        'kinetic': pd(friction='kinetic'),
        'break-away': pd(friction='break_away'),
        'observer': pd(friction='none', observer_bandwidth=2.0),
        'cad': ComputedTorque(described, LOOP),
        'model': ComputedTorque(RigidTorque(model), LOOP, friction),
    }
    found = {
        name: 1e3 * track(
            ControlledArm(robot, truth, Sensors(), Q, 1), motion, controller, RATE
        ).rms
        for name, controller in tried.items()
    }
    return found


def test_tracking_error_falls_with_what_is_fed_forward(errors):
    """In the mean of the joints; the first has no gravity, so that it gains by friction alone."""
    assert errors['gravity'].mean() < 0.8 * errors['pd'].mean()
    assert np.all(errors['kinetic'] < 0.6 * errors['gravity'])
    assert np.all(errors['break-away'] < 1.05 * errors['kinetic'])
    assert errors['observer'].mean() < 0.8 * errors['gravity'].mean()
    # True bodies and friction against those of the description: every joint by far.
    assert np.all(errors['model'] < 0.3 * errors['cad'])
    assert errors['model'].mean() < errors['break-away'].mean()


def test_a_joint_that_sticks_does_not_hunt(robot, truth):
    """With an observer beside a model of other bodies and no friction, an arm that rests stays."""
    slow = moves(np.array([0.05, -0.04, 0.05]))
    rest = np.tile(slow.q[-1], (250, 1)), np.zeros((250, 3)), np.zeros((250, 3))
    motion = Motion(*(
        np.vstack(pair) for pair in zip((slow.q, slow.dq, slow.ddq), rest, strict=True)
    ))
    observer = FeedForward(robot, FeedForwardOptions(observer_bandwidth=3.0))
    arm = ControlledArm(robot, truth, Sensors(), Q, 1)
    inertia = np.diag(RigidTorque(robot).inertia(Q))
    found = track(arm, motion, PdControl(inertia, LOOP, observer), RATE)
    # A slow move, then half a second of rest: in the second half of that no joint slips, and what
    # it yields by noise is within the travel of its bristles, 0.1 mrad to either side.
    assert np.abs(observer.disturbance).min() > 0.5, 'there was something to observe'
    still = found.error[-125:]
    assert np.ptp(still, axis=0).max() < 2.0 * truth.travel


def test_what_is_measured_is_not_what_is_true(robot, truth, motion):
    """Errors are those of the true position: the same run twice is the same to the bit."""
    runs = [
        track(
            ControlledArm(robot, truth, Sensors(position_noise=1e-3), Q, 7),
            Motion(motion.q[:50], motion.dq[:50], motion.ddq[:50]),
            PdControl(np.ones(3), LOOP), RATE,
        )
        for _ in range(2)
    ]
    np.testing.assert_array_equal(runs[0].error, runs[1].error)
    assert np.abs(runs[0].error[0]).max() < 1e-6, 'and the noise is not in it'


def test_what_cannot_be_controlled_is_refused(robot, truth):
    """Elastic joints, and torques that are not finite."""
    with pytest.raises(UsageError, match=r'rigid joints: leave out the stiffness'):
        ControlledArm(robot, with_elastic_joints(truth, 1e4), NOISE_FREE, Q)
    arm = ControlledArm(robot, truth, NOISE_FREE, Q)
    with pytest.raises(UsageError, match=r'not finite'):
        arm.push(np.array([0.0, np.nan, 0.0]), 0.01)
