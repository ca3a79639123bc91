# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Effort beside the robot's own current: scale and correlation of each joint, and mismatches."""

import numpy as np
import pytest
from robot_identification.processing import compare_with_current, current_facts, current_remarks
from robot_identification.recording import Channel, Recording

JOINTS = ('pan', 'lift', 'elbow')
NOISE = 0.1  # [A]


def current(t):
    """Return three currents of different motions [A]."""
    return np.stack([
        np.sin(0.9 * t), 2.0 + np.cos(1.7 * t), 1.5 * np.sin(2.6 * t + 1.0) - 0.5
    ], axis=1)


def made(rng, gain=(1.0, 1.0, 1.0), order=(0, 1, 2), count=6000, late=0.003):
    """Return a recording at 500 Hz with currents at 125 Hz that come late, both with noise."""
    t = 0.002 * np.arange(count)
    slow = t[::4]
    effort = (current(t) * gain)[:, list(order)]
    return Recording(
        'bag', '/joint_states', tuple(JOINTS[joint] for joint in order), t,
        np.zeros((count, 3)), np.zeros((count, 3)),
        effort + NOISE * rng.standard_normal(effort.shape),
        channels={'actual_current': Channel(
            slow + late, current(slow) + NOISE * rng.standard_normal((len(slow), 3))
        )},
    )


def test_the_same_signal_has_scale_and_correlation_one(rng):
    """Noise of a mean of 25 is 0.02 A beside 0.7 A r.m.s., and 3 ms of 2.6 rad/s are 0.8 %."""
    found = compare_with_current(made(rng))
    assert [one.joint for one in found] == list(JOINTS)
    for one in found:
        assert one.scale == pytest.approx(1.0, abs=0.01)
        assert one.correlation > 0.995
    assert current_remarks(found, 'A') == []
    assert f'pan {found[0].scale:.3g} (correlation' in current_facts(found)[0]
    (remark,) = current_remarks(found, 'Nm')
    assert '--effort-unit A' in remark


def test_torque_has_the_drive_gain_as_its_scale(rng):
    """Read as torque that is as it should be; read as current each joint is named."""
    found = compare_with_current(made(rng, gain=(10.0, 12.0, 5.0)))
    np.testing.assert_allclose([one.scale for one in found], (10.0, 12.0, 5.0), rtol=0.01)
    assert current_remarks(found, 'Nm') == []
    (remark,) = current_remarks(found, 'A')
    assert all(joint in remark for joint in JOINTS)


@pytest.mark.parametrize(('gain', 'named'), [
    ((1.0, -1.0, 1.0), 'lift'), ((1.0, 1.0, 0.8), 'elbow'),
])
def test_a_single_joint_that_differs_is_named(rng, gain, named):
    """By a sign or a fifth; the others are not."""
    (remark,) = current_remarks(compare_with_current(made(rng, gain=gain)), 'A')
    assert [joint for joint in JOINTS if f'{joint} ' in remark.split(':')[1]] == [named]
