# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Kinematics of a periodic motion are those of one Fourier series, with the noise beside it."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.fourier import fit_fourier, FourierSeries, whole_periods
from robot_identification.processing.periods import find_repetition
from robot_identification.processing.processing import process
from robot_identification.recording.recording import Recording
from robot_identification.validation.folds import Folds, hold_out

RATE, PERIOD, PERIODS = 125.0, 4.0, 4
NOISE = {'q': 1e-4, 'dq': 1e-2, 'effort': 0.3}
SERIES = KinematicFilter('fourier', period=PERIOD, harmonics=5)


def motion(t, order=0):
    """Return positions of two joints with three and five harmonics, or their derivatives."""
    omega = 2.0 * np.pi / PERIOD
    columns = []
    for harmonics in ((1, 3), (1, 2, 5)):
        columns.append(sum(
            (k * omega) ** order * np.sin(k * omega * t + k + order * np.pi / 2.0) / k
            for k in harmonics
        ))
    return np.column_stack(columns)


def record(periods=PERIODS, seed=0, noise=NOISE, **changes):
    """Return whole periods with white noise on everything."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(periods * PERIOD * RATE)) / RATE
    signals = {'q': motion(t), 'dq': motion(t, 1), 'effort': np.sign(motion(t, 1)) + motion(t)}
    noisy = {
        name: values + noise.get(name, 0.0) * rng.normal(size=values.shape)
        for name, values in signals.items()
    }
    return replace(Recording('bag', '/js', ('a', 'b'), t, **noisy), **changes)


def run(recording, kinematic_filter=SERIES, **options):
    return process(recording, kinematic_filter, 'A', **options)


@pytest.mark.parametrize('delay', [0.0, 0.01])
def test_without_noise_the_derivatives_are_exact(delay):
    """To rounding, where differences of filtered signals err by a percent."""
    dataset = run(record(noise={}), delay=delay)
    known = dataset.stamps >= delay
    for found, order, atol in ((dataset.motion.dq, 1, 1e-9), (dataset.motion.ddq, 2, 1e-8)):
        expected = motion(dataset.stamps - delay, order)
        np.testing.assert_allclose(found[known], expected[known], atol=atol)
    assert dataset.fitted.all()
    assert '5 harmonics over 4 periods' in dataset.notes[0]


def test_the_noise_is_that_of_one_sample():
    """Three times 500 degrees of freedom: 1.8 % standard deviation, effort unsmoothed."""
    recording = record()
    dataset = run(recording)
    assert set(dataset.noise) == set(NOISE)
    for name, size in NOISE.items():
        np.testing.assert_allclose(dataset.noise[name], size, rtol=0.08)
    assert dataset.effort.tobytes() == recording.effort.tobytes()
    # 11 coefficients from 2000 samples leave 7 % of the noise in the position, less in rad/s.
    error = dataset.motion.ddq - motion(dataset.stamps, 2)
    smoothed = run(recording, KinematicFilter()).motion.ddq - motion(dataset.stamps, 2)
    assert error.std() < 0.02 * smoothed.std()


@pytest.mark.parametrize(('periods', 'way'), ((2.0, 0.0), (4.0, 0.0), (4.3, 1.0), (40.0, 2.0)))
def test_the_time_after_which_a_motion_comes_back(rng, periods, way):
    """To a sample at its last repetition, with a way to the motion and a thousandth of noise."""
    t = np.arange(round((periods * PERIOD + way) * RATE)) / RATE
    q = motion(np.maximum(t - way, 0.0)) + 0.3 * np.maximum(way - t, 0.0)[:, None]
    q += 1e-3 * rng.normal(size=q.shape)
    found = find_repetition(t, q, np.ones(len(t), dtype=bool))
    assert found == pytest.approx(PERIOD, abs=1.0 / RATE / periods)


def test_a_motion_that_does_not_come_back_has_no_such_time():
    """Seen less than twice; two joints of which one repeats itself; a constant pose."""
    for periods in (1.5, 1.8, 1.9, 1.97):
        t = np.arange(round(periods * PERIOD * RATE)) / RATE
        assert find_repetition(t, motion(t), np.ones(len(t), dtype=bool)) is None
    long = np.arange(round(5.0 * PERIOD * RATE)) / RATE
    other = np.column_stack([motion(long)[:, 0], np.sin(0.2 * long)])
    assert find_repetition(long, other, np.ones(len(long), dtype=bool)) is None
    assert find_repetition(long, np.zeros((len(long), 2)), np.ones(len(long), dtype=bool)) is None


def test_blocks_of_a_repeated_recording_hold_out_its_phases():
    """What is judged was not trained on in another period: the phases of both are apart."""
    dataset = run(record(), KinematicFilter('butterworth', cutoff=9.0))
    folds = list(hold_out(dataset, dataset.fitted, Folds(5, 0.1)))
    assert len(folds) == 5
    phase = (dataset.stamps - dataset.stamps[0]) % PERIOD
    for training, held_out in folds:
        apart = np.abs(phase[training][:, None] - phase[held_out])
        # The period is known to a sample, which four periods add up.
        assert np.minimum(apart, PERIOD - apart).min() > 0.1 - 5.0 / RATE
    assert 'of the period' in Folds(5, 0.1).describe([dataset])
    # A block of 0.8 s with a second on both sides would leave a third of the period.
    assert Folds(5, 1.0).period_of(dataset) is None


# --- series ------------------------------------------------------------------------------


def series(rng, harmonics=5, joints=3):
    """Return a random series whose acceleration is of the size of one."""
    k = np.repeat(np.arange(1, harmonics + 1), 2)
    sizes = np.append(1.0, 1.0 / (2.0 * np.pi * k / PERIOD) ** 2)
    return FourierSeries(PERIOD, sizes[:, None] * rng.normal(size=(len(sizes), joints)))


def test_a_fit_on_irregular_stamps_is_exact(rng):
    """The true times count, and samples that are not among the rows do not."""
    true = series(rng)
    t = np.sort(rng.uniform(0.0, 9.0, 700))
    x = true.evaluate(t)
    rows = np.flatnonzero(rng.random(700) < 0.5)
    x[np.setdiff1d(np.arange(700), rows)] = 1e6
    found = fit_fourier(t, x, rows, PERIOD, 7)
    np.testing.assert_allclose(found.coefficients[:11], true.coefficients, atol=1e-9)
    np.testing.assert_allclose(found.coefficients[11:], 0.0, atol=1e-9)


def test_the_last_whole_periods_are_chosen():
    """2 s of a start, then three periods of 500 samples each."""
    t = np.arange(250 + 1500) / RATE
    rows = whole_periods(t, np.ones(len(t), dtype=bool), PERIOD)
    np.testing.assert_array_equal(rows, np.arange(250, 1750))
    assert not whole_periods(t, t < 3.9, PERIOD).size
    assert not whole_periods(t, t < 0.0, PERIOD).size
