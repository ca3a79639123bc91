# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Least squares over physically consistent bodies, regularized towards reference bodies.

Weighted squared residuals plus a divergence are minimized,
``|R x - z|^2 + weight * sum(-log det(P / P0) + trace(P / P0) - 4)`` over the pseudo-inertias P of
the links [1]_ [2]_. R and z are triangular factors, so that the time does not depend on the number
of samples.

References
----------
.. [1] P. Wensing, S. Kim, J.-J. Slotine, "Linear matrix inequalities for physically consistent
   inertial parameter identification", IEEE RA-L 3(1), 2018.
.. [2] T. Lee, P. Wensing, F. Park, "Geometric robot dynamic identification: a convex programming
   approach", IEEE T-RO 36(2), 2020.

"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray, triangle_of
from robot_identification.model import pseudo_inertia


def upper_triangle(matrix: FloatArray) -> FloatArray:
    """
    Return the upper triangle of a symmetric matrix, column by column, as clarabel has its cone.

    Elements off the diagonal are times the root of two, so that lengths are kept.
    """
    rows, columns, scale = _triangle_places(len(matrix))
    values: FloatArray = matrix[rows, columns] * scale
    return values


def from_upper_triangle(values: FloatArray) -> FloatArray:
    """Return the symmetric matrix, shape (4, 4), of its upper triangle, shape (10,)."""
    rows, columns, scale = _triangle_places(4)
    matrix = np.zeros((4, 4))
    matrix[rows, columns] = matrix[columns, rows] = values / scale
    return matrix


@cache
def _triangle_places(size: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return rows, columns and factors of an upper triangle, column by column."""
    columns, rows = np.tril_indices(size)
    return rows, columns, np.where(rows == columns, 1.0, np.sqrt(2.0))


def upper_root(matrix: FloatArray) -> FloatArray:
    """Return the upper triangular U of a positive definite matrix ``U U'``, shape (k, k)."""
    # U U' is L L' of the matrix read backwards.
    return np.asarray(np.linalg.cholesky(matrix[::-1, ::-1]), dtype=float)[::-1, ::-1]


# Upper triangle of the pseudo-inertia from the ten inertial parameters, (10, 10).
PSEUDO_INERTIA_MAP = np.column_stack([
    upper_triangle(pseudo_inertia(unit)) for unit in np.eye(10)
])


@dataclass(frozen=True, eq=False)
class ConsistentProblem:
    """
    Weighted squares of standard parameters, with reference bodies.

    Unknowns are ten inertial parameters of each of n links, then others: friction, rotor inertias,
    offsets of recordings.
    """

    R: FloatArray  # matrix, (m, s)
    z: FloatArray  # right-hand side, (m,)
    reference: FloatArray  # (10 n,), each link's pseudo-inertia positive definite
    not_negative: BoolArray  # others that cannot be negative, (s - 10 n,)

    @property
    def links(self) -> int:
        """Return the number of links n."""
        return len(self.reference) // 10

    @cached_property
    def roots(self) -> tuple[FloatArray, ...]:
        """Upper triangular U of every reference's pseudo-inertia ``P0 = U U'``, (4, 4) each."""
        return tuple(
            upper_root(pseudo_inertia(link)) for link in self.reference.reshape(-1, 10)
        )

    @cached_property
    def link_maps(self) -> tuple[FloatArray, ...]:
        """
        Return maps from the body to inertial parameters in units of its reference, (10, 10) each.

        That is the upper triangle of ``U^-1 P U^-T``, the identity for the reference itself.
        """
        maps: list[FloatArray] = []
        for root in self.roots:
            inverse = np.linalg.inv(root)
            whitened = np.column_stack([
                upper_triangle(inverse @ pseudo_inertia(unit) @ inverse.T) for unit in np.eye(10)
            ])
            maps.append(np.asarray(np.linalg.inv(whitened), float))
        return tuple(maps)

    @cached_property
    def whitened(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """
        Matrix and side for bodies in units of their references, columns of others of length 1.

        Third are the lengths of the other columns.
        """
        bodies = 10 * self.links
        blocks = [
            self.R[:, 10 * link: 10 * link + 10] @ unit
            for link, unit in enumerate(self.link_maps)
        ]
        others = self.R[:, bodies:]
        lengths = np.linalg.norm(others, axis=0)
        lengths[lengths == 0.0] = 1.0
        reduced = triangle_of(np.column_stack([*blocks, others / lengths, self.z]))
        return reduced[:, :-1], reduced[:, -1], lengths

    def from_whitened(self, whitened: FloatArray) -> FloatArray:
        """Return the unknowns (s,) of those of `whitened`."""
        bodies = 10 * self.links
        links = [
            unit @ whitened[10 * link: 10 * link + 10]
            for link, unit in enumerate(self.link_maps)
        ]
        return np.concatenate([*links, whitened[bodies:] / self.whitened[2]])

    def squared_residual(self, x: FloatArray) -> float:
        """Return ``|R x - z|^2``."""
        return float(np.sum((self.R @ x - self.z) ** 2))

    def divergence(self, x: FloatArray) -> float:
        """Return how far the bodies are from their references, infinite for impossible ones."""
        total = 0.0
        for root, link in zip(
            self.roots, x[: 10 * self.links].reshape(-1, 10), strict=True
        ):
            inverse = np.linalg.inv(root)
            values = np.linalg.eigvalsh(inverse @ pseudo_inertia(link) @ inverse.T)
            if values[0] <= 0.0:
                return np.inf
            total += float(np.sum(values - 1.0 - np.log(values)))
        return total

    def is_possible(self, x: FloatArray) -> bool:
        """Return whether all bodies are consistent and no friction or rotor is negative."""
        return bool(
            np.isfinite(self.divergence(x))
            and np.all(x[10 * self.links:][self.not_negative] >= 0.0)
        )
