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

"""The Fourier series is the one of the literature, with its ends at rest."""

import numpy as np
import pytest
from robot_identification.excitation.parametrizations.fourier import FourierParametrization

# Porcelli 2020, tables 4.1 and 4.2 (numbers.md C1): sine coefficients, cosine coefficients.
# Joints 1, 4 and 5 keep the conditions at the ends to the digits printed, the others do not (C2).
RATE = 0.3 * np.pi
PUBLISHED = {
    1: ([0.0094, 0.0482, 0.0038, -0.0024, -0.0214], [-0.0085, 0.1599, -0.0283, -0.0826, 0.0378]),
    4: ([0.0642, -0.0128, 0.0186, 0.0029, -0.0212], [-1.2397, 0.0079, -0.0352, -0.0082, 0.0662]),
    5: ([-0.6081, -0.0068, 0.0079, 0.1485, 0.0010], [-0.4490, 0.0036, 0.0078, 0.0059, 0.0108]),
}
# Exact maxima of the acceleration over a period [rad/s^2] (C3).
ACCELERATION = {1: 2.621, 4: 2.589, 5: 2.688}


@pytest.mark.parametrize('joint', PUBLISHED)
def test_published_motion(joint):
    """
    The thesis' coefficients, a_1 and b_1 left to the conditions at the ends.

    Printed to 1e-4 and summed with weights up to 25, they fix a_1 and b_1 to 2e-3.
    """
    a, b = (np.array(values) for values in PUBLISHED[joint])
    form = FourierParametrization(harmonics=5, base_period=2.0 * np.pi / RATE)
    t = np.linspace(0.0, form.duration, 1001)
    phase = RATE * np.outer(t, np.arange(1, 6))
    expected = np.sin(phase) @ a - np.cos(phase) @ b
    B, _, ddB = form.basis(t)
    coefficients = np.concatenate([[0.0], a[1:], b[1:]])
    np.testing.assert_allclose(B @ coefficients, expected, atol=3e-3)
    assert np.abs(ddB @ coefficients).max() == pytest.approx(ACCELERATION[joint], abs=4e-3)


def test_centre_and_number_of_coefficients():
    """Two harmonics leave one sine and one cosine; the centre moves nothing else."""
    form = FourierParametrization(harmonics=2, base_period=3.0)
    assert form.n_coefficients == 3
    B, dB, ddB = form.basis(np.linspace(0.0, 3.0, 50))
    np.testing.assert_array_equal(B[:, 0], 1.0)
    assert not dB[:, 0].any()
    assert not ddB[:, 0].any()
    assert form.duration == 3.0


def test_longer_periods_are_slower():
    """Twice the period, the same positions at twice the time, half the speed."""
    slow, fast = (FourierParametrization(base_period=period) for period in (8.0, 4.0))
    t = np.linspace(0.0, 4.0, 31)
    for order, (a, b) in enumerate(zip(slow.basis(2.0 * t), fast.basis(t), strict=True)):
        np.testing.assert_allclose(a * 2.0**order, b, atol=1e-9)
