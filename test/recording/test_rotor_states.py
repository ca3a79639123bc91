# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Positions of rotors are read beside the joint states, and never in the place of these."""

from collections import Counter
from dataclasses import replace

from builders import JOINT_STATE
import numpy as np
import pytest
from recordings import designed_motion
from robot_identification.errors import BagError, DataError, DescriptionError
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.files import dump_yaml
from robot_identification.model.registry import load_robot, share_directory
from robot_identification.model.robot_model import JointEncoders
from robot_identification.pipeline import identify
from robot_identification.processing.loading import load_for_model
from robot_identification.recording import text_table
from robot_identification.recording.bag import find_joint_names, read_recording
from robot_identification.recording.joint_states import DYNAMIC_JOINT_STATE
from robot_identification.recording.simulated_run import simulate, write_simulated_bag
from robot_identification.recording.tables import open_table
from robot_identification.simulation.ground_truth import draw_truth
from robot_identification.simulation.mujoco_robot import Sensors
from robot_identification.validation.validation import errors_on, predict_effort

NAMES = ('alpha', 'beta', 'gamma')
TOPIC = '/rotor_states'
# Rotor positions of the joint state k are those of the links and so much more [rad].
BEND = 0.01
# Rotor states are stamped so much later [ns].
LATE = 1_000_000


@pytest.fixture
def rotor_messages(good):
    return [
        replace(
            message, log_time=message.log_time + 7 * LATE, stamp=message.stamp + LATE,
            name=list(reversed(message.name)), position=message.position[::-1] + BEND,
            velocity=np.empty(0), effort=np.empty(0),
        )
        for message in good
    ]


@pytest.fixture
def read(good, to_cdr, write_mcap, tmp_path):
    """Return a function that records topics beside the joint states, and reads them."""
    def run(topics, joint_topic='/joint_states', **options):
        path = write_mcap(tmp_path / 'a.mcap', {
            (joint_topic, JOINT_STATE): [to_cdr(message) for message in good], **topics,
        })
        return read_recording(path, NAMES, **options)

    return run


def assert_joint_states(recording, good):
    np.testing.assert_array_equal(recording.q, [message.position for message in good])
    np.testing.assert_array_equal(recording.effort, [message.effort for message in good])
    assert recording.completeness.state == 'complete'


@pytest.mark.parametrize('namespace', ['', '/ur', '/cell_1/ur'])
@pytest.mark.parametrize('name', ['rotor_states', 'simulated_rotor_states'])
def test_a_topic_of_rotors(read, rotor_messages, to_cdr, namespace, name):
    """By name, on their header stamps, through signs and zeros; the joint states are others."""
    sign, zero = np.array([1.0, -1.0, 1.0]), np.array([0.1, 0.0, -0.2])
    topics = {(f'{namespace}/{name}', JOINT_STATE): [to_cdr(m) for m in rotor_messages]}
    recording = read(
        topics, f'{namespace}/joint_states', encoders=JointEncoders(sign, zero)
    )
    assert recording.topic == f'{namespace}/joint_states'
    channel = recording.channels['rotor_position']
    np.testing.assert_allclose(channel.stamps, recording.stamps + LATE * 1e-9, atol=1e-12)
    # One encoder is read as the other: what they differ by is the deflection.
    np.testing.assert_allclose(channel.values - recording.q, BEND * np.tile(sign, (400, 1)))
    assert recording.notes == ()
    assert len(recording.until(1.0).channels['rotor_position']) == 100


def test_an_interface_of_the_joint_states(good, dynamic, to_cdr, write_mcap, tmp_path):
    """A DynamicJointState has them beside position and temperature, read or beside those read."""
    rotors = {('/dynamic_joint_states', DYNAMIC_JOINT_STATE): [
        (message.log_time, dynamic(message.stamp, {
            name: {'position': q, 'rotor_position': q + BEND, 'effort': effort,
                   'temperature': 30.0 + 0.1 * k}
            for name, q, effort in zip(message.name, message.position, message.effort, strict=True)
        }))
        for k, message in enumerate(good)
    ]}
    joints = {('/joint_states', JOINT_STATE): [to_cdr(message) for message in good]}
    for topics in (rotors, {**joints, **rotors}):
        path = write_mcap(tmp_path / 'bag.mcap', topics)
        recording = read_recording(path, NAMES)
        assert recording.topic == next(iter(topics))[0]
        assert_joint_states(recording, good)
        assert set(recording.channels) == {'rotor_position', 'temperature'}
        np.testing.assert_allclose(
            recording.channels['temperature'].values[:, 0], 30.0 + 0.1 * np.arange(len(good))
        )
        channel = recording.channels['rotor_position']
        np.testing.assert_allclose(channel.stamps, recording.stamps, atol=1e-12)
        np.testing.assert_allclose(channel.values, recording.q + BEND, rtol=1e-15)


def test_rotors_are_no_joint_states(write_mcap, rotor_messages, to_cdr, tmp_path):
    """Unless they are asked for by name."""
    path = write_mcap(tmp_path / 'a.mcap', {
        (TOPIC, JOINT_STATE): [to_cdr(message) for message in rotor_messages]
    })
    with pytest.raises(BagError, match='has no topic of joint states'):
        read_recording(path, NAMES)
    assert read_recording(path, NAMES, topic=TOPIC).topic == TOPIC


# --- damage --------------------------------------------------------------------------------


def test_a_joint_that_is_missing_does_not_harm_the_rest(read, good, rotor_messages, to_cdr):
    """Half a list of names is said; there is one encoder a joint."""
    recording = read({(TOPIC, JOINT_STATE): [
        to_cdr(replace(message, name=message.name[:2], position=message.position[:2]))
        for message in rotor_messages
    ]})
    assert dict(recording.channels) == {}
    assert recording.notes[0].startswith('rotor_position: /rotor_states is read no further: ')
    assert 'lacks the joint alpha' in recording.notes[0]
    assert_joint_states(recording, good)


def test_without_their_own_stamps_rotors_are_on_the_log_clock(read, rotor_messages, to_cdr):
    """Moved by the usual difference of both clocks, 2 ms here."""
    recording = read({
        (TOPIC, JOINT_STATE): [to_cdr(replace(m, stamp=0)) for m in rotor_messages]
    })
    assert recording.stamps_from == 'header'
    np.testing.assert_allclose(
        recording.channels['rotor_position'].stamps, recording.stamps + 7 * LATE * 1e-9,
        atol=1e-9,
    )


# --- tables --------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path, rng):
    """Return a function that writes a table of 30 lines with some columns of rotors."""
    q = rng.normal(size=(30, 3))

    def write(rotors, scale=1.0):
        header = ['time', *(f'{kind}_{name}' for kind in ('q', 'effort') for name in NAMES)]
        columns = [0.01 * np.arange(30)[:, None], q, q]
        for pattern, joint in rotors:
            header.append(pattern)
            columns.append(scale * (q[:, [joint]] + BEND))
        path = tmp_path / 'a.csv'
        lines = [','.join(map(repr, row.tolist())) for row in np.hstack(columns)]
        path.write_text('\n'.join([','.join(header), *lines]) + '\n')
        return path

    return write


def test_columns_of_a_table(table):
    """By the names that are read without a mapping; the mapping that is shipped has more."""
    path = table([(f'rotor_position_{NAMES[joint]}', joint) for joint in (2, 0, 1)])
    encoders = JointEncoders(np.array([1.0, -1.0, 1.0]), np.array([0.5, 0.0, 0.0]))
    recording = read_recording(path, NAMES, encoders=encoders)
    channel = recording.channels['rotor_position']
    np.testing.assert_array_equal(channel.stamps, recording.stamps)
    np.testing.assert_allclose(
        channel.values - recording.q, BEND * np.tile(encoders.sign, (30, 1)), atol=1e-12
    )
    with pytest.raises(DataError, match='has no column dq_alpha'):
        read_recording(
            path, NAMES, mapping=share_directory() / 'config' / 'csv' / 'two_encoders.yaml'
        )


pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')


@pytest.fixture(scope='module')
def youbot_run():
    """Return the youBot, with one joint counted backwards, and a noisy run of ten seconds."""
    robot = load_robot('youbot')
    encoders = replace(robot.encoders, sign=np.array([1.0, 1.0, 1.0, -1.0, 1.0]))
    robot = replace(robot, encoders=encoders)
    runs = []
    for seed in range(2):
        trajectory = designed_motion(robot, seed)
        run = simulate(robot, trajectory, draw_truth(robot, 3), Sensors(), seed=seed)
        runs.append((trajectory, run))
    return robot, runs


def test_a_model_of_readings_predicts_readings(youbot_run, tmp_path):
    """Identified through the encoders, judged on a motion it has not seen."""
    # 15 % of the current's spread is noise of ten seconds; read without encoders the gravity
    # torque alone would be wrong by more than its size.
    robot, runs = youbot_run
    for number, (trajectory, run) in enumerate(runs):
        write_simulated_bag(tmp_path / f'bag{number}', robot, run, trajectory)
    plain = IdentifyOptions(friction='coulomb,viscous,offset')
    model = identify(robot, [tmp_path / 'bag0'], plain).model
    assert unseen_error(model, tmp_path / 'bag1') < 0.15
    assert unseen_error(replace(model, robot=load_robot('youbot')), tmp_path / 'bag1') > 0.5


def unseen_error(model, bag):
    dataset, _ = load_for_model(model, bag)
    errors = errors_on(dataset, predict_effort(model, dataset), dataset.scored)
    return errors.nrmse_mean


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


@pytest.mark.parametrize(('change', 'words'), [
    ({'time': None}, 'missing time'),
    ({'schema_version': 2}, 'schema_version is 2'),
    ({'colour': 'red'}, 'unknown key colour'),
    ({'delimiter': ', '}, 'delimiter'),
    ({'joints': 'alpha'}, 'list of different names'),
    ({'time': 'T'}, 'time must hold column and unit'),
    ({'time': {'column': 'T', 'unit': 'h'}}, "time: unit 'h' is not one of s, ms"),
    ({'time': {'column': ['T'], 'unit': 's'}}, 'time: column must be'),
    ({'q': {'columns': 'angle {number}'}}, 'q: missing unit'),
    ({'q': {'columns': 'angle {number}', 'unit': 'rev'}}, 'not one of rad, deg'),
    ({'q': {'columns': 'angle', 'unit': 'rad'}}, 'is the same for all joints'),
    ({'q': {'columns': ['a', 'b'], 'unit': 'rad'}}, 'one name for each joint'),
    (
        {'effort': {'columns': 'I_{joint}', 'unit': 'kNm'}},
        'not one of A, Nm, Nm-without-gravity, mA, mNm',
    ),
])
def test_a_mapping_is_read_strictly(mapped, tmp_path, change, words):
    content = {key: value for key, value in (MAPPING | change).items() if value is not None}
    (tmp_path / 'run.csv.yaml').write_text(dump_yaml(content))
    with pytest.raises(DescriptionError, match=words) as caught:
        read_recording(mapped, NAMES)
    assert 'run.csv.yaml' in str(caught.value)


@pytest.mark.parametrize('change', [
    {'name': ['one', 'two', 'three']}, {'position': np.empty(0)},
    {'position': np.full(3, np.nan)},
], ids=['names', 'nothing', 'NaN'])
def test_a_topic_without_positions_is_said(read, good, rotor_messages, to_cdr, change):
    recording = read({
        (TOPIC, JOINT_STATE): [to_cdr(replace(m, **change)) for m in rotor_messages]
    })
    assert dict(recording.channels) == {}
    assert recording.notes == (
        'rotor_position: /rotor_states has no value of the joints: left out',
    )
    assert_joint_states(recording, good)
