# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
External torque on the joints, without measured accelerations.

The generalized momentum of bodies and rotors changes by what drives, friction, gravity and others
do. What the model knows of that is taken off; the rest, through a low-pass of first order, is the
external torque (De Luca and Mattone, ICRA 2005, with the C of Christoffel's symbols, of which
M' = C + C^T).
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from robot_identification.arrays import FloatArray, joint_vectors
from robot_identification.errors import UsageError
from robot_identification.model import equivalent_bodies, IdentifiedModel

DEFAULT_BANDWIDTH = 25.0  # [rad/s]; chosen: a time constant of 40 ms
# Time constants after a start without an output; chosen: 95 % of a step.
BLANKING = 3.0


class MomentumObserver:
    """
    Observes the external torque on the joints.

    The time constant of its low-pass is ``1 / bandwidth``, with K_O in rad/s. Raises UsageError if
    the bandwidth is not positive, DataError if no bodies with a mass have the model's parameters.
    """

    def __init__(self, model: IdentifiedModel, bandwidth: float = DEFAULT_BANDWIDTH) -> None:
        if not (np.isfinite(bandwidth) and bandwidth > 0.0):
            raise UsageError(f'bandwidth must be a positive number [rad/s], got {bandwidth!r}')
        bodies = equivalent_bodies(model)
        self._model = bodies.pinocchio
        # Without gravity and velocity, inverse dynamics of an acceleration is that of a momentum.
        self._weightless = bodies.pinocchio.copy()
        self._weightless.gravity.setZero()
        self._weightless.armature = bodies.reflected_inertia
        self._data, self._weightless_data = (
            one.createData() for one in (self._model, self._weightless)
        )
        self._rest = np.zeros(model.robot.n)
        self.bandwidth = bandwidth
        self.restart()

    def restart(self) -> None:
        """Begin anew, as after a pause of the joint states."""
        self._momentum: FloatArray | None = None
        self._known: FloatArray | None = None
        self._external = np.zeros_like(self._rest)
        self._since = 0.0

    def step(
        self, elapsed: float, q: FloatArray, dq: FloatArray, torque: FloatArray,
        friction: FloatArray,
    ) -> FloatArray | None:
        """
        Return the external torque (n,) [N m], signed as joint torques; None until settled.

        `elapsed` [s] is not used for the first sample; the torque is the measured one of the
        drives, friction what the model expects, all (n,) in N m. Of a sample whose momentum is not
        finite it begins anew. Raises UsageError if `elapsed` is
        not positive.
        """
        model, data = self._model, self._data
        try:
            momentum = pin.rnea(self._weightless, self._weightless_data, q, self._rest, dq).copy()
            coriolis = pin.computeCoriolisMatrix(model, data, q, dq)
            gravity = pin.computeGeneralizedGravity(model, data, q)
            known = torque - friction + coriolis.T @ dq - gravity
        except (TypeError, ValueError):
            # To look before every sample would take a tenth of its time.
            return self.step(elapsed, *joint_vectors(
                len(self._rest), q=q, dq=dq, torque=torque, friction=friction
            ))
        if not math.isfinite(float(momentum.sum() + known.sum())):
            # It would stay in the low-pass for good.
            self.restart()
            return None
        last, before = self._momentum, self._known
        self._momentum, self._known = momentum, known
        if last is None or before is None:
            return None
        if not elapsed > 0.0:
            raise UsageError(f'elapsed must be positive, got {elapsed!r} s')
        # What acted on the average since the last sample, which a low-pass of first order takes
        # exactly where it was constant.
        acted = (momentum - last) / elapsed - 0.5 * (known + before)
        kept = math.exp(-self.bandwidth * elapsed)
        self._external = kept * self._external + (1.0 - kept) * acted
        self._since += elapsed
        return self._external.copy() if self._since >= BLANKING / self.bandwidth else None
