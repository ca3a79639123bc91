# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Names, units and places of the standard parameters belong together; a slide has metres."""

import re

from builders import joint, link, robot_urdf, turn_and_slide_urdf
from hypothesis import given, strategies as st
from known_models import base_of
from long_tests import long_test, some_by_day
import numpy as np
from oracles import gautier_khalil, screw_x, screw_z, SYMBOLS
import pinocchio as pin
import pytest
from reproductions.known_motion import map_base_parameters
from robot_identification.errors import DescriptionError
from robot_identification.model import (
    base_parameters as module, CLASSES, gravity_of_mounting, inertial_regressor, linear_classes,
    link_frames, load_robot, make_robot_model, Motion, observation_matrix, parse_urdf,
    physical_classes, PUBLISHED_ORDERS, published_rows, unidentifiable_reasons,
)
from robot_identification.model.base_parameters import (
    PREFERENCES, random_motion, reduce_to_base, upper_bound,
)
from robot_identification.model.base_structure import (
    find_symbols, Monomial, Term, to_latex, to_plain, to_text,
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


UR = (
    'ur3', 'ur5', 'ur10', 'ur3e', 'ur5e', 'ur7e', 'ur10e', 'ur12e', 'ur15', 'ur16e', 'ur18',
    'ur20', 'ur30', 'ur5_porcelli', 'ur5_tika',
)
ARMS = ('ur5', 'ur10', 'ur5e', 'mixed')
GROUND, CEILING = (0.0, 0.0, 0.0), (np.pi, 0.0, 0.0)
WALL, TILT = (np.pi / 2, 0.0, 0.0), (0.0, np.pi / 4, 0.0)


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


@pytest.mark.parametrize('name', some_by_day(UR, 5))
@pytest.mark.parametrize(
    ('mounting', 'inertial', 'whole', 'appear'),
    [(GROUND, 36, 52, 49), (CEILING, 36, 52, 49), (WALL, 38, 54, 52), (TILT, 38, 54, 52)],
    ids=['ground', 'ceiling', 'wall', 'tilt'],
)
def test_rank_of_the_ur_arms(name, mounting, inertial, whole, appear):
    """Published counts (Tika 2020, Raviola 2021, Madsen 2020: 49 appear in modified DH frames)."""
    robot = load_robot(name, gravity=gravity_of_mounting(*mounting))
    assert base_of(robot).rank == inertial == upper_bound(robot)
    reduction = base_of(robot, 'coulomb,viscous', rotors=True)
    assert (reduction.rank, reduction.parameters.size) == (whole, 78)
    assert reduction.neglected == ()
    energy = reduction.cumulative_energy
    assert energy[whole - 1] == pytest.approx(1.0, abs=1e-12)
    assert energy[whole - 2] < 1.0 - 1e-4
    modified = base_of(robot, frames=link_frames(robot, 'mdh'))
    assert np.count_nonzero(modified.significant.any(axis=0)) == appear


@pytest.mark.parametrize('frames', ['joint', 'dh', 'mdh'])
@pytest.mark.parametrize('preference', PREFERENCES)
@given(seed=st.integers(0, 2**32 - 1))
def test_sets_map_to_one_another(ur5, frames, preference, seed):
    """Whatever frames and order: base parameters of one body are those of the other set."""
    plain, stated = base_of(ur5, 'viscous', True), link_frames(ur5, frames)
    other = base_of(ur5, 'viscous', True, frames=stated, preference=preference)
    change = np.linalg.inv(stated.to_joint_frames())
    M = map_base_parameters(plain, other, change)
    theta = np.random.default_rng(seed).normal(size=plain.parameters.size)
    theirs = theta.copy()
    theirs[:60] = change @ theta[:60]
    np.testing.assert_allclose(M @ (plain.K @ theta), other.K @ theirs, atol=1e-8)
    assert np.linalg.matrix_rank(M) == plain.rank == other.rank


SKEW = np.nan
PANDA = {
    'alpha': np.array([0, -1, 1, 1, -1, 1, 1]) * np.pi / 2,
    'a': [0, 0, 0, 0.0825, -0.0825, 0, 0.088], 'd': [0.333, 0, 0.316, 0, 0.384, 0, 0],
}
# Numbers B1, B2, B5 of the papers and what the rules of the first joints give: joint types, what
# of the modified table is not drawn at random, whether gravity is along the first axis, count.
COUNTS = {
    '6R ground': ('RRRRRR', {}, True, 36),
    'panda': ('RRRRRRR', PANDA, True, 43),
    'slide in the middle': ('RRPRRR', {}, True, 33),
    'first two parallel, ground': ('RRRRRR', {'alpha': [0, 0] + [SKEW] * 4}, True, 32),
    'slide first': ('PRRRRR', {}, False, 32),
    'vertical lift and turn': ('PRRRRR', {'alpha': [0, 0] + [SKEW] * 4}, True, 30),
    'slide second': ('RPRRPR', {}, False, 31),
    'slide second at right angles': ('RPRRRR', {'alpha': [0, np.pi / 2] + [SKEW] * 4}, True, 32),
    'turn, slide, turn, all parallel': (
        'RPRRR', {'alpha': [0, 0, np.pi, SKEW, SKEW]}, False, 21),
    'scara': ('RRRP', {'alpha': [0, 0, np.pi, 0]}, True, 8),
    'slides only': ('PPP', {}, False, 3),
    # Turning about one vertical line, links 1 to 3 cannot swing; tilted, gravity shows them.
    'one vertical line': (
        'RPRR', {'alpha': [0, 0, 0, SKEW], 'a': [0, 0, 0, 0.3]}, True, 10),
    'one line': ('RPRR', {'alpha': [0, 0, 0, SKEW], 'a': [0, 0, 0, 0.3]}, False, 14),
}


def arm_of_table(kinds, table):
    """Return the arm of a modified table, whose joint frames are those of the table."""
    n, joints = len(kinds), []
    for row, letter in enumerate(kinds):
        pose = screw_x(table['alpha'][row], table['a'][row]) @ screw_z(
            table['offset'][row], table['d'][row]
        )
        joints.append(joint(
            f'j{row}', f'l{row}', f'l{row + 1}', 'prismatic' if letter == 'P' else 'revolute',
            xyz=pose[:3, 3], rpy=pin.rpy.matrixToRpy(pose[:3, :3]),
        ))
    return make_robot_model(parse_urdf(
        robot_urdf(*(link(f'l{row}') for row in range(n + 1)), *joints), 'table'
    ))


@pytest.mark.parametrize('case', COUNTS)
def test_counts_of_made_up_arms_are_those_of_the_closed_form(rng, case):
    """Gautier and Khalil's rules give the rank, and the same combinations of parameters."""
    kinds, given_, vertical, count = COUNTS[case]
    n, table = len(kinds), {}
    for name, low, high in (
        ('alpha', 0.3, 1.2), ('a', 0.2, 0.6), ('d', 0.2, 0.6), ('offset', 0.2, 2.0),
    ):
        drawn = rng.choice([-1.0, 1.0], n) * rng.uniform(low, high, n)
        stated = np.array(given_.get(name, [SKEW] * n), dtype=float)
        table[name] = np.where(np.isnan(stated), drawn, stated)
    first = screw_x(table['alpha'][0], 0.0)[:3, 2]
    robot = arm_of_table(kinds, table).with_gravity(
        -9.81 * (first if vertical else np.array([0.48, 0.6, 0.64]))
    )
    reduction = base_of(robot)
    closed = gautier_khalil(
        table['alpha'], table['a'], table['d'], kinds, vertical, table['offset']
    )
    names = [f'{symbol}{number + 1}' for number in range(n) for symbol in SYMBOLS]
    K = np.array([[terms.get(name, 0.0) for name in names] for terms in closed.values()])
    assert reduction.rank == len(closed) == count
    # Either set in terms of the other; 1e-8 is what least squares leave of numbers of size one.
    change = reduction.K[:, [names.index(name) for name in closed]]
    np.testing.assert_allclose(change @ K, reduction.K, rtol=0, atol=1e-8)


@pytest.mark.parametrize('angle', [1.5708, 1.571])
def test_angles_rounded_in_a_file_make_no_parameters(angle):
    """A right angle of five digits, or four: same rank, and what it left is named."""
    exact, rounded = (
        base_of(arm_of_three(offset=0.0, right=right), rotors=True) for right in (np.pi / 2, angle)
    )
    assert rounded.rank == exact.rank
    assert rounded.names == exact.names
    assert exact.neglected == ()
    assert 'Ia2' in rounded.neglected
    np.testing.assert_allclose(rounded.K, exact.K, atol=2 * abs(angle - np.pi / 2))


@pytest.mark.parametrize('name', ARMS)
def test_expressions_say_what_the_matrix_does(robots, name):
    """What a reader calculates from the text is K's row, to the digits printed."""
    reduction = base_of(robots[name], 'viscous', rotors=True)
    for row in range(reduction.rank):
        terms = parse_expression(reduction.expression(row))
        values = np.zeros(reduction.parameters.size)
        for symbol, factor in terms.items():
            values[reduction.parameters.names.index(symbol)] = factor
        np.testing.assert_allclose(values, reduction.K[row], rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize('name', ARMS)
@given(seed=st.integers(0, 2**32 - 1))
def test_base_reduction_keeps_torques(robots, reductions, name, seed):
    """Any standard parameters and their base parameters give the same torque, on any motion."""
    # Rounding of K is 1e-9 of its size by its own cut-off, hence of the torque's size.
    robot, rng = robots[name], np.random.default_rng(seed)
    reduction, n = reductions[name], robot.n
    motion = Motion(*(rng.uniform(-4, 4, (3, n)) for _ in range(3)))
    W = observation_matrix(robot, reduction.parameters, motion)
    theta = rng.normal(size=reduction.parameters.size)
    tau = W @ theta
    kept = W[:, reduction.independent] @ (reduction.K @ theta)
    np.testing.assert_allclose(kept, tau, rtol=0, atol=1e-8 * (1.0 + np.abs(tau).max()))


def arm_of_three(
    limit='<limit lower="-2.5" upper="2.5" velocity="3" effort="60"/>', offset=0.4,
    right=np.pi / 2,
):
    """Return a shoulder with an offset [m] and an elbow; axes are at this angle."""
    return make_robot_model(parse_urdf(robot_urdf(
        link('l0'), *(link(f'l{i + 1}') for i in range(3)),
        joint('j0', 'l0', 'l1', limit=limit),
        joint('j1', 'l1', 'l2', xyz=(offset, 0, 0), rpy=(right, 0, 0), limit=limit),
        joint('j2', 'l2', 'l3', xyz=(0.4, 0, 0), limit=limit),
    ), 'arm'))


@pytest.mark.parametrize('offset', [0.05, 0.025, 0.005])
def test_small_lengths_are_lengths(offset):
    """Of a shoulder offset of millimetres the mass beyond it has the square as coefficient."""
    # Torques are kept to 1e-8, as with any other arm.
    robot = arm_of_three(offset=offset)
    reduction = base_of(robot)
    assert reduction.neglected == ()
    row, column = reduction.names.index('Izz1'), reduction.parameters.names.index('m2')
    assert reduction.K[row, column] == pytest.approx(offset**2, rel=1e-6)
    motion = random_motion(robot, 20, np.random.default_rng(5))
    W = observation_matrix(robot, reduction.parameters, motion)
    kept = W[:, reduction.independent] @ reduction.K
    np.testing.assert_allclose(kept, W, atol=1e-8 * np.abs(W).max())


def test_unclear_rank_is_refused(ur5, monkeypatch):
    """Where accepted and rejected columns are of one size, the user is told, not guessed for."""
    # On the UR5 the independent parts lie between 0.6 and 1: no number there parts them.
    monkeypatch.setattr(module, 'INDEPENDENCE_LEVELS', (0.7,))
    with pytest.raises(DescriptionError, match='ur5: the number of base parameters is not clear'):
        base_of(ur5)


# --- identifiability classes -------------------------------------------------------------


def classes_of(name, mounting=GROUND, frames='dh', drives=True):
    """Return robot, frames and reduction."""
    robot = load_robot(name, gravity=gravity_of_mounting(*mounting))
    friction, stated = 'coulomb,viscous' if drives else 'none', link_frames(robot, frames)
    return robot, stated, base_of(robot, friction, drives, frames=stated)


def counts(classes):
    return tuple(len(classes[kind]) for kind in CLASSES)


@pytest.mark.parametrize('name', ['ur3', 'ur5', 'ur10e', 'ur5_porcelli'])
@pytest.mark.parametrize(
    ('mounting', 'frames', 'linear', 'physical'),
    [
        (GROUND, 'dh', (36, 33, 9), (30, 39, 9)),
        (WALL, 'dh', (37, 34, 7), (30, 42, 6)),
        (GROUND, 'mdh', (36, 31, 11), (30, 38, 10)),
        (WALL, 'joint', (37, 33, 8), (30, 42, 6)),
    ],
)
def test_published_counts(name, mounting, frames, linear, physical):
    """Raviola et al. 2021 print 30/39/9 and 30/42/6, counting masses and centres (numbers B3)."""
    _, _, reduction = classes_of(name, mounting, frames)
    assert counts(linear_classes(reduction)) == linear
    assert counts(physical_classes(reduction)) == physical


@pytest.mark.parametrize('frames', ['joint', 'dh', 'mdh'])
@pytest.mark.parametrize('name', ['ur5', 'youbot', 'ur5_porcelli_bse'])
def test_classes_are_those_of_the_null_space(name, frames):
    """A parameter is seen alone exactly if no null vector of the regressor has a part along it."""
    # That is so whatever set of base parameters is chosen; null vectors are found by SVD of other
    # random samples, where "no part" is 1e-12 and the smallest part of a combined one 0.1.
    robot, stated, reduction = classes_of(name, frames=frames, drives=False)
    rng = np.random.default_rng(7)
    n = robot.n
    motion = Motion(*(rng.uniform(-3, 3, (150, n)) for _ in range(3)))
    W = inertial_regressor(robot, motion) @ stated.to_joint_frames()
    _, singular, Vt = np.linalg.svd(W)
    null = Vt[np.count_nonzero(singular > 1e-9 * singular[0]):].T
    part = np.linalg.norm(null, axis=1)
    alone = {reduction.parameters.names[i] for i in np.flatnonzero(part < 1e-9)}
    hidden = {
        reduction.parameters.names[i]
        for i in np.flatnonzero(np.linalg.norm(W, axis=0) < 1e-9 * np.linalg.norm(W))
    }
    found = linear_classes(reduction)
    assert set(found['identifiable']) == alone
    assert set(found['unidentifiable']) == hidden


@pytest.mark.parametrize('frames', ['joint', 'dh', 'mdh'])
@pytest.mark.parametrize('mounting', [GROUND, WALL])
@pytest.mark.parametrize('name', ['ur5', 'youbot'])
def test_reasons_are_true(name, mounting, frames):
    """What is blamed on gravity is seen when the arm is tilted, and nothing else is."""
    robot, stated, reduction = classes_of(name, mounting, frames)
    reasons = unidentifiable_reasons(robot, reduction, stated)
    hidden = linear_classes(reduction)['unidentifiable']
    assert sorted(reasons) == sorted(hidden)
    tilted = robot.with_gravity([3.0, -2.0, -8.0])
    then = linear_classes(reduce_to_base(tilted, reduction.parameters, frames=stated))
    for parameter, reason in reasons.items():
        assert ('parallel to gravity' in reason) == (parameter not in then['unidentifiable'])
    if mounting == WALL:
        assert not any('gravity' in reason for reason in reasons.values())


def test_a_link_that_only_slides_shows_its_mass_only():
    """Of a slider on a rail: the mass, and why not the rest."""
    robot = make_robot_model(parse_urdf(robot_urdf(
        link('rail'), link('cart'), joint('slide', 'rail', 'cart', 'prismatic', (1, 0, 0)),
    ), 'cart'))
    reduction = base_of(robot)
    assert reduction.names == ('m1',)
    reasons = unidentifiable_reasons(robot, reduction)
    assert len(reasons) == 9
    assert all('only slides' in reason for reason in reasons.values())
