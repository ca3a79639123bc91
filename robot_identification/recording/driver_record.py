# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Record of the driver and the robot's controller, kept in the bag's metadata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
import json
import math
import struct
from typing import Any
from xml.etree.ElementTree import Element

from robot_identification.errors import DescriptionError
from robot_identification.model import parse_robot_xml
from robot_identification.recording.cdr import Walker
from robot_identification.recording.raw_bag import Damage

# Key of the metadata whose value is the record as JSON.
DRIVER = 'driver'
NOT_KNOWN = 'not known'
MOST_CHARACTERS = 200  # of a text in a record; chosen: longer than any name or hash
CLOSE = 1e-6  # kg and m; chosen: above the rounding of a float32, below what is ever set
_PAYLOAD = ('mass', 'cog.x', 'cog.y', 'cog.z')
_INERTIA = tuple(f'inertia.i{axes}' for axes in ('xx', 'yy', 'zz', 'xy', 'xz', 'yz'))
_VERSION = tuple(f'get_version_{part}' for part in ('major', 'minor', 'bugfix', 'build'))


@dataclass(frozen=True)
class DriverRecord:
    """Driver and controller of a recording; None is not known."""

    package: str | None = None  # package of the hardware interface
    # of the package as it is installed where the recorder ran
    version: str | None = None
    hardware: str | None = None  # class of the hardware interface
    robot_type: str | None = None  # what the driver is configured for
    polyscope: str | None = None  # software version of the robot
    use_currents_as_efforts: bool | None = None  # whether `effort` is the motor current
    controllers: tuple[str, ...] | None = None  # active ones that command the arm
    gravity: tuple[float, ...] | None = None  # set on the robot [m/s^2]
    # Mass [kg], centre (3) [m] and, where the driver states it, inertia (6) [kg m^2] in the order
    # xx, yy, zz, xy, xz, yz that are set on the robot, at the start and at the end.
    payload: tuple[float, ...] | None = None
    payload_at_end: tuple[float, ...] | None = None
    calibration_hash: str | None = None  # of the kinematics that the driver was started with

    @property
    def payload_changed(self) -> bool:
        """Return whether another payload was set at the end than at the start."""
        one, other = self.payload, self.payload_at_end
        return one is not None and other is not None and (
            len(one) != len(other)
            or any(abs(a - b) > CLOSE for a, b in zip(one, other, strict=True))
        )

    def text(self) -> str:
        """Return the value for the bag's metadata."""
        return json.dumps(asdict(self), sort_keys=True)

    def describe(self) -> list[tuple[str, str]]:
        """Return titles and texts of everything, known or not."""
        driver = ' '.join(filter(None, (self.package, self.version)))
        currents = self.use_currents_as_efforts
        return [
            ('Driver', driver or self.hardware or NOT_KNOWN),
            ('Robot type, as the driver is configured', self.robot_type or NOT_KNOWN),
            ('PolyScope', self.polyscope or NOT_KNOWN),
            ('use_currents_as_efforts', NOT_KNOWN if currents is None else str(currents).lower()),
            ('Controllers', ', '.join(self.controllers or ()) or NOT_KNOWN),
            ('Gravity set on the robot', _vector(self.gravity, 'm/s^2')),
            ('Payload set on the robot', self._payload_text()),
            ('Calibration', self.calibration_hash or NOT_KNOWN),
        ]

    def _payload_text(self) -> str:
        text = _payload_text(self.payload)
        return f'{text}, at the end {_payload_text(self.payload_at_end)}' if (
            self.payload_changed
        ) else text


def _payload_text(payload: tuple[float, ...] | None) -> str:
    if payload is None or len(payload) < len(_PAYLOAD):
        return NOT_KNOWN
    return f'{payload[0]:.4g} kg at {_vector(payload[1:4], "m")}'


def _vector(values: Sequence[float] | None, unit: str) -> str:
    return NOT_KNOWN if values is None else f'({", ".join(f"{v:.4g}" for v in values)}) {unit}'


def read_driver_record(metadata: Mapping[str, str]) -> DriverRecord | None:
    """Return the record of a bag's metadata; None without one that can be read."""
    try:
        content = json.loads(metadata[DRIVER])
    except (KeyError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    return DriverRecord(**{
        field.name: _READERS[str(field.type)](content.get(field.name))
        for field in fields(DriverRecord)
    })


def _text(value: object) -> str | None:
    return value[:MOST_CHARACTERS] if isinstance(value, str) and value else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _numbers(value: object) -> tuple[float, ...] | None:
    if not isinstance(value, list) or len(value) > len(_PAYLOAD) + len(_INERTIA):
        return None
    plain = all(isinstance(one, int | float) and abs(one) < 1e9 for one in value)
    return tuple(map(float, value)) if plain else None


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    return tuple(text for text in map(_text, value[:MOST_CHARACTERS]) if text is not None)


_READERS: Mapping[str, Callable[[object], Any]] = {
    'str | None': _text, 'bool | None': _flag, 'tuple[float, ...] | None': _numbers,
    'tuple[str, ...] | None': _texts,
}


def hardware_record(description: str) -> DriverRecord:
    """Return what a robot's description (URDF) says of the driver: its `<ros2_control>`."""
    try:
        root = parse_robot_xml(description, 'robot_description')
    except DescriptionError:
        return DriverRecord()
    blocks = [block for block in root.iter('hardware') if block.findtext('plugin')]
    if not blocks:
        return DriverRecord()
    # Of an arm and a gripper, the arm is what has a robot type or a calibration.
    block = max(blocks, key=lambda one: len({'ur_type', 'kinematics/hash'} & set(_given(one))))
    given = _given(block)
    hardware = _text((block.findtext('plugin') or '').strip())
    currents = given.get('use_currents_as_efforts', '').lower()
    return DriverRecord(
        package=_text((hardware or '').partition('/')[0]),
        hardware=hardware,
        robot_type=_text(given.get('ur_type')),
        use_currents_as_efforts={'true': True, 'false': False, '1': True, '0': False}.get(
            currents
        ),
        calibration_hash=_text(given.get('kinematics/hash')),
    )


def _given(block: Element) -> dict[str, str]:
    return {
        str(one.get('name')): (one.text or '').strip() for one in block.iter('param')
    }


def with_states(record: DriverRecord, first: bytes, last: bytes) -> DriverRecord:
    """
    Add what is in the first and the last control_msgs/msg/DynamicJointState of a recording.

    A UR driver publishes the robot's software version and payload there, as interfaces.
    """
    try:
        begun, ended = _interfaces(first), _interfaces(last)
    except Damage:
        return record
    return replace(
        record, polyscope=_version(ended), payload=_payload(begun), payload_at_end=_payload(ended),
    )


def _interfaces(data: bytes) -> dict[str, dict[str, float]]:
    """Return the values of a serialized DynamicJointState by the names of part and interface."""
    walker = Walker(data)
    walker.number(4)
    walker.number(4)
    walker.skip_text()
    names = walker.texts()
    number = struct.Struct(walker.byte_order + 'd')
    found = {}
    for index in range(walker.count(8)):
        interfaces, offsets = walker.texts(), walker.numbers()
        if index < len(names) and len(interfaces) == len(offsets):
            found[names[index]] = {
                interface: float(number.unpack_from(data, offset)[0])
                for interface, offset in zip(interfaces, offsets.tolist(), strict=True)
            }
    return found


def _part(
    found: Mapping[str, Mapping[str, float]], name: str, wanted: Sequence[str]
) -> tuple[float, ...] | None:
    """Return finite values of a part, whose name may have the driver's prefix."""
    for part, values in found.items():
        if part.endswith(name) and all(
            math.isfinite(values.get(one, math.nan)) for one in wanted
        ):
            return tuple(values[one] for one in wanted)
    return None


def _version(found: Mapping[str, Mapping[str, float]]) -> str | None:
    numbers = _part(found, 'get_robot_software_version', _VERSION)
    # Zeros stand there until the robot has answered.
    if numbers is None or numbers[0] < 1.0:
        return None
    return '.'.join(f'{number:.0f}' for number in numbers)


def _payload(found: Mapping[str, Mapping[str, float]]) -> tuple[float, ...] | None:
    return _part(found, 'payload', _PAYLOAD + _INERTIA) or _part(found, 'payload', _PAYLOAD)


def driver_remarks(
    recordings: Sequence[tuple[str, Mapping[str, str]]], unit: str
) -> list[str]:
    """
    Return what contradicts itself in the records of some bags, given by name and metadata.

    `unit` is that in which their effort is read.
    """
    known = [
        (name, record) for name, metadata in recordings
        if (record := read_driver_record(metadata)) is not None
    ]
    remarks = []
    for name, record in known:
        if record.use_currents_as_efforts is not None:
            stated = 'A' if record.use_currents_as_efforts else 'Nm'
            if not unit.startswith(stated):
                remarks.append(
                    f'{name}: the driver ran with use_currents_as_efforts '
                    f'{str(record.use_currents_as_efforts).lower()}, which makes effort {stated}, '
                    f'and it is read as {unit}'
                )
        if record.payload_changed:
            remarks.append(
                f'{name}: the payload set on the robot was changed while it was recorded: '
                f'{record._payload_text()}'
            )
    return [*remarks, *_differences(known)]


def _differences(known: Sequence[tuple[str, DriverRecord]]) -> list[str]:
    """Return what the records of bags differ in, which one model cannot have both."""
    remarks = []
    described = [(name, dict(record.describe())) for name, record in known]
    for title in (
        'Driver', 'PolyScope', 'use_currents_as_efforts', 'Payload set on the robot',
        'Calibration',
    ):
        values: dict[str, str] = {}
        for name, record in described:
            if record[title] != NOT_KNOWN:
                values.setdefault(record[title], name)
        if len(values) > 1:
            listed = '; '.join(f'{value} ({name})' for value, name in values.items())
            remarks.append(f'the bags differ: {title}: {listed}')
    return remarks
