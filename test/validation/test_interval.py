# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The standard deviation that a model states of its prediction, and what its band holds."""

from known_models import known_model
import numpy as np
import pytest
from robot_identification.model.regressor import Motion
from robot_identification.pipeline import validate
from robot_identification.validation import (
    BAND, deviation_at_rest, friction_level, make_prediction_deviation,
)
from robot_identification.validation.validation import corrected_joints, errors_on


def test_friction_that_saturates_is_counted_and_no_other(robots):
    """Coulomb and load, the latter under its load; viscous friction and offsets are none of it."""
    model = known_model(
        robots['mixed'], 'coulomb,load,viscous,offset', fc=2.0, fcl=0.1, fv=5.0, f0=3.0
    )
    np.testing.assert_allclose(
        friction_level(model, np.array([0.0, 10.0, 20.0])), [2.0, 3.0, 4.0], rtol=1e-15
    )


def test_rest_adds_a_quarter_of_the_friction():
    assert deviation_at_rest(np.array([3.0]), np.array([16.0])) == pytest.approx(5.0)


def test_the_deviation_follows_the_speed_of_each_joint(robots):
    model = known_model(robots['mixed'])
    corrected = np.array([True, True, False])
    assert make_prediction_deviation(model, corrected) is None
    model = model.with_quality({
        'prediction_deviation': [[1.0, 2.0, 0.0], [4.0, 5.0, 0.0]], 'live_deviation': None,
        'uncorrected_prediction_deviation': [[0.0, 0.0, 3.0], [0.0, 0.0, 6.0]],
        'uncorrected_live_deviation': None,
    })
    dq = np.array([[0.0, 0.021, -1.0], [-0.019, -0.021, 0.0]])
    found = make_prediction_deviation(model, corrected)(Motion(np.zeros_like(dq), dq, dq))
    np.testing.assert_array_equal(found, [[4.0, 2.0, 3.0], [4.0, 2.0, 6.0]])
    assert make_prediction_deviation(model, corrected, live=True) is None


def test_the_band_holds_what_it_says_on_a_motion_that_was_not_seen(scene, identification):
    """Two motions of one simulated arm: within a few per cent, as blocks of one motion differ."""
    made = scene('ur5')
    model = identification.model
    bag, = validate(model, [made.bags[1]]).validation.bags
    resting = bag.details.resting_samples / bag.samples
    total = (
        bag.details.covered_moving * (1.0 - resting)
        + np.nan_to_num(bag.details.covered_resting) * resting
    )
    assert 0.92 < total.mean() < 0.98
    assert np.all(total > 0.9)


def test_coverage_is_counted_in_motion_and_at_rest(identification):
    """Errors of known size: all within the band, none, and half of them."""
    dataset, model = identification.datasets[0], identification.model
    deviation = make_prediction_deviation(model, corrected_joints(model, dataset))(dataset.motion)
    for size, share in ((0.99, 1.0), (1.01, 0.0)):
        found = errors_on(
            dataset, dataset.effort - size * BAND * deviation, dataset.scored, deviation=deviation
        ).details
        np.testing.assert_array_equal(found.covered_moving, share)
        known = found.resting_samples > 0
        np.testing.assert_array_equal(found.covered_resting[known], share)
    without = errors_on(dataset, dataset.effort, dataset.scored).details
    assert np.isnan(without.covered_moving).all() and np.isnan(without.covered_resting).all()
