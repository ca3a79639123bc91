# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
A payload from loaded runs and the bare arm's model.

What a run needs beyond the bare arm is linear in ten parameters of the last link. Offsets of the
joints, and friction where that is asked for, may differ from those of the model's runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
import math
from pathlib import Path

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray
from robot_identification.errors import DataError, NotIdentifiableError, UsageError
from robot_identification.estimation import (
    combine_factors, ConsistentBody, Covariance, covariance_of, divided_period, Estimate,
    fit_consistent_body, IdentificationProblem, joint_test, JointTest, LATEST_TIME,
    parts_of_period, problem_of, QRAccumulator, select_blocks, SHORTEST_BLOCK, TIME_BLOCKS,
    TriangularFactor, WeightedLeastSquares,
)
from robot_identification.model import (
    BaseReduction, block_slices, IdentifiedModel, INERTIAL_SYMBOLS, initial_friction_states,
    last_link, Motion, observation_matrix, Payload, payload_from_parameters,
    rigid_and_transmitted_torque, StandardParameters, to_frame, tool_frame,
)
from robot_identification.options import check_options, option
from robot_identification.processing import Dataset
from robot_identification.recording import Recording
from robot_identification.report import sliding_text
from robot_identification.studies.drive_gains import (
    average_approaches, group_poses, read_rests,
)
import scipy

# What of every joint may differ from the model's runs, and the unknowns of a joint and run.
CHANGES = {'none': 0, 'offset': 1, 'friction': 3}
# Why an effort without gravity shows none.
UNKNOWN_PAYLOAD = (
    'how much of the gravity of a payload is left in it depends on the payload that is set on '
    'the controller'
)
# Part of a unit vector of unknowns in a direction that the data do not show, from which an unknown
# is called unidentifiable; chosen: above rounding, below any part that matters.
PARTICIPATION = 1.0e-3
# Relative size below which a singular value of the column-scaled problem is as good as zero;
# chosen: the errors of a measured motion are larger.
UNSEEN = 1.0e-6
# A joint that is fast in less than this part of a run stands, and all of its rows count; chosen.
MOVING_SHARE = 0.3
# Iterations of load-dependent friction, and the relative change of the payload that ends them;
# chosen: well below the standard errors, of 0.1 % and more.
MOST_ITERATIONS, TOLERANCE = 10, 1.0e-4
# A payload is different from none below this probability; chosen: one false alarm in a hundred.
SIGNIFICANCE = 0.01
# Standard errors from which a number is called weak; chosen (docs/payload.md): this share of the
# mass or of the largest moment of inertia, and this distance of the centre of mass [m].
WEAK_SHARE, WEAK_CENTER = 0.5, 0.02
# Errors smaller than this part of the number are rounding.
LEAST_ERROR = 1.0e-9
# Size of a payload, for the scale of the unknowns [m]; chosen: that of a gripper.
BODY_LENGTH = 0.1


@dataclass(frozen=True)
class PayloadOptions:
    """
    Options of the payload study.

    Rows of a moving joint below the speed `slowest` [rad/s] are left out, because models know
    friction least there. Raises UsageError if an option is out of its range, or two contradict
    each other.
    """

    static: bool = option(bool, 'use rests alone: mass and centre of mass', default=False)
    changes: str = option(
        str, 'parameters of every joint that may differ from the model: nothing, the offset, or '
        'offset, Coulomb and viscous friction', choices=tuple(CHANGES), default='offset',
    )
    frame: str | None = option(
        str, 'link to state the payload in, fixed to the last one',
        otherwise="the tool's (tool0, flange, ..), else the last link", metavar='LINK',
    )
    shortest_rest: float = option(
        float, 'minimum rest to count as a static pose [s]; its last half is averaged',
        default=2.0, minimum=0.0, metavar='S', key='shortest_dwell',
    )
    start: float | None = option(
        float, 'start of the window after the first joint state [s]', minimum=0.0,
        maximum=LATEST_TIME, metavar='S',
    )
    stop: float | None = option(
        float, 'end of the window after the first joint state [s]', minimum=0.0,
        maximum=LATEST_TIME, metavar='S',
    )
    mapping: Path | None = option(
        Path, 'columns and units of recordings that are tables (docs/formats/mapping.md)',
        otherwise='LOG.yaml beside each, else recognized', metavar='FILE',
    )
    slowest: float = 0.05

    def __post_init__(self) -> None:
        check_options(self)
        if not self.slowest >= 0.0:
            raise UsageError(
                f'the slowest speed is {self.slowest:g} rad/s, it must not be negative'
            )
        if self.static and self.changes == 'friction':
            raise UsageError('friction cannot be found at rest: choose --changes offset or none')


@dataclass(frozen=True, eq=False)
class PayloadErrors:
    """Standard errors of a `Payload`, in its frame and units; NaN where it is not seen."""

    mass: float
    center_of_mass: FloatArray
    inertia: FloatArray


@dataclass(frozen=True, eq=False)
class PayloadEstimate:
    """
    Payload from loaded runs.

    In a model of relative scale, masses and inertias are in kg and kg m^2 times an unknown number.
    """

    payload: Payload | None  # physically consistent, in the tool's frame; None if mass <= 0
    unconstrained: Payload | None  # the same without the condition of consistency
    errors: PayloadErrors  # of `unconstrained`: noise and errors of the bare arm's model
    in_link: Payload | None  # `payload` in the frame of the last link
    # (10,) estimate without condition, frame of the last joint, Pinocchio's order; NaN where it
    # is not identifiable.
    parameters: FloatArray
    covariance: Covariance  # of `parameters`; zero where they are not identifiable
    from_model: float  # part of the variance of the mass that comes from the bare arm's model
    test: JointTest  # against no payload
    tested: tuple[str, ...]  # the parameters that were tested
    unseen: tuple[str, ...]  # parameters that are not identifiable from the data
    weak: tuple[str, ...]  # quantities with large standard errors
    cost: float  # squared distance of `payload` from `unconstrained` in standard errors
    relative_scale: bool
    static: bool  # whether rests alone were used
    samples: int  # samples, or rests
    before: FloatArray  # (n,) RMS of the torque beyond the bare arm's model [N m]
    after: FloatArray  # (n,) RMS of the torque beyond that with the payload [N m]
    changes: FloatArray  # (bags, n, k) what differs from the model: offset, Coulomb, viscous
    notes: tuple[str, ...] = ()

    @property
    def is_significant(self) -> bool:
        """Return whether it is different from no payload."""
        return self.test.p_value < SIGNIFICANCE


@dataclass(frozen=True, eq=False)
class LoadedRun:
    """Rows of a run with a payload."""

    motion: Motion  # N consecutive samples, or poses at rest
    tau: FloatArray  # (N, n) measured joint torque [N m]
    rows: BoolArray  # (N,) samples that count
    duration: float = math.inf  # of the samples that count [s]
    t: FloatArray | None = None  # (N,) since the start [s]
    period: float | None = None  # after which the motion repeats itself [s]


def loaded_run(model: IdentifiedModel, dataset: Dataset) -> LoadedRun:
    """Return the rows of a dataset, its effort turned into torque."""
    rows = dataset.fitted & np.all(np.isfinite(dataset.effort), axis=1)
    return LoadedRun(
        dataset.motion, dataset.effort / model.effort_per_torque, rows,
        float(np.count_nonzero(rows)) / dataset.rate, dataset.stamps - dataset.stamps[0],
        divided_period(dataset),
    )


def resting_run(
    model: IdentifiedModel, recordings: Sequence[Recording], options: PayloadOptions
) -> tuple[LoadedRun, tuple[str, ...]]:
    """
    Return the rests of some recordings as one run, and a note on poses reached from one side.

    Each pose is one row, the mean of both sides; rests before the start of the options are left
    out. Raise NotIdentifiableError if the arm never rests.
    """
    readings = read_rests(
        recordings, options.shortest_rest, np.zeros_like, 'effort', options.start
    )
    q = np.array([
        readings.q[group].mean(axis=0) for group in group_poses(list(readings.q))
    ])
    by_pose = list(zip(*average_approaches(readings), strict=True))
    means = np.array([[point.current for point in pose] for pose in by_pose])
    one_sided = sum(not point.both for pose in by_pose for point in pose)
    motion = Motion(q, np.zeros_like(q), np.zeros_like(q), starts=tuple(range(len(q))))
    notes = () if not one_sided else (
        f'{one_sided} of {q.size} joint positions were reached from one side only: static '
        "friction is in them, up to the joint's break-away torque",
    )
    return LoadedRun(motion, means / model.effort_per_torque, np.ones(len(q), dtype=bool)), notes


def estimate_payload(
    model: IdentifiedModel, runs: Sequence[LoadedRun], options: PayloadOptions | None = None
) -> PayloadEstimate:
    """Estimate the payload of some runs, all of the same one; `model` is that of the bare arm."""
    options = PayloadOptions() if options is None else options
    rows = _Rows(model, runs, options)
    theta = np.zeros(10)
    loaded = any(term.law.needs_rigid_torque for term in model.parameters.friction)
    for _ in range(MOST_ITERATIONS if loaded else 1):
        problem = rows.factor(theta)
        kept, unseen = _find_seen(problem, rows)
        estimate = WeightedLeastSquares().estimate(_select(problem, kept, rows.count))
        before, theta = theta, np.zeros(10)
        theta[kept[kept < rows.count]] = estimate.theta
        if np.linalg.norm(theta - before) <= TOLERANCE * np.linalg.norm(theta):
            break
    fit = _Fit(rows, estimate, kept, unseen)
    covariance, from_model = fit.covariance()
    body = None
    if not options.static and not unseen and theta[0] > 0.0:
        body = fit_consistent_body(*whitened(theta, covariance.matrix), BODY_LENGTH)
    return fit.describe(covariance, from_model, body)


class _Rows:
    """Triangular factors of what loaded runs need beyond the bare arm."""

    def __init__(
        self, model: IdentifiedModel, runs: Sequence[LoadedRun], options: PayloadOptions
    ) -> None:
        self.model = model
        self.runs = runs
        self.options = options
        self.count = 4 if options.static else 10
        self.each = CHANGES[options.changes]
        self.used = [_used_rows(run, options.slowest) for run in runs]
        # At rest one row is one piece of evidence; in motion neighbours are not.
        self.blocks = 0 if options.static else TIME_BLOCKS
        n = model.robot.n
        self.nuisance = self.each * n * len(runs)
        # Payload, what differs, then the base parameters of the bare arm, by joint.
        self.with_base: list[QRAccumulator] = []

    def own_columns(self, joint: int) -> IntArray:
        """Return the unknowns of a joint: the payload's, then what differs in every run."""
        n = self.model.robot.n
        own = [
            self.count + (bag * n + joint) * self.each + kind
            for bag in range(len(self.runs)) for kind in range(self.each)
        ]
        return np.array([*range(self.count), *own], dtype=int)

    def factor(self, theta: FloatArray) -> IdentificationProblem:
        """Return the problem, friction being that under the load of a payload `theta` (10,)."""
        n, b = self.model.robot.n, self.model.reduction.rank
        width = self.count + self.each * len(self.runs)
        self.with_base = [QRAccumulator(width + b) for _ in range(n)]
        # By time, and by parts of a period where a run repeats one.
        groups: tuple[list[tuple[TriangularFactor, ...]], ...] = ([], [])
        repeats = self.blocks > 0 and any(run.period is not None for run in self.runs)
        samples = np.sum([used.sum(axis=0) for used in self.used], axis=0)
        for bag, run in enumerate(self.runs):
            count = int(np.count_nonzero(run.rows))
            parts = max(1, min(
                self.blocks * count // max(sum(int(r.rows.sum()) for r in self.runs), 1),
                int(min(run.duration, 1.0e9) / SHORTEST_BLOCK),
            ))
            labels = [(np.cumsum(run.rows) - 1) * parts // max(count, 1)]
            if repeats:
                labels.append(
                    labels[0] if run.t is None or run.period is None
                    else parts_of_period(run.t, run.period, parts)
                )
            found: dict[tuple[int, int], list[QRAccumulator]] = defaultdict(
                lambda: [QRAccumulator(width + 1) for _ in range(n)]
            )
            for rows, tables in self._tables(bag, run, theta):
                for kind, label in enumerate(labels):
                    for part in np.unique(label[rows]).tolist():
                        for one, table in zip(found[kind, part], tables, strict=True):
                            one.add(table[label[rows] == part])
            for kind, part in sorted(found):
                groups[kind].append(tuple(
                    TriangularFactor(self.own_columns(joint), one.triangle())
                    for joint, one in enumerate(found[kind, part])
                ))
        blocks, phases = groups
        if not blocks:
            raise DataError('no sample of the loaded runs can be used: record a motion')
        return IdentificationProblem(
            factors=tuple(
                combine_factors(factors) for factors in zip(*blocks, strict=True)
            ),
            samples=samples,
            reduction=_payload_reduction(np.arange(self.count)),
            nuisance=self.nuisance,
            blocks=tuple(blocks),
            phases=tuple(phases),
        )

    def _tables(
        self, bag: int, run: LoadedRun, theta: FloatArray
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield samples and rows (n, m, k + 1): unknowns, then what is left of the torque."""
        model = self.model
        robot, parameters, n = model.robot, model.parameters, model.robot.n
        bare, last = model.theta_lifted, slice(10 * (n - 1), 10 * (n - 1) + self.count)
        carrying = bare.copy()
        carrying[10 * (n - 1): 10 * n] += theta
        states = initial_friction_states(parameters)
        needs_load = any(term.law.needs_rigid_torque for term in parameters.friction)
        for block in block_slices(len(run.motion)):
            motion = run.motion.part(block)
            load = None
            if needs_load:
                _, load = rigid_and_transmitted_torque(robot, parameters, carrying, motion)
            W = observation_matrix(robot, parameters, motion, states, load)
            W = W.reshape(len(motion), n, -1)
            chosen = np.flatnonzero(run.rows[block])
            if not chosen.size:
                continue
            left = run.tau[block][chosen] - W[chosen] @ bare
            base = W[chosen][:, :, model.reduction.independent]
            tables = np.zeros((n, len(chosen), self.count + self.each * len(self.runs) + 1))
            for joint in range(n):
                table = tables[joint]
                table[:, : self.count] = W[chosen, joint, last]
                first = self.count + bag * self.each
                dq = motion.dq[chosen, joint]
                table[:, first: first + self.each] = np.column_stack(
                    [np.ones_like(dq), np.sign(dq), dq]
                )[:, : self.each]
                table[:, -1] = left[:, joint]
                slow = ~self.used[bag][block][chosen, joint]
                table[slow] = 0.0
                base[slow, joint] = 0.0
                self.with_base[joint].add(np.hstack([table[:, :-1], base[:, joint]]))
            yield block.start + chosen, tables


def _used_rows(run: LoadedRun, slowest: float) -> BoolArray:
    """Return which rows of which joint count, (N, n): of one that moves those that are fast."""
    fast = np.abs(run.motion.dq) > slowest
    moves = np.sum(fast & run.rows[:, None], axis=0) >= MOVING_SHARE * np.sum(run.rows)
    used: BoolArray = run.rows[:, None] & (fast | ~moves)
    return used


def _payload_reduction(chosen: IntArray) -> BaseReduction:
    """Return the meaning of payload parameters: those of one body, every one its own."""
    return BaseReduction(
        parameters=StandardParameters(1, (), False),
        K=np.eye(10)[chosen],
        independent=chosen,
        gap=math.inf,
    )


def _find_seen(problem: IdentificationProblem, rows: _Rows) -> tuple[IntArray, tuple[str, ...]]:
    """
    Return the unknowns that the data determine together, and the names of those unseen.

    The names are of payload parameters only. Raises NotIdentifiableError if mass or centre of mass
    are among them.
    """
    R, _ = problem.stacked(np.ones(problem.n))
    scale = np.linalg.norm(R, axis=0)
    largest = float(scale[: rows.count].max(initial=0.0))
    zero = scale <= UNSEEN * UNSEEN * largest
    unit = np.where(zero, 0.0, R / np.where(zero, 1.0, scale))
    _, values, vectors = np.linalg.svd(unit)
    lost = np.linalg.norm(vectors[values <= UNSEEN * values[0]], axis=0) > PARTICIPATION
    unseen = np.flatnonzero(lost[: rows.count])
    names = tuple(INERTIAL_SYMBOLS[number] for number in unseen)
    if np.any(unseen < 4):
        listed = ', '.join(INERTIAL_SYMBOLS[number] for number in unseen if number < 4)
        where = (
            'at these poses: rest at more of them, with the last link turned about other axes'
            if rows.blocks == 0 else 'in this motion: turn the last link about other axes'
        )
        offsets = ', or take the offsets of the joints from the model (--changes none)'
        raise NotIdentifiableError(
            f"the payload's {listed} in the frame of the last link cannot be seen {where}"
            + (offsets if rows.each else '')
        )
    kept: list[int] = []
    last = [*np.flatnonzero(~lost), *np.flatnonzero(lost & (np.arange(len(lost)) >= rows.count)),
            *unseen]
    for column in last:
        tried = np.linalg.svd(unit[:, [*kept, column]], compute_uv=False)
        if tried[-1] > UNSEEN * values[0]:
            kept.append(int(column))
    return np.array(sorted(kept), dtype=int), names


def _select(
    problem: IdentificationProblem, kept: IntArray, count: int
) -> IdentificationProblem:
    """Return the problem with some of its unknowns, those of the payload among them or not."""
    return replace(
        problem,
        factors=tuple(factor.select(kept) for factor in problem.factors),
        reduction=_payload_reduction(kept[kept < count]),
        nuisance=int(np.count_nonzero(kept >= count)),
        blocks=select_blocks(problem.blocks, kept),
        phases=select_blocks(problem.phases, kept),
    )


@dataclass(frozen=True, eq=False)
class _Fit:
    """The estimate of the unknowns that the data determine, on its way to a `PayloadEstimate`."""

    rows: _Rows
    estimate: Estimate
    kept: IntArray  # the unknowns that were estimated, the payload's first
    unseen: tuple[str, ...]  # payload parameters that are not identifiable

    def covariance(self) -> tuple[Covariance, float]:
        """Return the covariance by noise and model, and the model's part of that of the mass."""
        noise = covariance_of(self.estimate, 'residual' if self.rows.blocks == 0 else None)
        place = {int(column): new for new, column in enumerate(self.kept)}
        size = problem_of(self.estimate).size
        own, base = [], []
        for joint, (rows, weight) in enumerate(
            zip(self.rows.with_base, self.estimate.weights, strict=True)
        ):
            triangle, columns = rows.triangle(), self.rows.own_columns(joint)
            table = np.zeros((len(triangle), size))
            for at, column in enumerate(columns):
                if int(column) in place:
                    table[:, place[int(column)]] = weight * triangle[:, at]
            own.append(table)
            base.append(weight * triangle[:, len(columns):])
        matrix, of_base = np.vstack(own), np.vstack(base)
        scale = np.linalg.norm(matrix, axis=0)
        orthogonal, upper = np.linalg.qr(matrix / scale)
        reach = np.linalg.solve(upper, orthogonal.T @ of_base) / scale[:, None]
        b = len(self.estimate.theta)
        known = reach[:b] @ self.rows.model.covariance @ reach[:b].T
        variance, added = np.diag(noise.matrix), np.diag(known)
        share = (variance + added) / np.maximum(variance, np.finfo(float).tiny)
        total = replace(
            noise, matrix=noise.matrix + known,
            freedom=np.clip(noise.freedom * share**2, 1.0, 1.0e6),
        )
        return total, float(added[0] / max(variance[0] + added[0], np.finfo(float).tiny))

    def describe(
        self, covariance: Covariance, from_model: float, body: ConsistentBody | None
    ) -> PayloadEstimate:
        """Return the payload in its frames, with what is known of it."""
        model, estimate, options = self.rows.model, self.estimate, self.rows.options
        robot, count = model.robot, self.rows.count
        frame = tool_frame(robot, options.frame)
        parameters, whole = self._all_parameters(covariance)
        known = bool(np.all(np.isfinite(parameters)))
        T = to_frame(robot, frame)
        filled = np.where(np.isfinite(parameters), parameters, 0.0)
        free = _payload(T @ filled, frame, known)
        best = filled if body is None else body.parameters
        errors = payload_errors(T @ filled, T @ whole.matrix @ T.T, known)
        test, tested = _test(estimate.theta, covariance)
        problem = problem_of(estimate)
        nothing = np.zeros(problem.size)
        nothing[len(estimate.theta):] = estimate.nuisance
        changes = np.zeros(self.rows.nuisance)
        changes[self.kept[self.kept >= count] - count] = estimate.nuisance
        counts = np.maximum(problem.samples, 1)
        return PayloadEstimate(
            payload=_payload(T @ best, frame, known),
            unconstrained=free,
            errors=errors,
            in_link=_payload(best, last_link(robot), known),
            parameters=parameters,
            covariance=whole,
            from_model=from_model,
            test=test,
            tested=tested,
            unseen=self.unseen,
            weak=() if free is None else _find_weak(free, errors),
            cost=0.0 if body is None else body.cost,
            relative_scale=model.relative_scale,
            static=options.static,
            samples=int(counts.max()),
            before=np.sqrt(problem.squared_residuals(nothing) / counts),
            after=np.sqrt(problem.squared_residuals(estimate.unknowns) / counts),
            changes=changes.reshape(len(self.rows.runs), robot.n, self.rows.each),
            notes=(*self._notes(free, body), *whole.notes),
        )

    def _all_parameters(self, covariance: Covariance) -> tuple[FloatArray, Covariance]:
        """Return all ten parameters, NaN where not identifiable, and their covariance."""
        chosen = self.kept[self.kept < self.rows.count]
        parameters = np.full(10, np.nan)
        parameters[chosen] = self.estimate.theta
        matrix = np.zeros((10, 10))
        matrix[np.ix_(chosen, chosen)] = covariance.matrix
        freedom = np.ones(10)
        freedom[chosen] = covariance.freedom
        parameters[[name in self.unseen for name in INERTIAL_SYMBOLS]] = np.nan
        return parameters, replace(
            covariance, matrix=matrix, freedom=freedom, held=np.isnan(parameters)
        )

    def _notes(self, free: Payload | None, body: ConsistentBody | None) -> list[str]:
        """Return notes on the scale, and on what is missing or was changed."""
        model = self.rows.model
        notes = [text for text in [sliding_text(model.robot)] if text]
        if model.relative_scale:
            notes.append(
                'the scale is not observable: drive gains are unknown and were taken as equal, so '
                'that mass and inertia are not known; find the gains with `drive-gains`'
            )
        elif model.effort_unit == 'A':
            notes.append(
                'mass and inertia are in proportion to the drive gains of the model, and the '
                'centre depends on their ratios: errors of the gains are not in the standard '
                'errors'
            )
        if free is None:
            notes.append(
                'the mass found is not positive: there is no payload, the model is not that of '
                'the bare arm, or efforts of the joints have scales that do not fit together'
            )
        if self.rows.options.static:
            notes.append('inertia cannot be seen at rest: record a motion for it')
        if self.unseen:
            notes.append(f'the motion does not show {", ".join(self.unseen)} of the payload: '
                         'inertia is left out')
        if body is not None and body.cost > 0.0:
            notes.append('the ten numbers that fit best belong to no body; the nearest one that '
                         'can be is stated')
        return notes


def whitened(theta: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return matrix and side whose squares are the distance from a payload in its errors."""
    errors = np.maximum(
        np.sqrt(np.diag(covariance)),
        LEAST_ERROR * np.maximum(np.abs(theta), LEAST_ERROR * float(theta[0])),
    )
    scaled = covariance / errors / errors[:, None] + LEAST_ERROR * np.eye(len(theta))
    lower = np.linalg.cholesky(scaled)
    R = scipy.linalg.solve_triangular(lower, np.eye(len(theta)), lower=True) / errors
    return R, R @ theta


def _payload(parameters: FloatArray, frame: str, with_inertia: bool) -> Payload | None:
    """Return the payload of parameters in its frame; None without a positive mass."""
    if not parameters[0] > 0.0:
        return None
    found = payload_from_parameters(parameters, frame)
    return found if with_inertia else replace(found, inertia=np.zeros((3, 3)))


def payload_errors(
    parameters: FloatArray, matrix: FloatArray, with_inertia: bool = True
) -> PayloadErrors:
    """Return standard errors of mass, centre and central inertia by their derivatives."""
    m, h = float(parameters[0]), parameters[1:4]
    of_mass = math.sqrt(max(float(matrix[0, 0]), 0.0))
    if not m > 0.0:
        return PayloadErrors(of_mass, np.full(3, np.nan), np.full((3, 3), np.nan))
    of_center = np.zeros((3, 10))
    of_center[:, 0], of_center[:, 1:4] = -h / m**2, np.eye(3) / m
    center = np.sqrt(np.maximum(np.diag(of_center @ matrix @ of_center.T), 0.0))
    inertia = np.full((3, 3), np.nan)
    if with_inertia:
        units = np.eye(3)
        by_mass = (h @ h * np.eye(3) - np.outer(h, h)) / m**2
        by_moment = [
            -(2.0 * h[k] * np.eye(3) - np.outer(units[k], h) - np.outer(h, units[k])) / m
            for k in range(3)
        ]
        # Where Pinocchio's order has the element of row i, column j.
        place = np.array([[4, 5, 7], [5, 6, 8], [7, 8, 9]])
        for i in range(3):
            for j in range(3):
                row = np.zeros(10)
                row[0], row[place[i, j]] = by_mass[i, j], 1.0
                row[1:4] = [of_moment[i, j] for of_moment in by_moment]
                inertia[i, j] = math.sqrt(max(float(row @ matrix @ row), 0.0))
    return PayloadErrors(of_mass, center, inertia)


def _test(theta: FloatArray, covariance: Covariance) -> tuple[JointTest, tuple[str, ...]]:
    """Return whether mass and moments differ from nothing, or the mass where that is too much."""
    names = INERTIAL_SYMBOLS
    if not np.all(np.diag(covariance.matrix)[:4] > 0.0):
        # Without noise anything is different from nothing.
        none = bool(np.any(theta[:4] != 0.0))
        return JointTest(math.inf, (4.0, 1.0), 0.0 if none else 1.0), names[:4]
    for count in (4, 1):
        try:
            return joint_test(theta, covariance, range(count)), names[:count]
        except DataError:
            continue
    return JointTest(0.0, (1.0, 1.0), 1.0), ()


def _find_weak(payload: Payload, errors: PayloadErrors) -> tuple[str, ...]:
    """Return what the data hardly show, by name."""
    weak = []
    if errors.mass > WEAK_SHARE * payload.mass:
        weak.append('mass')
    weak += [
        f'center of mass {axis}'
        for axis, error in zip('xyz', errors.center_of_mass, strict=True) if error > WEAK_CENTER
    ]
    size = max(float(np.linalg.eigvalsh(payload.inertia)[-1]), 0.0)
    weak += [
        f'I{"xyz"[i]}{"xyz"[j]}'
        for i in range(3) for j in range(i, 3) if errors.inertia[i, j] > WEAK_SHARE * size
    ]
    return tuple(weak)
