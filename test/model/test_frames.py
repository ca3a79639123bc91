# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Link frames: parameters move as bodies do, tables fit their arms, torques stay what they are."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from oracles import dh_chain, newton_euler_regressor
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.model import (
    inertial_regressor, known_robots, load_robot, random_motion,
)
from robot_identification.model.frames import (
    change_of_frame, check_table, link_frames,
)

SEEDS = st.integers(0, 2**32 - 1)
KNOWN = tuple(known.name for known in known_robots())
# The vendor's table or the paper's; KUKA publishes none.
WITH_TABLE = tuple(name for name in KNOWN if name != 'youbot')


def random_pose(rng):
    """Return a pose up to a metre away, turned anyhow."""
    return pin.SE3(pin.exp3(rng.uniform(-3, 3, 3)), rng.uniform(-1, 1, 3))


def random_body(rng):
    """Return a rigid body: inertia of a box, turned, its centre up to half a metre away."""
    sides = rng.uniform(0.02, 0.5, 3)
    mass, R = rng.uniform(0.1, 10.0), pin.exp3(rng.uniform(-3, 3, 3))
    tensor = mass / 12.0 * np.diag(sides @ sides - sides**2)
    return pin.Inertia(mass, rng.uniform(-0.5, 0.5, 3), R @ tensor @ R.T)


@given(seed=SEEDS)
def test_parameters_change_frame_as_bodies_do(seed):
    """Pinocchio moves the body (parallel axes); 1e-12 of its largest number is rounding."""
    rng = np.random.default_rng(seed)
    body, pose = random_body(rng), random_pose(rng)
    moved = body.se3Action(pose).toDynamicParameters()
    np.testing.assert_allclose(
        change_of_frame(pose) @ body.toDynamicParameters(), moved, rtol=0,
        atol=1e-12 * np.abs(moved).max(),
    )


def chain_of(table):
    """Return the oracle of a table without sliding and locked joints."""
    return dh_chain(table.a, table.alpha, table.d, table.theta, table.convention)


@pytest.mark.parametrize('name', WITH_TABLE)
def test_regressor_in_table_frames_is_that_of_newton_and_euler(name, rng):
    """The papers' columns: from the table alone, by the oracle that knows no URDF."""
    # Torques of unit parameters reach 100; 1e-9 of the largest is far above rounding.
    robot = load_robot(name, gravity=(1.0, -2.0, -9.0))
    table = robot.denavit_hartenberg
    chain, frames = chain_of(table), 'dh' if table.convention == 'standard' else 'mdh'
    T = link_frames(robot, frames).to_joint_frames()
    motion = random_motion(robot, 5, rng)
    W = (inertial_regressor(robot, motion) @ T).reshape(5, robot.n, -1)
    gravity = table.base[:3, :3].T @ robot.gravity
    expected = [
        newton_euler_regressor(chain, *state, gravity)
        for state in zip(motion.q, motion.dq, motion.ddq, strict=True)
    ]
    np.testing.assert_allclose(W, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


# By column: where a millimetre or milliradian too much in each row of the UR5's standard table
# shows. Along parallel axes (d2 to d4) it shows at the first joint that is not parallel; what
# stands in the last row places the last frame only.
SEEN_AT = {
    'a': ('shoulder_lift_joint', 'elbow_joint', 'wrist_1_joint', 'wrist_2_joint',
          'wrist_3_joint', None),
    'd': ('shoulder_lift_joint', 'wrist_2_joint', 'wrist_2_joint', 'wrist_2_joint',
          'wrist_3_joint', None),
}
SEEN_AT |= {'alpha': SEEN_AT['a'], 'theta': SEEN_AT['a']}


@pytest.mark.parametrize('key', SEEN_AT)
@pytest.mark.parametrize('row', range(6))
def test_a_wrong_number_in_a_table_is_found(ur5, key, row):
    column = getattr(ur5.denavit_hartenberg, key).copy()
    column[row] += 1e-3
    wrong = replace(ur5.denavit_hartenberg, **{key: column})
    joint = SEEN_AT[key][row]
    if joint is None:
        check_table(ur5, wrong)
        return
    message = rf'ur5: .* does not describe this URDF: its frame of {joint} moves .* by [0-9.e-]+'
    with pytest.raises(DescriptionError, match=message):
        check_table(ur5, wrong)
    assert link_frames(replace(ur5, denavit_hartenberg=wrong), 'joint').name == 'joint'
    with pytest.raises(DescriptionError, match=message + '.*use --frames joint; else correct the'):
        link_frames(replace(ur5, denavit_hartenberg=wrong), 'mdh')


def test_unknown_frames_are_refused(ur5):
    with pytest.raises(UsageError, match="unknown frames 'urdf': known are joint, dh, mdh"):
        link_frames(ur5, 'urdf')
