# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Where the joints that a model holds were in a recording."""

from builders import joint, joint_states, link, robot_urdf, write_bag
import numpy as np
import pinocchio as pin
import pytest
from robot_identification import identify, IdentifyOptions, load_model, validate
from robot_identification.errors import DataError
from robot_identification.model import dump_model, make_robot_model, Motion, parse_urdf
from robot_identification.processing import held_joint_remarks, hold_as_recorded, read_arm
from robot_identification.recording import read_recording

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
