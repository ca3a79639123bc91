# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Numbers, words and tables as reports show them, and JSON for scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import json
import math
import textwrap
from typing import Any, TYPE_CHECKING

from robot_identification.files import to_finite
from robot_identification.texts import printable

if TYPE_CHECKING:
    from robot_identification.model import RobotModel

TEXT_WIDTH = 100  # [columns]
NOT_AVAILABLE = 'n/a'


def number(value: float, digits: int = 3) -> str:
    """Return a number with some significant digits, or 'n/a' where it is not finite."""
    if not math.isfinite(value):
        return NOT_AVAILABLE
    if abs(value) >= 1e4:
        return f'{value:.{digits - 1}e}'
    return f'{value:#.{digits}g}'.rstrip('.')


def fixed(value: float, decimals: int = 3) -> str:
    """Return a number with some decimals, or 'n/a' where it is not finite."""
    if not math.isfinite(value):
        return NOT_AVAILABLE
    text = f'{value:.{decimals}f}'
    # Nothing is less than zero by nothing.
    return text if float(text) else text.lstrip('-')


def percent(value: float) -> str:
    """Return a share in per cent, or 'n/a' where it is not finite."""
    if not math.isfinite(value):
        return NOT_AVAILABLE
    share = 100.0 * value
    if share > 1000.0:
        return '> 1000 %'
    if 0.0 < share < 0.05:
        return '< 0.1 %'
    return f'{share:.1f} %' if abs(share) < 10.0 else f'{share:.0f} %'


def effort_unit_text(unit: str) -> str:
    """Return the unit of a bag's effort as it is written for people."""
    # The model room needs NumPy, which commands that write JSON do not.
    from robot_identification.model import EFFORT_UNITS

    return EFFORT_UNITS[unit].symbol


def effort_text(unit: str) -> str:
    """Return what an effort in a unit is, with the unit."""
    from robot_identification.model import EFFORT_UNITS

    return f'{EFFORT_UNITS[unit].description} [{EFFORT_UNITS[unit].symbol}]'


def sliding_text(robot: RobotModel) -> str:
    """Return what units of columns mean in the rows of joints that slide; empty without any."""
    names = [
        name for name, unit in zip(robot.joint_names, robot.position_units, strict=True)
        if unit == 'm'
    ]
    if not names:
        return ''
    verb = 'slide' if len(names) > 1 else 'slides'
    return f'{", ".join(names)} {verb}: in the head of a column, N m means N there, rad means m'


def shorten(text: str, width: int) -> str:
    """Return a text of at most `width` characters; the end, which says more, is kept."""
    return text if len(text) <= width else f'...{text[len(text) - width + 3:]}'


def wrap(text: str, first: str = '') -> list[str]:
    """Return the lines of a paragraph, at most `TEXT_WIDTH` columns wide."""
    return textwrap.wrap(
        printable(text), TEXT_WIDTH, initial_indent=first, subsequent_indent=' ' * len(first)
    )


def bullets(texts: Iterable[str]) -> list[str]:
    """Return the lines of texts that are listed one below the other."""
    return [line for text in texts for line in wrap(text, first='  - ')]


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """
    Return the lines of a table: first column left, the others right.

    The first column gives way where the table would be wider than `TEXT_WIDTH`.
    """
    lines = [[printable(cell) for cell in row] for row in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    widths[0] = min(widths[0], TEXT_WIDTH - sum(width + 2 for width in widths[1:]))
    return [
        '  '.join([
            shorten(line[0], widths[0]).ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]).rstrip()
        for line in lines
    ]


def attributes(instance: object, *names: str, **renamed: str) -> dict[str, Any]:
    """Return attributes of an instance by name for a file; ``key='name'`` renames one."""
    renamed = {**dict(zip(names, names, strict=True)), **renamed}
    return {key: getattr(instance, name) for key, name in renamed.items()}


def json_text(content: Mapping[str, Any]) -> str:
    """Return the text of a JSON file; arrays become lists, what is not finite becomes null."""
    return json.dumps(to_finite(content), indent=2, allow_nan=False) + '\n'
