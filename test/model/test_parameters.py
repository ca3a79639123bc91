# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Names, units and places of the standard parameters belong together; a slide has metres."""

from builders import turn_and_slide_urdf
from known_models import base_of
from long_tests import long_test
import numpy as np
import pytest
from robot_identification.model import (
    link_frames, load_robot, make_robot_model, parse_urdf, PUBLISHED_ORDERS, published_rows,
)
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.base_structure import (
    find_symbols, latex_symbol, Monomial, Term, to_latex, to_plain, to_text,
)
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


DRIVES = {f'{symbol}{joint}': {} for symbol in ('fc', 'fv') for joint in range(1, 7)}
DRIVES |= {f'Ia{joint}': {} for joint in range(3, 7)}
# Tika et al. 2020, table II, as numbers.md B9 restores it: in symbols.
WRIST, ELBOW = '(m4 + m5 + m6)', '(m3 + m4 + m5 + m6)'
TIKA = [
    f'Izz1 + Iyy2 + a3^2 m3 + Iyy3 + (a3^2 + a4^2 + d4^2) {WRIST} + 2 d4 mz4 + Iyy4 + Ia1',
    f'Ixx2 - Iyy2 - a3^2 {ELBOW}',
    'Ixy2',
    f'Ixz2 - a3 (mz3 + mz4) - a3 d4 {WRIST}',
    'Iyz2',
    f'Izz2 + a3^2 {ELBOW} + Ia2',
    f'mx2 + a3 {ELBOW}',
    'my2',
    f'Ixx3 - Iyy3 - a4^2 {WRIST}',
    'Ixy3',
    f'Ixz3 - a4 d4 {WRIST} - a4 mz4',
    'Iyz3',
    f'Izz3 + a4^2 {WRIST}',
    f'mx3 + a4 {WRIST}',
    'my3',
    'Ixx4 - Iyy4 + d5^2 (m5 + m6) + 2 d5 mz5 + Iyy5',
    'Ixy4', 'Ixz4', 'Iyz4',
    'Izz4 + d5^2 (m5 + m6) + 2 d5 mz5 + Iyy5',
    'mx4',
    'my4 - d5 (m5 + m6) - mz5',
    'Ixx5 - Iyy5 + Iyy6',
    'Ixy5', 'Ixz5', 'Iyz5',
    'Izz5 + Iyy6',
    'mx5',
    'my5 + mz6',
    'Ixx6 - Iyy6',
    'Ixy6', 'Ixz6', 'Iyz6', 'Izz6', 'mx6', 'my6',
    *DRIVES,
]


def symbols_of(robot, *, frames='joint', preference='gautier_khalil', drives=True):
    friction, stated = 'coulomb,viscous' if drives else 'none', link_frames(robot, frames)
    reduction = base_of(robot, friction, drives, frames=stated, preference=preference)
    return reduction, find_symbols(robot, reduction, stated)


def test_list_of_tika():
    """The 52 expressions in their order, in the paper's frames and lengths."""
    robot = load_robot('ur5_tika')
    reduction, found = symbols_of(robot, frames='mdh')
    rows = published_rows(reduction, PUBLISHED_ORDERS['tika'])
    assert [to_text(found.expressions[row]) for row in rows] == TIKA
    assert found.constants == {'a3': -0.425, 'a4': -0.392, 'd4': 0.109, 'd5': 0.094}


@pytest.mark.parametrize('preference', ['gautier_khalil', 'mass_first'])
@pytest.mark.parametrize('frames', ['joint', 'dh', 'mdh'])
@pytest.mark.parametrize('name', [
    'ur3', 'youbot',
    *(pytest.param(name, marks=long_test) for name in ('ur10', 'ur10e', 'ur5_tika')),
])
def test_expressions_are_the_matrix(name, frames, preference):
    """Each expression, evaluated at the arm's lengths, is its row of K."""
    # 1e-8 of a coefficient is what a symbol may be off before it is given as a number instead.
    reduction, found = symbols_of(load_robot(name), frames=frames, preference=preference)
    assert found.error < 1e-8
    index = {parameter: column for column, parameter in enumerate(reduction.parameters.names)}
    for row, expression in enumerate(found.expressions):
        values = np.zeros(reduction.parameters.size)
        for term in expression:
            values[index[term.parameter]] = (
                sum(part.evaluate(found.constants) for part in term.coefficient)
                if term.coefficient else term.value
            )
        np.testing.assert_allclose(values, reduction.K[row], atol=2e-8, rtol=1e-8)
        assert expression[0].parameter == reduction.names[row]
    # Gautier and Khalil's frames have z along the link's own axis.
    if preference == 'gautier_khalil' and frames != 'dh':
        assert found.numeric == 0, 'polynomials of degree two, as Gautier and Khalil say'


def test_what_no_law_explains_is_given_as_a_number():
    """A term without monomials keeps its value in text and LaTeX, and says so in JSON."""
    expression = (
        Term('Izz1', 1.0, (Monomial(1.0, ()),)), Term('m2', -0.25, ()), Term('m3', -0.25, ()),
    )
    assert to_text(expression) == 'Izz1 - 0.25 (m2 + m3)'
    assert to_latex(expression) == r'I_{zz,1} - 0.25 (m_{2} + m_{3})'
    assert to_plain(expression)[1] == {'parameter': 'm2', 'value': -0.25, 'coefficient': []}


def test_how_expressions_are_written():
    """Powers, factors, fractions and signs; a sum stands in brackets before its parameter."""
    a, d = (('a2', 1),), (('d4', 2),)
    expression = (
        Term('mx1', 1.0, (Monomial(1.0, ()),)),
        Term('m2', 0.0, (Monomial(-2.0, a),)),
        Term('Ixz3', 0.0, (Monomial(1.0, (('a2', -1),)),)),
        Term('m4', 0.0, (Monomial(1.0, d), Monomial(-1.0, (('a2', 2),)))),
    )
    assert to_text(expression) == 'mx1 - 2 a2 m2 + 1/a2 Ixz3 + (d4^2 - a2^2) m4'
    assert to_latex(expression) == (
        r'mx_{1} - 2 a_{2} m_{2} + \\frac{1}{a_{2}} I_{xz,3} + '
        r'(d_{4}^{2} - a_{2}^{2}) m_{4}'
    ).replace('\\\\', '\\')
    assert [latex_symbol(name) for name in ('m4', 'Ixx3', 'fc6', 'Ia10', 'd5', 'f01')] == [
        'm_{4}', 'I_{xx,3}', 'f_{c,6}', 'I_{a,10}', 'd_{5}', 'f_{0,1}',
    ]
