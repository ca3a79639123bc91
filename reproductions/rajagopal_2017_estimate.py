# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The identification of J. Rajagopal's report on a simulated youBot, as it was done and as proposed.

Done: random motions, positions differentiated twice, ridge regression on fifty parameters without
friction (section 3.5.1). Proposed: periodic D-optimal motions, differentiation by harmonics
(section 3.5.2). Both see the same robot for as long, with the same noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from reproductions import rajagopal_2017_data as printed
from reproductions.known_motion import known_problem, root_mean_square
from reproductions.rajagopal_2017_break_away import KINETIC
from robot_identification.arrays import FloatArray
from robot_identification.estimation.estimate import Estimator
from robot_identification.estimation.estimators.consistent import ConsistentLeastSquares
from robot_identification.estimation.estimators.least_squares import OrdinaryLeastSquares
from robot_identification.estimation.estimators.ridge import RidgeRegression
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.optimizers.search import Budget
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.consistency import find_implausibilities
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters, StandardParameters
from robot_identification.model.regressor import (
    Motion, prior_inertial_parameters, rigid_torque, standard_torque,
)
from robot_identification.model.robot_model import RobotModel
from robot_identification.processing.filters import central_difference
from robot_identification.processing.fourier import fit_fourier
from robot_identification.simulation.ground_truth import draw_truth, GroundTruth, prior_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics, true_inertial_parameters

EXPERIMENT = 'rajagopal_2017_youbot'
TRUTH_SEED, MOTION_SEED, VALIDATION_SEED = 3, 1, 2
# Ours: the report prints neither. Positions [rad], torques as a share of the limit.
POSITION_NOISE, TORQUE_NOISE_SHARE = 1.0e-4, 0.01
PERIODS, SECONDS = 3, 60.0
# Of the search for a D-optimal motion.
EVALUATIONS = 200
FRICTION = 'coulomb,viscous'
# Ways to identify: the first on a robot of the maker's bodies, the others on one with friction.
RIGID = 'no friction and no noise, ridge'
REPORT = 'random motion, differences, ridge (report)'
POSSIBLE = 'and physically consistent bodies'


@dataclass(frozen=True)
class Identified:
    """
    Result of one way of identification.

    Attributes
    ----------
    inertial : ndarray, shape (50,)
        Inertial parameters of the links, Pinocchio's order.
    validation_errors : ndarray, shape (5,)
        Root mean square errors of torque along another motion [N m].
    predicted : ndarray, shape (N, 5)
        Torques along it [N m].
    rules : int
        How many rules of plausibility its links break.
    standard_errors : ndarray, shape (b,)
        Of the base parameters of the links.

    """

    inertial: FloatArray
    validation_errors: FloatArray
    predicted: FloatArray
    rules: int
    standard_errors: FloatArray


@dataclass(frozen=True)
class Ridge:
    """
    The penalty of eq. 3.73 on torques without noise, in numbers.

    Attributes
    ----------
    penalty : float
        The smallest eigenvalue of K'K that is not zero.
    eigenvalues : int
        How many are not zero.
    outside : float
        Part of the estimate in the null space of K, over its length.
    weakest_share : float
        Part of the true value that is left along the direction that K shows least.

    """

    penalty: float
    eigenvalues: int
    outside: float
    weakest_share: float


class SimulatedYoubot:
    """A youBot with friction, along the motions of the report and along the one it proposes."""

    def __init__(self, robot: RobotModel) -> None:
        self.robot = robot
        drawn = draw_truth(robot, TRUTH_SEED)
        self.truth = replace(
            drawn, coulomb=KINETIC * printed.MEDIANS, drive_gain=robot.drives.drive_gain,
        )
        self.maker = prior_inertial_parameters(robot)
        self.rate = robot.sampling_rate
        self._rng = np.random.default_rng(TRUTH_SEED)
        self.random = random_motion(robot, SECONDS, MOTION_SEED)
        self.validation = random_motion(robot, SECONDS, VALIDATION_SEED)
        self.actuator = self.torque(self.validation)

    @cached_property
    def trajectory(self) -> Trajectory:
        """Return the motion of section 3.5.2, searched for when it is asked for."""
        return find_trajectory(self.robot)

    @cached_property
    def periodic(self) -> Motion:
        """Return the samples of it, three periods."""
        samples = round(PERIODS * self.trajectory.form.duration * self.rate)
        return self.trajectory.sample(np.arange(samples) / self.rate)

    def torque(self, motion: Motion, truth: GroundTruth | None = None) -> FloatArray:
        """Return the torques of the robot, or of another one, without noise (N, 5) [N m]."""
        return inverse_dynamics(self.robot, truth or self.truth, motion)

    def noisy_torque(self, motion: Motion) -> FloatArray:
        """Return measured torques, shape (N, 5) [N m]."""
        deviation = TORQUE_NOISE_SHARE * self.robot.limits.effort
        torque: FloatArray = self.torque(motion) + deviation * self._rng.standard_normal(
            motion.q.shape
        )
        return torque

    def differenced(self, motion: Motion) -> Motion:
        """Return what differences make of measured positions."""
        q = self._measured(motion)
        dq = central_difference(q, self.rate)
        return Motion(q, dq, central_difference(dq, self.rate))

    def in_harmonics(self, motion: Motion) -> Motion:
        """Return what the harmonics of measured positions make of them."""
        q, t = self._measured(motion), np.arange(len(motion)) / self.rate
        form = self.trajectory.form
        series = fit_fourier(t, q, np.arange(len(t)), form.duration, 5)
        return Motion(*(series.evaluate(t, order) for order in range(3)))

    def _measured(self, motion: Motion) -> FloatArray:
        q: FloatArray = motion.q + POSITION_NOISE * self._rng.standard_normal(motion.q.shape)
        return q

    def problem(
        self, motion: Motion, tau: FloatArray, parameters: StandardParameters
    ) -> IdentificationProblem:
        """Return the problem of torques along a motion."""
        reduction = reduce_to_base(self.robot, parameters)
        return known_problem(self.robot, reduction, motion, tau, self.rate)

    def identify(
        self, motion: Motion, tau: FloatArray, estimator: Estimator, friction: bool
    ) -> Identified:
        """Identify from torques along a motion and judge along another one."""
        parameters = make_standard_parameters(
            self.robot.n, parse_friction(FRICTION if friction else 'none'), friction
        )
        problem = self.problem(motion, tau, parameters)
        found = estimator.estimate(problem)
        standard = (
            np.linalg.pinv(problem.reduction.K) @ found.theta
            if found.standard is None else found.standard
        )
        predicted = standard_torque(self.robot, parameters, standard, self.validation)
        inertial = standard[: 10 * self.robot.n]
        links = problem.reduction.independent < 10 * self.robot.n
        return Identified(
            inertial, root_mean_square(self.actuator - predicted), predicted,
            len(find_implausibilities(self.robot, inertial, maker=self.maker)),
            found.standard_errors[links],
        )

    def makers_errors(self) -> FloatArray:
        """Return the errors M of the maker's bodies along the validation motion (5,) [N m]."""
        return root_mean_square(self.actuator - rigid_torque(self.robot, self.validation))

    def true_masses(self) -> FloatArray:
        """Return the masses of the simulated links, shape (5,) [kg]."""
        return true_inertial_parameters(self.robot, self.truth)[::10]

    def ways(self) -> dict[str, Identified]:
        """Identify as the report, step by step as it proposes, and as this package."""
        ridge = RidgeRegression()
        perfect = prior_truth(self.robot)
        differenced = self.differenced(self.random)
        spectral = self.in_harmonics(self.periodic)
        random_tau, periodic_tau = (
            self.noisy_torque(motion) for motion in (self.random, self.periodic)
        )
        return {
            RIGID: self.identify(
                self.random, self.torque(self.random, perfect), ridge, False
            ),
            REPORT: self.identify(
                differenced, random_tau, ridge, False
            ),
            'with friction and rotors': self.identify(differenced, random_tau, ridge, True),
            'and a D-optimal motion and harmonics': self.identify(
                spectral, periodic_tau, ridge, True
            ),
            POSSIBLE: self.identify(spectral, periodic_tau, ConsistentLeastSquares(), True),
        }

    def judge_ridge(self) -> Ridge:
        """Return what the report's penalty does to torques without noise or friction."""
        parameters = make_standard_parameters(self.robot.n, (), False)
        tau = self.torque(self.random, prior_truth(self.robot))
        problem = self.problem(self.random, tau, parameters)
        K = problem.reduction.K
        R, _ = problem.stacked(np.ones(problem.n))
        _, singular, right = np.linalg.svd(R[:, : len(K)] @ K, full_matrices=False)
        # The others are rounding.
        singular, right = singular[: len(K)], right[: len(K)]
        ridge, exact = (
            np.linalg.pinv(problem.reduction.K) @ estimator.estimate(problem).theta
            for estimator in (RidgeRegression(), OrdinaryLeastSquares())
        )
        inside = right.T @ (right @ ridge)
        return Ridge(
            float(singular[-1] ** 2), len(singular),
            float(np.linalg.norm(ridge - inside) / np.linalg.norm(ridge)),
            float(right[-1] @ ridge / (right[-1] @ exact)),
        )


def random_motion(robot: RobotModel, seconds: float, seed: int) -> Motion:
    """
    Return random poses one after the other, each reached at rest by a quintic.

    The report let MoveIt find random motions within the limits of the joints.
    """
    rng = np.random.default_rng(seed)
    limits = robot.limits
    pose = np.zeros(robot.n)
    parts: list[Motion] = []
    count = 0
    while count < round(seconds * robot.sampling_rate):
        target = rng.uniform(limits.lower, limits.upper)
        way = np.abs(target - pose)
        # A quintic from rest to rest moves at most 15/8 ways per duration, 10/sqrt(3) per its
        # square.
        duration = 1.05 * max(
            float((15.0 / 8.0 * way / limits.velocity).max()),
            float(np.sqrt(10.0 / np.sqrt(3.0) * way / limits.acceleration).max()),
        )
        samples = round(duration * robot.sampling_rate)
        s = np.arange(samples)[:, None] / samples
        duration = samples / robot.sampling_rate
        parts.append(Motion(
            pose + (target - pose) * s**3 * (10.0 - 15.0 * s + 6.0 * s**2),
            (target - pose) * 30.0 * s**2 * (1.0 - s) ** 2 / duration,
            (target - pose) * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / duration**2,
        ))
        pose, count = target, count + samples
    last = round(seconds * robot.sampling_rate)
    return Motion(*(
        np.concatenate([getattr(part, kind) for part in parts])[:last]
        for kind in ('q', 'dq', 'ddq')
    ))


def find_trajectory(robot: RobotModel) -> Trajectory:
    """Return a periodic D-optimal motion of section 3.5.2, within limits and clear of itself."""
    experiment = load_experiment(find_experiment(EXPERIMENT))
    return design_excitation(robot, experiment, seed=0, budget=Budget(EVALUATIONS))


def printed_inertial() -> FloatArray:
    """Return table 4.1 in Pinocchio's order, shape (50,)."""
    values: FloatArray = printed.ESTIMATE[list(printed.OUR_ROWS)].T.ravel()
    return values
