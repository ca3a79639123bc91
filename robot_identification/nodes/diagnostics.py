# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""States of nodes as diagnostic messages, whose values have names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import QoSProfile


class Diagnostics:
    """One status, under the name of the node and of a part of it, by default on /diagnostics."""

    def __init__(
        self, node: Node, part: str, topic: str = '/diagnostics', qos: QoSProfile | int = 10
    ) -> None:
        self._node = node
        self._name = f'{node.get_fully_qualified_name().strip("/")}: {part}'
        self._publisher = node.create_publisher(DiagnosticArray, topic, qos)

    def status(
        self, level: bytes, message: str, values: Mapping[str, object] | None = None
    ) -> DiagnosticStatus:
        """Return level, message and values, which become texts, under the name."""
        return DiagnosticStatus(level=level, name=self._name, message=message, values=[
            KeyValue(key=key, value=text) for key, text in _texts(values or {})
        ])

    def publish(
        self, level: bytes, message: str, values: Mapping[str, object] | None = None
    ) -> None:
        """Publish them with the present time."""
        array = DiagnosticArray(status=[self.status(level, message, values)])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)


def _texts(values: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    """Return names and texts; a list is its words, and a mapping has a name for each entry."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _texts({f'{name} {key}': inner for key, inner in value.items()})
        elif isinstance(value, (list, tuple)):
            yield name, ' '.join(map(str, value))
        else:
            yield name, str(value).lower() if isinstance(value, bool) else str(value)


def values_of(status: DiagnosticStatus) -> dict[str, str]:
    """Return the values of a status by name."""
    return {one.key: one.value for one in status.values}
