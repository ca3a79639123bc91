# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Friction as MuJoCo holds it, against the identified curve."""

from dataclasses import replace

from export.exported_models import changed_prior, everything, model_of
import numpy as np
import pytest
from robot_identification.export.friction_forms import fit_all_frictions, FORMS
from robot_identification.export.mjcf import export_mjcf

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


def test_richer_forms_fit_better_and_say_by_how_much(robot):
    """A Stribeck curve: the bristle nearly has it, a polynomial not, a straight line less."""
    model = model_with(robot, 'stribeck,viscous')
    misfits = {form: fit_all_frictions(model, form)[0] for form in FORMS}
    assert misfits['lugre'].misfit < 0.3 * misfits['polynomial'].misfit
    assert misfits['polynomial'].misfit < 0.9 * misfits['plain'].misfit
    speeds = np.linspace(0.05, FASTEST, 100)
    for fitted in misfits.values():
        # The law itself, from its page; a hundred speeds are those of the fit.
        missed = fitted.torque(speeds) - stribeck_curve(speeds)
        # The law's tanh misses its sign by 1e-4 at the slowest of these speeds.
        assert fitted.misfit == pytest.approx(np.sqrt(np.mean(missed**2)), abs=1e-3)
        assert fitted.largest_misfit == pytest.approx(np.abs(missed).max(), abs=1e-3)
        text = export_mjcf(model, fitted.form)
        assert fitted.describe('turn') in text


def test_a_polynomial_never_pushes(robot):
    """Where friction falls with speed, it does not fall below zero beyond the speeds seen."""
    model = model_with(robot, 'stribeck,viscous')
    theta = model.theta_consistent.copy()
    names = model.parameters.names
    theta[names.index('fs1')], theta[names.index('fv1')] = 40.0, 0.0
    fitted = fit_all_frictions(replace(model, theta_consistent=theta), 'polynomial')[0]
    assert np.all(fitted.torque(np.linspace(0.0, 2.0 * FASTEST, 200)) >= 0.0)
