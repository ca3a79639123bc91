# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The known robots: one YAML in config/robots and one URDF in urdf, no code.

Docs: docs/formats/robot.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from robot_identification.arrays import joint_vectors
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import (
    AnyPath, check_keys, check_schema_version, HAND_WRITTEN, is_number, is_there, read_yaml,
    to_mapping, to_number, to_numbers,
)
from robot_identification.model.denavit_hartenberg import CONVENTIONS, DenavitHartenberg
from robot_identification.model.link_table import read_link_table
from robot_identification.model.parameters import STATED_UNITS
from robot_identification.model.robot_model import (
    Drives, gravity_of_mounting, JointLimits, limits_of_urdf, make_robot_model, RobotModel,
    STANDARD_GRAVITY,
)
from robot_identification.model.urdf import parse_urdf, read_urdf, read_urdf_text, Urdf
from robot_identification.texts import suggestion

SCHEMA_VERSION = 1  # of the file
_YAML = ('.yaml', '.yml')
_NUMBERS_OF_JOINT = (
    'velocity', 'acceleration', 'effort', 'gear_ratio', 'torque_constant', 'rotor_inertia',
)


def share_directory() -> Path:
    """
    Return the folder that holds config/, urdf/ and launch/.

    It is the checkout when the package is used from one, else share/robot_identification of
    the prefix (virtual environment or colcon workspace) the package is installed in.

    """
    package = Path(__file__).resolve().parents[1]
    for parent in package.parents:
        for candidate in (parent, parent / 'share' / 'robot_identification'):
            if (candidate / 'config' / 'robots').is_dir():
                return candidate
    raise DescriptionError(
        f'no config/robots beside {package} or in a share/robot_identification above it: '
        'the package is installed without its data files'
    )


@dataclass(frozen=True)
class KnownRobot:
    """A robot of the registry and the two files that make it."""

    name: str
    description: str
    yaml: Path
    urdf: Path


def known_robots() -> tuple[KnownRobot, ...]:
    """Return the robots of the registry by name."""
    folder = share_directory() / 'config' / 'robots'
    robots = []
    for path in sorted(folder.glob('*.yaml')):
        content = read_yaml(path, HAND_WRITTEN)
        name, description = str(content.get('name')), str(content.get('description', ''))
        robots.append(KnownRobot(name, description, path, _urdf_path(content, path)))
    return tuple(robots)


def _urdf_path(content: dict[str, Any], path: Path) -> Path:
    name = str(content.get('urdf'))
    beside = path.parent / name
    return beside if is_there(beside) else share_directory() / 'urdf' / name


def load_robot(
    robot: AnyPath | None = None,
    *,
    urdf: AnyPath | Urdf | None = None,
    joints: Sequence[str] | None = None,
    gravity: Sequence[float] | None = None,
    mounting: Sequence[float] | None = None,
    drive_gains: Sequence[float] | None = None,
) -> RobotModel:
    """
    Load an arm by its name, its robot YAML or its description.

    Parameters
    ----------
    robot : str or Path, optional
        A known name (`robot-identification robots`), a robot YAML, a URDF, a xacro or a link
        table.
    urdf : str, Path or Urdf, optional
        Description in the place of the robot's own.
    joints : sequence of str, optional
        Joints that move, in kinematic order; the others are locked. By default those of the only
        arm.
    gravity : sequence of float, shape (3,), optional
        In the description's root frame [m/s^2]; by default downwards along z.
    mounting : sequence of float, shape (3,), optional
        Roll, pitch and yaw of the root frame in the world [rad], in the place of `gravity`.
    drive_gains : sequence of float, shape (n,), optional
        Joint torque per motor current, in kinematic order [N m/A].

    Raises
    ------
    UsageError
        If neither a robot nor a description is given, or the robot or a joint is not known.
    DescriptionError
        If a file cannot be used.

    """
    if mounting is not None:
        if gravity is not None:
            raise UsageError('a mounting says where gravity points to: give one of the two')
        gravity = gravity_of_mounting(*joint_vectors(3, mounting=mounting)[0].tolist()).tolist()
    loaded = _load(robot, urdf, joints, STANDARD_GRAVITY if gravity is None else gravity)
    return loaded if drive_gains is None else loaded.with_drive_gains(drive_gains)


def _load(
    robot: AnyPath | None, urdf: AnyPath | Urdf | None, joints: Sequence[str] | None,
    gravity: Sequence[float],
) -> RobotModel:
    if robot is not None and urdf is None and _is_description(str(robot)):
        robot, urdf = None, robot
    if robot is None:
        if urdf is None:
            raise UsageError('name an arm: --robot NAME (see `robot-identification robots`), '
                             'or --urdf FILE')
        return make_robot_model(_checked(urdf), joints=joints, gravity=gravity)
    content, path = _read_robot(str(robot))
    source = str(path)
    check_schema_version(content, source, SCHEMA_VERSION)
    check_keys(
        content,
        source,
        {'schema_version', 'name', 'urdf', 'joints'},
        {'description', 'effort_unit', 'sampling_rate', 'locked', 'denavit_hartenberg',
         'xacro_arguments'},
    )
    description = _checked(urdf) if urdf is not None else _checked(
        _urdf_path(content, path), _arguments(content, path)
    )
    return _robot_from_yaml(content, source, description, joints, gravity)


def _is_description(robot: str) -> bool:
    """Return whether a path is that of a description, by its end, or by the keys of a YAML."""
    if robot.endswith(_YAML):
        return 'links' in read_yaml(Path(robot), HAND_WRITTEN)
    return robot.endswith(('.urdf', '.xacro', '.xml'))


def load_joint_drives(robot: str) -> dict[str, str]:
    """
    Return which drive each joint of a known robot or a robot YAML has, of those that are named.

    Joints with the same drive, of any robot, are the same hardware. Raises UsageError if the robot
    is not known, DescriptionError if a drive is not a text.
    """
    content, path = _read_robot(robot)
    stated = {
        str(name): entry['drive']
        for name, entry in to_mapping(content.get('joints'), f'{path}: joints').items()
        if isinstance(entry, dict) and entry.get('drive') is not None
    }
    for name, drive in stated.items():
        _check_drive(drive, f'{path}: joint {name}')
    return stated


def find_urdf(robot: str) -> Path:
    """Return the description that a known robot or a robot YAML names."""
    return _urdf_path(*_read_robot(robot))


def find_xacro_arguments(robot: str) -> dict[str, str]:
    """Return the arguments that a robot YAML states for the xacro that it names."""
    return _arguments(*_read_robot(robot))


def _arguments(content: dict[str, Any], source: Path) -> dict[str, str]:
    entry = content.get('xacro_arguments', {})
    if not isinstance(entry, dict) or not all(
        isinstance(value, str | int | float) for value in entry.values()
    ):
        raise DescriptionError(
            f'{source}: `xacro_arguments` must map names to texts, numbers or true and false'
        )
    return {
        str(name): str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in entry.items()
    }


def configuration_sha256(robot: str) -> str:
    """
    Return a hash of all that is configured of an arm: its YAML and the description it names.

    Raises UsageError if the robot is not known, DescriptionError if a file cannot be read.
    """
    content, path = _read_robot(robot)
    description = read_description(_urdf_path(content, path), _arguments(content, path))
    text = json.dumps([content, description], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def read_description(path: Path, arguments: Mapping[str, str] | None = None) -> str:
    """
    Return the URDF text of a file: a URDF, an expanded xacro, or one written from a link table.

    `arguments` are those of a xacro, by name. Raises UsageError if there is no such file,
    DescriptionError if it cannot be read or expanded.
    """
    if path.suffix in _YAML:
        return read_link_table(path)
    return read_urdf_text(path, arguments)


def _checked(urdf: AnyPath | Urdf, arguments: Mapping[str, str] | None = None) -> Urdf:
    if isinstance(urdf, Urdf):
        return urdf
    urdf = Path(urdf)
    if urdf.suffix in _YAML:
        return parse_urdf(read_description(urdf), str(urdf))
    return read_urdf(urdf, arguments=arguments)


def _read_robot(robot: str) -> tuple[dict[str, Any], Path]:
    """Return the content and the path of the YAML of a robot."""
    path = _robot_yaml(robot)
    return read_yaml(path, HAND_WRITTEN), path


def _robot_yaml(robot: str) -> Path:
    if robot.endswith(_YAML):
        return Path(robot)
    if _is_description(robot):
        raise UsageError(
            f'{robot} is a description, and not a known robot or a robot YAML: give a robot YAML '
            f'that names it, or on the command line --urdf {robot}'
        )
    # A file of the registry has the name of its robot, so that the others need not be read.
    for path in (share_directory() / 'config' / 'robots').glob('*.yaml'):
        if path.stem == robot:
            return path
    names = [known.name for known in known_robots()]
    near = suggestion(robot, names)
    raise UsageError(
        f'unknown robot {robot!r}: {near}{" " if near else ""}known are {", ".join(names)}; '
        'for any other arm give its robot YAML, or on the command line --urdf FILE'
    )


def _robot_from_yaml(
    content: dict[str, Any],
    source: str,
    urdf: Urdf,
    joints: Sequence[str] | None,
    gravity: Sequence[float],
) -> RobotModel:
    entries = content['joints']
    if not isinstance(entries, dict) or not entries:
        raise DescriptionError(f'{source}: `joints` must map joint names to their limits')
    wanted = list(joints) if joints is not None else [str(name) for name in entries]
    model = make_robot_model(
        urdf, name=str(content['name']), joints=wanted, gravity=gravity,
        locked=_locked(content.get('locked', {}), source),
    )
    stated = limits_of_urdf(urdf, wanted)
    values = [_joint_values(entries.get(name, {}), f'{source}: joint {name}') for name in wanted]

    def column(key: str, default: np.ndarray) -> np.ndarray:
        return np.array([
            default[index] if row[key] is None else row[key] for index, row in enumerate(values)
        ])

    lower, upper = column('lower', stated.lower), column('upper', stated.upper)
    for joint, low, high in zip(wanted, lower, upper, strict=True):
        if not low < high:
            raise DescriptionError(
                f'{source}: joint {joint}: position runs from {low} to {high} with the ends that '
                'the URDF gives; lower must be below upper'
            )
    unknown = np.full(len(wanted), np.nan)
    effort_unit = content.get('effort_unit')
    if effort_unit is not None and effort_unit not in STATED_UNITS:
        raise DescriptionError(
            f'{source}: effort_unit is {effort_unit!r}, it must be '
            f'{" or ".join(STATED_UNITS)}'
        )
    rate = _number(content.get('sampling_rate'), f'{source}: sampling_rate')
    if rate is not None and not 0.0 < rate < math.inf:
        raise DescriptionError(f'{source}: sampling_rate is {rate} Hz, it must be positive')
    return replace(
        model,
        limits=JointLimits(lower, upper, **{
            key: column(key, getattr(stated, key))
            for key in ('velocity', 'acceleration', 'effort')
        }),
        drives=Drives(**{
            key: column(key, unknown) for key in ('gear_ratio', 'torque_constant', 'rotor_inertia')
        }),
        effort_unit=effort_unit,
        sampling_rate=math.nan if rate is None else rate,
        encoders=replace(
            model.encoders,
            sign=column('encoder_sign', np.ones(len(wanted))),
            zero=column('encoder_zero', np.zeros(len(wanted))),
        ),
        denavit_hartenberg=_table(content, source, urdf, model),
    )


def _locked(entry: Any, source: str) -> dict[str, float]:
    return {
        str(joint): to_number(position, f'{source}: locked position of {joint}')
        for joint, position in to_mapping(entry, f'{source}: locked').items()
    }


def _table(
    content: dict[str, Any], source: str, urdf: Urdf, model: RobotModel
) -> DenavitHartenberg | None:
    """Return the table of `denavit_hartenberg`; one row for every joint of the YAML."""
    entry = content.get('denavit_hartenberg')
    if entry is None:
        return None
    where = f'{source}: denavit_hartenberg'
    columns_of_table = ('a', 'alpha', 'd', 'theta')
    check_keys(to_mapping(entry, where), where, {'convention', *columns_of_table}, {'base'})
    if entry['convention'] not in CONVENTIONS:
        raise DescriptionError(
            f'{where}: convention is {entry["convention"]!r}, it must be '
            f'{" or ".join(CONVENTIONS)}'
        )
    names = [str(joint) for joint in content['joints']]
    kinds = {joint.name: joint.kind for joint in urdf.joints}
    columns = {
        key: np.array(to_numbers(entry[key], len(names), f'{where}: {key}'))
        for key in columns_of_table
    }
    base = to_mapping(entry.get('base', {}), f'{where}: base')
    check_keys(base, f'{where}: base', set(), {'xyz', 'rpy'})
    xyz, rpy = (
        np.array(to_numbers(base.get(key, [0.0] * 3), 3, f'{where}: base {key}'))
        for key in ('xyz', 'rpy')
    )
    return DenavitHartenberg(
        entry['convention'], **columns,
        prismatic=np.array([kinds.get(name) == 'prismatic' for name in names]),
        locked=np.array([model.locked.get(name, math.nan) for name in names]),
        base=pin.SE3(pin.rpy.rpyToMatrix(*rpy), xyz).homogeneous,
    )


def _joint_values(entry: Any, where: str) -> dict[str, float | None]:
    keys = {*_NUMBERS_OF_JOINT, 'position', 'encoder', 'drive'}
    check_keys(to_mapping(entry, where), where, set(), keys)
    _check_drive(entry.get('drive', ''), where)
    position = entry.get('position', [None, None])
    if not isinstance(position, list) or len(position) != 2:
        raise DescriptionError(f'{where}: position must be [lower, upper], got {position!r}')
    values = {key: _number(entry.get(key), f'{where}: {key}') for key in _NUMBERS_OF_JOINT}
    for key in ('velocity', 'acceleration', 'effort'):
        value = values[key]
        if value is not None and not value > 0.0:
            raise DescriptionError(f'{where}: {key} is {value}, a limit must be positive')
    lower, upper = (_number(x, f'{where}: position') for x in position)
    if lower is not None and upper is not None and not lower < upper:
        raise DescriptionError(
            f'{where}: position is [{lower}, {upper}], lower must be below upper'
        )
    values['lower'], values['upper'] = lower, upper
    values |= _encoder(entry.get('encoder', {}), f'{where}: encoder')
    rotor = values['rotor_inertia']
    if rotor is not None and rotor < 0.0:
        raise DescriptionError(f'{where}: rotor_inertia is {rotor}, it must not be negative')
    for key in ('gear_ratio', 'torque_constant'):
        if values[key] == 0.0:
            raise DescriptionError(f'{where}: {key} is 0; write null where it is not known')
    return values


def _check_drive(drive: Any, where: str) -> None:
    if drive is not None and not isinstance(drive, str):
        raise DescriptionError(f'{where}: drive is {drive!r}, it must be the name of a drive')


def _encoder(entry: Any, where: str) -> dict[str, float | None]:
    check_keys(to_mapping(entry, where), where, set(), {'sign', 'zero'})
    sign = to_number(entry.get('sign', 1.0), f'{where}: sign')
    if abs(sign) != 1.0:
        raise DescriptionError(f'{where}: sign is {sign}, it must be 1 or -1')
    zero = to_number(entry.get('zero', 0.0), f'{where}: zero')
    return {'encoder_sign': sign, 'encoder_zero': zero}


def _number(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if not is_number(value) or math.isnan(value):
        raise DescriptionError(f'{where} is {value!r}, a number is needed')
    return float(value)
