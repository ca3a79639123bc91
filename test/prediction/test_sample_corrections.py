# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Corrections of a live arm are those of a recording with causal kinematics."""

from dataclasses import replace

from known_models import known_model
import numpy as np
import pytest
from robot_identification.model.corrections.correction import (
    correction_blocks, Corrections, JointCorrection,
)
from robot_identification.model.corrections.fast_velocity import FastVelocity
from robot_identification.model.corrections.joint_deviation import JointDeviation
from robot_identification.model.corrections.position_series import PositionSeries
from robot_identification.model.corrections.ripple import Ripple
from robot_identification.model.regressor import Motion
from robot_identification.monitoring.contact_observer import ContactObserver
from robot_identification.prediction.torque_predictor import TorquePredictor
from robot_identification.processing.causal import causal_signals
from robot_identification.processing.dataset import Dataset

RATE = 500.0
GROUPS = (
    FastVelocity(tuple((lag, lag) for lag in range(11))), PositionSeries(), Ripple((159, 160)),
    JointDeviation((10, 14, 21, 25)),
)


def dataset_of(rng, stamps):
    """Return a recording of three joints in motion, velocities with noise."""
    phase = np.arange(3)
    q = 0.4 * np.sin(2.0 * stamps[:, None] + phase)
    dq = 0.8 * np.cos(2.0 * stamps[:, None] + phase) + 1e-2 * rng.normal(size=q.shape)
    rows = np.ones(len(stamps), dtype=bool)
    return Dataset(
        'made up', ('a', 'b', 'c'), stamps, Motion(q, dq, np.zeros_like(q)), np.zeros_like(q),
        'Nm', rows, rows, (slice(0, len(stamps)),), {}, RATE, (), measured_dq=dq,
    )


@pytest.fixture
def model(robots, rng):
    """Return a model with every group on two joints."""
    plain = known_model(replace(robots['mixed'], sampling_rate=RATE), 'viscous', fv=2.0)
    plain = plain.with_quality({'residual_standard_deviation': [1.0, 1.0, 1.0]})
    return replace(plain, corrections=Corrections(RATE, (), tuple(
        JointCorrection(joint, group, rng.normal(size=group.size))
        for joint in (0, 2) for group in GROUPS
    )))


@pytest.mark.parametrize('gap', [0.0, 0.5])
def test_samples_equal_the_recording(model, rng, gap):
    """Kinematics, parameters and corrections; after a gap all of them begin anew."""
    stamps = np.arange(600) / RATE
    stamps[300:] += gap
    dataset = dataset_of(rng, stamps)
    signals = causal_signals(dataset)
    expected = model.effort(signals.motion)
    for rows, torque in correction_blocks(model.corrections.live, model.robot, signals):
        expected[rows] += torque * model.effort_per_torque
    predictor = TorquePredictor(model)
    found = predictor.run(stamps, dataset.motion.q, dataset.measured_dq)
    # Filters as a matrix here and as SciPy's recursion there: rounding of torques of some tens.
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-9)
    assert predictor.restarts == (2 if gap else 1)


def test_the_torque_of_the_parameters_stays_apart(model, rng):
    """What contact, friction health and feed-forward see is that of a model without them."""
    dataset = dataset_of(rng, np.arange(50) / RATE)
    plain = replace(model, corrections=Corrections())
    with_them, without = TorquePredictor(model), TorquePredictor(plain)
    contacts = [ContactObserver(plain, RATE), ContactObserver(model, RATE)]
    for stamp, q, dq in zip(dataset.stamps, dataset.motion.q, dataset.measured_dq, strict=True):
        one, other = with_them.step(stamp, q, dq), without.step(stamp, q, dq)
        np.testing.assert_array_equal(one.torque, other.torque)
        np.testing.assert_array_equal(one.friction, other.friction)
        assert np.any(one.correction != 0.0)
        np.testing.assert_array_equal(other.correction, 0.0)
        external = [
            contact.step(stamp, prediction, one.torque + 1.0)
            for contact, prediction in zip(contacts, (other, one), strict=True)
        ]
        if external[0] is not None:
            np.testing.assert_array_equal(external[0].torque, external[1].torque)


def test_another_rate_is_predicted_without_them(model, rng):
    predictor = TorquePredictor(model, rate=125.0)
    prediction = predictor.step(0.0, np.zeros(3), np.ones(3))
    np.testing.assert_array_equal(prediction.correction, 0.0)


def test_a_recording_without_velocities_has_no_causal_kinematics(rng):
    dataset = dataset_of(rng, np.arange(50) / RATE)
    assert causal_signals(replace(dataset, measured_dq=None)) is None
    lacking = dataset.measured_dq.copy()
    lacking[:, 1] = np.nan
    assert causal_signals(replace(dataset, measured_dq=lacking)) is None
