# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The band of a prediction: held-out errors, and what the errors of the parameters make of it."""

from dataclasses import replace

from known_models import known_model
import numpy as np
import pytest
from robot_identification.estimation.band import deviation_at_rest, parameter_figures
from robot_identification.estimation.uncertainty.covariance import Covariance
from robot_identification.model import Discrepancy, harmonics
from robot_identification.model.regressor import inertial_regressor, Motion, observation_matrix
from robot_identification.pipeline import validate
from robot_identification.validation import BAND, make_prediction_deviation, ParameterError
from robot_identification.validation.validation import corrected_joints
import scipy.stats

MANY = 1.0e9


def swing(rng, n, count=40):
    """Return samples of fast joints, in unrelated poses."""
    q, ddq = rng.uniform(-2.0, 2.0, (2, count, n))
    dq = rng.choice([-1.0, 1.0], (count, n)) * rng.uniform(0.2, 1.5, (count, n))
    return Motion(q, dq, ddq, np.full((count, n), 30.0))


def erroneous(robot, rng, friction):
    """Return a model whose parameters have errors that go together, and their root."""
    model = known_model(
        robot, friction, np.tile([2.0, 0.1, 0.2, 0.1, 0.1, 0.0, 0.1, 0.0, 0.0, 0.1], robot.n)
    )
    b = len(model.theta_base)
    root = rng.normal(size=(b, b)) / np.sqrt(b)
    return replace(model, covariance=root @ root.T), root


@pytest.mark.parametrize('friction', [
    'coulomb,viscous,offset', 'stribeck,offset', 'temperature_viscous,coulomb',
])
def test_it_is_the_scatter_of_the_torque_of_drawn_parameters(robots, rng, friction):
    """By 4000 draws of parameters: a standard deviation of a sample is known to 1.1 % by them."""
    model, root = erroneous(robots['mixed'], rng, friction)
    motion = swing(rng, 3)
    draws = model.theta_base + rng.normal(size=(4000, len(model.theta_base))) @ root.T
    torques = np.array([
        replace(model, theta_base=theta).torque(motion) for theta in draws
    ])
    found = ParameterError(model).variance(motion)
    # Six standard errors of a deviation, for 120 of them.
    np.testing.assert_allclose(np.sqrt(found), torques.std(axis=0), rtol=0.07)


def test_of_a_sliding_joint_it_is_that_of_the_columns(robots, rng):
    """Friction of the load and stops, too, once these are at the end of their travel."""
    model, _ = erroneous(robots['mixed'], rng, 'dictionary')
    t = np.linspace(0.0, 1.0, 100)[:, None]
    speed = np.array([0.6, -0.9, 0.4])
    motion = Motion(speed * t, np.tile(speed, (100, 1)), np.zeros((100, 3)))
    load = inertial_regressor(model.robot, motion) @ model.theta_lifted[:30]
    W = observation_matrix(
        model.robot, model.parameters, motion, tau_rigid=load.reshape(100, 3)
    )[:, model.reduction.independent]
    expected = np.einsum('ib,bc,ic->i', W, model.covariance, W).reshape(100, 3)
    found = ParameterError(model).variance(motion)
    # The largest stop has a radius of 0.2 rad, which the slowest joint has passed after 0.5 s.
    np.testing.assert_allclose(found[50:], expected[50:], rtol=1e-9)


def widening(freedom):
    """Return the half-width of 95 % of Student's distribution over that of a normal one."""
    return scipy.stats.t(freedom).ppf(0.975) / BAND


def test_few_degrees_of_freedom_widen_it_as_students_distribution_is_wider(robots, rng):
    """
    Of one parameter as its own interval; of two with a half of the variance each by twice as much.

    These are independent: their sum has the degrees of freedom of both (Satterthwaite 1946).
    """
    model, _ = erroneous(robots['mixed'], rng, 'coulomb,viscous')
    b = len(model.theta_base)
    speed = np.full((5, 3), 0.5)
    motion = Motion(np.zeros((5, 3)), speed, np.zeros((5, 3)))
    coulomb, viscous = (model.reduction.names.index(f'{name}1') for name in ('fc', 'fv'))
    for errors, freedom in (({coulomb: 1.0}, 4.0), ({coulomb: 1.0, viscous: 2.0}, 8.0)):
        variances = np.zeros(b)
        variances[list(errors)] = np.square(list(errors.values()))
        known = replace(model, covariance=np.diag(variances))
        wide, narrow = (
            ParameterError(known, np.full(b, each)).variance(motion)[:, 0] for each in (4.0, MANY)
        )
        np.testing.assert_allclose(np.sqrt(wide / narrow), widening(freedom), rtol=1e-4)


def test_an_absorbed_discrepancy_adds_its_scatter(robots, rng):
    """By 4000 draws of coefficients: series of two joints, all gains, and what was absorbed."""
    model, _ = erroneous(robots['mixed'], rng, 'coulomb,viscous')
    b, orders, motion = len(model.theta_base), (1, 3), swing(rng, 3)
    # Parameters without error are known exactly, and none is absorbed by them.
    model = replace(model, covariance=1e-18 * np.eye(b))
    root = rng.normal(size=(11, 11))
    root[8:] *= 0.03
    discrepancy = Discrepancy((0, 2), orders, True, root @ root.T, rng.normal(size=(b, 11)) / b)
    bodies = (inertial_regressor(model.robot, motion) @ model.theta_lifted[:30]).reshape(-1, 3)
    errors = []
    for a in rng.normal(size=(4000, 11)) @ root.T:
        moved = replace(model, theta_base=model.theta_base + discrepancy.absorbed @ a)
        error = model.torque(motion) - moved.torque(motion) + a[8:] * bodies
        for joint, own in ((0, a[:4]), (2, a[4:8])):
            error[:, joint] += harmonics(motion.q[:, joint], orders) @ own
        errors.append(error)
    found = ParameterError(model, None, discrepancy).variance(motion)
    np.testing.assert_allclose(np.sqrt(found), np.std(errors, axis=0), rtol=0.07)


def test_errors_that_take_residuals_as_white_are_not_stated(identification):
    """They know nothing of correlated residuals and say too little; older files have none."""
    model, dataset = identification.model, identification.datasets[0]
    white = Covariance(
        'residual', model.covariance, np.array(model.quality['degrees_of_freedom']),
        np.zeros(len(model.theta_base), dtype=bool),
    )
    stated = parameter_figures(model, white, None, None)
    assert stated == {'discrepancy': None, 'parameter_deviation': None}
    assert np.all(np.array(model.quality['parameter_deviation']) > 0.0)
    old = model.with_quality({
        name: value for name, value in model.quality.items() if name not in stated
    })
    deviation = make_prediction_deviation(old, corrected_joints(old, dataset))(dataset.motion)
    # One value in motion, and one at rest.
    assert len(np.unique(deviation[:, 0])) <= 2


def test_rest_adds_a_quarter_of_the_friction_that_saturates(robots):
    """Coulomb and load, the latter under its load; viscous friction and offsets are none of it."""
    model = known_model(
        robots['mixed'], 'coulomb,load,viscous,offset', fc=2.0, fcl=0.1, fv=5.0, f0=3.0
    )
    found = deviation_at_rest(model, np.array([3.0, 0.0, 0.0]), np.array([0.0, 10.0, 20.0]))
    np.testing.assert_allclose(found, [np.hypot(3.0, 0.5), 0.75, 1.0], rtol=1e-15)


def test_the_band_holds_what_it_says_on_a_motion_that_was_not_seen(scene, identification):
    """Two motions of one simulated arm: within a few per cent, as blocks of one motion differ."""
    made = scene('ur5')
    model = identification.model
    bag, = validate(model, [made.bags[1]]).validation.bags
    resting = bag.details.resting_samples / bag.samples
    total = (
        bag.details.covered_moving * (1.0 - resting)
        + np.nan_to_num(bag.details.covered_resting) * resting
    )
    assert 0.92 < total.mean() < 0.98
    assert np.all(total > 0.9)
