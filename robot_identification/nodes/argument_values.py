# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Values of launch arguments, checked by name before launch makes parameters of them."""

from __future__ import annotations

from typing import Any, get_args, get_origin

import yaml

NAMES = {int: 'a whole number', float: 'a number', str: 'a text'}


def check_value(name: str, text: str, kind: Any, example: str) -> None:
    """Raise RuntimeError, with an example, if a text is no value of a kind."""
    if kind in (str, bool):
        return  # any text, and choices
    if get_origin(kind) is list:
        item, = get_args(kind)
        wanted = f'a YAML list, each {NAMES[item]}'
        good = _is_list_of(text, item)
    else:
        wanted, good = NAMES[kind], _converts(text, kind)
    if not good:
        raise RuntimeError(f'{name}:={text}: {wanted} is needed, such as {name}:="{example}"')


def _is_list_of(text: str, item: type) -> bool:
    """Return whether a text is a YAML list of values of a kind."""
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError:
        return False
    return isinstance(values, list) and all(
        isinstance(value, str) if item is str else _converts(str(value), item) for value in values
    )


def _converts(text: str, kind: type) -> bool:
    """Return whether a text is a number of a kind."""
    try:
        kind(text)
    except ValueError:
        return False
    return True
