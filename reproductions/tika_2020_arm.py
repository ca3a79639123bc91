# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The experiment of Tika et al. on a simulated UR5: ordinary against constrained least squares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.estimation.estimate import Estimate
from robot_identification.estimation.estimators.least_squares import ConstrainedLeastSquares
from robot_identification.estimation.estimators.least_squares import OrdinaryLeastSquares
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.quality import find_covariance
from robot_identification.estimation.recipe import Recipe
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.regressor import Motion
from robot_identification.model.robot_model import RobotModel
from robot_identification.pipeline import identify
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.loading import load_for_model
from robot_identification.processing.smoothing import smooth_effort
from robot_identification.recording.simulated_run import simulate, write_simulated_bag
from robot_identification.simulation.ground_truth import (
    draw_truth, GroundTruth, with_static_friction,
)
from robot_identification.simulation.mujoco_robot import Sensors, true_inertial_parameters

# The span of the smoothing is not printed: 19 samples at 125 Hz.
SMOOTHING = KinematicFilter(kind='rloess', span=0.15)
# Section V: sign and viscous friction (eq. 8), currents smoothed as velocities are, rotor inertias
# that are not negative. Those that merge with link inertias have no bound.
METHOD = IdentifyOptions(
    estimator=ConstrainedLeastSquares(friction=False), friction='coulomb_sign,viscous',
    recipe=Recipe(kinematic_filter=SMOOTHING, effort_filter=SMOOTHING),
)
# "The values for the rotor inertia are small anyway": this share of those that are drawn.
SMALL_ROTORS = 0.05
TRUTH_SEED, NOISE_SEEDS = 0, (1, 2)
POSES = 1000


@dataclass(frozen=True, eq=False)
class SimulatedArm:
    """
    Simulated arm and its true parameters.

    Attributes
    ----------
    robot : RobotModel
        The arm as it is known.
    truth : GroundTruth
        As it is: masses up to a fifth from the description, joints that stick and whose friction
        grows with the load, so that the paper's friction model is not exact.

    """

    robot: RobotModel
    truth: GroundTruth

    def record(self, trajectory: Trajectory, bag: Path, seed: int) -> None:
        """Make the arm execute all periods of a motion, and write what its driver publishes."""
        run = simulate(self.robot, trajectory, self.truth, Sensors(), seed=seed)
        write_simulated_bag(bag, self.robot, run, trajectory)

    def true_values(self, model: IdentifiedModel) -> FloatArray:
        """Return the true base parameters, Coulomb friction being that of an unloaded joint."""
        parameters = model.parameters
        theta = np.zeros(parameters.size)
        theta[: 10 * self.robot.n] = true_inertial_parameters(self.robot, self.truth)
        values = {'coulomb_sign': self.truth.coulomb, 'viscous': self.truth.viscous}
        for term, columns in parameters.friction_columns:
            theta[columns] = values[term.law.name][term.joint]
        theta[parameters.reflected_inertia_slice] = self.truth.reflected_inertia
        base: FloatArray = model.reduction.K @ theta
        return base

    def inertial_errors(self, model: IdentifiedModel) -> FloatArray:
        """Return base parameters that inertial ones lead, less their true values."""
        parameters, n = model.parameters, self.robot.n
        theta = np.zeros(parameters.size)
        theta[: 10 * n] = true_inertial_parameters(self.robot, self.truth)
        theta[parameters.reflected_inertia_slice] = self.truth.reflected_inertia
        rows = model.reduction.independent < 10 * n
        apart: FloatArray = (model.theta_base - model.reduction.K @ theta)[rows]
        return apart

    def with_simpler_friction(self) -> dict[str, SimulatedArm]:
        """Return arms that lack a part of the friction, by name."""
        no_load = replace(self.truth, load_share=None)
        return {
            'without friction that grows with the load': SimulatedArm(self.robot, no_load),
            'nor joints that stick': SimulatedArm(self.robot, replace(no_load, static=None)),
        }


@dataclass(frozen=True)
class Trial:
    """
    Parameter errors of one arm.

    Attributes
    ----------
    name : str
        The arm and the method.
    rms, largest : float
        Of the errors of the inertial base parameters, SI units.
    negative : str
        Rotor inertias below zero.
    poses : int
        Of 1000, those with a mass matrix that is not positive definite.

    """

    name: str
    rms: float
    largest: float
    negative: str
    poses: int


def try_arm(name: str, arm: SimulatedArm, model: IdentifiedModel) -> Trial:
    """Return how wrong a model of an arm is."""
    apart = arm.inertial_errors(model)
    negative = [
        parameter
        for parameter, value in zip(model.reduction.names, model.theta_base, strict=True)
        if parameter.startswith('Ia') and value < 0.0
    ]
    return Trial(
        name, float(np.sqrt(np.mean(apart**2))), float(np.abs(apart).max()),
        ', '.join(negative) or 'none', least_inertia(model)[1],
    )


def simulated_arm(robot: RobotModel, rotor_share: float) -> SimulatedArm:
    """
    Return an arm to identify.

    Parameters
    ----------
    robot : RobotModel
        As it is known. Its drive gains are exact: equation 32 takes them from the controller.
    rotor_share : float
        Rotor inertias over those that the simulator draws.

    """
    drawn = draw_truth(robot, TRUTH_SEED)
    truth = replace(
        drawn, drive_gain=robot.drives.drive_gain,
        reflected_inertia=rotor_share * drawn.reflected_inertia,
    )
    return SimulatedArm(robot, with_static_friction(truth))


@dataclass(frozen=True, eq=False)
class Fit:
    """
    Both estimates from one recording.

    Attributes
    ----------
    model : IdentifiedModel
        By constrained least squares, as the paper has it.
    ordinary : Estimate
        By ordinary least squares on the same rows.
    problem : IdentificationProblem
        The rows, reduced.
    dataset : Dataset
        What was fitted.

    """

    model: IdentifiedModel
    ordinary: Estimate
    problem: IdentificationProblem
    dataset: Dataset

    @property
    def models(self) -> dict[str, IdentifiedModel]:
        """Both models, and the one with physically consistent bodies, by name."""
        return {
            'OLS': self.ordinary_model, 'CLS': self.model,
            'physically consistent': self.model.with_consistent_parameters(),
        }

    @property
    def ordinary_model(self) -> IdentifiedModel:
        """Return the model with the ordinary estimate."""
        return replace(
            self.model, theta_base=self.ordinary.theta,
            covariance=find_covariance(self.ordinary).matrix,
        )

    def rotor_inertias(self, theta: FloatArray) -> dict[str, float]:
        """Return those among base parameters that are rotor inertias alone, by name."""
        return {
            name: float(value)
            for name, value in zip(self.model.reduction.names, theta, strict=True)
            if name.startswith('Ia')
        }


def identify_both(arm: SimulatedArm, bag: Path) -> Fit:
    """Identify an arm by the paper's method, and by ordinary least squares beside it."""
    found = identify(arm.robot, [bag], METHOD)
    problem = found.estimate.problem
    assert problem is not None  # of an estimate that was just made
    return Fit(
        found.model, OrdinaryLeastSquares().estimate(problem), problem, found.datasets[0]
    )


def load_unseen(model: IdentifiedModel, bag: Path) -> tuple[Dataset, IdentificationProblem]:
    """Return a bag the model has not seen, and its rows treated as those of the fit."""
    dataset, _ = load_for_model(model, bag)
    observations = METHOD.observe(model.robot, METHOD.laws[0], [dataset], [dataset.fitted])
    return dataset, observations.factor()


def identify_by_default(arm: SimulatedArm, bag: Path) -> IdentifiedModel:
    """Return what this package makes of a recording where nothing is asked for."""
    return identify(arm.robot, [bag], IdentifyOptions()).model


def normalized_errors(
    problem: IdentificationProblem, theta: FloatArray
) -> tuple[FloatArray, float]:
    """Return equation 35 of all joints and equation 34, on the smoothed torques [N m]."""
    joints = np.sqrt(problem.squared_residuals(theta)) / problem.samples
    return joints, float(np.linalg.norm(joints) / len(joints))


def smooth_torque(dataset: Dataset, robot: RobotModel) -> FloatArray:
    """Return the smoothed measured joint torque (N, n) [N m] that the paper regresses on."""
    torque: FloatArray = smooth_effort(dataset, SMOOTHING) * robot.drives.drive_gain
    return torque


def least_inertia(model: IdentifiedModel, seed: int = 0) -> tuple[float, int]:
    """
    Return the smallest eigenvalue of the mass matrix in random poses, and how many have one <= 0.

    Parameters
    ----------
    model : IdentifiedModel
        Its torques at rest, with and without one joint accelerated, are the columns.
    seed : int
        Of the poses.

    Returns
    -------
    least : float
        [kg m^2].
    count : int
        Poses whose matrix is not positive definite.

    """
    n = model.robot.n
    q = np.repeat(np.random.default_rng(seed).uniform(-np.pi, np.pi, (POSES, n)), n + 1, axis=0)
    ddq = np.tile(np.vstack([np.zeros(n), np.eye(n)]), (POSES, 1))
    torque = model.torque(Motion(q, np.zeros(q.shape), ddq)).reshape(POSES, n + 1, n)
    matrices = torque[:, 1:] - torque[:, :1]
    least = np.linalg.eigvalsh(0.5 * (matrices + matrices.transpose(0, 2, 1)))[:, 0]
    return float(least.min()), int(np.count_nonzero(least <= 0.0))
