# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Recordings of real arms, through the command line as a user types it.

The automatic recipe is what a user gets who asks for nothing; plain laws are what the papers have.
The bags are looked for in $ROBOT_IDENTIFICATION_DATA, by default ../shared/data beside this tree.
They are for development, and the thresholds are met without tuning anything to these bags.
"""

import html
import json
import os
from pathlib import Path
import re

from builders import FINGERS
from builders import run_command
import pytest
from robot_identification.files import read_yaml

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


def identify_and_validate(bag, folder, at, *options):
    """Identify on what is before `at` seconds, validate on the rest; return what validate says."""
    identified = run_command('identify', bag, *options, '--stop', at, '-o', folder / 'm')
    assert identified.code == 0, identified.err
    model = folder / 'm' / 'identified_model.yaml'
    validated = run_command('validate', model, bag, '--start', at, '-o', folder / 'v')
    assert validated.code == 0, validated.err
    content = json.loads((folder / 'v' / 'validation.json').read_text())
    result, = content['bags']
    return content, result


def count_from(bag, seconds):
    """Return how many joint states are stamped so long after the first, or later."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import get_typestore
    from rosbags.typesys import Stores

    with AnyReader([bag], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        stamps = [
            (header.stamp.sec * 10**9 + header.stamp.nanosec) * 1e-9
            for connection, _, raw in reader.messages()
            for header in [reader.deserialize(raw, connection.msgtype).header]
        ]
    return sum(stamp - stamps[0] >= seconds for stamp in stamps)


PLAIN = ('--estimator', 'wls')


@pytest.mark.parametrize(('options', 'largest'), [((), 0.090), (PLAIN, 0.165)],
                         ids=['automatic', 'plain'])
def test_ur10_of_salerno(recording, tmp_path, options, largest):
    """
    The first 16.5 s of 27.5 to identify, the rest to validate.

    The bag names neither robot nor unit: said by options, and warned of. Others reached .081 with
    the same recipe and .158 with sign friction.
    """
    bag = recording('ur10_exciting_trajectory')
    _, result = identify_and_validate(
        bag, tmp_path, 16.5, '--robot', 'ur10', '--effort-unit', 'Nm', *options
    )
    assert result['nrmse_mean'] <= largest
    assert result['unit'] == 'Nm'
    assert result['samples'] == count_from(bag, 16.5), 'no sample of the window is left out'
    assert all(value is not None for value in result['nrmse'])
    model = read_yaml(tmp_path / 'm' / 'identified_model.yaml')
    assert model['robot']['name'] == 'ur10'
    assert model['quality']['lost'] == []
    assert model['provenance']['options']['estimator'] == ('wls' if options else 'dictionary')


def panda_options(urdf):
    """Return what a user must say of the Panda's recording: its arm, unit, joints and names."""
    names = ','.join(f'fer_joint{i}=panda_joint{i}' for i in range(1, 8))
    return (
        '--urdf', urdf, '--effort-unit', 'Nm', '--joints',
        *(f'panda_joint{i}' for i in range(1, 8)), '--joint-names', names,
    )


@pytest.fixture(scope='module')
def panda(recording, panda_urdf, tmp_path_factory):
    """Return the folder, verdict and errors of the Panda's run, its first 60 % to identify."""
    bag = recording('panda_exciting_trajectory')
    folder = tmp_path_factory.mktemp('panda')
    content, result = identify_and_validate(bag, folder, 0.6 * 24.2, *panda_options(panda_urdf))
    return folder, content, result


def test_panda_of_salerno(panda):
    """Seven joints at 30 Hz, under other names, the fingers of the description locked."""
    folder, _, result = panda
    assert result['nrmse_mean'] <= 0.22
    assert result['joints'] == [f'panda_joint{i}' for i in range(1, 8)]
    assert not set(FINGERS) & set(result['joints'])
    model = read_yaml(folder / 'm' / 'identified_model.yaml')
    assert model['kinematics']['joint_names']['fer_joint3'] == 'panda_joint3'


def test_panda_of_salerno_with_plain_laws(recording, panda_urdf, tmp_path):
    """43 inertial parameters; for each joint viscous, Coulomb and offset; rotors but the first."""
    bag = recording('panda_exciting_trajectory')
    _, result = identify_and_validate(
        bag, tmp_path, 0.6 * 24.2, *panda_options(panda_urdf), *PLAIN
    )
    assert result['nrmse_mean'] <= 0.25
    model = read_yaml(tmp_path / 'm' / 'identified_model.yaml')
    assert len(model['covariance']['names']) > 43 + 21


def test_the_report_explains_the_pandas_worst_joint(panda):
    """By name, in the report of the validation and of the identification, in words."""
    folder, content, result = panda
    errors = dict(zip(result['joints'], result['nrmse'], strict=True))
    worst = max(errors, key=errors.get)
    assert errors[worst] > 0.35
    assert any(reason.startswith(f'{worst} is ') for reason in content['reasons'])
    for name in ('v', 'm'):
        report = html.unescape((folder / name / 'report.html').read_text())
        words = re.sub(r'<[^>]+>', ' ', report.split('The worst joint')[1][:3000])
        assert worst in words
    assert worst in (folder / 'm' / 'results.txt').read_text()
