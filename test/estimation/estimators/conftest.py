# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The arm of the estimators' tests."""

from estimation.arm_problems import arm_reduction
import pytest


@pytest.fixture(scope='session')
def arm(robots):
    """Return an arm with a continuous, a prismatic and a revolute joint."""
    return robots['mixed']


@pytest.fixture(scope='session')
def reduction(arm):
    """Return its base parameters, friction and rotors among them."""
    return arm_reduction(arm)
