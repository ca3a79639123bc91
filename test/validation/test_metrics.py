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

"""Errors as a reader would calculate them by hand."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.validation.metrics import measure_errors


def errors_of(measured, predicted, moving=None):
    """Return the errors of arrays (N, n)."""
    measured, predicted = np.array(measured, dtype=float), np.array(predicted, dtype=float)
    moving = np.ones(measured.shape, dtype=bool) if moving is None else np.array(moving)
    joints = tuple(f'joint_{i}' for i in range(measured.shape[1]))
    return measure_errors(measured, predicted, moving, bag='bag', unit='A', joints=joints)


def test_by_hand():
    """
    First joint: residuals 1, -1, 3, -3, measured 2, -2, 2, -2 of spread 2.

    Second joint: residuals all -0.5 on 0, 1, 0, 1 of spread 0.5.
    """
    measured = [[2.0, 0.0], [-2.0, 1.0], [2.0, 0.0], [-2.0, 1.0]]
    predicted = [[1.0, 0.5], [-1.0, 1.5], [-1.0, 0.5], [1.0, 1.5]]
    moving = [[True, False], [True, False], [False, True], [True, True]]
    found = errors_of(measured, predicted, moving)
    np.testing.assert_allclose(found.rmse, [np.sqrt(5.0), 0.5])
    np.testing.assert_allclose(found.nrmse, [np.sqrt(5.0) / 2.0, 1.0])
    np.testing.assert_allclose(found.rmse_moving, [np.sqrt(11.0 / 3.0), 0.5])
    np.testing.assert_allclose(found.bias, [0.0, -0.5])
    assert found.nrmse_mean == pytest.approx((np.sqrt(5.0) / 2.0 + 1.0) / 2.0)
    assert (found.samples, found.unit, found.bag) == (4, 'A', 'bag')


def test_bias_is_measured_minus_predicted():
    """A model that predicts too little has a positive bias."""
    assert errors_of([[3.0], [5.0]], [[2.0], [4.0]]).bias[0] == 1.0


@pytest.mark.parametrize('constant', [0.0, 1e-9, -7.0, 1e12])
def test_a_constant_signal_has_no_normalized_error(constant):
    """There is nothing to explain; it is left out of the mean, its error is still stated."""
    measured = np.column_stack([np.full(50, constant), np.tile([1.0, -1.0], 25)])
    found = errors_of(measured, measured + 0.25)
    assert np.isnan(found.nrmse[0])
    assert found.nrmse[1] == pytest.approx(0.25)
    assert found.nrmse_mean == pytest.approx(0.25)
    np.testing.assert_allclose(found.rmse, 0.25, rtol=1e-3)


def test_rounding_of_a_constant_is_no_signal():
    """0.1 summed in another order differs in the last bit."""
    measured = np.where(np.arange(50) % 2 == 0, 0.1, np.nextafter(0.1, 1.0))[:, None]
    assert np.isnan(errors_of(measured, measured).nrmse[0])


def test_a_joint_that_never_moves_has_no_moving_error():
    found = errors_of([[1.0], [2.0]], [[1.0], [1.0]], [[False], [False]])
    assert np.isnan(found.rmse_moving[0])


def test_all_constant_has_no_mean():
    assert np.isnan(errors_of(np.ones((4, 2)), np.zeros((4, 2))).nrmse_mean)


@given(seed=st.integers(0, 2**32 - 1), factor=st.floats(0.01, 100.0))
def test_errors_scale_with_the_unit(seed, factor):
    """Milliamperes instead of amperes: the normalized error is the same."""
    rng = np.random.default_rng(seed)
    measured, predicted = rng.normal(size=(2, 30, 3))
    plain, scaled = (errors_of(f * measured, f * predicted) for f in (1.0, factor))
    np.testing.assert_allclose(scaled.nrmse, plain.nrmse, rtol=1e-9)
    np.testing.assert_allclose(scaled.rmse, factor * plain.rmse, rtol=1e-9)
    mean = errors_of(measured, np.tile(measured.mean(axis=0), (30, 1)))
    np.testing.assert_allclose(mean.nrmse, 1.0, rtol=1e-9)
