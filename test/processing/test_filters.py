# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Filters delay nothing, drop no sample, keep what is slow, and some do not see outliers."""

from dataclasses import replace

from hypothesis import given, strategies as st
import numpy as np
import pytest
from robot_identification.excitation import FourierParametrization, Trajectory
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing import blocks, process, smoothing, track
from robot_identification.processing.filters import (
    local_polynomial, low_pass, parallel_decimate, rloess,
)
from robot_identification.processing.smoothing import smooth_effort
from robot_identification.recording.recording import Recording

RATE = 125.0
FILTER = KinematicFilter(order=2, cutoff=9.0)


@given(frequency=st.floats(0.2, 8.0), phase=st.floats(0.0, 6.28))
def test_a_sinusoid_is_not_delayed(frequency, phase):
    """Property P12: the phase found by a fit over the middle is the phase put in."""
    # What is left at the edges decays with the cut-off; after two seconds it is below 1e-6 rad.
    t = np.arange(0.0, 12.0, 1.0 / RATE)
    filtered = low_pass(np.sin(2 * np.pi * frequency * t + phase)[:, None], RATE, FILTER)[:, 0]
    middle = (t > 2.0) & (t < 10.0)
    angle = 2 * np.pi * frequency * t[middle]
    columns = np.column_stack([np.sin(angle), np.cos(angle)])
    a, b = np.linalg.lstsq(columns, filtered[middle], rcond=None)[0]
    lag = (np.arctan2(b, a) - phase + np.pi) % (2 * np.pi) - np.pi
    assert abs(lag) < 1e-5
    # Bilinear transform: frequencies are warped by their tangents.
    warped = np.tan(np.pi * frequency / RATE) / np.tan(np.pi * 9.0 / RATE)
    assert np.hypot(a, b) == pytest.approx(1.0 / (1.0 + warped**4), rel=1e-4)


@pytest.mark.parametrize(('samples', 'error'), [(3, 1.0), (10, 0.03), (25, 0.03), (250, 1e-9)])
def test_edges_are_padded_and_not_dropped(samples, error):
    """A straight line stays one to its ends; of short parts, constants are exact."""
    # The padding is never longer than the signal. A line of ten samples, the shortest part that is
    # processed, keeps its shape to some percent.
    line = np.column_stack([np.linspace(-1.0, 1.0, samples), np.full(samples, 4.2)])
    filtered = low_pass(line, RATE, FILTER)
    assert filtered.shape == line.shape
    np.testing.assert_allclose(filtered[:, 0], line[:, 0], atol=2.0 * error)
    np.testing.assert_allclose(filtered[:, 1], line[:, 1], rtol=1e-9)


@pytest.mark.parametrize('span', [0.01, 0.1, 9.0])
def test_local_polynomials_are_exact_on_polynomials(span):
    """Of their degree, to the ends, with every window: the value and the slope."""
    t = np.arange(60) / RATE
    x = np.column_stack([t**3 - t**2 + 2.0, 5.0 * t])
    slope = np.column_stack([3.0 * t**2 - 2.0 * t, np.full_like(t, 5.0)])
    np.testing.assert_allclose(local_polynomial(x, RATE, span, 3), x, atol=1e-9)
    np.testing.assert_allclose(local_polynomial(x, RATE, span, 3, derivative=1), slope, atol=1e-7)


def test_filtered_equations_hold_as_before(rng):
    """Linear in the columns: what solves the rows solves the filtered rows, to rounding."""
    W, theta = rng.normal(size=(2000, 6)), rng.normal(size=6)
    rows = parallel_decimate(np.column_stack([W, W @ theta]), 500.0, 20.0)
    assert rows.shape == (200, 7)
    np.testing.assert_allclose(rows[:, :6] @ theta, rows[:, 6], atol=1e-10)


# --- robust local regression -------------------------------------------------------------


SPAN = 0.15
T = np.arange(400) / RATE


@pytest.mark.parametrize('span', [0.02, 0.15, 0.25])
@pytest.mark.parametrize('samples', [3, 5, 10, 400])
def test_quadratics_are_exact_to_the_ends(samples, span):
    """Rounding alone, with every window, also with one that is longer than the signal."""
    t = T[:samples]
    x = np.column_stack([3.0 * t**2 - 7.0 * t + 2.0, np.full_like(t, 4.0)])
    np.testing.assert_allclose(rloess(x, RATE, span), x, atol=1e-9)


def test_outliers_do_not_count():
    """One sample in fifteen is off by a hundred times the amplitude; a mean would be off by 6."""
    x = np.sin(2.0 * np.pi * 0.5 * T)
    spoilt = x.copy()
    spoilt[7::15] += 100.0
    smooth = rloess(spoilt[:, None], RATE, SPAN)[:, 0]
    plain = rloess(x[:, None], RATE, SPAN)[:, 0]
    # Half a hertz has a fourth derivative of 97 / s^4: 1e-4 in windows of 0.15 s. At the ends the
    # third one counts.
    np.testing.assert_allclose(plain[10:-10], x[10:-10], atol=1e-4)
    np.testing.assert_allclose(smooth[10:-10], x[10:-10], atol=1e-3)


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


JOINTS = ('shoulder', 'elbow')


@pytest.fixture
def trajectory(rng):
    """Return a motion of two joints, four seconds."""
    form = FourierParametrization(harmonics=3, base_period=4.0)
    return Trajectory('arm', JOINTS, form, 0.3 * rng.normal(size=(2, form.n_coefficients)), 1, {})


def recorded(trajectory, start, duration, speed=1.0, error=0.0):
    """Return the dataset of a run that begins at `start`, with a constant error of joint 2."""
    stamps = np.arange(0.0, duration, 0.008)
    t = np.clip(speed * (stamps - start), 0.0, trajectory.duration)
    motion = trajectory.sample(t)
    moving = (t > 0.0) & (t < trajectory.duration)
    q = motion.q + np.array([0.0, error]) * np.sin(2 * np.pi * 5.0 * t)[:, None]
    recording = Recording(
        'bag', '/joint_states', JOINTS, stamps, q, speed * motion.dq * moving[:, None],
        np.ones_like(motion.q),
    )
    return process(recording, KinematicFilter(), 'Nm')


@pytest.mark.parametrize('start', [0.0, 0.7, 1.2345])
def test_the_start_is_found_and_nothing_is_left(trajectory, start):
    """A shift by the tolerance of the search, 1e-5 s, at 3 rad/s leaves 3e-5 rad."""
    found = track(trajectory, recorded(trajectory, start, 6.0))
    assert found.start == pytest.approx(start, abs=1e-4)
    assert found.worst.max() < 5e-4


def test_what_is_not_the_planned_motion_has_no_error(trajectory):
    """Too short, or executed at a third of its speed."""
    assert track(trajectory, recorded(trajectory, 0.5, 3.0)) is None
    assert track(trajectory, recorded(trajectory, 0.5, 14.0, speed=1.0 / 3.0)) is None


# The simulator's effort is that of the step that led to the state [s], simulation/mujoco_robot.py.
TWIN = 0.0005


def late(recording, delay):
    at = recording.stamps - delay
    effort = np.column_stack([np.interp(at, recording.stamps, c) for c in recording.effort.T])
    return replace(recording, effort=effort)


def run(recording, robot, **options):
    return process(recording, KinematicFilter(), 'A', robot=robot, **options)


@pytest.mark.parametrize('delay', [-0.010, -0.003, 0.0, 0.004, 0.008, 0.016])
def test_a_known_delay_of_the_twin_is_found(simulated, delay):
    """Within three standard errors, which are less than a millisecond."""
    robot, _, recording = simulated
    dataset = run(late(recording, delay), robot)
    found = dataset.found_delay
    assert found.standard_error < 0.001
    assert abs(found.value - delay - TWIN) < 3.0 * found.standard_error
    # What is not sure, or does not matter, is known but no warning.
    assert (found.describe() in dataset.notes) == (abs(delay) > 0.0)
    assert dataset.delay == 0.0


def stops(q, radius):
    """Return stop operators along positions (N,), one sample after the other."""
    z = np.zeros(len(q))
    for k in range(1, len(q)):
        z[k] = min(max(z[k - 1] + q[k] - q[k - 1], -radius), radius)
    return z / radius


@pytest.mark.parametrize('delay', [0.0, 0.008])
def test_hysteresis_is_no_delay(simulated, delay):
    """Friction that follows displacement, of 6 % of the torque limit at two distances."""
    robot, truth, recording = simulated
    size = 0.04 * robot.limits.effort / truth.drive_gain
    added = np.column_stack([
        scale * (stops(q, 0.003) + 0.5 * stops(q, 0.03))
        for scale, q in zip(size, recording.q.T, strict=True)
    ])
    found = run(late(replace(recording, effort=recording.effort + added), delay), robot)
    error = found.found_delay.value - delay - TWIN
    assert abs(error) < 0.003
    assert abs(error) < 3.0 * found.found_delay.standard_error


def test_parts_between_gaps_count_together(simulated, rows_of):
    """Three parts of three seconds are too short each: their columns would explain noise."""
    robot, _, recording = simulated
    kept = np.mod(recording.stamps, 3.3) < 3.2
    found = run(rows_of(late(recording, 0.008), np.flatnonzero(kept)), robot).found_delay
    assert abs(found.value - 0.008 - TWIN) < 3.0 * found.standard_error
    assert found.standard_error < 0.002


@pytest.mark.parametrize('name', ['ur10_exciting_trajectory', 'panda_exciting_trajectory'])
def test_real_arms_have_no_more_delay_than_the_error_says(real, name):
    """Nothing is known of their true delay, but tens of milliseconds would be seen."""
    robot, recording = real(name)
    found = process(recording, KinematicFilter(), 'Nm', robot=robot).found_delay
    assert abs(found.value) < 3.0 * found.standard_error
    assert found.standard_error < 0.010
