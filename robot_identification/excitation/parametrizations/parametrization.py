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

"""What every trajectory form does."""

from __future__ import annotations

from abc import ABC
from abc import abstractmethod
from dataclasses import asdict
from dataclasses import dataclass
from typing import Any
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Parametrization(ABC):
    """
    A family of joint motions, linear in its coefficients, at rest at both ends.

    The first coefficient of a joint is the position it moves about; the others are amplitudes:
    scaling them scales the motion, its velocity and its acceleration.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def n_coefficients(self) -> int:
        """Number of coefficients of one joint, the centre included."""

    @property
    @abstractmethod
    def duration(self) -> float:
        """Length of one period [s]."""

    @abstractmethod
    def basis(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """
        Return what the coefficients multiply.

        Parameters
        ----------
        t : ndarray, shape (N,)
            Times [s].

        Returns
        -------
        B, dB, ddB : ndarray, shape (N, c)
            ``q = coefficients @ B.T`` with coefficients (n, c), and its two derivatives.

        """

    def options(self) -> dict[str, Any]:
        """Return the options by name."""
        return asdict(self)
