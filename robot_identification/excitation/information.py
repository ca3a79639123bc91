# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The observation matrix of a motion's base parameters, and the information in it.

Information is kept as square roots: rows of a matrix whose normal matrix is the inverse
covariance. That of independent recordings is stacked, and that of a motion grows with the time it
is repeated. Nothing is squared, so that directions known well and hardly at all stand side by
side.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.excitation.experiment import Experiment
from robot_identification.model import (
    BaseReduction, link_frames, make_standard_parameters, Motion, observation_matrix,
    parse_friction, Passage, prior_inertial_parameters, reduce_to_base, RegressorGradient,
    RobotModel,
)
import scipy

# Eigenvalues of a correlation matrix next to the largest one, and columns next to the longest one,
# that rounding has made.
ROUNDING = 1.0e-13
# Scaled singular values of information, next to the largest one, below which there is none.
NO_INFORMATION = 1.0e-10
# What of a parameter lies in directions without information.
TOUCHED = 1.0e-7
# More runs of a motion than these are never made: of ten seconds they take four months.
MOST_RUNS = 1.0e6


def experiment_reduction(robot: RobotModel, experiment: Experiment) -> BaseReduction:
    """Return the base parameters that the experiment's criterion is about."""
    parameters = make_standard_parameters(
        robot.n, parse_friction(experiment.friction), experiment.rotor_inertia
    )
    frames = None if experiment.frames == 'joint' else link_frames(robot, experiment.frames)
    return reduce_to_base(robot, parameters, frames=frames, preference=experiment.preference)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Information of earlier recordings about b base parameters, for a motion that adds to it."""

    # (r, b): square root of the information about the base parameters, in their order.
    rows: FloatArray
    # (n,): what rows of the new motion are multiplied with, by joint: the inverse of the noise
    # [1/(N m)], times the square root of the recorded samples for each sample of the criterion.
    weights: FloatArray
    # (b,): errors of the base parameters that are as bad as each other, SI units: a larger one is
    # weak, see `allowed_errors`. The criterion is that of parameters counted in these, so that
    # sums of variances mean something.
    allowed: FloatArray
    theta: FloatArray  # (b,): as identified, zero where nothing is known, SI units
    noise: FloatArray  # (n,): standard deviation of the measured torques [N m]
    rate: float  # of recorded samples [Hz]
    notes: tuple[str, ...] = ()  # for the reader


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


def standard_errors(rows: FloatArray) -> FloatArray:
    """Return the standard errors (b,) of parameters by information (m, b), else infinite."""
    lengths = np.linalg.norm(rows, axis=0)
    # Of unit length, rounding would look like a column that is seen.
    seen = np.where(lengths > ROUNDING * lengths.max(initial=0.0), rows, 0.0)
    size = _sizes(seen)
    _, singular, right = np.linalg.svd(np.linalg.qr(seen * size, mode='r'))
    # Fewer rows than columns leave some parameters without a value at all.
    rank = int(np.sum(singular > NO_INFORMATION * singular.max(initial=0.0)))
    errors = np.linalg.norm(right[:rank] / singular[:rank, None], axis=0) * size
    return np.where(np.linalg.norm(right[rank:], axis=0) > TOUCHED, np.inf, errors)


def runs_until(known: FloatArray, run: FloatArray, targets: FloatArray) -> FloatArray:
    """
    Return how many runs of a motion bring the standard errors (b,) down to targets, shape (b,).

    Information is `known` before (k, b), and that of one `run` (m, b). Zero where a parameter is
    known well enough already, infinite where MOST_RUNS do not suffice.
    """
    triangle = np.linalg.qr(run, mode='r')

    def excess(exponent: float, index: int) -> float:
        errors = standard_errors(np.vstack([known, np.exp(0.5 * exponent) * triangle]))
        return float(np.log(min(errors[index], np.finfo(float).max) / targets[index]))

    most = float(np.log(MOST_RUNS))
    before = standard_errors(known)
    last = standard_errors(np.vstack([known, np.sqrt(MOST_RUNS) * triangle]))
    runs = np.where(before <= targets, 0.0, np.inf)
    for index in np.flatnonzero((before > targets) & (last < targets)).tolist():
        # Before the first bracket a run has shown hardly anything.
        low = -1.0
        while excess(low, index) < 0.0:
            low *= 2.0
        runs[index] = np.exp(scipy.optimize.brentq(excess, low, most, (index,), xtol=1e-9))
    return runs


def information_root(covariance: FloatArray) -> tuple[FloatArray, int]:
    """
    Return a square root of the inverse of a covariance (b, b), and the number of raised values.

    The correlation matrix is decomposed, which units do not change. Its smallest eigenvalues
    belong to what is known best; those that are rounding are raised to where rounding ends, so
    that a singular covariance claims no more than numbers can hold. A matrix that is no
    covariance, or has a variance of zero, raises a `DescriptionError`.
    """
    variance = np.diag(covariance)
    if not np.all(np.isfinite(covariance)) or not np.all(variance > 0.0):
        raise DescriptionError(
            'a variance in the covariance is not positive: a model without errors leaves nothing '
            'to shrink; identify it from a recording with noise'
        )
    size = np.sqrt(variance)
    scaled = covariance / size / size[:, None]
    values, vectors = np.linalg.eigh(0.5 * (scaled + scaled.T))
    if values[0] < -1.0e-8 * values[-1]:
        raise DescriptionError(
            f'the covariance is none: its correlation matrix has the eigenvalue {values[0]:.2e}, '
            'none may be negative'
        )
    floor = ROUNDING * values[-1]
    raised = np.maximum(values, floor)
    root: FloatArray = (vectors / np.sqrt(raised)).T / size
    return root, int(np.sum(values < floor))


def leave_open(rows: FloatArray, directions: FloatArray) -> FloatArray:
    """
    Return the rows of information (k, b) without that along some directions.

    `directions` (k, m) are changes of the rows' right-hand sides. Rows and result are square roots
    of information.
    """
    if directions.shape[1] == 0:
        return rows
    left, size, _ = np.linalg.svd(directions * _sizes(directions), full_matrices=True)
    rank = int(np.sum(size > NO_INFORMATION * size[0]))
    rest: FloatArray = left[:, rank:].T @ rows
    kept = np.linalg.norm(rest, axis=0) > NO_INFORMATION * np.linalg.norm(rows, axis=0)
    return np.where(kept, rest, 0.0)


def _sizes(rows: FloatArray) -> FloatArray:
    """Return what brings columns to unit length, shape (b,); one where a column is zero."""
    lengths = np.linalg.norm(rows, axis=0)
    sizes: FloatArray = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    return sizes
