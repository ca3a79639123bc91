# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Positions of rotors are read beside the joint states, and never in the place of these."""

from dataclasses import replace

from builders import JOINT_STATE
import numpy as np
import pytest
from recordings import designed_motion
from robot_identification.errors import BagError, DataError
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.model.registry import load_robot, share_directory
from robot_identification.model.robot_model import JointEncoders
from robot_identification.pipeline import identify
from robot_identification.processing.loading import load_for_model
from robot_identification.recording.bag import read_recording
from robot_identification.recording.joint_states import DYNAMIC_JOINT_STATE
from robot_identification.recording.simulated_run import simulate, write_simulated_bag
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
