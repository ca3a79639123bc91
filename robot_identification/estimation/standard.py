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

"""From base parameters back to standard ones, with the CAD prior's help."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.consistency import smallest_eigenvalues
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.robot_model import RobotModel

FloatArray = NDArray[np.float64]

# How far the prior may be wrong, per link: 30 % of its mass, its centre 15 cm, 30 % of its
# largest principal inertia. Floors keep massless links finite.
MASS_SHARE, CENTRE_DISTANCE, INERTIA_SHARE = 0.3, 0.15, 0.3
MASS_FLOOR, INERTIA_FLOOR = 0.01, 1.0e-4
# Friction and reflected inertia have no prior.
NO_PRIOR = 1.0e3


def prior_deviation(robot: RobotModel, size: int) -> FloatArray:
    """
    Return how far each standard parameter may be from the URDF's.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    size : int
        Number of standard parameters p.

    Returns
    -------
    ndarray, shape (p,)
        Standard deviations, SI units.

    """
    deviation = np.full(size, NO_PRIOR)
    for link, values in enumerate(prior_inertial_parameters(robot).reshape(-1, 10)):
        mass = max(values[0], MASS_FLOOR)
        tensor = np.array([
            [values[4], values[5], values[7]],
            [values[5], values[6], values[8]],
            [values[7], values[8], values[9]],
        ])
        inertia = max(np.linalg.eigvalsh(tensor)[-1], INERTIA_FLOOR)
        deviation[10 * link] = MASS_SHARE * mass
        deviation[10 * link + 1: 10 * link + 4] = CENTRE_DISTANCE * mass
        deviation[10 * link + 4: 10 * link + 10] = INERTIA_SHARE * inertia
    return deviation


def project_on_prior(
    robot: RobotModel, reduction: BaseReduction, theta_base: FloatArray
) -> FloatArray:
    """
    Return the standard parameters nearest to the URDF's that have given base parameters.

    Parameters
    ----------
    robot : RobotModel
        The arm, with the prior in its URDF.
    reduction : BaseReduction
        Meaning of the base parameters.
    theta_base : ndarray, shape (b,)
        Base parameters, SI units.

    Returns
    -------
    ndarray, shape (p,)
        ``K @ theta == theta_base``, the distance to the prior measured in `prior_deviation`.

    """
    prior = np.zeros(reduction.parameters.size)
    prior[: 10 * robot.n] = prior_inertial_parameters(robot)
    deviation = prior_deviation(robot, prior.size)
    # Least norm in units of the deviation, by QR of the transpose.
    orthogonal, triangle = np.linalg.qr((reduction.K * deviation).T)
    step = np.linalg.solve(triangle.T, theta_base - reduction.K @ prior)
    theta: FloatArray = prior + deviation * (orthogonal @ step)
    return theta


def consistent_standard_parameters(
    robot: RobotModel, reduction: BaseReduction, theta_base: FloatArray
) -> tuple[FloatArray | None, str]:
    """
    Return physically consistent standard parameters with given base parameters, if it finds any.

    Returns
    -------
    theta : ndarray, shape (p,), or None
        All pseudo-inertias positive definite, all reflected inertias not negative.
    note : str
        How they were found, or which link or joint is impossible.

    """
    theta = project_on_prior(robot, reduction, theta_base)
    smallest = smallest_eigenvalues(theta[: 10 * robot.n])
    links = [
        f'{joint} ({value:.2e})'
        for joint, value in zip(robot.joint_names, smallest, strict=True)
        if not value > 0.0
    ]
    rotors = [
        f'{joint} ({value:.3g} kg m^2)'
        for joint, value in zip(
            robot.joint_names, theta[reduction.parameters.reflected_inertia_slice], strict=False
        )
        if value < 0.0
    ]
    if not links and not rotors:
        return theta, 'projection of the base parameters on the URDF, base parameters kept'
    reasons = []
    if links:
        reasons.append(
            'the pseudo-inertia has a negative eigenvalue for the link after ' + ', '.join(links)
        )
    if rotors:
        reasons.append('the reflected inertia is negative at ' + ', '.join(rotors))
    return None, 'no consistent parameters: ' + '; '.join(reasons)
