# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Recordings of real arms, through the command line as a user types it.

The automatic recipe is what a user gets who asks for nothing; plain laws are what the papers have.
The bags are looked for in $ROBOT_IDENTIFICATION_DATA, by default ../shared/data beside this tree.
They are for development, and the thresholds are met without tuning anything to these bags.
"""

from functools import cache
import json
import os
from pathlib import Path

from builders import FINGERS, ros_types, run_command
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.files import read_yaml

pytestmark = pytest.mark.usefixtures('without_pictures')

DEFAULT = Path(__file__).resolve().parents[2] / 'shared' / 'data'


@pytest.fixture(scope='module')
def recording():
    """Return a function that finds a recording, or skips with the reason."""
    folder = Path(os.environ.get('ROBOT_IDENTIFICATION_DATA') or DEFAULT)

    def find(name):
        if not (folder / name).is_dir():
            pytest.skip(f'no recording {name} in {folder}: set ROBOT_IDENTIFICATION_DATA')
        return folder / name

    return find


# What a user must say of each recording, and what is identified from: 60 % of it [s].
PANDA_JOINTS = [f'panda_joint{i}' for i in range(1, 8)]
UR10, PANDA = 'ur10_exciting_trajectory', 'panda_exciting_trajectory'
TRAINED = {UR10: 16.5, PANDA: 0.6 * 24.2}
QUARTER = 0.25
PLAIN = ('--estimator', 'wls')
LAWS = ('--friction', 'coulomb,viscous,offset')
# One cut-off instead of a choice, to save time.
QUICK = ('--cutoff', '9')


@pytest.fixture(scope='module')
def identified(recording, panda_urdf, tmp_path_factory):
    """Return a function that identifies on a share of the first 60 % of a bag, each once."""
    names = ','.join(f'fer_joint{i}=panda_joint{i}' for i in range(1, 8))
    said = {
        UR10: ('--robot', 'ur10'),
        PANDA: ('--urdf', panda_urdf, '--joints', *PANDA_JOINTS, '--joint-names', names),
    }

    @cache
    def identify(name, share, *options):
        bag, folder = recording(name), tmp_path_factory.mktemp('real')
        done = run_command(
            'identify', bag, '--effort-unit', 'Nm', *said[name], *options,
            '--stop', share * TRAINED[name], '-o', folder / 'm',
        )
        assert done.code == 0, done.err
        return folder

    return identify


@pytest.fixture(scope='module')
def validated(recording, identified):
    """Return a function that scores such a model on the last 40 %, each once."""

    @cache
    def validate(name, share, *options, consistent=False):
        folder = identified(name, share, *options)
        output = folder / ('consistent' if consistent else 'v')
        done = run_command(
            'validate', folder / 'm' / 'identified_model.yaml', recording(name),
            '--start', TRAINED[name], *(['--consistent'] if consistent else []), '-o', output,
        )
        assert done.code == 0, done.err
        return json.loads((output / 'validation.json').read_text())

    return validate


def mean_error(content):
    """Return the mean NRMSE of the only bag of a validation."""
    result, = content['bags']
    return result['nrmse_mean']


def count_from(bag, seconds):
    """Return how many joint states are stamped so long after the first, or later."""
    from rosbags.highlevel import AnyReader

    with AnyReader([bag], default_typestore=ros_types()) as reader:
        stamps = [
            (header.stamp.sec * 10**9 + header.stamp.nanosec) * 1e-9
            for connection, _, raw in reader.messages()
            for header in [reader.deserialize(raw, connection.msgtype).header]
        ]
    return sum(stamp - stamps[0] >= seconds for stamp in stamps)


@pytest.mark.parametrize(('options', 'largest'), [((), 0.083), (PLAIN, 0.165)],
                         ids=['automatic', 'plain'])
def test_ur10_of_salerno(recording, identified, validated, options, largest):
    """The first 16.5 s of 27.5 to identify, the rest to validate."""
    # The bag names neither robot nor unit: said by options, and warned of. Others reached .081
    # with the same recipe and .158 with sign friction.
    result, = validated(UR10, 1.0, *options)['bags']
    assert result['nrmse_mean'] <= largest
    assert result['unit'] == 'Nm'
    assert result['samples'] == count_from(recording(UR10), 16.5), \
        'no sample of the window is left out'
    assert all(value is not None for value in result['nrmse'])
    model = read_yaml(identified(UR10, 1.0, *options) / 'm' / 'identified_model.yaml')
    assert model['robot']['name'] == 'ur10'
    assert model['quality']['lost'] == []
    assert model['provenance']['options']['estimator'] == ('wls' if options else 'dictionary')


def test_panda_of_salerno(identified, validated):
    """Seven joints at 30 Hz, under other names, the fingers of the description locked."""
    result, = validated(PANDA, 1.0)['bags']
    # 0.198 without corrections, 0.177 with them; two per cent are left to other processors.
    assert result['nrmse_mean'] <= 0.181
    assert np.nanmean(
        [value for value in result['details']['uncorrected'] if value is not None]
    ) > result['nrmse_mean']
    assert result['joints'] == PANDA_JOINTS
    assert not set(FINGERS) & set(result['joints'])
    model = read_yaml(identified(PANDA, 1.0) / 'm' / 'identified_model.yaml')
    assert model['kinematics']['joint_names']['fer_joint3'] == 'panda_joint3'


# --- little data, and physically consistent bodies -----------------------------------------------


@pytest.mark.parametrize('name', [UR10, PANDA])
@pytest.mark.parametrize('recipe', ['plain', 'automatic'])
def test_what_little_data_cost_is_at_least_halved(validated, tmp_path, name, recipe):
    """By conditions on bodies and a prior, of the way from a quarter of the data to all."""
    # Measured by plain laws: UR10 0.55 -> 0.28, with all 0.14; Panda 1.8 -> 0.31, with all 0.21.
    # By the automatic recipe with the URDF as its prior against none: UR10 0.76 -> 0.31, with all
    # 0.08; Panda 2.0 -> 0.6, with all 0.20.
    no_prior = tmp_path / 'no_prior.yaml'
    no_prior.write_text('schema_version: 1\nprior_weights: [0.0]\n')
    options = {
        'plain': (PLAIN, (*PLAIN, *LAWS, *QUICK), ('--estimator', 'consistent', *LAWS, *QUICK)),
        'automatic': ((), ('--config', no_prior), ()),
    }[recipe]
    full, free, held = (
        mean_error(validated(name, share, *words))
        for share, words in zip((1.0, QUARTER, QUARTER), options, strict=True)
    )
    assert held - full <= 0.5 * (free - full)


@pytest.mark.parametrize('name', [UR10, PANDA])
def test_bodies_of_real_arms_are_exported(identified, validated, tmp_path, name):
    """The default model has bodies, which predict unseen motion to 10 % of its own error."""
    model = identified(name, 1.0) / 'm' / 'identified_model.yaml'
    figures = read_yaml(model)['quality']['consistency']
    assert figures['smallest_pseudo_inertia_eigenvalue'] > 0.0
    assert figures['smallest_mass_matrix_eigenvalue'] > 0.0
    exported = run_command('export', model, '--urdf', tmp_path / 'arm.urdf')
    assert exported.code == 0, exported.err
    for body in list(pin.buildModelFromUrdf(str(tmp_path / 'arm.urdf')).inertias)[1:]:
        assert np.linalg.eigvalsh(body.toPseudoInertia().toMatrix())[0] > 0.0
    free = mean_error(validated(name, 1.0))
    assert mean_error(validated(name, 1.0, consistent=True)) == pytest.approx(free, rel=0.1)
