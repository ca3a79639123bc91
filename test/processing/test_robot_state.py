# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Temperatures go with the samples; what was slowed down or stopped is left out by name."""

from dataclasses import replace

from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays as drawn_arrays
import numpy as np
import pytest
from robot_identification import arrays
from robot_identification.arrays import span_of
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing import blocks, process
from robot_identification.processing.blocks import (
    chosen_rows, mask_where, row_blocks, take_off, thin_chosen,
)
from robot_identification.processing.robot_state import find_exclusions, joint_temperatures
from robot_identification.recording.recording import Channel


def run(recording, channels, **options):
    return process(replace(recording, channels=channels), KinematicFilter(), 'A', **options)


def channel(times, *columns):
    return Channel(np.array(times), np.array(columns, dtype=float).T)


def test_what_was_slowed_down_is_left_out_with_its_times(exact):
    """Half speed from 2 to 3 s and none from 5 to 5.5 s; 99.5 % is full speed."""
    scaling = channel([0.0, 2.0, 3.0, 5.0, 5.5], [1.0, 0.5, 0.995, 0.0, 1.0])
    dataset = run(exact.record(), {'speed_scaling': scaling})
    t = dataset.stamps
    slow = ((t >= 2.0) & (t < 3.0)) | ((t >= 5.0) & (t < 5.5))
    np.testing.assert_array_equal(~dataset.scored, slow)
    np.testing.assert_array_equal(~dataset.fitted, slow)
    assert dataset.excluded == {'at reduced speed scaling (neither scored nor fitted)': slow.sum()}
    note, = dataset.notes
    assert 'down to 0%' in note
    assert 'from 2.00 s to 2.99 s, from 5.00 s to 5.50 s' in note
    # The kinematics do not know of it.
    plain = run(exact.record(), {})
    np.testing.assert_array_equal(dataset.motion.ddq, plain.motion.ddq)
    assert run(exact.record(), {'speed_scaling': scaling}, keep_slowed=True).scored.all()


def test_safety_stops_are_left_out_with_their_mode(exact):
    """A protective stop from 1 to 2 s; a reduced mode is none."""
    mode = channel([-5.0, 1.0, 2.0, 6.0], [1.0, 3.0, 1.0, 2.0])
    dataset = run(exact.record(), {'safety_mode': mode}, keep_slowed=True)
    t = dataset.stamps
    np.testing.assert_array_equal(~dataset.scored, (t >= 1.0) & (t < 2.0))
    note, = dataset.notes
    assert '3 PROTECTIVE_STOP from 1.00 s to 1.99 s' in note


# Few values, so that many are equal, in any order and with readings that are none.
READINGS = st.sampled_from([0.0, 0.5, 1.0, np.nan])


@given(
    readings=st.integers(1, 40).flatmap(lambda size: st.tuples(
        drawn_arrays(float, size, elements=st.integers(-3, 30).map(float)),
        drawn_arrays(float, (size, 2), elements=READINGS),
    )),
    in_order=st.booleans(), in_file=st.booleans(),
)
def test_a_long_channel_is_what_it_is_in_one_piece(readings, in_order, in_file):
    """In blocks of seven rows, in memory or on the disk, beside NumPy on all of it."""
    times, values = readings
    times = np.sort(times) if in_order else times
    stamps = np.linspace(0.0, 25.0, 60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, 'BLOCK_ROWS', 7)
        patch.setattr(arrays, 'LARGEST_IN_MEMORY', 0 if in_file else 100)
        temperature, _ = joint_temperatures({'temperature': Channel(times, values)}, stamps, 2)
        slowed = find_exclusions({'speed_scaling': Channel(times, values[:, :1])}, stamps)
    order = np.argsort(times, kind='stable')
    times, values = times[order], values[order]
    for joint in range(2):
        read = np.isfinite(values[:, joint])
        # Of readings at one time any may count.
        unique = len(np.unique(times[read])) == np.count_nonzero(read)
        if read.any() and unique:
            np.testing.assert_allclose(
                temperature[:, joint], np.interp(stamps, times[read], values[read, joint]),
                rtol=0.0, atol=1e-12,
            )
        assert read.any() or temperature is None or np.isnan(temperature[:, joint]).all()
    read = np.isfinite(values[:, 0])
    times, values = times[read], values[read, 0]
    known = [np.flatnonzero(times <= stamp) for stamp in stamps]
    slow = np.array([len(rows) > 0 and values[rows[-1]] < 0.99 for rows in known])
    if len(times) and 0.0 < times[0] <= 1.0:
        slow[stamps < times[0]] = values[0] < 0.99
    np.testing.assert_array_equal(slowed[0].rows if slowed else np.zeros(60, dtype=bool), slow)


# --- blocks of rows ----------------------------------------------------------------------


@given(
    masks=st.integers(1, 60).flatmap(lambda size: drawn_arrays(bool, (2, size))),
    value=st.booleans(), most=st.integers(1, 20), in_file=st.booleans(),
)
def test_masks_are_what_they_are_in_one_piece(masks, value, most, in_file):
    """In blocks of seven rows, in memory or on the disk, with any of the rows chosen or none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, 'BLOCK_ROWS', 7)
        patch.setattr(arrays, 'slices_of', row_blocks)
        patch.setattr(arrays, 'LARGEST_IN_MEMORY', 0 if in_file else 100)
        first, other = masks
        mask = mask_where(len(first), lambda block: first[block])
        np.testing.assert_array_equal(mask, first)
        chosen = np.flatnonzero(first == value)
        np.testing.assert_array_equal(chosen_rows(mask, value), chosen)
        np.testing.assert_array_equal(
            thin_chosen(mask, most), np.flatnonzero(first)[:: max(first.sum() // most, 1)]
        )
        span = span_of(mask)
        assert not first[: span.start].any() and not first[span.stop:].any()
        assert not first.any() or (first[span.start] and first[span.stop - 1])
        assert take_off(mask, other, value) == np.count_nonzero(first & (other == value))
        np.testing.assert_array_equal(mask, first & (other != value))
