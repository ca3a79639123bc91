# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A small problem with many minima, in place of an arm's."""

from __future__ import annotations

import numpy as np
from robot_identification.excitation.optimizers.search import Budget, Search, Workers

FREEDOM = 3.0
# Largest length of x.
LENGTH = 5.0
# What candidates may not touch: a ball about (1, 1, ..), off the best minimum.
BALL, RADIUS = 1.0, 0.3
HILLS = 4.0


class FakeProblem:
    """A bowl with hills, one minimum about each whole number, in a box and a ball."""

    # The hills are the same function of each coefficient, and a part ties neighbours together; so
    # parts of good candidates are good in others, as with joints of an arm.

    def __init__(self, joints: int = 4, each: int = 3) -> None:
        self.joints, self.each = joints, each
        self.size = joints * each
        self.features = tuple(np.arange(j * each, (j + 1) * each) for j in range(joints))
        self.extremes, self.first_radius = (0, 0), np.inf
        self.instants = np.zeros(0)
        self.objectives = self.proofs = 0

    def draw(self, rng):
        x = rng.uniform(-FREEDOM, FREEDOM, self.size)
        return x * min(1.0, LENGTH / np.linalg.norm(x))

    def fit(self, shares):
        assert shares.ndim == 2
        assert shares.shape[1] == self.joints
        assert not np.any(shares[[0, -1]])
        waves = np.cos(np.outer(np.linspace(0.0, np.pi, len(shares)), np.arange(self.each)))
        return FREEDOM * np.linalg.lstsq(waves, shares, rcond=None)[0].T.ravel()

    def objective(self, x):
        self.objectives += 1
        return self._value(x)[0]

    def descend(self, x, sharpness):
        self.objectives += 1
        return self._value(x)

    def _value(self, x):
        off = x - 0.1
        ties = np.append(off[1:] - off[:-1], 0.0)
        value = 1.0 + off @ off + HILLS * np.sum(1.0 - np.cos(2 * np.pi * off)) + ties @ ties
        slope = 2 * off + HILLS * 2 * np.pi * np.sin(2 * np.pi * off)
        slope -= 2 * ties
        slope[1:] += 2 * ties[:-1]
        return float(value), slope

    @property
    def linear_limits(self):
        one = np.eye(self.size)
        return np.vstack([one, -one]), np.full(2 * self.size, FREEDOM)

    def lift(self, x):
        return x

    def box(self):
        return np.full(self.size, -FREEDOM), np.full(self.size, FREEDOM)

    def missed(self, x):
        return np.zeros(0)

    def path_limits(self, x, instants):
        return np.array([x @ x / LENGTH**2 - 1.0]), 2 * x[None] / LENGTH**2

    def violation(self, x):
        A, b = self.linear_limits
        g, _ = self.path_limits(x, self.instants)
        return float(np.sum(np.maximum(A @ x / b - 1.0, 0.0)) + np.sum(np.maximum(g, 0.0)))

    def repair(self, x):
        scale = max(np.abs(x).max() / FREEDOM, np.linalg.norm(x) / LENGTH, 1.0)
        return x / scale

    def is_clear(self, x):
        self.proofs += 1
        return bool(np.linalg.norm(x - BALL) > RADIUS)


def run_search(
    optimizer, problem, budget, *, seed=1, report=lambda progress: None, save=None
):
    """Return the state that a search in this process ends with; a budget may be its number."""
    if isinstance(budget, int):
        budget = Budget(budget)
    with Workers(lambda: problem) as workers:
        return Search(optimizer, workers, seed, report, save).run(budget)


def state_bytes(state):
    """Return a state as something that can be compared to the last bit."""
    def known(candidate):
        start = None if candidate.start is None else candidate.start.tobytes()
        return (
            candidate.x.tobytes(), candidate.objective, candidate.violation, candidate.feasible,
            start,
        )

    return (
        state.rounds, state.evaluations, state.feasible, state.best and known(state.best),
        tuple(known(candidate) for candidate in state.archive), dict(state.memory),
    )
