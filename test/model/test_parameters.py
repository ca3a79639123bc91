# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Names, units and places of the standard parameters belong together."""

import pytest
from robot_identification.errors import UsageError
from robot_identification.model.friction import FRICTION_LAWS, parse_friction
from robot_identification.model.parameters import make_standard_parameters, split_name


def test_order_is_links_friction_by_kind_rotors():
    """Friction and rotors stand by kind, joints inside, as Raviola et al. 2021 have them."""
    parameters = make_standard_parameters(2, parse_friction('coulomb,viscous'), True)
    assert parameters.names[:11] == (
        'm1', 'mx1', 'my1', 'mz1', 'Ixx1', 'Ixy1', 'Iyy1', 'Ixz1', 'Iyz1', 'Izz1', 'm2',
    )
    assert parameters.names[20:] == ('fc1', 'fc2', 'fv1', 'fv2', 'Ia1', 'Ia2')
    assert parameters.units[:5] == ('kg', 'kg m', 'kg m', 'kg m', 'kg m^2')
    assert parameters.units[20:] == ('N m', 'N m', 'N m s/rad', 'N m s/rad', 'kg m^2', 'kg m^2')


@pytest.mark.parametrize('reflected_inertia', [False, True])
@pytest.mark.parametrize('friction', ['none', 'viscous', 'viscous,coulomb,offset'])
def test_slices_cover_the_names(friction, reflected_inertia):
    laws = parse_friction(friction)
    parameters = make_standard_parameters(3, laws, reflected_inertia)
    assert parameters.size == len(parameters.names) == len(parameters.units)
    assert len(set(parameters.names)) == parameters.size
    for term, part in parameters.friction_columns:
        expected = tuple(f'{symbol}{term.joint + 1}' for symbol in term.law.symbols)
        assert parameters.names[part] == expected
    assert len(parameters.names[parameters.friction_slice]) == 3 * len(laws)
    rotors = parameters.names[parameters.reflected_inertia_slice]
    assert rotors == (('Ia1', 'Ia2', 'Ia3') if reflected_inertia else ())


def test_laws_are_named_in_a_comma_list():
    assert parse_friction('none') == ()
    assert [law.name for law in parse_friction(' viscous , coulomb ')] == ['viscous', 'coulomb']


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('stribek', 'unknown friction law stribek: known are coulomb'),
        ('viscous,viscous', 'named twice'),
        ('', 'unknown friction law'),
        ('select', 'friction select was removed in 2.0: name friction laws, or use auto'),
        ('none,viscous', 'unknown friction law none'),
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
