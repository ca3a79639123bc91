# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Fit a model to datasets, and find out on held-out blocks how good such a fit is.

Every choice that is made from data is made here, inside the training samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from robot_identification.arrays import BoolArray, FloatArray, IntArray
from robot_identification.estimation.bags import training_data
from robot_identification.estimation.estimate import Estimate, Estimator
from robot_identification.estimation.estimators.dictionary import SparseNonnegativeRegression
from robot_identification.estimation.estimators.huber import HuberWeights
from robot_identification.estimation.problem import IdentificationProblem, Observations
from robot_identification.estimation.rows import NO_TREATMENT, RowTreatment
from robot_identification.estimation.solving import need_observations
from robot_identification.estimation.two_encoders import TwoEncoders
from robot_identification.model import (
    BaseReduction, FrictionLaw, FrictionTerm, KinematicFilter, make_standard_parameters,
    observation_matrix, random_motion, reduce_to_base, RobotModel, StandardParameters,
)
from robot_identification.processing import Dataset
from robot_identification.validation import errors_at, Folds, hold_out, limit_outliers, Trial
import scipy

# The load of plain laws is taken from the bodies found until they change by less than this part of
# their size, at most so often.
LOAD_TOLERANCE, MOST_LOAD_ITERATIONS = 1.0e-4, 10
# What a part of a recording says of the scatter of residuals, Huber's limit among it, is taken for
# that of all where it differs by less than this share; chosen, the estimate hardly depends on it.
DEVIATION_TOLERANCE = 0.1
# Share of it that it falls to at most in one pass: of rows without noise it would be zero.
LEAST_DEVIATION = 1.0e-6
# Part of a column, in units of what a fast motion (3 rad/s, 5 rad/s^2) would put into it, that
# the columns before it leave unexplained. The shared recordings of real arms have 1e-3 and more;
# a stationary joint's sensor noise reaches 1e-6.
LOSS_TOLERANCE = 1.0e-5


def reference_scale(robot: RobotModel, reduction: BaseReduction) -> FloatArray:
    """Return what a fast motion puts into each base column, (b,), as RMS per sample."""
    samples = 100
    motion = random_motion(robot, samples, np.random.default_rng(1))
    tau_rigid = np.ones((samples, robot.n))
    W = observation_matrix(robot, reduction.parameters, motion, None, tau_rigid)
    scale: FloatArray = np.linalg.norm(W[:, reduction.independent], axis=0) / np.sqrt(samples)
    return scale


def restrict_to_identifiable(
    robot: RobotModel,
    problem: IdentificationProblem,
    stationary_joints: Sequence[int],
    known: Mapping[str, float] | None = None,
) -> tuple[IdentificationProblem, tuple[str, ...]]:
    """
    Leave out what the data do not determine, folding it into what they do, and say what that is.

    Friction and reflected inertia of `stationary_joints` are not shown. Base parameters that are
    `known` need not be shown; they stay, but for those that are zero.
    """
    reduction = problem.reduction
    parameters = reduction.parameters
    given = np.array([name in (known or {}) for name in reduction.names])
    used = np.array([(known or {}).get(name, 0.0) != 0.0 for name in reduction.names])
    hidden = {
        column
        for term, columns in parameters.friction_columns
        if term.joint in stationary_joints
        for column in range(columns.start, columns.stop)
    }
    if parameters.reflected_inertia:
        start = parameters.reflected_inertia_slice.start
        hidden |= {start + joint for joint in stationary_joints}
    seen = np.array([column not in hidden for column in reduction.independent])
    # A dictionary has more terms than any data distinguish; its fit chooses among them.
    chosen_by_fit = {
        column
        for term, columns in parameters.friction_columns
        if not term.law.is_structural
        for column in range(columns.start, columns.stop)
    }
    tested = ~given & np.array(
        [column not in chosen_by_fit for column in reduction.independent], dtype=bool
    )
    seen = np.where(given, used, seen)
    R, _ = problem.stacked(np.ones(robot.n))
    reference = reference_scale(robot, reduction)
    scaled = R[:, : reduction.rank] / reference / np.sqrt(problem.samples.max())
    scaled = np.where(seen & tested, scaled, 0.0)
    triangle, pivots = scipy.linalg.qr(scaled, mode='r', pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(diagonal > LOSS_TOLERANCE))
    kept = np.sort(pivots[:rank])
    unidentifiable = np.setdiff1d(np.flatnonzero(tested), kept)
    if not unidentifiable.size and seen.all():
        return problem, ()
    folded = np.linalg.lstsq(scaled[:, kept], scaled[:, unidentifiable], rcond=None)[0]
    folded = folded * reference[unidentifiable] / reference[kept][:, None]
    folded[np.abs(folded) < 1e-6] = 0.0
    K = reduction.K.copy()
    K[kept] += folded @ reduction.K[unidentifiable]
    kept = np.sort(np.concatenate([kept, np.flatnonzero(seen & ~tested)]))
    smaller = replace(reduction, K=K).only(kept)
    names = tuple(reduction.names[i] for i in unidentifiable) + tuple(
        # Not every term by its own name: none of the joint's friction is seen.
        f'{term.law.name}{term.joint + 1}'
        for term in parameters.friction
        if term.joint in stationary_joints and not term.law.is_structural
    )
    return problem.select(kept, smaller), names


@dataclass(frozen=True, eq=False)
class Fit:
    """An estimate and the problem it solves."""

    problem: IdentificationProblem  # without what the data do not determine
    estimate: Estimate  # its solution
    unidentifiable: tuple[str, ...]  # base parameters that the data do not determine


def observe(
    robot: RobotModel,
    friction: Sequence[FrictionLaw | FrictionTerm],
    datasets: Sequence[Dataset],
    rows: Sequence[BoolArray],
    *,
    offset_by_recording: bool = False,
    time_blocks: int = 1,
    effort_filter: KinematicFilter | None = None,
    treatment: RowTreatment = NO_TREATMENT,
    two_encoders: TwoEncoders | None = None,
) -> Observations:
    """
    Return the rows of an identification problem.

    The robot has its drive gains where effort is in ampere. A friction law is for every joint, a
    term for its own; `rows` (N,) mask the samples to take of each dataset. `offset_by_recording`
    gives each recording its own offset of every joint, `time_blocks` is that of `Observations`.
    `effort_filter` smooths the effort that is fitted, `two_encoders` is the knowledge of the
    drives for `TwoEncoderFit`.
    """
    return Observations(
        robot,
        make_reduction(robot, friction, datasets, two_encoders),
        [
            training_data(robot, dataset, chosen, effort_filter)
            for dataset, chosen in zip(datasets, rows, strict=True)
        ],
        offset_by_recording=offset_by_recording,
        time_blocks=time_blocks,
        treatment=treatment,
    )


def make_reduction(
    robot: RobotModel,
    friction: Sequence[FrictionLaw | FrictionTerm],
    datasets: Sequence[Dataset],
    two_encoders: TwoEncoders | None = None,
) -> BaseReduction:
    """Return the base parameters of an identification problem; see `observe`."""
    parameters = make_standard_parameters(robot.n, friction, reflected_inertia=True)
    if two_encoders is None:
        return reduce_to_base(robot, parameters)
    known = two_encoders.terms(robot, [term.law.name for term in parameters.friction])
    parameters = replace(parameters, friction=parameters.friction + known)
    return two_encoders.reduce(robot, parameters, datasets)


def fit_parameters(
    observations: Observations,
    unexcited: Sequence[int],
    estimator: Estimator,
    part: Observations | None = None,
) -> Fit:
    """
    Estimate the base parameters.

    `unexcited` are the numbers of the joints whose friction and reflected inertia the data cannot
    show. `part` are evenly spread rows of the same recordings, in the same unknowns: a dictionary
    fit begins with them, so that it passes over all rows once.
    """
    if part is not None and isinstance(estimator, SparseNonnegativeRegression):
        begun, _ = _restrict(part, unexcited, estimator)
        problem, names, estimate = _fit_after_part(observations, begun, unexcited, estimator)
    else:
        problem, names = _restrict(observations, unexcited, estimator)
        problem, estimate = estimate_under_load(problem, estimator)
    kept, reduction = _without_unused_terms(problem.reduction, estimate.theta)
    if len(kept) < problem.reduction.rank:
        problem = problem.select(kept, reduction)
        solved = estimate.problem or problem
        estimate = estimate.select(kept, solved.select(kept, reduction))
    return Fit(problem, estimate, names)


def _fit_after_part(
    observations: Observations, begun: IdentificationProblem, unexcited: Sequence[int],
    estimator: SparseNonnegativeRegression,
) -> tuple[IdentificationProblem, tuple[str, ...], Estimate]:
    """
    Estimate a dictionary with weights and loads of a part, until those of all rows are the same.

    They are where the residuals of what was found before scatter as they were expected to.
    """
    unknowns, deviation = estimator.start(begun)
    theta = _among(observations, begun, unknowns)
    for number in range(1, estimator.passes + 1):
        huber = HuberWeights(deviation, estimator.huber)
        problem, names = restrict_to_identifiable(
            observations.robot, observations.factor(theta, huber), unexcited
        )
        found = np.maximum(huber.deviation, LEAST_DEVIATION * deviation)
        estimate = replace(
            estimator.finish(problem, found, number), weighted=huber.differ_from_one
        )
        if np.all(np.abs(found / deviation - 1.0) <= DEVIATION_TOLERANCE):
            break
        theta, deviation = _among(observations, problem, estimate.unknowns), found
    return problem, names, estimate


def _among(
    observations: Observations, problem: IdentificationProblem, unknowns: FloatArray
) -> FloatArray:
    """Return unknowns of a problem that lacks some among those of all, which are zero."""
    place = {int(column): at for at, column in enumerate(observations.reduction.independent)}
    theta = np.zeros(observations.reduction.rank)
    theta[[place[int(column)] for column in problem.reduction.independent]] = unknowns
    return theta


def _restrict(
    observations: Observations, unexcited: Sequence[int], estimator: Estimator
) -> tuple[IdentificationProblem, tuple[str, ...]]:
    """Return the problem without the unidentifiable parameters that have no prior."""
    problem = observations.factor()
    return restrict_to_identifiable(
        observations.robot, problem, unexcited, estimator.known(problem)
    )


def estimate_under_load(
    problem: IdentificationProblem, estimator: Estimator
) -> tuple[IdentificationProblem, Estimate]:
    """
    Estimate until the load of load-dependent laws is that of the bodies found.

    It is so when the model predicts. A dictionary fit takes the load from its own passes.
    """
    estimate = estimator.estimate(problem)
    observations = need_observations(problem, 'with friction that depends on the load')
    if estimator.chooses_terms or not np.any(observations.loaded):
        return problem, estimate
    change = np.inf
    for _ in range(MOST_LOAD_ITERATIONS):
        before = estimate.unknowns
        problem = observations.factor(before)
        estimate = estimator.estimate(problem)
        change = float(np.linalg.norm(estimate.unknowns - before) / np.linalg.norm(before))
        if change <= LOAD_TOLERANCE:
            return problem, estimate
    note = (
        f'the bodies still change by {change:.1e} of their size after {MOST_LOAD_ITERATIONS} '
        'passes with the load they make: leave out the friction law load'
    )
    return problem, replace(estimate, notes=(*estimate.notes, note))


def _without_unused_terms(
    reduction: BaseReduction, theta: FloatArray
) -> tuple[IntArray, BaseReduction]:
    """Return which base parameters stay, and their meaning, without terms of a dictionary at 0."""
    parameters = reduction.parameters
    value_of = dict(zip(reduction.independent.tolist(), theta.tolist(), strict=True))
    terms, standard = [], list(range(10 * parameters.n))
    for term, columns in parameters.friction_columns:
        own = range(columns.start, columns.stop)
        law, used = term.law.without_zeros(np.array([value_of.get(at, 0.0) for at in own]))
        standard += np.array(own)[used].tolist()
        terms.append(replace(term, law=law))
    rotors = parameters.reflected_inertia_slice
    standard += range(rotors.start, rotors.stop)
    place = {column: at for at, column in enumerate(standard)}
    kept = np.array([
        row for row, column in enumerate(reduction.independent) if int(column) in place
    ])
    smaller = replace(
        reduction,
        parameters=StandardParameters(parameters.n, tuple(terms), parameters.reflected_inertia),
        K=reduction.K[kept][:, standard],
        independent=np.array([place[int(column)] for column in reduction.independent[kept]]),
    )
    return kept, smaller


def cross_validate(
    observations: Observations, unexcited: Sequence[int], estimator: Estimator, name: str,
    folds: Folds,
) -> Trial:
    """Try an estimator on held-out blocks, every step of the fit repeated for each block."""
    def solve(problem: IdentificationProblem) -> list[FloatArray]:
        return [estimate_under_load(problem, estimator)[1].unknowns]

    trial, = _try_on_folds(observations, unexcited, estimator, solve, [name], folds)
    return trial


def cross_validate_prior_weights(
    observations: Observations,
    unexcited: Sequence[int],
    estimator: SparseNonnegativeRegression,
    weights: Sequence[float],
    folds: Folds,
) -> list[Trial]:
    """Try weights of the CAD prior on held-out blocks; see `cross_validate`."""
    return _try_on_folds(
        observations, unexcited, estimator,
        lambda problem: estimator.estimate_each(problem, weights),
        [f'prior weight {weight:g}' for weight in weights], folds,
    )


def _try_on_folds(
    observations: Observations,
    unexcited: Sequence[int],
    estimator: Estimator,
    solve: Callable[[IdentificationProblem], list[FloatArray]],
    names: Sequence[str],
    folds: Folds,
) -> list[Trial]:
    data, n = observations.data, observations.robot.n
    parts = [list(hold_out(part.dataset, part.rows, folds)) for part in data]
    predictions = [[np.full((int(part.rows.sum()), n), np.nan) for part in data] for _ in names]
    held_out = []
    recorded = observations.untreated()
    for fold in zip(*parts, strict=True):
        training = observations.select([rows for rows, _ in fold])
        left, _ = _restrict(training, unexcited, estimator)
        tested = recorded.select([rows for _, rows in fold])
        if left.reduction.rank < observations.reduction.rank:
            tested = tested.changed(left.reduction)
        # Among the samples that take part.
        places = [rows[part.rows] for part, (_, rows) in zip(data, fold, strict=True)]
        held_out.append(places)
        for prediction, unknowns in zip(predictions, solve(left), strict=True):
            # Another recording would have an offset of its own, which no model knows.
            unknowns[left.reduction.rank:] = 0.0
            for values, torque, part, chosen in zip(
                prediction, tested.torque(unknowns), data, places, strict=True
            ):
                values[chosen] = torque / part.torque_per_effort
    return [
        make_trial(
            name, [part.dataset for part in data], [part.rows for part in data], prediction,
            held_out,
        )
        for name, prediction in zip(names, predictions, strict=True)
    ]


def make_trial(
    name: str,
    datasets: Sequence[Dataset],
    rows: Sequence[BoolArray],
    predictions: Sequence[FloatArray],
    held_out: Sequence[Sequence[BoolArray]],
) -> Trial:
    """
    Return what was tried with its errors.

    `predictions` (m, n) are of effort at the m `rows` (N,) of each dataset, `held_out` (m,) masks
    of the blocks among them.
    """
    tried = list(zip(datasets, predictions, rows, strict=True))
    limited = [
        values + limit_outliers(dataset.effort[chosen] - values)
        for dataset, values, chosen in tried
    ]
    return Trial(
        name,
        tuple(errors_at(dataset, values, chosen) for dataset, values, chosen in tried),
        _scores_by_fold(limited, predictions, held_out),
        tuple(predictions),
        tuple(
            errors_at(dataset, values, chosen, effort=effort)
            for (dataset, values, chosen), effort in zip(tried, limited, strict=True)
        ),
    )


def _scores_by_fold(
    efforts: Sequence[FloatArray],
    prediction: Sequence[FloatArray],
    held_out: Sequence[Sequence[BoolArray]],
) -> FloatArray:
    """Return the mean NRMSE over joints of each block, shape (folds,)."""
    scores = []
    for places in held_out:
        values = []
        for effort, predicted, chosen in zip(efforts, prediction, places, strict=True):
            deviation = np.std(effort, axis=0)
            error = np.sqrt(np.mean((effort[chosen] - predicted[chosen]) ** 2, axis=0))
            varies = deviation > 0.0
            values.append(np.mean(error[varies] / deviation[varies]) if varies.any() else np.nan)
        scores.append(np.nanmean(values))
    return np.array(scores)
