# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What the tests of executions share."""

import pytest
from recordings import designed_motion


@pytest.fixture(scope='session')
def trajectory(ur5):
    return designed_motion(ur5, 0)
