# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Friction of an identified model in steady sliding, tabulated over velocity.

Laws are evaluated once. A control loop then looks up their torque, for any laws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.errors import DataError
from robot_identification.model import IdentifiedModel, steady_torque

SPEEDS = 400  # rows of a joint's table, chosen
# Slower than any motion that matters, and where a joint's velocity limit is unknown [rad/s].
SLOWEST, FASTEST = 1.0e-4, 10.0


class _LookUp(NamedTuple):
    """The speeds of all joints in one list that ascends."""

    fastest: FloatArray  # (n,) [rad/s]
    scale: FloatArray  # (n,) its inverse
    begins: FloatArray  # (n,) number that the speeds of a joint begin at
    places: FloatArray  # (n m,) speeds as shares of the fastest, from there on
    first: IntArray  # (n,) row of a joint's first speed
    last: IntArray  # (n,) row of its last one but one
    rows: FloatArray  # (n m, 9): speed, the four columns, and their slopes up to the next row


@dataclass(frozen=True, eq=False)
class FrictionTable:
    """Friction of every joint that slides steadily, linear in the torque it transmits."""

    speeds: FloatArray  # (n, m): ascending from 0 to the joint's velocity limit [rad/s]
    # (n, m): torque against the motion, the mean of both directions [N m], [1]; not negative.
    resistance: FloatArray
    resistance_per_load: FloatArray
    # (n, m): what both directions have in common [N m], [1], such as an offset.
    bias: FloatArray
    bias_per_load: FloatArray

    def at(self, speed: FloatArray, load: FloatArray) -> tuple[FloatArray, FloatArray]:
        """
        Return resistance and bias of friction, each (n,) [N m].

        In motion, friction is ``bias + sign(dq) resistance``. `speed` (n,) [rad/s] is not
        negative, and beyond the table its fastest speed is used; `load` (n,) [N m] is the absolute
        torque that each joint transmits.
        """
        look_up = self._look_up
        v = np.minimum(speed, look_up.fastest)
        # Only below the first or beyond the last speed it is a place of another joint.
        at = np.searchsorted(look_up.places, v * look_up.scale + look_up.begins, side='right') - 1
        rows = look_up.rows.take(np.minimum(np.maximum(at, look_up.first), look_up.last), axis=0)
        found = rows[:, 1:5] + (v - rows[:, 0])[:, None] * rows[:, 5:]
        resistance: FloatArray = found[:, 0] + load * found[:, 1]
        bias: FloatArray = found[:, 2] + load * found[:, 3]
        return resistance, bias

    @cached_property
    def _look_up(self) -> _LookUp:
        """Return the table as `at` reads it."""
        n, count = self.speeds.shape
        columns = self.resistance, self.resistance_per_load, self.bias, self.bias_per_load
        steps = np.diff(self.speeds, append=np.inf)
        rows = np.stack([
            self.speeds, *columns, *(np.diff(one, append=0.0) / steps for one in columns)
        ], axis=2)
        fastest, first = self.speeds[:, -1], count * np.arange(n)
        begins = 2.0 * np.arange(float(n))
        places = self.speeds / fastest[:, None] + begins[:, None]
        return _LookUp(
            fastest, 1.0 / fastest, begins, places.ravel(), first, first + count - 2,
            rows.reshape(n * count, -1),
        )

    def with_break_away(self, slow: float) -> FrictionTable:
        """
        Return the table without the decrease of resistance towards rest.

        A smooth law goes to zero with the velocity, where a joint that is started needs the most.
        Below `slow` [rad/s], the resistance is the largest one from that speed up to `slow`, which
        lies above the passage through rest and below the speeds at which viscous friction matters.
        """
        def held(resistance: FloatArray) -> FloatArray:
            low = np.where(self.speeds <= slow, resistance, 0.0)
            largest: FloatArray = np.maximum.accumulate(low[:, ::-1], axis=1)[:, ::-1]
            return np.where(self.speeds <= slow, largest, resistance)

        return replace(
            self, resistance=held(self.resistance),
            resistance_per_load=held(self.resistance_per_load),
        )


def no_friction(n: int) -> FrictionTable:
    """Return the table of n joints that nothing is known of."""
    zeros = np.zeros((n, 2))
    return FrictionTable(np.tile([0.0, 1.0], (n, 1)), zeros, zeros, zeros, zeros)


def tabulate_friction(
    model: IdentifiedModel, temperature: FloatArray | None = None
) -> FrictionTable:
    """
    Return a model's friction in steady sliding.

    Laws with memory are taken after a long way in one direction. `temperature` (n,) [deg C] is by
    default that of the training data, else the one that each law refers to. Raises DataError if a
    law gives no finite number.
    """
    robot, n = model.robot, model.robot.n
    temperature = model.temperature if temperature is None else temperature
    fastest = np.where(np.isfinite(robot.limits.velocity), robot.limits.velocity, FASTEST)
    speeds = np.array([
        np.append(0.0, np.geomspace(min(SLOWEST, 0.5 * top), top, SPEEDS - 1)) for top in fastest
    ])
    # Of both directions, without load and per load.
    torque = np.zeros((2, 2, n, SPEEDS))
    theta = model.theta_lifted
    for term, columns in model.parameters.friction_columns:
        joint = term.joint
        at = term.law.temperature_at(None if temperature is None else temperature[joint])
        for side, sign in enumerate((1.0, -1.0)):
            free, loaded = (
                steady_torque(term.law, theta[columns], sign * speeds[joint], load, at)
                for load in (0.0, 1.0)
            )
            torque[side, 0, joint] += free
            torque[side, 1, joint] += loaded - free
        if not np.all(np.isfinite(torque[:, :, joint])):
            raise DataError(
                f'{robot.joint_names[joint]}: friction law {term.law.name} gives no number (joint '
                f'at {at:g} deg C): give the temperature of the joint if the law needs one, '
                'or identify the arm anew'
            )
    forth, back = torque
    resistance, bias = 0.5 * (forth - back), 0.5 * (forth + back)
    # Friction that is negative in the model would push; there is none to make up for.
    return FrictionTable(
        speeds, np.maximum(resistance[0], 0.0), np.maximum(resistance[1], 0.0), *bias
    )
