# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Files for simulators, read by their own libraries, against the identified law."""

from dataclasses import replace
import json

from export.test_friction_forms import FASTEST, LOAD, model_with, robot, SLIDING, stribeck_curve
from identified_arms import WarmArm
from long_tests import long_test
import numpy as np
import pytest
from recordings import fourier_motion
from robot_identification.estimation.standard import (
    consistent_standard_parameters, draw_consistent,
)
from robot_identification.export.formats import ExportOptions
from robot_identification.export.pack import export_usd, simulation_pack
from robot_identification.model.consistency import smallest_eigenvalues
from robot_identification.simulation.mujoco_robot import inverse_dynamics

SPEEDS = np.linspace(0.05, FASTEST, 60)
# What Coulomb and viscous friction miss of a Stribeck curve [N m]: its drop at the slowest speed.
PLAIN_MISFIT = 2.0
__all__ = ['robot']


def law(load):
    """Return friction over speed [N m], as the pages of the laws have it."""
    return stribeck_curve(SPEEDS) + SLIDING['fcl'] * load


@pytest.fixture(scope='module')
def model(robot):
    """Return a model with friction that falls from rest and grows with load."""
    found = model_with(robot, 'stribeck,viscous,load')
    return replace(found, covariance=1e-4 * np.diag(found.theta_base**2 + 1e-6))


def test_usd_lays_the_identified_friction_over_joints(model, tmp_path):
    """Per degree for joints that turn: what PhysX multiplies by 57.3 is per radian again."""
    pxr = pytest.importorskip('pxr', reason='usd-core, the reader of USD, is not installed')
    from pxr import Sdf, Usd, UsdPhysics
    assert pxr
    base = Usd.Stage.CreateNew(str(tmp_path / 'arm.usda'))
    for name in model.robot.joint_names:
        kind = UsdPhysics.PrismaticJoint if name == 'slide' else UsdPhysics.RevoluteJoint
        kind.Define(base, f'/World/joints/{name}')
    (tmp_path / 'over.usda').write_text(export_usd(model, '/World/joints'))
    base.GetRootLayer().subLayerPaths.append('over.usda')
    base.GetRootLayer().Save()
    stage = Usd.Stage.Open(str(tmp_path / 'arm.usda'))
    for name in model.robot.joint_names:
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


def test_a_pack_has_its_models_and_says_how_they_were_drawn(model):
    files = simulation_pack(model, ExportOptions(models=12, seed=3))
    assert {'arm.urdf', 'arm.xml', 'arm_joints.usda', 'isaac_lab.py',
            'randomization.json', 'models/00.xml', 'models/11.xml'} <= set(files)
    content = json.loads(files['randomization.json'])
    assert (content['seed'], len(content['models'])) == (3, 12)
    assert simulation_pack(model, ExportOptions(models=12, seed=3)) == files
    assert simulation_pack(model, ExportOptions(models=12, seed=4)) != files
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
