# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Temperatures go with the samples; what was slowed down or stopped is left out by name."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.processing import process
from robot_identification.recording.recording import Channel


def run(recording, channels, **options):
    """Process a recording with these channels."""
    return process(replace(recording, channels=channels), KinematicFilter(), 'A', **options)


def channel(times, *columns):
    """Return a channel."""
    return Channel(np.array(times), np.array(columns, dtype=float).T)


def test_without_readings_there_are_no_temperatures(exact):
    assert run(exact.record(), {}).motion.temperature is None
    empty = Channel(np.zeros(0), np.zeros((0, 3)))
    assert run(exact.record(), {'temperature': empty}).motion.temperature is None


def test_temperatures_are_interpolated_and_held(exact):
    """Each joint by its own readings; one without any has none."""
    nan = np.nan
    read = channel([4.0, 2.0, 6.0], [30.0, 20.0, nan], [25.0, 25.0, 35.0], [nan, nan, nan])
    dataset = run(exact.record(), {'temperature': read})
    t = dataset.stamps
    temperature = dataset.motion.temperature
    np.testing.assert_allclose(temperature[:, 0], np.clip(20.0 + 5.0 * (t - 2.0), 20.0, 30.0))
    np.testing.assert_allclose(temperature[:, 1], np.clip(25.0 + 5.0 * (t - 4.0), 25.0, 35.0))
    assert np.isnan(temperature[:, 2]).all()
    assert dataset.notes == ()


def test_temperatures_of_another_arm_are_left_out(exact):
    dataset = run(exact.record(), {'temperature': channel([0.0], [20.0], [20.0])})
    assert dataset.motion.temperature is None
    assert 'temperatures of 2 joints were recorded, the arm has 3' in dataset.notes[0]


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


def test_a_sample_that_is_out_for_two_reasons_counts_once(exact):
    scaling = channel([0.0, 2.0, 4.0], [1.0, 0.0, 1.0])
    mode = channel([0.0, 3.0, 5.0], [1.0, 3.0, 1.0])
    dataset = run(exact.record(), {'speed_scaling': scaling, 'safety_mode': mode})
    assert list(dataset.excluded.values()) == [250, 125]
    assert np.count_nonzero(~dataset.scored) == 375


@pytest.mark.parametrize('first', [0.5, 3.0])
def test_the_state_before_the_first_message(exact, first):
    """The first message of a driver says how it was; a late one only what became of it."""
    dataset = run(exact.record(), {'speed_scaling': channel([first, 5.0], [0.5, 1.0])})
    before = dataset.stamps < first
    assert dataset.scored[before].any() == (first > 1.0)
    assert not dataset.scored[~before & (dataset.stamps < 5.0)].any()


def test_many_times_are_counted(exact):
    at = np.arange(0.0, 8.0, 0.25)
    scaling = channel(at, np.arange(len(at)) % 2)
    note, = run(exact.record(), {'speed_scaling': scaling}).notes
    assert 'and 11 times more' in note


def test_nothing_left_is_refused_with_the_reason(exact):
    with pytest.raises(DataError, match=r'no joint state .* is left \(1000 at reduced speed'):
        run(exact.record(), {'speed_scaling': channel([0.0], [0.5])})
