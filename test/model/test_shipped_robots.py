# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The data of the shipped arms: published facts, possible bodies, shapes."""


import numpy as np
from oracles import dh_chain
import pinocchio as pin
import pytest
from robot_identification.model.registry import load_robot

SHIPPED = (
    'ur3', 'ur3e', 'ur7e', 'ur10e', 'ur12e', 'ur15', 'ur16e', 'ur18', 'ur20', 'ur30', 'youbot',
)
# Standard Denavit-Hartenberg lengths [m] of the vendor's support article (UR5, UR10 and UR5e:
# numbers.md A1, A12, A13), d then a; those of UR7e, UR12e, UR15, UR16e, UR18 and UR30 as lists of
# other people have them from it.
DH = {
    'ur5': ([0.089159, 0, 0, 0.10915, 0.09465, 0.0823], [0, -0.425, -0.39225, 0, 0, 0]),
    'ur10': ([0.1273, 0, 0, 0.163941, 0.1157, 0.0922], [0, -0.612, -0.5723, 0, 0, 0]),
    'ur5e': ([0.1625, 0, 0, 0.1333, 0.0997, 0.0996], [0, -0.425, -0.3922, 0, 0, 0]),
    'ur3': ([0.1519, 0, 0, 0.11235, 0.08535, 0.0819], [0, -0.24365, -0.21325, 0, 0, 0]),
    'ur3e': ([0.15185, 0, 0, 0.13105, 0.08535, 0.0921], [0, -0.24355, -0.2132, 0, 0, 0]),
    'ur10e': ([0.1807, 0, 0, 0.17415, 0.11985, 0.11655], [0, -0.6127, -0.57155, 0, 0, 0]),
    'ur7e': ([0.1625, 0, 0, 0.1333, 0.0997, 0.0996], [0, -0.425, -0.3922, 0, 0, 0]),
    'ur12e': ([0.1807, 0, 0, 0.17415, 0.11985, 0.11655], [0, -0.6127, -0.57155, 0, 0, 0]),
    'ur15': ([0.2186, 0, 0, 0.1824, 0.1361, 0.1434], [0, -0.6475, -0.5164, 0, 0, 0]),
    'ur16e': ([0.1807, 0, 0, 0.17415, 0.11985, 0.11655], [0, -0.4784, -0.36, 0, 0, 0]),
    'ur18': ([0.2186, 0, 0, 0.1824, 0.1361, 0.1434], [0, -0.475, -0.3389, 0, 0, 0]),
    'ur20': ([0.2363, 0, 0, 0.201, 0.1593, 0.1543], [0, -0.862, -0.7287, 0, 0, 0]),
    'ur30': ([0.2363, 0, 0, 0.201, 0.1593, 0.1543], [0, -0.637, -0.5037, 0, 0, 0]),
}
ALPHA = np.radians([90, 0, 0, 90, -90, 0])
# Masses of the moving links [kg]: the vendor's article, after UR10e its ROS description, and the
# youBot store's specification.
MASSES = {
    'ur3': [2.0, 3.42, 1.26, 0.8, 0.8, 0.35],
    'ur3e': [1.98, 3.4445, 1.437, 0.871, 0.805, 0.261],
    'ur10e': [7.369, 13.051, 3.989, 2.1, 1.98, 0.615],
    'ur7e': [3.761, 8.058, 2.846, 1.37, 1.3, 0.365],
    'ur12e': [7.369, 13.051, 3.989, 2.1, 1.98, 0.615],
    'ur15': [9.9883, 14.9255, 6.1015, 2.089, 2.0869, 1.0666],
    'ur16e': [7.369, 10.45, 4.321, 2.18, 2.033, 0.907],
    'ur18': [9.9883, 14.2009, 5.52, 2.089, 2.0869, 1.0666],
    'ur20': [16.343, 29.632, 7.879, 3.054, 3.126, 0.926],
    'ur30': [16.343, 28.542, 7.156, 3.054, 3.126, 0.926],
    'youbot': [1.39, 1.318, 0.821, 0.769, 0.687],
}
# The vendor's article gives the UR20's tensors about axes of the table [kg m^2], four decimals.
UR20_TENSORS = (
    [0.0887, -0.0001, -0.0001, -0.0001, 0.0763, 0.0072, -0.0001, 0.0072, 0.0842],
    [0.1467, 0.0002, -0.0516, 0.0002, 4.6659, 0.0, -0.0516, 0.0, 4.6348],
    [0.0261, -0.0001, -0.0290, -0.0001, 0.7576, 0.0, -0.0290, 0.0, 0.7533],
    [0.0056, 0.0, 0.0, 0.0, 0.0054, 0.0004, 0.0, 0.0004, 0.0040],
    [0.0059, 0.0, 0.0, 0.0, 0.0058, -0.0004, 0.0, -0.0004, 0.0043],
    [0.0009, 0.0, 0.0, 0.0, 0.0009, 0.0, 0.0, 0.0, 0.0012],
)
UR20_CENTRES = (
    [0, -0.0610, 0.0062], [0.5226, 0, 0.2098], [0.3234, 0, 0.0604], [0, -0.0026, 0.0393],
    [0, 0.0024, 0.0379],
)


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


@pytest.mark.parametrize('name', SHIPPED)
def test_masses_are_the_published_ones(name):
    """The file's numbers reach the model digit by digit; fixed frames add nothing."""
    model = load_robot(name).pinocchio
    np.testing.assert_array_equal([body.mass for body in model.inertias[1:]], MASSES[name])


def test_the_bodies_of_the_ur20_are_the_articles():
    """In the table's frames, where the article has them, not in those of the URDF."""
    robot = load_robot('ur20')
    model = robot.pinocchio
    data, (d, a) = model.createData(), DH['ur20']
    pin.forwardKinematics(model, data, np.zeros(6))
    pin.updateFramePlacements(model, data)
    base = data.oMf[model.getFrameId('base')]
    frames = dh_chain(a, ALPHA, d, np.zeros(6), 'standard').frames(np.zeros(6))
    for link, tensor in enumerate(UR20_TENSORS):
        table = pin.SE3(np.asarray(frames[link]))
        pose = table.inverse() * base.inverse() * data.oMi[link + 1]
        body = pose.act(model.inertias[link + 1])
        # Half of the article's last digit; its wrist 3 has another mass and centre.
        np.testing.assert_allclose(body.inertia.ravel(), tensor, atol=5.1e-5)
        if link < len(UR20_CENTRES):
            np.testing.assert_allclose(body.lever, UR20_CENTRES[link], atol=5.1e-5)


@pytest.mark.parametrize(('name', 'constants'), [
    ('ur3', [0.1249, 0.1249, 0.0934, 0.0453, 0.0453, 0.0453]),
    ('ur5', [0.1350, 0.1361, 0.1355, 0.0957, 0.0865, 0.0893]),
    *((name, [np.nan] * 6) for name in SHIPPED[1:-1]),
])
def test_drive_gains_are_gear_times_torque_constant(name, constants):
    """Raviola et al. 2021, table 1, over a gear of 101; the e-Series' are not published."""
    drives = load_robot(name).drives
    np.testing.assert_allclose(drives.drive_gain, 101.0 * np.array(constants), rtol=1e-12)
    if name == 'ur5':
        np.testing.assert_allclose(drives.reflected_inertia, [np.nan] * 3 + [0.211] * 3, atol=5e-4)
