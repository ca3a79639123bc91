# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Bodies that can exist are taken only if they predict as well."""

from dataclasses import replace
from types import SimpleNamespace

from estimation.arm_problems import arm_reduction, fourier_motion, observe
import numpy as np
import pytest
from robot_identification.errors import InconsistentModelError
from robot_identification.estimation import Recipe, WeightedLeastSquares
from robot_identification.estimation.estimators.consistent import ConsistentLeastSquares
from robot_identification.estimation.fitting import cross_validate, fit_parameters
from robot_identification.estimation.standard import find_consistent_parameters, is_accepted
from robot_identification.model import load_model, smallest_eigenvalues
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.validation.folds import Folds, Trial

RECIPE = Recipe()
WEIGHTED = WeightedLeastSquares()


def trial_of(scores):
    """Return a trial with an error for each block."""
    scores = np.asarray(scores, dtype=float)
    return Trial('made up', (SimpleNamespace(nrmse_mean=scores.mean()),), scores)


@pytest.mark.parametrize(('consistent', 'taken'), [
    ([0.10, 0.12, 0.11], True),
    ([0.11, 0.13, 0.12], True),  # 9 % worse, and certainly so
    ([0.13, 0.16, 0.14], False),  # 30 % worse
    ([0.08, 0.17, 0.12], True),  # 12 % worse, which three blocks do not show
    ([0.05, 1e9, 0.05], False),  # a block gone wild says nothing
])
def test_what_is_as_good_is_taken(consistent, taken):
    """A tenth by default, or what blocks cannot tell from nothing up to twice as much."""
    assert is_accepted(trial_of(consistent), trial_of([0.10, 0.12, 0.11]), 0.1) == taken


@pytest.fixture(scope='module')
def case(ur5):
    """Return a function that identifies a simulated arm under some noise of its torque."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    from robot_identification.simulation.mujoco_robot import inverse_dynamics

    reduction = arm_reduction(ur5)
    truth = draw_truth(ur5, 0)
    motion = fourier_motion(6, 4, 900, 0.25)
    tau = inverse_dynamics(ur5, truth, motion)
    noise = np.random.default_rng(1).normal(size=tau.shape) * [3.0, 3.5, 3.0, 0.7, 0.7, 0.6]

    def identify(share, estimator=WEIGHTED, lost_rotor=0.0):
        torque = tau + share * noise
        torque[:, 5] -= lost_rotor * motion.ddq[:, 5]
        observations = observe(ur5, reduction, [(motion, torque)])
        trial = cross_validate(observations, (), estimator, 'free', Folds())
        choice = SimpleNamespace(estimator=estimator, of_parameters=trial)
        whole = fit_parameters(observations, (), estimator)
        fitted = SimpleNamespace(robot=ur5, fit=whole, in_choice=observations, unexcited=())
        found = find_consistent_parameters(choice, fitted, RECIPE)
        return found, whole, reduction

    return identify


def test_base_parameters_are_kept_where_bodies_have_them(case):
    """Next to no noise: the first stage, which costs nothing."""
    found, whole, reduction = case(1e-4)
    assert 'base parameters kept' in found.note
    np.testing.assert_allclose(reduction.K @ found.theta, whole.estimate.theta, atol=1e-7)
    assert found.figures['smallest_mass_matrix_eigenvalue'] > 0.0


def test_noise_is_explained_by_bodies_as_well(case):
    """Usual noise: no body has the estimate, the fit with conditions is taken, its cost said."""
    found, _, _ = case(1.0)
    assert found.theta is not None
    assert np.all(smallest_eigenvalues(found.theta[:60]) > 0.0)
    assert 'held-out NRMSE' in found.note
    assert found.figures['squared_residuals'] > 0.0
    assert found.figures['nrmse_mean'] <= 1.1 * found.figures['nrmse_mean_without_conditions']


def test_what_no_body_explains_is_not_taken(case):
    """A torque that falls with the acceleration: no rotor does that, and the cost is said."""
    found, _, _ = case(1e-3, lost_rotor=2.0)
    assert found.theta is None
    assert 'not taken' in found.note
    assert 'consistency_cost' in found.note
    assert found.figures['nrmse_mean'] > 1.1 * found.figures['nrmse_mean_without_conditions']


def test_an_estimator_of_bodies_is_believed(case):
    found, whole, _ = case(1.0, ConsistentLeastSquares())
    np.testing.assert_array_equal(found.theta, whole.estimate.standard)


def test_a_model_predicts_by_its_bodies_on_demand(model_file):
    """The torques of the consistent parameters, or an error that says why there are none."""
    model = load_model(model_file)
    theta = np.zeros(model.parameters.size)
    consistent = replace(model, theta_consistent=theta).with_consistent_parameters()
    np.testing.assert_array_equal(consistent.theta_base, 0.0)
    with pytest.raises(InconsistentModelError, match=r'because I say so'):
        replace(
            model, theta_consistent=None, consistency_note='because I say so'
        ).with_consistent_parameters()
