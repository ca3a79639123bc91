# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Find an excitation trajectory and certify it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.blas import one_blas_thread
from robot_identification.errors import check_argument, UnsafeMotionError
from robot_identification.excitation.certificate import (
    experiment_content, experiment_sha256, find_experiment_gaps, find_overlaps, robot_sha256,
    unchecked_to_content,
)
from robot_identification.excitation.constraints import broken_limits, limits_entry, LimitUse
from robot_identification.excitation.evaluation import (
    criteria_content, evaluate_motion, evaluate_start, evaluation_content,
)
from robot_identification.excitation.experiment_file import Experiment
from robot_identification.excitation.experiment_limits import extra_limits_to_content
from robot_identification.excitation.extrema import certified_limit_uses
from robot_identification.excitation.information import Knowledge
from robot_identification.excitation.margins import FEW_HELD, find_experiment_holding
from robot_identification.excitation.optimizers import DEFAULT_OPTIMIZER, OPTIMIZERS
from robot_identification.excitation.optimizers.optimizer import Budget, Progress
from robot_identification.excitation.optimizers.search import Search, Workers
from robot_identification.excitation.parametrizations.composite import CompositeParametrization
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.excitation.problem import collision_model, TrajectoryProblem
from robot_identification.excitation.segments import Segment
from robot_identification.excitation.trajectory import check_rest_at_ends, Trajectory
from robot_identification.model import RobotModel

# Limits are searched on a coarse grid and proved on this one at least [Hz].
CERTIFICATE_RATE = 1000.0
# Shares of the amplitudes of random motions, of which the first that keeps all limits is taken,
# and how many are tried of each; chosen: among obstacles most poses are not free, and what is near
# the start is.
SHARES = (1.0, 0.6, 0.36, 0.22, 0.13, 0.08, 0.05)
TRIES = 10


def certificate_times(form: Parametrization) -> FloatArray:
    """Return even instants [s] from start to end of a form, between which it hardly turns."""
    rate = max(CERTIFICATE_RATE, form.grid_samples / form.duration)
    return np.linspace(0.0, form.duration, int(np.ceil(form.duration * rate)) + 1)


def ignore_progress(progress: Progress) -> None:
    """Report nothing."""


@one_blas_thread()
def design_excitation(
    robot: RobotModel,
    experiment: Experiment,
    *,
    seed: int,
    budget: Budget | None = None,
    report: Callable[[Progress], None] = ignore_progress,
    processes: int = 1,
    knowledge: Knowledge | None = None,
) -> Trajectory:
    """
    Find a motion that shows the arm's parameters, within its limits.

    Parameters
    ----------
    robot : RobotModel
        The arm; gravity is taken from the experiment.
    experiment : Experiment
        Form, margins, criterion, optimizer and segments.
    seed : int
        The same seed and evaluations give the same bytes for any number of processes.
    budget : Budget, optional
        When to stop.
    report : callable
        Called after every job.
    processes : int
        Processes that search.
    knowledge : Knowledge, optional
        What earlier recordings say already.

    Raises
    ------
    UnsafeMotionError
        If no feasible motion was found; before the search, if no pose of the window can be held
        against gravity.

    """
    check_argument('robot', robot, RobotModel)
    check_argument('experiment', experiment, Experiment)
    holding = find_experiment_holding(robot, experiment)
    if holding.held == 0.0:
        raise UnsafeMotionError(
            f'no motion of {robot.name} within the limits: {holding.describe()}'
        )
    optimizer = OPTIMIZERS[experiment.optimizer](**experiment.optimizer_options)
    build = partial(TrajectoryProblem, robot, experiment, knowledge)
    with Workers(build, processes) as workers:
        problem = workers.problem
        assert isinstance(problem, TrajectoryProblem)
        found = Search(optimizer, workers, seed, report).run(budget or Budget())
    if found.best is None:
        remedy = holding.describe() if holding.held < FEW_HELD else (
            'widen the window or the margins, or lower the torque (slower, longer period)'
            f'{problem.describe_middle()}'
        )
        raise UnsafeMotionError(
            f'no motion of {robot.name} within the limits was found in {found.evaluations} '
            f'evaluations: {_first_breach(problem, robot, experiment, seed)}{remedy}'
        )
    trajectory = with_segments(
        robot, experiment, _uncertified(robot, experiment, problem.coefficients(found.best.x)),
        seed,
    )
    before = evaluate_start(problem, seed)
    return certify(robot, experiment, trajectory, {
        'optimizer': experiment.optimizer,
        'seed': seed,
        'evaluations': found.evaluations,
        'feasible': found.feasible,
        'criterion': experiment.criterion,
        'samples': list(experiment.samples),
        'objective': found.best.objective,
        'criteria_before': None if before is None else criteria_content(before),
    })


def with_segments(
    robot: RobotModel, experiment: Experiment, trajectory: Trajectory, seed: int
) -> Trajectory:
    """
    Return a motion with the segments of its experiment; the same `seed`, the same ones.

    Raises UnsafeMotionError if a segment keeps the limits, or its clearance, with none of many
    random motions.
    """
    if not experiment.segments:
        return trajectory
    start = trajectory.sample(np.zeros(1)).q[0]
    forms = [segment.form for segment in experiment.segments]
    parts = []
    for number, segment in enumerate(experiment.segments):
        rng = np.random.default_rng([seed, 0, number])
        parts.append(_place_segment(robot, experiment, segment, start, rng))
    searched = experiment.segments_before
    forms.insert(searched, trajectory.form)
    parts.insert(searched, trajectory.coefficients)
    form = CompositeParametrization(
        [{'form': one.name, **one.options()} for one in forms], searched
    )
    return replace(trajectory, form=form, coefficients=form.coefficients(parts))


def _place_segment(
    robot: RobotModel, experiment: Experiment, segment: Segment, start: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the coefficients of a segment from `start` (n,) [rad] that keeps all limits."""
    problem = TrajectoryProblem(robot, replace(
        experiment, form=segment.form, bounds='sampled', optimizer=DEFAULT_OPTIMIZER,
        optimizer_options={},
        center=dict(zip(robot.joint_names, map(float, start), strict=True)),
    ))
    lower, upper = problem.limits.lower - start, problem.limits.upper - start
    for share in np.repeat(SHARES, TRIES):
        offsets = share * segment.offsets(lower, upper, rng)
        placed = problem.repair(problem.candidate(np.hstack([start[:, None], offsets])))
        if placed is not None and problem.is_clear(placed):
            return problem.coefficients(placed)
    raise UnsafeMotionError(
        f'no motion of {robot.name} for the segment {segment.name} keeps the limits in '
        f'{len(SHARES) * TRIES} tries: leave it out of segments, give it more move_time, or widen '
        'the window'
        f'{problem.describe_middle()}'
    )


def _uncertified(
    robot: RobotModel, experiment: Experiment, coefficients: FloatArray
) -> Trajectory:
    return Trajectory(
        robot.name, robot.joint_names, experiment.form, coefficients, experiment.periods, {}
    )


def _first_breach(
    problem: TrajectoryProblem, robot: RobotModel, experiment: Experiment, seed: int
) -> str:
    """Return what limit the first random motion of a seed breaks most; empty if it breaks none."""
    coefficients = problem.coefficients(problem.draw(np.random.default_rng([seed, 0])))
    trajectory = _uncertified(robot, experiment, coefficients)
    uses = certified_limit_uses(
        robot.with_gravity(experiment.gravity), experiment, trajectory,
        certificate_times(experiment.form),
    )
    broken = broken_limits([max(uses, key=lambda use: use.share)])
    return f'in the first random motion {broken[0]}; ' if broken else ''


def certify(
    robot: RobotModel, experiment: Experiment, trajectory: Trajectory, search: dict[str, Any]
) -> Trajectory:
    """
    Check a motion on a dense grid and return it with its certificate.

    Parameters
    ----------
    robot : RobotModel
        The arm.
    experiment : Experiment
        Margins and criterion.
    trajectory : Trajectory
        The motion.
    search : dict
        How it was found.

    Raises
    ------
    UnsafeMotionError
        If it breaks a limit; every broken one is named.

    """
    robot = robot.with_gravity(experiment.gravity)
    check_rest_at_ends(trajectory, robot.position_units)
    times = certificate_times(trajectory.form)
    uses = certified_limit_uses(robot, experiment, trajectory, times)
    broken = broken_limits(uses)
    if broken:
        raise UnsafeMotionError('the motion breaks limits: ' + '; '.join(broken))
    collision = prove_clearance(robot, experiment, trajectory)
    unchecked = find_experiment_gaps(robot, experiment) + find_overlaps(robot, collision)
    gaps = {(one.kind, joint) for one in unchecked for joint in one.joints}
    checked = [use for use in uses if (use.kind, use.joint) not in gaps]
    extra = extra_limits_to_content(experiment.extra_limits)
    return trajectory.with_certificate({
        'robot': robot.name,
        'urdf_sha256': robot.urdf_sha256,
        'robot_sha256': robot_sha256(robot),
        'gravity': [float(value) for value in robot.gravity],
        'margins': asdict(experiment.margins),
        'checked_at': f'{(len(times) - 1) / trajectory.form.duration:.0f} Hz',
        'limits': limits_entry(checked),
        'not_checked': unchecked_to_content(unchecked),
        'torque_reserve': _torque_reserve(experiment, checked),
        **({'further_limits': extra} if extra else {}),
        'collision': collision,
        **evaluation_content(evaluate_motion(robot, experiment, trajectory)),
        'experiment': experiment_content(experiment),
        'experiment_sha256': experiment_sha256(experiment),
        'search': {
            key: float(f'{value:.9g}') if isinstance(value, float) else value
            for key, value in search.items()
        },
    })


def _torque_reserve(experiment: Experiment, uses: list[LimitUse]) -> float | None:
    """Return the share of the torque limit that is left for friction; None if none is checked."""
    torques = [use for use in uses if use.kind == 'torque']
    if not torques:
        return None
    return round(1.0 - experiment.margins.torque * max(use.share for use in torques), 6)


def prove_clearance(
    robot: RobotModel, experiment: Experiment, trajectory: Trajectory
) -> dict[str, Any] | str:
    """Prove that one period keeps the experiment's clearance; return the certificate's entry."""
    model = collision_model(robot, experiment)
    if model is None:
        return 'off'
    times = certificate_times(trajectory.form)
    nearest = model.prove(
        lambda t: trajectory.sample(t).q, trajectory.form.duration, trajectory.sample(times).dq,
        experiment.clearance,
    )
    return {
        'clearance': experiment.clearance,
        # Nothing to touch: JSON and YAML have no common infinity.
        'nearest': round(nearest.distance, 6) if model.pairs else None,
        'pair': list(nearest.pair),
        'time': round(nearest.time, 3),
        'obstacles': {
            obstacle.name: {
                'size': list(obstacle.size), 'xyz': list(obstacle.xyz), 'rpy': list(obstacle.rpy),
                **({'link': obstacle.link} if obstacle.link else {}),
            }
            for obstacle in experiment.obstacles
        },
        'cannot_touch': [list(pair) for pair in model.cannot_touch],
        **({'overlapping': [list(pair) for pair in model.overlapping]}
           if model.overlapping else {}),
    }
