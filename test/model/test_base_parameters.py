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

"""Base parameters: rank, meaning, and that they lose no torque."""

import re

from builders import joint
from builders import link
from builders import robot_urdf
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.errors import DescriptionError
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.base_parameters import random_motion
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.catalogue import load_robot
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.regressor import Motion
from robot_identification.model.regressor import observation_matrix
from robot_identification.model.robot_model import gravity_of_mounting
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf

UR = ('ur5', 'ur10', 'ur5e')
GROUND, CEILING = (0.0, 0.0, 0.0), (np.pi, 0.0, 0.0)
WALL, TILT = (np.pi / 2, 0.0, 0.0), (0.0, np.pi / 4, 0.0)
# Tika et al. 2020, Table II, for the UR5 of numbers.md A1 (frames of modified DH): the leading
# parameter, then what is added to it. a3, a4, d4, d5, d6 are the lengths of the arm.
A3, A4, D4, D5, D6 = -0.425, -0.39225, 0.10915, 0.09465, 0.0823
WRIST = {'m4': 1.0, 'm5': 1.0, 'm6': 1.0}
ELBOW = {'m3': 1.0, **WRIST}


def times(factor, masses):
    """Return masses, each with the factor."""
    return {name: factor * value for name, value in masses.items()}


TABLE = {
    'Izz1': {
        'Iyy2': 1, 'Iyy3': 1, 'Iyy4': 1, 'Ia1': 1, 'mz4': 2 * D4, 'm3': A3**2,
        **times(A3**2 + A4**2 + D4**2, WRIST),
    },
    'Ixx2': {'Iyy2': -1, **times(-A3**2, ELBOW)},
    'Ixy2': {},
    'Ixz2': {'mz3': -A3, 'mz4': -A3, **times(-A3 * D4, WRIST)},
    'Iyz2': {},
    'Izz2': {'Ia2': 1, **times(A3**2, ELBOW)},
    'mx2': times(A3, ELBOW),
    'my2': {},
    'Ixx3': {'Iyy3': -1, **times(-A4**2, WRIST)},
    'Ixy3': {},
    'Ixz3': {'mz4': -A4, **times(-A4 * D4, WRIST)},
    'Iyz3': {},
    'Izz3': times(A4**2, WRIST),
    'mx3': times(A4, WRIST),
    'my3': {},
    'Ixx4': {'Iyy4': -1, 'Iyy5': 1, 'mz5': 2 * D5, 'm5': D5**2, 'm6': D5**2},
    'Ixy4': {}, 'Ixz4': {}, 'Iyz4': {},
    'Izz4': {'Iyy5': 1, 'mz5': 2 * D5, 'm5': D5**2, 'm6': D5**2},
    'mx4': {},
    'my4': {'mz5': -1, 'm5': -D5, 'm6': -D5},
    'Ixx5': {'Iyy5': -1, 'Iyy6': 1, 'mz6': 2 * D6, 'm6': D6**2},
    'Ixy5': {}, 'Ixz5': {}, 'Iyz5': {},
    'Izz5': {'Iyy6': 1, 'mz6': 2 * D6, 'm6': D6**2},
    'mx5': {},
    'my5': {'mz6': 1, 'm6': D6},
    'Ixx6': {'Iyy6': -1},
    'Ixy6': {}, 'Ixz6': {}, 'Iyz6': {}, 'Izz6': {}, 'mx6': {}, 'my6': {},
}


def parse_expression(text):
    """Return the coefficients of an expression as people read it, leading parameter first."""
    leading, *rest = re.split(r' (?=[+-] )', text)
    terms = {leading: 1.0}
    for part in rest:
        match = re.fullmatch(r'([+-]) (?:([0-9.e+-]+) )?(\w+)', part)
        assert match, f'{part!r} in {text!r}'
        sign, factor, name = match.groups()
        assert name not in terms
        terms[name] = float(f'{sign}{factor or 1}')
    return terms


def reduction_of(robot, friction='none', *, rotors=False):
    """Return the base reduction of an arm."""
    return reduce_to_base(
        robot, make_standard_parameters(robot.n, parse_friction(friction), rotors)
    )


@pytest.fixture(scope='module')
def full_reductions(robots):
    """Return the reduction with all columns for every arm."""
    return {
        name: reduction_of(robot, 'coulomb,viscous,offset', rotors=True)
        for name, robot in robots.items()
    }


@pytest.mark.parametrize('name', UR)
@pytest.mark.parametrize(
    ('mounting', 'inertial', 'whole', 'classes'),
    [
        (GROUND, 36, 52, (36, 31, 11)),
        (CEILING, 36, 52, (36, 31, 11)),
        (WALL, 38, 54, (37, 33, 8)),
        (TILT, 38, 54, (37, 33, 8)),
    ],
    ids=['ground', 'ceiling', 'wall', 'tilt'],
)
def test_rank_and_classes_of_the_ur_arms(name, mounting, inertial, whole, classes):
    """Published counts (Tika 2020, Raviola 2021); classes in joint frames (numbers.md A14)."""
    robot = load_robot(name, gravity=gravity_of_mounting(*mounting))
    assert reduction_of(robot).rank == inertial
    reduction = reduction_of(robot, 'coulomb,viscous', rotors=True)
    assert (reduction.rank, reduction.parameters.size) == (whole, 78)
    found = reduction.classes()
    assert tuple(len(found[kind]) for kind in ('identifiable', 'combined', 'unidentifiable')) \
        == classes


@pytest.mark.parametrize('name', [*UR, 'mixed'])
def test_classes_partition_all_names(robots, name):
    """Every standard parameter is in exactly one class."""
    reduction = reduction_of(robots[name], 'coulomb,viscous,offset', rotors=True)
    classes = [name for names in reduction.classes().values() for name in names]
    assert sorted(classes) == sorted(reduction.parameters.names)
    assert set(reduction.classes()['unidentifiable']).isdisjoint(reduction.names)


def test_base_parameters_of_the_ur5_are_those_of_the_literature(ur5):
    """
    Numbers come from the arm's lengths alone, the expressions as text from six digits of them.

    1e-6 is what six printed digits of coefficients below one leave.
    """
    reduction = reduction_of(ur5, 'coulomb,viscous', rotors=True)
    found = {
        reduction.names[row]: parse_expression(reduction.expression(row))
        for row in range(reduction.rank)
    }
    for symbol, first in {'fc': 1, 'fv': 1, 'Ia': 3}.items():
        for number in range(first, 7):
            name = f'{symbol}{number}'
            assert found.pop(name) == {name: 1.0}
    assert sorted(found) == sorted(TABLE)
    for leading, others in TABLE.items():
        expected = {leading: 1.0, **others}
        assert found[leading] == pytest.approx(expected, abs=1e-6), leading


@pytest.mark.parametrize('name', [*UR, 'mixed'])
def test_expressions_say_what_the_matrix_does(robots, name):
    """What a reader calculates from the text is K's row, to the digits printed."""
    reduction = reduction_of(robots[name], 'viscous', rotors=True)
    for row in range(reduction.rank):
        terms = parse_expression(reduction.expression(row))
        values = np.zeros(reduction.parameters.size)
        for symbol, factor in terms.items():
            values[reduction.parameters.names.index(symbol)] = factor
        np.testing.assert_allclose(values, reduction.K[row], rtol=1e-5, atol=1e-8)


def test_equal_coefficients_are_printed_equal(ur5):
    """Rounding in the sixteenth digit must not show in the sixth: m4, m5 and m6 act alike."""
    reduction = reduction_of(ur5, 'coulomb,viscous', rotors=True)
    for row in range(reduction.rank):
        expected = TABLE.get(reduction.names[row], {})
        found = parse_expression(reduction.expression(row))
        printed = {}
        for name, value in expected.items():
            printed.setdefault(round(value, 12), set()).add(found[name])
        assert all(len(texts) == 1 for texts in printed.values()), reduction.expression(row)


@given(n=st.integers(1, 5), seed=st.integers(0, 2**32 - 1), vertical=st.booleans())
def test_skew_arms_have_the_number_of_the_formula(n, seed, vertical):
    """
    Without parallel or meeting axes: 7 n - 4, and two fewer if the first axis is vertical.

    The formula of Gautier and Khalil for revolute joints (numbers.md B5, property P6).
    """
    rng = np.random.default_rng(seed)

    def skew(low, high):
        return rng.choice([-1.0, 1.0], 3) * rng.uniform(low, high, 3)

    first = {'xyz': (0, 0, 0), 'rpy': (0, 0, 0) if vertical else tuple(skew(0.3, 0.9))}
    text = robot_urdf(
        link('l0'), *(link(f'l{i + 1}') for i in range(n)),
        joint('j0', 'l0', 'l1', **first),
        *(joint(f'j{i}', f'l{i}', f'l{i + 1}', xyz=tuple(skew(0.2, 0.6)),
                rpy=tuple(skew(0.3, 0.9))) for i in range(1, n)),
    )
    robot = make_robot_model(parse_urdf(text, 'arm'))
    assert reduction_of(robot).rank == 7 * n - 4 - 2 * vertical


def test_panda_has_43_inertial_base_parameters(panda_urdf):
    """7 n + 4 - 3 - ... = 43 for its seven joints (numbers.md B5); the fingers are locked."""
    arm = load_robot(urdf=panda_urdf, joints=[f'panda_joint{i}' for i in range(1, 8)])
    assert arm.pinocchio.nq == 7
    assert reduction_of(arm).rank == 43


@pytest.mark.parametrize('name', [*UR, 'mixed'])
@given(seed=st.integers(0, 2**32 - 1))
def test_base_reduction_keeps_torques(robots, full_reductions, name, seed):
    """
    Any standard parameters and their base parameters give the same torque, on any motion.

    Rounding of K is 1e-9 of its size by its own cut-off, hence of the torque's size.
    """
    robot, rng = robots[name], np.random.default_rng(seed)
    reduction, n = full_reductions[name], robot.n
    motion = Motion(*(rng.uniform(-4, 4, (3, n)) for _ in range(3)))
    W = observation_matrix(robot, reduction.parameters, motion)
    theta = rng.normal(size=reduction.parameters.size)
    tau = W @ theta
    kept = W[:, reduction.independent] @ (reduction.K @ theta)
    np.testing.assert_allclose(kept, tau, rtol=0, atol=1e-8 * (1.0 + np.abs(tau).max()))


@pytest.mark.parametrize('name', [*UR, 'mixed'])
def test_reduction_does_not_depend_on_its_random_samples(robots, name):
    """The structure is the arm's: other samples give the same set, coefficients to rounding."""
    robot = robots[name]
    parameters = make_standard_parameters(robot.n, parse_friction('viscous'), True)
    first, second = (reduce_to_base(robot, parameters, seed=seed) for seed in (0, 99))
    np.testing.assert_array_equal(first.independent, second.independent)
    np.testing.assert_allclose(first.K, second.K, atol=1e-9)
    np.testing.assert_array_equal(first.K[:, first.independent], np.eye(first.rank))
    assert first.gap > 1e6, 'accepted and rejected columns are far apart'


def test_turning_the_arm_about_gravity_changes_nothing(ur5):
    """Property P5 of the specification."""
    plain = reduction_of(ur5)
    turned = reduction_of(ur5.with_gravity(gravity_of_mounting(0.0, 0.0, 1.234)))
    np.testing.assert_array_equal(plain.independent, turned.independent)
    np.testing.assert_allclose(plain.K, turned.K, atol=1e-9)


def test_without_gravity_less_can_be_seen(ur5):
    """
    In free space the first link only shows its inertia about its axis, and masses hide more.

    The count is checked against singular values of the regressor itself.
    """
    floating = ur5.with_gravity([0.0, 0.0, 0.0])
    reduction = reduction_of(floating)
    motion = random_motion(floating, 60, np.random.default_rng(3))
    W = observation_matrix(floating, reduction.parameters, motion)
    singular = np.linalg.svd(W, compute_uv=False)
    assert reduction.rank == np.count_nonzero(singular > 1e-9 * singular[0])
    assert reduction.rank <= reduction_of(ur5).rank


def test_random_samples_stay_within_limits(ur5):
    """The elbow's limit of half a turn is respected, and full turns are not sampled."""
    motion = random_motion(ur5, 500, np.random.default_rng(0))
    assert np.abs(motion.q).max() <= np.pi
    assert np.abs(motion.q).max() > 3.0
    assert motion.q.shape == (500, 6)


def test_reduction_is_frozen(ur5):
    reduction = reduction_of(ur5)
    with pytest.raises(AttributeError):
        reduction.gap = 1.0
    assert isinstance(reduction, BaseReduction)


def test_unclear_rank_is_refused(ur5, monkeypatch):
    """Columns that are neither dependent nor independent: the user is told, not guessed for."""
    import robot_identification.model.base_parameters as module

    true = module.observation_matrix

    def perturbed(*arguments):
        W = true(*arguments)
        noise = np.random.default_rng(0).normal(size=W.shape)
        return W + 7e-9 * np.linalg.norm(W, axis=0) / np.sqrt(len(W)) * noise

    monkeypatch.setattr(module, 'observation_matrix', perturbed)
    with pytest.raises(DescriptionError, match='ur5: the number of base parameters is not clear'):
        reduction_of(ur5)
