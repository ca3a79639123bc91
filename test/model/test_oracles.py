# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The oracles agree with Pinocchio, with each other, and with what the literature prints."""

import re

import numpy as np
from oracles import (
    change_of_frame, dh_chain, gautier_khalil, lagrangian_regressor, newton_euler_regressor,
    screw_x, screw_z, SYMBOLS,
)
import pinocchio as pin
import pytest

PI = np.pi
REGRESSORS = (lagrangian_regressor, newton_euler_regressor)
GROUND, CEILING, WALL = (0.0, 0.0, -9.81), (0.0, 0.0, 9.81), (0.0, -9.81, 0.0)

# UR5 of G. Porcelli's thesis (2020): tables 2.2, 2.3 and 2.4; standard frames.
UR5 = dh_chain(
    [0, -0.425, -0.39225, 0, 0, 0], [PI / 2, 0, 0, PI / 2, -PI / 2, 0],
    [0.089159, 0, 0, 0.10915, 0.09465, 0.0823], np.zeros(6), 'standard',
)
MASSES = (3.7, 8.393, 2.33, 1.219, 1.219, 0.1879)
CENTRES = (
    (0, -0.02561, 0.00193), (0.2125, 0, 0.11336), (0.15, 0, 0.0265), (0, -0.0018, 0.01634),
    (0, 0.0018, 0.01634), (0, 0, 0.001159),
)
# xx, yy, zz, xz; the other products are zero.
TENSORS = (
    (0.0067, 0.0064, 0.0067, 0), (0.0149, 0.3564, 0.3553, 0), (0.0025, 0.0551, 0.0546, 0.0034),
    (0.0012, 0.0012, 0.0009, 0), (0.0012, 0.0012, 0.0009, 0), (0.0001, 0.0001, 0.0001, 0),
)
# UR5 of Tika et al. (2020), table I; modified frames.
TIKA_UR5 = {
    'alpha': [0, PI / 2, 0, 0, PI / 2, -PI / 2], 'a': [0, 0, -0.425, -0.392, 0, 0],
    'd': [0, 0, 0, 0.109, 0.094, 0], 'joint_types': 'RRRRRR',
}
# Motions of the thesis' arm and their torques [Nm], derived with Pinocchio (numbers.md B11).
REST = np.zeros(6)
POSE = np.array([0.1, -1.2, 0.8, -0.5, 0.4, 0.3])
VELOCITY = np.array([0.5, -0.4, 0.3, 0.2, -0.1, 0.6])
ACCELERATION = np.array([1, -0.5, 0.7, 0.3, -0.2, 0.4])
TORQUES = {
    'stretched': (REST, REST, REST, GROUND, (0, -53.800216, -15.641572, 0, 0, 0)),
    'still': (
        POSE, REST, REST, GROUND, (0, -29.477946, -15.650865, -1.244024, 0.251974, 0),
    ),
    'ground': (
        POSE, VELOCITY, ACCELERATION, GROUND,
        (1.161150, -30.950301, -15.756152, -1.189446, 0.231993, 0.000112),
    ),
    'ceiling': (
        POSE, VELOCITY, ACCELERATION, CEILING,
        (1.161150, 28.005591, 15.545579, 1.298602, -0.271955, 0.000112),
    ),
    'wall': (
        POSE, VELOCITY, ACCELERATION, WALL,
        (-26.859598, -5.549840, -0.632161, 0.135800, 0.095378, 0.000112),
    ),
}
# Raviola et al. (2021), eq. A2, signs restored (numbers.md B8): base parameters of the UR5 in
# standard frames, coefficients as printed. The first two exist where axis 1 is not vertical.
TILTED_BASE = ('mx1', 'mz1 - 2.353 Ixz2')
PRINTED_BASE = (
    'Iyy1 + Iyy2 + Iyy3 - Izz2 - Izz3 + Izz4 + Ia1 - Ia2'
    ' + 0.01191 m4 + 0.01191 m5 + 0.01191 m6 + 0.2183 my4',
    'm2 - 5.536 Izz2 + 6.499 Izz3 - 5.536 Ia2',
    'mx2 - 2.353 Izz2 - 2.353 Ia2',
    'my2',
    'mz2 + 2.353 Ixz2 - 2.549 Ixz3',
    'Ixx2 - Iyy2 + Izz2 + Ia2',
    'Ixy2',
    'Iyz2',
    'm3 - 6.499 Izz3 + m4 + m5 + m6',
    'mx3 - 2.549 Izz3',
    'my3',
    'mz3 + 2.549 Ixz3 + 0.1092 m4 + 0.1092 m5 + 0.1092 m6 + my4',
    'Ixx3 - Iyy3 + Izz3',
    'Ixy3',
    'Iyz3',
    'mx4',
    'mz4 - my5 + 0.09465 m5 + 0.09465 m6',
    'Ixx4 - Izz4 + Izz5 + 0.008959 m5 + 0.008959 m6 - 0.1893 my5',
    'Ixy4',
    'Ixz4',
    'Iyy4 + Izz5 + 0.008959 m5 + 0.008959 m6 - 0.1893 my5',
    'Iyz4',
    'mx5',
    'mz5 + 0.0823 m6 + mz6',
    'Ixx5 + Iyy6 - Izz5 + 0.006773 m6 + 0.1646 mz6',
    'Ixy5',
    'Ixz5',
    'Iyy5 + Iyy6 + 0.006773 m6 + 0.1646 mz6',
    'Iyz5',
    'mx6',
    'my6',
    'Ixx6 - Iyy6',
    'Ixy6',
    'Ixz6',
    'Iyz6',
    'Izz6',
    'Ia3', 'Ia4', 'Ia5', 'Ia6',
)
# Their values for the thesis' arm without rotors, by leading parameter (numbers.md B10); the
# others are zero.
BASE_VALUES = {
    'Iyy1': 0.149213, 'm2': 5.023291, 'mx2': 0.055756, 'mz2': 0.490659, 'Ixx2': 0.0138,
    'm3': 4.2603, 'mx3': 0.076651, 'mz3': 0.331224, 'Ixx3': 0.002, 'mz4': 0.150887,
    'Ixx4': 0.013718, 'Iyy4': 0.014618, 'Iyz4': 3.6e-5, 'mz5': 0.0356, 'Ixx5': 0.002034,
    'Iyy5': 0.002934, 'Iyz5': -3.6e-5, 'Izz6': 1e-4,
}


def tensor_matrix(xx, yy, zz, xz):
    """Return a row of the thesis' table 2.4 as a matrix [kg m^2]."""
    return np.array([[xx, 0, xz], [0, yy, 0], [xz, 0, zz]])


def shift_to_origin(mass, centre):
    """Return what the parallel-axis theorem adds to a tensor about the centre of mass."""
    centre = np.array(centre, dtype=float)
    return mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))


def thesis_parameters():
    """Return the parameters of the thesis' arm, tensors read about the centres, shape (60,)."""
    theta = []
    for mass, centre, tensor in zip(MASSES, CENTRES, TENSORS, strict=True):
        inertia = tensor_matrix(*tensor) + shift_to_origin(mass, centre)
        theta += [mass, *(mass * np.array(centre)), *inertia[np.tril_indices(3)]]
    return np.array(theta)


def random_table(rng, joint_types, alpha=None, **columns):
    """Return a modified table without symmetry except what is given; all angles are skew."""
    n = len(joint_types)

    def skew(low, high):
        return rng.choice([-1.0, 1.0], n) * rng.uniform(low, high, n)

    drawn = {'alpha': skew(0.3, 1.2), 'a': skew(0.2, 0.6), 'd': skew(0.2, 0.6),
             'offset': skew(0.2, 2.0)}
    given = {name: np.array(values, dtype=float) for name, values in columns.items()}
    if alpha is not None:
        # NaN: as drawn.
        given['alpha'] = np.where(np.isnan(alpha), drawn['alpha'], alpha)
    return {**drawn, **given, 'joint_types': joint_types}


def make_chain(table):
    """Return the arm of a modified table."""
    offset = table.get('offset', np.zeros(len(table['joint_types'])))
    return dh_chain(
        table['a'], table['alpha'], table['d'], offset, 'modified', table['joint_types']
    )


def random_states(rng, n, samples):
    """Return unrelated positions, velocities and accelerations of one size, (samples, 3, n)."""
    return rng.uniform(-2.5, 2.5, (samples, 3, n))


def observation_matrix(chain, states, gravity):
    """Return the stacked regressors, shape (samples n, 10 n)."""
    return np.vstack([newton_euler_regressor(chain, *state, gravity) for state in states])


def pinocchio_arm(chain):
    """
    Return a massless Pinocchio model of an arm, and the pose of each link frame in its joint's.

    Pinocchio's joint frames turn with z; in a standard table they stand at the near end.
    """
    model, placements, before = pin.Model(), [], np.eye(4)
    for row in range(chain.n):
        normal = screw_x(chain.alpha[row], chain.a[row])
        along = screw_z(chain.offset[row], chain.d[row])
        placement = before @ along if chain.standard else normal @ along
        joint = pin.JointModelPZ() if chain.prismatic[row] else pin.JointModelRZ()
        model.addJoint(row, joint, pin.SE3(placement), f'joint{row + 1}')
        before = normal
        placements.append(normal if chain.standard else np.eye(4))
    return model, placements


def pinocchio_regressor(chain, q, dq, ddq, gravity):
    """Return Pinocchio's regressor with the columns of the link frames, shape (n, 10 n)."""
    model, placements = pinocchio_arm(chain)
    model.gravity.linear = np.array(gravity)
    Y = pin.computeJointTorqueRegressor(model, model.createData(), q, dq, ddq)
    blocks = np.split(Y, chain.n, axis=1)
    return np.hstack([
        block @ change_of_frame(placement)
        for block, placement in zip(blocks, placements, strict=True)
    ])


def parse_base(rows):
    """
    Return leading names, coefficients and their half last digits from what a paper prints.

    Returns
    -------
    leading : list of str
        First name of every row.
    K, rounding : ndarray, shape (b, 66)
        Columns are 60 inertial parameters and 6 rotor inertias. A coefficient without digits is
        one, exactly.

    """
    names = [f'{symbol}{i}' for i in range(1, 7) for symbol in SYMBOLS]
    names += [f'Ia{i}' for i in range(1, 7)]
    leading, K, rounding = [], np.zeros((len(rows), 66)), np.zeros((len(rows), 66))
    for row, text in enumerate(rows):
        for part in re.split(r' (?=[+-] )', text):
            match = re.fullmatch(r'(?:([+-]) )?(?:\d\.(\d+) )?(\w+)', part)
            assert match, f'{part!r} in {text!r}'
            sign, digits, name = match.groups()
            value = float(part.split()[-2]) if digits else 1.0
            column = names.index(name)
            K[row, column] = -value if sign == '-' else value
            rounding[row, column] = 0.5 * 10.0 ** -len(digits) if digits else 0.0
        leading.append(re.search(r'\w+', text)[0])
    return leading, K, rounding


def numeric_reduction(W, chosen):
    """
    Return the rank of W and the coefficients of its columns on the chosen ones.

    The rank is that of columns of length one, zero ones left out; it has to be clear by a factor
    of a million between singular values.
    """
    scale = np.linalg.norm(W, axis=0)
    null = scale <= 1e-12 * scale.max()
    scale[null] = 1.0
    unit = W / scale
    singular = np.linalg.svd(unit[:, ~null], compute_uv=False)
    rank = np.count_nonzero(singular > 1e-9 * singular[0])
    accepted, rejected = singular[rank - 1], singular[rank:].max(initial=1e-16)
    assert accepted > 1e6 * rejected, 'the rank is not clear'
    K = np.linalg.lstsq(unit[:, chosen], unit, rcond=None)[0]
    return rank, K * scale / scale[chosen][:, None]


def base_matrix(base, n):
    """Return the leading columns and the coefficients of closed-form expressions."""
    names = [f'{symbol}{i}' for i in range(1, n + 1) for symbol in SYMBOLS]
    K = np.zeros((len(base), 10 * n))
    for row, terms in enumerate(base.values()):
        for name, value in terms.items():
            K[row, names.index(name)] = value
    return [names.index(name) for name in base], K


def reduce_both_ways(rng, table, vertical):
    """Return closed form (columns, K) and numeric (rank, K on these columns) of an arm."""
    chain = make_chain(table)
    first = chain.axes(chain.frames(np.zeros(chain.n)))[0][0]
    gravity = -9.81 * (first if vertical else np.array([0.48, 0.6, 0.64]))
    columns, K = base_matrix(gautier_khalil(
        table['alpha'], table['a'], table['d'], table['joint_types'], vertical,
        table.get('offset'),
    ), chain.n)
    W = observation_matrix(chain, random_states(rng, chain.n, 12 * chain.n), gravity)
    return columns, K, *numeric_reduction(W, columns)


def test_the_flange_is_where_the_published_table_puts_it():
    """Numbers.md A1, printed to micrometres."""
    flange = UR5.frames(REST)[-1, :3, 3]
    np.testing.assert_allclose(flange, [-0.81725, -0.19145, -0.005491], rtol=0, atol=1e-6)


@pytest.mark.parametrize('regressor', REGRESSORS)
@pytest.mark.parametrize('arm', ['ur5', 'tika', 'sliding', 'sliding_standard'])
def test_regressors_are_pinocchios(rng, arm, regressor):
    """Sums of some hundred products of one size: 1e-9 of the largest is far above rounding."""
    table = random_table(rng, 'RRPRPR')
    chain = {
        'ur5': UR5,
        'tika': make_chain(TIKA_UR5),
        'sliding': make_chain(table),
        'sliding_standard': dh_chain(
            table['a'], table['alpha'], table['d'], table['offset'], 'standard', 'RRPRPR'
        ),
    }[arm]
    for state in random_states(rng, 6, 10):
        gravity = rng.uniform(-10, 10, 3)
        expected = pinocchio_regressor(chain, *state, gravity)
        np.testing.assert_allclose(
            regressor(chain, *state, gravity), expected, rtol=0,
            atol=1e-9 * np.abs(expected).max(),
        )


@pytest.mark.parametrize('regressor', REGRESSORS)
@pytest.mark.parametrize('case', TORQUES)
def test_torques_of_the_thesis_arm(case, regressor):
    """Tensors read about the centres of mass; the torques have six digits after the point."""
    *motion, expected = TORQUES[case]
    tau = regressor(UR5, *motion) @ thesis_parameters()
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize('regressor', REGRESSORS)
def test_mass_matrix_of_the_thesis_arm(regressor):
    """Without gravity and velocity a unit acceleration shows a column; six printed digits."""
    M = np.column_stack([
        regressor(UR5, REST, REST, unit, (0.0, 0.0, 0.0)) @ thesis_parameters()
        for unit in np.eye(6)
    ])
    np.testing.assert_allclose(
        np.diag(M), [3.740016, 3.594815, 0.610075, 0.014718, 0.002934, 1e-4], rtol=0, atol=1e-6
    )
    np.testing.assert_allclose(M, M.T, rtol=0, atol=1e-12)


@pytest.mark.parametrize('gravity', [GROUND, CEILING, WALL])
def test_printed_base_parameters_are_those_of_the_regressor(rng, gravity):
    """
    Raviola's expressions, printed to four digits: half of the last digit is the tolerance.

    Coefficients printed without a number are ones; 1e-9 is the rounding of the least squares.
    """
    leading, printed, rounding = parse_base((TILTED_BASE if gravity == WALL else ())
                                            + PRINTED_BASE)
    chosen = [int(np.flatnonzero(row)[0]) for row in printed]
    states = random_states(rng, 6, 40)
    rotors = np.vstack([np.diag(state[2]) for state in states])
    W = np.hstack([observation_matrix(UR5, states, gravity), rotors])
    rank, K = numeric_reduction(W, chosen)
    assert len(leading) == rank == (42 if gravity == WALL else 40)
    assert np.all(np.abs(K - printed) <= rounding + 1e-9)


def test_base_values_follow_from_the_printed_expressions(rng):
    """
    The values of numbers.md B10 from the thesis' data.

    With coefficients as printed, half of each last digit times its parameter; with those of the
    regressor, six printed digits.
    """
    leading, printed, rounding = parse_base(PRINTED_BASE)
    theta = np.append(thesis_parameters(), np.zeros(6))
    expected = np.array([BASE_VALUES.get(name, 0.0) for name in leading])
    assert np.all(np.abs(printed @ theta - expected) <= rounding @ np.abs(theta) + 1e-6)

    states = random_states(rng, 6, 40)
    chosen = [int(np.flatnonzero(row)[0]) for row in printed[:36]]
    _, K = numeric_reduction(observation_matrix(UR5, states, GROUND), chosen)
    np.testing.assert_allclose(K @ theta[:60], expected[:36], rtol=0, atol=1e-6)


SKEW = np.nan
PANDA = {
    'alpha': [0, -PI / 2, PI / 2, PI / 2, -PI / 2, PI / 2, PI / 2],
    'a': [0, 0, 0, 0.0825, -0.0825, 0, 0.088], 'd': [0.333, 0, 0.316, 0, 0.384, 0, 0],
    'joint_types': 'RRRRRRR',
}
YOUBOT = {
    'alpha': [0, PI / 2, 0, 0, PI / 2], 'a': [0, 0.033, 0.155, 0.135, 0],
    'd': [0.147, 0, 0, 0, 0.2175], 'joint_types': 'RRRRR',
}
# The seeds' numbers (numbers.md B1, B2, B5; spec 5.4) and what the rules of the first joints
# give: table or (joint types, alpha), whether gravity is along the first axis, count.
COUNTS = {
    'tika ground': (TIKA_UR5, True, 36),
    'tika wall': (TIKA_UR5, False, 38),
    '6R ground': (('RRRRRR', None), True, 36),
    '6R wall': (('RRRRRR', None), False, 38),
    '3R ground': (('RRR', None), True, 15),
    'panda': (PANDA, True, 43),
    'youbot': (YOUBOT, True, 29),
    'slide in the middle': (('RRPRRR', None), True, 33),
    'two slides': (('RRPRPR', None), False, 32),
    'first two parallel, ground': (('RRRRRR', [0, 0] + [SKEW] * 4), True, 32),
    'first two parallel, wall': (('RRRRRR', [0, 0] + [SKEW] * 4), False, 34),
    'slide first': (('PRRRRR', None), False, 32),
    'slide first, ground': (('PRRRRR', None), True, 32),
    'vertical lift and turn': (('PRRRRR', [0, 0] + [SKEW] * 4), True, 30),
    'two slides first': (('PPRRRR', None), False, 26),
    'slide second': (('RPRRPR', None), False, 31),
    'slide second, ground': (('RPRRPR', None), True, 29),
    'slide second at right angles': (('RPRRRR', [0, PI / 2] + [SKEW] * 4), True, 32),
    'slide along the first axis': (('RPRRRR', [0, 0] + [SKEW] * 4), True, 30),
    'turn, slide, turn, all parallel': (('RPRRR', [0, 0, PI, SKEW, SKEW]), False, 21),
    'scara': (('RRRP', [0, 0, PI, 0]), True, 8),
    'scara, lying': (('RRPR', [0, PI, 0, 0]), False, 10),
    'slides only': (('PPP', None), False, 3),
}


@pytest.mark.parametrize('case', COUNTS)
def test_closed_form_is_the_numeric_reduction(rng, case):
    """
    Gautier and Khalil's rules give the rank of the regressor, and its coefficients.

    Least squares on random states loses some 1e3 of 1e-16; 1e-8 stands for equal.
    """
    table, vertical, count = COUNTS[case]
    if isinstance(table, tuple):
        table = random_table(rng, *table)
    columns, K, rank, numeric = reduce_both_ways(rng, table, vertical)
    assert len(columns) == rank == count
    np.testing.assert_allclose(K, numeric, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(K[:, columns], np.eye(count))


@pytest.mark.parametrize('vertical', [True, False])
def test_links_on_one_fixed_axis_show_no_first_moment(rng, vertical):
    """Turning about one vertical line, links 1 to 3 cannot swing; tilted, gravity shows them."""
    table = random_table(rng, 'RPRR', [0, 0, 0, SKEW], a=[0, 0, 0, 0.3])
    columns, K, rank, numeric = reduce_both_ways(rng, table, vertical)
    assert len(columns) == rank
    np.testing.assert_allclose(K, numeric, rtol=0, atol=1e-8)
    moments = [SYMBOLS[column % 10] for column in columns if column < 30]
    assert ('mx' in moments) != vertical
