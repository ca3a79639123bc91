# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A known arm whose encoders are bad: what tests of errors in positions need.

Torques are MuJoCo's along an exact periodic motion. Velocities and accelerations are derivatives
of the noisy positions with a cut-off that is much too high.
"""

from dataclasses import dataclass, replace

from estimation.arm_problems import dataset_of
import numpy as np
from recordings import fourier_motion, write_small_arm
from robot_identification.estimation.problem import Observations
from robot_identification.estimation.rows import TrainingData
from robot_identification.model.base_parameters import BaseReduction, reduce_to_base
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import Motion
from robot_identification.model.robot_model import RobotModel
from robot_identification.processing.fourier import spectral_derivative
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics, true_inertial_parameters

RATE, PERIOD = 62.5, 6.0
CUTOFF = 15.0
# Of a sample of the torques [N m].
TORQUE_NOISE = np.array([0.5, 0.5, 0.25])


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
        dq, ddq = (spectral_derivative(q, RATE, order, harmonics) for order in (1, 2))
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
        return Observations(
            self.robot, self.reduction,
            [
                TrainingData(dataset, np.ones(self.robot.n), np.ones(len(dataset), dtype=bool))
                for dataset in datasets
            ],
            **options,
        )


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
    parameters = make_standard_parameters(robot.n, laws, True)
    reduction = reduce_to_base(robot, parameters)
    theta = np.zeros(parameters.size)
    theta[: 10 * robot.n] = true_inertial_parameters(robot, truth)
    of_law = {'coulomb': truth.coulomb, 'viscous': truth.viscous, 'offset': np.zeros(robot.n)}
    for term, columns in parameters.friction_columns:
        theta[columns] = of_law[term.law.name][term.joint]
    theta[parameters.reflected_inertia_slice] = truth.reflected_inertia
    stamps = np.arange(round(periods * PERIOD * RATE)) / RATE
    motion = fourier_motion(robot.n, 1, stamps, period=PERIOD)
    torque = inverse_dynamics(robot, truth, motion)
    return NoisyArm(robot, reduction, reduction.K @ theta, stamps, motion, torque)


def bias_in_errors(errors):
    """Return the mean error of each parameter over its own standard error, errors (runs, b)."""
    return errors.mean(axis=0) / (errors.std(axis=0, ddof=1) / np.sqrt(len(errors)))
