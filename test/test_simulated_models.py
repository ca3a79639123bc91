# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Porcelli's models A to D (thesis of 2020, section 4.3), with MuJoCo as the arm.

A has neither friction nor noise, B has friction, C has noise, D both; the thesis fits bodies alone
to all four. Pinocchio gives the rows, MuJoCo the torques.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from robot_identification.estimation.estimators import ESTIMATORS
from robot_identification.estimation.fitting import fit_parameters, observe
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.model.friction import parse_friction
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import Motion, prior_inertial_parameters, standard_torque
from robot_identification.processing.dataset import Dataset
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics

pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')

# Static friction of table 2.5 of the thesis, times the gear ratio of 101; viscous friction, which
# it does not print, is set to as much at 1 rad/s.
COULOMB = np.array([7.68, 8.38, 7.88, 1.41, 2.02, 2.02])
VISCOUS = COULOMB
# awgn(signal, 50) takes the signal's power to be 0 dBW: 10^(-50/20) A and N m/A.
NOISE = 10.0 ** (-50.0 / 20.0)
RATE = 125.0


@dataclass(frozen=True, eq=False)
class Case:
    """A fit to one of the four models, and how it does on an unseen motion."""

    found: np.ndarray
    true: np.ndarray
    errors: np.ndarray


@pytest.fixture(scope='module')
def arm():
    """Return the thesis' arm, without rotors as its model has none."""
    return load_robot('ur5_porcelli')


def motion_of(arm, seed):
    """Return a Fourier motion of five harmonics of 0.15 Hz, as in the thesis."""
    form = FourierParametrization(harmonics=5, base_period=2.0 / 0.3)
    coefficients = 0.25 * np.random.default_rng(seed).normal(size=(arm.n, form.n_coefficients))
    bases = form.basis(np.arange(0.0, 2.0 / 0.3, 1.0 / RATE))
    return Motion(*(basis @ coefficients.T for basis in bases))


def case_of(arm, *, friction, noise, laws='none', estimator='ols'):
    """Identify from one motion of the simulated arm and predict another one's true torques."""
    truth = prior_truth(arm)
    if friction:
        truth = replace(truth, coulomb=COULOMB, viscous=VISCOUS)
    training, unseen = motion_of(arm, 0), motion_of(arm, 1)
    torques = [
        inverse_dynamics(arm, truth, part) for part in (training, unseen)
    ]
    if noise:
        rng, gains = np.random.default_rng(2), arm.drives.drive_gain
        # Noise on the current, and on the gain that turns it into a torque (equation 4.7).
        current = torques[0] / gains + NOISE * rng.normal(size=torques[0].shape)
        torques[0] = current * (gains + NOISE * rng.normal(size=torques[0].shape))
    everything = np.ones(len(training), dtype=bool)
    dataset = Dataset(
        'simulated', arm.joint_names, np.arange(len(training)) / RATE, training, torques[0],
        'Nm', everything, everything, (slice(0, len(training)),), {}, RATE, (),
    )
    observations = observe(arm, parse_friction(laws), [dataset], [everything])
    fit = fit_parameters(observations, (), ESTIMATORS[estimator]())
    reduction = fit.problem.reduction
    parameters = reduction.parameters
    theta, prior = np.zeros(parameters.size), np.zeros(parameters.size)
    theta[reduction.independent] = fit.estimate.theta
    prior[: 10 * arm.n] = prior_inertial_parameters(arm)
    predicted = standard_torque(arm, parameters, theta, unseen)
    bodies = [row for row, c in enumerate(reduction.independent) if c < 10 * arm.n]
    return Case(
        fit.estimate.theta[bodies],
        (reduction.K @ prior)[bodies],
        np.sqrt(np.mean((predicted - torques[1]) ** 2, axis=0)),
    )


def test_model_a_is_exact(arm):
    """Neither friction nor noise: rounding of a least-squares problem of condition 1e2 is left."""
    case = case_of(arm, friction=False, noise=False)
    np.testing.assert_allclose(case.found, case.true, atol=1e-8)
    assert case.errors.max() < 1e-8


def test_model_b_suffers_from_friction_that_is_not_modelled(arm):
    """Most at the big joints, whose friction is 3.9 to 5.4 times that of the wrist."""
    # The errors are a good part of the friction itself, which at 1 rad/s is 16 and 4 N m.
    case = case_of(arm, friction=True, noise=False)
    big, small = case.errors[:3], case.errors[3:]
    assert big.min() > small.max()
    assert 2.0 < big.mean() / small.mean() < 8.0
    assert big.min() > 4.0
    assert np.abs(case.found - case.true).max() > 0.1


def test_model_c_hardly_suffers_from_noise(arm):
    """White noise of 50 dB: 0.04 N m of current noise, 36 parameters of 4998 rows."""
    # Averaged down, it leaves under a tenth of itself in what is predicted.
    case = case_of(arm, friction=False, noise=True)
    noise = NOISE * arm.drives.drive_gain
    assert np.all(case.errors < 0.3 * noise)
    assert np.abs(case.found - case.true).max() < 0.02


def test_model_d_is_as_bad_as_b(arm):
    """Friction, not noise, spoils the thesis' fit: errors within 2 % of model B's."""
    b = case_of(arm, friction=True, noise=False)
    d = case_of(arm, friction=True, noise=True)
    np.testing.assert_allclose(d.errors, b.errors, rtol=0.02)


@pytest.mark.parametrize('noise', [False, True])
def test_friction_columns_mend_b_and_d(arm, noise):
    """With Coulomb and viscous columns B is as good as A, and D as good as C."""
    # The simulated passage through rest, tanh(dq/0.02), is twice as wide as the law's default; the
    # difference acts in a hundredth of the samples.
    case = case_of(arm, friction=True, noise=noise, laws='coulomb,viscous')
    assert np.all(case.errors < 0.06 * COULOMB)
    assert np.abs(case.found - case.true).max() < 0.15
