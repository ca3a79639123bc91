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

"""Dry friction that grows with the torque which the joint transmits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.model.friction.curves import smooth_sign
from robot_identification.model.friction.curves import smooth_sign_by_width
from robot_identification.model.friction.law import check_positive
from robot_identification.model.friction.law import FloatArray
from robot_identification.model.friction.law import FrictionLaw
from robot_identification.model.friction.law import JointMotion


@dataclass(frozen=True)
class LoadFriction(FrictionLaw):
    """
    Load-dependent part of Coulomb friction, ``fcl abs(tau_rigid) tanh(dq / width)`` [1]_.

    Used beside `coulomb` or `stribeck`. It is linear where the rigid torque is known, as that of
    the previous iterate of a fit is.

    Attributes
    ----------
    width : float
        Of the passage through zero [rad/s].

    References
    ----------
    .. [1] A. C. Bittencourt and S. Gunnarsson, "Static friction in a robot joint: modeling and
       identification of load and temperature effects", ASME Journal of Dynamic Systems,
       Measurement, and Control 134(5), 2012.

    """

    width: float = 0.01

    name = 'load'
    symbols = ('fcl',)
    units = ('1',)
    shape = ('width',)
    needs_rigid_torque = True

    def __post_init__(self) -> None:
        check_positive(self.width, 'width of load friction')

    def columns(self, motion: JointMotion, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the load with the sign of the velocity; see `FrictionLaw.columns`."""
        return (np.abs(motion.tau_rigid) * smooth_sign(motion.dq, self.width))[:, None], state

    def shape_jacobian(
        self, motion: JointMotion, coefficients: FloatArray, state: FloatArray
    ) -> FloatArray:
        """Return the derivative by width; see `FrictionLaw.shape_jacobian`."""
        slope = np.abs(motion.tau_rigid) * smooth_sign_by_width(motion.dq, self.width)
        return slope[:, None] * coefficients
