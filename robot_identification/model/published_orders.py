# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The orders and frames in which papers list their parameters, and the way there and back.

Names alone do not say what a number is: the same tensor is stated in frames at either end of a
link, and six inertias come in four orders.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import UsageError
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.frames import link_frames
from robot_identification.model.parameters import INERTIAL_SYMBOLS, split_name, StandardParameters
from robot_identification.model.robot_model import RobotModel

_UPPER_ROWS = ('Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')
_MOMENTS = ('mx', 'my', 'mz')


@dataclass(frozen=True)
class PublishedOrder:
    """Order in which one work lists standard and base parameters."""

    source: str
    frames: str  # its link frames: 'joint', 'dh' or 'mdh'
    preference: str  # key of PREFERENCES that gives its base parameters
    # Our symbols in the order of its link vector, inertias about the link frame's origin.
    inertial: tuple[str, ...]
    drive: tuple[str, ...]  # our symbols of friction and reflected inertia in its order
    # True: after the inertial parameters of each link; False: after all links, by kind.
    drive_by_link: bool = False
    # True where the work itself could not be read and the order is that of its references.
    reconstructed: bool = False


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
        'mdh', 'gautier_khalil', (*_UPPER_ROWS, *_MOMENTS, 'm'), ('fc', 'fv', 'Ia'), True,
    ),
    'raviola': PublishedOrder(
        'A. Raviola et al., Robotics 10(3), 83, 2021, appendix A',
        'dh', 'mass_first',
        ('m', *_MOMENTS, 'Ixx', 'Iyy', 'Izz', 'Iyz', 'Ixz', 'Ixy'), ('fc', 'fv', 'Ia'),
    ),
    'madsen': PublishedOrder(
        'E. Madsen et al. 2020; its equations are lost, the order is that of its reference Khalil',
        'mdh', 'gautier_khalil', (*_UPPER_ROWS, *_MOMENTS, 'm'), (), reconstructed=True,
    ),
}


def find_order(name: str) -> PublishedOrder:
    """
    Return a published order by name.

    Raises UsageError if it is not known.
    """
    if name not in PUBLISHED_ORDERS:
        raise UsageError(
            f'unknown published order {name!r}: known are {", ".join(PUBLISHED_ORDERS)}'
        )
    return PUBLISHED_ORDERS[name]


def permutation(parameters: StandardParameters, order: PublishedOrder) -> np.ndarray:
    """
    Return where the parameters of a published vector stand in ours, int, shape (p,).

    Drive parameters that the work does not have follow at the end, in our order.
    """
    drive = [symbol for symbol in order.drive if f'{symbol}1' in parameters.names]
    joints = range(1, parameters.n + 1)
    if order.drive_by_link:
        names = [f'{symbol}{i}' for i in joints for symbol in (*order.inertial, *drive)]
    else:
        names = [f'{symbol}{i}' for i in joints for symbol in order.inertial]
        names += [f'{symbol}{i}' for symbol in drive for i in joints]
    known = set(names)
    names += [name for name in parameters.names if name not in known]
    return np.array([parameters.names.index(name) for name in names])


def to_published(
    robot: RobotModel, parameters: StandardParameters, theta: FloatArray, order: PublishedOrder
) -> FloatArray:
    """Return standard parameters (p,) in the order and the link frames of a work."""
    stated = np.array(theta, dtype=float)
    T = link_frames(robot, order.frames).to_joint_frames()
    stated[: len(T)] = np.linalg.solve(T, stated[: len(T)])
    published: FloatArray = stated[permutation(parameters, order)]
    return published


def from_published(
    robot: RobotModel, parameters: StandardParameters, published: FloatArray,
    order: PublishedOrder,
) -> FloatArray:
    """Return standard parameters in joint frames of a work's vector; see `to_published`."""
    theta = np.empty(parameters.size)
    theta[permutation(parameters, order)] = published
    T = link_frames(robot, order.frames).to_joint_frames()
    theta[: len(T)] = T @ theta[: len(T)]
    return theta


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
