# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Friction holds a pose by another torque from below than from above; gravity is their mean."""


from known_models import gravity_torque, true_pinocchio
import numpy as np
import pytest
from robot_identification.simulation import (
    draw_truth, NOISE_FREE, with_static_friction,
)
from robot_identification.simulation.run import plan_poses, PoseOptions, simulate_poses

POSES = np.array([
    [0.1, -1.2, 0.9, -0.4, 0.3, 0.2],
    [0.6, -0.3, 0.4, 0.8, -0.5, 0.1],
])
OPTIONS = PoseOptions(dwell=1.0, approach_time=0.8)


@pytest.fixture(scope='module')
def truth(ur5):
    """Return a UR5 whose joints stick."""
    return with_static_friction(draw_truth(ur5, 3))


@pytest.fixture(scope='module')
def run(ur5, truth):
    """Both poses, from below and from above, without noise."""
    return simulate_poses(ur5, truth, NOISE_FREE, POSES, OPTIONS)


def settled(run, pose, side):
    """Return the rows of the second half of a stay."""
    start, end = run.dwells[pose, side]
    return (run.stamps >= 0.5 * (start + end)) & (run.stamps < end)


def held(run, truth, pose, side):
    """Return the mean torque of a stay [N m], shape (n,)."""
    return (run.true[2][settled(run, pose, side)] * truth.drive_gain).mean(axis=0)


@pytest.mark.parametrize('pose', range(len(POSES)))
def test_mean_of_both_directions_is_gravity(ur5, truth, run, pose):
    """Joints hang behind by up to 4 mrad, below and above alike: what is left is 0.01 N m."""
    below, above = (held(run, truth, pose, side) for side in (0, 1))
    expected = gravity_torque(true_pinocchio(ur5, truth), POSES[pose])
    np.testing.assert_allclose(0.5 * (below + above), expected, atol=0.01)
    # Between the kinetic one and break-away, load included.
    friction = 0.5 * (below - above)
    load = truth.load_share * np.abs(expected)
    assert np.all(friction > truth.coulomb)
    assert np.all(friction < 1.01 * (truth.static + load) + 0.1)
    # For half a second of a stay nothing creeps, though the servo goes on pulling.
    for side in (0, 1):
        rows = settled(run, pose, side)
        assert np.ptp(run.true[0][rows], axis=0).max() < 1e-9
        assert np.abs(run.true[1][rows]).max() < 1e-7


def test_targets_are_the_controllers_own_model(ur5, truth, run):
    """In the stays gravity's torque of the true arm, and the current that makes it."""
    for pose, q in enumerate(POSES):
        found = run.target_torque[settled(run, pose, 0)]
        expected = np.tile(gravity_torque(true_pinocchio(ur5, truth), q), (len(found), 1))
        np.testing.assert_allclose(found, expected, atol=1e-9)
    np.testing.assert_allclose(run.target_current * truth.drive_gain, run.target_torque)


def test_poses_are_approached_from_below_and_from_above():
    """All joints in one direction on the way in, and still during the stay."""
    reference, dwells = plan_poses(POSES, OPTIONS, 0.008)
    assert dwells.shape == (2, 2, 2)
    times = 0.008 * np.arange(len(reference.q))
    for pose, q in enumerate(POSES):
        for side, direction in enumerate((1.0, -1.0)):
            start, end = dwells[pose, side]
            assert end - start == pytest.approx(1.0)
            stay = (times > start - 1e-9) & (times < end - 1e-9)
            np.testing.assert_array_equal(reference.q[stay], np.tile(q, (stay.sum(), 1)))
            way = (times > start - 0.8 + 0.01) & (times < start - 0.01)
            assert np.all(direction * reference.dq[way] > 0.0)
    steps = np.diff(reference.q, axis=0)
    assert np.abs(steps).max() < 1.01 * OPTIONS.travel_speed * 0.008, 'and without a jump'
