# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""From the URDF of an arm that nobody has prepared to a validated model, by two commands."""

import json

from builders import answer, joint, link, robot_urdf, run_command, succeed
from long_tests import long_test
import mujoco
import numpy as np
import pytest
from recordings import write_small_arm
from robot_identification import read_recording
from robot_identification.model import load_model
from robot_identification.validation.verdict import ANOTHER_MOTION, NOT_INDEPENDENT, OF_TRAINING

NAMES = ('pan', 'lift', 'reach')


@pytest.fixture(scope='module')
def urdf(tmp_path_factory):
    """Return the URDF of a small arm, and nothing else beside it."""
    arm = write_small_arm(tmp_path_factory.mktemp('arm'))
    arm.unlink()
    return arm.with_name('arm.urdf')


@pytest.fixture(scope='module')
def bags(urdf, tmp_path_factory):
    """Return two recordings of it, of two motions of eight seconds without further segments."""
    folder = tmp_path_factory.mktemp('bags')
    experiment = folder / 'experiment.yaml'
    experiment.write_text(
        'schema_version: 1\ntrajectory: {form: fourier, harmonics: 5, base_period: 8.0}\n'
        'mounting: [0.0, 0.0, 0.0]\nfriction: coulomb,viscous,offset\ncollision: off\n'
    )
    for seed in (1, 2):
        for step in (
            ('excite', '--urdf', urdf, '--experiment', experiment, '--seed', seed,
             '--max-evaluations', 10, '-o', folder / f't{seed}.yaml'),
            ('simulate', '--urdf', urdf, '--trajectory', folder / f't{seed}.yaml', '--repeat', 2,
             '-o', folder / f'bag{seed}'),
        ):
            succeed(*step)
    return folder / 'bag1', folder / 'bag2'


@pytest.fixture(scope='module')
def made(urdf, bags, tmp_path_factory, without_pictures):
    folder = tmp_path_factory.mktemp('auto') / 'result'
    return run_command('auto', *bags, '--urdf', urdf, '-o', folder), folder


def test_the_last_recording_validates_and_everything_is_written(made, bags):
    outcome, folder = made
    assert outcome.code == 0, outcome.err
    assert len(outcome.out.splitlines()) <= 24, 'one screen'
    assert f'validated on {bags[1]}' in outcome.out
    assert 'Next step: ' in outcome.out
    # Another recording is the test: nothing asks for one, on the screen or in a report.
    for text in (outcome.out, *(path.read_text() for path in folder.rglob('report.html'))):
        assert NOT_INDEPENDENT not in text and ANOTHER_MOTION.split('`')[0] not in text
    bag, = json.loads((folder / 'validation' / 'validation.json').read_text())['bags']
    # Of two simulations with noise of 1 % of the torques; the URDF misses friction and rotors.
    assert bag['nrmse_mean'] < 0.1
    model = load_model(folder / 'identified_model.yaml')
    # No gain was asked for: the effort of an arm without any is torque.
    assert model.effort_unit == 'Nm' and not model.relative_scale
    assert mujoco.MjModel.from_xml_path(str(folder / 'export' / 'made_up.xml')).nv == 3
    for name in ('report.html', 'results.txt', 'validation/report.html', 'export/made_up.urdf',
                 'export/made_up.sdf', 'export/made_up.yaml'):
        assert (folder / name).stat().st_size > 100


def test_the_last_quarter_of_one_recording_is_held_out(urdf, bags, tmp_path, without_pictures):
    """It is no training data, and no test on another motion: the same may come again."""
    content = answer(
        'auto', bags[0], '--urdf', urdf, '-o', tmp_path / 'result',
        '--friction', 'coulomb,viscous', '--cutoff', 10,
    )
    options = load_model(tmp_path / 'result' / 'identified_model.yaml').provenance['options']
    # Two periods of eight seconds, without a way back between them.
    assert options['stop'] == pytest.approx(0.75 * 16.0, abs=0.1)
    bag, = content['validation']['bags']
    assert 0.2 < bag['samples'] / (500 * 16) < 0.3
    for found in (content, content['identification'], content['validation']):
        assert NOT_INDEPENDENT in found['reasons']
        assert 'unseen' not in ' '.join(found['reasons'])
    assert content['next_step'] == ANOTHER_MOTION
    for report in ('report.html', 'validation/report.html'):
        page = (tmp_path / 'result' / report).read_text()
        assert ANOTHER_MOTION.split('`')[0] in page and 'use it;' not in page


@pytest.fixture(scope='module')
def recording(bags):
    return read_recording(bags[0], NAMES)


def write_log(path, recording, q, dq, effort):
    """Write a recording as a log of another program."""
    np.savetxt(
        path, np.column_stack([recording.stamps, q, dq, effort]), delimiter=',', comments='',
        header=','.join(['time', *(f'{kind}_{name}' for kind in ('q', 'dq', 'tau')
                                   for name in NAMES)]),
    )
    return path


@pytest.mark.parametrize(('effort', 'reason'), [
    pytest.param(lambda effort: -effort, 'wrong sign', marks=long_test),
    # No gravity explains it: bodies, rotors and friction are all twenty times too large.
    pytest.param(lambda effort: 20.0 * effort, 'measured over expected torque', marks=long_test),
    (lambda effort: effort * [1.0, -1.0, 1.0], 'effort of lift may have the wrong sign'),
])
def test_data_that_are_wrong_throughout_are_not_called_good(
    urdf, recording, tmp_path, without_pictures, effort, reason
):
    """The held-out part of the same data agrees with them; what identify finds counts, too."""
    log = write_log(
        tmp_path / 'log.csv', recording, recording.q, recording.dq, effort(recording.effort)
    )
    # Another scale is refused as another kind of effort otherwise.
    options = (
        '--urdf', urdf, '--friction', 'coulomb,viscous', '--cutoff', 10, '--trust-effort-unit',
    )
    content = answer('auto', log, *options, '-o', tmp_path / 'r')
    found = content['validation']
    own = [one for one in found['reasons'] if not one.startswith(OF_TRAINING)]
    assert found['verdict'] != 'bad' and reason not in ' '.join(own), 'or the test shows nothing'
    assert content['verdict'] != 'good'
    # The suspicion with the largest evidence comes first, and may be another one.
    assert sum(reason in one for one in content['reasons']) == 1


def test_names_of_a_description_are_no_paths(tmp_path, without_pictures):
    """Of an arm and of joints; everything is written below the folders that were named."""
    limit = '<limit lower="-2" upper="2" velocity="3" effort="60"/>'
    urdf = tmp_path / 'in' / 'arm.urdf'
    urdf.parent.mkdir()
    urdf.write_text(robot_urdf(
        link('base'), link('upper', 2.0, (0.1, 0, 0.05)), link('lower', 1.0, (0.1, 0.02, 0)),
        joint('../../../one', 'base', 'upper', limit=limit),
        joint('ns/two', 'upper', 'lower', axis=(0, 1, 0), limit=limit), name='../../../arm',
    ))
    place = tmp_path / 'a' / 'b' / 'c'
    for step in (
        ('excite', '--urdf', urdf, '--max-evaluations', 5, '-o', place / 't.yaml'),
        ('simulate', '--urdf', urdf, '--trajectory', place / 't.yaml', '-o', place / 'bag'),
        ('auto', place / 'bag', '--urdf', urdf, '-o', place / 'r', '--friction',
         'coulomb,viscous', '--cutoff', 10),
        ('init', '--urdf', urdf, '--defaults', '-o', place / 'study'),
    ):
        succeed(*step)
    assert {path.name for path in (tmp_path / 'a').iterdir()} == {'b'}
    assert {path.name for path in (tmp_path / 'a' / 'b').iterdir()} == {'c'}
    assert {path.name for path in place.iterdir()} == {'t.yaml', 'bag', 'r', 'study'}
    assert not any(path.is_dir() for path in (place / 'study').iterdir())
