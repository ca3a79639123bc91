# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The campaign file: arms, and which bags of them are identified how.

Docs: docs/formats/campaign.md.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timezone
from pathlib import Path
import re
from typing import Any

from robot_identification.errors import DescriptionError, IdentificationError, UsageError
from robot_identification.estimation import IdentifyOptions
from robot_identification.files import (
    check_keys, check_schema_version, read_yaml, to_mapping, to_number, to_switch,
)
from robot_identification.model import gravity_of_mounting, load_robot, RobotModel
from robot_identification.options import angle, options_of
from robot_identification.texts import suggestion

SCHEMA_VERSION = 1  # of the file
MOST_RUNS = 10_000  # chosen: years of daily runs of several arms
# A name is a folder's, too.
NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9_.-]{0,63}')
# At which friction is stated where the file names no speeds [rad/s].
USUAL_SPEEDS = (0.1, 0.5)
USUAL_RATE = 0.01
WILDCARDS = frozenset('*?[')


@dataclass(frozen=True)
class CarriedPayload:
    """Payload of an arm in all of its runs; it is documented with them, and not estimated."""

    mass: float  # [kg]
    center_of_mass: tuple[float, float, float] = (0.0, 0.0, 0.0)  # in the flange's frame [m]
    description: str = ''  # in words

    def __post_init__(self) -> None:
        if not 0.0 <= to_number(self.mass, 'mass') <= 1000.0:
            raise DescriptionError(f'mass is {self.mass!r}, it must be from 0 to 1000 kg')
        object.__setattr__(
            self, 'center_of_mass', _numbers(self.center_of_mass, 'center_of_mass', 3)
        )
        _check_text(self.description, 'description')


@dataclass(frozen=True)
class Arm:
    """One arm of the campaign."""

    name: str  # its name in the campaign
    # A known robot or the path of a robot YAML, and the path of a URDF; one of them at least.
    robot: str | None = None
    urdf: str | None = None
    serial: str = ''  # serial number
    joints: tuple[str, ...] | None = None  # joints that move, kinematic order
    drive_gains: tuple[float, ...] | None = None  # [N m/A], kinematic order
    # Roll, pitch and yaw of the root frame in the world [rad].
    mounting: tuple[float, ...] | None = None
    # In the root frame [m/s^2], in the place of `mounting`.
    gravity: tuple[float, ...] | None = None
    payload: CarriedPayload | None = None  # what it carries
    # Of all its runs, with those of the campaign in them: values of `IdentifyOptions` by name.
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_name(self.name)
        if self.robot is None and self.urdf is None:
            raise DescriptionError('it has neither robot nor urdf: name one of them')
        for name in ('robot', 'urdf'):
            _check_text(getattr(self, name), name)
        object.__setattr__(self, 'serial', str(self.serial))
        if self.mounting is not None and self.gravity is not None:
            raise DescriptionError('it has both mounting and gravity: leave one of them out')
        if self.joints is not None:
            object.__setattr__(self, 'joints', _texts(self.joints, 'joints'))
        for name, length in (('drive_gains', None), ('mounting', 3), ('gravity', 3)):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _numbers(value, name, length))
        if self.mounting is not None:
            try:
                gravity_of_mounting(*self.mounting)
            except UsageError as error:
                raise DescriptionError(str(error)) from error

    def load(self) -> RobotModel:
        """Return the arm; raises `IdentificationError` if it is unknown or cannot be used."""
        gravity = self.gravity
        if self.mounting is not None:
            gravity = tuple(gravity_of_mounting(*self.mounting).tolist())
        robot = load_robot(
            self.robot, urdf=None if self.urdf is None else Path(self.urdf),
            joints=self.joints, gravity=gravity,
        )
        return robot if self.drive_gains is None else robot.with_drive_gains(self.drive_gains)


@dataclass(frozen=True)
class Run:
    """One identification of the campaign."""

    name: str  # its name, and that of its folder
    arm: str  # the arm's name in the campaign
    bags: tuple[str, ...]  # paths; they are used together
    # When it was recorded, ISO 8601 with a time zone; by default from the first bag.
    date: str | None = None
    # Of all joints, or of each [deg C], where the bags have none.
    temperature: tuple[float, ...] | None = None
    # With those of arm and campaign in it.
    options: IdentifyOptions = field(default_factory=IdentifyOptions)

    def __post_init__(self) -> None:
        _check_name(self.name)
        object.__setattr__(self, 'bags', _texts(self.bags, 'bags'))
        if self.date is not None:
            object.__setattr__(self, 'date', _parse_date(self.date))
        if self.temperature is not None:
            given = self.temperature
            given = given if isinstance(given, (list, tuple)) else (given,)
            object.__setattr__(self, 'temperature', _numbers(given, 'temperature', None))


@dataclass(frozen=True)
class Campaign:
    """Arms and bags to identify, and the options of their friction trend."""

    name: str  # the results of one campaign lie in one folder, which keeps this name
    arms: tuple[Arm, ...]
    runs: tuple[Run, ...]  # in the order of the file
    speeds: tuple[float, ...] = USUAL_SPEEDS  # at which friction is stated and watched [rad/s]
    # Chance that a health report of healthy arms has any alarm.
    false_alarm_rate: float = USUAL_RATE
    source: str = ''  # the file

    def arm(self, name: str) -> Arm:
        """Return an arm by its name."""
        return next(arm for arm in self.arms if arm.name == name)


def load_campaign(path: Path) -> Campaign:
    """
    Return the campaign of a file; paths in it are relative to its folder.

    Raises UsageError if there is no such file, and DescriptionError if a key is unknown or a value
    is outside its range.
    """
    content, source = read_yaml(path), str(path)
    check_schema_version(content, source, SCHEMA_VERSION)
    check_keys(
        content, source, {'schema_version', 'name', 'arms', 'runs'},
        {'description', 'speeds', 'false_alarm_rate', 'options'},
    )
    folder = path.resolve().parent
    with naming_place(source):
        name = _check_name(content['name'])
        speeds = _numbers(content.get('speeds', USUAL_SPEEDS), 'speeds', None)
        if not all(0.0 < speed <= 100.0 for speed in speeds) or len(set(speeds)) < len(speeds):
            raise DescriptionError(
                f'speeds are {list(speeds)}, they must differ and lie between 0 and 100 rad/s'
            )
        rate = to_number(content.get('false_alarm_rate', USUAL_RATE), 'false_alarm_rate')
        if not 1.0e-6 <= rate <= 0.5:
            raise DescriptionError(
                f'false_alarm_rate is {rate:g}, it must lie between 1e-6 and 0.5'
            )
        options = _options(content.get('options'), folder)
    arms = tuple(
        _read_arm(entry, f'{source}: arm {number}', folder, options)
        for number, entry in enumerate(_entries(content['arms'], source, 'arms'), start=1)
    )
    _refuse_twice([arm.name for arm in arms], f'{source}: the name of an arm')
    by_name = {arm.name: arm for arm in arms}
    runs = tuple(
        run
        for number, entry in enumerate(_entries(content['runs'], source, 'runs'), start=1)
        for run in _read_runs(entry, f'{source}: run {number}', folder, by_name)
    )
    if len(runs) > MOST_RUNS:
        raise DescriptionError(f'{source} has {len(runs)} runs, at most {MOST_RUNS} are allowed')
    _refuse_twice([run.name.lower() for run in runs], f'{source}: the name of a run')
    return Campaign(name, arms, runs, speeds, rate, source)


@contextmanager
def naming_place(place: str) -> Iterator[None]:
    """Name the place in the file that an error is of."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f'{place}: {error}') from error
    except IdentificationError as error:
        raise DescriptionError(f'{place}: {error}') from error


def _read_arm(
    entry: Mapping[str, Any], place: str, folder: Path, default: Mapping[str, Any]
) -> Arm:
    named = {each.name for each in fields(Arm)}
    check_keys(entry, place, {'name'}, named)
    with naming_place(place):
        given = dict(entry)
        given['options'] = {**default, **_options(given.get('options'), folder)}
        if given.get('payload') is not None:
            check_keys(
                to_mapping(given['payload'], 'payload'), 'payload', {'mass'},
                {each.name for each in fields(CarriedPayload)},
            )
            given['payload'] = CarriedPayload(**given['payload'])
        robot = given.get('robot')
        if isinstance(robot, str) and robot.endswith(('.yaml', '.yml')):
            given['robot'] = str(folder / robot)
        if isinstance(given.get('urdf'), str):
            given['urdf'] = str(folder / given['urdf'])
        if isinstance(given.get('mounting'), list):
            given['mounting'] = [
                _angle(value) if isinstance(value, str) else value for value in given['mounting']
            ]
        return Arm(**given)


def _read_runs(
    entry: Mapping[str, Any], place: str, folder: Path, arms: Mapping[str, Arm]
) -> Iterator[Run]:
    """Yield the runs of an entry: one, or where it says `separate` one for each bag."""
    check_keys(
        entry, place, {'name', 'arm', 'bags'}, {'date', 'temperature', 'options', 'separate'}
    )
    with naming_place(place):
        given = dict(entry)
        separate = to_switch(given.pop('separate', False), 'separate')
        arm = arms.get(str(given['arm']))
        if arm is None:
            near = suggestion(str(given['arm']), arms)
            raise DescriptionError(
                f'there is no arm {given["arm"]}{f"; {near}" if near else ""} (arms are '
                f'{", ".join(arms)})'
            )
        given['options'] = IdentifyOptions(
            **{**arm.options, **_options(given.get('options'), folder)}
        )
        bags = given['bags']
        patterns = _texts([bags] if isinstance(bags, str) else bags, 'bags')
        run = Run(**{**given, 'bags': patterns})
        found = [
            path for pattern in patterns for path in (_matches(folder, pattern) or [pattern])
        ]
        _refuse_twice(found, 'a bag')
        if not separate:
            yield replace(run, bags=tuple(found))
            return
        for bag in found:
            part = re.sub(r'[^A-Za-z0-9_.-]', '_', Path(bag).name)
            yield replace(run, name=f'{run.name}_{part}', bags=(bag,))


def _matches(folder: Path, pattern: str) -> list[str]:
    """Return the paths that a pattern stands for, in the order of their names."""
    if not WILDCARDS & set(pattern):
        return [str(folder / pattern)]
    path = folder / pattern
    return sorted(
        str(found) for found in Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    )


def _options(content: Any, folder: Path) -> dict[str, Any]:
    """Return the options that are given, by name; paths are those of the campaign's folder."""
    if content is None:
        return {}
    known = {one.name for one in options_of(IdentifyOptions)}
    check_keys(to_mapping(content, 'options'), 'options', set(), known)
    given = {name: value for name, value in content.items() if value is not None}
    if isinstance(given.get('recipe'), str):
        given['recipe'] = str(folder / given['recipe'])
    if isinstance(given.get('table_mapping'), str) and (folder / given['table_mapping']).exists():
        given['table_mapping'] = str(folder / given['table_mapping'])
    return given


def _entries(content: Any, source: str, what: str) -> list[Mapping[str, Any]]:
    if not isinstance(content, list) or not content:
        raise DescriptionError(f'{source}: {what} must be a list with one entry or more')
    return [
        to_mapping(entry, f'{source}: entry {number} of {what}')
        for number, entry in enumerate(content, start=1)
    ]


def _check_name(name: Any) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise DescriptionError(
            f'name is {name!r:.80}, it must be of 1 to 64 letters, digits, _, - and . and begin '
            'with a letter or digit'
        )
    return name


def _check_text(value: Any, name: str) -> None:
    if value is not None and not isinstance(value, str):
        raise DescriptionError(f'{name} is {value!r:.60}, it must be a text')


def _numbers(values: Any, name: str, length: int | None) -> tuple[float, ...]:
    if not isinstance(values, (list, tuple)) or not values:
        raise DescriptionError(f'{name} is {values!r:.60}, it must be a list of numbers')
    if length is not None and len(values) != length:
        raise DescriptionError(f'{name} has {len(values)} numbers, it must have {length}')
    return tuple(to_number(value, name) for value in values)


def _angle(text: str) -> float:
    try:
        return angle(text)
    except ArgumentTypeError as error:
        raise DescriptionError(f'mounting: {error}') from error


def _texts(values: Any, name: str) -> tuple[str, ...]:
    if not isinstance(values, (list, tuple)) or not values or not all(
        isinstance(value, str) and value for value in values
    ):
        raise DescriptionError(f'{name} is {values!r:.60}, it must be a list of texts')
    return tuple(values)


def _refuse_twice(values: Sequence[str], what: str) -> None:
    twice = [value for value, count in Counter(values).items() if count > 1]
    if twice:
        raise DescriptionError(f'{what} is given twice: {twice[0]}')


def _parse_date(text: Any) -> str:
    """Return a date as ISO 8601 with a time zone; without one it is UTC."""
    try:
        found = datetime.fromisoformat(str(text).replace('Z', '+00:00'))
    except ValueError as error:
        raise DescriptionError(
            f'date is {text!r:.60}, it must be like 2026-03-01 or 2026-03-01T08:30:00+01:00'
        ) from error
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).isoformat()
