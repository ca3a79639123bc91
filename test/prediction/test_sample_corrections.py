# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Corrections of a live arm are those of a recording with causal kinematics."""

from dataclasses import replace

from known_models import known_model, made_up_dataset
import numpy as np
import pytest
from robot_identification.model import (
    correction_blocks, CORRECTIONS, Corrections, FastVelocity, JointCorrection, JointDeviation,
    Motion, PositionSeries, Ripple,
)
from robot_identification.prediction.torque_predictor import TorquePredictor
from robot_identification.processing import causal_signals

RATE = 500.0
GROUPS = (
    FastVelocity((*((lag, lag) for lag in range(9)), (9, 10))), PositionSeries(),
    Ripple((159, 160)), JointDeviation((10, 14, 21, 25)),
)


def dataset_of(rng, stamps):
    """Return a recording of three joints in motion, velocities with noise."""
    phase = np.arange(3)
    q = 0.4 * np.sin(2.0 * stamps[:, None] + phase)
    dq = 0.8 * np.cos(2.0 * stamps[:, None] + phase) + 1e-2 * rng.normal(size=q.shape)
    motion = Motion(q, dq, np.zeros_like(q))
    dataset = made_up_dataset(('a', 'b', 'c'), motion, np.zeros_like(q), RATE, measured_dq=dq)
    return replace(dataset, stamps=stamps)


@pytest.fixture
def model(robots, rng):
    plain = known_model(replace(robots['mixed'], sampling_rate=RATE), 'viscous', fv=2.0)
    plain = plain.with_quality({'residual_standard_deviation': [1.0, 1.0, 1.0]})
    return replace(plain, corrections=Corrections(RATE, (), tuple(
        JointCorrection(joint, group, rng.normal(size=group.size))
        for joint in (0, 2) for group in GROUPS
    )))


@pytest.mark.parametrize(('gap', 'limit'), [(0.0, None), (0.5, None), (0.0, [3.0, 0.0, 1.0])])
def test_samples_equal_the_recording(model, rng, gap, limit):
    """Kinematics, parameters and every group; after a gap all of them begin anew."""
    limit = None if limit is None else np.array(limit)
    model = replace(model, corrections=replace(model.corrections, live_limit=limit))
    assert {type(group) for group in GROUPS} == set(CORRECTIONS.values())
    stamps = np.arange(600) / RATE
    stamps[300:] += gap
    dataset = dataset_of(rng, stamps)
    signals = causal_signals(dataset)
    expected = model.effort(signals.motion)
    for rows, torque in correction_blocks(model.corrections.live, model.robot, signals, limit):
        expected[rows] += torque * model.effort_per_torque
    predictor = TorquePredictor(model)
    found = predictor.run(stamps, dataset.motion.q, dataset.measured_dq)[0]
    # Filters as a matrix here and as SciPy's recursion there: rounding of torques of some tens.
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-9)
    assert predictor.restarts == (2 if gap else 1)
