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
from typing import Any, TypeVar

from robot_identification.errors import DescriptionError, IdentificationError, UsageError
from robot_identification.estimation import IdentifyOptions
from robot_identification.files import (
    check_keys, check_schema_version, read_yaml, to_list, to_mapping, to_switch,
)
from robot_identification.model import gravity_of_mounting, load_robot, RobotModel
from robot_identification.options import angle, check_options, option, options_of
from robot_identification.texts import suggestion

SCHEMA_VERSION = 1  # of the file
MOST_RUNS = 10_000  # chosen: years of daily runs of several arms
# A name is a folder's, too.
NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9_.-]{0,63}')
Entry = TypeVar('Entry')


@dataclass(frozen=True)
class CarriedPayload:
    """Payload of an arm in all of its runs; it is documented with them, and not estimated."""

    mass: float = option(float, 'mass [kg]', minimum=0.0, maximum=1000.0)
    center_of_mass: tuple[float, ...] = option(
        float, "centre of mass in the flange's frame [m]", count=3, default=(0.0, 0.0, 0.0),
    )
    description: str = option(str, 'the payload in words', default='')

    def __post_init__(self) -> None:
        check_options(self)


@dataclass(frozen=True)
class Arm:
    """One arm of the campaign."""

    name: str  # its name in the campaign
    # A known robot or the path of a robot YAML, and the path of a URDF; one of them at least.
    robot: str | None = option(str, 'known robot, or path of a robot YAML')
    urdf: str | None = option(str, 'path of a URDF')
    serial: str = ''  # serial number
    joints: tuple[str, ...] | None = option(str, 'joints that move, kinematic order', count='+')
    drive_gains: tuple[float, ...] | None = option(
        float, 'drive gains, kinematic order [N m/A]', count='+'
    )
    mounting: tuple[float, ...] | None = option(
        float, 'roll, pitch and yaw of the root frame in the world [rad]', count=3
    )
    gravity: tuple[float, ...] | None = option(
        float, 'gravity in the root frame, in the place of mounting [m/s^2]', count=3
    )
    payload: CarriedPayload | None = None  # what it carries
    # Of all its runs, with those of the campaign in them: values of `IdentifyOptions` by name.
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_name(self.name)
        check_options(self)
        if self.robot is None and self.urdf is None:
            raise DescriptionError('it has neither robot nor urdf: name one of them')
        object.__setattr__(self, 'serial', str(self.serial))
        if self.mounting is not None:
            if self.gravity is not None:
                raise DescriptionError('it has both mounting and gravity: leave one of them out')
            gravity_of_mounting(*self.mounting)

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
    bags: tuple[str, ...] = option(str, 'paths of bags, which are used together', count='+')
    # When it was recorded, ISO 8601 with a time zone; by default from the first bag.
    date: str | None = None
    temperature: tuple[float, ...] | None = option(
        float, 'temperature of all joints, or of each, where the bags have none [deg C]', count='+'
    )
    # With those of arm and campaign in it.
    options: IdentifyOptions = field(default_factory=IdentifyOptions)

    def __post_init__(self) -> None:
        _check_name(self.name)
        for name in ('bags', 'temperature'):
            value = getattr(self, name)
            if value is not None and not isinstance(value, (list, tuple)):
                object.__setattr__(self, name, (value,))
        check_options(self)
        if '' in self.bags:
            raise DescriptionError('bags has an empty text, it must name bags')
        if self.date is not None:
            object.__setattr__(self, 'date', _parse_date(self.date))


@dataclass(frozen=True)
class Campaign:
    """Arms and bags to identify, and the options of their friction trend."""

    name: str  # the results of one campaign lie in one folder, which keeps this name
    arms: tuple[Arm, ...]
    runs: tuple[Run, ...]  # in the order of the file
    speeds: tuple[float, ...] = option(
        float, 'speeds at which friction is stated and watched [rad/s]', count='+',
        default=(0.1, 0.5), minimum=0.0, maximum=100.0,
    )
    false_alarm_rate: float = option(
        float, 'chance that a health report of healthy arms has any alarm', default=0.01,
        minimum=1.0e-6, maximum=0.5,
    )
    source: str = ''  # the file

    def __post_init__(self) -> None:
        _check_name(self.name)
        check_options(self)
        if not self.speeds or not all(self.speeds) or len(set(self.speeds)) < len(self.speeds):
            raise DescriptionError(
                f'speeds are {list(self.speeds)}, they must differ and be above 0 rad/s'
            )

    def arm(self, name: str) -> Arm:
        """Return an arm by its name."""
        return next(arm for arm in self.arms if arm.name == name)


def load_campaign(path: Path) -> Campaign:
    """
    Return the campaign of a file; paths in it are relative to its folder.

    Raises UsageError if there is no such file or options of `identify` cannot be used, and
    DescriptionError if a key is unknown or another value is outside its range.
    """
    content, source = read_yaml(path), str(path)
    check_schema_version(content, source, SCHEMA_VERSION)
    check_keys(
        content, source, {'schema_version', 'name', 'arms', 'runs'},
        {'description', 'speeds', 'false_alarm_rate', 'options'},
    )
    folder = path.resolve().parent
    with naming_place(source):
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
    given = {
        name: value for name, value in content.items()
        if name in ('name', 'speeds', 'false_alarm_rate')
    }
    return _make(
        Campaign, {**given, 'arms': arms, 'runs': runs, 'source': source}, source,
        {'name', 'arms', 'runs'},
    )


@contextmanager
def naming_place(place: str) -> Iterator[None]:
    """Name the place in the file that an error is of."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f'{place}: {error}') from error
    except IdentificationError as error:
        raise DescriptionError(f'{place}: {error}') from error


def _make(
    kind: type[Entry], given: Mapping[str, Any], place: str, required: set[str]
) -> Entry:
    """Return an entry of the file; an error in it is one of the file."""
    known: Any = kind
    check_keys(to_mapping(given, place), place, required, {one.name for one in fields(known)})
    try:
        return kind(**given)
    except IdentificationError as error:
        raise DescriptionError(f'{place}: {error}') from error


def _read_arm(
    entry: Mapping[str, Any], place: str, folder: Path, default: Mapping[str, Any]
) -> Arm:
    given = dict(entry)
    with naming_place(place):
        given['options'] = {**default, **_options(given.get('options'), folder)}
        if isinstance(given.get('mounting'), list):
            given['mounting'] = [
                _angle(value) if isinstance(value, str) else value for value in given['mounting']
            ]
    if given.get('payload') is not None:
        given['payload'] = _make(
            CarriedPayload, given['payload'], f'{place}: payload', {'mass'}
        )
    for name, endings in (('robot', ('.yaml', '.yml')), ('urdf', '')):
        if isinstance(given.get(name), str) and given[name].endswith(endings):
            given[name] = str(folder / given[name])
    return _make(Arm, given, place, {'name'})


def _read_runs(
    entry: Mapping[str, Any], place: str, folder: Path, arms: Mapping[str, Arm]
) -> Iterator[Run]:
    """Yield the runs of an entry: one, or where it says `separate` one for each bag."""
    given = dict(entry)
    with naming_place(place):
        separate = to_switch(given.pop('separate', False), 'separate')
        arm = arms.get(str(given.get('arm')))
        if arm is None and 'arm' in given:
            near = suggestion(str(given['arm']), arms)
            raise DescriptionError(
                f'there is no arm {given["arm"]}{f"; {near}" if near else ""} (arms are '
                f'{", ".join(arms)})'
            )
        options = {} if arm is None else arm.options
        given['options'] = IdentifyOptions(
            **{**options, **_options(given.get('options'), folder)}
        )
    run = _make(Run, given, place, {'name', 'arm', 'bags'})
    found = [path for pattern in run.bags for path in (_matches(folder, pattern) or [pattern])]
    _refuse_twice(found, f'{place}: a bag')
    if not separate:
        yield replace(run, bags=tuple(found))
        return
    for bag in found:
        part = re.sub(r'[^A-Za-z0-9_.-]', '_', Path(bag).name)
        with naming_place(place):
            yield replace(run, name=f'{run.name}_{part}', bags=(bag,))


def _matches(folder: Path, pattern: str) -> list[str]:
    """Return the paths that a pattern stands for, in the order of their names."""
    path = folder / pattern
    if not set(pattern) & set('*?['):
        return [str(path)]
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
    entries = to_list(content, f'{source}: {what}')
    if not entries:
        raise DescriptionError(f'{source}: {what} must be a list with one entry or more')
    return [
        to_mapping(entry, f'{source}: entry {number} of {what}')
        for number, entry in enumerate(entries, start=1)
    ]


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise DescriptionError(
            f'name is {name!r:.80}, it must be of 1 to 64 letters, digits, _, - and . and begin '
            'with a letter or digit'
        )


def _angle(text: str) -> float:
    try:
        return angle(text)
    except ArgumentTypeError as error:
        raise DescriptionError(f'mounting: {error}') from error


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
