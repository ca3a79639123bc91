# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Band of a prediction: the standard deviation of a predicted effort, motion by motion.

It begins with the errors on held-out blocks, in motion and at rest, which the model file states.
The part of them that the errors of the parameters made there is replaced by what these make in
this motion: by the covariance of the parameters, with their degrees of freedom, and by torque that
no parameter describes and that they have absorbed (`Discrepancy`). What the file states is found
by `estimation.band`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from robot_identification.arrays import BoolArray, FloatArray
from robot_identification.errors import DataError
from robot_identification.model import (
    BAND as BAND, block_slices, Discrepancy, discrepancy_from_content, evaluation_order,
    IdentifiedModel, inertial_regressor, JointFunction, Motion, SampleBasis,
)
from robot_identification.processing import MOVING_SPEED
import scipy

# More degrees of freedom than this are as good as infinitely many.
MOST_FREEDOM = 1.0e6
# Of the variance of held-out errors, what is kept at least: what the errors of the parameters make
# of it is known roughly. Chosen; with 0.5 the bands of simulated arms hold up to 0.6 % less.
LEAST_SHARE = 0.6


def freedom_of_sums(M: FloatArray, variances: FloatArray, freedom: FloatArray) -> FloatArray:
    """
    Return the degrees of freedom (..., m) of the sums ``M @ theta`` of b parameters.

    By the rule of Satterthwaite (Biometrics Bulletin 2(6), 1946). `M` has the shape (..., m, b),
    the parameters' `variances` and their degrees of `freedom` the shape (..., b).
    """
    parts = M**2 * variances[..., None, :]
    divisor = (parts**2 @ (1.0 / freedom)[..., None])[..., 0]
    total = parts.sum(axis=-1) ** 2
    # A sum without variance is known as well as can be.
    found: FloatArray = np.maximum(total, 1.0e-300) / np.maximum(divisor, 1.0e-300 / MOST_FREEDOM)
    return np.minimum(np.maximum(found, 1.0), MOST_FREEDOM)


def normal_deviation(freedom: FloatArray) -> FloatArray:
    """Return the deviation of a normal distribution with the 95 % of Student's distribution."""
    deviation: FloatArray = scipy.special.stdtrit(freedom, 0.975) / BAND
    return deviation


class ParameterError:
    """
    Error of predicted torques by the covariance of a model's parameters, laid out once.

    Friction has no memory here: stop operators are at the end of their travel where a joint moves,
    as they are 0.2 rad after a reversal at the latest, and relaxed where it rests.

    Parameters
    ----------
    model : IdentifiedModel
        With b base parameters.
    freedom : array_like, shape (b,), optional
        Degrees of freedom of their standard errors: an error of the torque with few of them
        (Satterthwaite 1946) counts as that of a normal distribution with the same interval of
        95 %. By default they are many.
    discrepancy : Discrepancy, optional
        Torque that the parameters have absorbed a part of; by default there is none.

    """

    def __init__(
        self, model: IdentifiedModel, freedom: ArrayLike | None = None,
        discrepancy: Discrepancy | None = None,
    ) -> None:
        self._robot, parameters = model.robot, model.parameters
        self._theta = model.theta_lifted[: 10 * model.robot.n]
        known = np.flatnonzero(np.diag(model.covariance) > 0.0)
        base = {int(model.reduction.independent[one]): int(one) for one in known}
        bodies = [column for column in base if column < 10 * model.robot.n]
        first = parameters.reflected_inertia_slice.start
        rotors = [column for column in base if column >= first]
        terms = [
            (term.joint, basis, column)
            for term, columns in parameters.friction_columns
            for basis, column in zip(
                term.law.basis, range(columns.start, columns.stop), strict=True
            ) if column in base
        ]
        self._discrepancy = discrepancy
        missing: tuple[tuple[int, int], ...] = ()
        if discrepancy is not None:
            missing = tuple(enumerate(discrepancy.joint_of_coefficient, len(model.covariance)))
        # A joint has its own friction, rotor and discrepancy in addition to all bodies; where it
        # has fewer columns than another, the rest are zero.
        acting = [
            *((joint, base[column]) for joint, _, column in terms),
            *((column - first, base[column]) for column in rotors),
            *((joint, row) for row, joint in missing),
        ]
        own = [[base[column] for column in bodies] for _ in range(model.robot.n)]
        places = []
        for joint, row in acting:
            places.append(len(own[joint]))
            own[joint].append(row)
        self._lay_out(model, own, freedom)
        self._joints = np.array([joint for joint, _, _ in terms], dtype=int)
        self._bodies = np.array(bodies, dtype=int)
        self._rotors = np.array(rotors, dtype=int) - first
        self._acting = np.array([joint for joint, _ in acting], dtype=int)
        self._places = np.array(places, dtype=int)
        functions = [
            JointFunction(basis.kind, basis.constants, joint) for joint, basis, _ in terms
        ]
        ordered = sorted(set(functions), key=evaluation_order)
        self._basis = SampleBasis(model.robot.n, ordered)
        self._of_term = np.array([ordered.index(function) for function in functions], dtype=int)
        self._data = model.robot.pinocchio.createData()
        self._loaded = np.array([basis.per_load for _, basis, _ in terms], dtype=bool)
        self._any_loaded = bool(self._loaded.any())
        self._heated = np.array([basis.reference is not None for _, basis, _ in terms], dtype=bool)
        self._reference = np.array([
            basis.reference for _, basis, _ in terms if basis.reference is not None
        ])

    def _lay_out(
        self, model: IdentifiedModel, own: list[list[int]], freedom: ArrayLike | None
    ) -> None:
        """Lay out roots of covariances of what acts on each joint, parameters first."""
        n, self._size = model.robot.n, max(map(len, own))
        b = len(model.covariance)
        of_parameters = [[row for row in rows if row < b] for rows in own]
        most = max(map(len, of_parameters))
        self._roots, self._variances = np.zeros((n, most, most)), np.zeros((n, most))
        self._freedom = None if freedom is None else np.ones((n, most))
        for joint, rows in enumerate(of_parameters):
            covariance, count = model.covariance[np.ix_(rows, rows)], len(rows)
            self._roots[joint, :count, :count] = _root(covariance)
            self._variances[joint, :count] = np.diag(covariance)
            if self._freedom is not None:
                self._freedom[joint, :count] = np.maximum(np.asarray(freedom)[rows], 1.0)
        if self._discrepancy is not None:
            errors = self._discrepancy.errors(_root(self._discrepancy.second_moments))
            self._discrepancy_roots = np.zeros((n, self._size, errors.shape[1]))
            for root, rows in zip(self._discrepancy_roots, own, strict=True):
                root[: len(rows)] = errors[rows]

    def variance(self, motion: Motion) -> FloatArray:
        """
        Return the variance along a motion.

        Parameters
        ----------
        motion : Motion
            N samples.

        Returns
        -------
        ndarray, shape (N, n)
            Of the joint torque [(N m)^2].

        Raises
        ------
        DataError
            If friction depends on temperatures and there are none.

        """
        if len(motion) == 1:
            return self._variance(motion)
        variance = np.empty(motion.q.shape)
        for rows in block_slices(len(motion)):
            variance[rows] = self._variance(motion.part(rows))
        return variance

    def _variance(self, motion: Motion) -> FloatArray:
        N, n = motion.q.shape
        bodies = inertial_regressor(self._robot, motion, data=self._data).reshape(N, n, 10 * n)
        W = np.zeros((n, N, self._size))
        W[:, :, : len(self._bodies)] = bodies[:, :, self._bodies].swapaxes(0, 1)
        rigid = bodies @ self._theta
        W[self._acting, :, self._places] = np.concatenate([
            self._friction(motion, rigid), motion.drive_side.ddq.T[self._rotors],
            *([] if self._discrepancy is None else [self._discrepancy.columns(motion.q, rigid)]),
        ])
        of_parameters = W[:, :, : self._roots.shape[1]]
        variance = _squares(of_parameters @ self._roots)
        if self._freedom is not None:
            freedom = freedom_of_sums(of_parameters, self._variances, self._freedom)
            variance *= normal_deviation(freedom.T) ** 2
        if self._discrepancy is not None:
            variance += _squares(W @ self._discrepancy_roots)
        return variance

    def _friction(self, motion: Motion, rigid: FloatArray) -> FloatArray:
        """Return what each friction coefficient multiplies, (f, N)."""
        dq = motion.drive_side.dq
        joints, radii = self._basis.stops
        ways = np.where(np.abs(dq) > MOVING_SPEED, np.sign(dq), 0.0)
        friction = self._basis.at(dq, ways[:, joints] * radii).take(self._of_term, axis=0)
        if self._any_loaded:
            friction[self._loaded] *= np.abs(rigid).T[self._joints[self._loaded]]
        if self._reference.size:
            if motion.temperature is None:
                raise DataError(
                    f'friction of {self._robot.name} depends on joint temperatures, which are not '
                    'known: give them, or choose laws without temperature'
                )
            temperature = motion.temperature.T[self._joints[self._heated]]
            friction[self._heated] *= temperature - self._reference[:, None]
        return friction


def _root(covariance: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(covariance)
    root: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return root


def _squares(errors: FloatArray) -> FloatArray:
    """Return the sums of squares (N, n) of independent errors (n, N, k)."""
    squares: FloatArray = np.einsum('jik,jik->ij', errors, errors)
    return squares


class PredictionDeviation:
    """
    Standard deviation of the predicted effort of a model.

    It is that of the errors on held-out blocks, of which what the errors of the parameters make is
    replaced by what they make at this pose, velocity and acceleration.

    Parameters
    ----------
    model : IdentifiedModel
        It must state its deviation; see `make_prediction_deviation`.
    corrected : ndarray of bool, shape (n,)
        Joints whose prediction has all their corrections.
    live : bool
        Whether the prediction has causal kinematics.

    """

    def __init__(self, model: IdentifiedModel, corrected: BoolArray, *, live: bool) -> None:
        self._moving, self._resting = np.where(corrected, *(
            np.array(model.quality[name], dtype=float) for name in _names(live)
        ))
        self._squared_scale = model.effort_per_torque**2
        held_out = model.quality.get('parameter_deviation')
        self._parameters = None
        if held_out is not None:
            self._held_out = np.asarray(held_out, dtype=float) ** 2
            discrepancy = model.quality.get('discrepancy')
            self._parameters = ParameterError(
                model, model.quality.get('degrees_of_freedom'),
                None if discrepancy is None else discrepancy_from_content(
                    discrepancy, model.robot.joint_names, len(model.theta_base)
                ),
            )

    def __call__(self, motion: Motion) -> FloatArray:
        """Return the standard deviation along N samples, in the effort's unit, shape (N, n)."""
        found: FloatArray = np.where(np.abs(motion.dq) > MOVING_SPEED, self._moving, self._resting)
        if self._parameters is None:
            return found
        variance = found**2 - self._held_out
        variance += self._parameters.variance(motion) * self._squared_scale
        deviation: FloatArray = np.sqrt(np.maximum(variance, LEAST_SHARE * found**2))
        return deviation


def make_prediction_deviation(
    model: IdentifiedModel, corrected: BoolArray, *, live: bool = False
) -> PredictionDeviation | None:
    """Return the `PredictionDeviation` of a model, None if it does not state one."""
    if any(model.quality.get(name) is None for name in _names(live)):
        return None
    return PredictionDeviation(model, corrected, live=live)


def _names(live: bool) -> tuple[str, str]:
    """Return the figures of a prediction with corrections and of one without."""
    kind = 'live_deviation' if live else 'prediction_deviation'
    return kind, f'uncorrected_{kind}'
