# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters in the orders and frames of papers, and back."""

from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.frames import link_frames
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.published_orders import (
    find_order, from_published, permutation, PUBLISHED_ORDERS, published_rows, to_published,
)
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import prior_inertial_parameters

FULL = make_standard_parameters(6, parse_friction('coulomb,viscous,offset'), True)


def test_orders_by_hand():
    """The vectors as the papers print them, for an arm of one joint."""
    one = make_standard_parameters(1, parse_friction('coulomb,viscous'), True)

    def printed(name):
        return [one.names[i].rstrip('1') for i in permutation(one, PUBLISHED_ORDERS[name])]

    assert printed('tika') == ['Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz', 'mx', 'my', 'mz', 'm',
                               'fc', 'fv', 'Ia']
    assert printed('raviola') == ['m', 'mx', 'my', 'mz', 'Ixx', 'Iyy', 'Izz', 'Iyz', 'Ixz', 'Ixy',
                                  'fc', 'fv', 'Ia']
    assert printed('porcelli')[:10] == printed('rajagopal')[:10] == [
        'm', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz',
    ]
    assert printed('porcelli')[10:] == ['fv', 'fc', 'Ia']


def test_drives_stand_by_link_or_by_kind():
    """Tika lists 13 parameters a link, Raviola all friction after all links."""
    two = make_standard_parameters(2, parse_friction('coulomb'), False)
    names = {
        name: [two.names[i] for i in permutation(two, PUBLISHED_ORDERS[name])]
        for name in ('tika', 'raviola')
    }
    assert names['tika'][9:12] == ['m1', 'fc1', 'Ixx2']
    assert names['raviola'][-2:] == ['fc1', 'fc2']


@pytest.mark.parametrize('name', PUBLISHED_ORDERS)
@given(seed=st.integers(0, 2**32 - 1))
def test_there_and_back(ur5, name, seed):
    """To rounding of a change of frame and its inverse."""
    theta = np.random.default_rng(seed).normal(size=FULL.size)
    order = PUBLISHED_ORDERS[name]
    published = to_published(ur5, FULL, theta, order)
    np.testing.assert_allclose(from_published(ur5, FULL, published, order), theta, atol=1e-12)


def test_the_thesis_reads_its_own_numbers():
    """Porcelli 2020, tables 2.3 and 2.4, link 2, in his frame and order, off our joint frames."""
    robot = load_robot('ur5_porcelli')
    parameters = make_standard_parameters(6, (), False)
    published = to_published(
        robot, parameters, prior_inertial_parameters(robot), PUBLISHED_ORDERS['porcelli']
    )
    m, (x, y, z) = 8.393, (0.2125, 0.0, 0.11336)
    np.testing.assert_allclose(published[10:20], [
        m, m * x, m * y, m * z,
        0.0149 + m * (y * y + z * z), -m * x * y, -m * x * z,
        0.3564 + m * (x * x + z * z), -m * y * z, 0.3553 + m * (x * x + y * y),
    ], atol=1e-12)


def test_tables_need_their_own_set(ur5):
    """Rows are put in order only where frames and leading parameters are the paper's."""
    parameters = make_standard_parameters(6, (), False)
    reduction = reduce_to_base(ur5, parameters)
    with pytest.raises(UsageError, match='in dh frames, mass_first; these are in joint frames'):
        published_rows(reduction, PUBLISHED_ORDERS['raviola'])
    with pytest.raises(UsageError, match="unknown published order 'swevers': known are porcelli"):
        find_order('swevers')


def test_laws_that_a_paper_does_not_have_come_last(ur5):
    """Tika has no offset: it follows behind what the table has, joint by joint."""
    frames = link_frames(ur5, 'mdh')
    reduction = reduce_to_base(ur5, FULL, frames=frames)
    names = [reduction.names[row]
             for row in published_rows(reduction, PUBLISHED_ORDERS['tika'])]
    assert names[-6:] == [f'f0{i}' for i in range(1, 7)]
    assert names[36:48] == [f'{symbol}{i}' for symbol in ('fc', 'fv') for i in range(1, 7)]
