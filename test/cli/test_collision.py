# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`collision`, from recordings of free motion to the file and its check."""

import json

from builders import run_command, succeed
import pytest
from robot_identification.files import file_sha256, read_yaml
from robot_identification.model.model_file import load_model
from robot_identification.monitoring.collision_file import load_collision_calibration

BAG_NOT_SEEN = 1


@pytest.fixture(scope='module')
def short_is_enough():
    """Let ten seconds be enough, which are quick."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr('robot_identification.monitoring.collision.FEWEST_BLOCKS', 5)
        yield


@pytest.fixture(scope='module')
def calibrated(short_is_enough, scene, model_file, tmp_path_factory):
    """Return what the command says and writes, of a motion the model was not identified on."""
    bag = scene('ur5').bags[BAG_NOT_SEEN]
    out = tmp_path_factory.mktemp('collision') / 'collision.yaml'
    outcome = succeed(
        'collision', model_file, bag, '--check', bag, '--false-alarms-per-hour', 1, '-o', out
    )
    return outcome, out, bag


def test_says_what_is_seen_and_counts_alarms(calibrated, model_file):
    """No factor is below the largest ratio of its own recording, which so has no alarm."""
    outcome, out, bag = calibrated
    found = load_collision_calibration(out, load_model(model_file), file_sha256(model_file))
    assert (found.bags, found.false_alarms_per_hour) == ((str(bag),), 1.0)
    for joint in read_yaml(out)['joints']:
        step = f'{joint["smallest_step"]:.3g}'
        assert f'{joint["name"]}: a step of {step} N m is detected within 50 ms' in outcome.out
    assert f'{bag}: 0 alarms in' in outcome.out
    assert 'not a safety function' in outcome.out


def test_as_json(calibrated, model_file, tmp_path):
    _, _, bag = calibrated
    out = tmp_path / 'again.yaml'
    outcome = run_command('collision', model_file, bag, '-o', out, '--json')
    content = json.loads(outcome.out)
    assert content['checks'] == {}
    written = read_yaml(out)
    assert {key: content[key] for key in written} == written
