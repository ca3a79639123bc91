# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Models A to D of G. Porcelli's thesis: what its identification makes of four simulated robots.

Its robot was one of the Robotics Toolbox; here MuJoCo is the robot, friction is the thesis' own
table, and noise is that of its equations 4.8 and 4.9.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from reproductions import porcelli_2020_data as thesis
from reproductions.joint_groups import JointGroupLeastSquares
from reproductions.known_motion import (
    known_problem, map_base_parameters, root_mean_square, torque_of_base,
)
from reproductions.porcelli_2020_corrections import conservative_bounds, corrected
from reproductions.porcelli_2020_motion import recorded_instants, series
from reproductions.porcelli_2020_structure import dh_parameters, noise_deviation
from robot_identification.arrays import FloatArray
from robot_identification.estimation.estimate import Estimator
from robot_identification.estimation.estimators.least_squares import (
    OrdinaryLeastSquares, WeightedLeastSquares,
)
from robot_identification.excitation.fourier_table import nearest_at_rest
from robot_identification.model.base_parameters import BaseReduction, reduce_to_base
from robot_identification.model.base_structure import PUBLISHED_ORDERS, published_rows
from robot_identification.model.frames import link_frames
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import Motion
from robot_identification.model.robot_model import RobotModel
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import rigid_inverse_dynamics

# Whether the robot has friction, and whether currents and torque constants are noisy.
MODELS = {'A': (False, False), 'B': (True, False), 'C': (False, True), 'D': (True, True)}
# One force for each direction, as in table 2.5.
FITTED_FRICTION = 'coulomb_sign,offset'
NORMAL_95 = 1.959963984540054
REPEATS = 20


@dataclass(frozen=True)
class Fit:
    """
    Identification of a group with one of the models.

    Attributes
    ----------
    names : tuple of str
        Leading parameters in the thesis' order, those of friction last.
    true, found, deviation : ndarray, shape (b,)
        Base parameters in the thesis' frames and order, and standard errors; SI units.
    reference, predicted : ndarray, shape (N, n)
        The torques that were identified from, and those of eq. 4.6 [N m].
    errors, validation_errors : ndarray, shape (n,)
        Root mean square of their difference, and the same along another motion, against torques
        without noise [N m].

    """

    names: tuple[str, ...]
    true: FloatArray
    found: FloatArray
    deviation: FloatArray
    reference: FloatArray
    predicted: FloatArray
    errors: FloatArray
    validation_errors: FloatArray

    @property
    def inside(self) -> int:
        """Return how many of the thesis' parameters are within their intervals of 95 %."""
        rigid = slice(0, thesis.GROUP_BASE)
        off = np.abs(self.found - self.true)[rigid]
        return int(np.sum(off <= NORMAL_95 * self.deviation[rigid]))


class SimulatedGroup:
    """
    A group of joints as a robot of its own, along the thesis' motion and another one.

    Parameters
    ----------
    robot : RobotModel
        Of n joints.
    joints : slice
        Which of the six they are. The thesis' motion goes about the positions zero, which its
        costs show.
    rubbing : slice, optional
        Joints of table 2.5 whose friction they have, by default their own.

    """

    def __init__(self, robot: RobotModel, joints: slice, rubbing: slice | None = None) -> None:
        self.robot, self.joints, self.rubbing = robot, joints, rubbing or joints
        a, b = (values[joints] for values in corrected())
        self.motion = series(a, b, recorded_instants(), np.zeros(robot.n))
        self.other = another_motion(robot.n, seed=1)
        self.torque, self.other_torque = (
            rigid_inverse_dynamics(robot, prior_truth(robot), one)
            for one in (self.motion, self.other)
        )

    def measured(
        self, friction: bool, noise: bool, seed: int, *, one_draw: bool = False
    ) -> FloatArray:
        """Return the torques of a model along the motion, shape (N, n) [N m]."""
        tau = self.torque + friction * table_friction(self.motion.dq, self.rubbing)
        return with_noise(tau, self.joints, seed, one_draw=one_draw) if noise else tau

    def fit(
        self, model: str, laws: str = 'none', seed: int = 0, *, one_draw: bool = False
    ) -> Fit:
        """
        Identify one of the models.

        Parameters
        ----------
        model : str
            Key of MODELS.
        laws : str
            Friction laws beside the thesis' rigid bodies.
        seed : int
            Of the noise.
        one_draw : bool
            Whether the noise of the torque constants is drawn once; see `with_noise`.

        """
        friction, noise = MODELS[model]
        tau = self.measured(friction, noise, seed, one_draw=one_draw)
        robot = self.robot
        parameters = make_standard_parameters(robot.n, parse_friction(laws), False)
        plain = reduce_to_base(robot, parameters)
        stated = link_frames(robot, 'dh')
        shown = reduce_to_base(robot, parameters, frames=stated, preference='mass_first')
        to_stated: FloatArray = np.asarray(np.linalg.inv(stated.to_joint_frames()), dtype=float)
        change = map_base_parameters(plain, shown, to_stated)
        problem = known_problem(robot, plain, self.motion, tau, thesis.SAMPLING_RATE)
        estimate = OrdinaryLeastSquares().estimate(problem)
        order = published_rows(shown, PUBLISHED_ORDERS['porcelli'])
        covariance = change @ estimate.covariance @ change.T
        predicted = torque_of_base(robot, plain, estimate.theta, self.motion)
        elsewhere = torque_of_base(robot, plain, estimate.theta, self.other)
        truth = self.other_torque + friction * table_friction(self.other.dq, self.rubbing)
        return Fit(
            tuple(shown.names[row] for row in order),
            self._true(shown, friction)[order], (change @ estimate.theta)[order],
            np.sqrt(np.diag(covariance))[order], tau, predicted,
            root_mean_square(tau - predicted), root_mean_square(truth - elsewhere),
        )

    def _true(self, shown: BaseReduction, friction: bool) -> FloatArray:
        theta = np.zeros(shown.parameters.size)
        theta[: 10 * self.robot.n] = dh_parameters(self.robot)
        up = thesis.GEAR_RATIO * thesis.FRICTION_UP[self.rubbing]
        down = thesis.GEAR_RATIO * thesis.FRICTION_DOWN[self.rubbing]
        drives = np.concatenate([0.5 * (up + down), 0.5 * (up - down)]) * friction
        theta[10 * self.robot.n:] = drives[: len(theta) - 10 * self.robot.n]
        values: FloatArray = shown.K @ theta
        return values


def table_friction(dq: FloatArray, joints: slice) -> FloatArray:
    """
    Return the friction of table 2.5 on the joint's side, shape (N, n) [N m].

    At rest it is the mean of both directions.
    """
    up, down = thesis.FRICTION_UP[joints], thesis.FRICTION_DOWN[joints]
    torque: FloatArray = thesis.GEAR_RATIO * (
        0.5 * (up + down) * np.sign(dq) + 0.5 * (up - down)
    )
    return torque


def with_noise(
    tau: FloatArray, joints: slice, seed: int, *, one_draw: bool = False
) -> FloatArray:
    """
    Return torques after eq. 4.7 to 4.9: noise on currents and on torque constants.

    Parameters
    ----------
    tau : ndarray, shape (N, n)
        Torques [N m].
    joints : slice
        Which of the six joints they are of.
    seed : int
        Of the noise.
    one_draw : bool
        Whether the constants are wrong by one number each, for all samples, which eq. 4.9 can
        mean as well.

    """
    rng = np.random.default_rng(seed)
    gain, deviation = thesis.TORQUE_CONSTANT[joints], noise_deviation()
    drawn = (1, tau.shape[1]) if one_draw else tau.shape
    current = tau / (gain * thesis.GEAR_RATIO) + deviation * rng.standard_normal(tau.shape)
    noisy: FloatArray = (
        current * (gain + deviation * rng.standard_normal(drawn)) * thesis.GEAR_RATIO
    )
    return noisy


def another_motion(n: int, seed: int) -> Motion:
    """Return a random motion within the limits of eq. 3.57 that is at rest at its ends."""
    rng = np.random.default_rng(seed)
    a, b = nearest_at_rest(*(rng.normal(size=(n, 5)) for _ in range(2)))
    _, velocity, acceleration = conservative_bounds(a, b, thesis.BASE_RATE)
    share = np.minimum(
        thesis.VELOCITY_LIMIT / velocity, thesis.ACCELERATION_LIMIT / acceleration
    )[:, None]
    return series(a * share, b * share, recorded_instants(), rng.uniform(-np.pi, np.pi, n))


def count_inside(
    group: SimulatedGroup, model: str, laws: str, repeats: int = REPEATS
) -> float:
    """Return the share of intervals of 95 % with the true value inside, over many noises."""
    inside = [group.fit(model, laws, seed).inside for seed in range(1, repeats + 1)]
    return float(np.mean(inside)) / thesis.GROUP_BASE


@dataclass(frozen=True)
class WholeArm:
    """
    The six joints at once, the wrist carried by the arm.

    Attributes
    ----------
    wrist : ndarray, shape (6,)
        Root mean square torque that the links of the wrist need at each joint [N m].
    errors, validation_errors : dict of str to ndarray, shape (6,)
        Root mean square error of ways to identify, along both motions [N m].

    """

    wrist: FloatArray
    errors: dict[str, FloatArray]
    validation_errors: dict[str, FloatArray]


WAYS: dict[str, Estimator] = {
    'two groups, wrist neglected (thesis)': JointGroupLeastSquares(
        sizes=(3, 3), neglect_distal=True, reweightings=0
    ),
    'two groups, wrist first and taken off': JointGroupLeastSquares(sizes=(3, 3)),
    'all joints at once': OrdinaryLeastSquares(),
    'all joints at once, weighted by their noise': WeightedLeastSquares(),
}


def identify_whole_arm() -> WholeArm:
    """Identify the whole arm from torques with noise, without friction, in three ways."""
    robot = load_robot('ur5_porcelli')
    arm = SimulatedGroup(robot, slice(0, thesis.JOINTS))
    tau = arm.measured(False, True, seed=0)
    reduction = reduce_to_base(robot, make_standard_parameters(robot.n, (), False))
    problem = known_problem(robot, reduction, arm.motion, tau, thesis.SAMPLING_RATE)
    errors, elsewhere = {}, {}
    for name, estimator in WAYS.items():
        theta = estimator.estimate(problem).theta
        errors[name] = root_mean_square(
            arm.torque - torque_of_base(robot, reduction, theta, arm.motion)
        )
        elsewhere[name] = root_mean_square(
            arm.other_torque - torque_of_base(robot, reduction, theta, arm.other)
        )
    light = load_robot('ur5_porcelli_bse')
    first = Motion(*(part[:, :3] for part in (arm.motion.q, arm.motion.dq, arm.motion.ddq)))
    alone = rigid_inverse_dynamics(light, prior_truth(light), first)
    carried = arm.torque.copy()
    carried[:, :3] -= alone
    return WholeArm(root_mean_square(carried), errors, elsewhere)
