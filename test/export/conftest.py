# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The reader of most exports, and the model of an arm with all that they tell apart."""

from export.exported_models import exported_models
import pytest


@pytest.fixture(scope='session')
def mujoco():
    """Return MuJoCo."""
    return pytest.importorskip('mujoco', reason='MuJoCo, the reader, is not installed')


@pytest.fixture(scope='session')
def models(robots):
    """Return models whose exports are read again, by name."""
    return exported_models(robots)


@pytest.fixture(scope='session')
def model(models):
    """Return the model of the arm with everything."""
    return models['everything']
