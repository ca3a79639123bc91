# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Somebody who touches a simulated arm really pushes it, and the drives hold against it."""

from dataclasses import replace

from known_models import true_model
import numpy as np
import pinocchio as pin
import pytest
from recordings import write_small_arm
from robot_identification.model import for_simulation, load_robot
from robot_identification.prediction.sample_torque import RigidTorque
from robot_identification.simulation import Contact, draw_truth, MujocoRobot, NOISE_FREE
from robot_identification.simulation.contact import Contacts
from robot_identification.simulation.effort_arm import ControlledArm
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import PHYSICS_STEP

mujoco = pytest.importorskip('mujoco', reason='MuJoCo, the simulated truth, is not installed')

Q = np.array([0.3, -0.5, 0.8])
POINT = np.array([0.05, -0.02, 0.3])
FORCE = np.array([8.0, -12.0, 20.0])


@pytest.fixture(scope='module')
def robot(tmp_path_factory):
    return load_robot(str(write_small_arm(tmp_path_factory.mktemp('arm'))))


@pytest.fixture(scope='module')
def links(robot):
    """Return the links that can be touched, from the base to the tool."""
    return MujocoRobot(robot, prior_truth(robot), NOISE_FREE, Q).links


@pytest.fixture(scope='module')
def slippery(robot):
    """Return other masses, centres and rotors than the description's, and no friction."""
    drawn = draw_truth(robot, 3)
    return replace(
        drawn, drive_gain=robot.drives.drive_gain, coulomb=np.zeros(3), viscous=np.zeros(3)
    )


def jacobian(robot, q, joint, point=POINT):
    """Return Pinocchio's Jacobian of a point of a link in the root frame, shape (3, n)."""
    data = robot.pinocchio.createData()
    pin.computeJointJacobians(robot.pinocchio, data, q)
    pin.updateFramePlacements(robot.pinocchio, data)
    rotation = data.oMi[joint + 1].rotation
    J = pin.getJointJacobian(
        robot.pinocchio, data, joint + 1, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    )
    return J[:3] + pin.skew(rotation @ point).T @ J[3:]


def place(robot, q, joint, point=POINT):
    """Return where a point of a link is in the root frame, by Pinocchio."""
    data = robot.pinocchio.createData()
    pin.forwardKinematics(robot.pinocchio, data, q)
    return data.oMi[joint + 1].act(point)


def test_an_arm_is_pushed_by_the_transposed_jacobian(robot, links, rng):
    """What a force adds to M dv / h of a step is J^T F, J and M being Pinocchio's."""
    truth = draw_truth(robot, 3)
    model = RigidTorque(true_model(robot, truth))
    for joint, link in enumerate(links):
        q, force = rng.uniform(-1.5, 1.5, 3), rng.normal(size=3) * 50.0
        after = []
        for touched in (False, True):
            arm = ControlledArm(robot, truth, NOISE_FREE, q)
            start = arm.true_sample().q
            if touched:
                arm.touch(Contact(link, POINT, force, 0.0, 1.0))
            arm.push(np.zeros(3), PHYSICS_STEP)
            after.append(arm.true_sample().dq)
        pushed = model.inertia(start) @ (after[1] - after[0]) / PHYSICS_STEP
        # Friction is that of the velocity before, with contact and without. Velocities round at
        # 1e-16, over steps of 5e-4 s and with inertias below 10 kg m^2 that is 1e-11; 1e-7 leaves
        # room for two ways to compute M.
        np.testing.assert_allclose(
            pushed, jacobian(robot, start, joint).T @ force, atol=1e-7, rtol=1e-7
        )


@pytest.mark.parametrize('elastic', [False, True], ids=['rigid', 'elastic'])
def test_position_controlled_drives_hold_against_it(robot, links, slippery, elastic):
    """At rest the effort is gravity less J^T F, while it lasts; before and after it is gravity."""
    truth = replace(slippery, stiffness=np.full(3, 1e5), joint_damping=np.full(3, 200.0)) \
        if elastic else slippery
    gravity = RigidTorque(true_model(robot, truth)).gravity
    arm = MujocoRobot(robot, truth, NOISE_FREE, Q)
    arm.touch(Contact(links[-1], POINT, FORCE, 0.5, 0.5))
    rest = np.zeros(3)
    for until, touched in ((0.45, False), (0.95, True), (1.6, False)):
        arm.advance(Q, rest, rest, until - arm.time)
        sample = arm.true_sample()
        expected = gravity(sample.q) - touched * jacobian(robot, sample.q, 2).T @ FORCE
        # Elastic links still swing by some 1e-3 of it.
        # The servo's error has gone down by exp(-2 pi 12 Hz t) (1 + 2 pi 12 Hz t) after 0.4 s:
        # below 1e-11. Where it stands by then gravity and J are other ones: those at its position
        # are taken.
        np.testing.assert_allclose(
            sample.effort * truth.drive_gain, expected, atol=0.2 if elastic else 1e-3
        )


@pytest.fixture
def standing(robot):
    """Return an arm in MuJoCo that stands at Q, and what touches it."""
    model = mujoco.MjModel.from_xml_string(for_simulation(robot.urdf.text, robot.locked))
    data = mujoco.MjData(model)
    data.qpos[:] = Q
    mujoco.mj_forward(model, data)
    return data, Contacts(mujoco, model), lambda: mujoco.mj_forward(model, data)


def test_a_spring_pushes_back_as_far_as_it_is_pressed(robot, links, standing):
    """Stiffness times the way against its direction since it was touched, up to the force."""
    data, contacts, forward = standing
    stiffness, direction = 2000.0, FORCE / np.linalg.norm(FORCE)
    contacts.add(Contact(links[-1], POINT, FORCE, 0.0, 10.0, stiffness))
    assert not contacts.torque(data).any(), 'just touched'
    first = place(robot, Q, 2)
    sizes = []
    for step in np.linspace(-0.02, 0.02, 9):
        data.qpos[:] = q = Q + step * np.array([1.0, -0.5, 0.7])
        forward()
        way = direction @ (first - place(robot, q, 2))
        sizes.append(min(max(stiffness * way, 0.0), np.linalg.norm(FORCE)))
        expected = jacobian(robot, q, 2).T @ direction * sizes[-1]
        np.testing.assert_allclose(contacts.torque(data), expected, atol=1e-6)
    assert min(sizes) == 0.0
    assert 0.0 < np.median([size for size in sizes if size]) < max(sizes)
