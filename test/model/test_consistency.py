# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Physical consistency: a cloud of points can be a body, and what cannot be one is found."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
from robot_identification.model.consistency import pseudo_inertia
from robot_identification.model.consistency import smallest_eigenvalues
from robot_identification.model.regressor import prior_inertial_parameters


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


def test_what_no_body_can_be_is_found():
    """A principal inertia above the sum of the others, a negative mass, a centre far outside."""
    good = np.array([1.0, 0, 0, 0, 0.02, 0, 0.03, 0, 0, 0.025])
    assert smallest_eigenvalues(good)[0] > 0.0
    for index, value in ((9, 0.06), (0, -1.0), (1, 0.5), (5, 0.1)):
        bad = good.copy()
        bad[index] = value
        assert smallest_eigenvalues(bad)[0] < 0.0, index


def test_inertia_of_the_thesis_is_about_the_centre_of_mass():
    """
    Porcelli 2020, table 2.4, link 2: read about the link frame's origin it is no body.

    Numbers A5: the caption says link frame, the values say otherwise.
    """
    mass, centre = 8.393, np.array([0.2125, 0.0, 0.11336])
    table = np.diag([0.0149, 0.3564, 0.3553])
    steiner = mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    read = {'centre': table + steiner, 'origin': table}
    smallest = {
        where: smallest_eigenvalues(np.concatenate([
            [mass], mass * centre,
            [J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]],
        ]))[0]
        for where, J in read.items()
    }
    assert smallest['centre'] > 0.0 > smallest['origin']


def test_shipped_arms_are_bodies(robots):
    for robot in robots.values():
        values = smallest_eigenvalues(prior_inertial_parameters(robot))
        assert values.shape == (robot.n,)
        assert np.all(values > 0.0), robot.name
