# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Every exported file, read again by a program that knows nothing of this package."""

import ctypes.util
from dataclasses import replace
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from export.exported_models import changed_prior, everything, model_of, random_motion, rigid_torque
from identified_arms import WarmArm
from known_models import mujoco_torque, pinocchio_torque
from long_tests import long_test
import numpy as np
import pinocchio as pin
import pytest
from recordings import fourier_motion
from robot_identification.estimation.standard import (
    consistent_standard_parameters, draw_consistent,
)
from robot_identification.export.arm import build_pinocchio_model
from robot_identification.export.formats import ExportOptions
from robot_identification.export.friction_forms import fit_all_frictions
from robot_identification.export.mjcf import export_mjcf
from robot_identification.export.pack import export_usd, simulation_pack
from robot_identification.export.sdf import export_sdf
from robot_identification.export.urdf import export_urdf
from robot_identification.model.consistency import smallest_eigenvalues
from robot_identification.simulation.mujoco_robot import inverse_dynamics

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


LOAD = 12.0  # mean torque of gravity of the joints [N m]
FASTEST = 2.0  # [rad/s]
# Coefficients by law and symbol, of the sizes of a UR5's wrist.
SLIDING = {'fk': 4.0, 'fs': 6.5, 'fv': 3.0, 'fvc': 0.4, 'fcl': 0.05}


@pytest.fixture(scope='module')
def robot():
    return everything()


def model_with(robot, laws):
    """Return a model with friction laws, and the coefficients above."""
    model = model_of(robot, changed_prior(robot), laws)
    theta = model.theta_consistent.copy()
    for index, name in enumerate(model.parameters.names[10 * robot.n: -robot.n], 10 * robot.n):
        theta[index] = SLIDING.get(name[:-1], 0.0)
    return replace(
        model, theta_consistent=theta, theta_base=model.reduction.K @ theta,
        quality={'speeds': [FASTEST] * robot.n, 'loads': [LOAD] * robot.n},
    )


def stribeck_curve(v, drop=SLIDING['fs'] - SLIDING['fk'], width=0.1):
    """Return the friction of `stribeck,viscous` as its page has it [N m]."""
    return SLIDING['fk'] + drop * np.exp(-(v / width) ** 2) + SLIDING['fv'] * v


def mujoco_friction(mujoco, text, joint, speeds):
    """Return the friction of a joint of a MuJoCo model in steady sliding (m,) [N m]."""
    model = mujoco.MjModel.from_xml_string(text)
    data, found = mujoco.MjData(model), []
    dof = model.joint(joint).dofadr[0]
    for v in speeds:
        data.qvel[:] = 0.0
        data.qvel[dof] = v
        mujoco.mj_forward(model, data)
        found.append(-data.qfrc_passive[dof] + np.sign(v) * model.dof_frictionloss[dof])
    return np.array(found)


@pytest.mark.parametrize('form', ['plain', 'polynomial'])
def test_mujoco_has_the_fitted_curve(mujoco, robot, form):
    """Read from MuJoCo's forces, not from the attributes."""
    model = model_with(robot, 'stribeck,viscous,cubic_viscous')
    speeds = np.linspace(0.05, FASTEST, 40)
    text = export_mjcf(model, form)
    for joint, fitted in zip(robot.joint_names, fit_all_frictions(model, form), strict=True):
        found = mujoco_friction(mujoco, text, joint, speeds)
        np.testing.assert_allclose(found, fitted.torque(speeds), atol=1e-9)
        back = mujoco_friction(mujoco, text, joint, -speeds)
        np.testing.assert_allclose(back, -fitted.torque(speeds), atol=1e-9)


def test_bristles_of_mujoco_slide_as_they_were_fitted(mujoco, robot):
    """Moved at a steady velocity until the bristle does not bend any more."""
    model = model_with(robot, 'stribeck,viscous')
    arm = mujoco.MjModel.from_xml_string(export_mjcf(model, 'lugre'))
    arm.opt.timestep = 2e-4
    fitted = fit_all_frictions(model, 'lugre')
    data = mujoco.MjData(arm)
    for v in (0.05, 0.2, 1.0, -0.4):
        mujoco.mj_resetData(arm, data)
        for _ in range(6000):
            data.qvel[:] = v
            mujoco.mj_step(arm, data)
        data.qvel[:] = v
        mujoco.mj_forward(arm, data)
        found = -(data.qfrc_passive + data.qfrc_actuator)
        expected = [np.sign(v) * one.torque(np.array([abs(v)]))[0] for one in fitted]
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_polynomial_never_pushes(robot):
    """Where friction falls with speed, it does not fall below zero beyond the speeds seen."""
    model = model_with(robot, 'stribeck,viscous')
    theta = model.theta_consistent.copy()
    names = model.parameters.names
    theta[names.index('fs1')], theta[names.index('fv1')] = 40.0, 0.0
    fitted = fit_all_frictions(replace(model, theta_consistent=theta), 'polynomial')[0]
    assert np.all(fitted.torque(np.linspace(0.0, 2.0 * FASTEST, 200)) >= 0.0)


SPEEDS = np.linspace(0.05, FASTEST, 60)
# What Coulomb and viscous friction miss of a Stribeck curve [N m]: its drop at the slowest speed.
PLAIN_MISFIT = 2.0


def law(load):
    """Return friction over speed [N m], as the pages of the laws have it."""
    return stribeck_curve(SPEEDS) + SLIDING['fcl'] * load


@pytest.fixture(scope='module')
def worn_model(robot):
    """Return a model with friction that falls from rest and grows with load."""
    found = model_with(robot, 'stribeck,viscous,load')
    return replace(found, covariance=1e-4 * np.diag(found.theta_base**2 + 1e-6))


def test_usd_lays_the_identified_friction_over_joints(worn_model, tmp_path):
    """Per degree for joints that turn: what PhysX multiplies by 57.3 is per radian again."""
    pxr = pytest.importorskip('pxr', reason='usd-core, the reader of USD, is not installed')
    from pxr import Sdf, Usd, UsdPhysics
    assert pxr
    base = Usd.Stage.CreateNew(str(tmp_path / 'arm.usda'))
    for name in worn_model.robot.joint_names:
        kind = UsdPhysics.PrismaticJoint if name == 'slide' else UsdPhysics.RevoluteJoint
        kind.Define(base, f'/World/joints/{name}')
    (tmp_path / 'over.usda').write_text(export_usd(worn_model, '/World/joints'))
    base.GetRootLayer().subLayerPaths.append('over.usda')
    base.GetRootLayer().Save()
    stage = Usd.Stage.Open(str(tmp_path / 'arm.usda'))
    for name in worn_model.robot.joint_names:
        prim = stage.GetPrimAtPath(f'/World/joints/{name}')
        axis, scale = ('linear', 1.0) if name == 'slide' else ('angular', 180.0 / np.pi)
        assert prim.IsDefined()
        applied = prim.GetMetadata('apiSchemas').GetAddedOrExplicitItems()
        assert f'PhysxJointAxisAPI:{axis}' in applied
        values = {
            one.GetName(): one.Get() for one in prim.GetAttributes()
            if one.GetTypeName() == Sdf.ValueTypeNames.Float and one.HasAuthoredValue()
        }
        start = f'physxJointAxis:{axis}'
        for coulomb, viscous in (
            (f'{start}:dynamicFrictionEffort', f'{start}:viscousFrictionCoefficient'),
            ('newton:friction', 'newton:damping'),
        ):
            found = values[coulomb] + values[viscous] * scale * SPEEDS
            assert np.abs(found - law(LOAD)).max() < PLAIN_MISFIT
            assert np.abs(found - law(LOAD)).mean() < 0.2
        # At rest the law's static friction, under the mean load.
        static = SLIDING['fs'] + SLIDING['fcl'] * LOAD
        assert values[f'{start}:staticFrictionEffort'] == pytest.approx(static, rel=1e-2)


def test_a_pack_has_its_models_and_says_how_they_were_drawn(worn_model):
    files = simulation_pack(worn_model, ExportOptions(models=12, seed=3))
    assert {'arm.urdf', 'arm.xml', 'arm_joints.usda', 'isaac_lab.py',
            'randomization.json', 'models/00.xml', 'models/11.xml'} <= set(files)
    content = json.loads(files['randomization.json'])
    assert (content['seed'], len(content['models'])) == (3, 12)
    assert simulation_pack(worn_model, ExportOptions(models=12, seed=3)) == files
    assert simulation_pack(worn_model, ExportOptions(models=12, seed=4)) != files
    mujoco = pytest.importorskip('mujoco', reason='MuJoCo, the reader, is not installed')
    for entry in content['models']:
        arm = mujoco.MjModel.from_xml_string(files[entry['file']])
        for joint in entry['joints']:
            number = arm.joint(joint['name'])
            dof = number.dofadr[0]
            assert arm.dof_armature[dof] == pytest.approx(joint['armature'])
            assert arm.dof_damping[dof] == pytest.approx(joint['viscous'])
            assert arm.body_mass[number.bodyid[0]] == pytest.approx(joint['mass'])


@long_test
def test_draws_hold_the_true_torques(tmp_path):
    """Of 100 draws, the truth is outside with 2 %; seven recordings, MuJoCo is the truth."""
    pytest.importorskip('clarabel', reason='clarabel, which solves conic programs, is not there')
    arm, inside, moved = WarmArm(tmp_path), [], 0
    motion = fourier_motion(3, 99, np.arange(0.0, 18.0, 0.5))
    motion = replace(motion, temperature=np.full(motion.q.shape, 25.0))
    true = inverse_dynamics(arm.robot, arm.truth, motion, temperature=25.0)
    for seed in range(11):
        found = arm.identify([arm.dataset(25.0, seed)])
        theta, note = consistent_standard_parameters(arm.robot, found.reduction, found.theta_base)
        if theta is None:
            assert 'negative' in note
            continue
        draws, count = draw_consistent(replace(found, theta_consistent=theta), 100, seed)
        moved += count
        torques = np.array([
            replace(found, theta_base=found.reduction.K @ one).torque(motion)
            for one in draws
        ])
        inside.append((torques.min(axis=0) <= true) & (true <= torques.max(axis=0)))
        for one in draws:
            assert np.all(smallest_eigenvalues(one[:30]) > 0.0)
            assert np.all(one[-3:] >= 0.0)
    assert len(inside) == 7
    assert moved > 0, 'some draws have no bodies'
    assert np.mean(inside) >= 0.95
