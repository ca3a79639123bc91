# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Contributions to the effort add up to it, and each is what mechanics says it is."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from report import report_cases
from robot_identification.model.regressor import standard_torque
from robot_identification.report.contributions import effort_parts, joint_contributions
from robot_identification.report.explanation import score_fit


@pytest.fixture(scope='module')
def found():
    """Return an identification whose bodies are exactly those of the URDF."""
    found = report_cases.identify_chain(3, 1, samples=300)
    _, theta = report_cases.true_parameters(found.model.robot)
    model = replace(found.model, theta_base=found.model.reduction.K @ theta)
    return replace(found, model=model)


def test_parts_are_those_of_rigid_body_mechanics(found):
    """Gravity, inertia with rotors and velocity by Pinocchio, friction by its laws."""
    model, (bag,) = found.model, score_fit(found)
    rows = np.flatnonzero(bag.rows)[::7]
    gravity, inertia, velocity, friction = effort_parts(model, bag, rows)
    np.testing.assert_allclose(
        gravity + inertia + velocity + friction, bag.predicted[rows], atol=1e-9
    )
    motion, arm = bag.dataset.motion.rows(rows), model.robot.pinocchio
    data = arm.createData()
    for k, (q, dq, ddq) in enumerate(zip(motion.q, motion.dq, motion.ddq, strict=True)):
        weight = pin.computeGeneralizedGravity(arm, data, q).copy()
        # The mass matrix of Pinocchio is the upper triangle only.
        mass = np.triu(pin.crba(arm, data, q))
        mass = mass + np.triu(mass, 1).T
        np.testing.assert_allclose(gravity[k], weight, atol=1e-9)
        np.testing.assert_allclose(
            inertia[k], mass @ ddq + report_cases.ROTOR * ddq, atol=1e-9
        )
        np.testing.assert_allclose(
            velocity[k], pin.rnea(arm, data, q, dq, np.zeros(3)) - weight, atol=1e-9
        )
    parameters = model.parameters
    only = np.where([name.startswith('f') for name in parameters.names], model.theta_lifted, 0.0)
    np.testing.assert_allclose(
        friction, standard_torque(model.robot, parameters, only, motion), atol=1e-9
    )


def test_shares_add_up_and_noise_is_unexplained(found):
    """The recording is the model and white noise of a known size."""
    for one in joint_contributions(found.model, score_fit(found)):
        assert sum(one.shares) == pytest.approx(1.0)
        # Of 290 samples: five standard errors of an RMS.
        assert one.rms[-1] == pytest.approx(report_cases.NOISE, rel=5.0 / np.sqrt(2.0 * 290.0))


def test_a_joint_without_effort_has_no_shares(found):
    bag, = score_fit(found)
    still = replace(bag, dataset=replace(bag.dataset, effort=0.0 * bag.dataset.effort))
    nothing = replace(found.model, theta_base=np.zeros(len(found.model.theta_base)))
    for one in joint_contributions(nothing, [replace(still, predicted=0.0 * bag.predicted)]):
        assert set(one.shares) == {0.0}
