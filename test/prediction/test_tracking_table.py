# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The page on feed-forward has the figures of the study, whose motion an arm can make."""

import numpy as np
import pytest
from robot_identification.model.registry import load_robot
from study_pages import medians, page_table

study = pytest.importorskip('studies.tracking')


@pytest.fixture(scope='module')
def measured():
    return medians('tracking', repeats=5)


def of_joints(measured, name, kind='rms'):
    """Return the errors of a controller's joints, shape (6,)."""
    return np.array([measured[f'{name}: joint {joint}, {kind}'] for joint in range(1, 7)])


def test_the_page_has_the_figures_of_the_study(measured):
    """Digit by digit, every controller and nothing else."""
    header, *rows = page_table('feed_forward', 'controller')
    assert header[1:] == [*(f'joint {joint}' for joint in range(1, 7)), 'slow moves']
    assert [row[0] for row in rows] == list(dict.fromkeys(
        name.partition(': ')[0] for name in measured
    ))
    for name, *cells in rows:
        rms, worst = (of_joints(measured, name, kind) for kind in ('rms', 'worst'))
        expected = [f'{a:.2f} / {b:.1f}' for a, b in zip(rms, worst, strict=True)]
        slow = measured[f'{name}: slow moves, rms of all joints']
        assert cells == [*expected, f'{slow:.2f}'], name


def test_the_motion_is_one_the_arm_can_make():
    """Within the limits of the UR5, from rest to rest, and not the recorded one."""
    motion, robot = study.tracked_motion(), load_robot('ur5')
    limits = robot.limits
    assert np.all((limits.lower <= motion.q) & (motion.q <= limits.upper))
    assert np.all(np.abs(motion.dq) <= limits.velocity)
    assert np.all(np.abs(motion.ddq) <= limits.acceleration)
    for row in (0, -1):
        np.testing.assert_allclose(motion.dq[row], 0.0, atol=1e-12)
    # The last position of a move is that of the rest after it: no step of more than 2 ms takes.
    steps = np.abs(np.diff(motion.q, axis=0))
    assert np.all(steps <= 0.0021 * np.abs(motion.dq).max(axis=0))
    slow = round(study.SLOW * study.CONTROL_RATE)
    assert np.abs(motion.dq[-slow:]).max() < 0.2
