# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Residual section of the pages of identifications and validations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_identification.report.explanation import Scored
from robot_identification.report.plot import Picture
from robot_identification.report.residual_figures import residual_picture
from robot_identification.report.residuals import (
    collect_residuals, JointResidual, residual_size, ResidualSize, whiteness_words,
)


@dataclass(frozen=True, eq=False)
class ResidualSection:
    """The residuals of all joints."""

    verdict: str  # whether they are white noise, and what that means
    sizes: tuple[ResidualSize, ...]  # by joint
    memories: tuple[JointResidual, ...]  # by joint
    pictures: tuple[Picture, ...]  # by joint

    @property
    def independent_share(self) -> float:
        """Independent samples over samples, the median over joints; 1 where there is none."""
        shares = [one.independent / len(one) for one in self.memories]
        known = [share for share in shares if np.isfinite(share)]
        return float(np.median(known)) if known else 1.0


def residual_section(bags: Sequence[Scored]) -> ResidualSection:
    """Return the section on the residuals of recordings of the same joints in one unit."""
    sizes, memories, pictures = [], [], []
    for residual in collect_residuals(bags):
        sizes.append(residual_size(residual))
        pictures.append(residual_picture(residual))
        memories.append(residual.without_samples())
    return ResidualSection(
        whiteness_words(memories), tuple(sizes), tuple(memories), tuple(pictures)
    )
