# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Names, units and places of the standard parameters belong together; a slide has metres."""

from builders import turn_and_slide_urdf
import pytest
from robot_identification.errors import UsageError
from robot_identification.model import make_robot_model, parse_urdf
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import FRICTION_LAWS, parse_friction
from robot_identification.model.parameters import (
    make_standard_parameters, split_name, unit_of_joint, unit_of_joints,
)


def test_order_is_links_friction_by_kind_rotors():
    """Friction and rotors stand by kind, joints inside, as Raviola et al. 2021 have them."""
    parameters = make_standard_parameters(2, parse_friction('coulomb,viscous'), True)
    assert parameters.names[:11] == (
        'm1', 'mx1', 'my1', 'mz1', 'Ixx1', 'Ixy1', 'Iyy1', 'Ixz1', 'Iyz1', 'Izz1', 'm2',
    )
    assert parameters.names[20:] == ('fc1', 'fc2', 'fv1', 'fv2', 'Ia1', 'Ia2')
    assert parameters.units[:5] == ('kg', 'kg m', 'kg m', 'kg m', 'kg m^2')
    assert parameters.units[20:] == ('N m', 'N m', 'N m s/rad', 'N m s/rad', 'kg m^2', 'kg m^2')


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('stribek', 'unknown friction law stribek: known are coulomb'),
        ('', 'unknown friction law'),
        ('select', 'friction select was removed in 2.0: name friction laws, or use auto'),
    ],
)
def test_wrong_lists_are_refused(text, message):
    with pytest.raises(UsageError, match=message):
        parse_friction(text)


def test_names_are_split_as_they_were_made():
    """Every law on ten joints and more: a symbol that ends in 0 and a joint number that does."""
    for law in FRICTION_LAWS.values():
        parameters = make_standard_parameters(20, (law(),), True)
        for term, part in parameters.friction_columns:
            expected = [(symbol, term.joint + 1) for symbol in term.law.symbols]
            assert [split_name(name) for name in parameters.names[part]] == expected
    assert split_name('f010') == ('f0', 10)
    with pytest.raises(ValueError, match='no symbol with a number'):
        split_name('mx')


# --- units of the joint ------------------------------------------------------------------


@pytest.mark.parametrize(('about', 'along'), [
    ('rad', 'm'), ('rad/s^2', 'm/s^2'), ('N m', 'N'), ('Nm', 'N'), ('mNm', 'mN'),
    ('N m s/rad', 'N s/m'), ('N m s^3/rad^3', 'N s^3/m^3'), ('N m/rad', 'N/m'),
    ('N m s/(rad K)', 'N s/(m K)'), ('N m/A', 'N per A'), ('kg m^2', 'kg'),
    # What has nothing to do with the axis.
    ('A', 'A'), ('1', '1'), ('kg m', 'kg m'), ('kg', 'kg'), ('s', 's'),
])
def test_units_along_an_axis(about, along):
    assert unit_of_joint(about, 'm') == along
    assert unit_of_joint(about, 'rad') == about
    assert unit_of_joints(about, ['rad', 'rad']) == about
    assert unit_of_joints(about, ['m']) == along
    assert unit_of_joints(about, ['rad', 'm', 'rad']) == (
        about if about == along else f'{about} or {along}'
    )


def test_parameters_have_the_units_of_their_joints():
    """Of friction and rotors; those of bodies are the same behind every joint."""
    robot = make_robot_model(parse_urdf(turn_and_slide_urdf(), 'both'))
    assert robot.position_units == ('rad', 'm')
    assert robot.joints.unit('N m', 1) == robot.unit('N m', 1) == 'N'
    assert robot.joints.units('rad/s') == robot.units('rad/s')
    assert robot.encoders.slides.tolist() == [False, True]
    assert robot.units('rad/s') == 'rad/s or m/s'
    assert robot.units('rad/s', [0]) == 'rad/s'
    reduction = reduce_to_base(robot, make_standard_parameters(
        2, parse_friction('coulomb,viscous,offset'), True
    ))
    units = dict(zip(reduction.names, reduction.units_of(robot), strict=True))
    plain = dict(zip(reduction.parameters.names, reduction.parameters.units, strict=True))
    assert {name: unit for name, unit in units.items() if unit != plain[name]} == {
        'fv2': 'N s/m', 'fc2': 'N', 'f02': 'N', 'Ia2': 'kg',
    }
