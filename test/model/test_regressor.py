# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The regressor is the rigid body's inverse dynamics, and MuJoCo agrees."""

from dataclasses import replace

from builders import joint, link, robot_urdf
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from known_models import pinocchio_torque
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import DataError, UsageError
from robot_identification.model import (
    gravity_of_mounting, known_robots, make_robot_model, make_standard_parameters, parse_friction,
    parse_urdf, reduce_to_base, RegressorGradient,
)
from robot_identification.model.regressor import (
    energy_regressor, inertial_regressor, Motion, observation_matrix, prior_inertial_parameters,
    rigid_torque, standard_torque,
)

NAMES = (*(known.name for known in known_robots()), 'mixed')


def vectors(bound):
    """Return a strategy of joint vectors; six joints, of which small arms take the first."""
    return arrays(np.float64, (6,), elements=st.floats(-bound, bound, allow_subnormal=False))


def random_motion(rng, samples, n):
    """Return unrelated samples in the range of lively motions."""
    return Motion(
        rng.uniform(-3, 3, (samples, n)), rng.uniform(-3, 3, (samples, n)),
        rng.uniform(-9, 9, (samples, n)),
    )


@pytest.mark.parametrize('name', NAMES)
@given(q=vectors(7.0), dq=vectors(4.0), ddq=vectors(20.0))
def test_regressor_times_parameters_is_inverse_dynamics(robots, name, q, dq, ddq):
    """Both are sums of the same few hundred products; 1e-9 of the torque is far above rounding."""
    robot = robots[name]
    q, dq, ddq = (values[: robot.n] for values in (q, dq, ddq))
    W = inertial_regressor(robot, Motion(q[None], dq[None], ddq[None]))
    model = robot.pinocchio
    tau = pin.rnea(model, model.createData(), q, dq, ddq)
    scale = 1.0 + np.abs(tau).max()
    np.testing.assert_allclose(
        W @ prior_inertial_parameters(robot), tau, rtol=0, atol=1e-9 * scale
    )


@pytest.mark.parametrize('name', ['ur5', 'youbot', 'mixed'])
def test_energy_is_the_work_of_the_torques(robots, name, rng):
    """Along a smooth motion the change of kinetic and potential energy is the work done."""
    # Work is integrated by the trapezoidal rule over 4000 steps of 0.5 ms: 1e-5 of it is its
    # error, which grows with the square of the step.
    robot = robots[name]
    t = np.linspace(0.0, 2.0, 4001)[:, None]
    phase, rate = rng.uniform(0, 6, robot.n), rng.uniform(1, 3, robot.n)
    angle = rate * t + phase
    motion = Motion(0.5 * np.sin(angle), 0.5 * rate * np.cos(angle),
                    -0.5 * rate**2 * np.sin(angle))
    theta = prior_inertial_parameters(robot)
    parameters = make_standard_parameters(robot.n, (), reflected_inertia=False)
    power = np.sum(standard_torque(robot, parameters, theta, motion) * motion.dq, axis=1)
    kinetic, potential = energy_regressor(robot, motion)
    energy = (kinetic + potential) @ theta
    work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(t[:, 0]))])
    np.testing.assert_allclose(energy - energy[0], work, atol=1e-5 * np.ptp(energy))
    assert np.ptp(kinetic @ theta) > 1e-3
    assert np.ptp(potential @ theta) > 1e-3


def test_load_is_the_torque_of_the_description(ur5, rng):
    """Where none is given, training and prediction both use what the URDF says."""
    # Each joint's law sees its own joint's torque and temperature.
    motion = replace(random_motion(rng, 9, 6), temperature=rng.uniform(20.0, 40.0, (9, 6)))
    parameters = make_standard_parameters(6, parse_friction('load,temperature_viscous'), False)
    W = observation_matrix(ur5, parameters, motion)
    tau = rigid_torque(ur5, motion)
    np.testing.assert_array_equal(W, observation_matrix(ur5, parameters, motion, None, tau))
    of_load, of_warmth = (
        np.diagonal(W.reshape(9, 6, -1)[:, :, first: first + 6], axis1=1, axis2=2)
        for first in (60, 66)
    )
    width = parameters.friction[0].law.width
    np.testing.assert_allclose(of_load, np.abs(tau) * np.tanh(motion.dq / width), rtol=1e-12)
    np.testing.assert_allclose(of_warmth, (motion.temperature - 25.0) * motion.dq, rtol=1e-12)
    assert reduce_to_base(ur5, parameters).rank == 36 + 12


def test_a_law_that_needs_temperatures_is_refused_without(ur5, rng):
    """No temperature at all, and one missing value: the joint and the law are named."""
    parameters = make_standard_parameters(6, parse_friction('viscous,temperature_viscous'), False)
    motion = random_motion(rng, 5, 6)
    message = 'temperature_viscous of shoulder_pan_joint needs joint temperatures'
    with pytest.raises(DataError, match=message):
        observation_matrix(ur5, parameters, motion)
    temperature = np.full((5, 6), 30.0)
    assert np.all(np.isfinite(
        observation_matrix(ur5, parameters, replace(motion, temperature=temperature))
    ))
    temperature[3, 0] = np.nan
    with pytest.raises(DataError, match=message):
        observation_matrix(ur5, parameters, replace(motion, temperature=temperature))


def test_reflected_inertia_is_what_armature_adds(ur5, rng):
    """Pinocchio's armature is in rnea and not in its regressor; the difference is our column."""
    motion = random_motion(rng, 8, 6)
    parameters = make_standard_parameters(6, (), reflected_inertia=True)
    armature = rng.uniform(0.1, 2.0, 6)
    theta = np.append(prior_inertial_parameters(ur5), armature)
    model = ur5.pinocchio.copy()
    model.armature = armature
    np.testing.assert_allclose(
        standard_torque(ur5, parameters, theta, motion), pinocchio_torque(model, motion), atol=1e-9
    )
    assert np.all(ur5.pinocchio.armature == 0.0), 'else it would be counted twice'


def test_every_column_acts_where_its_name_says(ur5, rng):
    """Row k * n + j is joint j; friction and rotor columns act on their own joint only."""
    motion = random_motion(rng, 7, 6)
    laws = parse_friction('viscous,coulomb,offset')
    parameters = make_standard_parameters(6, laws, reflected_inertia=True)
    W = observation_matrix(ur5, parameters, motion).reshape(7, 6, parameters.size)
    expected = {'fv': motion.dq, 'fc': np.tanh(motion.dq / laws[1].width), 'Ia': motion.ddq,
                'f0': np.ones((7, 6))}
    for symbol, values in expected.items():
        for at in range(6):
            column = W[:, :, parameters.names.index(f'{symbol}{at + 1}')]
            np.testing.assert_array_equal(column[:, at], values[:, at])
            assert not np.delete(column, at, axis=1).any()
    # A link's torque acts on the joints before it only.
    for body in range(6):
        for at in range(body + 1, 6):
            assert not W[:, at, 10 * body: 10 * body + 10].any()


# --- rotors with their own motion ----------------------------------------------------------


def with_rotors(motion, rng, bend=0.1):
    """Return a motion whose rotors are a little apart from the links."""
    return replace(motion, rotor=Motion(*(
        values + bend * rng.normal(size=values.shape)
        for values in (motion.q, motion.dq, motion.ddq)
    )))


def drive_parameters(friction='dictionary,offset'):
    """Return parameters of the UR5 with rotors and laws with and without memory and load."""
    return make_standard_parameters(6, parse_friction(friction), reflected_inertia=True)


def test_drives_see_the_rotors_and_bodies_the_links(ur5, rng):
    """Friction and rotor inertia have the rotors' motion, loads are those of the links."""
    parameters = drive_parameters()
    links = random_motion(rng, 30, 6)
    motion = with_rotors(links, rng)
    drives = Motion(motion.rotor.q, motion.rotor.dq, motion.rotor.ddq)
    load = rigid_torque(ur5, links)
    W, of_links, of_drives = (
        observation_matrix(ur5, parameters, one, None, load) for one in (motion, links, drives)
    )
    np.testing.assert_array_equal(W[:, :60], of_links[:, :60])
    np.testing.assert_array_equal(W[:, 60:], of_drives[:, 60:])
    at = parameters.reflected_inertia_slice.start
    assert [W[6 * 7 + j, at + j] for j in range(6)] == motion.rotor.ddq[7].tolist()
    assert not np.array_equal(W[:, 60:], of_links[:, 60:])


def test_the_gear_passes_on_the_torque_of_the_bodies_alone(ur5, rng):
    """With rotors: the load of friction is without their inertia; own formulas, to rounding."""
    parameters = drive_parameters('load')
    motion = with_rotors(random_motion(rng, 30, 6), rng)
    theta = np.concatenate([
        prior_inertial_parameters(ur5), rng.uniform(0.02, 0.1, 6), rng.uniform(0.5, 2.0, 6),
    ])
    tau_J = rigid_torque(ur5, motion)
    expected = (
        tau_J + theta[66:] * motion.rotor.ddq
        + theta[60:66] * np.abs(tau_J) * np.tanh(motion.rotor.dq / 0.01)
    )
    np.testing.assert_allclose(
        standard_torque(ur5, parameters, theta, motion), expected, rtol=1e-9, atol=1e-9
    )


BRANCHED_NAMES = ('q', 'dq', 'ddq')
MIXED_AXES = (0.0, 0.6, 0.8)


def branched():
    """Return an arm with two branches of a turning and a sliding joint each, on a turning one."""
    def arm(side, y):
        return (
            link(f'{side}_upper'), link(f'{side}_hand', 0.7, (0.05, 0.02, -0.04)),
            joint(f'{side}_elbow', 'body', f'{side}_upper', xyz=(0.1, y, 0.2), rpy=(0.3, 0, y)),
            joint(f'{side}_rail', f'{side}_upper', f'{side}_hand', 'prismatic', MIXED_AXES),
        )

    return make_robot_model(parse_urdf(robot_urdf(
        link('ground'), link('body', 5.0), joint('waist', 'ground', 'body', axis=(0.8, 0, -0.6)),
        *arm('left', 0.3), *arm('right', -0.3),
    ), 'branched'))


ARMS = {
    'ur5': lambda robots: robots['ur5'],
    'on a wall': lambda robots: robots['ur5'].with_gravity(gravity_of_mounting(1.2, 0.4, 0.0)),
    'youbot': lambda robots: robots['youbot'],
    'mixed': lambda robots: robots['mixed'],
    'branched': lambda robots: branched(),
}
EACH_ARM = pytest.mark.parametrize('make', ARMS.values(), ids=ARMS)


def random_states(rng, n, samples=5):
    """Return unrelated samples in the range of lively motions; some joints are at rest."""
    motion = Motion(
        rng.uniform(-3, 3, (samples, n)), rng.uniform(-3, 3, (samples, n)),
        rng.uniform(-9, 9, (samples, n)),
    )
    motion.dq[0] = 0.0
    return motion


def gradients(robot, parameters, motion, weights):
    """Return the gradient of ``sum(weights * W)`` by position, velocity and acceleration."""
    gradient = RegressorGradient(robot, parameters)
    return gradient.gradient(gradient.pass_forward(motion), weights)


@EACH_ARM
@pytest.mark.parametrize('friction', ['coulomb_sign,viscous,offset', 'stribeck,viscous'])
def test_all_columns_against_differences(robots, rng, make, friction):
    """Central differences of the observation matrix, friction and rotor columns with it."""
    # A step of 1e-5 is good to 1e-10 of the third derivative, which with 3 rad/s is some hundred
    # times the value, and to 1e-11 of the value. The dry friction of `stribeck` turns within 0.01
    # rad/s: velocities stay away from there, but for those at rest of `coulomb_sign`, whose jump
    # is no slope.
    robot = make(robots)
    parameters = make_standard_parameters(robot.n, parse_friction(friction), True)
    motion = random_states(rng, robot.n)
    if friction.startswith('stribeck'):
        motion.dq[:] = np.copysign(np.abs(motion.dq) + 0.5, motion.dq)
    weights = rng.standard_normal((motion.q.size, parameters.size))
    found = gradients(robot, parameters, motion, weights)
    for name, by in zip(BRANCHED_NAMES, found, strict=True):
        assert by.shape == motion.q.shape
        expected = np.empty_like(by)
        for i in range(robot.n):
            step = 1e-5 * (np.arange(robot.n) == i)
            if name == 'dq':
                # What rests for `coulomb_sign` rests up to 1e-6 rad/s.
                step = np.where(motion.dq[:, i:i + 1] == 0.0, 0.05 * step, step)
            above, below = (
                observation_matrix(robot, parameters, replace(
                    motion, **{name: getattr(motion, name) + side * step}
                )) for side in (1.0, -1.0)
            )
            rows = (weights * (above - below)).reshape(len(motion), -1).sum(axis=1)
            expected[:, i] = rows / (2.0 * np.sum(step * np.ones_like(motion.q), axis=1))
        np.testing.assert_allclose(by, expected, rtol=0.0, atol=1e-6 * np.abs(expected).max())


def test_samples_of_unequal_shape_are_refused():
    short = np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((2, 2))
    with pytest.raises(UsageError, match='one shape'):
        Motion(*short)
    with pytest.raises(UsageError, match='one shape'):
        Motion(*np.zeros((3, 3, 2)), rotor=Motion(*short))
