# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Denavit-Hartenberg tables: the arm they mean, the table an arm has, and frames of links."""

from dataclasses import replace

from hypothesis import given, strategies as st
import numpy as np
from oracles import dh_chain, newton_euler_regressor
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.model import inertial_regressor, known_robots, load_robot, random_motion
from robot_identification.model.denavit_hartenberg import (
    DenavitHartenberg, derive_table, joint_axes,
)
from robot_identification.model.frames import change_of_frame, check_table, link_frames

# How an axis lies to the one before it.
RELATIONS = ('skew', 'parallel', 'opposite', 'meeting', 'coincident', 'perpendicular')
SEEDS = st.integers(0, 2**32 - 1)


def random_table(rng, convention, n=6, locked=False):
    """Return a table without symmetry, on a turned base, and its oracle."""
    a, d = rng.uniform(-0.8, 0.8, (2, n))
    alpha, theta = rng.uniform(-3.0, 3.0, (2, n))
    prismatic = rng.random(n) < 0.4
    stops = rng.uniform(-1.0, 1.0, n)
    moving = rng.random(n) < 0.6 if locked else np.ones(n, dtype=bool)
    base = pin.SE3(pin.exp3(rng.uniform(-2, 2, 3)), rng.uniform(-1, 1, 3)).homogeneous
    table = DenavitHartenberg(
        convention, a, alpha, d, theta, prismatic, np.where(moving, np.nan, stops), base
    )
    kinds = ''.join('P' if slides else 'R' for slides in prismatic)
    return table, dh_chain(a, alpha, d, theta, convention, kinds)


def frames_of(table, frames, q):
    """Return the link frames of the moving joints in the root frame, shape (n, 4, 4)."""
    model, links = table.build(frames)
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    return np.array([
        (data.oMi[joint] * link).homogeneous for joint, link in enumerate(links, 1)
    ]).reshape(-1, 4, 4)


@pytest.mark.parametrize(('convention', 'frames'), [('standard', 'dh'), ('modified', 'mdh')])
@given(seed=SEEDS)
def test_a_table_is_the_arm_of_the_formulas(convention, frames, seed):
    """Both conventions, sliding and locked joints, against plain products of screws."""
    # Six products of poses of at most 2 m: rounding is 1e-15, 1e-12 leaves a thousandfold.
    rng = np.random.default_rng(seed)
    table, chain = random_table(rng, convention, locked=True)
    q = rng.uniform(-2.0, 2.0, 6)
    stands = np.where(table.moving, q, table.locked)
    expected = (table.base @ chain.frames(stands))[table.moving]
    np.testing.assert_allclose(
        frames_of(table, frames, q[table.moving]), expected, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize('convention', ['standard', 'modified'])
@given(seed=SEEDS)
def test_what_is_no_constant_does_not_shape_the_arm(convention, seed):
    """Other values move the arm as a whole, or change where a slide is zero."""
    # Of two axes seen from one another nothing else is left; 1e-12 is rounding of metres.
    rng = np.random.default_rng(seed)
    table, _ = random_table(rng, convention)
    named = table.constants()
    rows = range(1, 7)
    assert set(named) == {
        *(f'a{row}' for row in rows if convention == 'standard' or row > 1),
        *(f'd{row}' for row in rows if row > 1 and not table.prismatic[row - 1]),
    }
    other = {f'{letter}{row}': 0.3 for letter in 'ad' for row in rows
             if f'{letter}{row}' not in named}
    changed, q = table.with_constants(other), rng.uniform(-2.0, 2.0, 6)
    back = np.where(
        table.prismatic & np.array([f'd{row}' in other for row in rows]),
        table.d - changed.d, 0.0,
    )
    if not table.prismatic[0]:
        back[0] = 0.0
    ours, theirs = frames_of(table, 'mdh', q), frames_of(changed, 'mdh', q + back)
    np.testing.assert_allclose(
        np.linalg.solve(ours[0], ours), np.linalg.solve(theirs[0], theirs), rtol=0, atol=1e-12
    )


def assert_describes(table, model, rng, tolerance):
    """Check that a table's frames are fixed to the model's links, with z on the joint axes."""
    described, links = table.build('mdh')
    ours, theirs = model.createData(), described.createData()
    joints = range(1, model.njoints)
    first = None
    for q in [np.zeros(model.nq), *rng.uniform(-2.0, 2.0, (4, model.nq))]:
        pin.forwardKinematics(model, ours, q)
        pin.forwardKinematics(described, theirs, q)
        placed = np.array([
            ours.oMi[joint].actInv(theirs.oMi[joint] * links[joint - 1]).homogeneous
            for joint in joints
        ])
        first = placed if first is None else first
        np.testing.assert_allclose(placed, first, rtol=0, atol=tolerance)
    points, directions, prismatic = joint_axes(model)
    frames = frames_of(table, 'mdh', np.zeros(model.nq))
    np.testing.assert_array_equal(table.prismatic, prismatic)
    np.testing.assert_allclose(frames[:, :3, 2], directions, rtol=0, atol=tolerance)
    apart = np.cross(frames[:, :3, 3] - points, directions)
    np.testing.assert_allclose(apart[~prismatic], 0.0, rtol=0, atol=tolerance)


@given(
    seed=SEEDS, relations=st.lists(st.sampled_from(RELATIONS), min_size=1, max_size=6),
    stop=st.booleans(),
)
def test_derived_tables_of_random_arms(seed, relations, stop):
    """Arms whose axes are parallel, opposite, skew, meet or coincide, some sliding, one locked."""
    # Feet of common normals are as far as length / sine of the angle: angles down to 0.1 rad (the
    # locked joint leaves any angle) cost two or three digits of 1e-15, 1e-10 leaves room.
    rng = np.random.default_rng(seed)
    model = random_arm(rng, relations)
    if stop and model.nq > 1:
        model = pin.buildReducedModel(
            model, [int(rng.integers(1, model.njoints))], rng.uniform(-1.0, 1.0, model.nq)
        )
    assert_describes(derive_table(model), model, rng, 1e-10)


def random_arm(rng, relations):
    """Return a Pinocchio model; joint frames stand anyhow on their axes."""
    model, before = pin.Model(), pin.SE3.Identity()
    point, z = rng.uniform(-0.5, 0.5, 3), unit(rng.normal(size=3))
    for number, relation in enumerate(['first', *relations]):
        if number:
            point, z = next_axis(rng, point, z, relation)
        R = pin.exp3(rng.uniform(-2.0, 2.0, 3))
        pose = pin.SE3(R, point + rng.uniform(-0.4, 0.4) * z)
        kind = (
            pin.JointModelPrismaticUnaligned if rng.random() < 0.3
            else pin.JointModelRevoluteUnaligned
        )
        joint = model.addJoint(
            number, kind(unit(R.T @ z)), before.actInv(pose), f'joint{number + 1}'
        )
        model.addJointFrame(joint)  # locking joints reads them
        before = pose
    return model


def next_axis(rng, point, z, relation):
    """Return a point and the direction of an axis that lies so to the one given."""
    across = unit(np.cross(z, rng.normal(size=3)))
    away = point + rng.uniform(0.2, 0.6) * across + rng.uniform(-0.4, 0.4) * z
    on_axis = point + rng.uniform(-0.4, 0.4) * z
    turn = pin.exp3(rng.choice([-1.0, 1.0]) * rng.uniform(0.1, 1.4) * across)
    return {
        'skew': (away + 0.3 * np.cross(across, z), turn @ z),
        'parallel': (away, z),
        'opposite': (away, -z),
        'meeting': (on_axis, turn @ z),
        'coincident': (on_axis, z),
        'perpendicular': (away, np.cross(z, across)),
    }[relation]


def unit(vector):
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize(('tilt', 'next_tilt', 'tolerance'), [
    (0.0, 0.0, 1e-12), (1e-9, -1e-9, 4e-9), (5e-6, -5e-6, 2e-5), (1e-4, 1e-4, 1e-9),
])
def test_axes_off_the_parallel_by_a_files_rounding_are_parallel(tilt, next_tilt, tolerance, rng):
    """Angles of six digits are rounded; a calibrated arm's tenth of a milliradian is real."""
    # 1.570796 would put the common normal a hundred kilometres away; the frames may be off by
    # four times the angle. Where a real tilt puts it kilometres away, a last bit of a double is
    # 1e-12 m: 1e-9 leaves room.
    model = pin.Model()
    for number, angle in enumerate([0.0, tilt, next_tilt]):
        step = pin.SE3(pin.utils.rotate('x', angle), np.array([0.4, 0.3, 0.1]))
        model.addJoint(number, pin.JointModelRZ(), step, f'joint{number + 1}')
    table = derive_table(model)
    assert np.abs([table.a, table.d]).max() < 1.0
    assert_describes(table, model, rng, tolerance)


def test_an_arm_that_branches_has_no_table():
    model = pin.Model()
    model.name = 'two hands'
    for number, parent in enumerate([0, 1, 1], 1):
        model.addJoint(parent, pin.JointModelRZ(), pin.SE3.Identity(), f'joint{number}')
    with pytest.raises(DescriptionError, match=r'two hands branches.*--joints'):
        derive_table(model)


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'convention': 'khalil'}, "convention is 'khalil', it must be standard or modified"),
        ({'d': np.zeros(5)}, 'one number for every joint, they have 6, 6, 5, 6'),
    ],
)
def test_wrong_tables_are_refused(changes, message):
    columns = {key: np.zeros(6) for key in ('a', 'alpha', 'd', 'theta', 'locked')}
    given_ = {
        'convention': 'standard', **columns, 'prismatic': np.zeros(6, dtype=bool),
        'base': np.eye(4), **changes,
    }
    with pytest.raises(DescriptionError, match=message):
        DenavitHartenberg(**given_)


# --- frames ------------------------------------------------------------------------------


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
