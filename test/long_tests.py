# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A mark for tests that repeat at length, with all nodes, what others show piece by piece."""

from collections.abc import Iterable
import os
from typing import Any

import pytest

ASKED_FOR = 'ROBOT_IDENTIFICATION_LONG_TESTS'

long_test = pytest.mark.skipif(
    not os.environ.get(ASKED_FOR),
    reason=f'long: the pieces are tested elsewhere; {ASKED_FOR}=1 runs it, as every night',
)


def some_by_day(values: Iterable[Any], count: int) -> list[Any]:
    """Return values to parametrize a test with, of which the first `count` are tried by day."""
    return [
        value if number < count else pytest.param(
            *(value if isinstance(value, tuple) else (value,)), marks=long_test
        )
        for number, value in enumerate(values)
    ]
