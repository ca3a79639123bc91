# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Effort in another unit or with another sign contradicts the arm; stale effort is named."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.model import load_robot
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing.loading import check_effort_unit
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


# --- another unit than the model's -------------------------------------------------------


def model_in(unit, gains, relative_scale=False):
    return SimpleNamespace(
        effort_unit=unit, relative_scale=relative_scale,
        robot=load_robot('ur5').with_drive_gains(gains),
    )


@pytest.mark.parametrize(('unit', 'other', 'verb'), [
    ('A', 'Nm', 'divide'), ('Nm', 'A', 'multiply'),
])
def test_how_to_convert_is_said_where_gains_are_known(unit, other, verb):
    recording = SimpleNamespace(source='bag', metadata={'effort_unit': other})
    with pytest.raises(DataError, match=f'{verb} the recorded effort .* elbow_joint 3, ') as found:
        check_effort_unit(recording, model_in(unit, np.arange(1.0, 7.0)))
    assert all(words in str(found.value) for words in (f'effort in {unit}', f'effort in {other}'))
    check_effort_unit(recording, model_in(other, np.ones(6)))


def test_gains_of_one_that_stand_for_unknown_ones_convert_nothing():
    recording = SimpleNamespace(source='bag', metadata={'effort_unit': 'Nm'})
    with pytest.raises(DataError) as found:
        check_effort_unit(recording, model_in('A', np.ones(6), relative_scale=True))
    assert 'divide' not in str(found.value)
