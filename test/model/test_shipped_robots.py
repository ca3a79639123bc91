# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The data of the shipped arms: published facts, possible bodies, shapes."""

from xml.etree import ElementTree

import numpy as np
from oracles import dh_chain
import pinocchio as pin
import pytest
from robot_identification.model.consistency import smallest_eigenvalues
from robot_identification.model.registry import load_robot, share_directory
from robot_identification.model.robot_model import limits_of_urdf

SHIPPED = ('ur3', 'ur3e', 'ur10e', 'youbot')
# Standard Denavit-Hartenberg lengths [m] of the vendor's support article (UR5, UR10 and UR5e:
# numbers.md A1, A12, A13), d then a.
DH = {
    'ur5': ([0.089159, 0, 0, 0.10915, 0.09465, 0.0823], [0, -0.425, -0.39225, 0, 0, 0]),
    'ur10': ([0.1273, 0, 0, 0.163941, 0.1157, 0.0922], [0, -0.612, -0.5723, 0, 0, 0]),
    'ur5e': ([0.1625, 0, 0, 0.1333, 0.0997, 0.0996], [0, -0.425, -0.3922, 0, 0, 0]),
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
# Rajagopal 2017, table 3.1 [deg]: the youBot's range, the lost minus sign of the last minimum
# restored.
RANGES = np.radians([[-169, 169], [-65, 90], [-151, 146], [-102.5, 102.5], [-167.5, 167.5]])


def urdf_of(name):
    """Return the path of a shipped URDF."""
    return share_directory() / 'urdf' / f'{name}.urdf'


@pytest.mark.parametrize('name', DH)
def test_kinematics_are_the_vendors_table(name, rng):
    """From the controller's base frame to tool0; 1e-12 is rounding of a metre."""
    model = load_robot(name).pinocchio
    data, (d, a) = model.createData(), DH[name]
    chain = dh_chain(a, ALPHA, d, np.zeros(6), 'standard')
    for q in rng.uniform(-3.0, 3.0, (10, 6)):
        pin.framesForwardKinematics(model, data, q)
        base, tool = (data.oMf[model.getFrameId(frame)] for frame in ('base', 'tool0'))
        np.testing.assert_allclose(
            (base.inverse() * tool).homogeneous, chain.frames(q)[-1], atol=1e-12
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
    """The pseudo-inertia of each link of the file is positive definite, the base's included."""
    # The limit is a rod 1 mm thick: thinner than any link, far above rounding of printed digits.
    inertias = inertias_of_file(name)
    assert len(inertias) == len(MASSES[name]) + 1
    for link, inertia in inertias.items():
        about_centre = pin.Inertia(inertia.mass, np.zeros(3), inertia.inertia)
        smallest = smallest_eigenvalues(about_centre.toDynamicParameters())[0]
        assert smallest > inertia.mass * 1e-3**2, link


@pytest.mark.parametrize('name', SHIPPED)
def test_masses_are_the_published_ones(name):
    """The file's numbers reach the model digit by digit; fixed frames add nothing."""
    model = load_robot(name).pinocchio
    np.testing.assert_array_equal([body.mass for body in model.inertias[1:]], MASSES[name])


@pytest.mark.parametrize('name', SHIPPED)
def test_limits_of_yaml_and_urdf_agree(name):
    """The YAML says what the URDF says, so that either alone is safe."""
    robot = load_robot(name)
    found, stated = robot.limits, limits_of_urdf(robot.urdf, robot.joint_names)
    for key in ('lower', 'upper', 'velocity', 'effort'):
        np.testing.assert_array_equal(getattr(found, key), getattr(stated, key), err_msg=key)


def test_drive_gains_of_the_ur3():
    """Raviola et al. 2021, table 1, over a gear of 101; the e-Series' are not published."""
    np.testing.assert_allclose(
        load_robot('ur3').drives.drive_gain,
        101.0 * np.array([0.1249, 0.1249, 0.0934, 0.0453, 0.0453, 0.0453]), rtol=1e-12,
    )
    for name in ('ur3e', 'ur10e'):
        assert np.all(np.isnan(load_robot(name).drives.drive_gain))


def test_youbot_stands_straight_up_at_zero():
    """The candle: joints 2 to 5 above each other, axes 1 and 5 point down."""
    model = load_robot('youbot').pinocchio
    data = model.createData()
    pin.computeJointJacobians(model, data, np.zeros(5))
    # 1e-12 is rounding of quarter turns.
    origins = np.array([pose.translation for pose in list(data.oMi)[1:]])
    np.testing.assert_allclose(origins.T, [
        [0.024, 0.057, 0.057, 0.057, 0.057], np.zeros(5), [0.115, 0.115, 0.27, 0.405, 0.5186],
    ], atol=1e-12)
    down, left = [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]
    axes = [
        pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)[3:, joint - 1]
        for joint in range(1, 6)
    ]
    np.testing.assert_allclose(axes, [down, left, left, left, down], atol=1e-12)


def test_youbot_ranges_are_those_of_the_report():
    """Of table 3.1, to rounding; test_robot_model.py has its readings of the encoders."""
    limits = load_robot('youbot').limits
    np.testing.assert_allclose(
        np.column_stack([limits.lower, limits.upper]), RANGES, atol=1e-12
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
    **{name: (np.zeros(6), [0.0, -np.pi / 2, 0.0, 0.0, 0.0, 0.0]) for name in SHIPPED[:3]},
    # The candle, and the folded arm from which the driver counts.
    'youbot': (np.zeros(5), load_robot('youbot').encoders.to_model(np.zeros(5))),
}
FOLDED = {
    **{name: [0.0, -np.pi / 2, np.pi, 0.0, 0.0, 0.0] for name in SHIPPED[:3]},
    'youbot': [0.0, RANGES[1, 1], RANGES[2, 1], 0.0, 0.0],
}


@pytest.mark.parametrize('name', SHIPPED)
def test_shapes_leave_the_resting_poses_free(name):
    """Links that are no neighbours touch if the elbow is folded, not where the arm rests."""
    pytest.importorskip('coal', reason='coal, the collision library, is not installed')
    for q in POSES[name]:
        assert overlapping_links(load_robot(name), q) == set()
    assert overlapping_links(load_robot(name), FOLDED[name]) != set()
