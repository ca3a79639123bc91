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
from robot_identification.errors import DescriptionError

FloatArray = NDArray[np.float64]

# Of one repetition and of a first harmonic [s].
LONGEST_PERIOD = 600.0


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


def within_period(t: FloatArray, duration: float) -> FloatArray:
    """
    Return times moved into the first period, for forms that are not periodic by themselves.

    Parameters
    ----------
    t : ndarray, shape (N,)
        Times [s]; those of the first period, both ends included, stay as they are.
    duration : float
        Length of one period [s].

    """
    t = np.asarray(t, dtype=float)
    return np.where((t < 0.0) | (t > duration), np.mod(t, duration), t)


def check_count(name: str, value: Any, least: int, most: int) -> None:
    """
    Check an option that is a number of things.

    Raises
    ------
    DescriptionError
        If it is not whole, or out of its range.

    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise DescriptionError(
            f'{name} is {value!r}, it must be a whole number from {least} to {most}'
        )


def check_seconds(name: str, value: float) -> None:
    """
    Check an option that is a length of time.

    Raises
    ------
    DescriptionError
        If it is not above 0 and at most 600 s.

    """
    if not 0.0 < value <= LONGEST_PERIOD:
        raise DescriptionError(
            f'{name} is {value} s, it must be above 0 and at most {LONGEST_PERIOD:.0f}'
        )
