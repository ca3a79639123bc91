# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Which bodies can be, which rule a link breaks, and which masses are left out or made up."""

from builders import joint, link, robot_urdf
from hypothesis import given, strategies as st
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.model import (
    find_implausibilities, load_robot, make_robot_model, parse_urdf, prior_inertial_parameters,
    workspace,
)
from robot_identification.model.consistency import (
    describe_placeholders, find_placeholders, massless_joints, pseudo_inertia,
    smallest_eigenvalues, smallest_mass_matrix_eigenvalue,
)

# One link that turns about z, its centre of mass on the axis.
GOOD = np.array([1.0, 0.0, 0.0, 0.0, 0.02, 0.0, 0.03, 0.0, 0.0, 0.025])


@pytest.fixture(scope='module')
def pendulum():
    return make_robot_model(parse_urdf(
        robot_urdf(link('ground'), link('bob'), joint('turn', 'ground', 'bob')), 'pendulum'
    ))


def rules(found):
    return [each.rule for each in found]


@pytest.mark.parametrize(
    ('index', 'value', 'expected', 'broken'),
    [
        (0, 0.0, ['mass', 'pseudo-inertia'], 0.0),
        (0, -0.5, ['mass', 'pseudo-inertia'], -0.5),
        (9, -0.01, ['inertia', 'inertia', 'pseudo-inertia', 'mass matrix'], -0.01),
        (4, -0.01, ['inertia', 'inertia', 'pseudo-inertia'], -0.01),
        # 0.02 + 0.03 - 0.06
        (9, 0.06, ['triangle', 'pseudo-inertia'], -0.01),
        # A product beside 0.02 and 0.03: moments 0.025 -+ sqrt(0.005^2 + 0.04^2).
        (5, 0.04, ['inertia', 'pseudo-inertia'], 0.025 - np.hypot(0.005, 0.04)),
        # A centre at 0.2 m: 0.025 and 0.03 about the joint leave 0.025 - 0.04 about the centre.
        (1, 0.2, ['inertia', 'pseudo-inertia'], 0.025 - 0.04),
    ],
    ids=['no mass', 'mass', 'axis', 'across', 'triangle', 'product', 'centre'],
)
def test_each_rule_alone(pendulum, index, value, expected, broken):
    """One number wrong, and what follows from it; 1e-12 is rounding of the eigenvalues."""
    theta = GOOD.copy()
    theta[index] = value
    found = find_implausibilities(pendulum, theta)
    assert rules(found) == expected
    assert found[0].value == pytest.approx(broken, abs=1e-12)
    assert all(each.value <= each.limit for each in found)
    # Pinocchio's own opinion.
    assert np.linalg.eigvalsh(
        pin.PseudoInertia.FromDynamicParameters(theta).toMatrix()
    )[0] <= 0.0


def test_the_triangle_rule_is_about_the_centre(pendulum):
    """Far from the joint the same impossible body passes at the joint's origin."""
    # There Steiner adds 1 to two moments: 0.06, 0.03 and 0.02 become 0.06, 1.03 and 1.02.
    body = pin.Inertia(1.0, np.array([1.0, 0.0, 0.0]), np.diag([0.06, 0.03, 0.02]))
    theta = body.toDynamicParameters()
    xx, yy, zz = theta[[4, 6, 9]]
    assert xx < yy + zz
    assert yy < xx + zz
    assert zz < xx + yy
    found = find_implausibilities(pendulum, theta)
    assert rules(found) == ['triangle', 'pseudo-inertia']
    assert found[0].value == pytest.approx(-0.01, abs=1e-12)
    assert 'exceeds the sum of the others by 0.01' in found[0].text


def test_rotors_hold_up_the_mass_matrix(pendulum):
    """A moment of -0.01 kg m^2 about the axis with a rotor of 0.02: the motor feels 0.01."""
    theta = GOOD.copy()
    theta[9] = -0.01
    held = find_implausibilities(pendulum, theta, reflected_inertia=np.array([0.02]))
    assert 'mass matrix' not in rules(held)
    assert 'inertia' in rules(held)
    loose = find_implausibilities(pendulum, theta, reflected_inertia=np.array([0.005]))
    assert loose[-1].rule == 'mass matrix'
    assert loose[-1].value == pytest.approx(-0.005, abs=1e-12)
    assert 'at q = (' in loose[-1].text


@pytest.mark.parametrize(('mass', 'tolerance', 'flagged'), [
    (1.09, 0.1, False), (1.11, 0.1, True), (0.89, 0.1, True), (1.11, 0.2, False),
])
def test_masses_are_compared_with_the_makers(pendulum, mass, tolerance, flagged):
    """Either side of the tolerance and of the maker's kilogram."""
    theta = GOOD.copy()
    theta[0] = mass
    found = find_implausibilities(pendulum, theta, maker=GOOD, mass_tolerance=tolerance)
    assert rules(found) == ['maker'] * flagged
    if flagged:
        assert (found[0].value, found[0].limit) == pytest.approx((abs(mass - 1.0), tolerance))
        assert found[0].text.endswith("from the maker's 1 kg, credible are 0.1 kg")
    assert find_implausibilities(pendulum, theta) == (), 'nobody to compare with'


def test_each_link_is_named_by_its_joint(ur5):
    """Link by link in kinematic order, the arm last; only the links that break a rule."""
    theta = prior_inertial_parameters(ur5)
    theta[10] = theta[40] = -100.0
    found = find_implausibilities(ur5, theta)
    names = list(dict.fromkeys(each.link for each in found))
    assert names == [
        'link 2 (moved by shoulder_lift_joint)', 'link 5 (moved by wrist_2_joint)', 'arm',
    ]
    assert all(each.text.startswith(each.link) for each in found[:-1])
    assert found[0].text.endswith('): mass is -100 kg, it must be positive')


# --- masses that are left out or made up -------------------------------------------------


UNIT = (1.0, 1.0, 1.0)


def chain(*links):
    """Return the description of a chain of links, each moved by a joint."""
    names = ['ground', *(f'part{k}' for k in range(len(links)))]
    return parse_urdf(robot_urdf(
        '<link name="ground"/>', *links,
        *(joint(f'joint{k}', names[k], names[k + 1], axis=(k % 2, 1, 0))
          for k in range(len(links))),
    ), 'chain')


def bodies(*properties):
    return [link(f'part{k}', mass, principal=moments)
            for k, (mass, moments) in enumerate(properties)]


@pytest.mark.parametrize(('massless', 'joints'), [
    ((), ()),
    # What comes behind a link without mass hangs on its joint as well.
    ((0,), ()),
    ((1, 2), ('joint1', 'joint2')),
    ((0, 1, 2), ('joint0', 'joint1', 'joint2')),
])
def test_joints_that_move_no_mass_are_named(massless, joints):
    links = [
        f'<link name="part{k}"/>' if k in massless else link(f'part{k}') for k in range(3)
    ]
    assert massless_joints(make_robot_model(chain(*links))) == joints


PLACEHOLDERS = {
    'one mass': (
        [(2.0, (0.1, 0.1, 0.1)), (2.0, (0.2, 0.2, 0.2)), (2.0, (0.3, 0.3, 0.3))],
        ('the same mass, 2 kg,',),
    ),
    'one inertia': (
        [(1.0, (0.1, 0.1, 0.1)), (2.0, (0.1, 0.1, 0.1)), (3.0, (0.1, 0.1, 0.1))],
        ('the same principal moments, 0.1, 0.1, 0.1 kg m^2,',),
    ),
    'both': ([(5.0, (0.1, 0.2, 0.2))] * 3, ('the same mass, 5 kg', 'the same principal')),
    'units everywhere': ([(1.0, UNIT)] * 3, ('1 kg with unit inertia at every moved link',)),
    'one unit': ([(1.0, UNIT), (2.0, (0.1, 0.1, 0.1))], ('1 kg with unit inertia at part0',)),
    'two alike': ([(2.0, (0.1, 0.1, 0.1))] * 2, ()),
    'all different': (
        [(2.0, (0.1, 0.1, 0.1)), (2.0, (0.2, 0.2, 0.2)), (2.001, (0.2, 0.2, 0.2))], (),
    ),
    'unit mass alone': ([(1.0, (0.1, 0.1, 0.1)), (2.0, (0.2, 0.2, 0.2))], ()),
}


@pytest.mark.parametrize(('properties', 'words'), PLACEHOLDERS.values(), ids=PLACEHOLDERS)
def test_made_up_masses_are_found(properties, words):
    urdf = chain(*bodies(*properties))
    found = find_placeholders(urdf)
    assert len(found) == len(words)
    assert all(one.startswith(word) for one, word in zip(found, words, strict=True))
    assert bool(describe_placeholders(make_robot_model(urdf))) == bool(words)


def test_a_link_with_half_of_the_mass_gets_a_remark(command, tmp_path):
    """Wrong by a unit, say; none of the shipped arms has one, and one of two links may have it."""
    masses = [2.0, 3.0, 1.0, 0.5]
    for factor, count, found in ((1.0, 4, False), (10.0, 4, True), (10.0, 2, False)):
        urdf = chain(*bodies(*((mass * (factor if k == 2 else 1.0), (0.02, 0.03, 0.02 + 0.001 * k))
                               for k, mass in enumerate(masses[-count:]))))
        assert bool(make_robot_model(urdf).remarks) == found
    assert not [name for name in ('ur5', 'ur20', 'youbot') if load_robot(name).remarks]


# --- bodies that can be ------------------------------------------------------------------


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
