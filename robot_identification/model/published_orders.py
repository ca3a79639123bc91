# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The orders and frames in which papers list their base parameters.

Names alone do not say what a number is: the same tensor is stated in frames at either end of a
link, and six inertias come in four orders.
"""

from __future__ import annotations

from dataclasses import dataclass

from robot_identification.errors import UsageError
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.parameters import INERTIAL_SYMBOLS, split_name

_UPPER_ROWS = ('Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')
_MOMENTS = ('mx', 'my', 'mz')


@dataclass(frozen=True)
class PublishedOrder:
    """Order in which one work lists base parameters."""

    source: str
    frames: str  # its link frames: 'joint', 'dh' or 'mdh'
    preference: str  # key of PREFERENCES that gives its base parameters
    # Our symbols in the order of its link vector, inertias about the link frame's origin.
    inertial: tuple[str, ...]
    drive: tuple[str, ...]  # our symbols of friction and reflected inertia in its order


PUBLISHED_ORDERS = {
    'porcelli': PublishedOrder(
        'G. Porcelli, master thesis, Politecnico di Torino 2020, eq. 3.20 ff.',
        'dh', 'mass_first', ('m', *_MOMENTS, *_UPPER_ROWS), ('fv', 'fc', 'Ia'),
    ),
    'rajagopal': PublishedOrder(
        'J. Rajagopal, R&D report, Bonn-Rhein-Sieg 2017, section 3.3',
        'joint', 'mass_first', ('m', *_MOMENTS, *_UPPER_ROWS), (),
    ),
    'tika': PublishedOrder(
        'A. Tika, J. Ulmen, N. Bajcinca 2020, eq. 11 and table II',
        'mdh', 'gautier_khalil', (*_UPPER_ROWS, *_MOMENTS, 'm'), ('fc', 'fv', 'Ia'),
    ),
    'raviola': PublishedOrder(
        'A. Raviola et al., Robotics 10(3), 83, 2021, appendix A',
        'dh', 'mass_first',
        ('m', *_MOMENTS, 'Ixx', 'Iyy', 'Izz', 'Iyz', 'Ixz', 'Ixy'), ('fc', 'fv', 'Ia'),
    ),
    'madsen': PublishedOrder(
        'E. Madsen et al. 2020; its equations are lost, the order is that of its reference Khalil',
        'mdh', 'gautier_khalil', (*_UPPER_ROWS, *_MOMENTS, 'm'), (),
    ),
}


def published_rows(reduction: BaseReduction, order: PublishedOrder) -> list[int]:
    """
    Return base parameters in the order of a work's table: links, then drives by kind.

    Raises UsageError if the set is not the work's: other frames, or other parameters lead.
    """
    if (reduction.frames, reduction.preference) != (order.frames, order.preference):
        raise UsageError(
            f'{order.source} lists base parameters in {order.frames} frames, '
            f'{order.preference}; these are in {reduction.frames} frames, {reduction.preference}'
        )
    parts = [split_name(name) for name in reduction.names]

    def place(row: int) -> tuple[int, int, int]:
        symbol, number = parts[row]
        if symbol in INERTIAL_SYMBOLS:
            return 0, number, order.inertial.index(symbol)
        # What the work does not have stays behind, in our order.
        kinds = (*order.drive, *dict.fromkeys(other for other, _ in parts))
        return 1, kinds.index(symbol), number

    return sorted(range(reduction.rank), key=place)
