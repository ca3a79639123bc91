# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Denavit-Hartenberg tables: the arm they mean, the table an arm has, and frames of links."""

from dataclasses import replace

from builders import changed, DELETE
from hypothesis import given, strategies as st
import numpy as np
from oracles import COLUMNS, dh_chain, newton_euler_regressor, ROWS, screw_x, screw_z
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model import inertial_regressor, known_robots, load_robot, random_motion
from robot_identification.model.denavit_hartenberg import (
    DenavitHartenberg, derive_table, joint_axes,
)
from robot_identification.model.frames import change_of_frame, check_table, link_frames
from robot_identification.model.link_table import fixed_angles, read_link_table
from robot_identification.model.registry import share_directory
from robot_identification.model.regressor import Motion, rigid_torque

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


FOLDER = share_directory() / 'config' / 'link_tables'
SHIPPED = tuple(sorted(path.stem for path in FOLDER.glob('*.yaml')))
PORCELLI = FOLDER / 'ur5_porcelli.yaml'
ELBOW = ('links', 'elbow_joint')


@pytest.mark.parametrize('name', SHIPPED)
def test_shipped_urdfs_are_what_their_tables_give(command, tmp_path, name):
    """Byte for byte, by the command that a user would type, and by the function."""
    path = tmp_path / 'written.urdf'
    outcome = command('urdf', '--urdf', FOLDER / f'{name}.yaml', '-o', path)
    assert outcome.code == 0, outcome.err
    shipped = (share_directory() / 'urdf' / f'{name}.urdf').read_bytes()
    assert path.read_bytes() == shipped
    assert read_link_table(FOLDER / f'{name}.yaml').encode() == shipped


@pytest.fixture
def table_file(tmp_path):
    path = tmp_path / 'table.yaml'

    def write(*changes):
        path.write_text(dump_yaml(changed(read_yaml(PORCELLI), *changes)))
        return path

    return write


# A made-up arm with offsets, a slide and no right angle; the link of its first joint would have
# the name of the root. Rows of its standard table, then mass, centre and the sides and turn of a
# box that has its inertia.
NAMES = ('base_joint', 'lift', 'slide_joint', 'roll', 'tip')
KINDS = 'RRPRR'
TABLE = {
    'a': [0.1, -0.4, 0.05, 0.0, 0.03], 'alpha': [1.2, 0.0, -0.7, np.pi / 2, 0.4],
    'd': [0.3, 0.0, 0.2, -0.15, 0.1], 'theta': [0.0, 0.5, -0.3, np.pi, 2.0],
}
MASSES = [5.0, 4.0, 2.5, 1.2, 0.4]
CENTRES = np.array([
    [0.01, -0.1, 0.02], [0.2, 0.03, 0.1], [0.0, 0.0, -0.2], [0.02, 0.05, 0.0], [0.0, 0.01, 0.04],
])
SIDES = np.array([
    [0.2, 0.3, 0.1], [0.5, 0.1, 0.1], [0.1, 0.1, 0.4], [0.1, 0.05, 0.2], [0.05, 0.06, 0.07],
])
TURNS = np.array([
    [0.1, 0.2, 0.3], [0.0, 0.0, 0.0], [0.0, -0.4, 0.2], [1.0, 0.3, 0.0], [0.5, 0.5, 0.5],
])


def tensors():
    """Return the inertias about the centres, in standard link frames, shape (5, 3, 3)."""
    boxes = [m / 12.0 * np.diag(s @ s - s**2) for m, s in zip(MASSES, SIDES, strict=True)]
    turns = [pin.exp3(turn) for turn in TURNS]
    return np.array([R @ box @ R.T for R, box in zip(turns, boxes, strict=True)])


def about_frame(mass, centre, tensor):
    """Return the tensor about the origin, by Steiner's theorem."""
    return tensor + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))


def link_rows(geometry, poses, about):
    """Return the links of a table; `poses` place the standard link frames in the table's."""
    rows = {}
    for number, name in enumerate(NAMES):
        R, p = poses[number][:3, :3], poses[number][:3, 3]
        centre, tensor = R @ CENTRES[number] + p, R @ tensors()[number] @ R.T
        if about == 'frame':
            tensor = about_frame(MASSES[number], centre, tensor)
        rows[name] = {
            **geometry[number], 'mass': MASSES[number], 'center_of_mass': centre.tolist(),
            'inertia': tensor[np.triu_indices(3)].tolist(),
            'type': 'prismatic' if KINDS[number] == 'P' else 'revolute',
        }
    return rows


def standard_rows(about):
    geometry = [{key: TABLE[key][row] for key in TABLE} for row in range(5)]
    return link_rows(geometry, [np.eye(4)] * 5, about)


def normals():
    """Return the poses of the standard link frames in the axis frames."""
    return [screw_x(TABLE['alpha'][row], TABLE['a'][row]) for row in range(5)]


def modified_rows(about):
    """Return the same arm: a and alpha of the row before, data in the frames on the own axes."""
    shifted = {key: [0.0, *TABLE[key][:-1]] for key in ('a', 'alpha')}
    geometry = [
        {**{key: TABLE[key][row] for key in TABLE}, **{key: shifted[key][row] for key in shifted}}
        for row in range(5)
    ]
    return link_rows(geometry, normals(), about)


def fixed_rows(about):
    """Return the same arm as the youBot's data are: each axis frame by a position and angles."""
    geometry, before = [], np.eye(4)
    for row, normal in enumerate(normals()):
        pose = before @ screw_z(TABLE['theta'][row], TABLE['d'][row])
        before = normal
        # R = Rx Ry Rz, read off its first row and last column.
        R = pose[:3, :3]
        zyx = [np.arctan2(-R[0, 1], R[0, 0]), np.arcsin(R[0, 2]), np.arctan2(-R[1, 2], R[2, 2])]
        geometry.append({
            'xyz': pose[:3, 3].tolist(), 'zyx': [float(angle) for angle in zyx],
        })
    return link_rows(geometry, normals(), about)


@pytest.mark.parametrize('about', ['center_of_mass', 'frame'])
@pytest.mark.parametrize(
    ('convention', 'rows'),
    [('standard', standard_rows), ('modified', modified_rows), ('fixed_angles', fixed_rows)],
)
def test_one_arm_in_every_convention_has_one_torque(tmp_path, rng, convention, rows, about):
    """The same arm as six tables, against the oracle that works on its standard frames."""
    # Torques are below 1000 N m; 1e-9 is far above the rounding of angles and of the URDF's
    # digits.
    path = tmp_path / 'arm.yaml'
    path.write_text(dump_yaml({
        'schema_version': 1, 'name': 'made_up', 'convention': convention,
        'inertia_about': about, 'links': rows(about), 'comment': 'as printed',
    }))
    robot = load_robot(urdf=path, gravity=(3.0, -2.0, -9.0))
    assert robot.joint_names == NAMES
    chain = dh_chain(TABLE['a'], TABLE['alpha'], TABLE['d'], TABLE['theta'], 'standard', KINDS)
    theta = np.concatenate([
        [mass, *(mass * centre), *about_frame(mass, centre, tensor)[ROWS, COLUMNS]]
        for mass, centre, tensor in zip(MASSES, CENTRES, tensors(), strict=True)
    ])
    motion = Motion(*rng.uniform(-2.0, 2.0, (3, 10, 5)))
    expected = [
        newton_euler_regressor(chain, *state, robot.gravity) @ theta
        for state in zip(motion.q, motion.dq, motion.ddq, strict=True)
    ]
    np.testing.assert_allclose(rigid_torque(robot, motion), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize('pitch', [np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 1.0])
def test_frames_survive_the_urdfs_angles(table_file, pitch):
    """Roll, pitch and yaw are not unique at a pitch of 90 deg; the frame they mean still is."""
    # Nothing is lost near it either: 1e-15 is rounding of rotations.
    content = read_yaml(PORCELLI)
    row = dict(content['links']['wrist_3_joint'])
    for key in ('a', 'alpha', 'd', 'theta'):
        del row[key]
    row |= {'xyz': [0.1, 0.0, 0.2], 'zyx': [0.4, pitch, -0.7]}
    path = table_file(('convention', 'fixed_angles'), ('links', {'wrist_3_joint': row}))
    placement = load_robot(urdf=path).pinocchio.jointPlacements[1]
    expected = fixed_angles(np.array(row['zyx']), np.array(row['xyz']))
    np.testing.assert_allclose(placement.homogeneous, expected.homogeneous, rtol=0, atol=1e-15)


def test_limits_reach_the_model(table_file):
    """Those that are stated; a joint without a range turns or slides without end."""
    path = table_file(
        (*ELBOW, 'position', DELETE), (*ELBOW, 'velocity', DELETE), (*ELBOW, 'effort', DELETE),
        ('links', 'wrist_1_joint', 'type', 'prismatic'),
        ('links', 'wrist_1_joint', 'position', [-0.1, 0.3]),
        ('links', 'wrist_2_joint', 'type', 'prismatic'),
        ('links', 'wrist_2_joint', 'position', DELETE),
    )
    robot = load_robot(urdf=path)
    kinds = {joint.name: joint.kind for joint in robot.urdf.joints}
    assert kinds['elbow_joint'] == 'continuous'
    assert kinds['shoulder_lift_joint'] == 'revolute'
    assert kinds['wrist_1_joint'] == kinds['wrist_2_joint'] == 'prismatic'
    limits = robot.limits
    np.testing.assert_array_equal(limits.lower[2:5], [-np.inf, -0.1, -np.inf])
    np.testing.assert_array_equal(limits.upper[2:5], [np.inf, 0.3, np.inf])
    np.testing.assert_array_equal(limits.velocity[1:3], [np.pi, np.inf])
    np.testing.assert_array_equal(limits.effort[1:3], [150.0, np.inf])


WRONG = {
    'no name': ((('name', DELETE),), 'missing name'),
    'unknown convention': (
        (('convention', 'khalil'),), "convention is 'khalil', known are standard, modified, fixed",
    ),
    'a link that is a number': (((*ELBOW, 3.0),), 'elbow_joint is 3.0, it must be a mapping'),
    'no length': (((*ELBOW, 'a', DELETE),), 'joint elbow_joint: missing a'),
    'an angle of nan': (((*ELBOW, 'theta', float('nan')),), 'elbow_joint: theta is nan'),
    'angles of another convention': (((*ELBOW, 'zyx', [0, 0, 0]),), 'unknown key zyx'),
    'a negative mass': (((*ELBOW, 'mass', -1.0),), 'elbow_joint: mass is -1.0 kg, it must not'),
    'no triangle': (
        ((*ELBOW, 'inertia', [0.1, 0.0, 0.0, 0.1, 0.0, 0.9]),),
        r'elbow_joint: mass 2.33 kg and inertia about the center_of_mass cannot be .* 0\.9 kg',
    ),
    'half a range': (((*ELBOW, 'position', [1.0]),), 'elbow_joint: position must be a list of 2'),
    'lengths in nothing known': (((*ELBOW, 'a', 1e12),), 'elbow_joint: a is 1.* SI units'),
}


@pytest.mark.parametrize(('changes', 'message'), WRONG.values(), ids=WRONG)
def test_a_wrong_table_is_refused_by_name(table_file, changes, message):
    path = table_file(*changes)
    with pytest.raises(DescriptionError, match=message) as refusal:
        load_robot(urdf=path)
    assert str(path) in str(refusal.value)
