# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Joint friction that sticks: a bristle that bends before it slips, Stribeck, load and temperature.

Below break-away the bristle is a plain spring, so that a joint at rest does not creep; beyond, it
slips at the torque of the Stribeck curve. Nothing of it is shared with the friction laws of the
model, which it tests.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError


@dataclass(frozen=True, eq=False)
class JointFriction:
    """
    Constants of friction, on the joint's side, shape (n,) where they differ by joint.

    At a steady velocity the torque is ``(coulomb + (static - coulomb) exp(-(dq /
    stribeck_velocity)^2) + load_share |tau|) sign(dq) + viscous (1 + viscous_slope (T -
    reference_temperature)) dq``, where tau is the torque that the joint passes on to its link.
    """

    coulomb: FloatArray  # kinetic dry friction without load [N m]
    viscous: FloatArray  # at the reference temperature [N m s/rad]
    static: FloatArray  # break-away torque without load [N m], not below `coulomb`
    load_share: FloatArray  # dry friction per torque passed on [1]
    # change of viscous friction as a share [1/K], negative where grease thins
    viscous_slope: FloatArray
    stribeck_velocity: float = 0.03  # width of the passage from static to kinetic friction [rad/s]
    travel: float = 1.0e-4  # yield of a joint before it breaks away [rad]
    damping_time: float = 1.0e-3  # damping of the sticking bristle over its stiffness [s]
    reference_temperature: float = 24.0  # of `viscous` [deg C]

    def __post_init__(self) -> None:
        n = np.shape(self.coulomb)
        for item in fields(self):
            value = np.asarray(getattr(self, item.name), dtype=float)
            if not np.all(np.isfinite(value)):
                raise UsageError(f'friction: {item.name} is {value.tolist()}, not finite')
            if value.ndim and value.shape != n:
                raise UsageError(
                    f'friction: {item.name} has shape {value.shape}, needed is one for each of '
                    f'the joints of coulomb, {n}'
                )
        for name in ('coulomb', 'viscous', 'load_share', 'damping_time'):
            if np.any(np.asarray(getattr(self, name)) < 0.0):
                raise UsageError(f'friction: {name} is negative')
        for name in ('stribeck_velocity', 'travel'):
            if getattr(self, name) <= 0.0:
                raise UsageError(f'friction: {name} is {getattr(self, name):g}, it must be > 0')
        if np.any(self.static < self.coulomb):
            raise UsageError(
                f'friction: the static one {self.static.tolist()} is below the kinetic one '
                f'{self.coulomb.tolist()}'
            )
        if np.any((self.load_share > 0.0) & (self.static <= 0.0)):
            raise UsageError('friction: a joint that sticks under load needs a static one > 0')

    @cached_property
    def stiffness(self) -> FloatArray:
        """Torque of the sticking bristle per angle [N m/rad], shape (n,)."""
        return self.static / self.travel

    @cached_property
    def _excess(self) -> FloatArray:
        excess: FloatArray = self.static - self.coulomb
        return excess

    def level(self, dq: FloatArray, joint_torque: FloatArray) -> FloatArray:
        """Return the dry friction [N m] at which a joint slips, shape (..., n)."""
        excess = self._excess * np.exp(-(dq / self.stribeck_velocity) ** 2)
        level: FloatArray = self.coulomb + excess + self.load_share * np.abs(joint_torque)
        return level

    def viscous_torque(self, dq: FloatArray, temperature: FloatArray) -> FloatArray:
        """Return viscous friction [N m]; it does not turn around however hot the joint is."""
        factor = 1.0 + self.viscous_slope * (temperature - self.reference_temperature)
        torque: FloatArray = self.viscous * np.maximum(factor, 0.0) * dq
        return torque

    def step(
        self, dq: FloatArray, joint_torque: FloatArray, temperature: FloatArray, bend: FloatArray,
        dt: float,
    ) -> tuple[FloatArray, FloatArray]:
        """
        Return the friction torque of one step of time [N m], and the bristles' bend after it.

        Velocities [rad/s], torques passed on [N m] and temperatures [deg C] are those at its
        start; `bend` is zero at first [rad]. Shape (n,) each.
        """
        stiffness = self.stiffness
        level = self.level(dq, joint_torque)
        trial = stiffness * (bend + dq * dt)
        dry = np.minimum(np.maximum(trial, -level), level)
        # A bristle that slips does not bend any more, and has nothing to damp.
        sticks = dry == trial
        damping = np.where(sticks, self.damping_time * stiffness * dq, 0.0)
        after = np.divide(dry, stiffness, out=np.zeros_like(dry), where=stiffness > 0.0)
        return dry + damping + self.viscous_torque(dq, temperature), after


def smallest_stable_inertia(friction: JointFriction, dt: float) -> FloatArray:
    """
    Return the smallest inertia that explicit steps of friction are stable on, (n,) [kg m^2].

    For ``v' = v - (k x + c v) dt / m, x' = x + v' dt`` (Jury's conditions): ``k dt^2 + 2 c dt < 4
    m``.
    """
    stiffness = friction.stiffness
    damping = friction.damping_time * stiffness + friction.viscous
    smallest: FloatArray = (stiffness * dt**2 + 2.0 * damping * dt) / 4.0
    return smallest
