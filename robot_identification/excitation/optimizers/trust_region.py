# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Sequential quadratic programming in a box that grows and shrinks: the steps of local searches.

Most of a search's limits are far away at any time: a subproblem is solved with the near ones, and
again with those that its step would break, until it breaks none.

Subproblems are strictly convex and solved by DAQP [2]_, which finds the limits that count, or by
an interior point [3]_ without it, which takes five times as long. SciPy has no such solver: its
SLSQP takes fifty times as long, and its NNLS, to which the dual can be reduced, finds no minimum
of a third of these programs, whose curvature is nearly singular, and breaks limits in others
(1.17); ProxQP takes twenty times as long.

References
----------
.. [1] J. Nocedal and S. J. Wright, "Numerical optimization", 2006, chapter 18.
.. [2] D. Arnstroem, A. Bemporad and D. Axehill, "A dual active-set solver for embedded quadratic
   programming using recursive LDL' updates", IEEE Transactions on Automatic Control, 2022.
.. [3] S. Mehrotra, "On the implementation of a primal-dual interior point method", SIAM Journal
   on Optimization 2, 1992.

"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from robot_identification.arrays import FloatArray
import scipy

# Residuals and complementarity at which the interior point ends, above rounding.
PRECISION = 1.0e-10
# Of the steps, chosen as textbooks do; the numbers of docs/benchmarks.md were made with them. The
# half width of the box shrinks by the first factor and grows by the second.
SHRINK, GROW = 0.4, 2.0
# Largest breach of a limit after a step that started within limits, as a share or in the
# coefficients' unit: it is scaled away in the end. Sum of breaches at which limits count as kept.
BROKEN, KEPT = 0.02, 2.0e-3
# Powell's damping keeps the curvature along a step above this share of the model's.
DAMPING = 0.2


def solve_program(
    hessian: FloatArray, gradient: FloatArray, rows: FloatArray, bounds: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """
    Return the minimum of ``gradient' d + d' hessian d / 2`` with ``rows @ d <= bounds``.

    That is d (n,) and the multipliers of the rows (m,); None if no d keeps them all. The hessian
    (n, n) is positive definite.
    """
    solver = _import_daqp()
    if solver is not None:
        d, _, flag, more = solver.solve(
            hessian, gradient, np.ascontiguousarray(rows), bounds,
            # That is no lower bound.
            np.full(len(bounds), -1.0e30), np.zeros(len(bounds), dtype=np.int32),
        )
        if flag >= 1 and np.all(np.isfinite(d)):
            return np.asarray(d, dtype=float), np.asarray(more['lam'], dtype=float)
    return _by_interior_point(hessian, gradient, rows, bounds)


def _by_interior_point(
    H: FloatArray, gradient: FloatArray, G: FloatArray, bounds: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    count = len(G)
    if not count:
        return np.asarray(np.linalg.solve(H, -gradient), dtype=float), np.zeros(0)
    precision = PRECISION * (1.0 + max(np.abs(gradient).max(), np.abs(bounds).max()))
    # Unknowns, what is left of each limit, and multipliers.
    d, s, z = np.zeros(len(H)), np.maximum(bounds, 1.0), np.ones(len(G))
    # It takes a dozen steps.
    for _ in range(60):
        by_d = H @ d + gradient + G.T @ z
        by_z = G @ d + s - bounds
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
        # Not to the limit itself.
        far = min(1.0, 0.99 * far)
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


class Program(Protocol):
    """A smooth function to be minimized over z within linear and curved limits."""

    rows: FloatArray  # linear limits ``rows @ z <= bounds``, rows of unit length
    bounds: FloatArray
    boxed: int  # the first of z, whose steps are bounded

    def value(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the function and its gradient; infinite where it has no value."""
        ...

    def curved(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g and its Jacobian of the limits ``g(z) <= 0``."""
        ...


@dataclass(frozen=True)
class Pace:
    """Length of a search, and of its steps."""

    evaluations: int  # most evaluations of the function
    tolerance: float  # gain of a step at which it ends
    radius: float  # first half width of the box
    largest: float  # largest half width


@dataclass(frozen=True, eq=False)
class _Point:
    z: FloatArray
    value: float
    slope: FloatArray
    g: FloatArray
    J: FloatArray
    linear: FloatArray  # what is left of the linear limits, negative where one is broken

    @property
    def breach(self) -> float:
        """Sum of what limits are broken by."""
        return float(np.maximum(self.g, 0.0).sum() - np.minimum(self.linear, 0.0).sum())

    @property
    def largest(self) -> float:
        """Most by which a limit is broken."""
        return float(max(self.g.max(initial=0.0), -self.linear.min(initial=0.0)))


@dataclass(frozen=True, eq=False)
class _Step:
    d: FloatArray
    given_up: float  # share of what is broken that the step leaves so
    multipliers: FloatArray  # of the curved limits
    largest: float  # multiplier of any limit


class TrustRegion:
    """A search by steps; what it knows of the curvature may be handed to a next one."""

    def __init__(self, program: Program, pace: Pace) -> None:
        self._program, self._pace = program, pace
        self._radius, self._penalty = pace.radius, 1.0
        self._last = pace.radius
        box = np.eye(len(program.rows[0]))[: program.boxed]
        self._rows = np.vstack([program.rows, box, -box])
        self.evaluations = 0
        self.curvature: FloatArray | None = None

    def run(self, z: FloatArray) -> FloatArray:
        """Return where a search from z ends; limits are kept there, or nearly."""
        at, small = self._look(z), 0
        if not np.isfinite(at.value):
            return z
        while self.evaluations < self._pace.evaluations and self._radius >= 2.0e-3:
            step = self._step(at)
            if step is None:
                if self.curvature is None:
                    break
                self.curvature = None
                continue
            foreseen = self._foresee(at, step)
            if foreseen < self._pace.tolerance and at.breach < KEPT:
                break
            new = self._look(at.z + step.d)
            gain = at.value - new.value + self._penalty * (at.breach - new.breach)
            self._last = float(np.abs(step.d[: self._program.boxed]).max(initial=0.0))
            if not np.isfinite(new.value):
                self._radius = SHRINK * self._last
                continue
            self._learn(at, new, step)
            share = gain / max(foreseen, self._pace.tolerance)
            kept = new.largest <= max(BROKEN, at.largest)
            self._resize(share if kept else 0.0)
            if not kept or share <= 0.05:
                continue
            at = new
            small = small + 1 if gain < self._pace.tolerance and at.breach < KEPT else 0
            if small == 2:
                break
        return at.z

    def _look(self, z: FloatArray) -> _Point:
        self.evaluations += 1
        value, slope = self._program.value(z)
        g, J = self._program.curved(z)
        return _Point(z, value, slope, g, J, self._program.bounds - self._program.rows @ z)

    def _hessian(self, size: int) -> FloatArray:
        return np.eye(size) if self.curvature is None else self.curvature

    def _foresee(self, at: _Point, step: _Step) -> float:
        """Return what the model gains by a step, at a penalty that outweighs the limits."""
        if step.given_up < 0.01:
            wanted = max(1.5 * step.largest, 0.5 * self._penalty, 0.1)
        else:
            wanted = 2.0 * self._penalty
        # With more the objective would have no effect.
        self._penalty = min(wanted, 30.0)
        d = step.d
        lower = at.slope @ d + 0.5 * d @ self._hessian(len(d)) @ d
        return float((1.0 - step.given_up) * self._penalty * at.breach - lower)

    def _resize(self, share: float) -> None:
        """Shrink or grow the box by the share of the foreseen gain that a step made."""
        if share < 0.25:
            self._radius = SHRINK * self._last
        elif share > 0.6 and self._last > 0.9 * self._radius:
            self._radius = min(GROW * self._radius, self._pace.largest)

    def _step(self, at: _Point) -> _Step | None:
        """Return the best step of the model within the linearized limits and the box."""
        room = np.concatenate([at.linear, np.full(2 * self._program.boxed, self._radius)])
        rows, left = np.vstack([self._rows, at.J]), np.concatenate([room, -at.g])
        # Limits within some of the last steps.
        near = left < max(0.05, 3.0 * self._last)
        broken = np.maximum(-left, 0.0)
        size = len(at.z)
        multipliers = np.zeros(len(rows))
        for _ in range(8):
            found = solve_program(*self._program_of(at, rows[near], left[near], broken[near]))
            if found is None:
                return None
            d, given_up = found[0][:size], float(np.maximum(found[0][size:], 0.0).sum())
            multipliers[near] = found[1][: int(near.sum())]
            missed = (rows @ d - left - given_up * broken > 1.0e-7) & ~near
            if not missed.any():
                break
            near |= missed
        return _Step(d, given_up, multipliers[len(room):], float(multipliers.max(initial=0.0)))

    def _program_of(
        self, at: _Point, rows: FloatArray, left: FloatArray, broken: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """
        Return the subproblem, as `solve_program` takes it.

        Where limits are broken it may leave a share of it.
        """
        size, hessian = len(at.z), self._hessian(len(at.z))
        if not broken.any():
            return hessian, at.slope, rows, left
        # Of giving up what is broken already: ten times the penalty, with a little curvature.
        price = 10.0 * max(self._penalty, 1.0) * max(at.breach, KEPT)
        relaxed = np.zeros((size + 1, size + 1))
        relaxed[:size, :size], relaxed[size, size] = hessian, 0.01 * price
        positive = -np.eye(size + 1)[size:]
        return (
            relaxed, np.append(at.slope, price),
            np.vstack([np.column_stack([rows, -broken]), positive]), np.append(left, 0.0),
        )

    def _learn(self, at: _Point, new: _Point, step: _Step) -> None:
        """Take the curvature of the Lagrangian along a step into the model (BFGS, damped)."""
        d, change = step.d, new.slope - at.slope
        change = change + (new.J - at.J).T @ step.multipliers
        seen = float(d @ change)
        if self.curvature is None:
            first = seen / float(d @ d) if seen > 0.0 else 1.0
            self.curvature = float(np.clip(first, 1.0e-2, 1.0e2)) * np.eye(len(d))
        bent = self.curvature @ d
        expected = float(d @ bent)
        if expected < 1.0e-16:
            return
        if seen < DAMPING * expected:
            share = (1.0 - DAMPING) * expected / (expected - seen)
            change = share * change + (1.0 - share) * bent
            seen = float(d @ change)
        self.curvature = (
            self.curvature - np.outer(bent, bent) / expected + np.outer(change, change) / seen
        )
