# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The next motion: what a model knows, what a motion leaves weak, and for how long to repeat it.

Information of independent recordings adds up, so the next motion is the one whose information,
with that of the model, leaves the smallest errors.

References
----------
.. [1] A. C. Atkinson, A. N. Donev and R. D. Tobias, "Optimum Experimental Designs, with SAS",
   Oxford University Press, 2007, chapter 19.

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.arrays import FloatArray
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.excitation.constraints import motion_limits, MotionLimits
from robot_identification.excitation.evaluation import DENSE_RATE
from robot_identification.excitation.experiment import Experiment
from robot_identification.excitation.information import (
    BaseColumns, information_root, Knowledge, leave_open, ROUNDING, runs_until, standard_errors,
)
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model import (
    BaseReduction, IdentifiedModel, Motion, RobotModel, StandardParameters,
)
import scipy

# Criteria that grow better with information; others are numbers of one motion alone.
INFORMATION_CRITERIA = ('log_determinant', 'trace_of_inverse')
DEFAULT_CRITERION = 'trace_of_inverse'
# Largest standard error that is not weak, as a part of the value.
WEAK_SHARE = 0.1
# Shape constants that say how friction passes through zero: its coefficients mean the same.
PASSAGES = ('width', 'zero_velocity')
# Joint placements [m, and parts of a direction] that are one geometry: calibrated arms are a few
# millimetres off.
SAME_GEOMETRY = 0.01


@dataclass(frozen=True, eq=False)
class Weakness:
    """
    Uncertainty of base parameters before and after a motion.

    Standard errors assume noise that is white in time, as those of a model file do. Where it is
    not, all of them are too small by about the same factor, and minutes by its square.
    """

    # Of the base parameters.
    names: tuple[str, ...]
    units: tuple[str, ...]
    theta: FloatArray  # (b,): their values, zero where nothing is known
    # (b,): standard errors; infinite where a parameter is not determined.
    before: FloatArray
    after: FloatArray
    allowed: FloatArray  # (b,): largest standard error that is not weak
    # (b,): for how long the motion must be repeated until the error is the allowed one, the first
    # time included: zero where it is known well enough without, infinite where no time suffices.
    minutes: FloatArray
    duration: float  # length of the motion [s]
    notes: tuple[str, ...] = ()  # those of the knowledge

    @property
    def weak(self) -> NDArray[np.bool_]:
        """Parameters that the motion leaves weak, shape (b,)."""
        mask: NDArray[np.bool_] = self.after > self.allowed
        return mask

    @property
    def order(self) -> list[int]:
        """Return the indices of the parameters, the weakest after the motion first."""
        return [int(i) for i in np.argsort(-self.after / self.allowed, kind='stable')]


def next_experiment(experiment: Experiment) -> tuple[Experiment, tuple[str, ...]]:
    """
    Return an experiment to which earlier information can be added, and notes on changes.

    It has one of INFORMATION_CRITERIA and one set of samples: condition numbers judge one motion
    alone, and of several sets of samples only one can stand for the recorded ones.
    """
    notes = []
    if experiment.criterion not in INFORMATION_CRITERIA:
        notes.append(
            f'criterion {experiment.criterion} is about one motion alone: the next motion is '
            f'designed for {DEFAULT_CRITERION}'
        )
        experiment = replace(experiment, criterion=DEFAULT_CRITERION)
    if len(experiment.samples) > 1:
        most = max(experiment.samples)
        notes.append(f'of several sets of samples the largest is used, {most}')
        experiment = replace(experiment, samples=(most,))
    return experiment, tuple(notes)


def knowledge_of_model(
    model: IdentifiedModel, robot: RobotModel, experiment: Experiment
) -> Knowledge:
    """
    Return the information of an identified model about an experiment's base parameters.

    A model states combinations of standard parameters, ``theta_model = K @ theta_standard``, with
    a covariance: information about any base set, frames and mounting. Parameters that only the
    experiment has get no information. Those that only the model has (a friction coefficient,
    combinations that only its mounting shows) are left open, not held at their estimates: the rest
    has less information by what it shared with them. Friction coefficients are one parameter where
    joint, law and shape constants are the same; how a law passes through zero (its width) may
    differ. The noise of the next recording is the model's residual, its rate that of the model's
    robot. For the experiment see `next_experiment`. Raises UsageError if the model is of another
    arm, noise or rate are unknown, or the experiment has several sets of samples; DescriptionError
    if the covariance is not valid, or the noise is not positive.
    """
    _check_arm(model, robot)
    noise, rate = residual_noise(model), model.robot.sampling_rate
    if not np.isfinite(rate):
        rate = robot.sampling_rate
    base = BaseColumns(robot, experiment)
    reduction, change = base.reduction, base.change
    columns, notes = _match_columns(model.parameters, reduction.parameters)
    root, cut = information_root(model.covariance)
    if cut:
        notes.append(
            f'{cut} combinations of the model are known better than numbers can say; they count '
            f'as known to {np.sqrt(ROUNDING):.0e} of the errors of their parameters'
        )
    open_terms = [
        row for row, column in enumerate(model.reduction.independent) if column not in columns
    ]
    # The model's combinations of the experiment's standard parameters.
    moved = np.zeros((len(model.reduction.K), reduction.parameters.size))
    moved[:, list(columns.values())] = model.reduction.K[:, list(columns)]
    seen = moved @ change
    rows = leave_open(
        root @ seen[:, reduction.independent],
        root @ _open_directions(model.reduction.K, seen, reduction, columns, open_terms),
    )
    lifted = np.zeros(reduction.parameters.size)
    for source, target in columns.items():
        lifted[target] = model.theta_lifted[source]
    theta = reduction.K @ np.linalg.solve(change, lifted)
    unknown = [reduction.names[i] for i in np.flatnonzero(np.isinf(standard_errors(rows)))]
    if unknown:
        notes.append(f'the model does not determine {", ".join(unknown)}')
    return Knowledge(
        rows, _weights(experiment, noise, rate),
        allowed_errors(base, motion_limits(robot, experiment), theta, noise), theta, noise, rate,
        tuple(notes),
    )


def allowed_errors(
    base: BaseColumns, limits: MotionLimits, theta: FloatArray, noise: FloatArray
) -> FloatArray:
    """
    Return the largest standard errors of an experiment's parameters that are not weak, (b,).

    That is WEAK_SHARE of the value (zero where unknown), or of the value whose torque is as large
    as the noise (n,); the larger counts. The latter is of random poses, speeds and accelerations
    within the limits: what the arm can show in any motion; so a parameter that is nearly zero is
    judged by the torque it can make.
    """
    motion = reference_motion(limits)
    rows = base.matrix(motion).reshape(len(motion), base.robot.n, -1)
    signal = np.sqrt(np.mean((rows / noise[:, None]) ** 2, axis=0)).max(axis=0)
    allowed: FloatArray = WEAK_SHARE * np.maximum(
        np.abs(theta), 1.0 / np.maximum(signal, np.finfo(float).tiny)
    )
    return allowed


def reference_motion(limits: MotionLimits) -> Motion:
    """
    Return random poses, speeds and accelerations within limits, each by itself.

    Joints without a limit have about the speed [rad/s] and acceleration [rad/s^2] of a UR's.
    """
    rng, samples = np.random.default_rng(0), 300
    shape = (samples, len(limits.lower))
    velocity, acceleration = (
        np.where(np.isfinite(limit), limit, usual) for limit, usual in (
            (limits.velocity, 3.0), (limits.acceleration, 5.0)
        )
    )
    return Motion(
        rng.uniform(limits.lower, limits.upper, shape),
        rng.uniform(-velocity, velocity, shape),
        rng.uniform(-acceleration, acceleration, shape),
        starts=tuple(range(samples)),
    )


def weak_parameters(
    robot: RobotModel,
    experiment: Experiment,
    trajectory: Trajectory,
    known: Knowledge,
) -> Weakness:
    """
    Return how well a motion shows each base parameter and how long it would have to run.

    A parameter is weak if its standard error after the motion exceeds `allowed_errors`. The base
    parameters are those of the experiment; `known` is what is known without the motion.
    """
    columns = BaseColumns(robot, experiment)
    period = trajectory.form.duration
    count = int(np.ceil(period * DENSE_RATE))
    # Without the end, which is the start of the next period.
    motion = trajectory.sample(np.arange(count) * period / count)
    W = columns.matrix(motion)
    recorded = np.sqrt(known.rate * trajectory.duration / count)
    shown = W / np.tile(known.noise, count)[:, None] * recorded
    return Weakness(
        names=columns.reduction.names,
        units=columns.reduction.units_of(robot),
        theta=known.theta,
        before=standard_errors(known.rows),
        after=standard_errors(np.vstack([known.rows, shown])),
        allowed=known.allowed,
        minutes=runs_until(known.rows, shown, known.allowed) * trajectory.duration / 60.0,
        duration=trajectory.duration,
        notes=known.notes,
    )


def _check_arm(model: IdentifiedModel, robot: RobotModel) -> None:
    """Check that a model is about this arm: same joints, same geometry."""
    if model.robot.joint_names != robot.joint_names:
        raise UsageError(
            f'the model is of {model.robot.name} with the joints '
            f'{", ".join(model.robot.joint_names)}; {robot.name} has '
            f'{", ".join(robot.joint_names)}'
        )
    pairs = zip(
        robot.joint_names, list(model.robot.pinocchio.jointPlacements)[1:],
        list(robot.pinocchio.jointPlacements)[1:], strict=True,
    )
    for joint, theirs, ours in pairs:
        apart = float(np.abs(theirs.homogeneous - ours.homogeneous).max())
        if apart > SAME_GEOMETRY:
            raise UsageError(
                f'{joint} of {robot.name} is placed otherwise than in the model, by {apart:.3g} '
                f'(at most {SAME_GEOMETRY:g} is the same arm): leave out --robot and --urdf to '
                "use the model's own description"
            )


def residual_noise(model: IdentifiedModel) -> FloatArray:
    """
    Return the standard deviation (n,) of each joint's residual [N m].

    It is the noise of the next recording. Raises UsageError if the model does not have n values,
    DescriptionError if one is not positive.
    """
    n = model.robot.n
    stated = model.quality.get('residual_standard_deviation')
    if stated is None or np.shape(stated) != (n,):
        raise UsageError(
            f'the model does not state the residual of its {n} joints '
            '(quality.residual_standard_deviation), which is the noise of the next recording: '
            'identify it again'
        )
    noise = np.array(stated, dtype=float)
    if not np.all(np.isfinite(noise) & (noise > 0.0)):
        raise DescriptionError(
            f'the noise of the joints is {noise.tolist()} N m, {n} positive numbers are needed'
        )
    return noise


def _weights(experiment: Experiment, noise: FloatArray, rate: float) -> FloatArray:
    """Return the factors of the criterion's rows: one sample stands for many recorded ones."""
    if not 0.0 < rate < np.inf:
        raise UsageError(f'the sampling rate is {rate} Hz, a positive one is needed')
    if len(experiment.samples) > 1:
        raise UsageError(
            'with earlier information one set of samples is needed, the experiment has '
            f'{list(experiment.samples)}'
        )
    recorded = rate * experiment.form.duration * experiment.periods
    weights: FloatArray = np.sqrt(recorded / experiment.samples[0]) / noise
    return weights


def _match_columns(
    source: StandardParameters, target: StandardParameters
) -> tuple[dict[int, int], list[str]]:
    """Return the target's column by the source's where they mean the same, and remarks."""
    columns = {column: column for column in range(10 * source.n)}
    notes = []
    theirs = {(term.joint, term.law.name): (term.law, at) for term, at in target.friction_columns}
    for term, own in source.friction_columns:
        if (term.joint, term.law.name) not in theirs:
            continue
        other, there = theirs[term.joint, term.law.name]
        constants = other.constants()
        if all(
            constants[name] == value for name, value in term.law.constants().items()
            if name not in PASSAGES
        ):
            columns.update(zip(range(own.start, own.stop), range(there.start, there.stop),
                               strict=True))
        else:
            notes.append(
                f'{term.law.name} friction of joint {term.joint + 1} has other shape constants '
                f'in the model ({_in_words(term.law.constants())}) than in the experiment '
                f'({_in_words(constants)}): its coefficients count as unknown'
            )
    if source.reflected_inertia and target.reflected_inertia:
        own, there = source.reflected_inertia_slice, target.reflected_inertia_slice
        columns.update(zip(range(own.start, own.stop), range(there.start, there.stop),
                           strict=True))
    left = sorted({
        term.law.name for term in source.friction
        if (term.joint, term.law.name) not in theirs
    })
    if left:
        notes.append(
            f'friction of the model that the experiment does not have stays open: '
            f'{", ".join(left)}; name it in the experiment to have the motion designed for it'
        )
    return columns, notes


def _in_words(constants: Mapping[str, Any]) -> str:
    return ', '.join(f'{name} {value:g}' for name, value in constants.items())


def _open_directions(
    K: FloatArray,
    seen: FloatArray,
    reduction: BaseReduction,
    columns: Mapping[int, int],
    open_terms: list[int],
) -> FloatArray:
    """
    Return changes of the model's base parameters that leave the experiment's alone, as columns.

    Of the model's own columns (`open_terms`) only those that lead a base parameter count: the
    others have the torque of leading ones, and are held at zero. `K` and `seen` are the
    combinations of the model, and those in columns of the experiment, `columns` maps the former to
    the latter.
    """
    # What only the experiment has is held at zero, too: the model took it to be.
    shared = list(columns.values())
    hidden = seen[:, shared] @ scipy.linalg.null_space(reduction.K[:, shared])
    left, size, _ = np.linalg.svd(hidden, full_matrices=False)
    # Less is rounding, or an axis a little off the parallel.
    tolerance = 1.0e-6 if reduction.exact else 0.02
    return np.hstack([left[:, size > tolerance], np.eye(len(K))[:, open_terms]])
