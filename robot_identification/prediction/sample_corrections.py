# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The corrections of an identified model at one sample after the other."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.model import (
    FastVelocity, IdentifiedModel, JointDeviation, PositionSeries, Ripple,
)


class SampleCorrections:
    """
    The live corrections of a model, laid out once in arrays over all joints.

    Equal to `correction_blocks` of a whole recording, for the samples of a live arm.
    """

    def __init__(self, model: IdentifiedModel) -> None:
        robot, n = model.robot, model.robot.n
        self._robot, self._data = robot, robot.pinocchio.createData()
        taps: list[tuple[int, FloatArray]] = []
        waves: list[tuple[int, int, float, float]] = []
        self._deviation = np.zeros((n, 10 * n))
        for one in model.corrections.live:
            group, joint, coefficients = one.group, one.joint, one.coefficients
            if isinstance(group, FastVelocity):
                taps.append((joint, group.taps(coefficients)))
            elif isinstance(group, JointDeviation):
                self._deviation[joint] += group.standard(coefficients, n)
            elif isinstance(group, (PositionSeries, Ripple)):
                sines, cosines = np.split(coefficients, 2)
                waves += zip(
                    [joint] * len(sines), group.orders, sines, cosines, strict=True
                )
        # Newest sample first.
        self._taps = np.zeros((max((len(own) for _, own in taps), default=1), n))
        for joint, own in taps:
            self._taps[: len(own), joint] += own
        self._past = np.zeros_like(self._taps)
        self._waves = np.array(waves).reshape(-1, 4)
        self._wave_joints = self._waves[:, 0].astype(int)
        self._deviates = bool(self._deviation.any())

    def restart(self) -> None:
        """Forget the past, as after a gap."""
        self._past[:] = 0.0

    def step(
        self, q: FloatArray, dq: FloatArray, measured_dq: FloatArray, ddq: FloatArray
    ) -> FloatArray:
        """Return the torque that is added at the next sample, shape (n,) [N m]."""
        past = self._past
        past[1:] = past[:-1]
        past[0] = measured_dq - dq
        torque: FloatArray = np.einsum('kj,kj->j', self._taps, past)
        if len(self._waves):
            angles = q[self._wave_joints] * self._waves[:, 1]
            np.add.at(
                torque, self._wave_joints,
                self._waves[:, 2] * np.sin(angles) + self._waves[:, 3] * np.cos(angles),
            )
        if self._deviates:
            regressor = pin.computeJointTorqueRegressor(
                self._robot.pinocchio, self._data, q, dq, ddq
            )
            torque += np.einsum('jp,jp->j', regressor, self._deviation)
        return torque
