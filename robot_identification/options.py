# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Options declared once: fields of a dataclass that say what the command line and ROS need to know.

From one declaration come the options of a command, the parameters of a node and the keys of a
YAML file.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field, fields
import math
from typing import Any, TypeVar

from robot_identification.errors import DescriptionError

WORDS = {str: 'a text', bool: 'true or false', float: 'a number'}
Given = TypeVar('Given')


@dataclass(frozen=True)
class Option:
    """
    One option.

    Attributes
    ----------
    name : str
        Of the field, and the key in a YAML file.
    kind : {str, float, bool}
        Type of its value.
    text : str
        Description, with the unit in brackets.
    otherwise : str
        Effect of not giving it.
    choices : tuple of str
        Allowed values; any if there are none.
    minimum, maximum : float, optional
        Range of a parameter.
    metavar : str, optional
        Its value in the help.
    key : str
        Its name on the command line, with underscores, and as a parameter.
    check : callable, optional
        Raises an `IdentificationError` if a text cannot be used.

    """

    name: str
    kind: type
    text: str
    otherwise: str
    choices: tuple[str, ...]
    minimum: float | None
    maximum: float | None
    metavar: str | None
    key: str
    check: Callable[[str], object] | None

    @property
    def parameter_default(self) -> str | float | bool:
        """Return the value of a parameter that is not given."""
        default: str | float | bool = self.kind()
        return default

    @property
    def parameter_description(self) -> str:
        """Return the description of the parameter."""
        if not self.otherwise:
            return self.text
        return f'{self.text}; {"0" if self.kind is float else "empty"}: {self.otherwise}'


def option(
    kind: type, text: str, *, otherwise: str = '', choices: tuple[str, ...] = (),
    minimum: float | None = None, maximum: float | None = None, metavar: str | None = None,
    key: str = '', check: Callable[[str], object] | None = None,
) -> Any:
    """
    Return a field of a dataclass for an option, None where it is not given.

    Parameters
    ----------
    kind, otherwise, choices, minimum, maximum, metavar, check
        See `Option`.
    text : str
        Its description.
    key : str, optional
        See `Option`; the field's name if not given.

    """
    return field(default=None, metadata={'option': {
        'kind': kind, 'text': text, 'otherwise': otherwise, 'choices': choices,
        'minimum': minimum, 'maximum': maximum, 'metavar': metavar, 'key': key, 'check': check,
    }})


def options_of(kind: type) -> tuple[Option, ...]:
    """Return the options that a dataclass declares, in their order."""
    found = []
    for entry in fields(kind):
        declared = dict(entry.metadata['option'])
        found.append(Option(entry.name, **{**declared, 'key': declared['key'] or entry.name}))
    return tuple(found)


def add_arguments(parser: argparse.ArgumentParser, kind: type) -> None:
    """Add the options of a dataclass to a command."""
    for one in options_of(kind):
        flag = f'--{one.key.replace("_", "-")}'
        if one.kind is bool:
            parser.add_argument(flag, action='store_true', help=one.text)
            continue
        text = f'{one.text} (default: {one.otherwise})' if one.otherwise else one.text
        parser.add_argument(
            flag, type=one.kind, choices=one.choices or None, metavar=one.metavar, help=text,
        )


def from_values(kind: type[Given], read: Callable[[str], Any]) -> Given:
    """
    Return an instance of a dataclass of options.

    Parameters
    ----------
    kind : type
        The dataclass.
    read : callable
        Returns the value of a key; None and false mean that it is not given.

    """
    values = {one.name: read(one.key) for one in options_of(kind)}
    return kind(**{name: None if value is False else value for name, value in values.items()})


def check_kinds(instance: Any, *, but: str = '') -> None:
    """
    Check the types of the options of an instance, but for one; integers become numbers.

    Raises
    ------
    DescriptionError
        With the option and its value, if one has another type.

    """
    for one in options_of(type(instance)):
        value = getattr(instance, one.name)
        if value is None or one.name == but:
            continue
        right = isinstance(value, one.kind)
        if one.kind is float:
            right = isinstance(value, (int, float)) and not isinstance(value, bool)
            right = right and math.isfinite(value)
        if not right:
            raise DescriptionError(
                f'{one.name} is {value!r:.60}, it must be {WORDS[one.kind]}'
            )
        if one.kind is float:
            object.__setattr__(instance, one.name, float(value))
