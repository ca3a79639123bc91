# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Bounds of a parameter's values; pure, so that they can be tested without a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
import math
from typing import Any

from robot_identification.errors import IdentificationError

LONGEST_TEXT = 4096  # [characters]; chosen: as long as a path of Linux, PATH_MAX
LONGEST_LIST = 256  # number of entries; chosen: more than any parameter here needs
_SHOWN = 80  # of a refused text [characters]; chosen: a line of a terminal


@dataclass(frozen=True)
class ParameterBounds:
    """Bounds of one parameter."""

    # Of a number, or of each number of a list; numbers must be finite in any case.
    minimum: float | None = None
    maximum: float | None = None
    # What a text, or each text of a list, may be; empty: anything printable.
    choices: tuple[str, ...] = ()
    # Characters of a text (default 4096), or entries of a list (default 256).
    longest: int | None = None
    # Takes a value and raises an `IdentificationError` where it cannot be used.
    check: Callable[[Any], object] | None = None

    def refusal(self, name: str, value: Any) -> str:
        """Return why a value is refused, empty where it may be set; `name` is the parameter."""
        if isinstance(value, (bool, bytes)) or value is None:
            return ''
        if isinstance(value, (int, float, str)):
            reason = self._scalar_refusal(name, value, self.longest or LONGEST_TEXT)
        else:
            reason = self._list_refusal(name, value)
        return reason or self._check_refusal(name, value)

    def _list_refusal(self, name: str, values: Any) -> str:
        limit = self.longest or LONGEST_LIST
        if len(values) > limit:
            # Before anything looks at the entries: there may be millions.
            return f'{name} has {len(values)} entries, at most {limit} are allowed'
        for index, value in enumerate(values):
            reason = self._scalar_refusal(f'{name}[{index}]', value, LONGEST_TEXT)
            if reason:
                return reason
        return ''

    def _scalar_refusal(self, name: str, value: Any, longest: int) -> str:
        if isinstance(value, str):
            return self._text_refusal(name, value, longest)
        if not math.isfinite(value):
            return f'{name} is {value}, a finite number is needed'
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        if not low <= value <= high:
            return f'{name} is {value}, allowed are {low:g} to {high:g}'
        return ''

    def _text_refusal(self, name: str, value: str, longest: int) -> str:
        if len(value) > longest:
            return f'{name} has {len(value)} characters, at most {longest} are allowed'
        if not value.isprintable():
            return f'{name} is {value[:_SHOWN]!r}: control characters are not allowed'
        if self.choices and value not in self.choices:
            return f'{name} is {value[:_SHOWN]!r}, it must be {_listed(self.choices)}'
        return ''

    def _check_refusal(self, name: str, value: Any) -> str:
        if self.check is None:
            return ''
        try:
            self.check(value)
        except IdentificationError as error:
            return f'{name}: {error}'
        return ''

    def describe(self, default: Any) -> str:
        """Return the bounds of a text or a list in words; those of a number are its range."""
        words = []
        if isinstance(default, list):
            words.append(f'at most {self.longest or LONGEST_LIST} entries')
            if self.minimum is not None and self.maximum is not None:
                words.append(f'each from {self.minimum:g} to {self.maximum:g}')
        elif isinstance(default, str) and not self.choices:
            words.append(f'at most {self.longest or LONGEST_TEXT} characters')
        if self.choices:
            words.append(_listed(self.choices))
        return '; '.join(words)


def _listed(choices: tuple[str, ...]) -> str:
    return ' or '.join(repr(choice) for choice in choices)
