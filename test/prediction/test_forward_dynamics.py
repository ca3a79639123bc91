# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Forward dynamics against MuJoCo, and against what a torque does to a joint by hand."""

from dataclasses import replace

from builders import joint, link, mixed_urdf, robot_urdf
from known_models import known_model, made_up_dataset
import numpy as np
import pytest
from robot_identification.model import (
    make_robot_model, Motion, parse_urdf, prior_inertial_parameters, run_stops,
)
from robot_identification.prediction import ForwardDynamics
from robot_identification.simulation import Drive

ROTORS = np.array([0.5, 3.0, 0.08])
HALF_SECOND = 0.5


def made_up(text):
    return make_robot_model(parse_urdf(text, 'made up'))


def wheel():
    """Return one joint about the vertical: its inertia about the axis is 0.25 kg m^2."""
    return made_up(robot_urdf(
        link('ground'), link('wheel', 2.0, (0.0, 0.0, 0.0), (0.2, 0.2, 0.25)),
        joint('turn', 'ground', 'wheel', limit='<limit lower="-9" upper="9" velocity="9" '
              'effort="60"/>'),
    ))


def known_wheel(friction='none', **values):
    robot = wheel()
    return known_model(robot, friction, prior_inertial_parameters(robot), **values)


def recorded(robot, q, dq, temperature=None):
    """Return a recording of positions and velocities (N, n), 1 ms apart."""
    motion = Motion(q, dq, np.zeros_like(q), temperature)
    return made_up_dataset(robot.joint_names, motion, np.zeros_like(q), 1000.0)


def drive(step, torque, stiffness=0.0, damping=0.0, q=None):
    """Return a drive of torques (K, S, n), with a servo that holds q (S, n)."""
    K, _, n = torque.shape
    q = np.zeros(torque.shape[1:]) if q is None else q
    return Drive(
        step, torque, np.tile(q, (K + 1, 1, 1)), np.zeros((K + 1, *q.shape)),
        np.full(n, stiffness), np.full(n, damping),
    )


def steady(torque, step, seconds=HALF_SECOND):
    """Return a constant torque (S, n) as torques of all steps."""
    return np.tile(np.atleast_2d(torque), (round(seconds / step), 1, 1))


def start(dynamics, robot, q, dq):
    """Return rollouts (S, n) that begin without a past."""
    return dynamics.start(
        recorded(robot, np.atleast_2d(q), np.atleast_2d(dq)), np.arange(len(np.atleast_2d(q)))
    )


def turned(model, torque, q=0.0, dq=0.0, seconds=HALF_SECOND, **servo):
    """Return where torques (S, 1) take a wheel in steps of 1 ms, from rest (K + 1, S)."""
    torque = np.array(torque)
    begin = start(ForwardDynamics(model), model.robot, q + 0.0 * torque, dq + 0.0 * torque)
    held = drive(0.001, steady(torque, 0.001, seconds), q=q + 0.0 * torque, **servo)
    return ForwardDynamics(model).roll_out(begin, held)[:, :, 0]


def moved_by_mujoco(text, q, dq, torque_at, friction, seconds, step=2.0e-5):
    """Return where MuJoCo takes an arm (n,); friction is a torque of the velocity."""
    mujoco = pytest.importorskip('mujoco')
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep, model.opt.gravity[:] = step, (0.0, 0.0, -9.81)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.jnt_limited[:] = False
    model.dof_armature[:] = ROTORS
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, dq
    for _ in range(round(seconds / step)):
        data.qfrc_applied[:] = torque_at(data.time + 0.5 * step) - friction(data.qvel)
        mujoco.mj_step(model, data)
    return data.qpos.copy()


def torque_at(time):
    """Return a torque (3,) that moves all joints of the mixed arm, gravity held."""
    return np.array([6.0, 30.0, 2.0]) * np.sin(np.array([7.0, 5.0, 9.0]) * time + 0.4)


@pytest.mark.parametrize('fc, fv, order', [(0.0, 0.0, 2.0), (4.0, 3.0, 1.0)])
def test_an_arm_moves_as_mujoco_moves_it(fc, fv, order):
    """
    Errors of the step fall with its second power, with friction with its first.

    MuJoCo's own steps are 20 us, a hundredth of ours and of fourth order but for friction.
    """
    robot = made_up(mixed_urdf())
    model = known_model(
        robot, 'coulomb,viscous', prior_inertial_parameters(robot), fc=fc, fv=fv, Ia=ROTORS
    )
    width = 0.01
    q, dq = np.array([0.3, 0.1, -0.4]), np.array([0.5, -0.2, 0.8])
    truth = moved_by_mujoco(
        mixed_urdf(), q, dq, torque_at, lambda v: fc * np.tanh(v / width) + fv * v, HALF_SECOND
    )
    dynamics, errors = ForwardDynamics(model), []
    for step in (0.004, 0.002):
        middles = step * (0.5 + np.arange(round(HALF_SECOND / step)))
        torque = np.array([torque_at(middle) for middle in middles])[:, None]
        found = dynamics.roll_out(start(dynamics, robot, q, dq), drive(step, torque))
        errors.append(np.abs(found[-1, 0] - truth).max())
    assert errors[0] < 4.0e-3
    assert 0.6 * 2.0**order < errors[0] / errors[1] < 1.6 * 2.0**order


def test_a_torque_error_drifts_by_half_of_its_acceleration_times_time_squared(robots, rng):
    """1/2 M^-1 e t^2, up to what changes on the way: 3 % in 50 ms from rest."""
    robot = robots['ur5']
    model = known_model(robot, 'none', prior_inertial_parameters(robot), Ia=0.5)
    dynamics, step = ForwardDynamics(model), 0.001
    q = rng.uniform(-1.0, 1.0, (4, 6))
    states = start(dynamics, robot, q, np.zeros_like(q))
    rest = np.array([model.torque(Motion(*(one[None] for one in (p, 0 * p, 0 * p))))[0]
                     for p in q])
    error = rng.uniform(-3.0, 3.0, (4, 6))
    time = 0.05
    true, wrong = (
        dynamics.roll_out(states, drive(step, steady(torque, step, time)))[-1]
        for torque in (rest, rest + error)
    )
    expected = 0.5 * np.linalg.solve(dynamics.inertias(states), error[..., None])[..., 0] * time**2
    np.testing.assert_allclose(true, q, atol=1e-9)
    np.testing.assert_allclose(wrong - true, expected, atol=0.03 * np.abs(expected).max())


@pytest.mark.parametrize('law, values', [
    ('coulomb', {'fc': 8.0}), ('coulomb_sign', {'fcs': 8.0}),
])
def test_dry_friction_stops_a_joint_and_holds_it(law, values):
    """
    A joint that coasts stops where I v^2 / (2 fc) says, and does not chatter.

    Steps of a millisecond are hundreds of times the time constant of the passage through rest;
    the last of them is where the joint stops: v h.
    """
    v = 2.0
    q = turned(known_wheel(law, **values), [[0.0]], dq=v)[:, 0]
    assert q[-1] == pytest.approx(0.25 * v**2 / (2.0 * 8.0), abs=v * 0.001)
    stopped = q[round(0.25 * v / 8.0 / 0.001) + 20:]
    assert np.ptp(stopped) < 1e-6


def known_dictionary(robot, coefficients):
    """Return a model of one joint with some terms of the dictionary."""
    model = known_model(robot, 'dictionary', prior_inertial_parameters(robot))
    theta = model.theta_lifted
    for symbol, value in coefficients.items():
        theta[model.parameters.names.index(f'{symbol}1')] = value
    return replace(model, theta_base=model.reduction.K @ theta)


@pytest.mark.parametrize('torque', [5.0, -5.0])
def test_friction_grows_with_the_torque_that_is_passed_on(torque):
    """``r + (A + B abs(r)) sign(v) = torque`` has r of it; the joint takes r over its inertia."""
    model = known_dictionary(wheel(), {'sliding[0.003]': 1.0, 'load_sliding[0.01]': 0.3})
    found = turned(model, [[torque]])[-1, 0]
    passed_on = (abs(torque) - 1.0) / 1.3
    expected = np.sign(torque) * 0.5 * passed_on / 0.25 * HALF_SECOND**2
    # The passage through zero velocity takes a step.
    assert found == pytest.approx(expected, rel=0.01)


def test_stops_go_on_from_what_was_recorded_before(rng):
    """Deflections at a start are those along all samples before it, as in prediction."""
    robot = wheel()
    dynamics = ForwardDynamics(known_dictionary(robot, {'presliding[0.06]': 3.0}))
    q = 0.05 * np.cumsum(rng.normal(size=(400, 1)), axis=0)
    rows = np.array([0, 7, 399])
    dataset = recorded(robot, q, np.zeros_like(q))
    expected = run_stops(q[:, 0], np.array([0.06]), np.zeros(1), float(q[0, 0]))[rows]
    np.testing.assert_allclose(dynamics.start(dataset, rows).bend, expected, atol=1e-12)
    # Behind a gap they begin anew.
    split = replace(dataset, motion=replace(dataset.motion, starts=(0, 390)))
    expected = run_stops(q[390:, 0], np.array([0.06]), np.zeros(1), float(q[390, 0]))[-1]
    np.testing.assert_allclose(dynamics.start(split, rows).bend[2], expected, atol=1e-12)


@pytest.mark.parametrize('stiffness, damping', [(40.0, 6.0), (4.0e6, 4.0e4)])
def test_a_servo_leaves_torque_over_stiffness(stiffness, damping):
    """However stiff it is for the step; 2 s are many of its time constants."""
    found = turned(
        known_wheel(), [[2.0]], q=0.3, seconds=2.0, stiffness=stiffness, damping=damping
    )[-1]
    np.testing.assert_allclose(found, 0.3 + 2.0 / stiffness, atol=1e-5 * 2.0 / 40.0)
