# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The joints of a model in joint states, whose places are looked up once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.model import IdentifiedModel
from robot_identification.nodes.joint_state_reader import JointReading
from sensor_msgs.msg import JointState

QUANTITIES = ('position', 'velocity', 'effort')


def find_problem(message: JointState | JointReading, names: Sequence[str]) -> str:
    """Return why a joint state does not tell how these joints move, empty where it does."""
    given = list(message.name)
    missing = [name for name in names if name not in given]
    if missing:
        return (
            f'a joint state lacks {", ".join(missing)}; it names {", ".join(given) or "nothing"}: '
            'set tf_prefix if the driver has one, or use the model of this arm'
        )
    for quantity in ('position', 'velocity'):
        count = len(getattr(message, quantity))
        if count != len(given):
            return f'a joint state has {count} values of {quantity} for {len(given)} joints'
    return ''


class JointOrder:
    """
    Some joints of joint states, as the model has them.

    Their places are kept for as long as the messages name the same joints.
    """

    def __init__(self, joints: Sequence[str], model: IdentifiedModel) -> None:
        self._joints, self._encoders = tuple(joints), model.robot.encoders
        self._largest = model.robot.largest_readings.copy()
        # Efforts are compared in the driver's unit.
        self._largest[2] *= np.abs(model.effort_per_torque)
        self._share = 1.0 / self._largest
        self._names: tuple[str, ...] | None = None
        self._places = np.arange(0)

    def find_problem(self, reading: JointReading) -> str:
        """Return why `values` cannot be taken from a joint state, empty where they can."""
        names = reading.name
        if names is self._names and len(reading.position) == len(reading.velocity) == len(names):
            return ''
        problem = find_problem(reading, self._joints)
        if not problem:
            self._names = names
            self._places = np.array([names.index(joint) for joint in self._joints])
        return problem

    def find_nonsense(self, *given: np.ndarray, first: int = 0) -> tuple[str, str] | None:
        """
        Return what is wrong with values (n,) that no joint has, and why; None where nothing is.

        They are positions, velocities and efforts, from the `first` of these on. What is wrong is
        'not finite' or 'impossible'.
        """
        for quantity, values in enumerate(given, first):
            # Quick to find at every joint state, and false with a NaN.
            if np.abs(values).dot(self._share[quantity]) <= 1.0:
                continue
            possible = np.abs(values) <= self._largest[quantity]
            if possible.all():
                continue
            joint = int(np.argmin(possible))
            what = f'the {QUANTITIES[quantity]} of {self._joints[joint]} is {values[joint]:g}'
            if not np.isfinite(values[joint]):
                return 'not finite', f'{what}: check the driver'
            return 'impossible', (
                f'{what}, beyond {self._largest[quantity, joint]:g} no joint of this arm can be: '
                'check the driver, and the limits in the description'
            )
        return None

    def values(self, reading: JointReading) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """
        Return position [rad], velocity [rad/s] and effort (n,) of one without a problem.

        None in the place of effort where not every joint has one.
        """
        places, encoders = self._places, self._encoders
        effort = None
        if len(reading.effort) == len(reading.name):
            effort = encoders.sign * reading.effort[places]
        return (
            encoders.to_model(reading.position[places]),
            encoders.sign * reading.velocity[places], effort,
        )
