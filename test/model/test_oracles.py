# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The oracles agree with Pinocchio and with each other."""

import numpy as np
from oracles import (
    change_of_frame, dh_chain, gautier_khalil, newton_euler_regressor, screw_x, screw_z, SYMBOLS,
)
import pinocchio as pin
import pytest

PI = np.pi

# UR5 of G. Porcelli's thesis (2020), table 2.2; standard frames.
UR5 = dh_chain(
    [0, -0.425, -0.39225, 0, 0, 0], [PI / 2, 0, 0, PI / 2, -PI / 2, 0],
    [0.089159, 0, 0, 0.10915, 0.09465, 0.0823], np.zeros(6), 'standard',
)
# UR5 of Tika et al. (2020), table I; modified frames.
TIKA_UR5 = {
    'alpha': [0, PI / 2, 0, 0, PI / 2, -PI / 2], 'a': [0, 0, -0.425, -0.392, 0, 0],
    'd': [0, 0, 0, 0.109, 0.094, 0], 'joint_types': 'RRRRRR',
}


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
    """Return a massless Pinocchio model, and the pose of each link frame in its joint's."""
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


def numeric_reduction(W, chosen):
    """Return the rank of W and the coefficients of its columns on the chosen ones."""
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


@pytest.mark.parametrize('arm', ['ur5', 'tika', 'sliding', 'sliding_standard'])
def test_the_regressor_is_pinocchios(rng, arm):
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
            newton_euler_regressor(chain, *state, gravity), expected, rtol=0,
            atol=1e-9 * np.abs(expected).max(),
        )


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
    """Gautier and Khalil's rules give the rank of the regressor, and its coefficients."""
    # Least squares on random states loses some 1e3 of 1e-16; 1e-8 stands for equal.
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
