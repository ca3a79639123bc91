# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What drives and gears add to the effort is where it is asked for, as large as asked for."""

from dataclasses import replace

from known_models import true_pinocchio
import numpy as np
import pinocchio as pin
import pytest
from reproductions.elastic import inverse_elastic
from robot_identification.errors import UsageError
from robot_identification.model import load_robot, Motion
from robot_identification.simulation import (
    draw_truth, MujocoRobot, NOISE_FREE, Sensors, SimulatedArmOptions,
    with_elastic_joints, with_gain_errors, with_position_torque, with_static_friction,
    with_torque_ripple, with_velocity_loop,
)
from robot_identification.simulation.effort_arm import ControlledArm
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


def test_ripple_has_twice_the_order_of_the_gear(arm):
    """By a share of Coulomb friction; usual gears are taken where the ratio is not known."""
    truth = draw_truth(arm, 3)
    for ratio, order in ((101.0, 202.0), (np.nan, 200.0), (1.0, 200.0)):
        part, = with_torque_ripple(truth, np.full(arm.n, ratio), 3, share=0.2).periodic
        np.testing.assert_array_equal(part.order, np.full((1, arm.n), order))
        np.testing.assert_allclose(part.amplitude, [0.2 * truth.coulomb])


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


def test_elastic_joints_have_it_on_their_rotors(arm):
    """A stiff spring: the rotor is where the link is, to 1e-6 rad."""
    plain = with_elastic_joints(draw_truth(arm, 3), 1e9)
    truth = with_position_torque(plain, 3)
    phase = np.linspace(0.0, 2.0 * np.pi, 256, endpoint=False)[:, None]
    q = START + 0.2 * np.sin(phase + np.arange(6.0))
    dq = 0.2 * np.cos(phase + np.arange(6.0))
    motion = Motion(q, dq, START - q)
    period = 2.0 * np.pi
    added = inverse_elastic(arm, truth, motion, period).motor_torque \
        - inverse_elastic(arm, plain, motion, period).motor_torque
    np.testing.assert_allclose(added, truth.periodic_torque(q), atol=1e-4)
    assert np.abs(added).max() > 0.5


def test_rotors_have_the_velocity_that_the_loop_sees(arm):
    """Links have an encoder of their own, whose noise stays that of the sensors."""
    truth = with_velocity_loop(with_elastic_joints(draw_truth(arm, 3), 1e5), noise=0.02)
    simulator = MujocoRobot(arm, truth, NOISE_FREE, START)
    noise = []
    for _ in range(300):
        simulator.advance(START, np.zeros(6), np.zeros(6), PERIOD)
        measured, true = simulator.measure()
        np.testing.assert_array_equal(measured.dq, true.dq)
        noise.append(measured.rotor_dq - true.rotor_dq)
    # 0.6 s hold some 57 independent draws of 30 Hz each, 342 in all: 4 %, five of them allowed.
    assert np.std(noise) == pytest.approx(0.02, rel=0.2)


def test_gain_errors_are_factors_of_the_gains(arm):
    """Each joint has one of its own."""
    plain = draw_truth(arm, 3)
    factor = with_gain_errors(plain, 3, share=0.1).drive_gain / plain.drive_gain
    assert np.all(np.abs(1.0 / factor - 1.0) <= 0.1)
    assert np.abs(factor - 1.0).max() > 0.02
    assert len(set(factor)) == arm.n


def test_nothing_asked_for_is_the_plain_arm(arm):
    plain, found = draw_truth(arm, 3), SimulatedArmOptions().truth(arm, 3)
    for name in plain.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))
    again, other = EVERYTHING.truth(arm, 3), EVERYTHING.truth(arm, 4)
    for left, right in zip(EVERYTHING.truth(arm, 3).periodic, again.periodic, strict=True):
        np.testing.assert_array_equal(left.phase, right.phase)
    assert not np.array_equal(again.periodic[0].phase, other.periodic[0].phase)


@pytest.mark.parametrize('options', [
    SimulatedArmOptions(static_friction=True),
    replace(EVERYTHING, static_friction=True, stiffness=1e4, warm_up=10.0),
])
def test_all_effects_go_together(arm, options):
    """With sticking, elastic and warming joints; a stable arm stays near where it is held."""
    truth = options.truth(arm, 5)
    simulator = MujocoRobot(arm, truth, Sensors(), START)
    for _ in range(500):
        simulator.advance(START, np.zeros(6), np.zeros(6), PERIOD)
    assert np.abs(simulator.true_sample().q - START).max() < 0.05
    assert np.abs(simulator.true_sample().dq).max() < 0.2
    expected = with_static_friction(draw_truth(arm, 5))
    np.testing.assert_array_equal(truth.static, expected.static)


@pytest.mark.parametrize(('make', 'message'), [
    (lambda t: with_velocity_loop(t, noise=0.0), 'velocity loop: noise is 0, it must be > 0'),
    (lambda t: with_torque_ripple(t, np.ones(6), 0, share=-1.0), 'torque ripple: the share is -1'),
    (lambda t: with_position_torque(t, 0, share=np.nan), 'position torque: the share is nan'),
    (lambda t: with_gain_errors(t, 0, share=1.0), 'is 1, it must be > 0 and below 1'),
])
def test_refuses_what_is_no_effect(arm, make, message):
    with pytest.raises(UsageError, match=message):
        make(draw_truth(arm, 0))


def test_an_arm_that_takes_torques_has_no_velocity_loop(arm):
    truth = with_velocity_loop(draw_truth(arm, 0))
    with pytest.raises(UsageError, match='has no velocity loop: leave it out'):
        ControlledArm(arm, truth, NOISE_FREE, START)
