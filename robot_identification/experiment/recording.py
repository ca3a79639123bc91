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

"""Recording: the raw joint states of a bag, by joint name, on their own stamps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Recording:
    """
    Raw joint states in the order they were recorded; nothing is filtered or left out.

    Attributes
    ----------
    source : str
        The bag, for messages.
    topic : str
        The topic they came from.
    joint_names : tuple of str
        Model names of the n joints, kinematic order.
    stamps : ndarray, shape (N,)
        Seconds after the first joint state.
    q, dq, effort : ndarray, shape (N, n)
        Position [rad], velocity [rad/s; NaN where not recorded], effort [bag's unit; NaN where
        not recorded].
    start : int
        Stamp of the first joint state [ns].
    stamps_from : str
        'header' or, where those are absent or broken, 'log'.
    metadata : mapping of str to str
        What the recorder noted in the bag (robot, effort unit, ...).

    """

    source: str
    topic: str
    joint_names: tuple[str, ...]
    stamps: FloatArray
    q: FloatArray
    dq: FloatArray
    effort: FloatArray
    start: int = 0
    stamps_from: str = 'header'
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.stamps)

    @property
    def duration(self) -> float:
        """Time between the first and the last joint state [s]."""
        return float(np.ptp(self.stamps)) if len(self) else 0.0

    def until(self, stop: float | None) -> Recording:
        """Return the part up to `stop` seconds after the first joint state."""
        if stop is None:
            return self
        keep = self.stamps < stop
        return replace(
            self,
            stamps=self.stamps[keep],
            q=self.q[keep],
            dq=self.dq[keep],
            effort=self.effort[keep],
        )
