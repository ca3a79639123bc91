# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
One joint or wheel that takes torques, and sticks exactly.

At rest it does not move by anything before the torque on it exceeds the break-away torque, so that
what a slow ramp finds is what was set, to the step of the ramp. Nothing of it is shared with the
friction laws of the model, nor with what tests it.
"""

from __future__ import annotations

from dataclasses import dataclass
import math

import numpy as np
from robot_identification.errors import UsageError
from robot_identification.options import check_options, option


@dataclass(frozen=True)
class EffortJointConstants:
    """
    Constants of a joint, or of a wheel where `gravity_moment` is 0.

    In motion ``inertia ddq = tau - gravity_moment sin(q) - viscous dq - sign(dq) (coulomb +
    (static - coulomb) exp(-(dq / stribeck_velocity)^2))``; at rest it stays as long as ``|tau -
    gravity_moment sin(q)| <= static``.

    By default it is a youBot base wheel: break-away of Rajagopal 2017 (table 4.2, wheel 3);
    kinetic friction, 80 % of it, viscous friction and inertia, with the rotor's behind its gear,
    are assumed.
    """

    inertia: float = option(
        float, "effort joint: inertia of link and rotor, on the joint's side [kg m^2]",
        default=0.009, minimum=1.0e-4, maximum=1.0e3,
    )
    static: float = option(
        float, 'effort joint: break-away friction [N m]', default=0.126, minimum=0.0,
        maximum=1.0e3,
    )
    coulomb: float = option(
        float, 'effort joint: kinetic dry friction [N m]', default=0.1, minimum=0.0, maximum=1.0e3
    )
    viscous: float = option(
        float, 'effort joint: viscous friction [N m s/rad]', default=0.01, minimum=0.0,
        maximum=1.0e3,
    )
    stribeck_velocity: float = option(
        float, 'effort joint: width of the passage from static to kinetic friction [rad/s]',
        default=0.03, minimum=1.0e-3, maximum=10.0,
    )
    gravity_moment: float = option(
        float, 'effort joint: largest moment of gravity [N m]; at zero it hangs, or stands where '
        'the moment is negative', default=0.0, minimum=-1.0e3, maximum=1.0e3,
    )

    def __post_init__(self) -> None:
        check_options(self)
        if self.static < self.coulomb:
            raise UsageError(
                f'effort joint: static friction {self.static:g} N m is below the kinetic one, '
                f'{self.coulomb:g} N m'
            )

    def gravity(self, q: float) -> float:
        """Return the torque that holds the joint against gravity [N m]."""
        return self.gravity_moment * math.sin(q)

    def friction(self, speed: float) -> float:
        """Return friction at a steady speed >= 0 [rad/s], in N m."""
        drop = (self.static - self.coulomb) * math.exp(-(speed / self.stribeck_velocity) ** 2)
        return self.coulomb + drop + self.viscous * speed


class EffortJoint:
    """
    Joint that is moved by torques, at rest at `q` [rad] at first.

    `velocity_noise` is the standard deviation of the measured velocity [rad/s], `seed` that
    noise's seed.
    """

    def __init__(
        self, constants: EffortJointConstants, q: float = 0.0, *,
        velocity_noise: float = 0.0, seed: int = 0,
    ) -> None:
        self.constants = constants
        self.q, self.dq = float(q), 0.0
        self._noise = velocity_noise
        self._rng = np.random.default_rng(seed)

    def measure(self) -> tuple[float, float]:
        """Return position [rad] and measured velocity [rad/s]."""
        return self.q, self.dq + self._noise * float(self._rng.standard_normal())

    def advance(self, torque: float, duration: float) -> None:
        """Apply a constant torque of the drive, on the joint's side [N m], for some time [s]."""
        left = duration
        while left > 0.0:
            if self.dq == 0.0 and abs(self._drive(torque, self.q)) <= self.constants.static:
                # It stays: neither torque nor gravity changes.
                return
            step = min(left, 5.0e-4)
            left -= self._slide(torque, step)

    def _drive(self, torque: float, q: float) -> float:
        """Return the torque against which friction stands."""
        return torque - self.constants.gravity(q)

    def _slide(self, torque: float, step: float) -> float:
        """Move for a step, or until the joint comes to rest; return how long that was."""
        constants = self.constants
        sign = math.copysign(1.0, self.dq if self.dq != 0.0 else self._drive(torque, self.q))

        def acceleration(q: float, dq: float) -> float:
            # Within a step friction keeps its sign.
            friction = sign * constants.friction(abs(dq))
            return (self._drive(torque, q) - friction) / constants.inertia

        first = acceleration(self.q, self.dq)
        middle = self.dq + 0.5 * step * first
        half = self.q + 0.25 * step * (self.dq + middle)
        mean = acceleration(half, max(sign * middle, 0.0) * sign)
        after = self.dq + step * mean
        if sign * after > 0.0:
            self.q += 0.5 * step * (self.dq + after)
            self.dq = after
            return step
        # It turns around, or stops: there friction can hold it. A joint that only just breaks
        # away does not move within this step.
        taken = min(-self.dq / mean, step) if self.dq != 0.0 and mean != 0.0 else step
        self.q += 0.5 * taken * self.dq
        self.dq = 0.0
        return taken
