# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the tests of estimators build: problems of known arms, with their rows behind them."""

from types import SimpleNamespace

from builders import joint, link, robot_urdf
from known_models import base_of, made_up_dataset
import numpy as np
from robot_identification.estimation import Observations, TrainingData
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.model import Motion, standard_torque

PERIOD = 0.008
FRICTION = 'coulomb,viscous,offset'
# Of the joints of the mixed arm [N m], [N], [N m].
NOISE = np.array([0.3, 1.0, 0.1])


def three_joint_urdf(tool=''):
    """Return an arm of three joints, of the size of a shoulder, an elbow and a wrist."""
    return robot_urdf(
        link('ground'),
        link('upper', 6.0, (0.02, -0.03, 0.25), (0.09, 0.1, 0.03)),
        link('lower', 3.0, (0.2, 0.02, 0.05), (0.01, 0.05, 0.055)),
        link('hand', 1.0, (0.03, -0.02, 0.06), (0.004, 0.005, 0.003)),
        joint('one', 'ground', 'upper', axis=(0, 1, 0)),
        joint('two', 'upper', 'lower', axis=(0, 1, 0), xyz=(0, 0, 0.4), rpy=(0, 0.3, 0)),
        joint('three', 'lower', 'hand', axis=(1, 0, 0), xyz=(0.4, 0, 0), rpy=(0.2, 0, 0.1)),
        tool, name='three_joints',
    )


def fourier_motion(n, seed, samples=400, size=0.3, duration=8.0, idle=()):
    """Return a periodic motion of n joints, its five harmonics of random size [rad]."""
    # Some joints stand where the others swing.
    form = FourierParametrization(harmonics=5, base_period=duration)
    coefficients = np.random.default_rng(seed).normal(size=(n, form.n_coefficients)) * size
    coefficients[list(idle), 1:] = 0.0
    bases = form.basis(np.linspace(0.0, duration, samples, endpoint=False))
    return Motion(*(basis @ coefficients.T for basis in bases))


def arm_reduction(robot, friction=FRICTION, **options):
    """Return the base parameters of an arm with rotors and some friction laws."""
    return base_of(robot, friction, rotors=True, **options)


def dataset_of(robot, motion, tau, period=PERIOD):
    """Return a dataset of exact kinematics in which every sample counts."""
    return made_up_dataset(robot.joint_names, motion, tau, 1.0 / period)


def observe_datasets(robot, reduction, datasets, **options):
    """Return the rows of datasets."""
    data = [TrainingData(one, np.ones(robot.n), np.ones(len(one), bool)) for one in datasets]
    return Observations(robot, reduction, data, **options)


def observe(robot, reduction, recordings, **options):
    """Return the rows of recordings, each a motion and its torques (N, n)."""
    datasets = [dataset_of(robot, motion, tau) for motion, tau in recordings]
    return observe_datasets(robot, reduction, datasets, **options)


def arm_problem(robot, reduction, motion, tau, **options):
    """Return the problem of one recording."""
    return observe(robot, reduction, [(motion, tau)], **options).factor()


def possible_parameters(robot, parameters, rng):
    """Return standard parameters of any sign, but friction and rotor inertia positive."""
    theta = rng.normal(size=parameters.size)
    theta[10 * robot.n:] = rng.uniform(0.2, 2.0, parameters.size - 10 * robot.n)
    return theta


def torque_of(robot, reduction, theta, motion):
    """Return the torques (N, n) of standard parameters."""
    return standard_torque(robot, reduction.parameters, theta, motion)


def noisy_problem(
    robot, reduction, seed, samples=300, noise=NOISE, *, motion=None, change=None, **options
):
    """Return the problem of a recording with noise, and its true standard parameters."""
    # `noise` may be a function of generator and shape, `change` one of the parameters.
    rng = np.random.default_rng(seed)
    motion = fourier_motion(robot.n, seed, samples) if motion is None else motion
    theta = possible_parameters(robot, reduction.parameters, rng)
    theta = theta if change is None else change(theta)
    tau = torque_of(robot, reduction, theta, motion)
    tau = tau + (noise(rng, tau.shape) if callable(noise) else noise * rng.normal(size=tau.shape))
    return arm_problem(robot, reduction, motion, tau, **options), theta


def predict(robot, reduction, theta_base, motion):
    """Return the torques (N, n) of base parameters."""
    theta = np.zeros(reduction.parameters.size)
    theta[reduction.independent] = theta_base
    return torque_of(robot, reduction, theta, motion)


def lying_solver(value):
    """Return a solver in the place of clarabel's: 'solved', all unknowns are one value."""
    import clarabel

    class Liar:
        def __init__(self, P, q, A, b, cones, settings):
            self._sizes = len(q), len(b)

        def solve(self):
            size, rows = self._sizes
            return SimpleNamespace(
                x=np.full(size, value), z=np.zeros(rows), status=clarabel.SolverStatus.Solved
            )

    return Liar
