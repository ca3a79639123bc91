# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Velocity loop of a drive that reacts to the velocity it measures, noise included.

The noise is band-limited, so that joint states at a driver's rate show most of it; what a joint
state says is what the loop feeds back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError


@dataclass(frozen=True, eq=False)
class VelocityLoop:
    """``torque = gain * F(dq_wanted - dq_measured)`` per joint, F a low-pass of first order."""

    gain: FloatArray  # (n,): on the joint's side [N m s/rad]
    noise: float  # standard deviation of the measured velocity [rad/s]
    # Corner frequencies [Hz] of the noise and of F; chosen: most of both is below half the rate of
    # a driver at 125 Hz, and more than half of it above the cut-off of an identification.
    noise_bandwidth: float = 30.0
    cut_off: float = 60.0

    def __post_init__(self) -> None:
        for name in ('noise', 'noise_bandwidth', 'cut_off'):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise UsageError(f'velocity loop: {name} is {value:g}, it must be > 0')
        if not np.all(np.isfinite(self.gain) & (np.asarray(self.gain) >= 0.0)):
            raise UsageError('velocity loop: gain must be finite and not negative')


class RunningVelocityLoop:
    """A velocity loop in time steps of `dt` [s]; the same `seed` gives the same noise."""

    def __init__(self, loop: VelocityLoop, dt: float, seed: int) -> None:
        n = len(loop.gain)
        self._loop = loop
        # A stream of its own: the sensors' noise stays as it is without a loop.
        self._rng = np.random.default_rng([seed, 1])
        self._memory, self._pass = (
            np.exp(-2.0 * np.pi * frequency * dt)
            for frequency in (loop.noise_bandwidth, loop.cut_off)
        )
        self._innovation = loop.noise * np.sqrt(1.0 - self._memory**2)
        self._filtered = np.zeros(n)
        self.noise: FloatArray = loop.noise * self._rng.standard_normal(n)  # [rad/s]

    def step(self, dq_wanted: FloatArray, dq: FloatArray) -> FloatArray:
        """Return the loop's torque [N m] of one step, with the true velocity at its start."""
        fresh = self._innovation * self._rng.standard_normal(len(dq))
        self.noise = self._memory * self.noise + fresh
        error = dq_wanted - (dq + self.noise)
        self._filtered = self._pass * self._filtered + (1.0 - self._pass) * error
        torque: FloatArray = self._loop.gain * self._filtered
        return torque
