# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Rotor positions come out on the stamps of the joint states, or are left out and said to be."""

from dataclasses import replace
import re

import numpy as np
import pytest
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.processing import process
from robot_identification.recording.recording import Channel

NONE = KinematicFilter(kind='none')
# Of the deflection, another motion than that of the links.
BEND, BEND_FREQUENCY = 0.02, 2.0 * np.pi * 0.7


def rotors_at(exact, t):
    """Return position, velocity and acceleration of the rotors at times (N,)."""
    q, dq, ddq = exact.at(t)
    phase = (BEND_FREQUENCY * t)[:, None]
    return (
        q + BEND * np.sin(phase), dq + BEND * BEND_FREQUENCY * np.cos(phase),
        ddq - BEND * BEND_FREQUENCY**2 * np.sin(phase),
    )


def with_rotors(exact, stamps=None, **changes):
    """Return a recording with rotor positions at other stamps than those of the joint states."""
    stamps = exact.times() if stamps is None else stamps
    recording = exact.record(**changes)
    return replace(recording, channels={
        'rotor_position': Channel(stamps, rotors_at(exact, stamps)[0])
    })


def changed(recording, change):
    """Return a recording whose rotor positions (M, n) were changed in place."""
    values = recording.channels['rotor_position'].values.copy()
    change(values)
    stamps = recording.channels['rotor_position'].stamps
    return replace(recording, channels={'rotor_position': Channel(stamps, values)})


def run(recording, kinematic_filter=NONE, **options):
    return process(recording, kinematic_filter, 'Nm', **options)


def assert_one_encoder(dataset, recording):
    """Check that a dataset is what it is without rotor positions, to the last bit."""
    plain = run(replace(recording, channels={}))
    assert dataset.motion.rotor is None
    for name in ('q', 'dq', 'ddq'):
        np.testing.assert_array_equal(getattr(dataset.motion, name), getattr(plain.motion, name))
    np.testing.assert_array_equal(dataset.fitted, plain.fitted)
    assert dataset.excluded == plain.excluded


@pytest.mark.parametrize(('rate', 'late'), [(125.0, 0.0), (125.0, 0.003), (500.0, 0.001),
                                            (100.0, 0.0)])
def test_rotors_are_matched_by_stamp(exact, rate, late):
    """Positions, velocities and accelerations at the stamps of the joint states."""
    # Differences over 8 ms are wrong by w^2 h^2 / 6 of a velocity: 2e-4 at 0.7 Hz; between stamps
    # a cubic adds less than that. Accelerations, differences of differences, are wrong by about
    # five times as much, of up to 20 rad/s^2, and between stamps 100 Hz apart by 2e-2.
    stamps = np.arange(int(8.0 * rate)) / rate + late
    dataset = run(with_rotors(exact, stamps))
    known = dataset.fitted & (dataset.stamps > 0.1) & (dataset.stamps < 7.9)
    rotor = dataset.motion.rotor
    q, dq, ddq = rotors_at(exact, dataset.stamps)
    np.testing.assert_allclose(rotor.q[known], q[known], atol=2e-6)
    np.testing.assert_allclose(rotor.dq[known], dq[known], atol=2e-3)
    np.testing.assert_allclose(rotor.ddq[known], ddq[known], atol=3e-2)
    # At the links nothing changes.
    plain = run(exact.record())
    np.testing.assert_array_equal(dataset.motion.ddq, plain.motion.ddq)
    assert 'rotor positions are used' in dataset.notes[0]


def test_rotors_are_filtered_as_links_are(exact):
    """Rotors that turn as their links get the same kinematics, whatever the filter; delay, too."""
    # Interpolation rounds positions; second differences over 8 ms make 1e-11 of that.
    plain = exact.record()
    recording = replace(
        plain, dq=np.full_like(plain.q, np.nan),
        channels={'rotor_position': Channel(plain.stamps, plain.q)},
    )
    for kind, options in (('butterworth', {}), ('savitzky_golay', {}),
                          ('fourier', {'period': 4.0, 'harmonics': 3})):
        dataset = run(recording, KinematicFilter(kind=kind, **options), delay=0.004)
        motion = dataset.motion
        for name in ('q', 'dq', 'ddq'):
            np.testing.assert_allclose(
                getattr(motion.rotor, name), getattr(motion, name), rtol=0, atol=1e-10
            )


def test_without_rotor_positions_nothing_changes(exact):
    recording = exact.record()
    dataset = run(recording)
    assert_one_encoder(dataset, recording)
    assert_one_encoder(run(with_rotors(exact), rotor_side=False), recording)
    assert not any('rotor' in note for note in dataset.notes)


def test_gaps_of_the_rotors_are_gaps(exact):
    """Without rotor positions samples are scored, not fitted; two lost ones are bridged."""
    stamps = exact.times()
    lost = (stamps > 3.0) & (stamps < 3.5)
    kept = ~lost
    kept[[200, 201]] = False
    dataset = run(with_rotors(exact, stamps[kept]))
    missing = int(np.count_nonzero(lost))
    assert dataset.excluded['without a rotor position (scored, not fitted)'] == missing
    np.testing.assert_array_equal(dataset.fitted, ~lost)
    assert dataset.scored.all()
    for name in ('q', 'dq', 'ddq'):
        np.testing.assert_array_equal(
            getattr(dataset.motion.rotor, name)[lost], getattr(dataset.motion, name)[lost]
        )
    # Nothing reaches across the gap: before it, all is as if the rotors ended there.
    ended = run(with_rotors(exact, stamps[kept & (stamps <= 3.0)]), stop=4.0)
    before = dataset.stamps < 3.0
    np.testing.assert_array_equal(
        dataset.motion.rotor.ddq[before], ended.motion.rotor.ddq[: before.sum()]
    )
    np.testing.assert_allclose(
        dataset.motion.rotor.q[[200, 201]], rotors_at(exact, stamps[[200, 201]])[0], atol=1e-4
    )


def test_rotors_that_end_early_count_as_none(exact):
    """With less than half of the motion, the recording is one of one encoder a joint."""
    recording = with_rotors(exact, exact.times()[:400])
    dataset = run(recording)
    assert_one_encoder(dataset, recording)
    assert 'one encoder a joint is used: they cover 400 of 1000 samples' in dataset.notes[0]


def test_values_that_are_not_finite_are_passed_over(exact):
    """Single NaN are bridged; a joint with nothing else has no second encoder."""
    clean = run(with_rotors(exact))

    def spoil(values):
        values[100, 0] = np.nan
        values[300, 1] = np.inf
        values[:, 2] = np.nan

    dataset = run(changed(with_rotors(exact), spoil))
    assert dataset.fitted.all()
    rotor, motion = dataset.motion.rotor, dataset.motion
    # Akima's cubics over two periods of 8 ms: slopes change by (w h)^2, 1e-3, of 1 rad w h; a
    # few per cent of that are left.
    np.testing.assert_allclose(rotor.q[:, :2], clean.motion.rotor.q[:, :2], atol=1e-4)
    np.testing.assert_array_equal(rotor.q[:, 2], motion.q[:, 2])
    np.testing.assert_array_equal(rotor.ddq[:, 2], motion.ddq[:, 2])
    assert 'see the rotors, but for c' in dataset.notes[0]


def flip(values):
    """Turn the second rotor the other way."""
    values[:, 1] *= -1.0


def to_motor(values):
    """Give the second rotor's angle on the motor's side."""
    values[:, 1] *= 101.0


def swap(values):
    values[:, [1, 0]] = values[:, [0, 1]]


@pytest.mark.parametrize(('change', 'stray'), [
    (flip, ['b']), (to_motor, ['b']), (swap, ['a', 'b']),
])
def test_rotors_that_do_not_follow_their_links_are_left_out(exact, change, stray):
    """Another sign, unit or joint: named with what it should be."""
    dataset = run(changed(with_rotors(exact), change))
    for joint, name in enumerate('abc'):
        is_link = np.array_equal(dataset.motion.rotor.q[:, joint], dataset.motion.q[:, joint])
        assert is_link == (name in stray)
        assert any(note.startswith(f'the rotor of {name} is left out') for note in dataset.notes
                   ) == (name in stray)


def test_an_offset_between_encoders_does_not_matter(exact):
    """Their zeros differ; the position is kept as it was read."""
    dataset = run(changed(with_rotors(exact), lambda values: np.add(values, 0.5, out=values)))
    clean = run(with_rotors(exact))
    np.testing.assert_allclose(dataset.motion.rotor.dq, clean.motion.rotor.dq, atol=1e-9)
    np.testing.assert_allclose(dataset.motion.rotor.q, clean.motion.rotor.q + 0.5, atol=1e-12)


@pytest.mark.parametrize(('stamps', 'values', 'message'), [
    (np.zeros(0), np.zeros((0, 3)), '0 messages hold any'),
    (np.arange(4) * 0.008, np.zeros((4, 3)), '4 messages hold any'),
    (np.arange(1000) * 0.008, np.zeros((1000, 2)), 'there are 2 for the 3 joints'),
    (np.arange(1000) * 0.008, np.full((1000, 3), np.nan), 'messages hold any'),
    (np.arange(1000) * 0.008 + 60.0, np.zeros((1000, 3)), 'none is usable|they cover 0 of'),
], ids=['empty', 'few', 'joints', 'NaN', 'later'])
def test_what_cannot_be_used_is_said(exact, stamps, values, message):
    """The rest of the recording is as if it had not been there."""
    recording = replace(
        exact.record(), channels={'rotor_position': Channel(stamps, values)}
    )
    dataset = run(recording)
    assert_one_encoder(dataset, recording)
    note = next(note for note in dataset.notes if note.startswith('rotor positions are left out'))
    assert re.search(message, note)


def test_a_clock_that_was_set_back_leaves_one_encoder(exact):
    stamps = exact.times()
    back = np.where(stamps < 4.0, stamps, stamps - 2.0)
    recording = replace(with_rotors(exact), stamps=back)
    dataset = run(recording)
    assert dataset.motion.rotor is None
    assert any('one encoder a joint is used: the clock was set back' in n for n in dataset.notes)
