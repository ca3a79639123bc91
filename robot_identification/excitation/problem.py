# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The optimizer's problem for one arm and experiment: moving joints, criterion and limits.

Rest at both ends is in the form of the motion, which every vector of coefficients fulfils. Limits
are kept on a grid during a search; what is found is scaled into them on a finer one, and proved
by the certificate.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import FloatArray
from robot_identification.errors import UnsafeMotionError, UsageError
from robot_identification.excitation.collision import CollisionModel
from robot_identification.excitation.constraints import (
    amplitude_limits, conservative_shares, joint_index,
)
from robot_identification.excitation.criteria import CRITERIA
from robot_identification.excitation.experiment import Experiment
from robot_identification.excitation.feasibility import Feasibility
from robot_identification.excitation.information import BaseColumns, Knowledge
from robot_identification.excitation.parametrizations.fourier import FourierParametrization
from robot_identification.excitation.parametrizations.parametrization import (
    Parametrization, SAMPLES_OF_A_COEFFICIENT,
)
from robot_identification.excitation.path_constraints import PathConstraint
from robot_identification.model import Motion, Passage, RobotModel

# Of position, velocity, acceleration and jerk.
Bases = tuple[FloatArray, ...]
KINDS = ('position', 'velocity', 'acceleration', 'jerk')

# Instants at which limits hold in a search, for each coefficient of the form: a dozen for the
# shortest period, so that peaks between them are a few percent higher; scaling takes those off.
SEARCH_SAMPLES = 6
# Instants at which limits of the path hold in a search: products of sines have sharper peaks. What
# they keep in reserve is for peaks in between.
PATH_SAMPLES = 12
PATH_RESERVE = 0.98  # share of the limit
# Share of the limit that a scaled motion uses at most: peaks between the samples of a form are
# missed by less.
RESERVE = 0.995
# The proof of the certificate has finer speeds than that of the search [m].
SEARCH_CLEARANCE = 0.0005
# What a search keeps beyond the clearance between its instants [m].
BETWEEN_INSTANTS = 0.005
# Instants at which a search sees collisions at first, for each coefficient of the form.
COLLISION_SAMPLES = 5
# Pairs that come no nearer than this beyond the clearance in so many random poses are left to the
# proof [m].
WATCHED, WATCHED_POSES = 0.05, 1000
# Share of the velocity limit, or of 1 rad/s where there is none, within which friction reverses
# in a descent of sharpness 1.
SOFTNESS = 0.15
# Longest first step of a search, and longest of all among obstacles [rad, root mean square].
FIRST_RADIUS = 0.3
# Directions in which amplitudes (a, b) are seen by conservative limits, and how much of one at
# least: the limits are kept with 2 % to spare.
DIRECTIONS = [(np.cos(angle), np.sin(angle)) for angle in np.arange(16) * np.pi / 8.0]
DIRECTIONS_COSINE = np.cos(np.pi / 16.0)
# Random poses in which a free middle of a motion is looked for; chosen: one in a hundred is found.
CENTRE_TRIES = 500
# Broken clearances count in shares of this length [m].
LENGTH = 0.1
# Optimizers that do nothing to what was drawn but scale it, as ordered forms need it.
ONLY_SCALING = ('random',)


class TrajectoryProblem:
    """
    The optimizer's problem for one arm and experiment.

    A candidate is a vector x of the free coefficients.

    The search is done in amplitudes of equal effect: one unit of any of them moves the joint by
    one radian in root mean square, independently of the others, so that a step means the same in
    every direction. Experiments that do not fit the arm raise a `UsageError`.
    """

    def __init__(
        self, robot: RobotModel, experiment: Experiment, knowledge: Knowledge | None = None
    ) -> None:
        _check_order_is_kept(experiment)
        self.feasible = Feasibility(robot, experiment)
        self.robot, self.limits = self.feasible.robot, self.feasible.limits
        self.experiment, self.knowledge = experiment, knowledge
        self.form: Parametrization = experiment.form
        self.columns = BaseColumns(robot, experiment)
        self._soft: dict[float, BaseColumns] = {}
        self.collision = self.feasible.collision
        if self.obstructed is not None:
            poses = np.random.default_rng(0).uniform(
                self.limits.lower, self.limits.upper, (WATCHED_POSES, self.robot.n)
            )
            self.obstructed.watch(poses, experiment.clearance + WATCHED)
        self.criterion = CRITERIA[experiment.criterion]
        self._sample()

    def about(self, form: Parametrization, centre: FloatArray) -> TrajectoryProblem:
        """Return the problem of another form about a pose (n,), within the same limits."""
        other = copy(self)
        other.form, other.experiment = form, replace(
            self.experiment, form=form, bounds='sampled',
            center=dict(zip(self.robot.joint_names, map(float, centre), strict=True)),
        )
        other.__dict__.pop('linear_limits', None)
        other._sample()
        return other

    def _sample(self) -> None:
        """Set the bases at the instants of criterion and limits, and what is fixed."""
        experiment = self.experiment
        self._shape = equal_size(self.form)
        times, self._sets = _sample_sets(experiment, self.robot.n)
        # Scaling a joint's motion by itself bends the path: among obstacles little of it is left.
        self._search = self._bases(
            self._grid(PATH_SAMPLES if self.obstructed else SEARCH_SAMPLES)
        )
        self._samples = self._bases(times)
        self._repair_times = self._grid(SAMPLES_OF_A_COEFFICIENT)
        self._repair = self._bases(self._repair_times)
        self._fix_centres()
        path = self._bases(self._grid(PATH_SAMPLES))
        # Torques are as smooth as the accelerations, and the dearest to compute.
        self._constraints = tuple(
            (constraint, self._search if constraint.kind == 'torque' else path)
            for constraint in self.feasible.path
        )
        # Instants [s] at which a search sees collisions at first.
        self.instants = self._grid(COLLISION_SAMPLES)
        self._near = self._position_basis(self.instants)

    def _fix_centres(self) -> None:
        shape = self.robot.n, self.form.n_coefficients
        self._fixed, self._free = np.zeros(shape), np.ones(shape, dtype=bool)
        for joint, position in self.experiment.center.items():
            index = joint_index(self.robot, joint, 'center')
            lower, upper = self.limits.lower[index], self.limits.upper[index]
            if not lower < position < upper:
                unit = self.robot.position_units[index]
                raise UsageError(
                    f'center of {joint} is {position:g} {unit}; its window and the margin leave '
                    f'{lower:.4g} to {upper:.4g} {unit}'
                )
            self._fixed[index, 0], self._free[index, 0] = position, False

    @property
    def obstructed(self) -> CollisionModel | None:
        """Return the collision model where anything can be hit."""
        return self.collision if self.collision is not None and self.collision.pairs else None

    @property
    def size(self) -> int:
        """Return the number of free coefficients."""
        return int(self._free.sum())

    @property
    def features(self) -> tuple[NDArray[np.int64], ...]:
        """Return the indices of each joint's coefficients."""
        owner = np.nonzero(self._free)[0]
        return tuple(np.flatnonzero(owner == joint) for joint in range(self.robot.n))

    @property
    def first_radius(self) -> float:
        """Largest change of a coefficient in one step; infinite where nothing can be hit."""
        return FIRST_RADIUS if self.obstructed else np.inf

    @property
    def extremes(self) -> tuple[int, int]:
        """Return how many of the largest and smallest singular values the criterion is about."""
        return (4, 8) if self.experiment.criterion.startswith('condition_number') else (0, 0)

    def coefficients(self, x: FloatArray) -> FloatArray:
        """Return the coefficients of the form, shape (n, c) [rad], of a candidate."""
        return self._full(x) @ self._shape.T

    def candidate(self, coefficients: FloatArray) -> FloatArray:
        """Return the candidate of coefficients of the form, shape (n, c) [rad]."""
        full = np.linalg.solve(self._shape, coefficients.T).T
        return np.asarray(full[self._free], dtype=float)

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """
        Return a random candidate that keeps the limits, and is clear at least in its middle.

        Raises an `UnsafeMotionError` if the arm touches something wherever its middle is placed.
        """
        full = self._draw_once(rng)
        # Of an ordered form the first that suits it.
        for _ in range(50):
            if self.form.suits(full @ self._shape.T):
                break
            full = self._draw_once(rng)
        return full[self._free]

    def _draw_once(self, rng: np.random.Generator) -> FloatArray:
        """Return the amplitudes of one draw, (n, c), whether or not they suit the form."""
        span = self.limits.upper - self.limits.lower
        for _ in range(CENTRE_TRIES):
            full = self._fixed.copy()
            centre = self.limits.lower + span * rng.uniform(0.2, 0.8, self.robot.n)
            full[:, 0] = np.where(self._free[:, 0], centre, full[:, 0])
            if self._may_rest_at(full[:, :1].T):
                break
        else:
            raise UnsafeMotionError(self._why_nowhere(rng))
        full[:, 1:] = rng.standard_normal(full[:, 1:].shape)
        if self.form.is_ordered:
            full = self._arrange(full)
        full = self._scale(full, rng.uniform(0.4, 1.0, self.robot.n))
        for _ in range(6):
            if self._keeps_clear(self._near @ full.T, self._kept_distance):
                break
            # Smaller motions about a clear pose are clear at last: down to a twentieth.
            full[:, 1:] *= 0.6
        return full

    def fit(self, shares: FloatArray) -> FloatArray:
        """
        Return the candidate whose velocities are nearest to `shares` (N, n) of their limits.

        They are evenly spaced from start to end, about the middle of the range. The limits may be
        broken.
        """
        middle, bound = self.limits.centre('position'), self.limits.velocity
        basis = self._bases(np.linspace(0.0, self.form.duration, len(shares)))[1]
        full = self._fixed.copy()
        full[:, 0] = np.where(self._free[:, 0], middle, full[:, 0])
        wanted = shares * np.where(np.isfinite(bound), bound, 1.0)
        # Of half a period of a series one combination of amplitudes hardly moves the velocity, and
        # positions would pay for it.
        full[:, 1:] = np.linalg.lstsq(basis[:, 1:], wanted, rcond=0.02)[0].T
        return full[self._free]

    def objective(self, x: FloatArray) -> float:
        """Return the criterion, the largest of all sets of samples."""
        W = self.columns.matrix(self._motion(self._samples, x))
        return max(self.criterion(self._known(W[rows], rows)) for rows in self._sets)

    def descend(self, x: FloatArray, sharpness: float) -> tuple[float, FloatArray]:
        """
        Return the smooth stand-in, the mean of all sets of samples, and its gradient.

        Friction reverses as smoothly: the sign of a velocity jumps, and jumps have no gradient.
        """
        motion, columns = self._motion(self._samples, x), self._columns_at(sharpness)
        W, passage = columns.matrix(motion), columns.pass_forward(motion)
        total, weights = 0.0, np.zeros_like(W)
        for rows in self._sets:
            value, by_rows = self.criterion.descend(self._known(W[rows], rows), sharpness)
            total += value / len(self._sets)
            weights[rows] += self._weigh(by_rows[: len(rows)], rows) / len(self._sets)
        return total, self._by_candidate(columns, passage, weights)

    def _columns_at(self, sharpness: float) -> BaseColumns:
        if np.isinf(sharpness):
            return self.columns
        if sharpness not in self._soft:
            limit = np.where(np.isfinite(self.limits.velocity), self.limits.velocity, 1.0)
            self._soft[sharpness] = self.columns.softened(SOFTNESS / np.sqrt(sharpness) * limit)
        return self._soft[sharpness]

    def spectra(
        self, x: FloatArray, largest: int, smallest: int
    ) -> list[tuple[FloatArray, FloatArray, FloatArray, FloatArray]]:
        """Return log singular values and gradients of each set of samples, both ends."""
        motion = self._motion(self._samples, x)
        W, passage = self.columns.matrix(motion), self.columns.pass_forward(motion)
        rank = W.shape[1]
        wanted = np.unique([*range(min(largest, rank)), *range(max(rank - smallest, 0), rank)])
        spectra = []
        for rows in self._sets:
            values, by_rows = self.criterion.log_spectrum(self._known(W[rows], rows), wanted)
            gradients = np.empty((len(wanted), self.size))
            for k, by in enumerate(by_rows):
                weights = np.zeros_like(W)
                weights[rows] = self._weigh(by[: len(rows)], rows)
                gradients[k] = self._by_candidate(self.columns, passage, weights)
            top, bottom = wanted < largest, wanted >= rank - smallest
            spectra.append((values[top], gradients[top], values[bottom], gradients[bottom]))
        return spectra

    def lift(self, x: FloatArray) -> FloatArray:
        """Return a candidate and the auxiliary variables of the linear limits behind it."""
        if self.experiment.bounds == 'sampled':
            return x
        a, b = self._series(self._full(x))
        reach = np.max([a * c + b * s for c, s in DIRECTIONS], axis=0) / DIRECTIONS_COSINE
        return np.concatenate([x, reach.ravel()])

    @cached_property
    def linear_limits(self) -> tuple[FloatArray, FloatArray]:
        """A, b of the limits ``A @ lift(x) <= b`` on the grid of the search."""
        if self.experiment.bounds == 'conservative':
            return self._amplitude_limits()
        limits = self.limits
        ends = [(limits.lower, limits.upper)]
        ends += [(-limits.reach(kind), limits.reach(kind)) for kind in KINDS[1:]]
        rows, bounds = [np.zeros((0, self.size))], [np.zeros(0)]
        for joint, feature in enumerate(self.features):
            for basis, (lower, upper) in zip(self._search, ends, strict=True):
                part = np.zeros((len(basis), self.size))
                part[:, feature] = basis[:, self._free[joint]]
                fixed = basis @ self._fixed[joint]
                for sign, bound in ((1.0, upper[joint]), (-1.0, -lower[joint])):
                    # What no amplitude moves (a basis is zero at rest) limits nothing.
                    kept = np.any(part != 0.0, axis=1) & np.isfinite(bound)
                    rows.append(sign * part[kept])
                    bounds.append(bound - sign * fixed[kept])
        return np.vstack(rows), np.concatenate(bounds)

    def _amplitude_limits(self) -> tuple[FloatArray, FloatArray]:
        """
        Return the conservative limits as linear ones of auxiliary variables.

        An amplitude is the root of a sum of squares, with a corner at zero where searches stall.
        Here it is bounded by a variable of its own, which exceeds the projections of (a, b) on
        sixteen directions so far that it exceeds the amplitude.
        """
        by_a, by_b = self._series(np.eye(self.form.n_coefficients))
        powers, reaches = amplitude_limits(self.form, self.limits)
        harmonics, middle = len(powers), self.limits.centre('position')
        width = self.size + self.robot.n * harmonics
        rows, bounds = [], []
        for joint, feature in enumerate(self.features):
            free = self._free[joint]
            own = slice(self.size + joint * harmonics, self.size + (joint + 1) * harmonics)
            for c, s in DIRECTIONS:
                part = np.zeros((harmonics, width))
                part[:, feature] = (c * by_a + s * by_b)[free].T
                part[:, own] = -DIRECTIONS_COSINE * np.eye(harmonics)
                rows.append(part)
                bounds.append(np.zeros(harmonics))
            part = np.zeros((len(powers.T), width))
            part[:, own] = powers.T
            bound = reaches[joint].copy()
            # The lower end of the range comes nearer as the centre falls, the upper as it rises.
            for row, sign in ((0, -1.0), (1, 1.0)):
                if free[0]:
                    part[row, feature[0]] = sign
                bound[row] -= sign * (self._fixed[joint, 0] - middle[joint])
            kept = np.isfinite(bound)
            rows.append(part[kept])
            bounds.append(bound[kept])
        return np.vstack(rows), np.concatenate(bounds)

    def _series(self, full: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return sine and cosine amplitudes, (rows, K) each, of amplitudes of equal effect."""
        assert isinstance(self.form, FourierParametrization)
        return self.form.series(full @ self._shape.T)

    def box(self) -> tuple[FloatArray, FloatArray]:
        """Return positions within limits, and amplitudes no larger than their range."""
        span = self.limits.upper - self.limits.lower
        highest = np.tile(span[:, None], (1, self.form.n_coefficients))
        lowest = -highest
        lowest[:, 0], highest[:, 0] = self.limits.lower, self.limits.upper
        return lowest[self._free], highest[self._free]

    def missed(self, x: FloatArray) -> FloatArray:
        """Return the instants [s] of nearest approaches that are too near."""
        if self.obstructed is None:
            return np.zeros(0)
        nearest = self.obstructed.least(self._motion(self._repair, x).q)
        padded = np.pad(nearest, 1, constant_values=np.inf)
        lowest = (nearest <= padded[:-2]) & (nearest <= padded[2:])
        return self._repair_times[lowest & (nearest < self._kept_distance)]

    @property
    def _kept_distance(self) -> float:
        return self.experiment.clearance + BETWEEN_INSTANTS

    def path_limits(self, x: FloatArray, instants: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g and its Jacobian of the limits ``g(x) <= 0`` on the grid of the search."""
        values, jacobians = [np.zeros(0)], [np.zeros((0, self.size))]
        for constraint, bases in self._constraints:
            seen = constraint.evaluate(self._motion(bases, x))
            slopes = self._by_samples(bases[:3], (seen.by_q, seen.by_dq, seen.by_ddq))
            for sign in (1.0, -1.0) if constraint.two_sided else (1.0,):
                values.append(sign * seen.shares.ravel() - PATH_RESERVE)
                jacobians.append(sign * slopes)
        if self.obstructed is not None:
            basis = self._position_basis(instants)
            distances, by_q = self.obstructed.nearest(basis @ self._full(x).T)
            values.append((self._kept_distance - distances).ravel() / LENGTH)
            jacobians.append(-self._by_samples((basis,), (by_q,)) / LENGTH)
        return np.concatenate(values), np.vstack(jacobians)

    def violation(self, x: FloatArray) -> float:
        """Return the sum of what limits are broken by, the worst instant of each."""
        full = self._full(x)
        uses = [self._uses(full).ravel()]
        for constraint, bases in self._constraints:
            shares = constraint.shares(self._motion(bases, x))
            uses.append(constraint.use(shares).max(axis=0))
        total = float(np.maximum(np.concatenate(uses) - 1.0, 0.0).sum())
        if self.obstructed is not None:
            nearest = float(self.obstructed.least(self._near @ full.T).min())
            total += max(self.experiment.clearance - nearest, 0.0) / LENGTH
        return total

    def repair(self, x: FloatArray) -> FloatArray | None:
        """Return the candidate with amplitudes scaled down until all limits hold, or None."""
        full = self._full(x)
        if np.any(full[:, 0] <= self.limits.lower) or np.any(full[:, 0] >= self.limits.upper):
            return None
        full = self._scale(full, np.ones(self.robot.n), only_down=True)
        # Path constraints are no linear functions of the amplitudes.
        for share in (1.0, 0.99, 0.97, 0.94, 0.9):
            smaller = np.hstack([full[:, :1], share * full[:, 1:]])
            motion = Motion(*(basis @ smaller.T for basis in self._repair[:3]))
            kept = all(_is_kept(constraint, motion) for constraint, _ in self._constraints)
            kept = kept and self.form.suits(smaller @ self._shape.T)
            if kept and self._keeps_clear(motion.q, self.experiment.clearance + SEARCH_CLEARANCE):
                return smaller[self._free]
        return None

    def is_clear(self, x: FloatArray) -> bool:
        """Return whether the motion is proved to keep the experiment's clearance."""
        if self.collision is None:
            return True
        coefficients, form = self.coefficients(x), self.form
        try:
            self.collision.prove(
                lambda t: form.basis(t)[0] @ coefficients.T, form.duration,
                self._motion(self._repair, x).dq, self.experiment.clearance + SEARCH_CLEARANCE,
            )
        except UnsafeMotionError:
            return False
        return True

    def _grid(self, samples: int) -> FloatArray:
        """Return even instants, of which `samples` are for each coefficient of most forms [s]."""
        count = samples * self.form.grid_samples // SAMPLES_OF_A_COEFFICIENT
        return np.linspace(0.0, self.form.duration, count + 1)

    def _bases(self, times: FloatArray) -> Bases:
        return tuple(basis @ self._shape for basis in self.form.bases(times))

    def _position_basis(self, times: FloatArray) -> FloatArray:
        basis: FloatArray = self.form.basis(times)[0] @ self._shape
        return basis

    def _full(self, x: FloatArray) -> FloatArray:
        full = self._fixed.copy()
        full[self._free] = x
        return full

    def _motion(self, bases: Bases, x: FloatArray) -> Motion:
        full = self._full(x)
        return Motion(*(basis @ full.T for basis in bases[:3]))

    def _known(self, W: FloatArray, rows: NDArray[np.int64]) -> FloatArray:
        """Return a base observation matrix with what is known already below it."""
        if self.knowledge is None:
            return W
        known = self.knowledge.rows * self.knowledge.allowed
        return np.vstack([self._weigh(W, rows), known])

    def _weigh(self, W: FloatArray, rows: NDArray[np.int64]) -> FloatArray:
        if self.knowledge is None:
            return W
        weights = self.knowledge.weights[rows % self.robot.n]
        return W * weights[:, None] * self.knowledge.allowed

    def _by_candidate(
        self, columns: BaseColumns, passage: Passage, weights: FloatArray
    ) -> FloatArray:
        """Return the gradient of ``sum(weights * W)`` by the free coefficients."""
        by = columns.gradient(passage, weights)
        full = sum(basis.T @ one for basis, one in zip(self._samples[:3], by, strict=True))
        return np.asarray(full).T[self._free]

    def _by_samples(
        self, bases: Bases, by: tuple[FloatArray, ...]
    ) -> FloatArray:
        """Return derivatives (N m, size) of what depends on each sample, from (N, m, n)."""
        full = sum(
            one[..., None] * basis[:, None, None, :]
            for basis, one in zip(bases, by, strict=True)
        )
        return np.asarray(full)[..., self._free].reshape(-1, self.size)

    def _uses(self, full: FloatArray) -> FloatArray:
        """Return the shares of the limits that each joint's motion uses, (n, kinds)."""
        limits = self.limits
        if self.experiment.bounds == 'conservative':
            return conservative_shares(self.form, full @ self._shape.T, limits)
        return np.column_stack([
            np.abs((basis @ full.T - limits.centre(kind)) / limits.reach(kind)).max(axis=0)
            for kind, basis in zip(KINDS, self._search, strict=True)
        ])

    def _scale(
        self, full: FloatArray, share: FloatArray, *, only_down: bool = False
    ) -> FloatArray:
        """Return the motion with each joint's amplitudes at a share of what the limits allow."""
        limits, centre = self.limits, full[:, 0]
        moving = np.hstack([np.zeros((self.robot.n, 1)), full[:, 1:]])
        if self.experiment.bounds == 'conservative':
            # The range about the centre instead of that about its own middle.
            room = np.minimum(limits.upper - centre, centre - limits.lower)
            about = replace(limits, lower=-room, upper=room)
            use = conservative_shares(self.form, moving @ self._shape.T, about).max(axis=1)
        else:
            q, *others = (basis @ moving.T for basis in self._repair)
            use = np.stack([
                q.max(axis=0) / (limits.upper - centre),
                -q.min(axis=0) / (centre - limits.lower),
                *(np.abs(values).max(axis=0) / limits.reach(kind)
                  for kind, values in zip(KINDS[1:], others, strict=True)),
            ]).max(axis=0)
        scale = RESERVE * share / np.maximum(use, 1e-12)
        if only_down:
            scale = np.minimum(scale, 1.0)
        return np.hstack([full[:, :1], full[:, 1:] * scale[:, None]])

    def _arrange(self, full: FloatArray) -> FloatArray:
        """Return amplitudes as an ordered form needs them, each joint where it has more room."""
        middle = self.limits.centre('position')
        direction = np.where(full[:, 0] < middle, 1.0, -1.0)
        arranged = self.form.arrange(full @ self._shape.T, direction)
        return np.asarray(np.linalg.solve(self._shape, arranged.T).T, dtype=float)

    def _may_rest_at(self, pose: FloatArray) -> bool:
        """Return whether a pose (1, n) keeps the limits of the path, and is clear."""
        motion = Motion(pose, np.zeros_like(pose), np.zeros_like(pose))
        kept = all(_is_kept(constraint, motion) for constraint, _ in self._constraints)
        return kept and self._keeps_clear(pose, self._kept_distance)

    def _keeps_clear(self, poses: FloatArray, distance: float) -> bool:
        return self.obstructed is None or bool(
            np.all(self.obstructed.least(poses) >= distance)
        )

    def describe_middle(self) -> str:
        """Say what the arm touches, or nearly, where it stands in the middle of its window."""
        if self.obstructed is None:
            return ''
        middle = self.limits.centre('position')
        nearest = self.obstructed.closest(middle[None], np.zeros(1))
        return f'; in the middle of the window {nearest}'

    def _why_nowhere(self, rng: np.random.Generator) -> str:
        """Say which limit of the path or which pair of bodies is broken most often, and where."""
        poses = rng.uniform(self.limits.lower, self.limits.upper, (CENTRE_TRIES, self.robot.n))
        rest = np.zeros_like(poses)
        words = (
            f'no motion of {self.robot.name} within the limits: it can stand nowhere. Of '
            f'{CENTRE_TRIES} random poses within its '
        )
        for constraint, _ in self._constraints:
            shares = constraint.shares(Motion(poses, rest, rest))
            broken = constraint.use(shares) > RESERVE
            if np.all(np.any(broken, axis=1)):
                label = constraint.labels()[int(np.argmax(broken.sum(axis=0)))]
                return f'{words}window all break the limit {constraint.kind} of {label}: widen it'
        if self.obstructed is None:
            return f'{words}window none keeps all limits of the path at once: widen them'
        nearest = [int(np.argmin(self.obstructed.distances(q))) for q in poses]
        pair, count = Counter(nearest).most_common(1)[0]
        first, second = self.obstructed.pairs[pair]
        place = self.obstructed.place(poses[nearest.index(pair)], pair)
        return (
            f'{words}window none keeps {self.experiment.clearance} m of clearance; in {count} of '
            f'them {first} and {second} are the nearest pair, for example at x, y, z = '
            f'{", ".join(f"{value:.3f}" for value in place)} m in the root frame: move the '
            'obstacle, or change the windows of the joints'
        )


def _check_order_is_kept(experiment: Experiment) -> None:
    """Refuse an optimizer that moves coefficients of an ordered form out of their order."""
    form, optimizer = experiment.form, experiment.optimizer
    if form.is_ordered and optimizer not in ONLY_SCALING:
        raise UsageError(
            f'the optimizer {optimizer} moves poses of {form.name} one by one, and with monotone '
            'true they must follow each other: set optimizer to '
            f'{" or ".join(ONLY_SCALING)}, or leave monotone out'
        )


def _is_kept(constraint: PathConstraint, motion: Motion) -> bool:
    return bool(np.all(constraint.use(constraint.shares(motion)) <= RESERVE))


def _sample_sets(
    experiment: Experiment, joints: int
) -> tuple[FloatArray, tuple[NDArray[np.int64], ...]]:
    """Return all instants of the criterion, and the rows of W that belong to each set."""
    duration = experiment.form.duration
    sets = [
        np.linspace(0.0, duration, count, endpoint=False) for count in experiment.samples
    ]
    # Instants that sets have in common are computed once.
    times, first = np.unique(np.round(np.concatenate(sets), 12), return_inverse=True)
    starts = np.cumsum([0, *(len(one) for one in sets)])
    rows = tuple(
        (first[start:stop, None] * joints + np.arange(joints)).ravel()
        for start, stop in pairwise(starts)
    )
    return np.asarray(times, dtype=float), rows


def equal_size(form: Parametrization) -> FloatArray:
    """Return the matrix (c, c) of ``equal @ shape.T``, coefficients of equal amplitudes."""
    times = np.linspace(0.0, form.duration, SAMPLES_OF_A_COEFFICIENT * form.n_coefficients)
    B, _, _ = form.basis(times)
    triangle = np.linalg.qr(B[:, 1:], mode='r') / np.sqrt(len(B))
    triangle *= np.sign(np.diag(triangle))[:, None]
    shape = np.eye(form.n_coefficients)
    shape[1:, 1:] = np.linalg.inv(triangle)
    return shape
