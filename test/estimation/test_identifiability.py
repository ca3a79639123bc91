# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the data do not show is found, named and left out; the rest stays what it is."""

from dataclasses import replace

from estimation.arm_problems import arm_reduction, dataset_of, fourier_motion
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.estimation import ESTIMATORS, TrainingData
from robot_identification.estimation.fitting import (
    cross_validate, fit_parameters, observe, reference_scale, restrict_to_identifiable,
)
from robot_identification.estimation.problem import Observations
from robot_identification.model import observation_matrix, parse_friction
from robot_identification.processing.dataset import find_stationary_joints, IDLE_RANGE
from robot_identification.validation.folds import Folds


def reduction_of(robot):
    return arm_reduction(robot, 'viscous,coulomb,offset')


def problem_of(robot, reduction, motion, theta):
    """Return the problem of torques without noise, and those torques (N n,)."""
    tau = observation_matrix(robot, reduction.parameters, motion) @ theta
    dataset = dataset_of(robot, motion, tau.reshape(-1, robot.n), 0.02)
    data = [TrainingData(dataset, np.ones(robot.n), dataset.fitted)]
    return Observations(robot, reduction, data).factor(), tau


@pytest.mark.parametrize('idle', [(3,), (0,), (5,), (1, 4), (1, 2, 3, 4, 5)])
def test_a_stationary_joint_loses_its_friction_and_rotor(ur5, rng, idle):
    """And the others lose nothing: the reduced parameters of any arm give its torques."""
    # Parameters of the idle joint itself are zero here: at rest the data cannot show them. The
    # rest is exact to what `restrict_to_identifiable` rounds, 1e-6 of a lively motion's torques.
    reduction = reduction_of(ur5)
    parameters = reduction.parameters
    theta = rng.normal(size=parameters.size)
    own = [f'{symbol}{joint + 1}' for joint in idle for symbol in ('fv', 'fc', 'f0', 'Ia')]
    theta[[parameters.names.index(name) for name in own]] = 0.0
    motion = fourier_motion(6, 0, idle=idle)
    problem, _ = problem_of(ur5, reduction, motion, theta)
    left, unidentifiable = restrict_to_identifiable(ur5, problem, idle)
    assert set(own) & set(reduction.names) <= set(unidentifiable)
    moving = [f'{symbol}{joint + 1}' for joint in range(6) if joint not in idle
              for symbol in ('fv', 'fc', 'f0')]
    assert set(moving).isdisjoint(unidentifiable)
    smaller = left.reduction
    assert smaller.rank == reduction.rank - len(unidentifiable)
    assert set(smaller.names) | set(unidentifiable) == set(reduction.names)
    estimate = ESTIMATORS['ols']().estimate(left)
    # What was folded away comes back on any motion in which the joints stand there too.
    unseen = fourier_motion(6, 1, idle=idle)
    unseen.q[:, idle] = motion.q[0, idle]
    for one, tolerance in ((motion, 1e-6), (unseen, 1e-3)):
        W = observation_matrix(ur5, parameters, one)
        tau, seen = W @ theta, W[:, smaller.independent]
        for found, atol in ((smaller.K @ theta, 1e-3), (estimate.theta, tolerance)):
            np.testing.assert_allclose(seen @ found, tau, atol=atol * np.abs(tau).max())
    for name in moving:
        found = estimate.theta[smaller.names.index(name)]
        assert found == pytest.approx(theta[parameters.names.index(name)], abs=1e-4), name


def test_stationary_joints_stand_still_in_every_recording(ur5):
    """Fifty millirad is the limit; only what is scored counts."""
    moving, standing = fourier_motion(6, 0), fourier_motion(6, 0, idle=(2,))
    standing.q[:, 4] = 1.0 + 0.9 * IDLE_RANGE * np.linspace(0, 1, 400)
    tau = np.zeros((400, 6))
    first, second = (dataset_of(ur5, motion, tau, 0.02) for motion in (moving, standing))
    assert find_stationary_joints([first]) == ()
    assert find_stationary_joints([second]) == (2, 4)
    assert find_stationary_joints([first, second]) == ()
    standing.q[:, 4] *= 1.2
    assert find_stationary_joints([second]) == (2,)
    short = replace(second, scored=np.arange(400) < 3)
    assert set(find_stationary_joints([short])) > {2, 4}


def test_reference_is_what_a_lively_motion_puts_into_each_column(ur5):
    """Within a factor of ten of the excitation motion's own columns, none of them zero."""
    reduction = reduction_of(ur5)
    scale = reference_scale(ur5, reduction)
    W = observation_matrix(ur5, reduction.parameters, fourier_motion(6, 0))
    ratio = np.linalg.norm(W[:, reduction.independent], axis=0) / np.sqrt(400) / scale
    assert np.all(scale > 0.0)
    assert np.all((ratio > 1e-2) & (ratio < 1e2))


def test_too_few_rows_are_refused_with_their_number(ur5):
    """Six samples are 36 rows for 58 parameters."""
    reduction = reduction_of(ur5)
    motion = fourier_motion(6, 0, 6)
    theta = np.ones(reduction.parameters.size)
    with pytest.raises(DataError, match='6 usable samples for 58 parameters'):
        problem_of(ur5, reduction, motion, theta)


def test_held_out_blocks_are_not_trained_on(robots):
    """Of pure noise nothing can be predicted: held-out errors exceed the spread itself."""
    # Fitted to the very samples, 30 parameters explain a part of 600 rows of noise.
    robot, rng = robots['mixed'], np.random.default_rng(1)
    motion = fourier_motion(robot.n, 0, 200)
    dataset = dataset_of(robot, motion, rng.normal(size=(200, 3)), 0.02)
    laws = parse_friction('viscous,coulomb,offset')
    observations = observe(robot, laws, [dataset], [dataset.fitted])
    estimator = ESTIMATORS['ols']()
    trial = cross_validate(observations, (), estimator, 'noise', Folds())
    assert np.all(trial.errors[0].nrmse > 1.0)
    fit = fit_parameters(observations, (), estimator)
    assert np.all(fit.estimate.sigma < np.std(dataset.effort, axis=0) * 1.1)
    assert trial.errors[0].samples == 200
