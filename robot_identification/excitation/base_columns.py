# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The base parameters of an experiment: which they are, their observation matrix, its gradient."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.excitation.experiment_file import Experiment
from robot_identification.model import (
    BaseReduction, link_frames, make_standard_parameters, Motion, observation_matrix,
    parse_friction, Passage, prior_inertial_parameters, reduce_to_base, RegressorGradient,
    RobotModel,
)


def experiment_reduction(robot: RobotModel, experiment: Experiment) -> BaseReduction:
    """Return the base parameters that the experiment's criterion is about."""
    parameters = make_standard_parameters(
        robot.n, parse_friction(experiment.friction), experiment.rotor_inertia
    )
    frames = None if experiment.frames == 'joint' else link_frames(robot, experiment.frames)
    return reduce_to_base(robot, parameters, frames=frames, preference=experiment.preference)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Information of earlier recordings, for a motion that adds to it."""

    # (r, b): square root of the information about the base parameters, in their order.
    rows: FloatArray
    # (n,): what rows of the new motion are multiplied with, by joint: the inverse of the noise
    # [1/(N m)], times the square root of the recorded samples for each sample of the criterion.
    weights: FloatArray
    # (b,): errors of the base parameters that are as bad as each other, SI units: the criterion is
    # that of parameters counted in these, so that sums of variances mean something.
    allowed: FloatArray


class BaseColumns:
    """The base observation matrix of an experiment's motions, with its gradients."""

    def __init__(self, robot: RobotModel, experiment: Experiment) -> None:
        self.robot = robot.with_gravity(experiment.gravity)
        self.friction = experiment.friction
        self.reduction = experiment_reduction(self.robot, experiment)
        # Of parameters in the frames of the experiment into those of the joints.
        self.change = np.eye(self.reduction.parameters.size)
        if experiment.frames != 'joint':
            inertial = slice(0, 10 * robot.n)
            self.change[inertial, inertial] = link_frames(
                self.robot, experiment.frames
            ).to_joint_frames()
        self._base_change = self.change[:, self.reduction.independent]

    def softened(self, widths: FloatArray) -> BaseColumns:
        """Return the same columns of friction that reverses within `widths` (n,) [rad/s]."""
        parameters, soft = self.reduction.parameters, copy(self)
        terms = tuple(
            replace(term, law=term.law.softened(float(widths[term.joint])))
            for term in parameters.friction
        )
        soft.__dict__.pop('_gradient', None)
        soft.reduction = replace(self.reduction, parameters=replace(parameters, friction=terms))
        return soft

    @cached_property
    def _gradient(self) -> RegressorGradient:
        # Made where it is needed: motions can be judged by laws that none is designed for.
        return RegressorGradient(self.robot, self.reduction.parameters)

    def matrix(self, motion: Motion) -> FloatArray:
        """Return the base observation matrix of N samples, shape (N n, b)."""
        W = observation_matrix(self.robot, self.reduction.parameters, motion)
        return W @ self._base_change

    def pass_forward(self, motion: Motion) -> Passage:
        """Return what gradients need; UsageError if friction depends on more than the velocity."""
        return self._gradient.pass_forward(motion)

    def gradient(
        self, passage: Passage, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the gradient of ``sum(weights * W)`` by q, dq and ddq, shapes (N, n)."""
        return self._gradient.gradient(passage, weights @ self._base_change.T)

    def prior(self) -> FloatArray:
        """Return the base parameters by the description, NaN where it says nothing, (b,)."""
        parameters, n = self.reduction.parameters, self.robot.n
        theta = np.full(parameters.size, np.nan)
        inertial = slice(0, 10 * n)
        theta[inertial] = np.linalg.solve(
            self.change[inertial, inertial], prior_inertial_parameters(self.robot)
        )
        if parameters.reflected_inertia:
            theta[parameters.reflected_inertia_slice] = self.robot.drives.reflected_inertia
        taken = self.reduction.significant
        known = np.where(taken & np.isfinite(theta), self.reduction.K * np.nan_to_num(theta), 0.0)
        unknown = np.any(taken & ~np.isfinite(theta), axis=1)
        return np.where(unknown, np.nan, known.sum(axis=1))
