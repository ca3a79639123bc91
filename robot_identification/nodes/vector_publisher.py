# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Vectors of joints, published as serialized bytes in which the numbers alone change."""

from __future__ import annotations

from collections.abc import Sequence
import struct

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from robot_identification.nodes.joint_state_reader import JointReading
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

STAMP = 4  # offset of the stamp [bytes]; CDR begins with four bytes of its own


class VectorMessage:
    """
    A joint state with efforts alone, as bytes.

    They are serialized once for some joints and a frame; stamp and numbers are written into them.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        self._joints = tuple(joints)
        self._frame: str | None = None
        self._stamp = struct.Struct('=iI')

    def _serialize(self, frame: str) -> None:
        marks = np.arange(1.0, 1.0 + len(self._joints))
        message = JointState(
            header=Header(frame_id=frame), name=list(self._joints), effort=marks.tolist()
        )
        self._data, self._frame = bytearray(serialize_message(message)), frame
        self._effort = np.frombuffer(
            self._data, dtype=float, count=len(marks), offset=self._data.rindex(marks.tobytes())
        )

    def begin(self, reading: JointReading) -> None:
        """Take stamp and frame of a joint state."""
        if reading.frame != self._frame:
            self._serialize(reading.frame)
        self._stamp.pack_into(self._data, STAMP, reading.seconds, reading.nanoseconds)

    def with_effort(self, effort: np.ndarray) -> bytes:
        """Return the message with efforts (n,), in the unit that its topic has."""
        self._effort[:] = effort
        return bytes(self._data)


class VectorPublisher:
    """Publisher of vectors that knows whether it has subscribers."""

    def __init__(self, node: Node, topic: str) -> None:
        self._publisher = node.create_publisher(JointState, topic, QoSProfile(depth=10))
        self.has_subscribers = False

    def poll(self) -> None:
        """Find whether it has subscribers now."""
        self.has_subscribers = self._publisher.get_subscription_count() > 0

    def publish(self, data: bytes) -> None:
        """Publish a serialized joint state."""
        self._publisher.publish(data)
