# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Diagnostics of a node on /diagnostics."""

from __future__ import annotations

from collections.abc import Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node
from rclpy.qos import QoSProfile


class Diagnostics:
    """One status, under the name of the node and of a part of it."""

    def __init__(self, node: Node, part: str) -> None:
        self._node = node
        self._name = f'{node.get_fully_qualified_name().strip("/")}: {part}'
        self._publisher = node.create_publisher(
            DiagnosticArray, '/diagnostics', QoSProfile(depth=10)
        )

    def publish(
        self, level: bytes, message: str, values: Mapping[str, object] | None = None
    ) -> None:
        """Publish level, message and values, which become texts."""
        array = DiagnosticArray(status=[DiagnosticStatus(
            level=level, name=self._name, message=message,
            values=[KeyValue(key=key, value=str(value)) for key, value in (values or {}).items()],
        )])
        array.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(array)
