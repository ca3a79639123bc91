# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""From a recording to a dataset: nothing is lost unseen, and effort is never touched."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.processing import MINIMUM_SAMPLES, process
from robot_identification.recording.recording import Recording

RATE = 125.0
FILTER = KinematicFilter(cutoff=9.0)


@pytest.fixture
def record(exact):
    """Return the function that records the exact motion, 1000 samples by default."""
    return exact.record


def run(recording, **options):
    return process(recording, FILTER, 'A', **options)


@pytest.fixture
def check_kinematics(exact):
    """Return a comparison with the exact motion, to a share of the largest value."""
    def check(dataset, rows=slice(None), tolerance=0.01):
        _, dq, ddq = exact.at(dataset.stamps)
        for found, expected in ((dataset.motion.dq, dq), (dataset.motion.ddq, ddq)):
            error = np.abs(found - expected)[rows] / np.abs(expected).max(axis=0)
            assert error.max() < tolerance

    return check


def accounted(dataset):
    """Return whether every sample that is not fitted is excluded by a named reason."""
    return len(dataset) - int(dataset.fitted.sum()) == sum(dataset.excluded.values())


def test_velocity_and_acceleration_are_those_of_the_motion(record, check_kinematics):
    """Two passes at 9 Hz take (0.5 / 9)^4 = 1e-5 of half a hertz; differences 1 / 8000 of it."""
    # Edges are padded by reflection, which is odd about the last sample: a percent there.
    dataset = run(record())
    check_kinematics(dataset, slice(60, -60), 1e-3)
    check_kinematics(dataset, tolerance=0.1)
    assert dataset.rate == pytest.approx(RATE)
    assert dataset.scored.all()
    assert dataset.fitted.all()
    assert dataset.excluded == {}
    assert dataset.notes == ()
    np.testing.assert_array_equal(dataset.motion.q, record().q)
    np.testing.assert_array_equal(dataset.stamps, record().stamps)


def test_a_driver_that_repeats_old_values_is_found(record, check_kinematics):
    """As UR's does: the same q, dq and effort with a new stamp, every fifth cycle."""
    recording = record()
    q, dq, effort = (np.copy(x) for x in (recording.q, recording.dq, recording.effort))
    for values in (q, dq, effort):
        values[4::5] = values[3::5]
    dataset = run(replace(recording, q=q, dq=dq, effort=effort))
    expected = np.arange(1000) % 5 == 4
    np.testing.assert_array_equal(~dataset.fitted, expected)
    assert dataset.scored.all()
    check_kinematics(dataset, slice(60, -60), 0.03)


def test_nothing_is_interpolated_across_a_gap(record):
    """Two parts with a pause of a second: each is filtered alone, to its own padded edges."""
    t = np.arange(1000) / RATE
    t[500:] += 1.0
    dataset = run(record(t))
    assert dataset.segments == (slice(0, 500), slice(500, 1000))
    assert any('1 gap' in note for note in dataset.notes)
    assert dataset.motion.starts == (0, 500)
    assert dataset.motion.part(slice(400, 700)).starts == (100,)
    assert dataset.motion.part(slice(500, 700)).starts == (0,)
    first = run(record(t[:500]))
    np.testing.assert_allclose(dataset.motion.ddq[:500], first.motion.ddq, atol=1e-9)
    assert dataset.scored.all()


@pytest.mark.parametrize('field', ['q', 'dq', 'effort'])
@pytest.mark.parametrize('value', [np.nan, np.inf, 1.0e300])
def test_a_few_values_that_are_not_finite_are_left_out(record, check_kinematics, field, value):
    """Ten of a thousand are one percent, and the eleventh too many."""
    recording = record()
    values = np.copy(getattr(recording, field))
    values[50:1000:97, 1] = value
    dataset = run(replace(recording, **{field: values}))
    assert len(dataset) == 990
    assert dataset.excluded == {'not finite': 10}
    assert np.all(np.isfinite(dataset.effort))
    assert np.all(np.isfinite(dataset.motion.ddq))
    check_kinematics(dataset, slice(60, -60), 0.02)
    values[700, 0] = value
    with pytest.raises(DataError, match=r'1\.1%.*not finite.*1% accepted'):
        run(replace(recording, **{field: values}))


def test_effort_that_cannot_be_used_is_refused_by_name(record):
    nothing = np.full((1000, 3), np.nan)
    mostly = np.zeros((1000, 3))
    mostly[500:505] = np.nan
    for effort, words in (
        (nothing, 'absent'), (np.zeros((1000, 3)), 'zero throughout'), (mostly, 'zero throughout'),
    ):
        with pytest.raises(DataError, match=f'bag: effort on /joint_states is {words}'):
            run(record(effort=effort))


def test_too_few_samples_are_refused_with_their_number(record):
    t = np.arange(MINIMUM_SAMPLES - 1) / RATE
    with pytest.raises(DataError, match=f'{MINIMUM_SAMPLES - 1} usable .*{MINIMUM_SAMPLES} are'):
        run(record(t))
    assert len(run(record(np.arange(MINIMUM_SAMPLES) / RATE))) == MINIMUM_SAMPLES
    with pytest.raises(DataError, match=r'between 7.8 s and the end'):
        run(record(), start=7.8)
    for window in ({'start': 100.0}, {'stop': 0.0}):
        with pytest.raises(DataError, match='--start/--stop'):
            run(record(), **window)


def test_before_the_window_only_kinematics_count(record):
    """They run through the filter, so that the window has no edge; effort there is not read."""
    recording = record()
    effort = np.copy(recording.effort)
    effort[:400] = np.nan
    dataset = run(replace(recording, effort=effort), start=4.0)
    window = recording.stamps >= 4.0
    assert len(dataset) == 1000
    np.testing.assert_array_equal(dataset.scored, window)
    assert np.all(np.isnan(dataset.effort[~window]))
    assert dataset.effort[window].tobytes() == recording.effort[window].tobytes()
    np.testing.assert_array_equal(dataset.motion.ddq, run(recording).motion.ddq)


def test_rest_before_and_after_the_motion_is_scored_and_not_fitted():
    """A minute of standing about must not outweigh ten seconds of motion."""
    t = np.arange(2000) / RATE
    moving = (t > 4.0) & (t < 12.0)
    q = np.where(moving, np.sin(2.0 * (t - 4.0)) ** 2, np.where(t > 8.0, np.sin(16.0) ** 2, 0.0))
    dq = np.where(moving, 2.0 * np.sin(4.0 * (t - 4.0)), 0.0)
    effort = np.random.default_rng(0).normal(size=(2000, 2))
    dataset = run(Recording('bag', '/js', ('a', 'b'), t, np.column_stack([q, 0 * q]),
                            np.column_stack([dq, 0 * dq]), effort))
    assert dataset.scored.all()
    assert accounted(dataset)
    # The speed is smoothed at 5 Hz, so that the limits are soft by a quarter of a second.
    assert not dataset.fitted[(t < 3.7) | (t > 12.3)].any()
    assert dataset.fitted[(t > 4.1) & (t < 11.9)].all()
    # The first joint moves in between, the second does not.
    assert not dataset.moving[(t < 3.7) | (t > 12.3)].any()
    assert not dataset.moving[:, 1].any()
    assert dataset.moving[(t > 4.3) & (t < 4.6), 0].all()
