# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Checks of the options that estimators take."""

from __future__ import annotations

import math
from typing import Any

from robot_identification.errors import UsageError
from robot_identification.files import is_number, is_whole_number


def check_count(value: Any, lowest: int, what: str) -> None:
    """Raise UsageError unless an option is a whole number of at least `lowest`."""
    if not is_whole_number(value) or value < lowest:
        raise UsageError(f'{what} is {value!r}, it must be a whole number of at least {lowest}')


def check_positive(value: Any, what: str) -> None:
    """
    Check an option that is a positive number, infinity included.

    Raises
    ------
    UsageError
        If it is not.

    """
    if not is_number(value) or not value > 0.0:
        raise UsageError(f'{what} is {value!r}, it must be a positive number')


def check_not_negative(value: Any, what: str) -> None:
    """
    Check an option that is a finite number of at least zero.

    Raises
    ------
    UsageError
        If it is not.

    """
    if not is_number(value) or not 0.0 <= value < math.inf:
        raise UsageError(f'{what} is {value!r}, it must be a finite number of at least 0')
