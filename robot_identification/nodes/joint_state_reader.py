# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Joint states from their serialized bytes.

The messages of one publisher repeat names and lengths, so that their numbers lie at the same
bytes: these are found once, and rclpy builds no message.
"""

from __future__ import annotations

from dataclasses import dataclass
import struct

import numpy as np
from rclpy.serialization import deserialize_message
from robot_identification.arrays import FloatArray
from robot_identification.recording import Damage, Walker
from sensor_msgs.msg import JointState

# Layouts that are kept, by the length of a message; chosen: an arm, its gripper and a few more
# publish on one topic.
MOST_LAYOUTS = 16


@dataclass(frozen=True, eq=False)
class JointReading:
    """A joint state in the driver's units and order; fields as of sensor_msgs/msg/JointState."""

    # Of the stamp: seconds and the nanoseconds of the last one.
    seconds: int
    nanoseconds: int
    frame: str
    name: tuple[str, ...]
    # As many numbers as the message has; none where it does not give the quantity.
    position: FloatArray  # [rad or m]
    velocity: FloatArray  # [rad/s or m/s]
    effort: FloatArray

    @property
    def stamp(self) -> float:
        """Stamp of the header [s]."""
        return self.seconds + self.nanoseconds * 1e-9


@dataclass(frozen=True, eq=False)
class _Layout:
    """Offsets of the numbers in messages with the same bytes in `fixed`."""

    fixed: tuple[tuple[slice, bytes], ...]
    stamp: struct.Struct
    offset: int  # of the stamp [bytes]
    frame: str
    names: tuple[str, ...]
    kind: np.dtype
    # Offset [bytes] and count of positions, velocities and efforts.
    places: tuple[tuple[int, int], ...]

    def fits(self, data: bytes) -> bool:
        for part, held in self.fixed:
            if data[part] != held:
                return False
        return True

    def read(self, data: bytes) -> JointReading:
        seconds, nanoseconds = self.stamp.unpack_from(data, self.offset)
        return JointReading(seconds, nanoseconds, self.frame, self.names, *(
            np.frombuffer(data, self.kind, count, offset) for offset, count in self.places
        ))


class JointStateReader:
    """Reads serialized joint states; `walked` counts those whose layout had to be found."""

    def __init__(self) -> None:
        self._layouts: dict[int, _Layout] = {}
        self.walked = 0

    def read(self, data: bytes) -> JointReading:
        """Return what a serialized sensor_msgs/msg/JointState has."""
        layout = self._layouts.get(len(data))
        if layout is None or not layout.fits(data):
            self.walked += 1
            try:
                layout = _find_layout(data)
            except Damage:
                # Not plain CDR, which the middleware may read all the same.
                return _built(deserialize_message(data, JointState))
            if len(self._layouts) >= MOST_LAYOUTS:
                self._layouts.clear()
            self._layouts[len(data)] = layout
        return layout.read(data)


def _find_layout(data: bytes) -> _Layout:
    walker = Walker(data)
    offset = walker.number(4)
    walker.number(4)
    frame, names = walker.text(), walker.texts()
    places = tuple(_place(walker.numbers()) for _ in range(3))
    return _Layout(
        tuple((part, data[part]) for part in walker.fixed),
        struct.Struct(walker.byte_order + 'iI'), offset, frame, names,
        np.dtype(walker.byte_order + 'f8'), places,
    )


def _place(offsets: np.ndarray) -> tuple[int, int]:
    return (int(offsets[0]), len(offsets)) if len(offsets) else (0, 0)


def _built(message: JointState) -> JointReading:
    stamp = message.header.stamp
    return JointReading(
        stamp.sec, stamp.nanosec, message.header.frame_id, tuple(message.name),
        *(
            np.fromiter(values, dtype=float)
            for values in (message.position, message.velocity, message.effort)
        ),
    )
