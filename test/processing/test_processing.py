# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""From a recording to a dataset: nothing is lost unseen, and effort is never touched."""

from dataclasses import replace

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.fourier import fit_fourier, FourierSeries, whole_periods
from robot_identification.processing.periods import find_repetition
from robot_identification.processing.processing import MINIMUM_SAMPLES, process
from robot_identification.processing.repairs import (
    longest_bridged, order_by_time, sampling_period, TURN,
)
from robot_identification.recording.recording import Recording
from robot_identification.validation.folds import Folds, hold_out

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


PERIODIC_RATE, PERIOD, PERIODS = 125.0, 4.0, 4
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


def record_of_periodic(periods=PERIODS, seed=0, noise=NOISE, **changes):
    """Return whole periods with white noise on everything."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(periods * PERIOD * PERIODIC_RATE)) / PERIODIC_RATE
    signals = {'q': motion(t), 'dq': motion(t, 1), 'effort': np.sign(motion(t, 1)) + motion(t)}
    noisy = {
        name: values + noise.get(name, 0.0) * rng.normal(size=values.shape)
        for name, values in signals.items()
    }
    return replace(Recording('bag', '/js', ('a', 'b'), t, **noisy), **changes)


def run_of_periodic(recording, kinematic_filter=SERIES, **options):
    return process(recording, kinematic_filter, 'A', **options)


@pytest.mark.parametrize('delay', [0.0, 0.01])
def test_without_noise_the_derivatives_are_exact(delay):
    """To rounding, where differences of filtered signals err by a percent."""
    dataset = run_of_periodic(record_of_periodic(noise={}), delay=delay)
    known = dataset.stamps >= delay
    for found, order, atol in ((dataset.motion.dq, 1, 1e-9), (dataset.motion.ddq, 2, 1e-8)):
        expected = motion(dataset.stamps - delay, order)
        np.testing.assert_allclose(found[known], expected[known], atol=atol)
    assert dataset.fitted.all()
    assert '5 harmonics over 4 periods' in dataset.notes[0]


def test_the_noise_is_that_of_one_sample():
    """Three times 500 degrees of freedom: 1.8 % standard deviation, effort unsmoothed."""
    recording = record_of_periodic()
    dataset = run_of_periodic(recording)
    assert set(dataset.noise) == set(NOISE)
    for name, size in NOISE.items():
        np.testing.assert_allclose(dataset.noise[name], size, rtol=0.08)
    assert dataset.effort.tobytes() == recording.effort.tobytes()
    # 11 coefficients from 2000 samples leave 7 % of the noise in the position, less in rad/s.
    error = dataset.motion.ddq - motion(dataset.stamps, 2)
    smoothed = run_of_periodic(recording, KinematicFilter()).motion.ddq - motion(dataset.stamps, 2)
    assert error.std() < 0.02 * smoothed.std()


@pytest.mark.parametrize(('periods', 'way'), ((2.0, 0.0), (4.0, 0.0), (4.3, 1.0), (40.0, 2.0)))
def test_the_time_after_which_a_motion_comes_back(rng, periods, way):
    """To a sample at its last repetition, with a way to the motion and a thousandth of noise."""
    t = np.arange(round((periods * PERIOD + way) * PERIODIC_RATE)) / PERIODIC_RATE
    q = motion(np.maximum(t - way, 0.0)) + 0.3 * np.maximum(way - t, 0.0)[:, None]
    q += 1e-3 * rng.normal(size=q.shape)
    found = find_repetition(t, q, np.ones(len(t), dtype=bool))
    assert found == pytest.approx(PERIOD, abs=1.0 / PERIODIC_RATE / periods)


def test_a_motion_that_does_not_come_back_has_no_such_time():
    """Seen less than twice; two joints of which one repeats itself; a constant pose."""
    for periods in (1.5, 1.8, 1.9, 1.97):
        t = np.arange(round(periods * PERIOD * PERIODIC_RATE)) / PERIODIC_RATE
        assert find_repetition(t, motion(t), np.ones(len(t), dtype=bool)) is None
    long = np.arange(round(5.0 * PERIOD * PERIODIC_RATE)) / PERIODIC_RATE
    other = np.column_stack([motion(long)[:, 0], np.sin(0.2 * long)])
    assert find_repetition(long, other, np.ones(len(long), dtype=bool)) is None
    assert find_repetition(long, np.zeros((len(long), 2)), np.ones(len(long), dtype=bool)) is None


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
    t = np.arange(250 + 1500) / PERIODIC_RATE
    rows = whole_periods(t, np.ones(len(t), dtype=bool), PERIOD)
    np.testing.assert_array_equal(rows, np.arange(250, 1750))
    assert not whole_periods(t, t < 3.9, PERIOD).size
    assert not whole_periods(t, t < 0.0, PERIOD).size


REPAIR_PERIOD = 0.008
STAMPS = np.arange(1000) * REPAIR_PERIOD


def run_of_time_repair(recording, **options):
    return process(recording, KinematicFilter(), 'A', **options)


@given(st.lists(st.tuples(st.integers(0, 999), st.integers(1, 60)), min_size=1, max_size=40))
def test_messages_that_came_late_are_put_where_they_belong(moves):
    """However many are late, by up to half a second: no clock was set."""
    order = list(range(1000))
    for at, late in moves:
        order.insert(min(at + late, 999), order.pop(at))
    timeline = order_by_time(STAMPS[order])
    assert timeline.steps == ()
    np.testing.assert_array_equal(timeline.stamps, STAMPS)
    if timeline.order is not None:
        np.testing.assert_array_equal(np.array(order)[timeline.order], np.arange(1000))


@pytest.mark.parametrize('step', [0.05, 0.3, 2.0, 2.003, 3.999])
def test_a_clock_that_was_set_back_is_found(step):
    """What comes after goes on from there, with the same intervals, as a part of its own."""
    stamps = STAMPS.copy()
    stamps[500:] -= step
    timeline = order_by_time(stamps)
    (at, found), = timeline.steps
    assert at == pytest.approx(STAMPS[499])
    # The first message after it came a period later.
    assert found == pytest.approx(step - REPAIR_PERIOD, abs=1e-9)
    np.testing.assert_array_equal(timeline.branch, np.arange(1000) >= 500)
    np.testing.assert_allclose(timeline.stamps, STAMPS, atol=1e-9)
    np.testing.assert_array_equal(timeline.order, np.arange(1000))
    assert f'set back by {step - REPAIR_PERIOD:.3f} s' in timeline.notes()[0]


@given(st.integers(0, 2**32 - 1))
def test_disorder_and_duplicates_change_nothing(exact, rows_of, seed):
    """The dataset is that of the clean recording to 1e-9; the duplicates are scored beside it."""
    rng = np.random.default_rng(seed)
    recording = exact.record()
    doubled = np.sort(np.append(np.arange(1000), rng.choice(999, 50, replace=False)))
    is_second = np.diff(doubled, prepend=-1) == 0
    messy = rows_of(recording, doubled)
    stamps = messy.stamps + np.where(
        is_second & (np.arange(len(doubled)) % 2 == 0), 0.3 * REPAIR_PERIOD, 0.0
    )
    order = np.arange(len(doubled))
    for _ in range(20):
        at, late = rng.integers(len(order) - 40), rng.integers(1, 30)
        order[at: at + late + 1] = np.roll(order[at: at + late + 1], -1)
    messy = rows_of(exact.record(messy.stamps, stamps=stamps, effort=messy.effort), order)
    clean, dataset = run_of_time_repair(recording), run_of_time_repair(messy)
    assert len(dataset) == 1050
    assert dataset.scored.all()
    assert dataset.excluded == {'duplicate (scored, not fitted)': 50}
    assert any('came out of order' in note for note in dataset.notes)
    kept = dataset.fitted
    np.testing.assert_allclose(dataset.stamps[kept], clean.stamps, atol=1e-9)
    for name in ('q', 'dq', 'ddq'):
        np.testing.assert_allclose(
            getattr(dataset.motion, name)[kept], getattr(clean.motion, name), atol=1e-9
        )
    np.testing.assert_array_equal(dataset.effort[kept], clean.effort)


@pytest.mark.parametrize('share', [0.0, 0.01, 0.1, 0.2, 0.5, 0.6])
@pytest.mark.parametrize('jitter', [0.0, 0.02])
def test_the_period_is_that_of_the_sampling(share, jitter):
    """Whether or not all samples arrive; the jitter of stamps is averaged to a thousandth."""
    rng = np.random.default_rng(1)
    kept = rng.random(4000) >= share
    stamps = (np.arange(4000) + rng.uniform(-jitter, jitter, 4000))[kept] * REPAIR_PERIOD
    # With jitter the shortest intervals are chosen, which is a little less than the mean.
    assert sampling_period(stamps) == pytest.approx(REPAIR_PERIOD, rel=1e-9 + 0.5 * jitter)


@pytest.mark.parametrize('share', [0.01, 0.1, 0.2, 0.5])
def test_pauses_that_chance_makes_are_no_gaps(share):
    """Nineteen recordings of twenty stay whole, and no pause of a tenth of a second is filled."""
    rng = np.random.default_rng(3)
    whole = 0
    for _ in range(60):
        stamps = STAMPS[rng.random(1000) >= share]
        longest = longest_bridged(stamps, REPAIR_PERIOD)
        assert longest <= 0.1
        whole += np.diff(stamps).max() <= longest
    # 95 % of sixty, less two standard deviations; the cap of 0.1 s counts with every second lost.
    assert whole >= (53 if share < 0.5 else 40)


# --- turns of a joint --------------------------------------------------------------------


@pytest.mark.parametrize('lowest', [0.0, -np.pi])
def test_a_position_within_one_turn_goes_on(exact, lowest):
    """The joint passes the end of the turn both ways; its motion is that of the clean log."""
    recording = exact.record()
    far = recording.q + np.array([lowest + 0.3, 0.0, 0.0])
    kept = far.copy()
    kept[:, 0] = np.mod(far[:, 0] - lowest, TURN) + lowest
    clean, found = (run_of_time_repair(replace(recording, q=q)) for q in (far, kept))
    note, = (text for text in found.notes if 'jump by a turn' in text)
    assert 'a ' in note and 'times' in note and 'b ' not in note
    moved = found.motion.q - clean.motion.q
    np.testing.assert_allclose(moved - moved[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(found.motion.dq, clean.motion.dq, atol=1e-9)
    np.testing.assert_allclose(found.motion.ddq, clean.motion.ddq, atol=1e-7)
    assert not any('jump' in text for text in clean.notes)


def test_blocks_of_a_repeated_recording_hold_out_its_phases():
    """What is judged was not trained on in another period: the phases of both are apart."""
    dataset = run_of_periodic(record_of_periodic(), KinematicFilter('butterworth', cutoff=9.0))
    folds = list(hold_out(dataset, dataset.fitted, Folds(5, 0.1)))
    assert len(folds) == 5
    phase = (dataset.stamps - dataset.stamps[0]) % PERIOD
    for training, held_out in folds:
        apart = np.abs(phase[training][:, None] - phase[held_out])
        # The period is known to a sample, which four periods add up.
        assert np.minimum(apart, PERIOD - apart).min() > 0.1 - 5.0 / PERIODIC_RATE
    assert 'of the period' in Folds(5, 0.1).describe([dataset])
    # A block of 0.8 s with a second on both sides would leave a third of the period.
    assert Folds(5, 1.0).period_of(dataset) is None
