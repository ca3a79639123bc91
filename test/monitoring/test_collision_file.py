# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Thresholds as a file: they come back as they were, and only for the model they belong to."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.errors import DataError, DescriptionError, UsageError
from robot_identification.files import dump_yaml
from robot_identification.monitoring import (
    calibrate_on, CollisionCalibration, CollisionThresholds, load_collision_calibration,
)
from robot_identification.prediction.comparison import Measured

SHA = 'a' * 64


@pytest.fixture(scope='module')
def model(identification):
    return identification.model


@pytest.fixture
def calibration(model):
    factor = np.linspace(4.0, 9.0, 6) + 1e-13
    return CollisionCalibration(
        model.robot.name, SHA, ('free_motion',), 120.0, 0.1, 25.0,
        CollisionThresholds(factor, 0.004, factor / 7.0), tuple(model.robot.joint_names),
        factor / 3.0,
    )


def written(path, content):
    path.write_text(dump_yaml(content))
    return path


def test_comes_back_as_it_was(tmp_path, calibration, model):
    path = written(tmp_path / 'collision.yaml', calibration.content())
    again = load_collision_calibration(path, model, SHA)
    assert again.content() == calibration.content()
    np.testing.assert_array_equal(again.thresholds.factor, calibration.thresholds.factor)


@pytest.mark.parametrize('change, error, words', [
    ({'model_sha256': 'b' * 64}, UsageError, 'another model'),
    ({'schema_version': 2}, DescriptionError, 'schema_version'),
    ({'surprise': 1}, DescriptionError, 'unknown key surprise'),
    ({'joints': []}, DescriptionError, 'joints are'),
    ({'joints': 'six'}, DescriptionError, 'list of mappings'),
    ({'bandwidth': 'fast'}, DescriptionError, 'bandwidth is .*, a finite number is needed'),
    ({'hold': float('nan')}, DescriptionError, 'hold is .*, a finite number is needed'),
    ({'hold': 7.0}, UsageError, 'hold must be from 0 to 1 s'),
    ({'bags': 'one'}, DescriptionError, 'bags must be a list'),
])
def test_what_is_wrong_with_a_file_is_said(tmp_path, calibration, model, change, error, words):
    path = written(tmp_path / 'collision.yaml', {**calibration.content(), **change})
    with pytest.raises(error, match=words):
        load_collision_calibration(path, model, SHA)


def measured(model, seconds, seed=0):
    """Return a rest whose efforts are the model's, with noise."""
    rows = round(seconds * model.robot.sampling_rate)
    rng = np.random.default_rng(seed)
    q = np.tile([0.3, -0.8, 0.9, -0.4, 0.7, 0.1], (rows, 1))
    effort = rng.normal(size=q.shape)
    return Measured(
        np.arange(rows) / model.robot.sampling_rate, q, np.zeros_like(q), effort, None
    )


def test_recordings_count_together(model, monkeypatch):
    """Two are enough where one is not; 3 s each are quick, and four blocks are asked for."""
    monkeypatch.setattr('robot_identification.monitoring.collision.FEWEST_BLOCKS', 4)
    one, other = measured(model, 3.0), measured(model, 3.0, 1)
    with pytest.raises(DataError, match='too short'):
        calibrate_on(model, SHA, {'one': one}, false_alarms_per_hour=1.0)
    both, note = calibrate_on(
        model, SHA, {'one': one, 'other': other}, false_alarms_per_hour=1.0
    )
    # Less the three time constants of the observer at the start of each.
    assert both.duration == pytest.approx(6.0 - 2.0 * 3.0 / 25.0, abs=0.1)
    assert both.bags == ('one', 'other')
    # They never move.
    assert 'joint 1 of 6 is to move' in note
    assert not both.rest.any()
    assert np.all(both.smallest_step > 0.0)


def test_what_cannot_be_calibrated_is_refused(model):
    with pytest.raises(DataError, match='unknown scale'):
        calibrate_on(
            replace(model, relative_scale=True), SHA, {}, false_alarms_per_hour=1.0
        )
    still = measured(model, 1.0)
    blind = replace(still, effort=np.full_like(still.effort, np.nan))
    with pytest.raises(DataError, match='nothing can be observed in one'):
        calibrate_on(model, SHA, {'one': blind}, false_alarms_per_hour=1.0)
