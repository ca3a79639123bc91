# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Instrumental variables: rows of a simulated arm, which has no measurement noise.

It follows the smooth motion behind the recorded one. Of a motion that repeats itself that is a
Fourier series, in which the noise of all samples shares a few numbers; of others a spline with
knots much farther apart than samples. The control law is that of an arm whose drives know its
model: the torque of the reference, and a proportional-derivative servo scaled by the mass matrix.
Where the servo compensates friction as well, an arm that starts on its reference stays on it, with
any parameters: then only a physically consistent arm is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np
from robot_identification.arrays import allocate, BoolArray, FloatArray, IntArray, triangle_of
from robot_identification.errors import InconsistentModelError, RankDeficientError
from robot_identification.estimation.estimate import (
    check_count, check_positive, Estimate, Estimator,
)
from robot_identification.estimation.problem import (
    IdentificationProblem, Observations, TriangularFactor,
)
from robot_identification.estimation.rows import (
    count_time_blocks, JointRows, ObservationBlock,
)
from robot_identification.estimation.solving import (
    describe_estimate, FIRST_REWEIGHTINGS, least_squares, need_motions, RANK_TOLERANCE,
    relative_change, renew_weights, residual_weights, solve_unknowns,
)
from robot_identification.model import base_dynamics, Motion, RigidDynamics, standard_torque
from robot_identification.processing import Dataset, find_periodic_motion, NotPeriodicError
import scipy

# The servo moves by no more than this phase between two stamps [rad]: what Runge and Kutta's steps
# are off by grows with its fourth power.
LARGEST_PHASE = 0.25
# A simulated arm this far off its reference has lost it [rad or m].
LOST = 1.0
# Of the splines: accelerations are smooth.
DEGREE = 5
# A knot needs so many samples, at any sampling rate.
SAMPLES_PER_KNOT = 4


@dataclass(frozen=True)
class Servo:
    """A position servo of a simulated arm."""

    frequency: float = 5.0  # natural, [Hz]; less where the sampling does not allow it
    damping: float = 1.0  # ratio, of the error
    compensates_friction: bool = True  # if not, friction moves the arm off the reference

    def __post_init__(self) -> None:
        check_positive(self.frequency, 'frequency of the servo [Hz]')
        check_positive(self.damping, 'damping of the servo')


@dataclass(frozen=True)
class InstrumentalVariables(Estimator):
    r"""
    Solve :math:`Z^T (\tau - W \theta) = 0` with instruments Z that do not share the noise [1]_.

    Least squares take the noise of measured velocities and accelerations for motion, and come out
    too small. Z is the observation matrix of a simulated arm with the current estimate, which
    follows the smooth motion behind the recorded one under control; joints are weighted by their
    residuals. It is renewed until the estimate stays.

    References
    ----------
    .. [1] A. Janot, P.-O. Vandanjon, M. Gautier, "A generic instrumental variable approach for
       industrial robot identification", IEEE Transactions on Control Systems Technology 22(1),
       2014.

    """

    needs_rows: ClassVar[bool] = True
    iterations: int = 5  # simulations at most
    tolerance: float = 1.0e-3  # relative change of the estimate at which they end
    # Between the knots of the splines that a motion without period is smoothed by [s].
    knot_spacing: float = 0.2
    reweightings: int = 3  # how often the joints' weights are renewed, for each simulation
    servo: Servo = field(default_factory=Servo)  # control law of the simulated arm

    def __post_init__(self) -> None:
        check_count(self.iterations, 1, 'iterations of iv')
        check_positive(self.tolerance, 'tolerance of iv')
        check_positive(self.knot_spacing, 'knot_spacing of iv [s]')
        check_count(self.reweightings, 0, 'reweightings of iv')

    def estimate(self, problem: IdentificationProblem) -> Estimate:
        """Estimate with simulated instruments; see `Estimator.estimate`."""
        observations = need_motions(problem, 'iv')
        weights = renew_weights(problem, FIRST_REWEIGHTINGS)
        theta = solve_unknowns(problem, weights)
        references, descriptions = zip(
            *(
                smooth_reference(part.dataset, part.rows, self.knot_spacing)
                for part in observations.data
            ), strict=True,
        )
        simulations = 0
        for _ in range(self.iterations):
            simulations += 1
            instruments, refused = self._simulate(observations, references, theta)
            rows = gather_instruments(problem, instruments, theta)
            before = theta
            for _ in range(self.reweightings + 1):
                theta = rows.solve(weights)
                weights = residual_weights(rows.project(weights, theta), theta)
            theta = rows.solve(weights)
            change = relative_change(problem, weights, before, theta)
            if change <= self.tolerance:
                break
        projected = rows.project(weights, theta)
        notes = [
            f'instruments of {part.dataset.source} follow {description}'
            for part, description in zip(observations.data, descriptions, strict=True)
        ] + list(refused)
        if change > self.tolerance:
            notes.append(
                f'the estimate still changed by {change:.1e} of its size in simulation '
                f'{simulations}, {self.tolerance:.0e} was asked for'
            )
        return replace(
            describe_estimate(projected, weights, theta),
            passes=1 + 2 * simulations,
            notes=tuple(notes),
        )

    def _simulate(
        self, observations: Observations, references: Sequence[Motion], theta: FloatArray
    ) -> tuple[Observations, tuple[str, ...]]:
        """Return the rows of the simulated arm, and what could not be simulated, in words."""
        reduction = observations.reduction
        base = theta[: reduction.rank]
        dynamics = base_dynamics(observations.robot, reduction, base)
        data, notes = [], []
        for part, reference in zip(observations.data, references, strict=True):
            dataset = part.dataset
            try:
                motion = ClosedLoop(
                    dynamics, reference, dataset.stamps, self.servo,
                    self._friction(observations, reference, base),
                ).simulate(dataset.segments)
            except InconsistentModelError as error:
                motion = reference
                notes.append(
                    f'{dataset.source}: {error}, so that instruments are those of the reference '
                    'itself: not the estimate of a possible arm, record a richer motion'
                )
            data.append(replace(part, dataset=replace(dataset, motion=motion)))
        instruments = Observations(
            observations.robot, reduction, data,
            offset_by_recording=observations.offset_by_recording,
            time_blocks=observations.time_blocks, treatment=observations.treatment,
        )
        return instruments, tuple(notes)

    def _friction(
        self, observations: Observations, reference: Motion, base: FloatArray
    ) -> FloatArray | None:
        """Return the friction of an estimate along a reference, (N, n), if it is not undone."""
        if self.servo.compensates_friction:
            return None
        reduction = observations.reduction
        parameters = reduction.parameters
        standard = np.zeros(parameters.size)
        standard[reduction.independent] = base
        rigid = standard.copy()
        rigid[parameters.friction_slice] = 0.0
        whole, without = (
            standard_torque(observations.robot, parameters, values, reference)
            for values in (standard, rigid)
        )
        return whole - without


@dataclass(frozen=True, eq=False)
class InstrumentRows:
    """
    Instruments and measured rows of every joint, as triangular factors.

    For contiguous parts of time, and each joint with k unknowns, `blocks` holds the upper
    triangular factor (2 k + 1, 2 k + 1) of ``[Z_j W_j tau_j]``.
    """

    problem: IdentificationProblem
    instruments: Observations  # rows of the simulated arm
    columns: tuple[IntArray, ...]  # unknowns that act on each joint
    blocks: tuple[tuple[FloatArray, ...], ...]
    samples: IntArray  # rows of each joint, (n,)

    def solve(self, weights: FloatArray) -> FloatArray:
        """
        Return the unknowns (size,) at which weighted residuals have no part along the instruments.

        With ``Z = Q R`` that is ``Q' W theta = Q' tau``, a square system. Raises
        RankDeficientError if the instruments do not determine them.
        """
        along = self._along(weights)
        try:
            return least_squares(along[:, :-1], along[:, -1])
        except np.linalg.LinAlgError as error:
            raise RankDeficientError(_TOO_WEAK) from error

    def project(self, weights: FloatArray, theta: FloatArray) -> IdentificationProblem:
        """
        Return the least-squares problem with the same solution `theta`, residuals and scores.

        Its rows are the part of the measured rows along the instruments, ``Z C`` with
        ``C = R^-1 Q' W``, and their torque is that of the estimate there and its residual. The
        covariance that follows is ``(Z'W)^-1 Z'Z (W'Z)^-1``.
        """
        Z = self._stacked(weights)[:, : self.problem.size]
        scale = np.linalg.norm(Z, axis=0)
        R = triangle_of(np.asfortranarray(Z / scale))
        C = scipy.linalg.solve_triangular(R, self._along(weights)[:, :-1]) / scale[:, None]
        whole = [
            triangle_of(np.asfortranarray(np.vstack(parts)))
            for parts in zip(*self.blocks, strict=True)
        ]
        return replace(
            self.problem,
            factors=self._project(whole, C, theta),
            samples=self.samples,
            blocks=tuple(self._project(block, C, theta) for block in self.blocks)
            if self.problem.blocks else (),
            phases=(),
            observations=self.instruments,
        )

    def _project(
        self, triangles: Sequence[FloatArray], C: FloatArray, theta: FloatArray
    ) -> tuple[TriangularFactor, ...]:
        factors = []
        everything = np.arange(self.problem.size)
        for columns, triangle in zip(self.columns, triangles, strict=True):
            k = len(columns)
            matrix = triangle[:, :k] @ C[columns]
            residual = triangle[:, -1] - triangle[:, k:-1] @ theta[columns]
            rows = np.column_stack([matrix, residual + matrix @ theta])
            factors.append(TriangularFactor(everything, triangle_of(np.asfortranarray(rows))))
        return tuple(factors)

    def _along(self, weights: FloatArray) -> FloatArray:
        """Return the part of the measured rows and torques along the instruments."""
        size = self.problem.size
        stacked = self._stacked(weights)
        Z = stacked[:, :size]
        scale = np.linalg.norm(Z, axis=0)
        if not np.all(scale > 0.0):
            raise RankDeficientError(_TOO_WEAK)
        triangle = triangle_of(np.asfortranarray(np.hstack([Z / scale, stacked[:, size:]])))
        diagonal = np.abs(np.diag(triangle)[:size])
        if diagonal.min(initial=1.0) < RANK_TOLERANCE:
            raise RankDeficientError(_TOO_WEAK)
        along: FloatArray = triangle[:size, size:]
        return along

    def _stacked(self, weights: FloatArray) -> FloatArray:
        """Return the rows of all joints ``[Z W tau]``, weighted."""
        size = self.problem.size
        stacked = []
        for block in self.blocks:
            for columns, triangle, weight in zip(self.columns, block, weights, strict=True):
                k = len(columns)
                rows = np.zeros((len(triangle), 2 * size + 1))
                rows[:, columns] = weight * triangle[:, :k]
                rows[:, size + columns] = weight * triangle[:, k:-1]
                rows[:, -1] = weight * triangle[:, -1]
                stacked.append(rows)
        return np.vstack(stacked)


_TOO_WEAK = (
    'the simulated motion determines fewer parameters than there are: record a richer motion, or '
    'choose --estimator wls'
)


def gather_instruments(
    problem: IdentificationProblem, instruments: Observations, theta: FloatArray
) -> InstrumentRows:
    """
    Pass over measured and simulated rows of the same samples side by side.

    Their load is that of `theta`; the time is cut into as many parts as the problem has blocks.
    """
    observations = need_motions(problem, 'iv')
    n = problem.n
    columns = tuple(observations.columns(joint) for joint in range(n))
    blocks = [
        [np.zeros((2 * len(own) + 1,) * 2) for own in columns]
        for _ in range(count_time_blocks(observations.duration, observations.time_blocks))
    ]
    samples = np.zeros(n, dtype=int)
    # Where only one has rows, intersections are empty.
    for measured, simulated in _side_by_side(observations.blocks(), instruments.blocks()):
        labels = observations.label_blocks(measured.bag, measured.part)
        for joint in range(n):
            one, other = measured.joints[joint], simulated.joints[joint]
            # Of rows that were chosen by their speed, those that both chose.
            common, here, there = np.intersect1d(
                one.samples, other.samples, assume_unique=True, return_indices=True
            )
            table = np.hstack([
                instruments.matrix(joint, other, theta)[there],
                observations.matrix(joint, one, theta)[here],
                one.tau[here, None],
            ])
            samples[joint] += len(common)
            part = labels.by_time(common)
            for number in np.unique(part):
                blocks[number][joint] = triangle_of(np.asfortranarray(
                    np.vstack([blocks[number][joint], table[part == number]])
                ))
    return InstrumentRows(
        problem, instruments, columns, tuple(tuple(block) for block in blocks), samples
    )


def _side_by_side(
    measured: Iterator[ObservationBlock], simulated: Iterator[ObservationBlock]
) -> Iterator[tuple[ObservationBlock, ObservationBlock]]:
    """Yield the blocks of two passes, cut where either ends: of the same stretch of time."""
    one, other = next(measured, None), next(simulated, None)
    while one is not None and other is not None:
        end = min(_end(one), _end(other))
        (first, one), (second, other) = _cut(one, end), _cut(other, end)
        yield first, second
        one = one if _has_rows(one) else next(measured, None)
        other = other if _has_rows(other) else next(simulated, None)


def _end(block: ObservationBlock) -> tuple[int, int]:
    """Return recording and last sample of a block, which may be empty."""
    last = max((int(rows.samples[-1]) for rows in block.joints if rows.samples.size), default=-1)
    return block.bag, last


def _has_rows(block: ObservationBlock) -> bool:
    return any(rows.samples.size for rows in block.joints)


def _cut(
    block: ObservationBlock, end: tuple[int, int]
) -> tuple[ObservationBlock, ObservationBlock]:
    """Return what a block has up to a sample of a recording, and what it has after it."""
    bag, last = end
    edge = last if block.bag == bag else (np.inf if block.bag < bag else -1)
    before, after = [], []
    for rows in block.joints:
        at = int(np.searchsorted(rows.samples, edge, 'right'))
        before.append(JointRows(rows.table[:at], rows.load[:at], rows.samples[:at]))
        after.append(JointRows(rows.table[at:], rows.load[at:], rows.samples[at:]))
    return (
        ObservationBlock(block.bag, block.part, tuple(before)),
        ObservationBlock(block.bag, block.part, tuple(after)),
    )


def smooth_reference(
    dataset: Dataset, rows: BoolArray, knot_spacing: float
) -> tuple[Motion, str]:
    """
    Return the smooth motion behind a recorded one at all N samples, and what it is in words.

    A period is looked for in all samples that may be estimated from, not `rows` alone: positions
    that are left out in order to test a model are no secret, torques are. Elsewhere knots of
    splines are `knot_spacing` apart [s].
    """
    motion = dataset.motion
    q, dq, ddq = (allocate(motion.q.shape) for _ in range(3))
    smooth = Motion(q, dq, ddq, motion.temperature, starts=motion.starts)
    try:
        periodic = find_periodic_motion(dataset.stamps, motion.q, rows | dataset.fitted)
    except NotPeriodicError:
        follows, description = np.zeros(len(dataset), dtype=bool), ''
    else:
        # Samples that are not estimated from are part of the motion, too.
        follows = periodic.is_followed(dataset.stamps, motion.q)
        description = (
            f'a Fourier series of {periodic.harmonics} harmonics and period '
            f'{periodic.series.period:.6g} s'
        )
        for order, values in enumerate((q, dq, ddq)):
            values[follows] = periodic.series.evaluate(dataset.stamps[follows], order)
    if not np.all(follows | ~rows):
        description += (', and ' if description else '') + (
            f'splines with knots {knot_spacing:g} s apart'
        )
    for segment in dataset.segments:
        for part in _runs(~follows, segment):
            q[part], dq[part], ddq[part] = fit_spline(
                dataset.stamps[part], motion.q[part], knot_spacing
            )
    return smooth, description


def fit_spline(
    t: FloatArray, q: FloatArray, knot_spacing: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """
    Return the least-squares spline of positions (N, n) at times (N,) [s], and its derivatives.

    Knots are at least `knot_spacing` apart [s]; it is at rest where there are too few samples.
    """
    times, first = np.unique(t, return_index=True)
    if len(times) <= 2 * DEGREE:
        rest = np.broadcast_to(q.mean(axis=0), q.shape)
        return rest.copy(), np.zeros(q.shape), np.zeros(q.shape)
    rate = (len(times) - 1) / (times[-1] - times[0])
    step = max(round(knot_spacing * rate), SAMPLES_PER_KNOT)
    # At samples, so that each piece has some of them.
    inner = times[step: len(times) - step: step]
    knots = np.concatenate([
        np.full(DEGREE + 1, times[0]), inner, np.full(DEGREE + 1, times[-1])
    ])
    spline = scipy.interpolate.make_lsq_spline(times, q[first], knots, k=DEGREE)
    return spline(t), spline(t, 1), spline(t, 2)


def _runs(chosen: BoolArray, segment: slice) -> list[slice]:
    """Return the consecutive samples of a segment that are chosen."""
    inside = np.concatenate([[False], chosen[segment], [False]])
    edges = segment.start + np.flatnonzero(np.diff(inside))
    return [slice(first, last) for first, last in zip(edges[::2], edges[1::2], strict=True)]


class _Instant(NamedTuple):
    """Reference of the servo at one time, and the friction there."""

    q: FloatArray
    dq: FloatArray
    torque: FloatArray
    inertia: FloatArray
    friction: FloatArray


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """An arm with n joints that follows a reference of N samples under control."""

    dynamics: RigidDynamics
    reference: Motion
    stamps: FloatArray  # (N,) [s]
    servo: Servo
    friction: FloatArray | None = None  # torque along the reference, (N, n) [N m]

    def simulate(self, segments: Sequence[slice]) -> Motion:
        """
        Return the motion of the simulated arm at the stamps.

        At the start of each segment, a part without gaps, the arm is on its reference; elsewhere,
        and where nothing moves the arm off it, the reference is returned. Raises
        InconsistentModelError if the mass matrix is not positive definite at every sample, or the
        arm loses its reference.
        """
        reference = self.reference
        least = self.dynamics.least_inertia(reference.q)
        if not np.all(least > 0.0):
            raise InconsistentModelError(
                'the mass matrix is not positive definite at '
                f'{np.count_nonzero(~(least > 0.0))} of {len(least)} samples'
            )
        if self.friction is None or self.servo.compensates_friction:
            return reference
        q, dq, ddq = (allocate(reference.q.shape) for _ in range(3))
        q[:], dq[:], ddq[:] = reference.q, reference.dq, reference.ddq
        motion = Motion(q, dq, ddq, reference.temperature, starts=reference.starts)
        for segment in segments:
            self._follow(segment, motion)
        return motion

    def _follow(self, segment: slice, motion: Motion) -> None:
        """Write the simulated motion of a segment."""
        stamps, reference = self.stamps, self.reference
        steps = np.diff(stamps[segment])
        if not steps.size:
            return
        omega = min(
            2.0 * np.pi * self.servo.frequency, LARGEST_PHASE / max(float(steps.max()), 1e-9)
        )
        gains = omega**2, 2.0 * self.servo.damping * omega
        state = np.stack([reference.q[segment.start], reference.dq[segment.start]])
        start = self._at(segment.start)
        for k, h in enumerate(steps, start=segment.start):
            end = self._at(k + 1)
            middle = self._between(k, h) if h > 0.0 else start
            first = self._rate(state, start, gains)
            (motion.q[k], motion.dq[k]), motion.ddq[k] = state, first[1]
            second = self._rate(state + 0.5 * h * first, middle, gains)
            third = self._rate(state + 0.5 * h * second, middle, gains)
            last = self._rate(state + h * third, end, gains)
            state = state + h / 6.0 * (first + 2.0 * second + 2.0 * third + last)
            if not np.max(np.abs(state[0] - reference.q[k + 1])) < LOST:
                raise InconsistentModelError(
                    f'the simulated arm loses its reference at {stamps[k + 1]:.4g} s'
                )
            start = end
        k = segment.start + len(steps)
        (motion.q[k], motion.dq[k]), motion.ddq[k] = state, self._rate(state, start, gains)[1]

    def _rate(
        self, state: FloatArray, wanted: _Instant, gains: tuple[float, float]
    ) -> FloatArray:
        """Return velocity and acceleration (2, n) under the servo's torque."""
        (q, dq), (stiffness, damping) = state, gains
        error = damping * (wanted.dq - dq) + stiffness * (wanted.q - q)
        torque = wanted.torque + wanted.inertia @ error - wanted.friction
        free: FloatArray = torque - self.dynamics.torque(q, dq, np.zeros(self.dynamics.n))
        return np.stack([dq, np.linalg.solve(self.dynamics.mass_matrix(q), free)])

    def _at(self, k: int) -> _Instant:
        reference = self.reference
        return self._instant(reference.q[k], reference.dq[k], reference.ddq[k], self._friction[k])

    def _between(self, k: int, h: float) -> _Instant:
        """Return the middle between two samples, by the quintic that meets both."""
        reference, friction = self.reference, self._friction
        q0, q1 = reference.q[k], reference.q[k + 1]
        v0, v1 = reference.dq[k], reference.dq[k + 1]
        a0, a1 = reference.ddq[k], reference.ddq[k + 1]
        q = 0.5 * (q0 + q1) + 5.0 / 32.0 * h * (v0 - v1) + h**2 / 64.0 * (a0 + a1)
        dq = 15.0 / 8.0 * (q1 - q0) / h - 7.0 / 16.0 * (v0 + v1) + h / 32.0 * (a1 - a0)
        ddq = 1.5 * (v1 - v0) / h - 0.25 * (a0 + a1)
        return self._instant(q, dq, ddq, 0.5 * (friction[k] + friction[k + 1]))

    def _instant(
        self, q: FloatArray, dq: FloatArray, ddq: FloatArray, friction: FloatArray
    ) -> _Instant:
        torque, inertia = self.dynamics.torque(q, dq, ddq), self.dynamics.mass_matrix(q)
        return _Instant(q, dq, torque, inertia, friction)

    @property
    def _friction(self) -> FloatArray:
        return np.zeros_like(self.reference.q) if self.friction is None else self.friction
