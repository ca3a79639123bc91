# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`excite` as a user types it: motions of others, limits that are broken, bags."""

import json
import re

from builders import succeed
import numpy as np
import pytest
from robot_identification.excitation.trajectory import (
    dump_trajectory, load_trajectory, trajectory_csv,
)
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model.registry import share_directory


@pytest.fixture
def motion(scene, tmp_path):
    path = tmp_path / 'motion.yaml'
    path.write_text(dump_trajectory(scene('ur5').trajectories[0]))
    return path


@pytest.fixture
def evaluate(tmp_path):
    """Return the arguments that judge a motion of it without obstacles, whose proofs take long."""
    demo = share_directory() / 'config' / 'experiments' / 'demo.yaml'
    (tmp_path / 'air.yaml').write_text(demo.read_text() + 'collision: off\n')
    return ('excite', '--robot', 'ur5', '--experiment', tmp_path / 'air.yaml', '--evaluate')


def read_json(found):
    """Return the object that a command printed; NaN is no JSON."""
    return json.loads(found.out, parse_constant=pytest.fail)


def test_motions_of_others_are_certified(scene, command, motion, evaluate, tmp_path):
    """Samples and messages become trajectory files of the same motion and the same worth."""
    trajectory = scene('ur5').trajectories[0]
    (tmp_path / 'samples.csv').write_text(trajectory_csv(trajectory, 125.0))
    t = np.linspace(0.0, 10.0, 501)
    samples = trajectory.sample(t)
    message = {
        'header': {'stamp': {'sec': 0, 'nanosec': 0}, 'frame_id': ''},
        'joint_names': list(trajectory.joint_names),
        'points': [
            {
                'positions': samples.q[k].tolist(), 'velocities': samples.dq[k].tolist(),
                'accelerations': samples.ddq[k].tolist(), 'effort': [],
                'time_from_start': {'sec': int(t[k]), 'nanosec': round(1e9 * (t[k] % 1.0))},
            } for k in range(501)
        ],
    }
    (tmp_path / 'echo.yaml').write_text(dump_yaml(message) + '---\n')
    (tmp_path / 'message.json').write_text(json.dumps(message))
    original = read_json(command(*evaluate, motion, '--json'))
    for name in ('samples.csv', 'echo.yaml', 'message.json'):
        output = tmp_path / f'{name}.certified.yaml'
        found = succeed(*evaluate, tmp_path / name, '-o', output, '--json')
        certified = load_trajectory(output)
        assert certified.form.name == 'sampled'
        assert certified.certificate['robot'] == 'ur5'
        # Twelve digits in the CSV, whole nanoseconds in messages.
        for kind, value in original['evaluation']['criteria_dense'].items():
            assert read_json(found)['evaluation']['criteria_dense'][kind] == pytest.approx(
                value, rel=1e-4
            )


def test_a_motion_that_breaks_limits_is_judged_and_refused(command, motion, evaluate, tmp_path):
    """Criteria and picture come out, nothing that could be executed does; exit code 5."""
    content = read_yaml(motion)
    content['coefficients'] = (3.0 * np.array(content['coefficients'])).tolist()
    (tmp_path / 'wild.yaml').write_text(dump_yaml(content))
    run = (*evaluate, tmp_path / 'wild.yaml')
    out, picture = tmp_path / 'out.yaml', tmp_path / 'wild.png'
    found = command(*run, '-o', out, '--csv', tmp_path / 'o.csv', '--picture', picture)
    assert found.code == 5
    assert 'the motion breaks limits' in found.err
    assert 'not certified' in found.err
    assert 'condition_number_scaled' in found.err
    assert found.out == ''
    assert picture.read_bytes().startswith(b'\x89PNG')
    assert not out.exists()
    assert not (tmp_path / 'o.csv').exists()
    content = read_json(command(*run, '--json'))
    assert content['certificate'] is None
    assert 'breaks limits' in content['refused']


def test_a_bag_is_judged_beside_what_was_planned(scene, command, motion):
    """The executed motion is worth what was planned, to a few percent; errors are simulated."""
    bag = scene('ur5').bags[0]
    run = ('excite', '--robot', 'ur5', '--evaluate', bag)
    found = succeed(*run, '--planned', motion)
    assert re.search(r'planned +recorded\n', found.out)
    assert re.search(r'tracking error.*\n +shoulder_pan_joint: rms [\d.e-]+ rad', found.out)
    content = read_json(command(*run, '--planned', motion, '--json'))
    planned, recorded = (
        content[key]['criteria_dense'] for key in ('planned', 'evaluation')
    )
    for name in ('condition_number', 'condition_number_scaled'):
        assert recorded[name] == pytest.approx(planned[name], rel=0.05)
    assert content['tracking']['joints'] == list(scene('ur5').robot.joint_names)
    # The simulator follows to some milliradians.
    assert 0.0 < max(content['tracking']['worst']) < 0.02
    alone = succeed(*run, '--start', 2, '--stop', 8)
    assert 'tracking' not in alone.out
