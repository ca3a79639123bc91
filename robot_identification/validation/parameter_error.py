# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Variance of predicted torques that the errors of the parameters make, motion by motion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.errors import DataError
from robot_identification.model import (
    BasisTerm, block_slices, CURVES, IdentifiedModel, inertial_regressor, Motion, STOP,
)
from robot_identification.processing import MOVING_SPEED
import scipy.special

# Half-width of a band of 95 % in standard deviations.
BAND = 1.96


class _Functions(NamedTuple):
    """Friction columns whose functions of motion are of one kind."""

    kind: str
    columns: IntArray  # among the friction columns, (k,)
    joints: IntArray  # (k,)
    constants: FloatArray  # (c, k)


class ParameterError:
    """
    Error of predicted torques by the covariance of a model's parameters, laid out once.

    Friction has no memory here: stop operators are at the end of their travel where a joint moves,
    as they are 0.2 rad after a reversal at the latest, and relaxed where it rests.

    Parameters
    ----------
    model : IdentifiedModel
        With b base parameters.
    freedom : ndarray, shape (b,), optional
        Degrees of freedom of their standard errors: one with few of them counts as that of a
        normal distribution with the same interval of 95 %. By default they are many.

    """

    def __init__(self, model: IdentifiedModel, freedom: FloatArray | None = None) -> None:
        self._robot, parameters = model.robot, model.parameters
        self._theta = model.theta_lifted[: 10 * model.robot.n]
        covariance = model.covariance
        if freedom is not None:
            wider = scipy.special.stdtrit(np.maximum(freedom, 1.0), 0.975) / BAND
            covariance = covariance * wider * wider[:, None]
        known = np.flatnonzero(np.diag(covariance) > 0.0)
        values, vectors = np.linalg.eigh(covariance[np.ix_(known, known)])
        self._root = vectors * np.sqrt(np.maximum(values, 0.0))
        place = {int(model.reduction.independent[one]): at for at, one in enumerate(known)}
        self._bodies = [column for column in place if column < 10 * model.robot.n]
        first = parameters.reflected_inertia_slice.start
        self._rotors = [column - first for column in place if column >= first]
        terms = [
            (term.joint, basis, column)
            for term, columns in parameters.friction_columns
            for basis, column in zip(
                term.law.basis, range(columns.start, columns.stop), strict=True
            ) if column in place
        ]
        self._of_bodies = [place[column] for column in self._bodies]
        self._of_rotors = [place[first + joint] for joint in self._rotors]
        self._of_friction = [place[column] for _, _, column in terms]
        self._joints = np.array([joint for joint, _, _ in terms], dtype=int)
        self._functions = _by_kind([(joint, basis) for joint, basis, _ in terms])
        self._loaded = np.array([basis.per_load for _, basis, _ in terms], dtype=bool)
        self._any_loaded = bool(self._loaded.any())
        self._heated = np.array([basis.reference is not None for _, basis, _ in terms], dtype=bool)
        self._reference = np.array([
            basis.reference for _, basis, _ in terms if basis.reference is not None
        ])

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
        W = np.zeros((N, n, len(self._root)))
        bodies = inertial_regressor(self._robot, motion).reshape(N, n, 10 * n)
        W[:, :, self._of_bodies] = bodies[:, :, self._bodies]
        W[:, self._joints, self._of_friction] = self._friction(motion, bodies)
        W[:, self._rotors, self._of_rotors] = motion.drive_side.ddq[:, self._rotors]
        spread = W.reshape(N * n, -1) @ self._root
        variance: FloatArray = np.einsum('ij,ij->i', spread, spread).reshape(N, n)
        return variance

    def _friction(self, motion: Motion, bodies: FloatArray) -> FloatArray:
        """Return what each friction coefficient multiplies, (N, f)."""
        dq = motion.drive_side.dq
        friction = np.empty((len(motion), len(self._joints)))
        for kind, columns, joints, constants in self._functions:
            of_joint = dq[:, joints]
            friction[:, columns] = (
                np.where(np.abs(of_joint) > MOVING_SPEED, np.sign(of_joint), 0.0)
                if kind == STOP else CURVES[kind](of_joint, *constants)
            )
        if self._any_loaded:
            load = np.abs(bodies @ self._theta)
            friction[:, self._loaded] *= load[:, self._joints[self._loaded]]
        if self._reference.size:
            if motion.temperature is None:
                raise DataError(
                    f'friction of {self._robot.name} depends on joint temperatures, which are not '
                    'known: give them, or choose laws without temperature'
                )
            temperature = motion.temperature[:, self._joints[self._heated]]
            friction[:, self._heated] *= temperature - self._reference
        return friction


def _by_kind(terms: list[tuple[int, BasisTerm]]) -> list[_Functions]:
    """Return the functions of joints, those of a kind together."""
    found = []
    for kind in dict.fromkeys(basis.kind for _, basis in terms):
        columns = [at for at, (_, basis) in enumerate(terms) if basis.kind == kind]
        found.append(_Functions(
            kind, np.array(columns), np.array([terms[at][0] for at in columns]),
            np.array([terms[at][1].constants for at in columns]).T,
        ))
    return found
