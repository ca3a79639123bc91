# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Arms as others describe them go through every command, with no file of ours about them."""

import json
import time

from builders import run_command
from long_tests import long_test
from others_descriptions import (
    BY_DAY, BY_NIGHT, described, DOWNLOADED, fetch_descriptions, INSTALLED, INSTALLED_ROBOTS,
)
import pytest
import yaml

mujoco = pytest.importorskip('mujoco', reason='MuJoCo, the simulated robot, is not installed')
pinocchio = pytest.importorskip('pinocchio', reason='Pinocchio is not installed')

pytestmark = [pytest.mark.timeout(900), pytest.mark.usefixtures('without_pictures')]


@pytest.fixture(scope='session')
def installed():
    if not INSTALLED_ROBOTS.is_dir():
        pytest.skip(f'the PyPI package {INSTALLED} is not installed')
    return INSTALLED_ROBOTS


@pytest.fixture(scope='session')
def downloaded(tmp_path_factory):
    """Return a folder with the descriptions of the wheels that are downloaded by hash."""
    folder = tmp_path_factory.mktemp('wheels')
    fetch_descriptions(folder)
    return folder


@pytest.mark.parametrize(('source', 'description', 'evaluations'), [
    pytest.param(source, description, evaluations, id=description.name, marks=marks)
    for source, table, evaluations, marks in (
        ('installed', BY_DAY, 5, ()), ('installed', BY_NIGHT, 15, long_test),
        ('downloaded', DOWNLOADED, 15, long_test),
    )
    for description in described(table)
])
def test_from_the_description_to_the_models_for_other_programs(
    source, description, evaluations, request, tmp_path, record_property
):
    """Command by command."""
    root, folder = request.getfixturevalue(source), tmp_path

    def run(command, *arguments):
        started = time.perf_counter()
        outcome = run_command(command, *arguments)
        record_property(command, round(time.perf_counter() - started, 1))
        assert outcome.code == 0, f'{command} ends with {outcome.code}: {outcome.err}'

    urdf = root / description.path
    arm = ['--urdf', urdf] + (['--joints', *description.joints] if description.joints else [])
    motion, bag, found = folder / 'motion.yaml', folder / 'bag', folder / 'found'
    run('doctor', urdf)
    run('base-parameters', *arm)
    run('excite', *arm, '--max-evaluations', evaluations, '-o', motion)
    run('simulate', *arm, '--trajectory', motion, '--repeat', 2, '-o', bag)
    held_out = 0.75 * duration(bag)
    run('identify', bag, *arm, '--friction', 'coulomb,viscous', '--cutoff', 10,
        '--stop', held_out, '-o', found)
    run('validate', found, bag, '--start', held_out, '-o', folder / 'validation')
    errors, = json.loads((folder / 'validation' / 'validation.json').read_text())['bags']
    assert errors['nrmse_mean'] < errors['urdf_nrmse_mean'], 'the description predicts better'
    exported = {kind: folder / f'exported.{kind}' for kind in ('urdf', 'mjcf', 'sdf')}
    run('export', found, *(word for kind in exported for word in (f'--{kind}', exported[kind])))
    joints = yaml.safe_load(motion.read_text())['joints']
    assert set(joints) <= set(pinocchio.buildModelFromUrdf(str(exported['urdf'])).names)
    model = mujoco.MjModel.from_xml_path(str(exported['mjcf']))
    assert set(joints) <= {model.joint(number).name for number in range(model.njnt)}
    assert exported['sdf'].stat().st_size > 0


def duration(bag):
    metadata = yaml.safe_load((bag / 'metadata.yaml').read_text())
    return metadata['rosbag2_bagfile_information']['duration']['nanoseconds'] * 1e-9
