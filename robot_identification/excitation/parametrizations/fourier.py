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
Finite Fourier series.

References
----------
.. [1] J. Swevers et al., "Optimal robot excitation and identification", IEEE T-RA 13(5), 1997.

"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.errors import DescriptionError
from robot_identification.excitation.parametrizations.parametrization import FloatArray
from robot_identification.excitation.parametrizations.parametrization import Parametrization


@dataclass(frozen=True)
class FourierParametrization(Parametrization):
    r"""
    Finite Fourier series in the sum convention [1]_.

    .. math:: q(t) = q_0 + \sum_l a_l \sin(l \omega t) - b_l \cos(l \omega t)

    Zero velocity and zero acceleration at both ends are the linear conditions
    :math:`\sum_l l\,a_l = 0` and :math:`\sum_l l^2 b_l = 0`; they give :math:`a_1` and
    :math:`b_1`, so every choice of the others fulfils them. The coefficients of a joint are
    :math:`q_0, a_2, .., a_K, b_2, .., b_K`.

    Attributes
    ----------
    harmonics : int
        Number of harmonics, at least 2.
    base_period : float
        Period of the first harmonic, and of the motion [s].

    """

    harmonics: int = 5
    base_period: float = 10.0

    name = 'fourier'

    def __post_init__(self) -> None:
        if not isinstance(self.harmonics, int) or not 2 <= self.harmonics <= 50:
            raise DescriptionError(f'harmonics is {self.harmonics}, it must be from 2 to 50')
        if not 0.0 < self.base_period <= 600.0:
            raise DescriptionError(
                f'base_period is {self.base_period} s, it must be above 0 and at most 600'
            )

    @property
    def n_coefficients(self) -> int:
        """Number of coefficients of one joint, the centre included."""
        return 2 * self.harmonics - 1

    @property
    def duration(self) -> float:
        """Length of one period [s]."""
        return self.base_period

    def basis(self, t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the eliminated basis and its derivatives; see `Parametrization.basis`."""
        order = np.arange(1, self.harmonics + 1)
        rate = 2.0 * np.pi / self.base_period * order
        phase = np.outer(np.asarray(t, dtype=float), rate)
        sine, cosine = np.sin(phase), np.cos(phase)
        others = np.eye(self.harmonics - 1)
        for_sine = np.vstack([-order[1:], others])
        for_cosine = np.vstack([-(order[1:] ** 2), others])
        centre = np.ones((len(phase), 1))
        zero = np.zeros_like(centre)
        return (
            np.hstack([centre, sine @ for_sine, -cosine @ for_cosine]),
            np.hstack([zero, rate * cosine @ for_sine, rate * sine @ for_cosine]),
            np.hstack([zero, -(rate**2) * sine @ for_sine, rate**2 * cosine @ for_cosine]),
        )
