# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Base parameters in the orders of papers' tables; the lists are those of test_symbols.py."""

from known_models import base_of
import pytest
from robot_identification.errors import UsageError
from robot_identification.model import link_frames, PUBLISHED_ORDERS, published_rows


def test_tables_need_their_own_set(ur5):
    """Rows are put in order only where frames and leading parameters are the paper's."""
    reduction = base_of(ur5)
    with pytest.raises(UsageError, match='in dh frames, mass_first; these are in joint frames'):
        published_rows(reduction, PUBLISHED_ORDERS['raviola'])


def test_laws_that_a_paper_does_not_have_come_last(ur5):
    """Tika has no offset: it follows behind what the table has, joint by joint."""
    frames = link_frames(ur5, 'mdh')
    reduction = base_of(ur5, 'coulomb,viscous,offset', True, frames=frames)
    names = [reduction.names[row]
             for row in published_rows(reduction, PUBLISHED_ORDERS['tika'])]
    assert names[-6:] == [f'f0{i}' for i in range(1, 7)]
    assert names[36:48] == [f'{symbol}{i}' for symbol in ('fc', 'fv') for i in range(1, 7)]
