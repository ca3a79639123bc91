# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Where the joints that a model holds were in a recording."""

from builders import joint, joint_states, link, robot_urdf, write_bag
import numpy as np
import pytest
from robot_identification.cli.doctor import examine, ExamineOptions
from robot_identification.model import make_robot_model, parse_urdf
from robot_identification.processing import held_joint_remarks, watched_joints
from robot_identification.recording import read_recording
from robot_identification.studies.drive_gains import DriveGainsOptions

NAMES = ('lift', 'a', 'b', 'c', 'd', 'finger', 'wheel')
SAMPLES = 300  # enough for an identification
ELSEWHERE = {'b': np.full(SAMPLES, -2.0)}
MOVED = {'lift': np.linspace(0.0, 0.3, SAMPLES), 'd': np.linspace(1.0, -1.0, SAMPLES)}
QUIET = {
    # Of no influence: below the arm, behind it, on another branch, and a gripper that opens.
    'lift': np.full(SAMPLES, 0.4), 'd': np.full(SAMPLES, 1.0),
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


def write_bag_of(path, q):
    return write_bag(path, joint_states(
        [f'left_{name}' for name in NAMES], np.arange(SAMPLES) / 100.0, q, 0.0 * q, 0.0 * q
    ))


@pytest.mark.parametrize('write', [write_table, write_bag_of])
@pytest.mark.parametrize(('positions', 'words'), [
    (ELSEWHERE, ['b is held at 0.5 rad in the model and stood at -2 rad: state that as `locked`']),
    (MOVED, ['lift is held at 0 m in the model and moved by 0.3 m: include it in --joints',
             'd is held at 0 rad in the model and moved by 2 rad']),
    (QUIET, []),
])
def test_held_joints_that_matter_are_named(tmp_path, write, positions, words):
    arm = robot()
    q = np.zeros((SAMPLES, len(NAMES)))
    q[:, NAMES.index('b')] = 0.5
    for name, values in positions.items():
        q[:, NAMES.index(name)] = values
    path = write(tmp_path / ('log.csv' if write is write_table else 'bag'), q)
    recording = read_recording(path, arm.joint_names, others=watched_joints(arm))
    assert set(recording.held) == {'lift', 'b', 'd', 'finger'}
    remarks = held_joint_remarks(arm, recording)
    assert len(remarks) == len(words)
    for remark, word in zip(remarks, words, strict=True):
        assert remark.startswith(f'{path}: {word}')
    assert read_recording(path, arm.joint_names).held == {}


def test_studies_and_doctor_name_them_too(tmp_path):
    """What reads the recordings of an arm says it, whatever it looks for."""
    arm = robot()
    q = np.zeros((SAMPLES, len(NAMES)))
    for name, values in MOVED.items():
        q[:, NAMES.index(name)] = values
    for name in arm.joint_names:
        q[:, NAMES.index(name)] = np.linspace(0.0, 1.0, SAMPLES) ** 2
    path = write_table(tmp_path / 'log.csv', q, np.linspace(1.0, 2.0, SAMPLES)[:, None])
    _, notes = DriveGainsOptions().read(arm, [path])
    assert any('d is held at 0 rad in the model and moved by 2 rad' in note for note in notes)
    found = examine(path, ExamineOptions(robots=[arm]))
    assert any('d is held at 0 rad in the model and moved by 2 rad' in note
               for note in found.notes)
