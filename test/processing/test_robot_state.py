# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Temperatures go with the samples; what was slowed down or stopped is left out by name."""

from dataclasses import replace

from builders import joint, joint_states, link, robot_urdf, write_bag
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays as drawn_arrays
import numpy as np
import pinocchio as pin
import pytest
from robot_identification import arrays, identify, IdentifyOptions, load_model, validate
from robot_identification.arrays import span_of
from robot_identification.errors import DataError
from robot_identification.model import dump_model, make_robot_model, Motion, parse_urdf
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.processing import (
    blocks, held_joint_remarks, hold_as_recorded, process, read_arm,
)
from robot_identification.processing.blocks import (
    chosen_rows, mask_where, row_blocks, take_off, thin_chosen,
)
from robot_identification.processing.robot_state import find_exclusions, joint_temperatures
from robot_identification.recording import read_recording
from robot_identification.recording.recording import Channel


def run(recording, channels, **options):
    return process(replace(recording, channels=channels), KinematicFilter(), 'A', **options)


def channel(times, *columns):
    return Channel(np.array(times), np.array(columns, dtype=float).T)


def test_what_was_slowed_down_is_left_out_with_its_times(exact):
    """Half speed from 2 to 3 s and none from 5 to 5.5 s; 99.5 % is full speed."""
    scaling = channel([0.0, 2.0, 3.0, 5.0, 5.5], [1.0, 0.5, 0.995, 0.0, 1.0])
    dataset = run(exact.record(), {'speed_scaling': scaling})
    t = dataset.stamps
    slow = ((t >= 2.0) & (t < 3.0)) | ((t >= 5.0) & (t < 5.5))
    np.testing.assert_array_equal(~dataset.scored, slow)
    np.testing.assert_array_equal(~dataset.fitted, slow)
    assert dataset.excluded == {'at reduced speed scaling (neither scored nor fitted)': slow.sum()}
    note, = dataset.notes
    assert 'down to 0%' in note
    assert 'from 2.00 s to 2.99 s, from 5.00 s to 5.50 s' in note
    # The kinematics do not know of it.
    plain = run(exact.record(), {})
    np.testing.assert_array_equal(dataset.motion.ddq, plain.motion.ddq)
    assert run(exact.record(), {'speed_scaling': scaling}, keep_slowed=True).scored.all()


def test_safety_stops_are_left_out_with_their_mode(exact):
    """A protective stop from 1 to 2 s; a reduced mode is none."""
    mode = channel([-5.0, 1.0, 2.0, 6.0], [1.0, 3.0, 1.0, 2.0])
    dataset = run(exact.record(), {'safety_mode': mode}, keep_slowed=True)
    t = dataset.stamps
    np.testing.assert_array_equal(~dataset.scored, (t >= 1.0) & (t < 2.0))
    note, = dataset.notes
    assert '3 PROTECTIVE_STOP from 1.00 s to 1.99 s' in note


# Few values, so that many are equal, in any order and with readings that are none.
READINGS = st.sampled_from([0.0, 0.5, 1.0, np.nan])


@given(
    readings=st.integers(1, 40).flatmap(lambda size: st.tuples(
        drawn_arrays(float, size, elements=st.integers(-3, 30).map(float)),
        drawn_arrays(float, (size, 2), elements=READINGS),
    )),
    in_order=st.booleans(), in_file=st.booleans(),
)
def test_a_long_channel_is_what_it_is_in_one_piece(readings, in_order, in_file):
    """In blocks of seven rows, in memory or on the disk, beside NumPy on all of it."""
    times, values = readings
    times = np.sort(times) if in_order else times
    stamps = np.linspace(0.0, 25.0, 60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, 'BLOCK_ROWS', 7)
        patch.setattr(arrays, 'LARGEST_IN_MEMORY', 0 if in_file else 100)
        temperature, _ = joint_temperatures({'temperature': Channel(times, values)}, stamps, 2)
        slowed = find_exclusions({'speed_scaling': Channel(times, values[:, :1])}, stamps)
    order = np.argsort(times, kind='stable')
    times, values = times[order], values[order]
    for column in range(2):
        read = np.isfinite(values[:, column])
        # Of readings at one time any may count.
        unique = len(np.unique(times[read])) == np.count_nonzero(read)
        if read.any() and unique:
            np.testing.assert_allclose(
                temperature[:, column], np.interp(stamps, times[read], values[read, column]),
                rtol=0.0, atol=1e-12,
            )
        assert read.any() or temperature is None or np.isnan(temperature[:, column]).all()
    read = np.isfinite(values[:, 0])
    times, values = times[read], values[read, 0]
    known = [np.flatnonzero(times <= stamp) for stamp in stamps]
    slow = np.array([len(rows) > 0 and values[rows[-1]] < 0.99 for rows in known])
    if len(times) and 0.0 < times[0] <= 1.0:
        slow[stamps < times[0]] = values[0] < 0.99
    np.testing.assert_array_equal(slowed[0].rows if slowed else np.zeros(60, dtype=bool), slow)


# --- blocks of rows ----------------------------------------------------------------------


@given(
    masks=st.integers(1, 60).flatmap(lambda size: drawn_arrays(bool, (2, size))),
    value=st.booleans(), most=st.integers(1, 20), in_file=st.booleans(),
)
def test_masks_are_what_they_are_in_one_piece(masks, value, most, in_file):
    """In blocks of seven rows, in memory or on the disk, with any of the rows chosen or none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, 'BLOCK_ROWS', 7)
        patch.setattr(arrays, 'slices_of', row_blocks)
        patch.setattr(arrays, 'LARGEST_IN_MEMORY', 0 if in_file else 100)
        first, other = masks
        mask = mask_where(len(first), lambda block: first[block])
        np.testing.assert_array_equal(mask, first)
        chosen = np.flatnonzero(first == value)
        np.testing.assert_array_equal(chosen_rows(mask, value), chosen)
        np.testing.assert_array_equal(
            thin_chosen(mask, most), np.flatnonzero(first)[:: max(first.sum() // most, 1)]
        )
        span = span_of(mask)
        assert not first[: span.start].any() and not first[span.stop:].any()
        assert not first.any() or (first[span.start] and first[span.stop - 1])
        assert take_off(mask, other, value) == np.count_nonzero(first & (other == value))
        np.testing.assert_array_equal(mask, first & (other != value))


NAMES = ('lift', 'a', 'b', 'c', 'd', 'finger', 'wheel')
SAMPLES = 300  # enough for an identification
ELSEWHERE = {'b': np.full(SAMPLES, -2.0), 'd': np.full(SAMPLES, 1.0)}
COUNTS = {'b': np.full(SAMPLES, 100.0)}
MOVED = {'lift': np.linspace(0.0, 0.3, SAMPLES), 'd': np.linspace(1.0, -1.0, SAMPLES)}
QUIET = {
    # Of no influence: below the arm, on another branch, and a gripper that opens.
    'lift': np.full(SAMPLES, 0.4),
    'wheel': np.linspace(0.0, 9.0, SAMPLES), 'finger': np.linspace(0.0, 0.04, SAMPLES),
}


def robot():
    """Return an arm on a lift with a finger, of which only two joints move."""
    urdf = parse_urdf(robot_urdf(
        *(link(name) for name in ('base', 'l0', 'l1', 'l2', 'l3', 'l4', 'tip', 'disc')),
        joint('lift', 'base', 'l0', 'prismatic'),
        *(joint(name, f'l{number}', f'l{number + 1}', axis=((0, 1, 0), (0, 0, 1))[number % 2])
          for number, name in enumerate('abcd')),
        joint('finger', 'l4', 'tip', 'prismatic'), joint('wheel', 'base', 'disc'),
    ), 'arm')
    return make_robot_model(urdf, joints=('a', 'c'), locked={'b': 0.5})


def write_table(path, q, effort=0.0):
    head = ['time', *(f'{name}.position' for name in NAMES), *(f'{name}.effort' for name in NAMES)]
    rows = np.column_stack([np.arange(SAMPLES) / 100.0, q, effort + np.zeros_like(q)])
    np.savetxt(path, rows, delimiter=',', header=','.join(head), comments='')
    return path


def write_bag_of(path, q, effort=0.0):
    # The velocity is not recorded.
    return write_bag(path, joint_states(
        [f'left_{name}' for name in NAMES], np.arange(SAMPLES) / 100.0, q, np.nan * q,
        effort + np.zeros_like(q),
    ))


def at_rest(**positions):
    """Return positions of all joints, those that are named elsewhere than at zero or 0.5."""
    q = np.zeros((SAMPLES, len(NAMES)))
    q[:, NAMES.index('b')] = 0.5
    for name, values in positions.items():
        q[:, NAMES.index(name)] = values
    return q


@pytest.mark.parametrize('write', [write_table, write_bag_of])
@pytest.mark.parametrize(('positions', 'words'), [
    (ELSEWHERE, ['b is held at 0.5 rad in the model and stood at -2 rad: record',
                 'd is held at 0 rad in the model and stood at 1 rad: record']),
    (MOVED, ['lift is held at 0 m in the model and moved by 0.3 m: include it in --joints',
             'd is held at 0 rad in the model and moved by 2 rad']),
    (COUNTS, ['b is held at 0.5 rad in the model and was read as 100 rad, beyond its limits']),
    (QUIET, []),
])
def test_held_joints_that_matter_are_named(tmp_path, write, positions, words):
    arm = robot()
    path = write(tmp_path / ('log.csv' if write is write_table else 'bag'), at_rest(**positions))
    recording = read_recording(path, arm.joint_names, others=arm.watched_joints)
    assert set(recording.held) == {'lift', 'b', 'd', 'finger'}
    remarks = held_joint_remarks(arm, recording)
    assert len(remarks) == len(words)
    for remark, word in zip(remarks, words, strict=True):
        assert remark.startswith(f'{path}: {word}')
    assert read_recording(path, arm.joint_names).held == {}


def moving(rng, **held):
    """Return positions and torques of all joints while the arm moves, by the whole model."""
    t = np.arange(SAMPLES) / 100.0
    waves = np.pi * np.array([0.5, 1.0, 1.5])
    a, b = rng.normal(size=(2, 3, 2)) * 0.3
    phase = np.outer(t, waves)
    arm = [NAMES.index(name) for name in ('a', 'c')]
    q = at_rest(**held)
    dq, ddq = np.zeros_like(q), np.zeros_like(q)
    q[:, arm] = np.sin(phase) @ a + np.cos(phase) @ b
    dq[:, arm] = (np.cos(phase) * waves) @ a - (np.sin(phase) * waves) @ b
    ddq[:, arm] = -(np.sin(phase) * waves**2) @ a - (np.cos(phase) * waves**2) @ b
    return q, whole_torque(q, dq, ddq)


def whole_torque(*motion):
    """Return torques by a model in which nothing is held."""
    model = pin.buildModelFromXML(robot().urdf.text)
    # Pinocchio sorts the branches.
    order = [NAMES.index(name) for name in model.names[1:]]
    torque = np.empty_like(motion[0])
    for row, at in enumerate(zip(*motion, strict=True)):
        torque[row, order] = pin.rnea(model, model.createData(), *(one[order] for one in at))
    return torque


@pytest.mark.parametrize('write', [write_table, write_bag_of])
def test_held_joints_are_held_where_they_stood(tmp_path, rng, write):
    """So the model tells the torques of the whole arm there, and its file says where."""
    stood = {'lift': 0.2, 'b': -0.9, 'd': 0.7}
    path = write(tmp_path / ('log.csv' if write is write_table else 'bag'),
                 *moving(rng, **stood))
    options = IdentifyOptions(effort_unit='Nm', friction='offset')
    found = identify(robot(), [path], options)
    assert any('held where they stood' in note for note in found.notes)
    q, torque = moving(rng, **stood)
    dq = np.gradient(q, 0.01, axis=0)
    motion = Motion(*(one[5:-5, [1, 3]] for one in (q, dq, np.gradient(dq, 0.01, axis=0))))
    (tmp_path / 'model.yaml').write_text(dump_model(found.model))
    model = load_model(tmp_path / 'model.yaml')
    assert {name: model.robot.locked[name] for name in stood} == pytest.approx(stood, abs=1e-6)
    difference = model.torque(motion) - torque[5:-5, [1, 3]]
    assert np.sqrt(np.mean(difference**2)) < 0.02 * np.std(torque[:, [1, 3]])
    # The same recording fits the file, one with another pose is named.
    assert not any('b is held' in note for note in validate(model, [path]).notes)
    other = write_table(tmp_path / 'other.csv', *moving(rng, **stood | {'b': 0.9}))
    assert any('b is held at -0.9 rad' in note for note in validate(model, [other]).notes)


def test_a_held_joint_that_moved_is_refused(tmp_path, rng):
    """But not for what it did outside the window, nor where no torque depends on it."""
    path = np.where(np.arange(SAMPLES) < 50, 0.0, -0.9)
    log = write_table(tmp_path / 'log.csv', *moving(rng, b=path, lift=np.linspace(0, 1, SAMPLES)))
    recording = read_arm(robot(), log)
    with pytest.raises(DataError, match=r'b is held .* \(-0.9 to 0 in .*--start and --stop'):
        hold_as_recorded(robot(), [recording])
    held, remarks = hold_as_recorded(robot(), [recording], (0.5, None))
    assert held.locked['b'] == pytest.approx(-0.9)
    assert any('lift is held at 0 m in the model and moved by' in remark for remark in remarks)
    # So are recordings with one pose each.
    other = read_arm(robot(), write_table(tmp_path / 'other.csv', *moving(rng, b=0.9)))
    with pytest.raises(DataError, match=r'b is held .* by themselves'):
        hold_as_recorded(robot(), [recording, other], (0.5, None))


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


def run_of_rotor_side(recording, kinematic_filter=NONE, **options):
    return process(recording, kinematic_filter, 'Nm', **options)


@pytest.mark.parametrize(('rate', 'late'), [(125.0, 0.0), (125.0, 0.003), (500.0, 0.001),
                                            (100.0, 0.0)])
def test_rotors_are_matched_by_stamp(exact, rate, late):
    """Positions, velocities and accelerations at the stamps of the joint states."""
    # Differences over 8 ms are wrong by w^2 h^2 / 6 of a velocity: 2e-4 at 0.7 Hz; between stamps
    # a cubic adds less than that. Accelerations, differences of differences, are wrong by about
    # five times as much, of up to 20 rad/s^2, and between stamps 100 Hz apart by 2e-2.
    stamps = np.arange(int(8.0 * rate)) / rate + late
    dataset = run_of_rotor_side(with_rotors(exact, stamps))
    known = dataset.fitted & (dataset.stamps > 0.1) & (dataset.stamps < 7.9)
    rotor = dataset.motion.rotor
    q, dq, ddq = rotors_at(exact, dataset.stamps)
    np.testing.assert_allclose(rotor.q[known], q[known], atol=2e-6)
    np.testing.assert_allclose(rotor.dq[known], dq[known], atol=2e-3)
    np.testing.assert_allclose(rotor.ddq[known], ddq[known], atol=3e-2)
    # At the links nothing changes.
    plain = run_of_rotor_side(exact.record())
    np.testing.assert_array_equal(dataset.motion.ddq, plain.motion.ddq)
    assert 'rotor positions are used' in dataset.notes[0]


def test_gaps_of_the_rotors_are_gaps(exact):
    """Without rotor positions samples are scored, not fitted; two lost ones are bridged."""
    stamps = exact.times()
    lost = (stamps > 3.0) & (stamps < 3.5)
    kept = ~lost
    kept[[200, 201]] = False
    dataset = run_of_rotor_side(with_rotors(exact, stamps[kept]))
    missing = int(np.count_nonzero(lost))
    assert dataset.excluded['without a rotor position (scored, not fitted)'] == missing
    np.testing.assert_array_equal(dataset.fitted, ~lost)
    assert dataset.scored.all()
    for name in ('q', 'dq', 'ddq'):
        np.testing.assert_array_equal(
            getattr(dataset.motion.rotor, name)[lost], getattr(dataset.motion, name)[lost]
        )
    # Nothing reaches across the gap: before it, all is as if the rotors ended there.
    ended = run_of_rotor_side(with_rotors(exact, stamps[kept & (stamps <= 3.0)]), stop=4.0)
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
    dataset = run_of_rotor_side(changed(with_rotors(exact), change))
    for column, name in enumerate('abc'):
        is_link = np.array_equal(dataset.motion.rotor.q[:, column], dataset.motion.q[:, column])
        assert is_link == (name in stray)
        assert any(note.startswith(f'the rotor of {name} is left out') for note in dataset.notes
                   ) == (name in stray)
