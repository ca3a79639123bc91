# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Which link breaks which rule: a published estimate, minimal examples, arms that break none."""

from builders import joint, link, robot_urdf
import numpy as np
import pinocchio as pin
import pytest
from robot_identification.model.plausibility import find_implausibilities, MASS_TOLERANCE
from robot_identification.model.registry import known_robots, load_robot
from robot_identification.model.regressor import prior_inertial_parameters
from robot_identification.model.robot_model import make_robot_model
from robot_identification.model.urdf import parse_urdf

# J. Rajagopal, R&D report, Bonn-Rhein-Sieg 2017, table 4.1: links 1 to 5 in columns; his order,
# m, m c, xx, xy, xz, yy, yz, zz. He calls the estimate not plausible himself.
TABLE_4_1 = np.array([
    [0.0, 0.4423282, -0.07506977, -0.18771262, 0.0409276],
    [0.0, 0.02806447, -0.02850257, -0.00062882, -0.00758307],
    [0.0, -0.00239462, 0.01631021, -0.08223756, 0.04153505],
    [0.0, 7.01280635, -0.40840137, -0.35556988, -0.06903857],
    [0.0, -0.89356512, 0.24514397, -0.03275741, 0.05140932],
    [0.0, 0.32704962, 0.0536501, -0.10738527, 0.13045645],
    [0.0, 0.54061164, 0.29247126, 0.21439377, 0.03270133],
    [0.0, 0.90142364, -0.36549833, -0.12854182, -0.00264338],
    [0.0, -0.02933403, -0.01265898, -0.09367053, 0.00154423],
    [-0.2390516, 0.37695014, 0.04190707, -0.45573522, 0.11160058],
])
# His row of each of our ten: xz and yy change places.
OURS = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
# One link that turns about z, its centre of mass on the axis.
GOOD = np.array([1.0, 0.0, 0.0, 0.0, 0.02, 0.0, 0.03, 0.0, 0.0, 0.025])


@pytest.fixture(scope='module')
def pendulum():
    """Return an arm of one joint."""
    return make_robot_model(parse_urdf(
        robot_urdf(link('ground'), link('bob'), joint('turn', 'ground', 'bob')), 'pendulum'
    ))


def links_that_break(found, rule):
    """Return the numbers of the links that break a rule, and the values found."""
    return {int(each.link.split()[1]): each.value for each in found if each.rule == rule}


@pytest.fixture(scope='module')
def findings():
    """Return what is found in the report's estimate for its own arm."""
    robot = load_robot('youbot')
    return find_implausibilities(
        robot, TABLE_4_1[OURS].T.ravel(), maker=prior_inertial_parameters(robot)
    )


def test_the_reports_masses_are_found(findings):
    """Numbers D10: links 3 and 4 weigh less than nothing, link 1 (never seen) nothing at all."""
    assert links_that_break(findings, 'mass') == {1: 0.0, 3: -0.07506977, 4: -0.18771262}
    texts = [each.text for each in findings if each.rule == 'mass']
    assert texts[1] == 'link 3 (moved by arm_joint_3): mass is -0.07507 kg, it must be positive'


def test_the_reports_inertias_are_found(findings):
    """Numbers D10: the only number seen of link 1 is negative; links 2 to 5 are no bodies."""
    assert links_that_break(findings, 'inertia')[1] == -0.2390516
    assert {2, 3, 4, 5} <= set(links_that_break(findings, 'pseudo-inertia'))
    assert all(value < 0.0 for value in links_that_break(findings, 'pseudo-inertia').values())
    assert any('Izz is -0.2391 kg m^2' in each.text for each in findings)


def test_the_reports_masses_are_not_the_makers(findings):
    """Differences from the published 1.39, 1.318, 0.821, 0.769 and 0.687 kg, above 0.1 kg all."""
    expected = {
        number: abs(found - maker) for number, (found, maker) in enumerate(
            zip(TABLE_4_1[0], [1.39, 1.318, 0.821, 0.769, 0.687], strict=True), 1)
    }
    assert links_that_break(findings, 'maker') == pytest.approx(expected, abs=1e-12)
    assert MASS_TOLERANCE == 0.1
    texts = [each.text for each in findings if each.rule == 'maker']
    assert texts[4].endswith("is -0.6461 kg from the maker's 0.687 kg, credible are 0.1 kg")


def test_the_reports_arm_would_run_away(findings):
    """Its mass matrix is not positive: a simulator cannot use it. The arm comes last."""
    assert findings[-1].link == 'arm'
    assert findings[-1].rule == 'mass matrix'
    assert findings[-1].value < -1.0


@pytest.mark.parametrize('name', [known.name for known in known_robots()])
def test_shipped_arms_have_nothing_to_say(name):
    robot = load_robot(name)
    theta = prior_inertial_parameters(robot)
    assert find_implausibilities(robot, theta, maker=theta) == ()


def rules(found):
    return [each.rule for each in found]


def test_a_body_breaks_no_rule(pendulum):
    assert find_implausibilities(pendulum, GOOD) == ()


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
    """
    Far from the joint the same impossible body passes at the joint's origin.

    There Steiner adds 1 to two moments: 0.06, 0.03 and 0.02 become 0.06, 1.03 and 1.02.
    """
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
    """
    A moment of -0.01 kg m^2 about the axis with a rotor of 0.02: the motor feels 0.01.

    The link is none, but nothing runs away; with 0.005 it does, at -0.005.
    """
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
