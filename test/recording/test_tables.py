# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tables are read as bags are, by name and in stated units, or refused by line and column."""

from collections import Counter

import numpy as np
import pytest
from robot_identification.errors import BagError, DataError
from robot_identification.files import dump_yaml
from robot_identification.model.robot_model import JointEncoders
from robot_identification.recording import text_table
from robot_identification.recording.bag import find_joint_names, read_recording
from robot_identification.recording.tables import open_table

NAMES = ('alpha', 'beta', 'gamma')
UR = ('shoulder_pan_joint', 'shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint',
      'wrist_2_joint', 'wrist_3_joint')
MAPPING = {
    'schema_version': 1,
    'delimiter': ';',
    'robot': 'arm',
    'joints': ['gamma', 'alpha', 'beta'],
    'time': {'column': 'T', 'unit': 'ms'},
    'q': {'columns': 'angle {number}', 'unit': 'deg'},
    'dq': {'columns': ['va', 'vb', 'vc'], 'unit': 'deg/s'},
    'effort': {'columns': 'I_{joint}', 'unit': 'mA'},
    'temperature': {'columns': 'temp{i}', 'unit': 'deg C'},
}
HEADER = ['T', *(f'angle {k}' for k in (1, 2, 3)), 'va', 'vb', 'vc', 'I_alpha', 'I_beta',
          'I_gamma', 'temp0', 'temp1', 'temp2', 'comment']


@pytest.fixture
def rows(rng):
    return 10.0 + 0.01 * np.arange(30), *(rng.normal(size=(30, 3)) for _ in range(3))


def write(path, header, lines, delimiter=','):
    """Write a table; numbers as they read back to the same bits."""
    text = [delimiter.join(header), *(delimiter.join(map(str, line)) for line in lines)]
    path.write_text('\n'.join(text) + '\n', encoding='utf-8')
    return path


@pytest.fixture
def plain(rows, tmp_path):
    """Return a table that needs no mapping, its columns in any order."""
    times, q, dq, effort = rows
    header = ['q_gamma', 'time', *(f'effort_{n}' for n in NAMES), 'q_alpha', 'q_beta', 'extra',
              *(f'dq_{n}' for n in NAMES)]
    lines = np.column_stack([q[:, 2], times, effort, q[:, :2], 9.0 * times, dq]).tolist()
    return write(tmp_path / 'run.csv', header, lines)


def test_a_table_without_a_mapping(plain, rows):
    """Columns by name, in s, rad, rad/s; the unit of the effort is the user's to say."""
    times, q, dq, effort = rows
    recording = read_recording(plain, NAMES)
    for found, expected in zip(
        (recording.q, recording.dq, recording.effort), (q, dq, effort), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(recording.stamps, times - times[0])
    assert (recording.start, recording.stamps_from) == (10_000_000_000, 'header')
    assert (recording.topic, dict(recording.metadata)) == ('', {})
    assert recording.completeness.state == 'complete'
    assert recording.completeness.recovered == pytest.approx(0.29)
    assert recording.notes == ()
    assert find_joint_names(plain) == ('gamma', 'alpha', 'beta')
    # A sign and a zero, as for bags.
    encoders = JointEncoders(np.array([1.0, -1.0, 1.0]), np.array([0.0, 0.5, 0.0]))
    other = read_recording(plain, NAMES, encoders=encoders)
    np.testing.assert_array_equal(other.q, encoders.to_model(q))
    np.testing.assert_array_equal(other.effort, encoders.sign * effort)


@pytest.fixture
def mapped(rows, tmp_path):
    """Return a table in other units and another order, with its mapping beside it."""
    times, q, dq, effort = rows
    order = [2, 0, 1]
    lines = [
        [1e3 * t, *np.degrees(a[order]), *np.degrees(b[order]), *(1e3 * c), 31, 32, '', 'x y']
        for t, a, b, c in zip(times, q, dq, effort, strict=True)
    ]
    path = write(tmp_path / 'run.csv', HEADER, lines, ';')
    (tmp_path / 'run.csv.yaml').write_text(dump_yaml(MAPPING))
    return path


def test_a_mapping_states_columns_and_units(mapped, rows):
    """Patterns, lists and names; degrees, milliampere and milliseconds are converted."""
    times, q, dq, effort = rows
    recording = read_recording(mapped, NAMES)
    # A conversion there and back.
    np.testing.assert_allclose(recording.q, q, rtol=1e-14)
    np.testing.assert_allclose(recording.dq, dq, rtol=1e-14)
    np.testing.assert_allclose(recording.effort, effort, rtol=1e-14)
    np.testing.assert_allclose(recording.stamps, times - times[0], atol=1e-12)
    assert dict(recording.metadata) == {'effort_unit': 'A', 'robot': 'arm'}
    temperature = recording.channels['temperature']
    # alpha, beta, gamma are the table's second, third and first joints.
    np.testing.assert_array_equal(temperature.values[0], [32.0, np.nan, 31.0])
    np.testing.assert_array_equal(temperature.stamps, recording.stamps)
    assert find_joint_names(mapped) == ('gamma', 'alpha', 'beta')
    assert len(recording.until(0.095).channels['temperature']) == 10


def test_a_unit_of_angles_is_none_of_lengths(mapped, rows):
    """In a table in degrees the position of a joint that slides is in m, with a note."""
    _, q, dq, effort = rows
    slides = np.array([False, True, False])
    encoders = JointEncoders(np.ones(3), np.zeros(3), slides)
    recording = read_recording(mapped, NAMES, encoders=encoders)
    for found, expected in ((recording.q, q), (recording.dq, dq)):
        np.testing.assert_allclose(
            found, np.where(slides, np.degrees(expected), expected), rtol=1e-12
        )
    np.testing.assert_allclose(recording.effort, effort, rtol=1e-12)
    taken = [note for note in recording.notes if f'{NAMES[1]} is taken for m' in note]
    assert len(taken) == 2
    turning = JointEncoders(np.ones(3), np.zeros(3), np.zeros(3, dtype=bool))
    assert read_recording(mapped, NAMES, encoders=turning).notes == ()


@pytest.mark.parametrize('ending', ['\n', ' \n', '\r\n'])
def test_the_table_of_the_rtde_recorder(tmp_path, rng, ending):
    """Separated by blanks, vectors counted from 0 in kinematic order."""
    from pathlib import Path

    vectors = ('actual_q', 'actual_qd', 'actual_current', 'joint_temperatures')
    header = ['timestamp', 'robot_mode', *(f'{name}_{k}' for name in vectors for k in range(6))]
    numbers = rng.normal(size=(20, 24))
    times = 5000.0 + 0.002 * np.arange(20)
    lines = [' '.join(header), *(
        ' '.join(map(str, [t, 7, *row])) for t, row in zip(times, numbers, strict=True)
    )]
    path = tmp_path / 'robot_data.csv'
    path.write_bytes(ending.join([*lines, '']).encode())
    recording = read_recording(path, UR, mapping=Path('ur_rtde'))
    np.testing.assert_array_equal(recording.q, numbers[:, :6])
    np.testing.assert_array_equal(recording.dq, numbers[:, 6:12])
    np.testing.assert_array_equal(recording.effort, numbers[:, 12:18])
    np.testing.assert_array_equal(recording.channels['temperature'].values, numbers[:, 18:])
    assert recording.metadata['effort_unit'] == 'A'
    assert recording.stamps[-1] == pytest.approx(0.038)


def test_columns_without_names_of_joints_are_the_models(rows, tmp_path):
    """As many as the model has, neither fewer nor more."""
    times, q, *_ = rows
    path = write(tmp_path / 'a.csv', ['time', 'p0', 'p1', 'p2'],
                 np.column_stack([times, q]).tolist())
    (tmp_path / 'a.csv.yaml').write_text(dump_yaml({
        'schema_version': 1, 'time': {'column': 'time', 'unit': 's'},
        'q': {'columns': 'p{i}', 'unit': 'rad'},
    }))
    recording = read_recording(path, NAMES)
    np.testing.assert_array_equal(recording.q, q)
    assert np.isnan(recording.dq).all() and np.isnan(recording.effort).all()
    assert find_joint_names(path) == ('p0', 'p1', 'p2')
    with pytest.raises(DataError, match='has more columns of q than the model has joints'):
        read_recording(path, NAMES[:2])
    with pytest.raises(DataError, match='has no column p3'):
        read_recording(path, (*NAMES, 'delta'))


def test_a_table_that_is_cut_off_is_read_up_to_there(plain, rows):
    """Its last line ends inside a row; completeness says so, as of a bag."""
    plain.write_bytes(plain.read_bytes()[:-60])
    recording = read_recording(plain, NAMES)
    assert len(recording) == 29
    np.testing.assert_array_equal(recording.q, rows[1][:29])
    assert recording.completeness.state == 'recovered'
    assert recording.completeness.cause.startswith('line 31 has ')
    assert recording.completeness.describe() == 'damaged bag: recovered 0.28 of about 0.28 s'


@pytest.mark.parametrize('cells', [2, 5, 13])
def test_a_first_row_of_other_length_is_named_by_its_line(plain, cells):
    """It was taken for the layout of the table, so that no column was known any more."""
    lines = plain.read_text().splitlines()
    lines[1] = ','.join((lines[1].split(',') * 2)[:cells])
    plain.write_text('\n'.join(lines) + '\n')
    with pytest.raises(DataError, match=f'line 2 has {cells} of 11 columns.*: complete that line'):
        read_recording(plain, NAMES)


@pytest.mark.parametrize(('change', 'error', 'words'), [
    (lambda text: '', BagError, 'no line with the names of columns'),
    (lambda text: text.replace('time', 'when'), DataError, 'has no column of the time'),
    (lambda text: text.replace('extra', 'time'), DataError, 'several columns time'),
    (lambda text: text.replace('effort_beta', 'x'), DataError, 'no column of effort of beta'),
    (lambda text: text.replace('10.05', '"10,05"'), DataError, "time is '10,05' in line 7"),
    (lambda text: text.replace('10.05', ''), DataError, "'nan' in line 7 is no time"),
    (lambda text: text.replace('10.05', '1e10'), DataError, 'a number of at most 9.2e.09 s'),
    (lambda text: text.replace(',10.05', ''), DataError, 'line 7 has 10 of 11 columns'),
    (lambda text: 'time,' + 'x' * 2_000_000, BagError, 'a line of more than'),
])
def test_what_is_no_table_is_refused(plain, change, error, words):
    """With the line and the column, and without reading a line that never ends."""
    plain.write_text(change(plain.read_text()))
    with pytest.raises(error, match=words) as caught:
        recording = read_recording(plain, NAMES)
        # A last line that is cut off leaves the rest.
        raise DataError(f'{plain}: {recording.completeness.cause}')
    assert str(plain) in str(caught.value)


def test_long_tables_are_read_in_blocks(plain, rows, monkeypatch):
    monkeypatch.setattr(text_table, 'BLOCK_MESSAGES', 7)
    np.testing.assert_array_equal(read_recording(plain, NAMES).effort, rows[3])


def test_spreadsheets_write_a_byte_order_mark(plain, rows):
    plain.write_bytes(b'\xef\xbb\xbf' + plain.read_bytes().replace(b'\n', b'\r\n'))
    np.testing.assert_array_equal(read_recording(plain, NAMES).effort, rows[3])


def test_a_damaged_hdf5_is_refused_or_named(tmp_path):
    """Whatever the damage makes of it: a member that is gone is no reason for an end."""
    h5py = pytest.importorskip('h5py', reason='h5py, which reads HDF5, is missing')
    path, t = tmp_path / 'log.h5', np.arange(200) / 50.0
    with h5py.File(path, 'w') as file:
        file['time'] = t
        for name in ('q', 'dq', 'tau'):
            file[f'log/{name}'] = np.sin(t)[:, None] + np.arange(6)
        file['log/gone'] = h5py.SoftLink('/nowhere')
        file['kind'] = np.dtype('f8')
    whole = open_table(path)
    assert 'log.gone cannot be read' in whole.notes[0] and len(whole.columns) == 19
    good = path.read_bytes()
    outcomes = Counter()
    for place in np.flatnonzero(np.frombuffer(good, np.uint8))[:1500:5]:
        for value in (0, 0xFF):
            path.write_bytes(good[:place] + bytes([value]) + good[place + 1:])
            try:
                outcomes[len(open_table(path).columns)] += 1
            except BagError:
                outcomes['refused'] += 1
    # What is read is a part of what was there.
    assert set(outcomes) <= {'refused', 1, 6, 7, 12, 13, 18, 19} and len(outcomes) > 3, outcomes
