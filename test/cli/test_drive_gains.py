# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""`drive-gains` on the simulator with static friction: within 1 %."""

import json

from builders import answer, write_run
from long_tests import long_test
import numpy as np
import pytest
from studies.payload_cases import BODY, POSES, record_pair, true_arm
from test_formats_docs import documented, paths

# Joints whose moment of gravity the poses make large.
SEEN = slice(1, 4)


@pytest.fixture(scope='module')
def poses(robots, tmp_path_factory):
    """Return the truth, a bag of static poses with targets, and one without."""
    pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')
    from robot_identification.recording.simulated_run import write_simulated_bag
    from robot_identification.simulation.ground_truth import draw_truth, with_static_friction
    from robot_identification.simulation.mujoco_robot import Sensors
    from robot_identification.simulation.run import PoseOptions, simulate_poses
    folder = tmp_path_factory.mktemp('gains')
    robot = robots['ur5']
    truth = with_static_friction(draw_truth(robot, 3))
    run = simulate_poses(robot, truth, Sensors(), POSES, PoseOptions(dwell=2.2))
    write_simulated_bag(folder / 'poses', robot, run)
    write_run(folder / 'plain', robot, run)
    return truth, folder / 'poses', folder / 'plain'


@pytest.mark.parametrize('current', [
    (), pytest.param(('--current', 'measured'), marks=long_test),
])
def test_gains_of_the_twin_with_static_friction(poses, tmp_path, current):
    """The acceptance: within 1 % from poses, by targets and by measured currents alike."""
    truth, bag, _ = poses
    content = answer(
        'drive-gains', bag, '--robot', 'ur5', '-o', tmp_path / 'out', *current
    )
    gains = np.array(content['drive_gains'], dtype=float)
    assert np.abs(gains[SEEN] / truth.drive_gain[SEEN] - 1.0).max() < 0.01
    assert 'shoulder_pan_joint' in content['unseen']
    assert content['known_before'] == content['unseen']
    option = content['option'].split()
    assert option[0] == '--drive-gains' and len(option) == 7
    assert json.loads((tmp_path / 'out' / 'drive_gains.json').read_text()) == content
    keys = {name for name in documented('drive_gains') if not name.startswith('payload.')}
    assert paths(content) == keys
    if current:
        # What static friction holds is more than the error that is left.
        held = [joint['holding_torque'] for joint in content['joints'][SEEN]]
        assert min(held) > 1.0
    assert '<svg' in (tmp_path / 'out' / 'report.html').read_text(encoding='utf-8')
    text = (tmp_path / 'out' / 'results.txt').read_text()
    assert 'For other commands:' in text and 'shoulder_pan_joint: nothing pulls' in text


def test_known_payload_in_motion(robots, tmp_path):
    """One bag without and one with the body: every gain within 1 %."""
    robot = robots['ur5']
    truth = true_arm(robot)
    record_pair(robot, truth, (tmp_path / 'bare', tmp_path / 'loaded'), 3750, seed=7)
    x, y, z = BODY.center_of_mass
    i = BODY.inertia
    content = answer(
        'drive-gains', tmp_path / 'bare', '--robot', 'ur5', '-o', tmp_path / 'out',
        '--loaded', tmp_path / 'loaded', '--payload', BODY.mass, x, y, z, '--payload-inertia',
        i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2],
    )
    assert content['method'] == 'payload_motion'
    gains = np.array(content['drive_gains'], dtype=float)
    assert np.abs(gains / truth.drive_gain - 1.0).max() < 0.01
    assert content['payload']['mass'] == BODY.mass
    # What only rests can tell is not said of a motion.
    assert 'both sides' not in (tmp_path / 'out' / 'results.txt').read_text()
    of_poses = {name for name in documented('drive_gains') if name.startswith('poses[]')}
    assert paths(content) == set(documented('drive_gains')) - of_poses
