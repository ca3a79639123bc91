# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Asks the running driver for what a recorder notes of it, without waiting for answers."""

from __future__ import annotations

from dataclasses import replace
import math
from pathlib import Path
import time
from typing import Any

import defusedxml.ElementTree
from rclpy.node import Node
from rclpy.task import Future
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import read_text
from robot_identification.nodes.adapter import ListControllers
from robot_identification.nodes.common import LATCHED
from robot_identification.nodes.motion_interface import LIST_SERVICE
from robot_identification.nodes.service_clients import REPEATED_AFTER
from robot_identification.recording import DriverRecord, hardware_record, with_states
from std_msgs.msg import String


class DriverNotes:
    """
    Knowledge of the driver, from its description, its controller manager and its states.

    Nothing is waited for: `poll` asks until it is answered.
    """

    def __init__(self, node: Node) -> None:
        self._description = ''
        self._controllers: tuple[str, ...] | None = None
        self._answer: Future | None = None
        self._asked_at = -math.inf
        node.create_subscription(String, 'robot_description', self._on_description, LATCHED)
        self._list = (
            None if ListControllers is None else node.create_client(ListControllers, LIST_SERVICE)
        )

    def begin(self) -> None:
        """Forget what the last recording was driven by, and ask anew."""
        self._controllers, self._asked_at = None, -math.inf
        self.poll()

    def poll(self) -> None:
        """Ask for the controllers, if there is no answer yet; to be called regularly."""
        if self._list is None or self._controllers is not None:
            return
        now = time.monotonic()
        if now - self._asked_at < REPEATED_AFTER or not self._list.service_is_ready():
            return
        if self._answer is not None:
            # It was lost, or is that of an earlier recording; rclpy keeps it for ever.
            self._list.remove_pending_request(self._answer)
        self._asked_at = now
        self._answer = self._list.call_async(ListControllers.Request())
        self._answer.add_done_callback(self._on_controllers)

    def record(self, states: tuple[bytes, bytes] | None = None) -> DriverRecord:
        """Return what is known by now, with the first and the last state of all interfaces."""
        found = replace(_installed_driver(self._description), controllers=self._controllers)
        return found if states is None else with_states(found, *states)

    def _on_description(self, message: String) -> None:
        self._description = message.data

    def _on_controllers(self, future: Future) -> None:
        if future is self._answer and future.result() is not None:
            self._controllers = _commanding(future.result().controller)


def describe_driver(description: str) -> str:
    """Return which driver a robot's description names, and which version of it is installed."""
    found = _installed_driver(description)
    if found.package is None:
        return 'driver: not known, as no robot_description names its hardware interface'
    if found.version is None:
        return f'driver: {found.package}, version not known, as it is not installed here'
    return f'driver: {found.package} {found.version}, as installed here'


def _installed_driver(description: str) -> DriverRecord:
    found = hardware_record(description)
    return replace(found, version=_installed_version(found.package))


def _commanding(controllers: list[Any]) -> tuple[str, ...]:
    """Return the active controllers that command joints, by name and class."""
    return tuple(
        f'{one.name} ({one.type})' for one in controllers
        # The driver's own interpolation of trajectories claims interfaces of other names.
        if one.state == 'active' and ('Trajectory' in one.type or any(
            claimed.rpartition('/')[2] in ('position', 'velocity', 'effort')
            for claimed in one.claimed_interfaces
        ))
    )


def _installed_version(package: str | None) -> str | None:
    """Return the version of a package as it is installed here."""
    try:
        from ament_index_python.packages import get_package_share_directory

        path = Path(get_package_share_directory(package or '')) / 'package.xml'
        root = defusedxml.ElementTree.fromstring(read_text(path), forbid_dtd=True)
        return (root.findtext('version') or '').strip() or None
    # A package that is not there is a KeyError, an index that is not there an OSError, and a name
    # that none can have a ValueError, as is XML that is refused.
    except (
        ImportError, LookupError, OSError, ValueError, SyntaxError, UsageError, DescriptionError
    ):
        return None
