# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Who touches the arm is seen in the time that is stated; who does not is no alarm; files."""

import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import dump_yaml
from robot_identification.monitoring import CollisionCalibration, load_collision_calibration
from robot_identification.monitoring.collision import (
    calibrate_thresholds, CollisionDetector, CollisionThresholds, RestMemory, smallest_seen,
)
import scipy

RATE = 500.0
BANDWIDTH = 25.0


def observed(seconds, seed):
    """Return stamps and what an observer makes of noise, of standard deviation 1 and 2."""
    rng = np.random.default_rng(seed)
    stamps = np.arange(round(seconds * RATE)) / RATE
    kept = np.exp(-BANDWIDTH / RATE)
    noise = rng.standard_normal((len(stamps) + 500, 2))
    low = scipy.signal.lfilter([1.0 - kept], [1.0, -kept], noise, axis=0)[500:]
    return stamps, low / np.sqrt((1.0 - kept) / (1.0 + kept)) * [1.0, 2.0]


def alarms(external, thresholds):
    """Return how often an alarm begins, without a hold."""
    over = np.any(np.abs(external) > thresholds.factor * [1.0, 2.0], axis=1)
    return int(np.sum(np.diff(over.astype(int)) > 0))


def test_alarms_are_as_rare_as_they_are_allowed_to_be():
    """Calibrated on two minutes of noise for 60 alarms an hour, on ten minutes of other noise."""
    # Ten are expected. Gumbel's is the limit of maxima only, and two minutes leave its parameters
    # uncertain by a tenth: from a fifth to twice as many.
    stamps, external = observed(120.0, 1)
    deviation = np.broadcast_to([1.0, 2.0], external.shape)
    thresholds = calibrate_thresholds(
        external, deviation, stamps, false_alarms_per_hour=60.0
    )
    # The same noise in units of its deviation has the same factor on both joints.
    assert thresholds.factor[0] == pytest.approx(thresholds.factor[1], rel=0.15)
    assert 2 <= alarms(observed(600.0, 2)[1], thresholds) <= 20
    rare = calibrate_thresholds(external, deviation, stamps, false_alarms_per_hour=0.01)
    assert np.all(rare.factor > thresholds.factor)
    assert alarms(observed(600.0, 2)[1], rare) == 0


def test_a_step_is_seen_in_the_time_that_is_stated():
    """Without noise exactly so; a percent less is not seen by then."""
    thresholds = CollisionThresholds(np.array([5.0, 4.0]), hold=0.004)
    deviation = np.array([1.0, 2.0])
    step = smallest_seen(thresholds, deviation, BANDWIDTH, within=0.05)
    stamps = np.arange(26) / RATE
    for factor, seen in ((1.01, True), (0.99, False)):
        detector = CollisionDetector(thresholds)
        for t in stamps:
            external = factor * step * (1.0 - np.exp(-BANDWIDTH * t))
            touched = detector.step(t, external, deviation)
        assert np.all(touched == seen)
    assert np.all(np.isinf(smallest_seen(thresholds, deviation, BANDWIDTH, within=0.004)))


def low_pass(values):
    """Return what the observer's low-pass makes of samples, which were constant before."""
    kept = np.exp(-BANDWIDTH / RATE)
    return scipy.signal.lfilter(
        [1.0 - kept], [1.0, -kept], values, axis=0, zi=kept * values[:1]
    )[0]


def shares_of(stamps, dq):
    memory = RestMemory(BANDWIDTH)
    return np.array([memory.step(t, one) for t, one in zip(stamps, dq, strict=True)])


def test_an_error_at_rest_is_bounded_by_what_is_remembered_of_rest(rng):
    """Any error within +-1 while the joint is slow and none else, through the low-pass."""
    stamps = np.arange(2000) / RATE
    dq = 0.05 * np.sin(stamps[:, None] * rng.uniform(2.0, 20.0, 3))
    rests = np.abs(dq) < 0.02
    share = shares_of(stamps, dq)
    assert share.min() >= 0.0
    assert share.max() <= 1.0
    for error in (rests * 1.0, rests * rng.uniform(-1.0, 1.0, dq.shape)):
        # The second is the first where the error is the bound itself.
        assert np.all(np.abs(low_pass(error)) <= share + 1e-12)
    np.testing.assert_allclose(low_pass(rests * 1.0), share, atol=1e-12)


def test_a_joint_at_rest_has_the_wider_limit():
    """Where nobody says whether it rests, too: rather no alarm than a false one."""
    thresholds = CollisionThresholds(np.array([5.0]), hold=0.0, rest=np.array([10.0]))
    one = np.ones(1)
    for share, limit in ((np.zeros(1), 5.0), (np.array([0.5]), 10.0), (one, 15.0), (None, 15.0)):
        for external, touched in ((0.99 * limit, False), (1.01 * limit, True)):
            detector = CollisionDetector(thresholds)
            assert detector.step(0.0, np.array([-external]), one, share) == touched


# --- thresholds as a file ----------------------------------------------------------------


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
    ({'joints': []}, DescriptionError, 'joints are'),
    ({'hold': float('nan')}, DescriptionError, 'hold is .*, a finite number is needed'),
    ({'hold': 7.0}, UsageError, 'hold must be from 0 to 1 s'),
])
def test_what_is_wrong_with_a_file_is_said(tmp_path, calibration, model, change, error, words):
    path = written(tmp_path / 'collision.yaml', {**calibration.content(), **change})
    with pytest.raises(error, match=words):
        load_collision_calibration(path, model, SHA)
