# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`export`, as a user types it: what it prints, what it leaves behind, what it refuses."""

from dataclasses import replace

from builders import contents, refusal, succeed
from export.exported_models import changed_prior, model_of
import numpy as np
import pytest
from robot_identification.model.model_file import dump_model
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import read_urdf

FORMATS = {'urdf': 'a.urdf', 'mjcf': 'a.xml', 'sdf': 'a.sdf', 'yaml': 'a.yaml'}
OTHERS = ('my.urdf', 'model.yaml', 'out')
INCONSISTENT = {
    'theta_consistent': None,
    'consistency_note': 'no consistent parameters: the link after elbow_joint',
}


@pytest.fixture(scope='module')
def model(ur5):
    # What a model file needs, and a model by hand does not have.
    return replace(
        model_of(ur5, changed_prior(ur5), 'viscous'), provenance={'bags': []},
        quality={'verdict': 'good'},
    )


@pytest.fixture
def place(model, tmp_path):
    (tmp_path / 'model.yaml').write_text(dump_model(model))
    return tmp_path


def export(place, *arguments):
    """Return a command for the model in a folder, where files of FORMATS and OTHERS lie, too."""
    return 'export', place / 'model.yaml', *(
        place / argument if str(argument) in (*FORMATS.values(), *OTHERS) else argument
        for argument in arguments
    )


def everything():
    return [word for name, file in FORMATS.items() for word in (f'--{name}', file)]


def test_all_formats_at_once(place, model):
    found = succeed(*export(place, *everything()))
    assert found.err == ''
    lines = found.out.splitlines()
    assert lines[0].split() == ['link', 'kg', 'before', 'kg', 'after', 'centre', 'moved', 'mm']
    assert lines[1].split() == ['shoulder_link', '3.700', '4.440', '0.0']
    total = model.theta_consistent[:60:10].sum()
    assert lines[7].split() == ['all', 'that', 'moves', '17.05', f'{total:.2f}']
    assert lines[8:] == [f'written to {place / file}' for file in FORMATS.values()]
    assert sorted(path.name for path in place.iterdir()) \
        == sorted([*FORMATS.values(), 'model.yaml'])
    again = make_robot_model(read_urdf(place / 'a.urdf'))
    np.testing.assert_allclose(
        prior_inertial_parameters(again), model.theta_consistent[:60], atol=1e-12
    )


def test_a_file_may_be_changed_in_place(place, ur5):
    (place / 'my.urdf').write_text(ur5.urdf.text)
    refused = refusal(*export(place, '--urdf', 'my.urdf', '--into', 'my.urdf'))
    assert 'exists already: add --force' in refused
    assert (place / 'my.urdf').read_text() == ur5.urdf.text
    succeed(*export(place, '--urdf', 'my.urdf', '--into', 'my.urdf', '--force'))
    first = (place / 'my.urdf').read_bytes()
    succeed(*export(place, '--urdf', 'my.urdf', '--into', 'my.urdf', '--force'))
    assert (place / 'my.urdf').read_bytes() == first


@pytest.mark.parametrize('taken', FORMATS.values())
def test_none_is_written_where_one_exists(place, taken):
    (place / taken).write_text('precious')
    before = contents(place)
    assert f'{taken} exists already' in refusal(*export(place, *everything()))
    assert contents(place) == before
    succeed(*export(place, *everything(), '--force'))
    assert (place / taken).read_text() != 'precious'


@pytest.mark.parametrize(('option', 'changes', 'code', 'reason'), [
    *((f'--{name}', INCONSISTENT, 4, INCONSISTENT['consistency_note']) for name in FORMATS),
    *((option, {'relative_scale': True}, 2, 'its torques are of an unknown scale') for option in (
        '--urdf', '--mjcf', '--sdf', '--yaml', '--ros2-control', '--sim',
    )),
])
def test_a_model_that_cannot_be_exported_is_refused_by_name(
        place, model, option, changes, code, reason):
    """Not even by force: --force is about files."""
    (place / 'model.yaml').write_text(dump_model(replace(model, **changes)))
    before = contents(place)
    found = refusal(*export(place, option, 'out', '--force'), code=code)
    assert f'the model of ur5 is not exported: {reason}' in found
    assert contents(place) == before
