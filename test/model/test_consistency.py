# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Physical consistency: a cloud of points can be a body, and what cannot be one is found."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.model import prior_inertial_parameters, workspace
from robot_identification.model.consistency import (
    from_log_cholesky, log_cholesky, pseudo_inertia, smallest_eigenvalues,
    smallest_mass_matrix_eigenvalue,
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


@given(coordinates=hnp.arrays(float, 10, elements=st.floats(-2.0, 2.0)))
def test_any_ten_numbers_are_a_body(coordinates):
    """And are its coordinates: the map is one to one."""
    # With numbers up to 2 the eigenvalues of U U' spread over less than 1e9: their sign is
    # certain, and the way back keeps seven digits of sixteen.
    theta = from_log_cholesky(coordinates)
    assert smallest_eigenvalues(theta)[0] > 0.0
    assert theta[0] > 0.0
    np.testing.assert_allclose(log_cholesky(theta), coordinates, rtol=0, atol=1e-7)


def test_log_cholesky_coordinates_are_those_of_the_paper():
    """Rucker and Wensing 2022: P = U U', where U is e^alpha times an upper triangle."""
    # alpha is then the logarithm of the square root of the mass, t the centre in a body without
    # shear; 1e-12 is rounding.
    rng = np.random.default_rng(1)
    theta = parameters_of(rng.uniform(0.1, 2.0, 5), rng.normal(size=(5, 3)))
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = log_cholesky(theta)
    U = np.exp(alpha) * np.array([
        [np.exp(d1), s12, s13, t1], [0, np.exp(d2), s23, t2], [0, 0, np.exp(d3), t3],
        [0, 0, 0, 1],
    ])
    np.testing.assert_allclose(U @ U.T, pseudo_inertia(theta), rtol=0, atol=1e-12)
    np.testing.assert_allclose([t1, t2, t3], theta[1:4] / theta[0], rtol=0, atol=1e-12)
    assert alpha == pytest.approx(0.5 * np.log(theta[0]))


@pytest.mark.parametrize(('index', 'value'), [(0, -1.0), (0, 0.0), (9, 0.06), (1, 0.5)])
def test_what_is_no_body_has_no_coordinates(index, value):
    theta = np.array([1.0, 0, 0, 0, 0.02, 0, 0.03, 0, 0, 0.025])
    theta[index] = value
    with pytest.raises(DescriptionError, match=r'smallest pseudo-inertia eigenvalue is -?[0-9]'):
        log_cholesky(theta)


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
