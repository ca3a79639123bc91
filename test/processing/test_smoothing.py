# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Blocks equal the whole, lost samples hardly matter, and every kind of filter delays nothing."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing import blocks, process, smoothing
from robot_identification.processing.smoothing import smooth_effort

KINDS = {
    'butterworth': KinematicFilter(),
    'steep': KinematicFilter(order=6, cutoff=4.0),
    'rloess': KinematicFilter('rloess', span=0.1),
    'savitzky_golay': KinematicFilter('savitzky_golay', order=3, span=0.1),
    'none': KinematicFilter('none'),
}


@pytest.mark.parametrize('kinematic_filter', KINDS.values(), ids=KINDS)
@pytest.mark.parametrize('delay', [0.0, 0.0123])
def test_blocks_equal_the_whole(monkeypatch, exact, kinematic_filter, delay):
    """With noise, stamps that jitter and a gap: to 1e-9 of what one block gives."""
    rng = np.random.default_rng(5)
    t = exact.times(60.0)
    t = t + rng.uniform(-0.001, 0.001, len(t)) + np.where(t > 20.0, 1.0, 0.0)
    recording = exact.record(t)
    recording = replace(recording, dq=recording.dq + 0.01 * rng.normal(size=recording.dq.shape))
    whole = process(recording, kinematic_filter, 'A', delay=delay)
    monkeypatch.setattr(blocks, 'BLOCK_ROWS', 100)
    monkeypatch.setattr(smoothing, 'BLOCK_ROWS', 100)
    parts = process(recording, kinematic_filter, 'A', delay=delay)
    for name in ('q', 'dq', 'ddq'):
        np.testing.assert_allclose(
            getattr(parts.motion, name), getattr(whole.motion, name), atol=1e-9
        )
    np.testing.assert_array_equal(parts.fitted, whole.fitted)


def test_a_delay_shifts_the_kinematics_and_not_the_effort(exact):
    """Position, velocity and acceleration are those of an earlier time; cubics err by 1e-4."""
    recording, delay = exact.record(), 0.0123
    dataset = process(recording, KinematicFilter(cutoff=30.0), 'A', delay=delay)
    assert dataset.delay == delay
    assert dataset.effort.tobytes() == recording.effort.tobytes()
    for found, expected in zip(
        (dataset.motion.q, dataset.motion.dq, dataset.motion.ddq),
        exact.at(dataset.stamps - delay), strict=True,
    ):
        np.testing.assert_allclose(found[60:-60], expected[60:-60], atol=2e-3)
    before = process(recording, KinematicFilter(cutoff=30.0), 'A')
    assert np.abs(before.motion.q - dataset.motion.q).max() > 0.02


@pytest.mark.parametrize('kinematic_filter', [
    KinematicFilter(cutoff=3.0), KinematicFilter('rloess', span=0.3),
    KinematicFilter('savitzky_golay', order=3, span=0.3),
    KinematicFilter('fourier', period=2.0 * np.pi, harmonics=4),
], ids=lambda f: f.kind)
def test_effort_is_smoothed_on_request_without_a_delay(exact, kinematic_filter):
    """Before the window it stays unknown, and across a gap there is no neighbour."""
    t = exact.times()
    recording = exact.record(t + np.where(t > 4.0, 1.0, 0.0))
    slow = np.sin(recording.stamps)[:, None] * np.ones(3)
    recording = replace(recording, effort=slow + 0.1 * recording.effort)
    dataset = process(recording, KinematicFilter(), 'A', start=1.0)
    smooth = smooth_effort(dataset, kinematic_filter)
    np.testing.assert_array_equal(np.isnan(smooth), np.isnan(dataset.effort))
    read = dataset.scored
    assert np.std(smooth[read] - slow[read]) < 0.05
    assert np.std(dataset.effort[read] - slow[read]) > 0.09
    after = recording.stamps > 4.5
    other = replace(dataset, effort=np.where(after[:, None], 50.0, slow))
    before = smooth_effort(other, KinematicFilter(cutoff=3.0))[~after]
    np.testing.assert_allclose(before, slow[~after], atol=0.01)
