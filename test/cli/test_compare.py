# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`compare`: what differs between models, and joints of one size across robots."""

import json

from builders import run_command
from identified_arms import WarmArm
import pytest
from robot_identification.model.model_file import dump_model


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """Return model files of a cold and a warm arm, and of the cold one once more."""
    folder = tmp_path_factory.mktemp('models')
    arm = WarmArm(folder)
    paths = []
    for name, warmth, seed in (('cold', 22.0, 1), ('warm', 38.0, 2), ('again', 22.0, 3)):
        paths.append(folder / f'{name}.yaml')
        paths[-1].write_text(dump_model(arm.run(warmth, seed)))
    return paths


def test_cold_warm_and_cold_again(files):
    """Each against the first: friction moved in one, nothing in the other."""
    outcome = run_command('compare', *files, '--json')
    assert (outcome.code, outcome.err) == (0, '')
    warm, again = json.loads(outcome.out)['pairs']
    assert warm['differ']
    assert [group['group'] for group in warm['groups'] if group['moved']] == ['viscous']
    assert not again['differ']
    assert [pair['second'] for pair in (warm, again)] == [str(path) for path in files[1:]]
    largest = zip(warm['torque']['largest'], again['torque']['largest'], strict=True)
    assert all(one > other for one, other in largest)
