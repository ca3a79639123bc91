# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A known arm whose encoders are bad: what tests of errors in positions need.

Torques are MuJoCo's along an exact periodic motion. Velocities and accelerations are derivatives
of the noisy positions with a cut-off that is much too high.
"""

from dataclasses import dataclass, replace

from estimation.arm_problems import dataset_of, observe_datasets
import numpy as np
from recordings import fourier_motion, true_base_parameters, write_small_arm
from robot_identification.model import (
    BaseReduction, load_robot, make_standard_parameters, Motion, parse_friction, reduce_to_base,
    RobotModel,
)
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics

RATE, PERIOD = 62.5, 6.0
CUTOFF = 15.0
# Of a sample of the torques [N m].
TORQUE_NOISE = np.array([0.5, 0.5, 0.25])


def spectral_derivative(x, order, harmonics):
    """Return the derivative of samples (N, n) of whole periods, of so many harmonics."""
    spectrum = np.fft.rfft(x, axis=0)
    spectrum[harmonics + 1:] = 0.0
    rates = 2.0 * np.pi * np.fft.rfftfreq(len(x), 1.0 / RATE)
    return np.fft.irfft(spectrum * ((1j * rates) ** order)[:, None], len(x), axis=0)


@dataclass(frozen=True, eq=False)
class NoisyArm:
    """An arm, its true base parameters (b,), and N samples of a motion with its true torques."""

    robot: RobotModel
    reduction: BaseReduction
    theta: np.ndarray
    stamps: np.ndarray
    motion: Motion
    torque: np.ndarray

    def dataset(self, seed, position_noise, torque_noise=TORQUE_NOISE):
        """Return a recording with errors of these standard deviations."""
        rng = np.random.default_rng(seed)
        q = self.motion.q + position_noise * rng.normal(size=self.motion.q.shape)
        harmonics = round(CUTOFF * len(q) / RATE)
        dq, ddq = (spectral_derivative(q, order, harmonics) for order in (1, 2))
        motion = Motion(q, dq, ddq)
        torque = self.torque + torque_noise * rng.normal(size=q.shape)
        dataset = dataset_of(self.robot, motion, torque)
        return replace(dataset, stamps=self.stamps, rate=RATE)

    def problem(self, seed, position_noise, torque_noise=TORQUE_NOISE, **options):
        """Return the problem of such a recording."""
        dataset = self.dataset(seed, position_noise, torque_noise)
        return self.observe([dataset], **options).factor()

    def observe(self, datasets, **options):
        """Return the rows of some recordings."""
        return observe_datasets(self.robot, self.reduction, datasets, **options)


def make_noisy_arm(folder, periods, friction='coulomb,viscous,offset'):
    """Return an arm of three joints, its files written to a folder, and its motion."""
    # Friction laws are those of the model and of the truth; without 'coulomb' the truth has none.
    robot = load_robot(str(write_small_arm(folder)))
    truth = draw_truth(robot, 3)
    if 'coulomb' not in friction:
        truth = replace(truth, coulomb=np.zeros(robot.n))
    laws = tuple(
        replace(law, width=truth.velocity_width) if law.name == 'coulomb' else law
        for law in parse_friction(friction)
    )
    reduction = reduce_to_base(robot, make_standard_parameters(robot.n, laws, True))
    stamps = np.arange(round(periods * PERIOD * RATE)) / RATE
    motion = fourier_motion(robot.n, 1, stamps, period=PERIOD)
    torque = inverse_dynamics(robot, truth, motion)
    theta = true_base_parameters(robot, truth, reduction)
    return NoisyArm(robot, reduction, theta, stamps, motion, torque)


def errors_of(arm, estimators, position_noise, runs=12):
    """Return errors and standard errors (runs, b) of each estimator over recordings."""
    found = {name: [] for name in estimators}
    for seed in range(runs):
        problem = arm.problem(seed, position_noise)
        for name, estimator in estimators.items():
            estimate = estimator.estimate(problem)
            found[name].append((estimate.theta - arm.theta, estimate.standard_errors))
    return {name: np.swapaxes(pairs, 0, 1) for name, pairs in found.items()}


def bias_in_errors(errors):
    """Return the root mean square over parameters of their mean errors over those of means."""
    bias = errors.mean(axis=0) / (errors.std(axis=0, ddof=1) / np.sqrt(len(errors)))
    return np.sqrt(np.mean(bias**2))
