# Copyright 2026 The robot_identification developers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Find an excitation trajectory and certify it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from robot_identification.errors import UnsafeMotionError
from robot_identification.excitation.collision import CollisionModel
from robot_identification.excitation.constraints import broken_limits
from robot_identification.excitation.constraints import measure_limit_use
from robot_identification.excitation.constraints import motion_limits
from robot_identification.excitation.constraints import MotionLimits
from robot_identification.excitation.criteria import CRITERIA
from robot_identification.excitation.experiment_file import Experiment
from robot_identification.excitation.optimizers import OPTIMIZERS
from robot_identification.excitation.optimizers.optimizer import Budget
from robot_identification.excitation.optimizers.optimizer import Progress
from robot_identification.excitation.parametrizations.parametrization import Parametrization
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.base_parameters import BaseReduction
from robot_identification.model.base_parameters import reduce_to_base
from robot_identification.model.friction import parse_friction
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.regressor import Motion
from robot_identification.model.regressor import observation_matrix
from robot_identification.model.robot_model import RobotModel

FloatArray = NDArray[np.float64]

# Limits are searched on a coarse grid and proved on this one [Hz].
CERTIFICATE_RATE = 1000.0
# The coarse grid has this many samples for each coefficient of the form, 40 or so for the shortest
# period; it misses extrema by less than the reserve.
LIMIT_SAMPLES = 20
SEARCH_RESERVE = 0.98
# The proof of the certificate has finer speeds than that of the search [m].
SEARCH_CLEARANCE = 0.0005


def ignore_progress(progress: Progress) -> None:
    """Report nothing."""


@dataclass(frozen=True, eq=False)
class FormProblem:
    """The optimizer's problem for one arm and experiment; see `ExcitationProblem`."""

    robot: RobotModel
    experiment: Experiment
    limits: MotionLimits
    reduction: BaseReduction
    collision: CollisionModel | None
    bases: tuple[FloatArray, FloatArray, FloatArray]
    limit_bases: tuple[FloatArray, FloatArray, FloatArray]
    shape: FloatArray

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return a random candidate: centres inside the limits, amplitudes of their size."""
        n, c = self.robot.n, self.experiment.form.n_coefficients
        span = self.limits.upper - self.limits.lower
        centre = self.limits.lower + span * rng.uniform(0.3, 0.7, n)
        amplitude = rng.standard_normal((n, c - 1)) * (span * rng.uniform(0.1, 0.5, n))[:, None]
        return np.column_stack([centre, amplitude])

    def repair(self, coefficients: FloatArray) -> FloatArray | None:
        """Scale the amplitudes of every joint down until position, speed, acceleration fit."""
        limits = self.limits
        centre = coefficients[:, 0].copy()
        if np.any(centre <= limits.lower) or np.any(centre >= limits.upper):
            return None
        moved, dq, ddq = (basis[:, 1:] @ coefficients[:, 1:].T for basis in self.limit_bases)
        room_up, room_down = limits.upper - centre, centre - limits.lower
        use = np.max(
            [
                moved.max(axis=0) / room_up,
                -moved.min(axis=0) / room_down,
                np.abs(dq).max(axis=0) / limits.velocity,
                np.abs(ddq).max(axis=0) / limits.acceleration,
            ],
            axis=0,
        )
        scale = SEARCH_RESERVE / np.maximum(use, SEARCH_RESERVE)
        repaired = np.column_stack([centre, coefficients[:, 1:] * scale[:, None]])
        motion = _motion(self.limit_bases, repaired)
        uses = measure_limit_use(
            self.robot, limits, np.arange(len(motion), dtype=float), motion
        )
        if any(use.kind == 'torque' and not use.share <= SEARCH_RESERVE for use in uses):
            return None
        return repaired

    def is_clear(self, coefficients: FloatArray) -> bool:
        """Return whether the motion is proved to keep the experiment's clearance."""
        if self.collision is None:
            return True
        form = self.experiment.form
        velocity = self.limit_bases[1] @ coefficients.T
        try:
            self.collision.prove(
                lambda t: form.basis(t)[0] @ (coefficients @ self.shape.T).T, form.duration,
                velocity, self.experiment.clearance + SEARCH_CLEARANCE,
            )
        except UnsafeMotionError:
            return False
        return True

    def objective(self, coefficients: FloatArray) -> float:
        """Return the experiment's criterion on its samples."""
        W = observation_matrix(
            self.robot, self.reduction.parameters, _motion(self.bases, coefficients)
        )
        return CRITERIA[self.experiment.criterion](W[:, self.reduction.independent])


def _motion(
    bases: tuple[FloatArray, FloatArray, FloatArray], coefficients: FloatArray
) -> Motion:
    B, dB, ddB = bases
    return Motion(B @ coefficients.T, dB @ coefficients.T, ddB @ coefficients.T)


def design_excitation(
    robot: RobotModel,
    experiment: Experiment,
    *,
    seed: int,
    budget: Budget | None = None,
    report: Callable[[Progress], None] = ignore_progress,
) -> Trajectory:
    """
    Find a motion that shows the arm's parameters, within its limits.

    Parameters
    ----------
    robot : RobotModel
        The arm; gravity is taken from the experiment.
    experiment : Experiment
        Form, margins, criterion and optimizer.
    seed : int
        Same seed and same evaluations, same bytes.
    budget : Budget, optional
        When to stop.
    report : callable
        Is told how the search goes.

    Raises
    ------
    UnsafeMotionError
        If no feasible motion was found.

    """
    robot = robot.with_gravity(experiment.gravity)
    limits = motion_limits(robot, experiment)
    form = experiment.form
    shape = _equal_size(form)
    times = np.linspace(0.0, form.duration, experiment.samples, endpoint=False)
    fine = np.linspace(0.0, form.duration, LIMIT_SAMPLES * form.n_coefficients)
    problem = FormProblem(
        robot, experiment, limits, experiment_reduction(robot, experiment),
        collision_model(robot, experiment), _transformed(form.basis(times), shape),
        _transformed(form.basis(fine), shape), shape,
    )
    optimum = OPTIMIZERS[experiment.optimizer]().minimize(
        problem, budget or Budget(), np.random.default_rng(seed), report
    )
    if optimum.coefficients is None:
        raise UnsafeMotionError(
            f'no motion of {robot.name} within the limits was found in {optimum.evaluations} '
            'tries: widen the window or the margins, or lower the torque (slower, longer period)'
            + _nearest_words(problem)
        )
    trajectory = Trajectory(
        robot.name, robot.joint_names, form, optimum.coefficients @ shape.T,
        experiment.periods, {},
    )
    search = {
        'seed': seed,
        'evaluations': optimum.evaluations,
        'criterion': experiment.criterion,
        'samples': experiment.samples,
        'objective': optimum.objective,
    }
    return certify(robot, experiment, trajectory, search)


def _equal_size(form: Parametrization) -> FloatArray:
    """
    Return the transformation to amplitudes of equal effect, in which the search is done.

    One unit of any of them moves the joint by one radian in root mean square, independently of
    the others; a step of the search then means the same in every direction.
    """
    B, _, _ = form.basis(np.linspace(0.0, form.duration, LIMIT_SAMPLES * form.n_coefficients))
    triangle = np.linalg.qr(B[:, 1:], mode='r') / np.sqrt(len(B))
    triangle *= np.sign(np.diag(triangle))[:, None]
    shape = np.eye(form.n_coefficients)
    shape[1:, 1:] = np.linalg.inv(triangle)
    return shape


def _transformed(
    bases: tuple[FloatArray, FloatArray, FloatArray], shape: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    B, dB, ddB = bases
    return B @ shape, dB @ shape, ddB @ shape


def experiment_reduction(robot: RobotModel, experiment: Experiment) -> BaseReduction:
    """Return the base parameters that the experiment's criterion is about."""
    parameters = make_standard_parameters(
        robot.n, parse_friction(experiment.friction), reflected_inertia=True
    )
    return reduce_to_base(robot, parameters)


def collision_model(robot: RobotModel, experiment: Experiment) -> CollisionModel | None:
    """Return what motions of an experiment may not touch, None where that is not checked."""
    return CollisionModel(robot, experiment.obstacles) if experiment.collision else None


def _nearest_words(problem: FormProblem) -> str:
    """Say what the arm touches where it stands in the middle of its window."""
    if problem.collision is None or not problem.collision.pairs:
        return ''
    middle = 0.5 * (problem.limits.lower + problem.limits.upper)
    nearest = problem.collision.closest(middle[None], np.zeros(1))
    return f'; in the middle of the window {nearest}'


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
    limits = motion_limits(robot, experiment)
    period = Trajectory(
        trajectory.robot, trajectory.joint_names, trajectory.form, trajectory.coefficients, 1, {}
    )
    times = period.times(CERTIFICATE_RATE)
    motion = period.sample(times)
    uses = measure_limit_use(robot, limits, times, motion)
    broken = broken_limits(uses)
    if broken:
        raise UnsafeMotionError('the motion breaks limits: ' + '; '.join(broken))
    collision = prove_clearance(robot, experiment, trajectory)
    reduction = experiment_reduction(robot, experiment)
    # Every eighth sample is 125 Hz: dense for motions of a few hertz.
    W = observation_matrix(robot, reduction.parameters, motion.part(slice(0, None, 8)))
    dense = {
        name: criterion(W[:, reduction.independent]) for name, criterion in CRITERIA.items()
    }
    worst = {
        kind: max((use for use in uses if use.kind == kind), key=lambda use: use.share)
        for kind in ('position', 'velocity', 'acceleration', 'torque')
    }
    return trajectory.with_certificate({
        'robot': robot.name,
        'urdf_sha256': robot.urdf_sha256,
        'gravity': [float(value) for value in robot.gravity],
        'margins': {
            'position': experiment.margins.position,
            'velocity': experiment.margins.velocity,
            'acceleration': experiment.margins.acceleration,
            'torque': experiment.margins.torque,
        },
        'checked_at': f'{CERTIFICATE_RATE:.0f} Hz',
        'limits': {
            kind: {
                'joint': use.joint,
                'share': round(use.share, 6),
                'value': round(use.value, 6),
                # JSON and YAML have no common infinity.
                'limit': round(use.limit, 6) if np.isfinite(use.limit) else None,
                'time': round(use.time, 3),
            }
            for kind, use in worst.items()
        },
        'collision': collision,
        'base_parameters': reduction.rank,
        'friction': experiment.friction,
        'criteria_dense': {name: float(f'{value:.6g}') for name, value in dense.items()},
        'search': {
            key: float(f'{value:.9g}') if isinstance(value, float) else value
            for key, value in search.items()
        },
    })


def prove_clearance(
    robot: RobotModel, experiment: Experiment, trajectory: Trajectory
) -> dict[str, Any] | str:
    """
    Prove that one period keeps the experiment's clearance; return the certificate's entry.

    Raises
    ------
    UnsafeMotionError
        With the pair and the time where it does not.

    """
    model = collision_model(robot, experiment)
    if model is None:
        return 'off'
    times = np.arange(0.0, trajectory.form.duration, 1.0 / CERTIFICATE_RATE)
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
            }
            for obstacle in experiment.obstacles
        },
        'cannot_touch': [list(pair) for pair in model.cannot_touch],
    }
