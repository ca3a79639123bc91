# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`excite --after`: the next motion after an identification, on an arm of two joints."""

from dataclasses import replace
import json

from builders import succeed, two_link_urdf
import numpy as np
import pytest
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import parse_friction
from robot_identification.model.identified_model import IdentifiedModel, SignalSource
from robot_identification.model.model_file import dump_model
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.regressor import Motion, observation_matrix
from robot_identification.model.robot_model import Drives, make_robot_model
from robot_identification.model.urdf import parse_urdf

EXPERIMENT = """\
schema_version: 1
trajectory: {form: fourier, harmonics: 3, base_period: 4.0}
collision: 'off'
friction: coulomb,viscous
criterion: condition_number
optimizer: {name: spectral, starts: 4}
samples: 40
"""
FEW = ('--max-evaluations', 100, '--processes', 1)


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """Return the files of an experiment and of a model that knows little of the second joint."""
    robot = replace(
        make_robot_model(parse_urdf(two_link_urdf(), 'arm')), drives=Drives(*np.ones((3, 2))),
        effort_unit='Nm', sampling_rate=100.0,
    )
    parameters = make_standard_parameters(2, parse_friction('coulomb,viscous'), True)
    reduction = reduce_to_base(robot, parameters)
    rng = np.random.default_rng(1)
    motion = Motion(*(rng.uniform(-1.0, 1.0, (60, 2)) * [1.0, 0.2] for _ in range(3)))
    noise = np.array([2.0, 1.0])
    W = observation_matrix(robot, parameters, motion)[:, reduction.independent]
    inverse = np.linalg.inv(np.linalg.qr(W / np.tile(noise, 60)[:, None], mode='r'))
    model = IdentifiedModel(
        robot, 'Nm', reduction, np.full(reduction.rank, 0.1), inverse @ inverse.T, None, '',
        SignalSource(), {}, {'residual_standard_deviation': noise},
    )
    folder = tmp_path_factory.mktemp('after')
    path, experiment = folder / 'identified_model.yaml', folder / 'experiment.yaml'
    path.write_text(dump_model(model))
    experiment.write_text(EXPERIMENT)
    return path, experiment


def test_the_next_motion_is_designed_and_judged(files, tmp_path):
    """The arm is the model's; what is said of the motion is said of it again with --evaluate."""
    model, experiment = files
    found = tmp_path / 'next.yaml'
    same = ('--experiment', experiment, '--after', model)
    designed = succeed('excite', *same, *FEW, '-o', found)
    assert 'standard errors before this motion and after its 4 s' in designed.out
    assert 'condition_number is about one motion alone' in designed.err
    judged = succeed('excite', *same, '--evaluate', found, '--json')
    after = json.loads(judged.out)['after']
    for entry in after['parameters']:
        assert entry['standard_error_after'] < entry['standard_error_before']
        assert entry['weak'] == (entry['standard_error_after'] > entry['allowed'])
        # Mended by one run or less is not weak.
        assert entry['weak'] == (entry['minutes'] > 4.0 / 60.0)
    weakest = after['parameters'][0]['name']
    assert f'\n  {weakest} ' in designed.out
