# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The joints of a model in joint states, whose places are looked up once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from robot_identification.model import JointEncoders
from robot_identification.nodes.joint_state_reader import JointReading
from sensor_msgs.msg import JointState


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

    def __init__(self, joints: Sequence[str], encoders: JointEncoders) -> None:
        self._joints, self._encoders = tuple(joints), encoders
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
