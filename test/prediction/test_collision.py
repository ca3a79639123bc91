# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Who touches the arm is seen in the time that is stated; who does not is no alarm."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.errors import UsageError
from robot_identification.prediction.collision import calibrate_thresholds
from robot_identification.prediction.collision import CollisionDetector
from robot_identification.prediction.collision import CollisionThresholds
from robot_identification.prediction.collision import PredictionBand
from robot_identification.prediction.collision import smallest_seen
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
    """
    Calibrated on two minutes of noise for 60 alarms an hour, on ten minutes of other noise.

    Ten are expected. Gumbel's is the limit of maxima only, and two minutes leave its parameters
    uncertain by a tenth: from a fifth to twice as many.
    """
    stamps, external = observed(120.0, 1)
    deviation = np.broadcast_to([1.0, 2.0], external.shape)
    thresholds = calibrate_thresholds(
        external, deviation, stamps, false_alarms_per_hour=60.0, hold=0.0
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


def test_bursts_shorter_than_the_hold_are_noise():
    """Two samples of three are not enough, and the time begins anew with every burst."""
    detector = CollisionDetector(CollisionThresholds(np.array([1.0]), hold=0.004))
    over = [1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 0]
    said = [
        bool(detector.step(k / RATE, np.array([2.0 * one]), np.ones(1))[0])
        for k, one in enumerate(over)
    ]
    assert said == [False] * 8 + [True] * 2 + [False]


def test_the_band_is_that_of_repeated_identifications(identification, rng):
    """Torques of models drawn from the covariance scatter as it says, beside the residuals."""
    model = identification.model
    motion = identification.datasets[0].motion
    band = PredictionBand(model)
    state = motion.q[50], motion.dq[50], motion.ddq[50]
    noise = np.asarray(model.quality['residual_standard_deviation'])
    one = motion.part(slice(50, 51))
    drawn = rng.multivariate_normal(model.theta_base, model.covariance, 2000)
    torques = np.array([replace(model, theta_base=theta).torque(one)[0] for theta in drawn])
    # The standard deviation of 2000 draws is known to 1.6 %.
    np.testing.assert_allclose(
        band.at(*state), np.sqrt(noise**2 + torques.var(axis=0)), rtol=0.07
    )


def test_wrong_calls_are_refused(identification):
    stamps, external = observed(15.0, 3)
    deviation = np.ones_like(external)
    with pytest.raises(DataError, match='too short'):
        calibrate_thresholds(external, deviation, stamps)
    with pytest.raises(UsageError, match='false_alarms_per_hour'):
        calibrate_thresholds(external, deviation, stamps, false_alarms_per_hour=0.0)
    with pytest.raises(UsageError, match='factors'):
        CollisionThresholds(np.array([1.0, 0.0]))
    with pytest.raises(DataError, match='residuals'):
        PredictionBand(identification.model.with_quality({}))
