# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The corrections of an identified model at one sample after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray
from robot_identification.model import IdentifiedModel


class SampleCorrections:
    """
    The live corrections of a model, laid out once in arrays over all joints.

    Equal to `correction_blocks` of a whole recording, for the samples of a live arm.
    """

    def __init__(self, model: IdentifiedModel) -> None:
        robot, n = model.robot, model.robot.n
        self._robot, self._data = robot, robot.pinocchio.createData()
        self._taps = np.zeros((1, n))  # newest sample first
        self._wave_joints = np.zeros(0, dtype=int)
        self._waves = np.zeros((0, 3))  # order, coefficients of sine and cosine
        self._deviation = np.zeros((n, 10 * n))
        for one in model.corrections.live:
            one.group.add_to(self, one.joint, one.coefficients)
        self._past = np.zeros_like(self._taps)
        self._deviates = bool(self._deviation.any())
        self._limit = model.corrections.live_limit

    def add_taps(self, joint: int, taps: FloatArray) -> None:
        """See `SampleSums`."""
        missing = max(len(taps) - len(self._taps), 0)
        self._taps = np.vstack([self._taps, np.zeros((missing, self._robot.n))])
        self._taps[: len(taps), joint] += taps

    def add_waves(
        self, joint: int, orders: Sequence[int], sines: FloatArray, cosines: FloatArray
    ) -> None:
        """See `SampleSums`."""
        self._wave_joints = np.append(self._wave_joints, np.full(len(orders), joint))
        self._waves = np.vstack([self._waves, np.column_stack([orders, sines, cosines])])

    def add_bodies(self, joint: int, parameters: Sequence[int], values: FloatArray) -> None:
        """See `SampleSums`."""
        self._deviation[joint, list(parameters)] += values

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
            order, sine, cosine = self._waves.T
            angles = q[self._wave_joints] * order
            np.add.at(
                torque, self._wave_joints, sine * np.sin(angles) + cosine * np.cos(angles)
            )
        if self._deviates:
            regressor = pin.computeJointTorqueRegressor(
                self._robot.pinocchio, self._data, q, dq, ddq
            )
            torque += np.einsum('jp,jp->j', regressor, self._deviation)
        if self._limit is not None:
            np.clip(torque, -self._limit, self._limit, out=torque)
        return torque
