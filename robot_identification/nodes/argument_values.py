# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Values of launch arguments, checked by name before launch makes parameters of them."""

from __future__ import annotations

import math
from typing import Any, get_args, get_origin

import yaml

NAMES = {int: 'a whole number', float: 'a number', str: 'a text'}


EXAMPLES = {list[float]: '[0.0, 1.5]', list[str]: '[one, two]'}


def checked_value(name: str, text: str, kind: Any, default: str) -> str:
    """
    Return a value as launch makes a parameter of it: whole numbers are none of a list of numbers.

    An empty `default` is that of a parameter that is not set. Raises RuntimeError, with an
    example, if the text is no value of the kind.
    """
    if kind in (str, bool) or (not text and not default):
        return text  # any text, and choices
    example = default or EXAMPLES.get(kind, '')
    if get_origin(kind) is list:
        item, = get_args(kind)
        wanted = f'a YAML list, each {NAMES[item]}'
        values = _list_of(text, item)
        good = values is not None
        if good and item is float:
            text = yaml.safe_dump(values, default_flow_style=True, width=math.inf).strip()
    else:
        wanted, good = NAMES[kind], _converts(text, kind)
    if not good:
        raise RuntimeError(f'{name}:={text}: {wanted} is needed, such as {name}:="{example}"')
    return text


def _list_of(text: str, item: type) -> list[Any] | None:
    """Return a YAML list of values of a kind, None if it is none."""
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    if not isinstance(values, list):
        return None
    if item is str:
        return values if all(isinstance(value, str) for value in values) else None
    # Of a number without a decimal point, such as 2e-3, YAML makes a text.
    texts = [str(value) for value in values]
    good = all(_converts(value, item) for value in texts)
    return [item(value) for value in texts] if good else None


def _converts(text: str, kind: type) -> bool:
    """Return whether a text is a number of a kind."""
    try:
        kind(text)
    except ValueError:
        return False
    return True
