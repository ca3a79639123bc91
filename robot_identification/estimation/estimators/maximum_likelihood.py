# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Maximum likelihood for periodic motions: positions and torques both have errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from robot_identification.arrays import FloatArray, IntArray, triangle_of
from robot_identification.errors import DataError, UsageError
from robot_identification.estimation.estimate import (
    check_count, check_positive, Estimate, Estimator,
)
from robot_identification.estimation.problem import IdentificationProblem, Observations
from robot_identification.estimation.rows import NO_TREATMENT, TrainingData
from robot_identification.estimation.solving import (
    describe_estimate, FIRST_REWEIGHTINGS, least_squares, need_motions, propagate, renew_weights,
    residual_weights, solve_unknowns,
)
from robot_identification.model import (
    base_dynamics, Motion, observation_matrix, PLAIN_FRICTION,
)
from robot_identification.processing import (
    find_periodic_motion, FourierSeries, MOST_HARMONICS, NotPeriodicError, PeriodicMotion,
)
import scipy

# Samples whose derivatives are computed together.
BLOCK_SAMPLES = 2048
# A step that makes the motion less likely is halved so often at most.
MOST_HALVINGS = 10
# Relative change at which steps end before the weights are renewed.
ROUGH_TOLERANCE = 1.0e-3
# A cost that is larger by this part is no better for rounding alone.
COST_ROUNDING = 1.0e-12


@dataclass(frozen=True)
class MaximumLikelihood(Estimator):
    r"""
    Minimize the errors of positions and torques over the motion and the parameters [1]_ [2]_.

    That is :math:`\sum \lVert q - \hat q \rVert^2 / \sigma_q^2 + \sum \lVert \tau - W(\hat q)
    \theta \rVert^2 / \sigma_\tau^2`. The motion :math:`\hat q` is a Fourier series, velocity and
    acceleration are its derivatives: noise of positions does not become noise of a matrix, and no
    filter is chosen. What all periods say at one phase is averaged. Standard errors are the
    Cramer-Rao bound, in which the motion's own uncertainty is.

    References
    ----------
    .. [1] J. Swevers et al., "Optimal robot excitation and identification", IEEE Transactions on
       Robotics and Automation 13(5), 1997.
    .. [2] M. M. Olsen, J. Swevers, W. Verdonck, "Maximum likelihood identification of a dynamic
       robot model: implementation issues", IJRR 21(2), 2002.

    """

    needs_rows: ClassVar[bool] = True
    period: float | None = None  # of the motion [s]; by default found in two periods or more
    harmonics: int | None = None  # of the motion; by default as many as the positions show
    reweightings: int = 2  # how often the standard deviations of the torques are renewed
    iterations: int = 30  # steps at most, for each of these
    tolerance: float = 1.0e-7  # relative change of the parameters at which steps end

    def __post_init__(self) -> None:
        if self.period is not None:
            check_positive(self.period, 'period of maximum_likelihood [s]')
        if self.harmonics is not None:
            check_count(self.harmonics, 1, 'harmonics of maximum_likelihood')
        check_count(self.reweightings, 0, 'reweightings of maximum_likelihood')
        check_count(self.iterations, 1, 'iterations of maximum_likelihood')
        check_positive(self.tolerance, 'tolerance of maximum_likelihood')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """
        Estimate motion and parameters together; see `Estimator.estimate`.

        Raises UsageError if the rows are filtered, or friction depends on more than the velocity,
        DataError if a motion does not repeat itself.
        """
        observations = need_motions(problem, 'maximum_likelihood')
        _check_rows(observations)
        recordings = [
            _PeriodicRecording(observations, bag, self._find_motion(part))
            for bag, part in enumerate(observations.data)
        ]
        state = [one.motion.series.coefficients for one in recordings]
        # With the kinematics that were recorded, which say by name what they do not show.
        weights = renew_weights(problem, FIRST_REWEIGHTINGS)
        state.append(solve_unknowns(_follow(problem, recordings, state), weights))
        passes = 2
        for left in range(self.reweightings, -1, -1):
            # Weights that are not the last ones need no more.
            tolerance = max(self.tolerance, ROUGH_TOLERANCE if left else 0.0)
            descent = _descend(recordings, state, weights, self.iterations, tolerance)
            state = descent.state
            passes += descent.passes
            followed = _follow(problem, recordings, state)
            if left:
                weights = residual_weights(followed, state[-1])
        information = np.vstack([part.parameters[:, :-1] for part in descent.equations])
        b = problem.reduction.rank
        notes = [recording.describe() for recording in recordings]
        if self.harmonics is None and any(
            one.motion.harmonics == MOST_HARMONICS for one in recordings
        ):
            notes.append(
                f'positions show {MOST_HARMONICS} harmonics or more, and no more were kept: '
                'compare with other estimators where the motion has fast parts'
            )
        if not descent.settled:
            notes.append(
                f'steps stopped after {self.iterations} without an end: the likelihood may still '
                'rise a little'
            )
        return replace(
            describe_estimate(followed, weights, solve_unknowns(followed, weights)),
            # The Cramer-Rao bound, the motions being unknown, too.
            covariance=propagate(information, np.ones(len(information)))[:b, :b],
            passes=passes,
            notes=tuple(notes),
        )

    def _find_motion(self, part: TrainingData) -> PeriodicMotion:
        dataset = part.dataset
        try:
            # Samples that are left out in order to test a model show the period as well.
            found = find_periodic_motion(
                dataset.stamps, dataset.motion.q, part.rows | dataset.fitted,
                period=self.period, harmonics=self.harmonics,
            )
        except NotPeriodicError as error:
            raise DataError(
                f'{dataset.source}: {error}; estimator maximum_likelihood needs a repeated '
                'motion: record an excitation trajectory of two periods or more, or '
                'choose --estimator iv'
            ) from error
        return replace(found, follows=found.follows & part.rows)


def _check_rows(observations: Observations) -> None:
    if observations.treatment != NO_TREATMENT:
        raise UsageError(
            'estimator maximum_likelihood takes the samples as they were recorded, and the '
            'recipe filters or leaves out rows: choose another estimator or recipe'
        )
    for term in observations.reduction.parameters.friction:
        law = term.law
        if law.needs_temperature or law.needs_rigid_torque or law.initial_state().size:
            raise UsageError(
                f'estimator maximum_likelihood needs friction of the velocity alone, and law '
                f'{law.name} depends on more: choose --friction {PLAIN_FRICTION}, or '
                '--estimator iv'
            )


class _Equations(NamedTuple):
    """Linearized equations of one recording, reduced to a triangle of motion and parameters."""

    motion: FloatArray  # rows that have the motion's unknowns: motion, parameters, residual
    parameters: FloatArray  # rows that have the parameters alone, and the residual
    cost: float  # squares of the residual


class _Descent(NamedTuple):
    """End of the steps."""

    # Coefficients (2 K + 1, n) of the motion of every recording, then all unknowns (size,).
    state: list[FloatArray]
    equations: list[_Equations]
    passes: int
    settled: bool


class _PeriodicRecording:
    """
    Samples of one recording, averaged over the periods phase by phase.

    Samples that all periods have at one phase are averaged without loss. Where stamps are
    irregular, equations of neighbouring phases within one sampling step are averaged: each is
    taken at its own time, so that no sample is interpolated.
    """

    def __init__(self, observations: Observations, bag: int, motion: PeriodicMotion) -> None:
        part = observations.data[bag]
        dataset, n = part.dataset, observations.robot.n
        self.motion, self.part = motion, part
        self._robot, self._reduction = observations.robot, observations.reduction
        # Columns of the recordings' own offsets, which add up to zero.
        self._shifts = np.zeros((n, observations.nuisance))
        for term in self._reduction.parameters.friction:
            if term.law.is_offset and observations.nuisance:
                self._shifts[term.joint, term.joint::n] = (
                    np.eye(observations.recordings)[bag, 1:] if bag else -1.0
                )
        chosen = np.flatnonzero(motion.follows)
        bins = _phase_bins(dataset.stamps[chosen], motion.series.period, dataset.rate)
        order = np.argsort(bins, kind='stable')
        rows = chosen[order]
        effort = dataset.effort if part.effort is None else part.effort
        self._t = dataset.stamps[rows]
        self._tau = effort[rows] * part.torque_per_effort
        self._starts = np.flatnonzero(np.diff(bins[order], prepend=-1))
        size = len(motion.series.coefficients)
        self._harmonic = FourierSeries(motion.series.period, np.eye(size))
        # Positions are linear in the coefficients: reduced once.
        positions = np.hstack([self._harmonic.evaluate(self._t), dataset.motion.q[rows]])
        triangle = triangle_of(_average(positions, self._starts))
        self._R, self._z = triangle[:size, :size], triangle[:size, size:]

    def describe(self) -> str:
        """Return the motion in words."""
        motion = self.motion
        deviation = ', '.join(f'{value:.2g}' for value in motion.deviation)
        return (
            f'period {motion.series.period:.6g} s, {motion.harmonics} harmonics, '
            f'{len(self._t)} samples averaged at {len(self._starts)} phases; positions scatter '
            f'about the motion by {deviation} rad'
        )

    def linearize(
        self, coefficients: FloatArray, theta: FloatArray, weights: FloatArray
    ) -> _Equations:
        """Return the equations of a step from coefficients (2 K + 1, n) and unknowns (size,)."""
        moving, n = coefficients.size, self._robot.n
        triangle = np.zeros((moving + len(theta) + 1,) * 2)
        left = (self._z - self._R @ coefficients) / self.motion.deviation
        triangle[:moving, :moving] = np.kron(np.diag(1.0 / self.motion.deviation), self._R)
        triangle[:moving, -1] = left.ravel(order='F')
        cost = float(np.sum(left**2))
        edges = np.append(self._starts, len(self._t))
        # Parts of the samples that end with a phase.
        parts = min(-(-len(self._t) // BLOCK_SAMPLES), len(self._starts))
        for starts in np.array_split(self._starts, parts):
            block = slice(starts[0], edges[np.searchsorted(edges, starts[-1]) + 1])
            table = self._torque_rows(block, coefficients, theta)
            table = _average(table.reshape(len(table), -1), starts - starts[0])
            rows = (table.reshape(len(starts), n, -1) * weights[:, None]).reshape(
                -1, len(triangle)
            )
            cost += float(np.sum(rows[:, -1] ** 2))
            triangle = triangle_of(np.asfortranarray(np.vstack([triangle, rows])))
        return _Equations(triangle[:moving], triangle[moving:, moving:], cost)

    def _torque_rows(
        self, block: slice, coefficients: FloatArray, theta: FloatArray
    ) -> FloatArray:
        """Return torque equations of some samples, (m, n, ..): motion, unknowns, residual."""
        reduction, parameters, n = self._reduction, self._reduction.parameters, self._robot.n
        t, series = self._t[block], FourierSeries(self.motion.series.period, coefficients)
        motion = Motion(*(series.evaluate(t, order) for order in range(3)))
        base = theta[: reduction.rank]
        standard = reduction.lift(base)
        derivatives = base_dynamics(self._robot, reduction, base).torque_derivatives(motion)
        for term, columns in parameters.friction_columns:
            slopes = term.law.velocity_derivative(motion.dq[:, term.joint])
            derivatives[1][:, term.joint, term.joint] += slopes @ standard[columns]
        by_motion = sum(
            derivative[..., None] * self._harmonic.evaluate(t, order)[:, None, None, :]
            for order, derivative in enumerate(derivatives)
        )
        W = observation_matrix(self._robot, parameters, motion)[:, reduction.independent]
        matrix = np.concatenate([
            W.reshape(len(t), n, -1),
            np.broadcast_to(self._shifts, (len(t), *self._shifts.shape)),
        ], axis=2)
        residual = self._tau[block] - matrix @ theta
        rows = np.concatenate([
            np.asarray(by_motion).reshape(len(t), n, -1), matrix, residual[..., None]
        ], axis=2)
        rows[:, list(self.part.constant_effort)] = 0.0
        return rows


def _average(rows: FloatArray, starts: IntArray) -> FloatArray:
    """Return sums of consecutive rows over the root of their number, which keeps the noise."""
    counts = np.diff(np.append(starts, len(rows)))
    averaged: FloatArray = np.add.reduceat(rows, starts, axis=0) / np.sqrt(counts)[:, None]
    return averaged


def _phase_bins(t: FloatArray, period: float, rate: float) -> IntArray:
    """Return which of the phases, one sampling step apart, each sample is nearest to."""
    count = max(round(period * rate), 1)
    phase = t / period * count
    # Samples that share a phase are in the middle of a bin, not at its edge.
    middle = np.angle(np.mean(np.exp(2j * np.pi * phase))) / (2.0 * np.pi)
    bins: IntArray = np.round(phase - middle).astype(np.int64) % count
    return bins


def _follow(
    problem: IdentificationProblem, recordings: Sequence[_PeriodicRecording],
    state: Sequence[FloatArray],
) -> IdentificationProblem:
    """Return the linear problem of given motions, all samples of theirs with their own rows."""
    data = []
    for recording, coefficients in zip(recordings, state, strict=False):
        dataset = recording.part.dataset
        series = FourierSeries(recording.motion.series.period, coefficients)
        q, dq, ddq = (series.evaluate(dataset.stamps, order) for order in range(3))
        data.append(replace(
            recording.part, rows=recording.motion.follows,
            dataset=replace(dataset, motion=replace(dataset.motion, q=q, dq=dq, ddq=ddq)),
        ))
    return need_motions(problem, 'maximum_likelihood').changed(data=data).factor()


def _descend(
    recordings: Sequence[_PeriodicRecording], state: list[FloatArray], weights: FloatArray,
    iterations: int, tolerance: float,
) -> _Descent:
    """Return where the steps of Gauss and Newton end, for given weights."""
    def linearize(state: list[FloatArray]) -> list[_Equations]:
        return [
            recording.linearize(coefficients, state[-1], weights)
            for recording, coefficients in zip(recordings, state[:-1], strict=True)
        ]

    equations, passes, settled = linearize(state), 1, False
    for _ in range(iterations):
        step = _step(equations, state)
        settled = _change(equations, state[-1], step[-1]) <= tolerance
        before = sum(part.cost for part in equations)
        for halving in range(MOST_HALVINGS):
            tried = [old + 0.5**halving * new for old, new in zip(state, step, strict=True)]
            found = linearize(tried)
            passes += 1
            is_better = sum(part.cost for part in found) <= before * (1.0 + COST_ROUNDING)
            # A step so small that only rounding makes it worse is an end, too.
            if is_better or settled:
                break
        if is_better:
            state, equations = tried, found
        if settled or not is_better:
            break
    return _Descent(state, equations, passes, settled)


def _step(equations: Sequence[_Equations], state: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the step of coefficients and unknowns, each recording's motion eliminated."""
    stacked = np.vstack([part.parameters for part in equations])
    step = least_squares(stacked[:, :-1], stacked[:, -1])
    coefficients = []
    for part, old in zip(equations, state, strict=False):
        own = scipy.linalg.solve_triangular(
            part.motion[:, :old.size], part.motion[:, -1] - part.motion[:, old.size:-1] @ step
        )
        # Joint after joint, as the columns are.
        coefficients.append(own.reshape(old.shape, order='F'))
    return [*coefficients, step]


def _change(equations: Sequence[_Equations], theta: FloatArray, step: FloatArray) -> float:
    """Return the change of the parameters over their size, in units that do not matter."""
    lengths = np.linalg.norm(np.vstack([
        rows[:, -len(theta) - 1: -1]
        for part in equations for rows in (part.motion, part.parameters)
    ]), axis=0)
    size = float(np.linalg.norm(lengths * theta))
    return float(np.linalg.norm(lengths * step)) / (size or 1.0)
