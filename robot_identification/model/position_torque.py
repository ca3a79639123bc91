# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Torque of the joint positions that a model does not have: what is known of its size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError
from robot_identification.files import check_keys, to_list, to_mapping
from robot_identification.model.corrections.position_series import check_orders


@dataclass(frozen=True, eq=False)
class PositionTorque:
    """
    Size of torque of the joint positions that a model does not have.

    The torque of a joint is a series of sines and cosines of its position. In the training motion
    the parameters take the place of a part of it, which is wrong in other motions.

    Attributes
    ----------
    joints : tuple of int
        Joints with such a torque.
    orders : tuple of int
        Periods a turn.
    second_moments : ndarray, shape (K, K)
        Expected products of the coefficients of the series, joint by joint, sines before cosines
        [(N m)^2].
    absorbed : ndarray, shape (b, K)
        What one unit of a coefficient adds to the estimate of each base parameter.

    """

    joints: tuple[int, ...]
    orders: tuple[int, ...]
    second_moments: FloatArray
    absorbed: FloatArray

    @property
    def joint_of_coefficient(self) -> list[int]:
        """Return the joint of each coefficient, length K."""
        return [joint for joint in self.joints for _ in range(2 * len(self.orders))]

    def columns(self, q: FloatArray) -> FloatArray:
        """Return the series at positions (N, n) [rad], shape (K, N)."""
        angles = q[:, self.joints, None] * np.array(self.orders)
        columns = np.concatenate([np.sin(angles), np.cos(angles)], axis=2)
        return columns.reshape(len(q), -1).T

    def beside(self, covariance: FloatArray) -> FloatArray:
        """Return that of the errors of base parameters and series, (b + K, b + K), from (b, b)."""
        b, K = self.absorbed.shape
        together = np.zeros((b + K, b + K))
        together[:b, :b] = covariance
        move = np.vstack([-self.absorbed, np.eye(K)])
        together += move @ self.second_moments @ move.T
        return together

    def of_parameters(self, move: FloatArray) -> PositionTorque:
        """Return the same for the base parameters ``move @ theta``, `move` of shape (c, b)."""
        return replace(self, absorbed=move @ self.absorbed)

    def content(self, joint_names: Sequence[str]) -> dict[str, Any]:
        """Return its content of a model file, numbers with as many digits as matter."""
        return {
            'joints': [joint_names[joint] for joint in self.joints], 'orders': list(self.orders),
            'second_moments': _rounded(self.second_moments), 'absorbed': _rounded(self.absorbed),
        }


def _rounded(array: FloatArray) -> list[list[float]]:
    return [[float(f'{value:.6g}') for value in row] for row in array.tolist()]


def position_torque_from_content(
    content: Mapping[str, Any], joint_names: Sequence[str], b: int
) -> PositionTorque:
    """Return the `PositionTorque` of a model file with b base parameters, or DescriptionError."""
    what = 'quality.position_torque'
    check_keys(
        to_mapping(content, what), what, {'joints', 'orders', 'second_moments', 'absorbed'}, set()
    )
    names = to_list(content['joints'], f'{what}.joints')
    unknown = [name for name in names if name not in joint_names]
    if unknown or not names:
        raise DescriptionError(
            f'{what}.joints is {names!r:.60}: names among {", ".join(joint_names)} are needed'
        )
    orders = check_orders(to_list(content['orders'], f'{what}.orders'), what)
    K = 2 * len(orders) * len(names)
    arrays = {}
    for name, shape in (('second_moments', (K, K)), ('absorbed', (b, K))):
        arrays[name] = np.asarray(content[name], dtype=float)
        if arrays[name].shape != shape or not np.all(np.isfinite(arrays[name])):
            raise DescriptionError(
                f'{what}.{name} is {content[name]!r:.60}: finite numbers of shape {shape} are '
                'needed'
            )
    return PositionTorque(tuple(joint_names.index(name) for name in names), orders, **arrays)
