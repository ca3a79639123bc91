# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Effort in another unit or with another sign contradicts the arm; stale effort is named."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.processing import process


def notes_of(recording, robot, unit):
    notes = process(recording, KinematicFilter(), unit, robot=robot).notes
    return [note for note in notes if note.startswith('effort') and 'position by' not in note]


def contradictions_of(recording, robot, unit='A'):
    return process(recording, KinematicFilter(), unit, robot=robot).contradictions


@pytest.mark.parametrize('stated', ['A', 'Nm'])
@pytest.mark.parametrize('true', ['A', 'Nm', 'mA', 'mNm'])
def test_another_unit_contradicts(simulated, stated, true):
    """With drive gains; masses are wrong by up to 20 %, and friction is there."""
    robot, truth, recording = simulated
    factor = {
        'A': 1.0, 'Nm': truth.drive_gain, 'mA': 1000.0, 'mNm': 1000.0 * truth.drive_gain,
    }[true]
    found = contradictions_of(replace(recording, effort=factor * recording.effort), robot, stated)
    assert any(one.of_several for one in found) == (true != stated)
    assert all('elbow_joint' in one.joints and 'effort unit' in one.text for one in found)


def test_one_joint_may_contradict_alone(simulated):
    """The description may be what is wrong: it is of one joint, not of the unit."""
    robot, _, recording = simulated
    effort = recording.effort * np.where(np.arange(6) == 1, -1.0, 1.0)
    found, = contradictions_of(replace(recording, effort=effort), robot)
    assert found.joints == ('shoulder_lift_joint',) and not found.of_several


def test_the_sign_of_a_drive_gain_is_that_of_its_current(simulated):
    """A motor mounted the other way round has a negative gain, and its current the other sign."""
    robot, _, recording = simulated
    turned = np.where(np.arange(6) == 1, -1.0, 1.0)
    negative = robot.with_drive_gains(robot.drives.drive_gain * turned)
    current = replace(recording, effort=recording.effort * turned)
    assert contradictions_of(current, negative) == ()
    for effort, arm in ((current, robot), (recording, negative)):
        found, = contradictions_of(effort, arm)
        assert found.joints == ('shoulder_lift_joint',) and ' -' in found.text


@pytest.mark.parametrize(('rows', 'named'), [
    (slice(None), 'effort of b is 2.5 throughout'),
    (slice(300, 500), 'effort of b stood still at 2.5 for 1.60 s from 2.40 s on'),
])
def test_constant_and_stale_effort_are_named(exact, rows, named):
    recording = exact.record()
    effort = recording.effort.copy()
    effort[rows, 1] = 2.5
    note, = notes_of(replace(recording, effort=effort), None, 'A')
    assert note.startswith(named)


def spiky(exact):
    """Return a recording with spikes of ten times the RMS in every hundredth effort of b."""
    recording = exact.record()
    effort = recording.effort.copy()
    effort[:, 1] = np.sin(recording.stamps)
    rows = np.arange(50, len(effort), 100)
    effort[rows, 1] = 10.0 * np.sqrt(np.mean(effort[:, 1]**2)) * (-1.0) ** np.arange(len(rows))
    return replace(recording, effort=effort), len(rows)


def test_spikes_of_the_effort_are_named(exact):
    """Noise alone, and what changes from row to row, has none."""
    assert notes_of(exact.record(), None, 'A') == []
    recording, count = spiky(exact)
    note, = notes_of(recording, None, 'A')
    assert note.startswith(f'effort of b has {count} spikes of up to ')


def test_a_single_sample_of_a_slow_recording_is_no_spike(exact):
    """It may be a torque: at 40 Hz one lasts 25 ms."""
    recording, _ = spiky(exact)
    slow = replace(recording, stamps=3.2 * recording.stamps, dq=recording.dq / 3.2)
    assert not any('spikes' in note for note in notes_of(slow, None, 'A'))


def test_effort_that_stands_still_at_rest_is_not_stale(exact):
    recording = exact.record()
    q, effort = recording.q.copy(), recording.effort.copy()
    q[300:500] = q[300]
    effort[300:500, 1:] = effort[300, 1:]
    assert notes_of(replace(recording, q=q, effort=effort), None, 'A') == []
