# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Rotor positions come out on the stamps of the joint states, or are left out and said to be."""

from dataclasses import replace

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
