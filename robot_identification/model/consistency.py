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
Physical consistency: whether ten numbers can belong to a rigid body.

References
----------
.. [1] P. Wensing, S. Kim, J.-J. Slotine, "Linear matrix inequalities for physically consistent
   inertial parameter identification", IEEE RA-L 3(1), 2018.

"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robot_identification.model.friction.law import FloatArray


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
