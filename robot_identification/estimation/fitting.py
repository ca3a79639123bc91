# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Fit a model to datasets, and find out on held-out blocks how good such a fit is.

Every choice that is made from data is made here, inside the training samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.estimation import ESTIMATORS
from robot_identification.estimation.identifiability import restrict_to_identifiable
from robot_identification.estimation.problem import build_problem
from robot_identification.estimation.problem import Estimate
from robot_identification.estimation.problem import IdentificationProblem
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction.law import FrictionLaw
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.regressor import standard_torque
from robot_identification.model.robot_model import RobotModel
from robot_identification.processing.dataset import BoolArray
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.dataset import FloatArray
from robot_identification.validation.folds import blocked_folds
from robot_identification.validation.metrics import BagErrors
from robot_identification.validation.validation import errors_on


@dataclass(frozen=True, eq=False)
class Fit:
    """
    An estimate and the problem it solves.

    Attributes
    ----------
    problem : IdentificationProblem
        Without what the data do not determine.
    estimate : Estimate
        Its solution.
    lost : tuple of str
        Base parameters that the data do not determine.
    idle_joints : tuple of str
        Joints that hardly moved.

    """

    problem: IdentificationProblem
    estimate: Estimate
    lost: tuple[str, ...]
    idle_joints: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Trial:
    """
    Friction laws that were tried on held-out blocks.

    Attributes
    ----------
    friction : tuple of FrictionLaw
        The laws, the same on every joint.
    reduction : BaseReduction
        The base parameters they lead to.
    errors : tuple of BagErrors
        Errors on the held-out blocks, by bag.

    """

    friction: tuple[FrictionLaw, ...]
    reduction: BaseReduction
    errors: tuple[BagErrors, ...]

    @property
    def score(self) -> float:
        """Mean NRMSE over joints and bags; smaller is better."""
        return float(np.mean([errors.nrmse_mean for errors in self.errors]))

    def describe(self) -> str:
        """Return the laws and their shape constants in words."""
        return ', '.join(
            law.name + ''.join(f' {key} {value:g}' for key, value in law.constants().items())
            for law in self.friction
        )


def fit_parameters(
    robot: RobotModel,
    reduction: BaseReduction,
    idle: Sequence[int],
    datasets: Sequence[Dataset],
    rows: Sequence[BoolArray],
    estimator: str,
) -> Fit:
    """
    Estimate the base parameters from some samples of some datasets.

    Parameters
    ----------
    robot : RobotModel
        The arm, with its drive gains where effort is in ampere.
    reduction : BaseReduction
        The base parameters that its structure allows.
    idle : sequence of int
        Joints whose friction and reflected inertia the data cannot show.
    datasets : sequence of Dataset
        Training data.
    rows : sequence of ndarray of bool, shape (N,)
        The samples to take of each.
    estimator : str
        A name in ESTIMATORS.

    """
    problem = build_problem(
        robot,
        reduction,
        [
            (dataset, dataset.effort * _torque_per_effort(robot, dataset), chosen)
            for dataset, chosen in zip(datasets, rows, strict=True)
        ],
    )
    left = restrict_to_identifiable(robot, problem, idle)
    estimate = ESTIMATORS[estimator]().estimate(left.problem)
    return Fit(left.problem, estimate, left.lost, left.idle_joints)


def cross_validate(
    robot: RobotModel,
    friction: tuple[FrictionLaw, ...],
    idle: Sequence[int],
    datasets: Sequence[Dataset],
    estimator: str,
) -> Trial:
    """
    Try friction laws on held-out blocks, every step of the fit repeated for each block.

    Parameters
    ----------
    robot : RobotModel
        The arm, with its drive gains where effort is in ampere.
    friction : tuple of FrictionLaw
        The laws to try.
    idle, datasets, estimator
        As in `fit_parameters`.

    """
    parameters = make_standard_parameters(robot.n, friction, reflected_inertia=True)
    reduction = reduce_to_base(robot, parameters)
    predictions = [np.full(dataset.effort.shape, np.nan) for dataset in datasets]
    folds = [list(blocked_folds(dataset.stamps, dataset.fitted)) for dataset in datasets]
    for fold in zip(*folds, strict=True):
        found = fit_parameters(
            robot, reduction, idle, datasets, [rows for rows, _ in fold], estimator
        )
        theta = np.zeros(parameters.size)
        theta[found.problem.reduction.independent] = found.estimate.theta
        for dataset, prediction, (_, held_out) in zip(datasets, predictions, fold, strict=True):
            torque = standard_torque(robot, parameters, theta, dataset.motion)
            prediction[held_out] = (torque / _torque_per_effort(robot, dataset))[held_out]
    errors = tuple(
        errors_on(dataset, prediction, dataset.fitted)
        for dataset, prediction in zip(datasets, predictions, strict=True)
    )
    return Trial(friction, reduction, errors)


def score_prior(robot: RobotModel, datasets: Sequence[Dataset]) -> tuple[BagErrors, ...]:
    """
    Return the errors of the URDF's inertial parameters, by bag.

    A URDF has no friction: sign, velocity, acceleration and offset are fitted for each joint to
    the very samples that are scored, which flatters it.
    """
    parameters = make_standard_parameters(robot.n, (), reflected_inertia=False)
    results = []
    for dataset in datasets:
        scale = _torque_per_effort(robot, dataset)
        rigid = standard_torque(
            robot, parameters, prior_inertial_parameters(robot), dataset.motion
        )
        rest = dataset.effort * scale - rigid
        explained = np.zeros_like(rest)
        for joint in range(robot.n):
            dq, ddq = dataset.motion.dq[:, joint], dataset.motion.ddq[:, joint]
            columns = np.column_stack([np.sign(dq), dq, ddq, np.ones(len(dataset))])
            coefficients = np.linalg.lstsq(
                columns[dataset.fitted], rest[dataset.fitted, joint], rcond=None
            )[0]
            explained[:, joint] = columns @ coefficients
        results.append(errors_on(dataset, (rigid + explained) / scale, dataset.fitted))
    return tuple(results)


def _torque_per_effort(robot: RobotModel, dataset: Dataset) -> FloatArray:
    return robot.drives.drive_gain if dataset.effort_unit == 'A' else np.ones(robot.n)
