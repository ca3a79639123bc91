# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The parameters `inject.*` of the simulated robot: what goes wrong, settable while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from robot_identification.errors import UsageError
from robot_identification.nodes.common import declare
from robot_identification.simulation import (
    Contact, LARGEST_CLOCK_JUMP, LONGEST_DELAY, RobotCondition, SAFETY_MODES, StreamFaults,
)

PREFIX = 'inject.'
CONTACT_LINK, CONTACT_POINT, CONTACT_FORCE, CONTACT_DURATION = (
    f'{PREFIX}contact_{name}' for name in ('link', 'point', 'force', 'duration')
)
# Of each coordinate of the point [m] and of the force [N], and of the duration [s]; chosen: beyond
# every known arm, its strength and a test.
FURTHEST_POINT, LARGEST_FORCE = 2.0, 500.0
SHORTEST_CONTACT, LONGEST_CONTACT = 0.002, 600.0
NO_FORCE = [0.0, 0.0, 0.0]  # no contact [N]
# Description and range of every field of the two dataclasses; units are in the descriptions.
DESCRIPTIONS: dict[str, tuple[str, tuple[float, float] | None]] = {
    'speed_scaling': ('speed slider: trajectory time advances by it [percent]', (0.0, 100.0)),
    'safety_mode': (
        'as Universal Robots numbers it; other than 1 and 2 the arm stops, the goal stays',
        SAFETY_MODES,
    ),
    'program_running': ('false: the controller is inactive, its goal is aborted', None),
    'controller_active': ('false: another controller has been switched in', None),
    'drop': ('share of the joint states that is lost', (0.0, 1.0)),
    'duplicate': ('share of the joint states that comes twice', (0.0, 1.0)),
    'nan': ('share of the joint states with a value that is not a number', (0.0, 1.0)),
    'delay': (
        'how much later joint states are published [s of simulated time]; stamps stay',
        (0.0, LONGEST_DELAY),
    ),
    'silence': ('no joint states are published', None),
    'freeze': ('joint states keep their values, under new stamps', None),
    'repeat': ('the same joint state comes repeatedly, with its stamp', None),
    'shuffle': ('every joint state has another order of joints', None),
    'clock_jump': (
        'added to the stamps of joint states [s]', (-LARGEST_CLOCK_JUMP, LARGEST_CLOCK_JUMP)
    ),
}


class InjectedFaults:
    """Declares the parameters, and reads them again after they have been set."""

    def __init__(self, node: Node) -> None:
        self._node = node
        for field in (*fields(StreamFaults), *fields(RobotCondition)):
            description, allowed = DESCRIPTIONS[field.name]
            lowest, highest = allowed or (None, None)
            declare(
                node, PREFIX + field.name, field.default, description,
                minimum=lowest, maximum=highest,
            )
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
            {field.name: self._node.get_parameter(PREFIX + field.name).value
             for field in fields(kind)}
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
