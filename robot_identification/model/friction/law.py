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

"""What every friction law does."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from dataclasses import asdict
from dataclasses import dataclass
from typing import Any
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from robot_identification.errors import DescriptionError

FloatArray = NDArray[np.float64]


def check_positive(value: Any, what: str) -> None:
    """
    Check a shape constant.

    Raises
    ------
    DescriptionError
        If it is not a positive number.

    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < np.inf:
        raise DescriptionError(f'{what} is {value!r}, it must be a positive number')


@dataclass(frozen=True)
class JointMotion:
    """
    Consecutive samples of one joint, as a friction law sees them.

    Attributes
    ----------
    q, dq : ndarray, shape (N,)
        Position [rad] and velocity [rad/s].
    tau_rigid : ndarray, shape (N,)
        Torque of the rigid body with reflected inertia, without offset [N m].
    temperature : ndarray, shape (N,)
        Joint temperature [deg C]; NaN where not recorded.

    """

    q: FloatArray
    dq: FloatArray
    tau_rigid: FloatArray
    temperature: FloatArray


@dataclass(frozen=True)
class FrictionLaw(ABC):
    """
    Friction torque of one joint, linear in its coefficients.

    A law is a frozen dataclass whose fields are its shape constants. `columns` returns what its
    coefficients multiply; a law with memory returns the state it ends in, a stateless one returns
    the empty state it was given.
    """

    name: ClassVar[str]
    symbols: ClassVar[tuple[str, ...]]
    units: ClassVar[tuple[str, ...]]

    def initial_state(self) -> FloatArray:
        """Return the state before the first sample, shape (s,)."""
        return np.zeros(0)

    @abstractmethod
    def columns(self, motion: JointMotion, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        """
        Return the columns and the state after the last sample.

        Parameters
        ----------
        motion : JointMotion
            N consecutive samples of the joint.
        state : ndarray, shape (s,)
            State before the first of them.

        Returns
        -------
        columns : ndarray, shape (N, k)
            Friction torque is ``columns @ coefficients`` [N m].
        state : ndarray, shape (s,)
            State after the last sample.

        """

    def alternatives(self) -> tuple[FrictionLaw, ...]:
        """Return the law with every shape constant worth trying, itself if there is no choice."""
        return (self,)

    def constants(self) -> dict[str, Any]:
        """Return the shape constants by name."""
        return asdict(self)
