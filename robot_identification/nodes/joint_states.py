# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Joint states from their serialized bytes, the joints of a model in them, and vectors as bytes.

The messages of one publisher repeat names and lengths, so that their numbers lie at the same
bytes: these are found once, and rclpy builds no message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
import struct

import numpy as np
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from robot_identification.arrays import FloatArray
from robot_identification.model import IdentifiedModel
from robot_identification.recording import Damage, Walker
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

# Layouts that are kept, by the length of a message; chosen: an arm, its gripper and a few more
# publish on one topic.
MOST_LAYOUTS = 16
QUANTITIES = ('position', 'velocity', 'effort')
STAMP = 4  # offset of the stamp [bytes]; CDR begins with four bytes of its own


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
