# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The data of UR3, UR3e, UR10e and youBot arm: published facts, possible bodies, shapes."""

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.consistency import smallest_eigenvalues
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.registry import load_robot, share_directory
from robot_identification.model.robot_model import limits_of_urdf

SHIPPED = ('ur3', 'ur3e', 'ur10e', 'youbot')
# Standard Denavit-Hartenberg lengths [m] of the vendor's support article, d then a.
DH = {
    'ur3': ([0.1519, 0, 0, 0.11235, 0.08535, 0.0819], [0, -0.24365, -0.21325, 0, 0, 0]),
    'ur3e': ([0.15185, 0, 0, 0.13105, 0.08535, 0.0921], [0, -0.24355, -0.2132, 0, 0, 0]),
    'ur10e': ([0.1807, 0, 0, 0.17415, 0.11985, 0.11655], [0, -0.6127, -0.57155, 0, 0, 0]),
}
ALPHA = np.radians([90, 0, 0, 90, -90, 0])
# Masses of the moving links [kg]: the vendor's article, and the youBot store's specification.
MASSES = {
    'ur3': [2.0, 3.42, 1.26, 0.8, 0.8, 0.35],
    'ur3e': [1.98, 3.4445, 1.437, 0.871, 0.805, 0.261],
    'ur10e': [7.369, 13.051, 3.989, 2.1, 1.98, 0.615],
    'youbot': [1.39, 1.318, 0.821, 0.769, 0.687],
}
# Rajagopal 2017, table 3.1 [deg]: what the youBot's driver reads at the first end, straight up and
# at the other end; then the model's range, the lost minus sign of the last minimum restored.
READINGS = np.radians([
    [0, 169, 338], [0, 65, 155], [0, -146, -297], [0, 102.5, 205], [0, 167.5, 335],
])
RANGES = np.radians([[-169, 169], [-65, 90], [-151, 146], [-102.5, 102.5], [-167.5, 167.5]])


@pytest.fixture(scope='module')
def shipped():
    """Return the four robots by name."""
    return {name: load_robot(name) for name in SHIPPED}


def urdf_of(name):
    """Return the path of a shipped URDF."""
    return share_directory() / 'urdf' / f'{name}.urdf'


def dh_chain(d, a, q):
    """Return the pose of the last standard Denavit-Hartenberg frame in the first."""
    pose = pin.SE3.Identity()
    for angle, di, ai, alpha in zip(q, d, a, ALPHA, strict=True):
        screw_z = pin.SE3(pin.utils.rotate('z', angle), np.array([0.0, 0.0, di]))
        screw_x = pin.SE3(pin.utils.rotate('x', alpha), np.array([ai, 0.0, 0.0]))
        pose = pose * screw_z * screw_x
    return pose.homogeneous


@pytest.mark.parametrize('name', DH)
def test_kinematics_are_the_vendors_table(shipped, name, rng):
    """From the controller's base frame to tool0; 1e-12 is rounding of a metre."""
    model = shipped[name].pinocchio
    data = model.createData()
    for q in rng.uniform(-3.0, 3.0, (10, 6)):
        pin.framesForwardKinematics(model, data, q)
        base, tool = (data.oMf[model.getFrameId(frame)] for frame in ('base', 'tool0'))
        np.testing.assert_allclose(
            (base.inverse() * tool).homogeneous, dh_chain(*DH[name], q), atol=1e-12
        )


def inertias_of_file(name):
    """Return the inertia of every link with a mass, in its link frame, as the file states it."""
    inertias = {}
    for link in ElementTree.parse(urdf_of(name)).getroot().iter('link'):
        inertial = link.find('inertial')
        if inertial is None:
            continue
        xyz, rpy = (
            np.array(inertial.find('origin').get(key).split(), dtype=float)
            for key in ('xyz', 'rpy')
        )
        ixx, ixy, ixz, iyy, iyz, izz = (
            float(inertial.find('inertia').get(key))
            for key in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
        )
        turn = pin.rpy.rpyToMatrix(*rpy)
        tensor = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
        mass = float(inertial.find('mass').get('value'))
        inertias[link.get('name')] = pin.Inertia(mass, xyz, turn @ tensor @ turn.T)
    return inertias


@pytest.mark.parametrize('name', SHIPPED)
def test_every_link_is_a_possible_body(name):
    """
    The pseudo-inertia of each link of the file is positive definite, the base's included.

    The limit is a mass that is spread by a millimetre: thinner than any link of these arms, and
    far above the rounding of the printed digits.
    """
    inertias = inertias_of_file(name)
    assert len(inertias) == len(MASSES[name]) + 1
    for link, inertia in inertias.items():
        about_centre = pin.Inertia(inertia.mass, np.zeros(3), inertia.inertia)
        smallest = smallest_eigenvalues(about_centre.toDynamicParameters())[0]
        assert smallest > inertia.mass * 1e-3**2, link


@pytest.mark.parametrize('name', SHIPPED)
def test_masses_are_the_published_ones(shipped, name):
    """The file's numbers reach the model digit by digit; fixed frames add nothing."""
    model = shipped[name].pinocchio
    np.testing.assert_array_equal([body.mass for body in model.inertias[1:]], MASSES[name])


@pytest.mark.parametrize('name', SHIPPED)
def test_every_joint_has_limits(shipped, name):
    """All are finite, and the YAML says what the URDF says, so that either alone is safe."""
    robot = shipped[name]
    limits = robot.limits
    for values in (limits.velocity, limits.acceleration, limits.effort):
        assert np.all(np.isfinite(values) & (values > 0.0))
    assert np.all(np.isfinite(limits.lower) & np.isfinite(limits.upper))
    assert np.all(limits.lower < limits.upper)
    stated = limits_of_urdf(robot.urdf, robot.joint_names)
    for key in ('lower', 'upper', 'velocity', 'effort'):
        np.testing.assert_array_equal(getattr(limits, key), getattr(stated, key), err_msg=key)


def test_drive_gains_of_the_ur3(shipped):
    """Raviola et al. 2021, table 1, over a gear of 101; the e-Series' are not published."""
    np.testing.assert_allclose(
        shipped['ur3'].drives.drive_gain,
        101.0 * np.array([0.1249, 0.1249, 0.0934, 0.0453, 0.0453, 0.0453]), rtol=1e-12,
    )
    for name in ('ur3e', 'ur10e'):
        assert np.all(np.isnan(shipped[name].drives.drive_gain))


def candle(robot):
    """Return the model's poses at its zero position."""
    data = robot.pinocchio.createData()
    pin.forwardKinematics(robot.pinocchio, data, np.zeros(robot.n))
    return list(data.oMi)[1:]


def test_youbot_stands_straight_up_at_zero(shipped):
    """
    The candle: joints 2 to 5 above each other, 33 mm before the axis of joint 1.

    1e-12 is rounding of quarter turns.
    """
    origins = np.array([pose.translation for pose in candle(shipped['youbot'])])
    np.testing.assert_allclose(origins[:, 0], [0.024, 0.057, 0.057, 0.057, 0.057], atol=1e-12)
    np.testing.assert_allclose(origins[:, 1], 0.0, atol=1e-12)
    np.testing.assert_allclose(
        origins[:, 2], [0.115, 0.115, 0.27, 0.405, 0.5186], atol=1e-12
    )


def test_youbot_turns_as_its_driver_counts(shipped):
    """Axes in the world at the candle, as the ROS description has them: 1 and 5 point down."""
    robot = shipped['youbot']
    down, left = [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]
    model = robot.pinocchio
    data = model.createData()
    pin.computeJointJacobians(model, data, np.zeros(5))
    axes = [
        pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)[3:, joint - 1]
        for joint in range(1, 6)
    ]
    np.testing.assert_allclose(axes, [down, left, left, left, down], atol=1e-12)


def test_youbot_ranges_are_those_of_the_report(shipped):
    """Both rows of table 3.1, and the encoders lead from one to the other; 1e-12 is rounding."""
    robot = shipped['youbot']
    assert robot.joint_names == tuple(f'arm_joint_{number}' for number in range(1, 6))
    np.testing.assert_allclose(
        np.column_stack([robot.limits.lower, robot.limits.upper]), RANGES, atol=1e-12
    )
    first, straight, last = (robot.encoders.to_model(column) for column in READINGS.T)
    np.testing.assert_allclose(straight, 0.0, atol=1e-12)
    np.testing.assert_allclose(
        np.sort(np.column_stack([first, last]), axis=1), RANGES, atol=1e-12
    )


def overlapping_links(robot, q):
    """Return the pairs of links that overlap, those with a common joint left out."""
    model = robot.pinocchio
    shapes = pin.buildGeomFromUrdf(model, str(urdf_of(robot.name)), pin.GeometryType.COLLISION)
    joints = [shape.parentJoint for shape in shapes.geometryObjects]
    for first, joint in enumerate(joints):
        for second in range(first):
            if abs(joint - joints[second]) > 1:
                shapes.addCollisionPair(pin.CollisionPair(second, first))
    assert set(joints) == set(range(robot.n + 1)), 'every link has shapes'
    data = shapes.createData()
    pin.computeCollisions(model, model.createData(), shapes, data, np.asarray(q), False)
    return {
        (joints[pair.first], joints[pair.second])
        for pair, result in zip(shapes.collisionPairs, data.collisionResults, strict=True)
        if result.isCollision()
    }


POSES = {
    **{name: (np.zeros(6), [0.0, -np.pi / 2, 0.0, 0.0, 0.0, 0.0]) for name in DH},
    # The candle, and the folded arm from which the driver counts.
    'youbot': (np.zeros(5), READINGS[:, 0] - READINGS[:, 1]),
}
FOLDED = {
    **{name: [0.0, -np.pi / 2, np.pi, 0.0, 0.0, 0.0] for name in DH},
    'youbot': [0.0, RANGES[1, 1], RANGES[2, 1], 0.0, 0.0],
}


@pytest.mark.parametrize('name', SHIPPED)
def test_shapes_leave_the_resting_poses_free(shipped, name):
    """
    No link touches one that is not its neighbour where the arm stands or is parked.

    There the housings do not touch either; shapes that did would forbid every motion from there.
    That the check sees something is shown by the elbow folded onto the arm.
    """
    pytest.importorskip('coal', reason='coal, the collision library, is not installed')
    for q in POSES[name]:
        assert overlapping_links(shipped[name], q) == set()
    assert overlapping_links(shipped[name], FOLDED[name]) != set()


def test_base_parameters_of_the_youbot(shipped):
    """
    29 of 50 on the ground (numbers.md B5), and of link 1 only Izz is seen (B14).

    The class depends on the frames: z of the maker's first frame is the axis of joint 1.
    """
    robot = shipped['youbot']
    reduction = reduce_to_base(robot, make_standard_parameters(robot.n, (), False))
    assert (reduction.rank, reduction.parameters.size) == (29, 50)
    first_link = reduction.parameters.names[:10]
    seen = np.any(reduction.K[:, :10] != 0.0, axis=0)
    assert [name for name, shows in zip(first_link, seen, strict=True) if shows] == ['Izz1']
    assert 'Izz1' in reduction.names
