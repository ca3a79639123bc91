# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Options declared once: fields of a dataclass that say what the command line and ROS need to know.

From one declaration come the options of a command, the parameters of a node and the keys of a
YAML file.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
import math
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar

from robot_identification.errors import DescriptionError, UsageError
from robot_identification.removed import describe_unknown, REMOVED

WORDS = {
    str: 'a text', bool: 'true or false', float: 'a number', int: 'a whole number', Path: 'a path',
}
Given = TypeVar('Given')


@dataclass(frozen=True)
class Option:
    """One option."""

    kind: type  # type of its value, or of each of several values; {str, int, float, bool, Path}
    text: str  # description, with the unit in brackets
    # Effect of not giving it; by default the text or number of `default`.
    otherwise: str = ''
    choices: tuple[str, ...] = ()  # allowed values; any if there are none
    # Range of its value, or of each of several values.
    minimum: float | None = None
    maximum: float | None = None
    metavar: str | tuple[str, ...] | None = None  # its value in the help, or its values
    # How many values there are; a single one if not given; {'+', '*'}
    count: str | int | None = None
    bare: float | None = None  # value of an option without one; a value is needed if None
    # Raises an `IdentificationError` if a text cannot be used.
    check: Callable[[str], object] | None = None
    default: Any = None  # value of the field if the option is not given
    # Its name on the command line, with underscores, and as a parameter; by default the field's.
    key: str = ''
    name: str = ''  # of the field, and the key in a YAML file

    @property
    def parameter_default(self) -> str | float | bool:
        """Return the value of a parameter that is not given."""
        default: str | float | bool = self.kind() if self.default is None else self.default
        return default

    @property
    def parameter_description(self) -> str:
        """Return the description of the parameter."""
        if not self.otherwise or self.default is not None:
            return self.text
        return f'{self.text}; {"0" if self.kind is float else "empty"}: {self.otherwise}'

    def refusal(self, value: float) -> str:
        """Return in words why a number is not in the range, empty where it is."""
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        if low <= value <= high and math.isfinite(value):
            return ''
        if not math.isfinite(value):
            return f'{value:g}, it must be finite'
        # A large whole number keeps its digits.
        digits = '' if self.kind is int else 'g'
        return f'{value:{digits}}, allowed are {low:{digits}} to {high:{digits}}'


def option(kind: type, text: str, *, default: object = None, **details: Any) -> Any:
    """Return a dataclass field that declares an option; `details` are fields of `Option`."""
    if isinstance(default, (str, int, float)) and kind is not bool:
        details = {'otherwise': str(default), **details}
    return field(
        default=default, metadata={'option': Option(kind, text, default=default, **details)}
    )


def options_of(kind: type) -> tuple[Option, ...]:
    """Return the options that a dataclass declares, in their order; other fields are none."""
    return tuple(
        replace(declared, name=entry.name, key=declared.key or entry.name)
        for entry in fields(kind) if (declared := entry.metadata.get('option')) is not None
    )


def add_arguments(
    parser: argparse._ActionsContainer, kind: type, names: Collection[str] = ()
) -> None:
    """Add the options of a dataclass, or those of some names, to a command or to a group."""
    for one in options_of(kind):
        if names and one.name not in names:
            continue
        flag = f'--{one.key.replace("_", "-")}'
        if one.kind is bool:
            parser.add_argument(flag, action='store_true', help=one.text)
            continue
        alone = '' if one.bare is None else f'; alone: {one.bare:g}'
        text = f'{one.text} (default: {one.otherwise}{alone})' if one.otherwise else one.text
        metavar = one.metavar
        if len(one.choices) > 3:
            # They do not fit the line of the usage, which would state them a second time.
            text, metavar = f'{text}; one of {", ".join(one.choices)}', one.key.upper()
        parser.add_argument(
            flag, type=_parse_type(one), choices=one.choices or None, metavar=metavar,
            nargs=one.count if one.bare is None else '?', const=one.bare, help=text,
        )


def _parse_type(one: Option) -> Callable[[str], Any]:
    """Return what makes a value of its text; times and angles may have their unit behind them."""
    if one.kind not in (int, float):
        return one.kind
    read: Callable[[str], Any] = one.kind
    if one.kind is float:
        read = next(
            (parse for unit, parse in (('[s]', duration), ('[rad]', angle)) if unit in one.text),
            float,
        )

    def parse(text: str) -> Any:
        value = read(text)
        if refusal := one.refusal(value):
            raise argparse.ArgumentTypeError(refusal)
        return value

    # Where a text is not a number, argparse names the kind by it.
    parse.__name__ = one.kind.__name__
    return parse


def duration(text: str) -> float:
    """Return a time [s] of a text such as 90, 90s, 1.5m, 2h or 500ms."""
    return _quantity(text, {'ms': 1e-3, 's': 1.0, 'min': 60.0, 'm': 60.0, 'h': 3600.0}, 'a time')


def angle(text: str) -> float:
    """Return an angle [rad] of a text such as 1.57, 1.57rad or 90deg."""
    return _quantity(text, {'deg': math.pi / 180.0, 'rad': 1.0}, 'an angle')


def _quantity(text: str, factors: Mapping[str, float], what: str) -> float:
    number, factor = text, 1.0
    for unit, value in factors.items():
        if text.endswith(unit):
            number, factor = text.removesuffix(unit), value
            break
    try:
        return float(number) * factor
    except ValueError:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not {what}: a number is needed, alone or followed by '
            f'{", ".join(factors)}'
        ) from None


def from_values(kind: type[Given], read: Callable[[str], Any]) -> Given:
    """
    Return an instance of a dataclass of options.

    `read` returns the value of a key: None and false mean that it is not given, a list holds
    several values.
    """
    values = {one.name: read(one.key) for one in options_of(kind)}
    return kind(**{
        name: tuple(value) if isinstance(value, list) else value
        for name, value in values.items() if value is not None and value is not False
    })


def check_options(instance: Any, *, but: Collection[str] = ()) -> None:
    """
    Check types, choices and ranges of the options of an instance, except those named in `but`.

    Every dataclass of options does so when it is made. Integers given for numbers and texts for
    paths are converted in place. Raises DescriptionError, with the option and its value, if one
    has another type, and UsageError if it is none of the choices or not in the range.
    """
    for one in options_of(type(instance)):
        value = getattr(instance, one.name)
        if value is None or one.name in but:
            continue
        if one.count is None:
            checked = _checked(one, value)
        elif not isinstance(value, (list, tuple)):
            raise DescriptionError(f'{one.name} is {value!r:.60}, it must be a list')
        elif isinstance(one.count, int) and len(value) != one.count:
            raise DescriptionError(f'{one.name} has {len(value)} values, it must have {one.count}')
        elif one.count == '+' and not value and one.default is None:
            raise DescriptionError(f'{one.name} is an empty list, it must have a value or more')
        else:
            checked = tuple(_checked(one, each) for each in value)
        object.__setattr__(instance, one.name, checked)


def _checked(one: Option, value: Any) -> Any:
    taken: Any = {float: Real, int: Integral, Path: (str, Path)}.get(one.kind, one.kind)
    if not isinstance(value, taken) or isinstance(value, bool) != (one.kind is bool):
        raise DescriptionError(f'{one.name} is {value!r:.60}, it must be {WORDS[one.kind]}')
    if one.choices and value not in one.choices:
        if value in REMOVED:
            raise UsageError(describe_unknown(one.name, value, one.choices))
        raise UsageError(
            f'{one.name} is {value!r:.60}, it must be one of {", ".join(one.choices)}'
        )
    if one.kind in (int, float) and (refusal := one.refusal(value)):
        raise UsageError(f'{one.name} is {refusal}')
    return one.kind(value)
