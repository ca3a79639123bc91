# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What publications do to rows: equations hold as before, and nothing happens unasked."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing import low_pass, process
from robot_identification.processing.rows import (
    decimation_step, fast_enough, parallel_decimate, smooth_columns, with_smooth_effort,
)

RATE = 500.0


@pytest.mark.parametrize(('rate', 'cutoff', 'step'), [
    (1000.0, 20.0, 20), (125.0, 10.0, 5), (500.0, 50.0, 4), (30.0, 10.0, 1), (30.0, 100.0, 1),
    # As the stamps of a bag have it.
    (999.9999999998881, 20.0, 20), (499.8, 50.0, 4),
])
def test_the_step_is_the_published_one(rate, cutoff, step):
    """Madsen et al. keep every twentieth row at a kilohertz, which is 20 Hz."""
    assert decimation_step(rate, cutoff) == step


def test_filtered_equations_hold_as_before():
    """Linear in the columns: what solves the rows solves the filtered rows, to rounding."""
    rng = np.random.default_rng(0)
    W, theta = rng.normal(size=(2000, 6)), rng.normal(size=6)
    rows = parallel_decimate(np.column_stack([W, W @ theta]), RATE, 20.0)
    assert rows.shape == (200, 7)
    np.testing.assert_allclose(rows[:, :6] @ theta, rows[:, 6], atol=1e-10)
    plain = low_pass(W, RATE, KinematicFilter(order=4, cutoff=20.0))
    np.testing.assert_array_equal(rows[:, :6], plain[::10])


def test_the_gate_lets_fast_joints_pass():
    dq = np.array([[0.0, 0.019], [-0.02, 0.5], [0.3, -0.01]])
    np.testing.assert_array_equal(
        fast_enough(dq), [[False, False], [True, True], [True, False]]
    )
    assert fast_enough(dq, 0.4).sum() == 1


@pytest.mark.parametrize('kinematic_filter', [
    KinematicFilter(cutoff=20.0), KinematicFilter('rloess', span=0.05),
    KinematicFilter('savitzky_golay', order=3, span=0.05),
    KinematicFilter('fourier', period=2.0, harmonics=4), KinematicFilter('none'),
], ids=lambda f: f.kind)
def test_every_kind_smooths_and_delays_nothing(kinematic_filter):
    """Two periods of two harmonics, with noise that all kinds but none reduce."""
    t = np.arange(2000) / RATE
    true = np.column_stack([np.sin(np.pi * t), np.cos(2.0 * np.pi * t)])
    found = smooth_columns(true, RATE, kinematic_filter)
    np.testing.assert_allclose(found[50:-50], true[50:-50], atol=1e-3)
    noisy = true + 0.1 * np.random.default_rng(0).normal(size=true.shape)
    error = np.std(smooth_columns(noisy, RATE, kinematic_filter) - true)
    assert error < (0.101 if kinematic_filter.kind == 'none' else 0.06)


def test_effort_is_smoothed_on_request_only_and_says_so(exact):
    t = exact.times()
    t = t + np.where(t > 4.0, 1.0, 0.0)
    recording = exact.record(t)
    slow = np.sin(t)[:, None] * np.ones(3)
    recording = replace(recording, effort=slow + 0.1 * recording.effort)
    dataset = process(recording, KinematicFilter(), 'A', start=1.0)
    smooth = with_smooth_effort(dataset, KinematicFilter(cutoff=3.0))
    np.testing.assert_array_equal(np.isnan(smooth.effort), np.isnan(dataset.effort))
    assert 'effort was smoothed by butterworth' in smooth.notes[-1]
    read = dataset.scored
    assert np.std(smooth.effort[read] - slow[read]) < 0.05
    assert np.std(dataset.effort[read] - slow[read]) > 0.09
    np.testing.assert_array_equal(dataset.effort[read], recording.effort[read])
    # A gap is no neighbour.
    half = process(replace(recording, effort=np.where(t[:, None] > 4.5, 50.0, slow)),
                   KinematicFilter(), 'A')
    other = with_smooth_effort(half, KinematicFilter(cutoff=3.0))
    np.testing.assert_allclose(other.effort[:500], slow[:500], atol=0.01)
