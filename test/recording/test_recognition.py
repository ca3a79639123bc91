# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Columns are recognized, or asked for with a mapping that is ready to be edited."""

import json

from hypothesis import given, settings, strategies as st
from log_styles import (
    by_joint, columns_of, make_run, names, PLAIN, SO101, STYLES, table, write_lerobot,
)
import numpy as np
import pytest
from robot_identification.errors import DataError
from robot_identification.recording.bag import find_joint_names, read_recording
from robot_identification.recording.bag_files import data_hashes
from robot_identification.recording.column_names import classify, INDEX, take_apart
from robot_identification.recording.column_units import find_units, Rows
from robot_identification.recording.column_words import UNITS
from robot_identification.recording.table_mapping import load_mapping, mapping_text
from robot_identification.recording.tables import understand_table


@pytest.mark.parametrize(('name', 'quantity', 'unit', 'wanted'), [
    ('q_#', 'q', '', False), ('actual_q_#', 'q', '', False), ('q#dot', 'dq', '', False),
    ('actual_qd_#', 'dq', '', False), ('target_q_#', 'q', '', True), ('q_d_#', 'q', '', True),
    ('state.q_d[#]', 'q', '', True), ('tau_J[#]', 'effort', 'Nm', False),
    ('tau_J_d[#]', 'effort', 'Nm', True), ('tau_ext_hat_filtered[#]', None, '', False),
    ('current_position_#', 'q', '', False), ('motor_current_#', 'effort', 'A', False),
    ('torque_current_#', 'effort', 'A', False), ('current_as_torque_#', 'effort', 'Nm', False),
    ('present_load_#', 'effort', '', False), ('effort_#', 'effort', '', False),
    ('I#', 'effort', 'A', False), ('axisQMsr_LBR[#]', 'q', '', False),
    ('jointpos#', 'q', '', False), ('J#', 'q', '', False), ('ddq_#', None, '', False),
    ('actual_TCP_pose_#', None, '', False), ('joint_voltage_#', None, '', False),
    ('temperature_#', 'temperature', '', False), ('rotor_position_#', 'rotor_position', '', False),
    ('tool_current_#', None, '', False), ('gripper_camera_#', None, '', False),
])
def test_words_of_a_name(name, quantity, unit, wanted):
    """The last noun counts, but for `current` that means present; commands are told apart."""
    words = [INDEX if word == '7' else word for word in take_apart(name.replace('#', '7')).words]
    found = classify(words)
    if quantity is None:
        assert found is None
    else:
        assert (found.quantity, found.natural, found.wanted) == (quantity, unit, wanted)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(tuple(UNITS['time'])), st.sampled_from(('rad', 'deg')),
    st.sampled_from(('rad/s', 'deg/s')), st.floats(-3.0, -1.5), st.floats(0.5, 3.0),
    st.floats(0.05, 0.5), st.booleans(), st.integers(0, 2**31),
)
def test_units_are_found_whatever_they_are(
    time, angle, speed, log_period, amplitude, frequency, calendar, seed
):
    """Of motions as they are recorded to identify from, with a clock that begins anywhere."""
    rng = np.random.default_rng(seed)
    period = 10.0**log_period
    t = period * np.arange(int(20.0 / period) if period > 0.005 else 4000)
    phase, share = rng.uniform(0.0, 2.0 * np.pi, 6), rng.uniform(0.5, 1.0, 6)
    omega = 2.0 * np.pi * frequency
    q = amplitude * share * np.sin(omega * t[:, None] + phase)
    dq = amplitude * share * omega * np.cos(omega * t[:, None] + phase)
    q = q + rng.normal(scale=1e-4, size=q.shape)
    dq = dq + rng.normal(scale=1e-2, size=q.shape)
    stamps = (t + (1.7e9 if calendar else rng.uniform(0.0, 5e3))) / UNITS['time'][time]
    rows = Rows(stamps, q / UNITS['q'][angle], dq / UNITS['dq'][speed], None)
    units, checks, _ = find_units({'time': '', 'q': '', 'dq': ''}, '', [rows])
    assert (units['time'], units['q'], units['dq']) == (time, angle, speed)
    assert set(checks) == {'time', 'q', 'dq'}


@pytest.mark.parametrize('quantity', ['q', 'dq'])
def test_a_joint_in_another_unit_does_not_decide_for_all(quantity):
    """All joints were read in its unit, and the others were said to be wrong."""
    t = 0.01 * np.arange(1000)
    phase = t[:, None] + np.arange(6)
    q, dq = 1.5 * np.sin(phase), 1.5 * np.cos(phase)
    (q if quantity == 'q' else dq)[:, 3] *= 180.0 / np.pi
    units, *_ = find_units({'time': '', 'q': '', 'dq': ''}, '', [Rows(t, q, dq, None)])
    assert units == {'time': 's', 'q': 'rad', 'dq': 'rad/s'}


def test_time_is_found_where_most_joints_rest():
    """One of seven swings slowly, now and then: what the others do says nothing of the clock."""
    t = 0.08 * np.arange(2000)
    swing = np.where(t % 80.0 < 30.0, 0.2 * np.sin(2.0 * np.pi * 0.05 * t), 0.0)
    q = np.zeros((len(t), 7))
    q[:, 3] = swing
    units, _, alternative = find_units({'time': '', 'q': ''}, '', [Rows(t, q, None, None)])
    assert (units['time'], alternative) == ('s', '')


@pytest.fixture
def run():
    return make_run()


def log(path, run, positions, efforts, more=(), time='time'):
    extra = [np.zeros_like(run.t) for _ in more]
    table(path, [time, *positions, *efforts, *more],
          columns_of(run.t, run.q, run.effort, *extra))
    return path


def test_a_draft_can_be_used_as_it_is(run, tmp_path):
    """What may be either is shown in a mapping; with one of both it is read."""
    path = tmp_path / 'log.csv'
    table(path, ['time', *names('left_q_{}'), *names('right_q_{}'), *names('left_tau_{}')],
          columns_of(run.t, run.q, 2.0 * run.q, run.effort))
    with pytest.raises(DataError, match=r'q may be left_q_0 .. left_q_5 or right_q_0') as caught:
        read_recording(path, PLAIN)
    text = str(caught.value)
    assert '--mapping' in text and 'log.csv.yaml' in text
    draft = [line[2:] for line in text.splitlines() if line.startswith('  ')]
    mapping = tmp_path / 'log.csv.yaml'
    mapping.write_text('\n'.join(line for line in draft if ': ' in line[:20]) + '\n')
    np.testing.assert_array_equal(read_recording(path, PLAIN).q, run.q)


def test_two_arms_are_told_apart_by_the_models_names(run, tmp_path):
    """By the names with their prefix; without it, it is asked which is meant."""
    path = tmp_path / 'log.csv'
    left, right = (by_joint(f'{side}_{{}}_position', PLAIN) for side in ('left', 'right'))
    table(path, ['time', *left, *right, *by_joint('left_{}_torque', PLAIN)],
          columns_of(run.t, run.q, 2.0 * run.q, run.effort))
    found = read_recording(path, [f'right_{joint}' for joint in PLAIN])
    np.testing.assert_array_equal(found.q, 2.0 * run.q)
    with pytest.raises(DataError, match='q may be left_joint1_position'):
        read_recording(path, PLAIN)
    names_ = {f'left_{joint}': joint for joint in PLAIN}
    np.testing.assert_array_equal(read_recording(path, PLAIN, names=names_).q, run.q)


def test_commands_are_never_taken(run, tmp_path):
    path = log(tmp_path / 'a.csv', run, names('target_q_{}'), names('tau_{}'))
    with pytest.raises(DataError, match=r'only as commanded .target_q_0 .. target_q_5.'):
        read_recording(path, PLAIN)


def test_more_columns_than_joints(run, tmp_path):
    """Those that stand still are left out; a gripper that moves is asked about."""
    path = tmp_path / 'a.csv'
    for extra, still in ((np.zeros_like(run.t), True), (run.t, False)):
        table(path, ['t', *names('q{}', 7), *names('tau{}', 6)],
              columns_of(run.t, run.q, extra, run.effort))
        if still:
            np.testing.assert_array_equal(read_recording(path, PLAIN).q, run.q)
        else:
            with pytest.raises(DataError, match='more columns of q than the model has joints.*'
                               f'--joint-names joint_1={PLAIN[0]},joint_2={PLAIN[1]},'):
                read_recording(path, PLAIN)


@pytest.mark.parametrize('first', [1, 2])
def test_numbers_of_columns_are_given_to_joints(first, run, tmp_path):
    """Of an arm with a gripper, or on a rail: the option that the error recommends is obeyed."""
    path = tmp_path / 'a.csv'
    more = np.sin(run.t)
    q, effort = (
        np.insert(arm, 6 if first == 1 else 0, more, axis=1) for arm in (run.q, run.effort)
    )
    table(path, ['t', *names('q{}', 7), *names('tau{}', 7)], columns_of(run.t, q, effort))
    given = {f'joint_{first + k}': joint for k, joint in enumerate(PLAIN)}
    recording = read_recording(path, PLAIN, names=given)
    np.testing.assert_array_equal(recording.q, run.q)
    np.testing.assert_array_equal(recording.effort, run.effort)


def test_numbers_from_zero_are_no_names(run, tmp_path):
    """joint_0 is the model's joint_1, although there is a joint_1 in the log, too."""
    path, model = tmp_path / 'a.csv', [f'joint_{k}' for k in range(1, 7)]
    table(path, ['t', *names('joint_{}_pos', 7), *names('joint_{}_tau', 7)],
          columns_of(run.t, run.q, 0.0 * run.t, run.effort, 0.0 * run.t))
    recording = read_recording(path, model)
    np.testing.assert_array_equal(recording.q, run.q)
    np.testing.assert_array_equal(recording.effort, run.effort)


def test_how_a_column_was_obtained_is_no_name_of_a_joint(run, tmp_path):
    """A log of measured beside filtered values is read without an arm, as by `doctor`."""
    path = tmp_path / 'a.csv'
    table(path, ['t', *names('pos_meas{}'), *names('pos_filt{}'), *names('tau_meas{}')],
          columns_of(run.t, run.q, 2.0 * run.q, run.effort))
    joints = find_joint_names(path)
    assert list(joints) == [f'joint_{k}' for k in range(1, 7)]
    np.testing.assert_array_equal(read_recording(path, joints).q, run.q)


def test_a_log_without_a_time(run, tmp_path):
    """It is asked for, and a rate may stand for it."""
    path = tmp_path / 'a.csv'
    table(path, [*names('q{}'), *names('tau{}')], columns_of(run.q, run.effort))
    with pytest.raises(DataError, match=r'no column of the time.*`time: \{rate: 500\}`'):
        read_recording(path, PLAIN)
    (tmp_path / 'a.csv.yaml').write_text(
        'schema_version: 1\ntime: {rate: 125}\nq: {columns: "q{i}", unit: rad}\n'
        'effort: {columns: "tau{i}"}\n'
    )
    recording = read_recording(path, PLAIN)
    np.testing.assert_allclose(recording.stamps, run.t, atol=1e-12)
    assert 'effort_unit' not in recording.metadata


@pytest.mark.parametrize(('time', 'why'), [
    (lambda t: t[::-1], 'it falls from row to row. Sort the rows by it'),
    (lambda t: 0.0 * t, 'it stands still. Name another column in a mapping, or say there how'),
    (lambda t: np.floor(10.0 * t) / 10.0, r'it goes on in \d+% of the rows only and'),
])
def test_a_time_that_does_not_run_is_named(run, tmp_path, time, why):
    """It is there, so that it is wrong to say that there is none."""
    path = tmp_path / 'a.csv'
    table(path, ['time', *names('q{}'), *names('tau{}')],
          columns_of(time(run.t), run.q, run.effort))
    with pytest.raises(DataError, match=f"its column 'time' is no time of the rows: {why}"):
        read_recording(path, PLAIN)


EDGES = {
    'quoted decimal commas': lambda rows, header: [','.join(header), *(
        ','.join(f'"{x!r}"'.replace('.', ',') for x in row) for row in rows)],
    'filled up with blanks': lambda rows, header: [
        ' '.join(f'{name:>24}' for name in header),
        *(' '.join(f'{x!r:>24}' for x in row) for row in rows)],
    'empty lines and a footer': lambda rows, header: [
        ','.join(header), *(f'{",".join(map(repr, row))}\n' for row in rows), '# end'],
    'a frame of bars': lambda rows, header: [
        f'| {" | ".join(header)} |', *(f'| {" | ".join(map(repr, row))} |' for row in rows)],
    'lines before': lambda rows, header: [
        'Robot: UR5', 'Date: 3.5.2026, 10:00', 'Rate: 125 Hz', '', ','.join(header),
        *(','.join(map(repr, row)) for row in rows)],
    'a header that comes again': lambda rows, header: [
        line for k, row in enumerate(rows)
        for line in ([','.join(header)] if k % 400 == 0 else []) + [','.join(map(repr, row))]],
    'whole numbers first': lambda rows, header: [
        ';'.join(header), ';'.join(['0', *['1'] * (len(header) - 1)]),
        *(';'.join(f'{x!r}'.replace('.', ',') for x in row) for row in rows[1:])],
}


@pytest.mark.parametrize('name', EDGES)
def test_layouts_of_text(name, run, tmp_path):
    rows = np.column_stack([run.t, run.q, run.effort]).tolist()
    header = ['t', *names('q{}'), *names('tau{}')]
    (tmp_path / 'a.txt').write_text('\n'.join(EDGES[name](rows, header)) + '\n')
    recording = read_recording(tmp_path / 'a.txt', PLAIN)
    np.testing.assert_array_equal(recording.q[1:], run.q[1:])
    np.testing.assert_array_equal(recording.effort[1:], run.effort[1:])
    np.testing.assert_array_equal(recording.stamps, run.t)


def test_what_was_recognized_is_written_and_read_again(run, tmp_path):
    path = tmp_path / 'a.csv'
    table(path, ['sec', 'nanosec', *names('pos{}'), *names('i{}')],
          [[str(int(t)) for t in run.t], [str(round(t % 1 * 1e9)) for t in run.t],
           *columns_of(np.degrees(run.q), 1e3 * run.effort)])
    opened = understand_table(path, PLAIN)
    (tmp_path / 'm.yaml').write_text(mapping_text(opened.mapping, opened.mapping.checks))
    again = load_mapping(tmp_path / 'm.yaml')
    assert (again.time, again.nanoseconds, dict(again.quantities), again.joints) == (
        opened.mapping.time, opened.mapping.nanoseconds, dict(opened.mapping.quantities),
        opened.mapping.joints,
    )
    first, second = read_recording(path, PLAIN), read_recording(
        path, PLAIN, mapping=tmp_path / 'm.yaml')
    np.testing.assert_array_equal(first.q, second.q)
    np.testing.assert_array_equal(first.stamps, second.stamps)
    np.testing.assert_allclose(first.effort, run.effort)


def test_quantities_on_rows_of_their_own(run, tmp_path):
    """A merged export: positions and efforts of two topics, at stamps of their own."""
    lines = [','.join(['time', *names('q{}'), *names('tau{}')])]
    for t, q, effort in zip(run.t, run.q, run.effort, strict=True):
        lines.append(','.join([repr(float(t)), *(repr(float(x)) for x in q), *[''] * 6]))
        late = float(t) + 0.002
        lines.append(','.join([repr(late), *[''] * 6, *(repr(float(x)) for x in effort)]))
    (tmp_path / 'a.csv').write_text('\n'.join(lines) + '\n')
    recording = read_recording(tmp_path / 'a.csv', PLAIN)
    np.testing.assert_array_equal(recording.q, run.q)
    expected = np.column_stack([
        np.interp(run.t, run.t + 0.002, column) for column in run.effort.T
    ])
    np.testing.assert_allclose(recording.effort[1:], expected[1:], atol=1e-9)
    assert 'effort has other stamps than q' in recording.notes[0]


@pytest.mark.parametrize('version', ['v2.1', 'v3.0'])
@pytest.mark.parametrize('listed', [list, lambda names: {'motors': names}])
def test_a_lerobot_dataset(version, listed, tmp_path):
    """Episodes follow each other with a pause; joints are named by meta/info.json."""
    pytest.importorskip('pyarrow')
    run, path = make_run(), tmp_path / 'dataset'
    write_lerobot(path, run, version, listed([f'{joint}.pos' for joint in SO101]), 180.0 / np.pi)
    assert find_joint_names(path) == SO101
    recording = read_recording(path, SO101)
    # Datasets hold single precision.
    np.testing.assert_allclose(recording.q, run.q, atol=1e-5)
    half = len(run.t) // 2
    steps = np.diff(recording.stamps)
    assert steps[half - 1] == pytest.approx(1.0)
    np.testing.assert_allclose(np.delete(steps, half - 1), 0.008, atol=1e-5)
    assert any('2 episodes' in note for note in recording.notes)
    assert any('q is taken for deg' in note for note in recording.notes)
    (tmp_path / 'other').mkdir()
    assert data_hashes(path) != data_hashes(tmp_path / 'other')
    # A part of the joints is an arm, too, without its gripper.
    np.testing.assert_allclose(read_recording(path, SO101[:5]).q, run.q[:, :5], atol=1e-5)


@pytest.mark.parametrize('value', [None, [], 'absent'])
def test_a_first_json_record_without_efforts_hides_none_of_the_others(value, tmp_path):
    """As of a program that logs before the first measurement, or that begins with its settings."""
    records = [{'t': 0.01 * k, 'q': [0.1 * k, -0.1 * k], 'tau': [1.0, k]} for k in range(50)]
    records[0]['tau'] = value
    if value == 'absent':
        del records[0]['tau']
    path = tmp_path / 'a.jsonl'
    path.write_text('\n'.join(map(json.dumps, records)))
    effort = read_recording(path, ['one', 'two']).effort
    assert np.flatnonzero(np.isnan(effort).any(axis=1)).tolist() == [0]
    np.testing.assert_array_equal(effort[1:, 1], np.arange(1, 50))


@pytest.mark.parametrize('form', STYLES, ids=lambda form: form.name)
def test_a_log_is_understood(form, tmp_path):
    run, path = make_run(), tmp_path / form.file
    form.write(path, run)
    recording = read_recording(path, form.joints)
    # Times have the digits that are left of seconds since 1970.
    np.testing.assert_allclose(recording.stamps, run.t, atol=1e-6)
    np.testing.assert_allclose(recording.q, run.q, atol=form.tolerance)
    if form.has_velocity:
        np.testing.assert_allclose(recording.dq, run.dq, atol=form.tolerance)
    else:
        assert np.isnan(recording.dq).all()
    np.testing.assert_allclose(recording.effort, run.effort, atol=form.tolerance)
    assert recording.metadata.get('effort_unit') == form.unit
    assert len(find_joint_names(path)) >= 6
