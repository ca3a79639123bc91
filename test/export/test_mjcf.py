# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The MuJoCo model says what the arm is, in MuJoCo's words."""

from dataclasses import replace

import numpy as np
import pytest
from robot_identification.errors import InconsistentModelError
from robot_identification.export.mjcf import export_mjcf
from robot_identification.model import Motion


def test_friction_rotors_limits_and_motors_have_their_place(mujoco, model):
    read = mujoco.MjModel.from_xml_string(export_mjcf(model))
    names = model.parameters.names
    for k in range(3):
        damping, loss, rotor = (
            model.theta_consistent[names.index(f'{symbol}{k + 1}')]
            for symbol in ('fv', 'fc', 'Ia')
        )
        assert read.dof_damping[k] == pytest.approx(damping)
        assert read.dof_frictionloss[k] == pytest.approx(loss)
        assert read.dof_armature[k] == pytest.approx(rotor)
    assert read.jnt_limited.tolist() == [0, 1, 1]
    np.testing.assert_allclose(read.jnt_range[1:], [[-0.3, 0.4], [-2.0, 2.0]])
    assert [read.actuator(k).name for k in range(read.nu)] == list(model.robot.joint_names)
    np.testing.assert_allclose(read.actuator_ctrlrange, [[-80, 80], [-120, 120], [-60, 60]])
    np.testing.assert_allclose(read.opt.gravity, model.robot.gravity)
    assert (read.nmesh, read.ngeom) == (0, 0)


def test_motors_move_the_arm_as_the_model_says(mujoco, model):
    """The acceleration is that of the model's torque with its offset, dry friction apart."""
    # Gravity, rotors, viscous friction and offset as in the file; frictionloss is taken out, since
    # a soft constraint is not exact.
    read = mujoco.MjModel.from_xml_string(export_mjcf(model))
    read.dof_frictionloss[:] = 0.0
    data = mujoco.MjData(read)
    data.qpos[:], data.qvel[:] = [0.3, 0.1, -0.4], [0.5, 0.2, -0.3]
    data.ctrl[:] = [10.0, 20.0, -5.0]
    mujoco.mj_forward(read, data)
    theta = model.theta_consistent.copy()
    for number in (1, 2, 3):
        theta[model.parameters.names.index(f'fc{number}')] = 0.0
    motion = Motion(*(np.array(row)[None] for row in (data.qpos, data.qvel, data.qacc)))
    torque = replace(model, theta_base=model.reduction.K @ theta).torque(motion)[0]
    np.testing.assert_allclose(torque, data.ctrl, atol=1e-8)


@pytest.mark.parametrize(('index', 'value', 'words'), [
    (14, -1.0, r'everything is not exported: no body has the parameters of the link after slide'),
    (-1, -0.2, r'reflected inertia of tip is -0\.2 kg m\^2'),
])
def test_what_no_body_or_rotor_has_is_refused_by_name(model, index, value, words):
    theta = model.theta_consistent.copy()
    theta[index] = value
    with pytest.raises(InconsistentModelError, match=words):
        export_mjcf(replace(model, theta_consistent=theta))
