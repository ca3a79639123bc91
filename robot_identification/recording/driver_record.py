# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Record of the driver and the robot's controller, kept in the bag's metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
import json
import math
import struct
from typing import Any

from robot_identification.errors import DescriptionError
from robot_identification.model import parse_robot_xml
from robot_identification.recording.cdr import Walker
from robot_identification.recording.joint_states import walk_interfaces
from robot_identification.recording.raw_bag import Damage

# Key of the metadata whose value is the record as JSON.
DRIVER = 'driver'
NOT_KNOWN = 'not known'
MOST_CHARACTERS = 200  # of a text in a record; chosen: longer than any name or hash
CLOSE = 1e-6  # kg and m; chosen: above the rounding of a float32, below what is ever set
_PAYLOAD_TITLE = 'Payload set on the robot'
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
        payloads = [self.payload, *([self.payload_at_end] if self.payload_changed else [])]
        return [
            ('Driver', driver or self.hardware or NOT_KNOWN),
            ('Robot type, as the driver is configured', self.robot_type or NOT_KNOWN),
            ('PolyScope', self.polyscope or NOT_KNOWN),
            ('use_currents_as_efforts', NOT_KNOWN if currents is None else str(currents).lower()),
            ('Controllers', ', '.join(self.controllers or ()) or NOT_KNOWN),
            ('Gravity set on the robot', _vector(self.gravity, 'm/s^2')),
            (_PAYLOAD_TITLE, ', at the end '.join(map(_payload_text, payloads))),
            ('Calibration', self.calibration_hash or NOT_KNOWN),
        ]


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
        field.name: _read_field(str(field.type), content.get(field.name))
        for field in fields(DriverRecord)
    })


def _text(value: object) -> str | None:
    return value[:MOST_CHARACTERS] if isinstance(value, str) and value else None


def _read_field(kind: str, value: object) -> Any:
    """Return a value of a field that has a type; None of anything else."""
    if kind == 'bool | None':
        return value if isinstance(value, bool) else None
    if kind == 'str | None':
        return _text(value)
    if not isinstance(value, list):
        return None
    if kind == 'tuple[str, ...] | None':
        return tuple(filter(None, map(_text, value[:MOST_CHARACTERS])))
    plain = len(value) <= len(_PAYLOAD + _INERTIA) and all(
        isinstance(one, int | float) and abs(one) < 1e9 for one in value
    )
    return tuple(map(float, value)) if plain else None


def hardware_record(description: str) -> DriverRecord:
    """Return what a robot's description (URDF) says of the driver: its `<ros2_control>`."""
    try:
        root = parse_robot_xml(description, 'robot_description')
    except DescriptionError:
        return DriverRecord()
    blocks = [
        {'plugin': (block.findtext('plugin') or '').strip(), **{
            str(one.get('name')): (one.text or '').strip() for one in block.iter('param')
        }}
        for block in root.iter('hardware') if block.findtext('plugin')
    ]
    # Of an arm and a gripper, the arm is what has a robot type or a calibration.
    given = max(blocks, key=lambda one: len({'ur_type', 'kinematics/hash'} & set(one)), default={})
    hardware = _text(given.get('plugin'))
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


def with_states(record: DriverRecord, first: bytes, last: bytes) -> DriverRecord:
    """
    Add what is in the first and the last control_msgs/msg/DynamicJointState of a recording.

    A UR driver publishes the robot's software version and payload there, as interfaces.
    """
    try:
        version, = _values_of(last, 'get_robot_software_version', _VERSION)
        payloads = [
            next(filter(None, _values_of(data, 'payload', _PAYLOAD + _INERTIA, _PAYLOAD)), None)
            for data in (first, last)
        ]
    except Damage:
        return record
    # Zeros stand there until the robot has answered.
    is_known = version is not None and version[0] >= 1.0
    return replace(
        record,
        polyscope='.'.join(f'{part:.0f}' for part in version or ()) if is_known else None,
        payload=payloads[0],
        payload_at_end=payloads[1],
    )


def _values_of(
    data: bytes, name: str, *wanted: Sequence[str]
) -> list[tuple[float, ...] | None]:
    """
    Return finite values of groups of interfaces; None of a group that is not all there.

    They are those of one part of a serialized DynamicJointState, whose name may have the driver's
    prefix.
    """
    walker = Walker(data)
    number = struct.Struct(walker.byte_order + 'd')
    parts = [
        {interface: float(number.unpack_from(data, offset)[0])
         for interface, offset in interfaces.items()}
        for part, interfaces in walk_interfaces(walker)[1] if part.endswith(name)
    ]
    return [
        next((
            tuple(values[one] for one in group) for values in parts
            if all(math.isfinite(values.get(one, math.nan)) for one in group)
        ), None)
        for group in wanted
    ]


def driver_remarks(
    recordings: Sequence[tuple[str, Mapping[str, str]]], unit: str
) -> list[str]:
    """
    Return what contradicts itself in the records of some bags, given by name and metadata.

    `unit` is that in which their effort is read. Of what one model cannot have in two ways, the
    differences between bags are named.
    """
    known = [
        (name, record) for name, metadata in recordings
        if (record := read_driver_record(metadata)) is not None
    ]
    remarks = []
    for name, record in known:
        currents = record.use_currents_as_efforts
        if currents is not None and not unit.startswith(stated := 'A' if currents else 'Nm'):
            remarks.append(
                f'{name}: the driver ran with use_currents_as_efforts {str(currents).lower()}, '
                f'which makes effort {stated}, and it is read as {unit}'
            )
        if record.payload_changed:
            remarks.append(
                f'{name}: the payload set on the robot was changed while it was recorded: '
                f'{dict(record.describe())[_PAYLOAD_TITLE]}'
            )
    described = [(name, dict(record.describe())) for name, record in known]
    for title in (
        'Driver', 'PolyScope', 'use_currents_as_efforts', _PAYLOAD_TITLE, 'Calibration',
    ):
        values: dict[str, str] = {}
        for name, texts in described:
            if texts[title] != NOT_KNOWN:
                values.setdefault(texts[title], name)
        if len(values) > 1:
            listed = '; '.join(f'{value} ({name})' for value, name in values.items())
            remarks.append(f'the bags differ: {title}: {listed}')
    return remarks
