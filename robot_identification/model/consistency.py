# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Physical consistency: whether ten numbers can belong to a rigid body.

References
----------
.. [1] P. Wensing, S. Kim, J.-J. Slotine, "Linear matrix inequalities for physically consistent
   inertial parameter identification", IEEE RA-L 3(1), 2018.
.. [2] C. Rucker, P. Wensing, "Smooth parameterization of rigid-body inertia", IEEE RA-L 7(2),
   2022.

"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.model.rigid_dynamics import RigidDynamics
from robot_identification.model.robot_model import RobotModel, workspace
import scipy

# Evaluations of the search from the worst pose; chosen.
SEARCHED = 500


def pseudo_inertia(parameters: FloatArray) -> FloatArray:
    """
    Return the pseudo-inertia of a link [1]_.

    Parameters
    ----------
    parameters : ndarray, shape (10,)
        Inertial parameters in Pinocchio's order.

    Returns
    -------
    ndarray, shape (4, 4)
        Positive definite exactly if the parameters are physically consistent.

    """
    matrix: FloatArray = pin.PseudoInertia.FromDynamicParameters(
        np.asarray(parameters, dtype=float)
    ).toMatrix()
    return matrix


def from_pseudo_inertia(matrix: FloatArray) -> FloatArray:
    """Return the inertial parameters, shape (10,), of a pseudo-inertia, shape (4, 4) [1]_."""
    parameters: FloatArray = pin.PseudoInertia.FromMatrix(
        np.asarray(matrix, dtype=float)
    ).toDynamicParameters()
    return parameters


def smallest_eigenvalues(inertial: FloatArray) -> FloatArray:
    """
    Return the smallest pseudo-inertia eigenvalue of every link.

    Parameters
    ----------
    inertial : ndarray, shape (10 n,)
        Inertial parameters, Pinocchio's order.

    Returns
    -------
    ndarray, shape (n,)
        Positive for a physically consistent link.

    """
    return np.array([
        np.linalg.eigvalsh(pseudo_inertia(link))[0] for link in np.reshape(inertial, (-1, 10))
    ])


def log_cholesky(parameters: FloatArray) -> FloatArray:
    """
    Return coordinates (10,) in which every ten numbers are a possible rigid body [2]_.

    They are alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3: logarithm of the scale and entries of
    the upper triangular U of ``pseudo_inertia = U U'``. Raises DescriptionError if that of the
    inertial parameters (10,) is not positive definite.
    """
    matrix = pseudo_inertia(parameters)
    try:
        # U U' with U upper triangular is L L' of the matrix read backwards.
        U = np.linalg.cholesky(matrix[::-1, ::-1])[::-1, ::-1]
    except np.linalg.LinAlgError as error:
        raise DescriptionError(
            'no rigid body has these inertial parameters: the smallest pseudo-inertia eigenvalue '
            f'is {np.linalg.eigvalsh(matrix)[0]:.3g}, it must be positive'
        ) from error
    scale = U[3, 3]
    V = U / scale
    return np.array([
        np.log(scale), *np.log(np.diag(V)[:3]), V[0, 1], V[1, 2], V[0, 2], *V[:3, 3],
    ])


def from_log_cholesky(coordinates: FloatArray) -> FloatArray:
    """Return the inertial parameters of log-Cholesky coordinates, shape (10,) each [2]_."""
    parameters: FloatArray = pin.LogCholeskyParameters(
        np.asarray(coordinates, dtype=float)
    ).toDynamicParameters()
    return parameters


def smallest_mass_matrix_eigenvalue(
    robot: RobotModel,
    inertial: FloatArray,
    reflected_inertia: FloatArray | None = None,
    *,
    samples: int = 10_000,
    seed: int = 0,
) -> tuple[float, FloatArray]:
    """
    Look over the workspace for the pose in which the arm has least inertia.

    A mass matrix that is not positive definite makes a simulation diverge, even if the torques
    of the model are right along one motion.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    inertial : ndarray, shape (10 n,)
        Inertial parameters, Pinocchio's order, joint frames.
    reflected_inertia : ndarray, shape (n,), optional
        Of the rotors on the joint's side [kg m^2]; by default none.
    samples : int
        Random poses within the limits; from the worst of them the least is searched.
    seed : int
        Of the poses.

    Returns
    -------
    eigenvalue : float
        Smallest one found [kg m^2, and kg for prismatic joints].
    q : ndarray, shape (n,)
        Where.

    """
    rotors = np.zeros(robot.n) if reflected_inertia is None else reflected_inertia
    dynamics = RigidDynamics(robot, inertial, rotors)
    lower, upper = workspace(robot)
    poses = np.random.default_rng(seed).uniform(lower, upper, (samples, robot.n))
    found = dynamics.least_inertia(poses)
    worst = int(np.argmin(found))
    # The eigenvalue has kinks where two are the same: a search without derivatives.
    near = scipy.optimize.minimize(
        lambda q: float(dynamics.least_inertia(q[None])[0]), poses[worst], method='Nelder-Mead',
        bounds=list(zip(lower, upper, strict=True)), options={'maxfev': SEARCHED},
    )
    if near.fun < found[worst]:
        return float(near.fun), np.asarray(near.x, dtype=float)
    return float(found[worst]), poses[worst]
