# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Deviation of one joint from the bodies that all joints share: its gain, its geometry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.model.corrections.correction import (
    CorrectionGroup, CorrectionSignals, Evidence, SampleSums,
)
from robot_identification.model.regressor import block_slices
from robot_identification.model.robot_model import RobotModel

# Numbers of a regressor that is kept for all joints; chosen: 16 MB.
KEPT_NUMBERS = 2_000_000


@dataclass(frozen=True)
class JointDeviation(CorrectionGroup):
    """The joint's own columns of the bodies once more, free for that joint alone."""

    parameters: tuple[int, ...]  # numbers of the standard parameters of the bodies

    name = 'joint_deviation'
    meaning = 'deviation of the joint from the bodies that all joints share'
    ridges = (1.0, 0.1)
    # Measured: with one, residuals shifted in time were accepted for a tenth of the joints.
    certainty = 2.0
    # As for the series of positions.
    shortest_motion = 20.0
    is_shared_with_bodies = True

    def __post_init__(self) -> None:
        if not self.parameters or not all(
            isinstance(one, int) and one >= 0 for one in self.parameters
        ):
            raise DescriptionError(
                f'parameters of {self.name} are {self.parameters!r}: whole numbers from 0 needed'
            )
        object.__setattr__(self, 'parameters', tuple(self.parameters))

    @classmethod
    def candidates(cls, evidence: Evidence) -> tuple[CorrectionGroup, ...]:
        # Bodies before the joint do not act on it.
        own = tuple(one for one in evidence.rigid if one >= 10 * evidence.joint)
        return (cls(own),) if own else ()

    @property
    def size(self) -> int:
        return len(self.parameters)

    def columns(
        self, robot: RobotModel, signals: CorrectionSignals, joint: int
    ) -> FloatArray:
        N, own = len(signals.motion), list(self.parameters)
        # Every joint asks for the same signals; a long regressor is not kept for that.
        if N * 10 * robot.n**2 <= KEPT_NUMBERS:
            return signals.regressor(robot)[:, joint, own]
        columns = np.empty((N, self.size))
        for rows in block_slices(N):
            columns[rows] = signals.part(rows).regressor(robot)[:, joint, own]
        return columns

    def add_to(self, sums: SampleSums, joint: int, coefficients: FloatArray) -> None:
        sums.add_bodies(joint, self.parameters, coefficients)
