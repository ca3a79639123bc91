# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Link tables: the arm of a paper's table, in any of its conventions, as a URDF."""

from builders import changed, DELETE
import numpy as np
from oracles import COLUMNS, dh_chain, newton_euler_regressor, ROWS, screw_x, screw_z
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.files import dump_yaml, read_yaml
from robot_identification.model.link_table import fixed_angles, read_link_table
from robot_identification.model.registry import load_robot, share_directory
from robot_identification.model.regressor import Motion, rigid_torque

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
