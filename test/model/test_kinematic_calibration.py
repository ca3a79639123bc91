# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Calibrated arms: their own axes, the controller's flange, and links that stay where they are."""

from hypothesis import given, strategies as st
from known_models import base_of
import numpy as np
from oracles import dh_chain
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.model import (
    calibrate, DhCorrections, find_urdf, load_robot, make_robot_model, parse_urdf,
    prior_inertial_parameters, read_calibration,
)

# Of a UR10; its owner's question in the vendor's forum,
# forum.universal-robots.com/t/calibrated-kinamatics-info/18921.
FORUM = {
    'theta': [
        -8.20642406610186392e-05, -0.103609197138685979, 0.673631891251821102,
        -0.57016974724960845, -4.59636351675856217e-05, 9.74999561134540574e-07,
    ],
    'a': [
        -0.000161187342296687116, 0.00304003843792177708, 0.0916468555721788314,
        -9.62964975953143595e-05, -2.97595340762196176e-05, 0.0,
    ],
    'd': [
        0.000505390894843998906, 11.1984514757821039, -92.5270326908668181, 81.3282683520703529,
        -0.000212852818740727479, -0.000126145560998547346,
    ],
    'alpha': [
        -0.00032142399895862539, -0.00565024518540147101, -0.00378922621833689211,
        -0.00106533274011644252, 0.000999586303470856308, 0.0,
    ],
}
LINKS = ('shoulder', 'upper_arm', 'forearm', 'wrist_1', 'wrist_2', 'wrist_3')
POSE = ('x', 'y', 'z', 'roll', 'pitch', 'yaw')
# The UR5's joints, nine digits of an angle as the driver's description has them.
NOMINAL = {
    'shoulder': (0, 0, 0.089159, 0, 0, 0),
    'upper_arm': (0, 0, 0, 1.570796327, 0, 0),
    'forearm': (-0.425, 0, 0, 0, 0, 0),
    'wrist_1': (-0.39225, 0, 0.10915, 0, 0, 0),
    'wrist_2': (0, -0.09465, 0, 1.570796327, 0, 0),
    'wrist_3': (0, 0.0823, 0, 1.570796327, 3.141592654, 3.141592654),
}
# A UR5 as the driver's calibration tool wrote it, calib_5429313553156543546; published in
# github.com/RoboticManipulation/Universal_Robots_ROS2_Description, config/ur5.
EXTRACTED = {
    'shoulder': (0, 0, 0.08916798665332609, 0, 0, -1.665378863317212e-05),
    'upper_arm': (0.0001852799321993536, 0, 0, 1.570955110865064, 0, 8.117663996566049e-06),
    'forearm': (
        -0.4250950946172805, 0, 0, 3.139718190393555, 3.140805015571867, -3.141552201799053,
    ),
    'wrist_1': (
        -0.3921045216492811, 0.000704813988493053, 0.1107038680280685,
        3.135226078706592, 3.140506435851334, 3.141519176929274,
    ),
    'wrist_2': (
        -3.190092641573085e-05, -0.09490616939674472, 5.000887247788259e-05,
        1.570269397216268, 0, -3.737222229830577e-05,
    ),
    'wrist_3': (
        0.0001028963865942871, 0.08276772896953112, 4.09774595118853e-08,
        1.57079682188471, 3.141592653589793, -3.141550718821979,
    ),
}


def conf_text(corrections):
    """Return the file of a controller."""
    lines = [f'delta_{key} = {list(values)}' for key, values in corrections.items()]
    return '\n'.join([
        '[mounting]', *lines, 'joint_checksum = [ 0x6e0f7bf, 0xa32a713f ]',
        'calibration_status = 2 # 0 == notInitialized / 1 == notLinearised / 2 == Linearized',
    ])


@pytest.fixture
def conf(tmp_path):
    path = tmp_path / 'calibration.conf'

    def write(corrections):
        path.write_text(conf_text(corrections))
        return path

    return write


@pytest.fixture
def driver_yaml(tmp_path):
    """Return a function that writes a file of the ROS driver's tool and returns its path."""
    path = tmp_path / 'my_robot_calibration.yaml'

    def write(poses):
        lines = [
            f'  {link}: {{{", ".join(f"{k}: {v!r}" for k, v in zip(POSE, pose, strict=False))}}}'
            for link, pose in poses.items()
        ]
        path.write_text('\n'.join(['kinematics:', *lines, '  hash: calib_5429313553156543546']))
        return path

    return write


def calibrated(robot, path):
    """Return the arm of a calibration file, read back from the URDF that it makes."""
    text = calibrate(robot, robot.urdf.text, read_calibration(path), str(path))
    return load_robot(robot.name, urdf=parse_urdf(text, 'calibrated'))


def joint_poses(robot):
    """Return the joint frames at zero in the root frame, shape (n, 4, 4)."""
    data = robot.pinocchio.createData()
    pin.forwardKinematics(robot.pinocchio, data, np.zeros(robot.n))
    return np.array([pose.homogeneous for pose in list(data.oMi)[1:]])


def shifts(robot, nominal):
    """Return how far joint frames stand from the nominal ones at zero [m], shape (n,)."""
    return np.linalg.norm(joint_poses(robot)[:, :3, 3] - joint_poses(nominal)[:, :3, 3], axis=1)


def tools(robot, qs, frame='tool0'):
    """Return poses of a frame, shape (N, 4, 4)."""
    model = robot.pinocchio
    data, poses = model.createData(), []
    for q in qs:
        pin.framesForwardKinematics(model, data, q)
        poses.append(data.oMf[model.getFrameId(frame)].homogeneous)
    return np.array(poses)


def test_the_flange_is_the_controllers(conf, rng):
    """Lengths of 92 m cancel (UR10): the links stay within 4 mm, and their bodies the same."""
    robot = load_robot('ur10')
    made = calibrated(robot, conf(FORUM))
    qs = rng.uniform(-np.pi, np.pi, (20, 6))
    table = robot.denavit_hartenberg
    chain = dh_chain(
        table.a + FORUM['a'], table.alpha + FORUM['alpha'], table.d + FORUM['d'],
        table.theta + FORUM['theta'], 'standard',
    )
    flange = [table.base @ chain.frames(q)[-1] for q in qs]
    # A double near 100 m has 1e-14 m; 1e-9 leaves room for six joints.
    np.testing.assert_allclose(tools(made, qs), flange, rtol=0, atol=1e-9)
    assert np.abs(tools(made, qs) - tools(robot, qs)).max() > 1e-3, 'it is worth the while'
    assert shifts(made, robot).max() < 4e-3
    np.testing.assert_array_equal(
        prior_inertial_parameters(made), prior_inertial_parameters(robot)
    )


def test_shapes_and_limits_of_the_users_file_stay(conf):
    nominal, path = find_urdf('ur10').read_text(), conf(FORUM)
    text = calibrate(load_robot('ur10'), nominal, read_calibration(path), str(path))
    for part in ('<collision', '<limit', '<inertial', '<link'):
        assert text.count(part) == nominal.count(part) > 0


@given(seed=st.integers(0, 2**32 - 1))
def test_lengths_along_parallel_axes_change_nothing(ur5, seed):
    """What cancels along exactly parallel axes is no geometry: the nominal arm comes back."""
    # A kilometre has 1e-13 m; 1e-12 is that and rounding.
    along = np.random.default_rng(seed).uniform(-1000.0, 1000.0, 2)
    zero = np.zeros(6)
    corrections = DhCorrections(
        zero, zero, np.array([0.0, *along, -along.sum(), 0.0, 0.0]), zero
    )
    text = calibrate(ur5, ur5.urdf.text, corrections, 'calibration.conf')
    made = make_robot_model(parse_urdf(text, 'calibrated'))
    np.testing.assert_allclose(joint_poses(made), joint_poses(ur5), rtol=0, atol=1e-12)


@pytest.mark.parametrize(('name', 'source'), [('ur10', 'forum'), ('ur5', 'extracted')])
def test_calibrated_arms_keep_their_base_parameters(conf, driver_yaml, name, source):
    """Axes a bit off the parallel add nothing a motor could show: 36 and 52, as nominal."""
    # What the deviations let through is named, and little of it is in the coefficients: they
    # follow the lengths and angles, which changed by at most 1 %.
    robot = load_robot(name)
    made = calibrated(robot, conf(FORUM) if source == 'forum' else driver_yaml(EXTRACTED))
    for laws, rotors, rank in (('none', False, 36), ('coulomb,viscous', True, 52)):
        nominal, found = (base_of(each, laws, rotors) for each in (robot, made))
        assert nominal.neglected == ()
        assert found.rank == rank
        assert found.names == nominal.names
        assert not found.exact
        assert set(found.neglected).isdisjoint(found.names)
        np.testing.assert_allclose(
            found.K, nominal.K, rtol=0.02, atol=0.02 * np.abs(nominal.K).max()
        )


def pose_of(numbers):
    """Return the pose of x, y, z, roll, pitch, yaw."""
    xyz, rpy = np.split(np.array(numbers, dtype=float), 2)
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy), xyz)


@pytest.mark.parametrize('poses', [NOMINAL, EXTRACTED], ids=['nominal', 'tool'])
def test_the_drivers_poses_place_the_last_link(driver_yaml, rng, poses):
    """The description made of them has the same flange; 1e-12 is rounding of six products."""
    robot = load_robot('ur5')
    made = calibrated(robot, driver_yaml(poses))
    qs = rng.uniform(-np.pi, np.pi, (10, 6))
    expected = []
    for q in qs:
        pose = robot.denavit_hartenberg.base
        for link, angle in zip(LINKS, q, strict=True):
            turn = pin.SE3(pin.utils.rotate('z', angle), np.zeros(3))
            pose = pose @ (pose_of(poses[link]) * turn).homogeneous
        expected.append(pose)
    np.testing.assert_allclose(tools(made, qs, 'wrist_3_link'), expected, rtol=0, atol=1e-12)
    if poses is NOMINAL:
        # Its file has angles of nine digits.
        np.testing.assert_allclose(joint_poses(made), joint_poses(robot), rtol=0, atol=2e-9)


def test_an_extracted_calibration_is_that_of_its_arm(driver_yaml):
    """Its axes are up to 9 mrad off the nominal ones; of another arm it is refused."""
    robot = load_robot('ur5')
    made = calibrated(robot, driver_yaml(EXTRACTED))
    assert 1e-3 < shifts(made, robot).max() < 4e-3
    tilts = np.cross(joint_poses(made)[:, :3, 2], joint_poses(robot)[:, :3, 2])
    assert 5e-3 < np.linalg.norm(tilts, axis=1).max() < 1e-2
    for other in ('ur3', 'ur5e', 'ur10'):
        with pytest.raises(DescriptionError, match='axis of shoulder_pan_joint'):
            calibrated(load_robot(other), driver_yaml(EXTRACTED))


def test_arms_without_a_table_to_correct_are_refused(conf, driver_yaml):
    path = conf(FORUM)
    corrections = read_calibration(path)
    for robot in (
        load_robot('youbot'), load_robot('ur5_tika'),
        load_robot('ur10', joints=load_robot('ur10').joint_names[:3]),
    ):
        with pytest.raises(DescriptionError, match=f'{path} corrects a standard .*{robot.name}'):
            calibrate(robot, robot.urdf.text, corrections, str(path))
    three = load_robot('ur5_porcelli_bse')
    with pytest.raises(DescriptionError, match=f'{path} has corrections for 6 joints, .* has 3'):
        calibrate(three, three.urdf.text, corrections, str(path))
    youbot = load_robot('youbot')
    path = driver_yaml(NOMINAL)
    with pytest.raises(DescriptionError, match=f'{path} has no pose of arm_link_1; it has shoul'):
        calibrate(youbot, youbot.urdf.text, read_calibration(path), str(path))


@pytest.mark.parametrize('key', ['a', 'alpha'])
def test_corrections_that_no_joint_can_take_are_refused(conf, key):
    """They would be lost in silence: the flange would not be the controller's."""
    robot = load_robot('ur10')
    path = conf({**FORUM, key: [*FORUM[key][:5], 1e-3]})
    with pytest.raises(DescriptionError, match=f'{path} corrects a or alpha of the last row'):
        calibrate(robot, robot.urdf.text, read_calibration(path), str(path))


DAMAGED_CONF = {
    'empty': ('', 'no calibration of a Universal Robot.*mounting'),
    'a column missing': (
        '[mounting]\ndelta_theta = [0]\ndelta_a = [0]\ndelta_alpha = [0]', r"\('delta_d'\)"
    ),
    'text': ('[mounting]\ndelta_theta = [0, none]', "could not convert .* ' ?none'"),
    **{name: (conf_text({**FORUM, 'a': values}), 'the corrections must be fin')
       for name, values in (('five', [0.0] * 5), ('one nan', [0.0] * 5 + [float('nan')]))},
}


DAMAGED_YAML = {
    'half a pose': ('kinematics:\n  forearm: {x: 0.1}', "forearm must have x, y, z.*'y'"),
    'no number': (
        'kinematics:\n  forearm: {x: .nan, y: 0, z: 0, roll: 0, pitch: 0, yaw: 0}',
        'the pose of forearm is not finite',
    ),
}


@pytest.mark.parametrize(('name', 'text', 'message'), [
    *(('calibration.conf', *case) for case in DAMAGED_CONF.values()),
    *(('calibration.yaml', *case) for case in DAMAGED_YAML.values()),
], ids=[*DAMAGED_CONF, *DAMAGED_YAML])
def test_damaged_files_are_refused_by_name(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DescriptionError, match=message) as refusal:
        read_calibration(path)
    assert str(path) in str(refusal.value)
