# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Joints and drives of a simulated arm beyond rigid bodies: friction, heat, ripple, a loop.

Friction sticks by a bristle that bends before it slips, with Stribeck, load and temperature: below
break-away the bristle is a plain spring, so that a joint at rest does not creep; beyond, it slips
at the torque of the Stribeck curve. Nothing of it is shared with the friction laws of the model,
which it tests. Joints warm up by ``C dT/dt = friction power + copper loss - (T - ambient) / R``,
solved exactly over steps of constant heat; the constants can be chosen so that a typical motion
warms an arm as Raviola et al. 2021 measured it on a UR3 and a UR5: from 24 to about 38 deg C in
half an hour. Periodic torques are of eccentricity, cables and cogging, and ripple of gears. The
velocity loop reacts to the velocity it measures, noise included; the noise is band-limited, so
that joint states at a driver's rate show most of it; what a joint state says is what the loop
feeds back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError

AMBIENT = 24.0  # temperature of the air [deg C] (Raviola et al. 2021)
# What half an hour of motion adds [K], [s] (Raviola et al. 2021).
WARM_UP_RISE, WARM_UP_TIME = 14.0, 1800.0
# Of a joint's housing [s].
TIME_CONSTANT = 1200.0
# Of excitation trajectories of a UR3 and a UR5: root mean square of the velocity [rad/s].
TYPICAL_SPEED = 1.1
# Change of viscous friction per temperature, as a share [1/K]: 17 % in 12.9 K (UR5), 20 % (UR3),
# Raviola et al. 2021, table 4.
VISCOUS_SLOPE = -0.014


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


@dataclass(frozen=True, eq=False)
class ThermalModel:
    """Heat of joints, each by itself, shape (n,)."""

    capacity: FloatArray  # [J/K]
    resistance: FloatArray  # to the ambient air [K/W]
    ambient: float = AMBIENT  # temperature of the air, and of the joints at first [deg C]
    acceleration: float = 1.0  # how many times faster than real joints they warm up and cool down

    def __post_init__(self) -> None:
        if not (np.isfinite(self.acceleration) and self.acceleration > 0.0):
            raise UsageError(
                f'thermal model: acceleration is {self.acceleration:g}, it must be > 0'
            )

    @property
    def time_constant(self) -> FloatArray:
        """Time of the warming, acceleration included [s], shape (n,)."""
        return self.capacity * self.resistance / self.acceleration

    def step(self, temperature: FloatArray, heat: FloatArray, dt: float) -> FloatArray:
        """Return temperatures [deg C] after a time `dt` [s] of constant heat [W], exactly."""
        final = self.ambient + self.resistance * heat
        result: FloatArray = final + (temperature - final) * np.exp(-dt / self.time_constant)
        return result


def make_thermal_model(
    coulomb: FloatArray,
    viscous: FloatArray,
    *,
    ambient: float = AMBIENT,
    acceleration: float = 1.0,
) -> ThermalModel:
    """
    Return the thermal model of joints that a typical motion warms by WARM_UP_RISE in half an hour.

    The power of a velocity that is normally distributed with a standard deviation of 1.1 rad/s,
    with friction `coulomb` [N m] and `viscous` [N m s/rad], heats the joints.
    """
    power = (
        coulomb * np.sqrt(2.0 / np.pi) * TYPICAL_SPEED + viscous * TYPICAL_SPEED**2
    )
    # A joint without friction has no heat of its own, with any resistance.
    power = np.where(power > 0.0, power, 1.0)
    resistance = WARM_UP_RISE / (1.0 - np.exp(-WARM_UP_TIME / TIME_CONSTANT)) / power
    return ThermalModel(TIME_CONSTANT / resistance, resistance, ambient, acceleration)


@dataclass(frozen=True, eq=False)
class PeriodicTorque:
    """``torque = sum over k of amplitude[k] * sin(order[k] * q + phase[k])``, (K, n) each."""

    order: FloatArray  # periods per turn of the joint [1]
    amplitude: FloatArray  # [N m]
    phase: FloatArray  # [rad]

    def torque(self, q: FloatArray) -> FloatArray:
        """Return the torque [N m] against the motor at positions (..., n) [rad]."""
        angle = self.order * np.asarray(q)[..., None, :] + self.phase
        torque: FloatArray = np.sum(self.amplitude * np.sin(angle), axis=-2)
        return torque


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
