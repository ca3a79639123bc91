# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Physical consistency: a cloud of points can be a body, and what cannot be one is found."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.model import prior_inertial_parameters, workspace
from robot_identification.model.consistency import (
    pseudo_inertia, smallest_eigenvalues, smallest_mass_matrix_eigenvalue,
)


def parameters_of(masses, points):
    """Return the ten parameters of point masses, Pinocchio's order, by their definition."""
    inertia = sum(
        m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True)
    )
    return np.concatenate([
        [masses.sum()], masses @ points,
        [inertia[0, 0], inertia[0, 1], inertia[1, 1], inertia[0, 2], inertia[1, 2],
         inertia[2, 2]],
    ])


@given(seed=st.integers(0, 2**32 - 1))
def test_every_cloud_of_masses_is_a_body(seed):
    """Five points in general position; the pseudo-inertia is their second-moment matrix."""
    rng = np.random.default_rng(seed)
    masses, points = rng.uniform(0.1, 2.0, 5), rng.normal(size=(5, 3))
    theta = parameters_of(masses, points)
    extended = np.column_stack([points, np.ones(5)])
    np.testing.assert_allclose(
        pseudo_inertia(theta), extended.T @ (masses[:, None] * extended), atol=1e-10
    )
    assert smallest_eigenvalues(theta)[0] > 0.0


@pytest.mark.parametrize('name', ['ur5', 'mixed'])
@pytest.mark.parametrize('rotors', [False, True])
def test_smallest_mass_matrix_eigenvalue_is_pinocchios(robots, rng, name, rotors):
    """At the pose that is returned, it is that of Pinocchio's mass matrix."""
    # 1e-10 of the largest entry is rounding of six accelerations.
    robot = robots[name].with_gravity([3.0, -4.0, -9.0])
    inertia = rng.uniform(0.01, 0.1, robot.n) if rotors else np.zeros(robot.n)

    def matrix(q):
        full = pin.crba(robot.pinocchio, robot.pinocchio.createData(), q)
        return np.triu(full) + np.triu(full, 1).T + np.diag(inertia)

    eigenvalue, q = smallest_mass_matrix_eigenvalue(
        robot, prior_inertial_parameters(robot), inertia if rotors else None
    )
    M = matrix(q)
    assert eigenvalue == pytest.approx(np.linalg.eigvalsh(M)[0], abs=1e-10 * np.abs(M).max())
    lower, upper = workspace(robot)
    assert np.all((lower <= q) & (q <= upper))
    others = [np.linalg.eigvalsh(matrix(pose))[0] for pose in rng.uniform(lower, upper,
                                                                          (100, robot.n))]
    assert 0.0 < eigenvalue <= 2.0 * min(others)


def test_a_mass_matrix_that_is_not_positive_is_found(ur5):
    """A wrist with negative inertia about its axis: the least eigenvalue is no more than it."""
    theta = prior_inertial_parameters(ur5)
    theta[59] = -0.001
    assert smallest_mass_matrix_eigenvalue(ur5, theta, samples=20)[0] <= -0.001
    held = smallest_mass_matrix_eigenvalue(ur5, theta, np.full(6, 0.2), samples=20)[0]
    assert held > 0.1
