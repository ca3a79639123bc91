# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Base parameters in the orders of papers' tables; the lists are those of test_symbols.py."""

import pytest
from robot_identification.errors import UsageError
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.frames import link_frames
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.published_orders import PUBLISHED_ORDERS, published_rows

FULL = make_standard_parameters(6, parse_friction('coulomb,viscous,offset'), True)


def test_tables_need_their_own_set(ur5):
    """Rows are put in order only where frames and leading parameters are the paper's."""
    parameters = make_standard_parameters(6, (), False)
    reduction = reduce_to_base(ur5, parameters)
    with pytest.raises(UsageError, match='in dh frames, mass_first; these are in joint frames'):
        published_rows(reduction, PUBLISHED_ORDERS['raviola'])


def test_laws_that_a_paper_does_not_have_come_last(ur5):
    """Tika has no offset: it follows behind what the table has, joint by joint."""
    frames = link_frames(ur5, 'mdh')
    reduction = reduce_to_base(ur5, FULL, frames=frames)
    names = [reduction.names[row]
             for row in published_rows(reduction, PUBLISHED_ORDERS['tika'])]
    assert names[-6:] == [f'f0{i}' for i in range(1, 7)]
    assert names[36:48] == [f'{symbol}{i}' for symbol in ('fc', 'fv') for i in range(1, 7)]
