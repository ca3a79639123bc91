# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Drive of simulated arms in many rollouts at once: a torque, and a servo beside it."""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Drive:
    """
    Torques and references of S rollouts in K steps of n joints.

    The torque of a step is ``torque + stiffness (q_r - q) + damping (dq_r - dq)``; in an open loop
    stiffness and damping are zero.
    """

    step: float  # time of a step [s]
    torque: FloatArray  # (K, S, n): in the middle of every step [N m]
    # (K + 1, S, n): the references at the ends of the steps [rad], [rad/s].
    q: FloatArray
    dq: FloatArray
    # (n,): of the servo [N m/rad], [N m s/rad].
    stiffness: FloatArray
    damping: FloatArray

    @property
    def steps(self) -> int:
        """Return the number of steps."""
        return len(self.torque)
