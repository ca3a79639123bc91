# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The torque of an identified model at one sample after the other."""

from __future__ import annotations

from robot_identification.arrays import FloatArray
from robot_identification.model import IdentifiedModel
from robot_identification.prediction.rigid_torque import RigidTorque
from robot_identification.prediction.sample_friction import SampleFriction
from robot_identification.processing import uses_rotors


class SampleTorque:
    """
    Torque of bodies, rotors and friction, laid out once for a model.

    Equal to `standard_torque` of a whole recording, for the samples of a live arm.
    """

    def __init__(self, model: IdentifiedModel) -> None:
        self._rigid = RigidTorque(model)
        self._friction = SampleFriction(model)
        # Of a model of two encoders a joint, the gears transmit what moves the bodies alone.
        self._behind_gears = self._rigid.rotors if uses_rotors(model) else None

    def restart(self) -> None:
        """Forget the samples before."""
        self._friction.restart()

    def step(
        self, q: FloatArray, dq: FloatArray, ddq: FloatArray, temperature: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """
        Return the torque without friction (n,) and the friction (m, n) of the next sample [N m].

        `q` (n,) [rad] and `ddq` (n,) [rad/s^2]; `dq` (m, n) [rad/s] are velocities that friction
        is wanted at, of which the first one is that of the bodies. `temperature` (n,) [deg C] is
        needed where a friction law has one.
        """
        rigid = self._rigid(q, dq[0], ddq)
        transmitted = rigid if self._behind_gears is None else rigid - self._behind_gears * ddq
        if self._friction.heated:
            self._friction.set_temperature(temperature)
        return rigid, self._friction.step(q, dq, transmitted)
