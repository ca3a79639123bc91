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

"""What the pages of identifications and validations say of residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.report.explanation import Scored
from robot_identification.report.figures import Picture
from robot_identification.report.residual_figures import residual_picture
from robot_identification.report.residuals import collect_residuals
from robot_identification.report.residuals import JointResidual
from robot_identification.report.residuals import residual_size
from robot_identification.report.residuals import ResidualSize
from robot_identification.report.residuals import whiteness_words


@dataclass(frozen=True, eq=False)
class ResidualSection:
    """
    The residuals of all joints.

    Attributes
    ----------
    verdict : str
        Whether they are white noise, and what that means.
    sizes : tuple of ResidualSize
        By joint.
    memories : tuple of JointResidual
        By joint.
    pictures : tuple of Picture
        By joint.

    """

    verdict: str
    sizes: tuple[ResidualSize, ...]
    memories: tuple[JointResidual, ...]
    pictures: tuple[Picture, ...]

    @property
    def independent_share(self) -> float:
        """Independent samples over samples, the median over joints; 1 where there is none."""
        shares = [one.independent / len(one) for one in self.memories]
        known = [share for share in shares if np.isfinite(share)]
        return float(np.median(known)) if known else 1.0


def residual_section(bags: Sequence[Scored]) -> ResidualSection:
    """
    Return what is to be said of the residuals of some recordings.

    Parameters
    ----------
    bags : sequence of Scored
        Recordings of the same joints, in the same unit.

    """
    sizes, memories, pictures = [], [], []
    for residual in collect_residuals(bags):
        sizes.append(residual_size(residual))
        pictures.append(residual_picture(residual))
        memories.append(residual.without_samples())
    return ResidualSection(
        whiteness_words(memories), tuple(sizes), tuple(memories), tuple(pictures)
    )
