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

"""Zero-phase low-pass and differentiation on uniform samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from robot_identification.model.identified_model import KinematicFilter
from scipy.signal import butter
from scipy.signal import sosfiltfilt

FloatArray = NDArray[np.float64]

# Above this share of the Nyquist frequency a digital Butterworth no longer resembles one.
HIGHEST_CUTOFF = 0.8


def low_pass(x: FloatArray, rate: float, kinematic_filter: KinematicFilter) -> FloatArray:
    """
    Filter forward and backward, so that nothing is delayed; edges are padded, not dropped.

    Parameters
    ----------
    x : ndarray, shape (N, n)
        Uniform samples.
    rate : float
        Sampling rate [Hz].
    kinematic_filter : KinematicFilter
        Order and cut-off of one pass.

    Returns
    -------
    ndarray, shape (N, n)
        Filtered samples.

    """
    cutoff = min(kinematic_filter.cutoff, HIGHEST_CUTOFF * rate / 2.0)
    sections = butter(kinematic_filter.order, cutoff, fs=rate, output='sos')
    # Three time constants of the slowest pole, at most the signal itself.
    padding = min(int(np.ceil(3.0 * rate / cutoff)), len(x) - 1)
    filtered: FloatArray = sosfiltfilt(sections, x, axis=0, padtype='odd', padlen=padding)
    return filtered


def central_difference(x: FloatArray, rate: float) -> FloatArray:
    """
    Differentiate by central differences, one-sided at the ends.

    Parameters
    ----------
    x : ndarray, shape (N, n)
        Uniform samples.
    rate : float
        Sampling rate [Hz].

    Returns
    -------
    ndarray, shape (N, n)
        Derivative, unit of `x` per second.

    """
    derivative: FloatArray = np.gradient(x, 1.0 / rate, axis=0, edge_order=2)
    return derivative
