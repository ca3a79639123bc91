# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The simulated UR3 and UR5 of the reproduction of Raviola et al. 2021, and what they record.

The paper prints how friction changes and not what it is. Viscous friction here is what its tables
4 and 6 imply; rates, limits and torque constants are the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
import tempfile

import numpy as np
from reproductions.raviola_2021_printed import (
    COLD, FASTEST, LARGEST_TORQUE_CHANGE, VISCOUS_CHANGE, WARM,
)
from robot_identification.arrays import FloatArray
from robot_identification.estimation.estimate import Estimate, Estimator
from robot_identification.estimation.estimators.least_squares import OrdinaryLeastSquares
from robot_identification.estimation.judgement import Identification
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.estimation.recipe import Recipe
from robot_identification.estimation.solving import need_observations, solve_weighted
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.friction import CoulombFriction, ViscousFriction
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import (
    inertial_regressor, Motion, prior_inertial_parameters,
)
from robot_identification.model.robot_model import RobotModel
from robot_identification.pipeline import identify
from robot_identification.processing.loading import load_for_model
from robot_identification.recording.simulated_run import simulate, write_simulated_bag
from robot_identification.simulation import SimulatedRun
from robot_identification.simulation.ground_truth import GroundTruth, with_static_friction
from robot_identification.simulation.mujoco_robot import Sensors

# Coulomb friction [N m]: of the UR5 what Porcelli 2020 measured on one at the same university, of
# the UR3's other joints the same share of the largest torque, 6 %; its elbow is a UR5's wrist.
COULOMB = {
    'ur3': (3.36, 3.36, 1.82, 0.72, 0.72, 0.72), 'ur5': (7.68, 8.38, 7.88, 1.41, 2.02, 2.02),
}
# Rotor inertias on the joint's side [kg m^2]: joints of size 1 as Porcelli 2020 prints them, the
# others the same share of the largest torque.
REFLECTED_INERTIA = {
    'ur3': (0.42, 0.42, 0.211, 0.09, 0.09, 0.09), 'ur5': (1.13, 1.13, 1.13, 0.211, 0.211, 0.211),
}
# Of these, in the trials of negative rotor inertias; small ones are those of our reproduction of
# Tika et al., of the same robot.
ROTOR_SHARES = {'small': 0.05, 'large': 1.0}
# How far bodies are from what the manufacturer says: mass, and centre of mass [m].
MASS_ERROR, CENTRE_ERROR = 0.05, 0.005
BODIES_SEED = 2021


@dataclass(frozen=True)
class LimitWeightedLeastSquares(Estimator):
    """
    Weighted least squares of equation 10: rows over the torque limit of their joint.

    Rows are scaled: the 139 s that the authors need are those of a dense weight matrix. The gear
    ratio in their weights is that of all joints and changes nothing.
    """

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate with one over the torque limits as weights; see `Estimator.estimate`."""
        robot = need_observations(problem, 'limit_weighted').robot
        return solve_weighted(problem, 1.0 / robot.limits.effort)


def method_of(estimator: Estimator) -> IdentifyOptions:
    """
    Return the paper's method with an estimator.

    The printed width of the smooth sign is no more than the noise of a measured velocity at rest.
    The filter of all signals is not printed: it is that of this package.
    """
    smoothing = KinematicFilter()
    return IdentifyOptions(
        estimator=estimator, friction=(CoulombFriction(width=0.001), ViscousFriction()),
        recipe=Recipe(kinematic_filter=smoothing, effort_filter=smoothing),
    )


LS = method_of(OrdinaryLeastSquares())
WLS = method_of(LimitWeightedLeastSquares())


@dataclass(frozen=True, eq=False)
class Score:
    """
    Torques of a validation recording.

    Attributes
    ----------
    times : ndarray, shape (N,)
        Of the samples [s].
    motion : Motion
        Filtered as the model wants it.
    measured : ndarray, shape (N, n)
        Motor current times drive gain [N m].

    """

    times: FloatArray
    motion: Motion
    measured: FloatArray


def implied_viscous(robot: str) -> FloatArray:
    """
    Return the viscous friction that tables 4 and 6 imply at the largest velocity [N m s/rad].

    The largest change of torque is the change of viscous friction times the largest velocity,
    which the paper bounds by pi rad/s: a joint that was slower has more friction.
    """
    change = np.abs(VISCOUS_CHANGE[robot]) / 100.0
    viscous: FloatArray = np.array(LARGEST_TORQUE_CHANGE[robot]) / (change * FASTEST)
    return viscous


def viscous_at(robot: str, share: float) -> FloatArray:
    """Return true viscous friction a share of the way from the cold to the warm arm."""
    viscous: FloatArray = implied_viscous(robot) * (
        1.0 + share * np.array(VISCOUS_CHANGE[robot]) / 100.0
    )
    return viscous


def temperatures_at(share: float) -> FloatArray:
    """Return joint temperatures a share of the way from the paper's cold to its warm arm."""
    temperatures: FloatArray = np.array(COLD) + share * (np.array(WARM) - np.array(COLD))
    return temperatures


def make_truth(
    robot: RobotModel, share: float = 0.0, rotor_share: float = 1.0
) -> GroundTruth:
    """
    Return the hidden truth of one of the arms, as warm as `share` says, with such rotors.

    Its joints stick, have Stribeck friction and more friction under load, which the friction law
    of the paper does not know: measured torques differ from any model of it, as they do there.
    """
    rng = np.random.default_rng(BODIES_SEED)
    n = robot.n
    return with_static_friction(GroundTruth(
        mass_factor=rng.uniform(1.0 - MASS_ERROR, 1.0 + MASS_ERROR, n),
        centre_shift=rng.uniform(-CENTRE_ERROR, CENTRE_ERROR, (n, 3)),
        drive_gain=robot.drives.drive_gain,
        coulomb=np.array(COULOMB[robot.name]),
        viscous=viscous_at(robot.name, share),
        reflected_inertia=rotor_share * np.array(REFLECTED_INERTIA[robot.name]),
    ))


def record(
    robot: RobotModel, trajectory: Trajectory, *, share: float = 0.0, rotor_share: float = 1.0,
    seed: int,
) -> SimulatedRun:
    """Return a recording of a simulated arm with its joint temperatures."""
    run = simulate(
        robot, trajectory, make_truth(robot, share, rotor_share), Sensors(), seed=seed
    )
    return replace(run, temperature=np.tile(temperatures_at(share), (len(run.stamps), 1)))


def delay_effort(run: SimulatedRun, samples: int) -> SimulatedRun:
    """Return a recording whose effort comes some samples later than its positions."""
    if not samples:
        return run
    kept = run.rows(slice(samples, None))
    q, dq, _ = kept.measured
    return replace(kept, measured=(q, dq, run.measured[2][:-samples]))


def identify_run(
    robot: RobotModel, run: SimulatedRun, method: IdentifyOptions = LS
) -> Identification:
    """Identify an arm from a recording by one of the paper's methods."""
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / 'bag'
        write_simulated_bag(bag, robot, run)
        return identify(robot, [bag], method)


def read_for(model: IdentifiedModel, run: SimulatedRun) -> Score:
    """Return a recording as a model reads it: the motion, and measured torques."""
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / 'bag'
        write_simulated_bag(bag, model.robot, run)
        dataset, _ = load_for_model(model, bag)
    rows = dataset.scored
    return Score(
        dataset.stamps[rows] - dataset.stamps[0], dataset.motion.rows(rows),
        model.robot.drives.to_torque(dataset.effort[rows]),
    )


def manufacturer_parameters(robot: RobotModel) -> FloatArray:
    """
    Return what a maker publishes: masses and centres of mass, shape (10 n,).

    Bodies are points at their centres of mass then: inertia about the joint frames is what the
    distance of these makes.
    """
    theta = np.array(prior_inertial_parameters(robot)).reshape(robot.n, 10)
    for link in theta:
        mass, moment = link[0], link[1:4]
        inertia = (moment @ moment * np.eye(3) - np.outer(moment, moment)) / mass
        link[4:] = inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    parameters: FloatArray = theta.ravel()
    return parameters


def manufacturer_torque(robot: RobotModel, motion: Motion) -> FloatArray:
    """Return the torques of the maker's bodies without friction and rotors, shape (N, n)."""
    W = inertial_regressor(robot, motion)
    torque: FloatArray = (W @ manufacturer_parameters(robot)).reshape(motion.q.shape)
    return torque


def load_arm(name: str, mounting: str = 'ground') -> RobotModel:
    """Return an arm on the ground, under a ceiling or on a wall."""
    gravity = {
        'ground': (0.0, 0.0, -9.81), 'ceiling': (0.0, 0.0, 9.81), 'wall': (0.0, -9.81, 0.0),
    }
    return load_robot(name, gravity=gravity[mounting])
