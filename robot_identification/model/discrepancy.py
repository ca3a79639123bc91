# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Discrepancy of a model: torque that no parameter can describe, and what is known of its size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.files import check_keys, to_list, to_mapping, to_switch
from robot_identification.model.corrections import check_orders, harmonics

WHAT = 'quality.discrepancy'  # in messages on a model file


@dataclass(frozen=True, eq=False)
class Discrepancy:
    """
    Size of torque that the parameters of a model cannot describe.

    It is a series of sines and cosines of the position of a joint, and a share of the torque of
    the bodies by which the gain of the joint is wrong. In the training motion the parameters take
    the place of a part of it, which is wrong in other motions.
    """

    joints: tuple[int, ...]  # joints with a series
    # Periods of the series in a turn; of a joint that slides in 2 pi metres.
    orders: tuple[int, ...]
    of_gains: bool  # whether the gains of all joints are uncertain
    # (K, K): expected products of the K coefficients: of the series, joint by joint, sines before
    # cosines [N m], then of the gains of all joints [1].
    second_moments: FloatArray
    # (b, K): what one unit of a coefficient adds to the estimate of each of the b base parameters.
    absorbed: FloatArray

    @property
    def joint_of_coefficient(self) -> list[int]:
        """Return the joint of each coefficient, length K."""
        of_series = [joint for joint in self.joints for _ in range(2 * len(self.orders))]
        return of_series + list(range(len(self.second_moments) - len(of_series)))

    def columns(self, q: FloatArray, rigid: FloatArray) -> FloatArray:
        """
        Return the torque per coefficient (K, N), [1] of the series and [N m] of the gains.

        `q` are positions [rad or m], `rigid` the torques of the bodies [N m], of shape (N, n).
        """
        series = [harmonics(q[:, joint], self.orders) for joint in self.joints]
        return np.hstack([*series, rigid] if self.of_gains else series).T

    def errors(self, coefficients: FloatArray) -> FloatArray:
        """
        Return what base parameters and coefficients are off by, shape (b + K, m).

        `coefficients` (K, m) are those of the torque [N m], [1], which parameters have absorbed.
        """
        return np.vstack([-self.absorbed @ coefficients, coefficients])

    def of_parameters(self, move: FloatArray) -> Discrepancy:
        """Return the same for the base parameters ``move @ theta``, `move` of shape (c, b)."""
        return replace(self, absorbed=move @ self.absorbed)

    def content(self, joint_names: Sequence[str]) -> dict[str, Any]:
        """Return its content of a model file, numbers with as many digits as matter."""
        return {
            'joints': [joint_names[joint] for joint in self.joints], 'orders': list(self.orders),
            'of_gains': self.of_gains, 'second_moments': _rounded(self.second_moments),
            'absorbed': _rounded(self.absorbed),
        }


def _rounded(array: FloatArray) -> list[list[float]]:
    return [[float(f'{value:.6g}') for value in row] for row in array.tolist()]


def discrepancy_from_content(
    content: Mapping[str, Any], joint_names: Sequence[str], b: int
) -> Discrepancy:
    """Return the `Discrepancy` of a model file with b base parameters, or DescriptionError."""
    check_keys(
        to_mapping(content, WHAT), WHAT,
        {'joints', 'orders', 'of_gains', 'second_moments', 'absorbed'}, set(),
    )
    names = to_list(content['joints'], f'{WHAT}.joints')
    if any(name not in joint_names for name in names):
        raise DescriptionError(
            f'{WHAT}.joints is {names!r:.60}: names among {", ".join(joint_names)} are needed'
        )
    orders = check_orders(to_list(content['orders'], f'{WHAT}.orders'), WHAT)
    of_gains = to_switch(content['of_gains'], f'{WHAT}.of_gains')
    K = 2 * len(orders) * len(names) + (len(joint_names) if of_gains else 0)
    arrays = {}
    for name, shape in (('second_moments', (K, K)), ('absorbed', (b, K))):
        arrays[name] = np.asarray(content[name], dtype=float)
        if arrays[name].shape != shape or not np.all(np.isfinite(arrays[name])):
            raise DescriptionError(
                f'{WHAT}.{name} is {content[name]!r:.60}: finite numbers of shape {shape} are '
                'needed'
            )
    return Discrepancy(
        tuple(joint_names.index(name) for name in names), orders, of_gains, **arrays
    )
