# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Servo arms: commands and positions alone, from a LeRobot dataset to a simulation."""

from contextlib import chdir
import json
from pathlib import Path
import shlex
import shutil

from builders import run_command
from long_tests import long_test
import numpy as np
import pytest
from robot_identification import identify, IdentifyOptions, read_recording
from robot_identification.errors import DataError, UsageError
from robot_identification.model import load_model
from robot_identification.processing import find_command_delay, with_position_error
from robot_identification.recording import read_command
from servo_twin import (
    DAMPING, DRY_FRICTION, JOINTS, LATENCY, log_motion, RATE, so101, STIFFNESS, URDF,
    write_lerobot,
)
from test_pages_run import lines_of, quickly

ROOT = Path(__file__).resolve().parents[1]
PAYLOAD = 0.2  # of the page [kg]


@pytest.fixture(scope='module')
def logs(tmp_path_factory):
    """Return a folder with datasets of two motions of the bare arm, and one with a payload."""
    pytest.importorskip('pyarrow')
    folder = tmp_path_factory.mktemp('servo')
    for name, seed, payload in (('bare', 1, 0.0), ('unseen', 2, 0.0), ('loaded', 3, PAYLOAD)):
        write_lerobot(folder / name, log_motion(seed, payload=payload))
    return folder


@pytest.fixture(scope='module')
def results(logs):
    """Run the commands of the page, with plain friction laws, and return the folder."""
    shutil.copy(URDF, logs / 'so101.urdf')
    with chdir(logs):
        for line in lines_of(ROOT / 'docs' / 'servo_arms.md'):
            done = run_command(*quickly(shlex.split(line)))
            assert done.code == 0, f'{line}: {done.err}'
    return logs


def commanded(log):
    """Return the recording of a dataset with its commands."""
    robot = so101()
    return read_command(read_recording(log, JOINTS, encoders=robot.encoders), {}, robot.encoders)


def test_the_delay_is_found(logs):
    """Latency and half a period that a command is held: the error of single joints is 10 ms."""
    held = LATENCY + 0.5 / RATE
    delay = find_command_delay(so101(), [commanded(logs / 'bare')])
    assert delay.value == pytest.approx(held, abs=0.008)
    assert delay.joints[0] <= delay.value <= delay.joints[1]


def test_the_effort_is_the_error_against_the_delayed_command(logs):
    """By hand, at the stamps of the log."""
    recording = commanded(logs / 'bare')
    command = recording.channels['position_command']
    late = with_position_error(recording, 0.02)
    expected = np.interp(recording.stamps - 0.02, command.stamps, command.values[:, 1])
    np.testing.assert_array_equal(late.effort[:, 1], expected - recording.q[:, 1])
    assert late.metadata['effort_unit'] == 'rad'


@long_test
def test_a_known_payload_fixes_the_gains(results):
    """The published stiffness; the payload turns joints by 5 steps of the encoder and more."""
    content = json.loads((results / 'gains' / 'drive_gains.json').read_text())
    gains = [joint['gain'] for joint in content['joints']]
    np.testing.assert_allclose(gains, STIFFNESS, rtol=0.04)
    assert 'gain [N m/rad]' in (results / 'gains' / 'results.txt').read_text()


@long_test
def test_friction_is_that_of_the_servos(results):
    """A delay that is off by 4 ms takes 0.07 N m s/rad; the model file keeps it."""
    model = load_model(results / 'result' / 'identified_model.yaml')
    assert model.effort_unit == 'rad'
    assert model.source.command_delay == pytest.approx(LATENCY + 0.5 / RATE, abs=0.008)
    found = dict(zip(model.reduction.names, model.theta_base, strict=True))
    np.testing.assert_allclose([found[f'fv{joint}'] for joint in range(1, 6)], DAMPING, atol=0.1)
    np.testing.assert_allclose(
        [found[f'fc{joint}'] for joint in range(1, 6)], DRY_FRICTION, atol=0.01
    )


@long_test
def test_a_simulation_stays_near_the_arm(results):
    """On unseen motion, a third of the drift of the URDF at most, open loop and with a PD."""
    content = json.loads((results / 'validation' / 'validation.json').read_text())
    drift = {
        (one['model'], one['loop']): np.array(one['tool_high'], dtype=float)
        for one in content['rollouts'][0]['models']
    }
    for loop in ('open', 'closed'):
        # What breaks down has no number.
        assert np.all(3.0 * drift['model', loop] < np.nan_to_num(drift['urdf', loop], nan=np.inf))
    # [mm]: about a step of the encoder at the reach of the arm.
    assert np.all(drift['model', 'closed'] < 1.0)


def test_commands_must_be_known(scene, tmp_path):
    """A bag has none, and a log that has none says how to name them."""
    robot = so101()
    with pytest.raises(UsageError, match='--effort-unit Nm has no meaning'):
        IdentifyOptions(effort_from='command', effort_unit='Nm')
    arm = scene('ur5')
    with pytest.raises(UsageError, match='is no table: commanded positions'):
        identify(arm.robot, arm.bags[0], IdentifyOptions(effort_from='command'))
    log = log_motion(1, duration=2.0)
    header = ','.join(['t', *(f'q_{joint}' for joint in JOINTS)])
    with chdir(tmp_path):
        np.savetxt('log.csv', np.column_stack([log.t, log.q]), delimiter=',', header=header,
                   comments='')
        with pytest.raises(DataError, match=r'name them in a mapping as `command'):
            identify(robot, 'log.csv', IdentifyOptions(effort_from='command'))


def test_a_mapping_names_commands(tmp_path):
    log = log_motion(1, duration=2.0)
    names = [f'{kind}{joint}' for kind in 'ab' for joint in range(5)]
    path = tmp_path / 'log.csv'
    np.savetxt(path, np.column_stack([log.t, log.q, np.degrees(log.command)]), delimiter=',',
               header=','.join(['t', *names]), comments='')
    (tmp_path / 'log.csv.yaml').write_text(
        'schema_version: 1\ntime: {column: t, unit: s}\nq: {columns: "a{i}", unit: rad}\n'
        'command: {columns: "b{i}", unit: deg}\n'
    )
    channel = commanded(path).channels['position_command']
    np.testing.assert_allclose(channel.values, log.command, rtol=1e-12)
