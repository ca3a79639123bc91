# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The parameters `inject.*` of the simulated robot: what goes wrong, settable while it runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from robot_identification.errors import UsageError
from robot_identification.nodes.common import declare, declare_options
from robot_identification.options import options_of
from robot_identification.simulation import Contact, RobotCondition, StreamFaults

PREFIX = 'inject.'
CONTACT_LINK, CONTACT_POINT, CONTACT_FORCE, CONTACT_DURATION = (
    f'{PREFIX}contact_{name}' for name in ('link', 'point', 'force', 'duration')
)
# Of each coordinate of the point [m] and of the force [N], and of the duration [s]; chosen: beyond
# every known arm, its strength and a test.
FURTHEST_POINT, LARGEST_FORCE = 2.0, 500.0
SHORTEST_CONTACT, LONGEST_CONTACT = 0.002, 600.0
NO_FORCE = [0.0, 0.0, 0.0]  # no contact [N]


class InjectedFaults:
    """Declares the parameters, and reads them again after they have been set."""

    def __init__(self, node: Node) -> None:
        self._node = node
        for kind in (StreamFaults, RobotCondition):
            declare_options(node, kind, prefix=PREFIX)
        self._changed = True
        # Other callbacks may still refuse, and ROS 2 Humble has none for what has been set.
        node.add_on_set_parameters_callback(self._on_set)

    def _on_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        self._changed = True
        return SetParametersResult(successful=True)

    def changes(self) -> tuple[StreamFaults, RobotCondition] | None:
        """Return what goes wrong from now on, or None as long as it is what it was."""
        if not self._changed:
            return None
        self._changed = False
        stream, condition = (
            {one.name: self._node.get_parameter(PREFIX + one.key).value
             for one in options_of(kind)}
            for kind in (StreamFaults, RobotCondition)
        )
        return StreamFaults(**stream), RobotCondition(**condition)


class InjectedContact:
    """Declares the parameters of a contact at a link; a force other than zero begins it."""

    def __init__(self, node: Node, links: Sequence[str]) -> None:
        self._node = node
        declare(
            node, CONTACT_LINK, links[-1], 'link of the next contact',
            choices=tuple(links),
        )
        declare(
            node, CONTACT_POINT, NO_FORCE, 'point of the contact in the frame of the link [m]',
            minimum=-FURTHEST_POINT, maximum=FURTHEST_POINT, longest=3, check=_three,
        )
        declare(
            node, CONTACT_DURATION, 0.5, 'duration of the next contact [s of simulated time]',
            minimum=SHORTEST_CONTACT, maximum=LONGEST_CONTACT,
        )
        declare(
            node, CONTACT_FORCE, NO_FORCE,
            "force on the arm in the URDF's root frame [N]: a new value begins a contact, zero "
            'ends it; it becomes zero when the contact ends',
            minimum=-LARGEST_FORCE, maximum=LARGEST_FORCE, longest=3, check=_three,
        )
        self._force = NO_FORCE
        self._end = np.inf
        self._changed = True
        node.add_on_set_parameters_callback(self._on_set)

    def _on_set(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        self._changed = True
        return SetParametersResult(successful=True)

    def is_new(self, now: float) -> bool:
        """Return whether the force is another one than before, which it is after its end."""
        if now >= self._end:
            self._end = np.inf
            self._node.set_parameters([Parameter(CONTACT_FORCE, value=NO_FORCE)])
        changed, self._changed = self._changed, False
        return changed and self._value(CONTACT_FORCE) != self._force

    def take(self, now: float) -> Contact | None:
        """Return the contact that begins now; None where there is no force any more."""
        self._force = self._value(CONTACT_FORCE)
        if self._force == NO_FORCE:
            self._end = np.inf
            return None
        duration = self._node.get_parameter(CONTACT_DURATION).value
        self._end = now + duration
        return Contact(
            self._node.get_parameter(CONTACT_LINK).value,
            np.array(self._value(CONTACT_POINT)), np.array(self._force), now, duration,
        )

    def _value(self, name: str) -> list[float]:
        return list(self._node.get_parameter(name).value)


def _three(values: Sequence[float]) -> None:
    """Refuse what is no vector; the words before are the parameter's name."""
    if len(values) != 3:
        raise UsageError(f'3 numbers are needed, got {len(values)}')
