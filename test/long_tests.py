# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A mark for tests that repeat at length, with all nodes, what others show piece by piece."""

import os

import pytest

ASKED_FOR = 'ROBOT_IDENTIFICATION_LONG_TESTS'

long_test = pytest.mark.skipif(
    not os.environ.get(ASKED_FOR),
    reason=f'long: the pieces are tested elsewhere; {ASKED_FOR}=1 runs it, as every night',
)
