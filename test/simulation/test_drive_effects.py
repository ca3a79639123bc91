# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What drives and gears add to the effort is where it is asked for, as large as asked for."""

from dataclasses import replace

from known_models import true_pinocchio
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.model import load_robot, Motion
from robot_identification.simulation import (
    draw_truth, MujocoRobot, Sensors, SimulatedArmOptions,
    with_position_torque, with_velocity_loop,
)
from robot_identification.simulation.ground_truth import LOOP_RATE
from robot_identification.simulation.joint_effects import RunningVelocityLoop, VelocityLoop
from robot_identification.simulation.mujoco_robot import (
    inverse_dynamics, PHYSICS_STEP, SERVO_DAMPING, SERVO_FREQUENCY,
)

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')

PERIOD = 0.002
START = np.array([0.0, -1.2, 0.9, -0.4, 0.3, 0.2])
EVERYTHING = SimulatedArmOptions(
    velocity_loop=0.02, torque_ripple=0.3, position_torque=0.4, gain_error=0.1
)


@pytest.fixture(scope='module')
def arm():
    """Return an arm whose driver publishes at 500 Hz."""
    return load_robot('ur5e').with_drive_gains(np.linspace(12.0, 6.0, 6))


def test_every_step_is_inverse_dynamics_friction_and_what_repeats(arm):
    """All effects at once, against Pinocchio and sines written out; see test_mujoco_robot.py."""
    truth = EVERYTHING.truth(arm, 3)
    model = true_pinocchio(arm, truth)
    data = model.createData()
    simulator = MujocoRobot(arm, truth, Sensors(), START)
    for step in range(200):
        before = simulator.true_sample()
        reference = 0.6 * np.cos(4.0 * step * PHYSICS_STEP) * np.ones(6)
        simulator.advance(before.q, reference, np.zeros(6), PHYSICS_STEP)
        after = simulator.true_sample()
        expected = pin.rnea(
            model, data, before.q, before.dq, (after.dq - before.dq) / PHYSICS_STEP
        )
        expected += truth.coulomb * np.tanh(before.dq / truth.velocity_width)
        expected += truth.viscous * before.dq
        for part in truth.periodic:
            for k in range(len(part.order)):
                expected += part.amplitude[k] * np.sin(part.order[k] * before.q + part.phase[k])
        torque = after.effort * truth.drive_gain
        np.testing.assert_allclose(torque, expected, rtol=0, atol=1e-8 * np.abs(torque).max())


def test_the_loop_feeds_back_what_is_published(arm):
    """Servo and loop computed again from the published velocity; both round at 1e-12."""
    truth = with_velocity_loop(draw_truth(arm, 3), noise=0.02)
    model = true_pinocchio(arm, truth)
    data = model.createData()
    simulator = MujocoRobot(arm, truth, Sensors(), START)
    stiffness = (2.0 * np.pi * SERVO_FREQUENCY) ** 2
    damping = 4.0 * np.pi * SERVO_FREQUENCY * SERVO_DAMPING
    share = np.exp(-2.0 * np.pi * 60.0 * PHYSICS_STEP)
    filtered, found = None, []
    for step in range(200):
        before = simulator.true_sample()
        q, dq = START + 0.3 * step * PHYSICS_STEP, np.full(6, 0.3)
        simulator.advance(q, dq, np.zeros(6), PHYSICS_STEP)
        measured, after = simulator.measure()
        noise = measured.dq - after.dq
        assert np.all(measured.dq != after.dq)
        error = dq - (before.dq + noise)
        if filtered is None:
            # The step with which the simulator was made is not seen; its memory fades.
            filtered = np.zeros(6)
        filtered = share * filtered + (1.0 - share) * error
        wanted = damping * (dq - before.dq) + stiffness * (q - before.q)
        expected = pin.rnea(model, data, before.q, before.dq, wanted)
        expected += LOOP_RATE * truth.reflected_inertia * filtered
        found.append(np.abs(after.effort * truth.drive_gain - expected))
    # 60 Hz forget the first step by exp(-0.188) a step: 1e-12 of it is left after 150.
    assert np.max(found[150:]) < 1e-9
    assert np.max(found[0]) > 1e-6, 'the first step is not seen'


def test_noise_of_the_loop_is_as_stated():
    """Spread and corner frequency of 40 000 steps, correlated over ten: known to 2 %."""
    loop = RunningVelocityLoop(VelocityLoop(np.ones(2), 0.03), PHYSICS_STEP, seed=1)
    noise = np.array([
        (loop.step(np.zeros(2), np.zeros(2)), loop.noise)[1] for _ in range(40_000)
    ])
    np.testing.assert_allclose(noise.std(axis=0), 0.03, rtol=0.05)
    memory = np.mean(noise[1:] * noise[:-1], axis=0) / np.mean(noise**2, axis=0)
    np.testing.assert_allclose(-np.log(memory) / (2.0 * np.pi * PHYSICS_STEP), 30.0, rtol=0.1)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.05


def test_position_torque_is_found_by_its_harmonics(arm):
    """One turn of all joints by MuJoCo; what is left is the series alone, to its rounding."""
    truth = with_position_torque(draw_truth(arm, 3), 3, share=0.4)
    q = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)[:, None] * np.ones(arm.n)
    still = np.zeros_like(q)
    motion = Motion(q, still, still)
    left = inverse_dynamics(arm, truth, motion) \
        - inverse_dynamics(arm, replace(truth, periodic=()), motion)
    spectrum = np.abs(np.fft.rfft(left, axis=0)) / 100.0
    expected = np.zeros_like(spectrum)
    for h in range(1, 6):
        expected[h] = 0.4 * truth.coulomb / h
    np.testing.assert_allclose(spectrum, expected, atol=1e-10)
