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

"""Dataset: smoothed kinematics on the recorded stamps, the raw effort beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from robot_identification.model.regressor import Motion

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# Below this speed a joint counts as resting.
MOVING_SPEED = 0.02


@dataclass(frozen=True, eq=False)
class Dataset:
    """
    What estimators fit and validation scores.

    Attributes
    ----------
    source : str
        The bag.
    joint_names : tuple of str
        The n joints, kinematic order.
    stamps : ndarray, shape (N,)
        Recorded stamps, seconds after the first joint state, increasing.
    motion : Motion
        Raw positions, smoothed velocities and accelerations at the stamps.
    effort : ndarray, shape (N, n)
        Recorded effort, unfiltered, in `effort_unit`; NaN before the window.
    effort_unit : {'A', 'Nm'}
        Unit of the effort.
    scored : ndarray of bool, shape (N,)
        Samples that errors are taken on.
    fitted : ndarray of bool, shape (N,)
        Samples that parameters are estimated from: scored, no duplicate, not in the rest before
        the first and after the last motion.
    segments : tuple of slice
        Parts without a gap.
    excluded : mapping of str to int
        Samples not scored, or not fitted, by the reason.
    rate : float
        Sampling rate by the median period [Hz].
    notes : tuple of str
        What a reader of the report should know about the data.

    """

    source: str
    joint_names: tuple[str, ...]
    stamps: FloatArray
    motion: Motion
    effort: FloatArray
    effort_unit: str
    scored: BoolArray
    fitted: BoolArray
    segments: tuple[slice, ...]
    excluded: Mapping[str, int]
    rate: float
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.stamps)

    @property
    def moving(self) -> BoolArray:
        """Where each joint moves, shape (N, n)."""
        return np.abs(self.motion.dq) > MOVING_SPEED
