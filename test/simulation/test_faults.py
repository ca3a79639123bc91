# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What a stream suffers is what was asked for, to the sample; the rest of it stays as it was."""


from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.simulation.faults import Stream, StreamFaults

N = 6
PERIOD = 0.002
SAMPLES = 600
SEEDS = st.integers(0, 2**31 - 1)
SHARES = st.floats(0.0, 1.0)


def values_at(cycle):
    """Return position, velocity and effort of six joints that say which cycle they are of."""
    joints = np.arange(N)
    return tuple(1000.0 * field + cycle + 0.1 * joints for field in range(3))


def stream_of(faults, seed=0, samples=SAMPLES):
    stream = Stream(N, seed)
    stream.faults = faults
    return [
        stream.push(cycle * PERIOD, values_at(cycle), cycle * PERIOD) for cycle in range(samples)
    ]


def check_share(found, share, samples=SAMPLES):
    """Check a share by six standard deviations of a binomial, once in 10^9 false alarms."""
    deviation = np.sqrt(share * (1.0 - share) / samples)
    assert abs(found / samples - share) <= 6.0 * deviation + 1e-12


def same(sample, other):
    """Return whether two samples are equal, NaN being equal to itself."""
    return sample.stamp == other.stamp and np.array_equal(sample.order, other.order) and all(
        np.array_equal(a, b, equal_nan=True)
        for a, b in zip(sample.values, other.values, strict=True)
    )


@given(share=SHARES, seed=SEEDS)
def test_the_dropped_share_is_the_share(share, seed):
    """What is not dropped is untouched."""
    published = stream_of(StreamFaults(drop=share), seed)
    check_share(sum(not samples for samples in published), share)
    for cycle, samples in enumerate(published):
        for sample in samples:
            assert sample.stamp == cycle * PERIOD
            assert all(map(np.array_equal, sample.values, values_at(cycle)))


@given(share=SHARES, seed=SEEDS)
def test_duplicates_are_equal_and_their_share_is_the_share(share, seed):
    """Also where values are NaN and orders change."""
    published = stream_of(StreamFaults(duplicate=share, nan=0.3, shuffle=True), seed)
    check_share(sum(len(samples) == 2 for samples in published), share)
    assert {len(samples) for samples in published} <= {1, 2}
    assert all(same(*samples) for samples in published if len(samples) == 2)


@given(share=SHARES, seed=SEEDS)
def test_one_value_of_the_spoilt_share_is_not_a_number(share, seed):
    """Of position, velocity or effort; all other values stay."""
    published = stream_of(StreamFaults(nan=share), seed)
    spoilt = 0
    for cycle, (sample,) in enumerate(published):
        found, expected = np.array(sample.values), np.array(values_at(cycle))
        wrong = np.isnan(found)
        assert np.count_nonzero(wrong) <= 1
        spoilt += wrong.any()
        np.testing.assert_array_equal(found[~wrong], expected[~wrong])
    check_share(spoilt, share)


@given(delay=st.floats(0.0, 0.5), seed=SEEDS)
def test_a_delay_moves_samples_and_keeps_stamps_and_order(delay, seed):
    """Each comes in the first cycle that is not too early; none is lost."""
    published = stream_of(StreamFaults(delay=delay), seed, 400)
    stamps = []
    for cycle, samples in enumerate(published):
        for sample in samples:
            late = cycle * PERIOD - sample.stamp
            # A nanosecond is rounding.
            assert delay - 2e-9 <= late <= delay + PERIOD + 1e-12
            stamps.append(sample.stamp)
    np.testing.assert_array_equal(stamps, PERIOD * np.arange(len(stamps)))
    assert len(stamps) >= 400 - delay / PERIOD - 1


def test_silence_is_silent_and_brings_nothing_afterwards():
    """What a driver did not say it does not say later."""
    stream = Stream(N, 0)
    stream.faults = StreamFaults(delay=0.01)
    stream.push(0.0, values_at(0), 0.0)
    stream.faults = StreamFaults(silence=True)
    for cycle in range(1, 10):
        assert stream.push(cycle * PERIOD, values_at(cycle), cycle * PERIOD) == []
    stream.faults = StreamFaults()
    (sample,) = stream.push(10 * PERIOD, values_at(10), 10 * PERIOD)
    assert sample.stamp == 10 * PERIOD


@pytest.mark.parametrize(('fault', 'kept'), [('freeze', 10), ('repeat', 9)])
def test_old_values_come_under_new_stamps_or_with_their_own(fault, kept):
    """Frozen are the first ones, repeated the last ones before; twice, and never in between."""
    stream = Stream(N, 0)
    for cycle in range(40):
        is_old = cycle % 20 >= 10
        stream.faults = StreamFaults(**{fault: is_old})
        (sample,) = stream.push(cycle * PERIOD, values_at(cycle), cycle * PERIOD)
        expected = kept + cycle // 20 * 20 if is_old else cycle
        assert sample.stamp == PERIOD * (expected if fault == 'repeat' else cycle)
        assert all(map(np.array_equal, sample.values, values_at(expected)))


@given(seed=SEEDS)
def test_the_same_seed_gives_the_same_stream(seed):
    """With everything going wrong at once."""
    faults = StreamFaults(
        drop=0.2, duplicate=0.2, nan=0.2, delay=0.03, shuffle=True, clock_jump=3.0
    )
    one, other = (stream_of(faults, seed, 200) for _ in range(2))
    for samples, others in zip(one, other, strict=True):
        assert all(map(same, samples, others))
        assert len(samples) == len(others)
