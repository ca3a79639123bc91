# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Every exported file, read again by a program that knows nothing of this package.

Torques of bodies are asked to 1e-9 of the largest: all of them are sums of some hundred products
of doubles, and the requirement is 1e-6.
"""

import ctypes.util
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from export.exported_models import random_motion, rigid_torque
from known_models import mujoco_torque, pinocchio_torque
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.export.arm import build_pinocchio_model
from robot_identification.export.mjcf import export_mjcf
from robot_identification.export.sdf import export_sdf
from robot_identification.export.urdf import export_urdf

NAMES = ('ur5', 'youbot', 'everything')
PRECISION = 1e-9


def assert_same(found, expected):
    assert np.abs(expected).max() > 1.0, 'torques of nothing are alike'
    np.testing.assert_allclose(found, expected, rtol=0, atol=PRECISION * np.abs(expected).max())


@pytest.mark.parametrize('name', NAMES)
def test_pinocchio_reads_the_urdf(models, name, rng):
    """All joints of the file are there; those that the model locks stand still."""
    model = models[name]
    motion = random_motion(model, rng)
    arm = pin.buildModelFromXML(export_urdf(model))
    neutral = pin.neutral(arm)
    # A continuous joint has two coordinates, cosine and sine.
    moving = [arm.joints[arm.getJointId(joint)] for joint in model.robot.joint_names]
    arm.gravity.linear = model.robot.gravity
    data, found = arm.createData(), []
    for joint, position in model.robot.locked.items():
        neutral[arm.joints[arm.getJointId(joint)].idx_q] = position
    for q, dq, ddq in zip(motion.q, motion.dq, motion.ddq, strict=True):
        place, speed, rate = neutral.copy(), np.zeros(arm.nv), np.zeros(arm.nv)
        for k, joint in enumerate(moving):
            value = [q[k]] if joint.nq == 1 else [np.cos(q[k]), np.sin(q[k])]
            place[joint.idx_q: joint.idx_q + joint.nq] = value
            speed[joint.idx_v], rate[joint.idx_v] = dq[k], ddq[k]
        tau = pin.rnea(arm, data, place, speed, rate)
        found.append([tau[joint.idx_v] for joint in moving])
    assert_same(np.array(found), rigid_torque(model, motion))


@pytest.mark.parametrize('name', NAMES)
def test_mujoco_reads_the_urdf(mujoco, models, name, rng):
    """It knows of no rotors, and of no gravity but its own."""
    model = models[name]
    motion = random_motion(model, rng)
    arm = mujoco.MjModel.from_xml_string(export_urdf(model))
    arm.opt.gravity[:] = model.robot.gravity
    there = [arm.joint(k).name for k in range(arm.njnt)]
    locked = {name: at for name, at in model.robot.locked.items() if name in there}
    found = mujoco_torque(mujoco, arm, motion, model.robot.joint_names, locked)
    assert_same(found, rigid_torque(model, motion))


@pytest.mark.parametrize('name', NAMES)
def test_mujoco_reads_the_mjcf(mujoco, models, name, rng):
    """Rotors and gravity are in the file, and nothing has to be set."""
    model = models[name]
    motion = random_motion(model, rng)
    arm = mujoco.MjModel.from_xml_string(export_mjcf(model))
    assert [arm.joint(k).name for k in range(arm.njnt)] == list(model.robot.joint_names)
    found = mujoco_torque(mujoco, arm, motion, model.robot.joint_names)
    assert_same(found, rigid_torque(model, motion, with_rotors=True))


@pytest.mark.parametrize('name', NAMES)
def test_pinocchio_model_has_bodies_and_rotors(models, name, rng):
    model = models[name]
    motion = random_motion(model, rng)
    arm = build_pinocchio_model(model)
    assert list(arm.names)[1:] == list(model.robot.joint_names)
    assert_same(pinocchio_torque(arm, motion), rigid_torque(model, motion, with_rotors=True))


def numbers(text):
    return np.array([float(word) for word in text.split()])


def sdf_pose(element):
    if element is None:
        return pin.SE3.Identity()
    values = numbers(element.text)
    if element.get('rotation_format') == 'quat_xyzw':
        return pin.SE3(pin.Quaternion(values[3:]).toRotationMatrix(), values[:3])
    return pin.SE3(pin.rpy.rpyToMatrix(*values[3:]), values[:3])


def read_sdf(text):
    """Return a Pinocchio model of an SDF, written from its specification alone."""
    # Poses of joints are relative to the parent link here, and links stand on their joints.
    root = ElementTree.fromstring(text).find('model')
    arm, frames = pin.Model(), {}
    links = {element.get('name'): element for element in root.findall('link')}
    for element in root.findall('joint'):
        parent, child = element.findtext('parent'), element.findtext('child')
        if element.get('type') == 'fixed':
            assert parent == 'world'
            frames[child] = (0, sdf_pose(root.find('pose')))
            continue
        assert element.find('pose').get('relative_to') == parent
        pose = links[child].find('pose')
        assert pose.get('relative_to') == element.get('name')
        assert not numbers(pose.text).any()
        axis = numbers(element.findtext('axis/xyz'))
        kind = (
            pin.JointModelPrismaticUnaligned(axis) if element.get('type') == 'prismatic'
            else pin.JointModelRevoluteUnaligned(axis)
        )
        number, place = frames[parent]
        index = arm.addJoint(
            number, kind, place * sdf_pose(element.find('pose')), element.get('name')
        )
        frames[child] = (index, pin.SE3.Identity())
        inertial = links[child].find('inertial')
        xx, xy, xz, yy, yz, zz = (
            float(inertial.findtext(f'inertia/i{key}'))
            for key in ('xx', 'xy', 'xz', 'yy', 'yz', 'zz')
        )
        body = pin.Inertia(
            float(inertial.findtext('mass')), np.zeros(3),
            np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]),
        )
        arm.appendBodyToJoint(index, body, sdf_pose(inertial.find('pose')))
    return arm


@pytest.mark.parametrize('name', NAMES)
def test_an_sdf_has_the_models_torques_in_the_worlds_gravity(models, name, rng):
    """Gravity points down in Gazebo's world, whatever the mounting: the arm is turned."""
    # The reader above turns axes that lie along a frame's into a general one, for which Pinocchio
    # needs them to be of length one.
    model = models[name]
    motion = random_motion(model, rng)
    arm = read_sdf(export_sdf(model))
    assert list(arm.names)[1:] == list(model.robot.joint_names)
    arm.gravity.linear = np.array([0.0, 0.0, -np.linalg.norm(model.robot.gravity)])
    assert_same(pinocchio_torque(arm, motion), rigid_torque(model, motion))


def sdformat(tmp_path, call, *files):
    """Return what the library that Gazebo reads with prints of files, its results and errors."""
    library = next(filter(None, (
        ctypes.util.find_library(f'sdformat{version}') for version in range(16, 11, -1)
    )), None)
    if library is None:
        pytest.skip('libsdformat (Debian: libsdformat12-12 and sdformat-sdf) is not installed')
    script = (
        'import ctypes, sys; library = ctypes.CDLL(sys.argv[1]); '
        f'print([{call} for path in sys.argv[2:]])'
    )
    # A process of its own loads it.
    run = subprocess.run(
        [sys.executable, '-c', script, library, *files], cwd=tmp_path,
        capture_output=True, text=True, timeout=60, check=True,
    )
    printed, _, results = run.stdout.rstrip().rpartition('\n')
    return printed, results, run.stderr


@pytest.mark.parametrize('name', ['ur5', 'everything'])
def test_gazebos_own_reader_finds_no_fault_with_the_sdf(models, name, tmp_path):
    text = export_sdf(models[name])
    (tmp_path / 'arm.sdf').write_text(text)
    (tmp_path / 'bad.sdf').write_text(text.replace('relative_to="', 'relative_to="no_'))
    printed, results, errors = sdformat(
        tmp_path, 'library.cmdCheck(path.encode())', 'arm.sdf', 'bad.sdf'
    )
    assert printed == 'Valid.', errors
    assert results == '[0, -1]', 'a file with wrong names is found out'


@pytest.mark.parametrize('name', ['ur5', 'everything'])
def test_gazebo_reads_the_same_joints_in_the_sdf_as_in_the_urdf(models, name, tmp_path):
    """A continuous joint is a revolute one without limits there, and SDF's own is a weld."""
    (tmp_path / 'arm.sdf').write_text(export_sdf(models[name]))
    (tmp_path / 'arm.urdf').write_text(export_urdf(models[name]))
    # Later versions have the last three arguments; C ignores them where they are not.
    call = 'library.cmdPrint(path.encode(), 0, 0, ctypes.c_float(0.01), 0, 17, 0)'
    joints = []
    for file in ('arm.sdf', 'arm.urdf'):
        printed, results, errors = sdformat(tmp_path, call, file)
        assert results == '[0]', errors
        joints.append({
            element.get('name'): (
                element.get('type'),
                [float(element.findtext(f'axis/limit/{key}')) for key in ('lower', 'upper')],
            )
            for element in ElementTree.fromstring(printed).iter('joint')
            if element.get('name') in models[name].robot.joint_names
        })
    assert list(joints[0]) == list(models[name].robot.joint_names)
    assert joints[0] == joints[1]
