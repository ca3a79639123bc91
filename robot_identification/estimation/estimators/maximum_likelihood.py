# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Maximum likelihood for periodic motions: positions and torques both have errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from robot_identification.arrays import FloatArray, IntArray, triangle_of
from robot_identification.errors import DataError, UsageError
from robot_identification.estimation.estimate import Estimate, Estimator
from robot_identification.estimation.estimators.options import check_count, check_positive
from robot_identification.estimation.estimators.reference_motion import need_motions
from robot_identification.estimation.linear import describe_estimate
from robot_identification.estimation.problem import IdentificationProblem, Observations
from robot_identification.estimation.rows import NO_TREATMENT, TrainingData
from robot_identification.estimation.solving import (
    FIRST_REWEIGHTINGS, least_squares, renew_weights, residual_weights, solve_unknowns,
)
from robot_identification.model import (
    base_dynamics, Motion, observation_matrix, PLAIN_FRICTION, StandardParameters,
)
from robot_identification.processing import (
    find_periodic_motion, FourierSeries, MOST_HARMONICS, NotPeriodicError, PeriodicMotion,
)
import scipy

# Samples whose derivatives are computed together.
BLOCK_SAMPLES = 2048
# Damping of the first step that is tried again, in parts of the squared columns; the factor by
# which it grows, and where steps are given up.
FIRST_DAMPING, DAMPING_GROWTH, MOST_DAMPING = 1.0e-4, 10.0, 1.0e8
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

    Attributes
    ----------
    period : float, optional
        Of the motion [s]; by default it is found in the positions of two periods or more.
    harmonics : int, optional
        Of the motion; by default as many as the positions show (Schwarz's criterion).
    reweightings : int
        How often the standard deviations of the torques are renewed.
    iterations : int
        Steps at most, for each of these.
    tolerance : float
        Relative change of the parameters at which steps end.

    References
    ----------
    .. [1] J. Swevers et al., "Optimal robot excitation and identification", IEEE Transactions on
       Robotics and Automation 13(5), 1997.
    .. [2] M. M. Olsen, J. Swevers, W. Verdonck, "Maximum likelihood identification of a dynamic
       robot model: implementation issues", IJRR 21(2), 2002.

    """

    needs_rows: ClassVar[bool] = True
    period: float | None = None
    harmonics: int | None = None
    reweightings: int = 2
    iterations: int = 30
    tolerance: float = 1.0e-7

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
        motions = [self._find_motion(part) for part in observations.data]
        recordings = [
            _PeriodicRecording(observations, bag, motion) for bag, motion in enumerate(motions)
        ]
        coefficients = [motion.series.coefficients for motion in motions]
        # With the kinematics that were recorded, which say by name what they do not show.
        weights = renew_weights(problem, FIRST_REWEIGHTINGS)
        start = solve_unknowns(_follow(problem, recordings, coefficients), weights)
        state = _State(tuple(coefficients), start)
        passes, settled = 2, False
        for renewal in range(self.reweightings + 1):
            if renewal:
                weights = residual_weights(
                    _follow(problem, recordings, state.coefficients), state.theta
                )
            # Weights that are not the last ones need no more.
            tolerance = (
                self.tolerance if renewal == self.reweightings
                else max(self.tolerance, ROUGH_TOLERANCE)
            )
            descent = _descend(recordings, state, weights, self.iterations, tolerance)
            state, settled = descent.state, descent.settled
            passes += descent.passes
        followed = _follow(problem, recordings, state.coefficients)
        theta = solve_unknowns(followed, weights)
        b = problem.reduction.rank
        notes = [_describe_motion(recording) for recording in recordings]
        if self.harmonics is None and any(m.harmonics == MOST_HARMONICS for m in motions):
            notes.append(
                f'positions show {MOST_HARMONICS} harmonics or more, and no more were kept: '
                'compare with other estimators where the motion has fast parts'
            )
        if not settled:
            notes.append(
                f'steps stopped after {self.iterations} without an end: the likelihood may still '
                'rise a little'
            )
        return replace(
            describe_estimate(followed, weights, theta),
            covariance=_cramer_rao(descent.equations)[:b, :b],
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


@dataclass(frozen=True, eq=False)
class _State:
    """State of the search: coefficients of every recording's motion, and all unknowns."""

    coefficients: tuple[FloatArray, ...]
    theta: FloatArray


@dataclass(frozen=True, eq=False)
class _Equations:
    """
    Linearized equations of one recording, reduced to a triangle.

    `triangle` is that of ``[motion parameters residual]`` with `moving` columns of the motion of
    so many `joints`, and `cost` the squares of the residual.
    """

    triangle: FloatArray
    moving: int
    joints: int
    cost: float

    @property
    def of_motion(self) -> FloatArray:
        """Rows that have the motion's unknowns."""
        return self.triangle[: self.moving]

    @property
    def of_parameters(self) -> FloatArray:
        """Rows that have the parameters alone, and the residual."""
        return self.triangle[self.moving:, self.moving:]


@dataclass(frozen=True, eq=False)
class _Descent:
    """End of the steps."""

    state: _State
    equations: tuple[_Equations, ...]
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
        dataset = part.dataset
        self.motion, self.part = motion, part
        self._robot, self._reduction = observations.robot, observations.reduction
        self._parameters = observations.reduction.parameters
        self._shifts = _offset_columns(observations, bag)
        chosen = np.flatnonzero(motion.follows)
        bins = _phase_bins(dataset.stamps[chosen], motion.series.period, dataset.rate)
        order = np.argsort(bins, kind='stable')
        rows = chosen[order]
        effort = dataset.effort if part.effort is None else part.effort
        self._t = dataset.stamps[rows]
        self._tau = effort[rows] * part.torque_per_effort
        self._tau[:, list(part.constant_effort)] = 0.0
        self._starts = np.flatnonzero(np.diff(bins[order], prepend=-1))
        size = len(motion.series.coefficients)
        self._harmonic = FourierSeries(motion.series.period, np.eye(size))
        positions = np.hstack([self._harmonic.evaluate(self._t), dataset.motion.q[rows]])
        averaged = _average(positions, self._starts)
        # Positions are linear in the coefficients: reduced once.
        triangle = triangle_of(np.asfortranarray(averaged))
        self._R, self._z = triangle[:size, :size], triangle[:size, size:]

    @property
    def samples(self) -> int:
        """Return the number of samples."""
        return len(self._t)

    @property
    def phases(self) -> int:
        """Return the number of phases that they are averaged at."""
        return len(self._starts)

    def series(self, coefficients: FloatArray) -> FourierSeries:
        """Return the motion of some coefficients (2 K + 1, n)."""
        return FourierSeries(self.motion.series.period, coefficients)

    def linearize(
        self, coefficients: FloatArray, theta: FloatArray, weights: FloatArray
    ) -> _Equations:
        """Return the equations of a step from coefficients (2 K + 1, n) and unknowns (size,)."""
        n, size = self._robot.n, len(coefficients)
        moving, unknowns = n * size, len(theta)
        rows = np.zeros((moving, moving + unknowns + 1))
        precision = 1.0 / self.motion.deviation
        for joint in range(n):
            own = slice(joint * size, (joint + 1) * size)
            rows[own, own] = precision[joint] * self._R
            rows[own, -1] = precision[joint] * (
                self._z[:, joint] - self._R @ coefficients[:, joint]
            )
        triangle = np.zeros((moving + unknowns + 1,) * 2)
        triangle[:moving] = rows
        cost = float(np.sum(rows[:, -1] ** 2))
        for block, starts in self._blocks():
            table = self._torque_rows(block, coefficients, theta)
            table = _average(table.reshape(len(table), -1), starts).reshape(
                len(starts), n, -1
            ) * weights[:, None]
            cost += float(np.sum(table[:, :, -1] ** 2))
            triangle = triangle_of(
                np.asfortranarray(np.vstack([triangle, table.reshape(len(starts) * n, -1)]))
            )
        return _Equations(triangle, moving, n, cost)

    def _blocks(self) -> Iterator[tuple[slice, IntArray]]:
        """Yield parts of the samples that end with a phase, and where phases start in them."""
        edges = np.append(self._starts, len(self._t))
        first = 0
        while first < len(self._starts):
            last = max(
                int(np.searchsorted(edges, edges[first] + BLOCK_SAMPLES, 'right')) - 1, first + 1
            )
            yield slice(edges[first], edges[last]), self._starts[first:last] - edges[first]
            first = last

    def _matrix(self, block: slice, coefficients: FloatArray) -> FloatArray:
        """Return the observation matrix of some samples, (m, n, size)."""
        n = self._robot.n
        W = observation_matrix(
            self._robot, self._parameters, self._motion(block, coefficients)
        )[:, self._reduction.independent].reshape(-1, n, self._reduction.rank)
        shifts = np.broadcast_to(self._shifts, (len(W), *self._shifts.shape))
        matrix = np.concatenate([W, shifts], axis=2)
        matrix[:, list(self.part.constant_effort)] = 0.0
        return matrix

    def _motion(self, block: slice, coefficients: FloatArray) -> Motion:
        series, t = self.series(coefficients), self._t[block]
        return Motion(*(series.evaluate(t, order) for order in range(3)))

    def _torque_rows(
        self, block: slice, coefficients: FloatArray, theta: FloatArray
    ) -> FloatArray:
        """Return torque equations of some samples: motion, unknowns, residual."""
        n, size = self._robot.n, len(coefficients)
        motion, t = self._motion(block, coefficients), self._t[block]
        base = theta[: self._reduction.rank]
        by_q, by_dq, by_ddq = base_dynamics(
            self._robot, self._reduction, base
        ).torque_derivatives(motion)
        by_dq[:, range(n), range(n)] += _friction_slopes(
            self._parameters, self._reduction.independent, base, motion.dq
        )
        harmonic = [self._harmonic.evaluate(t, order) for order in range(3)]
        matrix = self._matrix(block, coefficients)
        rows = np.empty((len(t), n, n * size + len(theta) + 1))
        by_motion = sum(
            derivative[..., None] * columns[:, None, None, :]
            for derivative, columns in zip((by_q, by_dq, by_ddq), harmonic, strict=True)
        )
        rows[:, :, : n * size] = np.asarray(by_motion).reshape(len(t), n, -1)
        rows[:, list(self.part.constant_effort), : n * size] = 0.0
        rows[:, :, n * size: -1] = matrix
        rows[:, :, -1] = self._tau[block] - matrix @ theta
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


def _offset_columns(observations: Observations, bag: int) -> FloatArray:
    """Return the columns of the recordings' own offsets in one of them, (n, nuisance)."""
    n = observations.robot.n
    columns = np.zeros((n, observations.nuisance))
    if not observations.nuisance:
        return columns
    for term in observations.reduction.parameters.friction:
        if term.law.is_offset:
            own = columns[term.joint, term.joint::n]
            own[:] = -1.0 if bag == 0 else 0.0
            if bag:
                own[bag - 1] = 1.0
    return columns


def _friction_slopes(
    parameters: StandardParameters, independent: IntArray, theta: FloatArray, dq: FloatArray
) -> FloatArray:
    """Return the derivative of each joint's friction by its velocity, (N, n)."""
    standard = np.zeros(parameters.size)
    standard[independent] = theta
    slopes = np.zeros_like(dq)
    for term, columns in parameters.friction_columns:
        joint = term.joint
        slopes[:, joint] += term.law.velocity_derivative(dq[:, joint]) @ standard[columns]
    return slopes


def _follow(
    problem: IdentificationProblem,
    recordings: Sequence[_PeriodicRecording],
    coefficients: Sequence[FloatArray],
) -> IdentificationProblem:
    """Return the linear problem of given motions, all samples of theirs with their own rows."""
    observations = need_motions(problem, 'maximum_likelihood')
    data = []
    for recording, found in zip(recordings, coefficients, strict=True):
        part = recording.part
        dataset = part.dataset
        series = recording.series(found)
        q, dq, ddq = (series.evaluate(dataset.stamps, order) for order in range(3))
        motion = Motion(
            q, dq, ddq, dataset.motion.temperature, starts=dataset.motion.starts
        )
        data.append(replace(
            part, dataset=replace(dataset, motion=motion), rows=recording.motion.follows
        ))
    return Observations(
        observations.robot, observations.reduction, data,
        offset_by_recording=observations.offset_by_recording,
        time_blocks=max(len(problem.blocks), 1),
    ).factor()


def _descend(
    recordings: Sequence[_PeriodicRecording],
    state: _State,
    weights: FloatArray,
    iterations: int,
    tolerance: float,
) -> _Descent:
    """Return where the steps of Levenberg and Marquardt end, for given weights."""
    equations = _linearize(recordings, state, weights)
    passes, damping, settled = 1, 0.0, False
    for _ in range(iterations):
        step = _step(equations, damping)
        settled = _change(equations, state, step) <= tolerance
        tried = _State(
            tuple(
                old + new
                for old, new in zip(state.coefficients, step.coefficients, strict=True)
            ),
            state.theta + step.theta,
        )
        found = _linearize(recordings, tried, weights)
        passes += 1
        before, after = (sum(part.cost for part in each) for each in (equations, found))
        if after <= before * (1.0 + COST_ROUNDING):
            state, equations = tried, found
            damping = damping / DAMPING_GROWTH if damping > FIRST_DAMPING else 0.0
        elif not settled:
            damping = max(DAMPING_GROWTH * damping, FIRST_DAMPING)
        # A step so small that only rounding makes it worse is an end, too.
        if settled or damping > MOST_DAMPING:
            break
    return _Descent(state, equations, passes, settled)


def _linearize(
    recordings: Sequence[_PeriodicRecording], state: _State, weights: FloatArray
) -> tuple[_Equations, ...]:
    return tuple(
        recording.linearize(own, state.theta, weights)
        for recording, own in zip(recordings, state.coefficients, strict=True)
    )


def _step(equations: Sequence[_Equations], damping: float) -> _State:
    """Return the step of coefficients and unknowns, each recording's motion eliminated."""
    reduced = [_damp(part, damping) for part in equations]
    stacked = np.vstack([part.of_parameters for part in reduced])
    R, z = stacked[:, :-1], stacked[:, -1]
    if damping:
        R = np.vstack([R, np.sqrt(damping) * np.diag(np.linalg.norm(R, axis=0))])
        z = np.append(z, np.zeros(R.shape[1]))
    step = least_squares(R, z)
    coefficients = []
    for part in reduced:
        rows, moving = part.of_motion, part.moving
        own = scipy.linalg.solve_triangular(
            rows[:, :moving], rows[:, -1] - rows[:, moving:-1] @ step
        )
        # Joint after joint, as the columns are.
        coefficients.append(own.reshape(part.joints, -1).T)
    return _State(tuple(coefficients), step)


def _damp(equations: _Equations, damping: float) -> _Equations:
    """Return equations with rows that keep the motion where it is."""
    if not damping:
        return equations
    triangle, moving = equations.triangle, equations.moving
    rows = np.zeros((moving, len(triangle)))
    rows[:, :moving] = np.sqrt(damping) * np.diag(np.linalg.norm(triangle[:, :moving], axis=0))
    return replace(equations, triangle=triangle_of(np.vstack([triangle, rows])))


def _change(equations: Sequence[_Equations], state: _State, step: _State) -> float:
    """Return the change of the parameters over their size, in units that do not matter."""
    lengths = np.sqrt(sum(
        np.sum(part.triangle[:, part.moving:-1] ** 2, axis=0) for part in equations
    ))
    size = float(np.linalg.norm(lengths * state.theta))
    return float(np.linalg.norm(lengths * step.theta)) / (size or 1.0)


def _cramer_rao(equations: Sequence[_Equations]) -> FloatArray:
    """Return the inverse of the information on the unknowns, the motions being unknown, too."""
    R = np.vstack([part.of_parameters[:, :-1] for part in equations])
    scale = np.linalg.norm(R, axis=0)
    triangle = triangle_of(np.asfortranarray(R / scale))
    root = scipy.linalg.solve_triangular(triangle, np.eye(len(scale))) / scale[:, None]
    covariance: FloatArray = root @ root.T
    return covariance


def _describe_motion(recording: _PeriodicRecording) -> str:
    motion = recording.motion
    deviation = ', '.join(f'{value:.2g}' for value in motion.deviation)
    return (
        f'period {motion.series.period:.6g} s, {motion.harmonics} harmonics, '
        f'{recording.samples} samples averaged at {recording.phases} phases; positions scatter '
        f'about the motion by {deviation} rad'
    )
