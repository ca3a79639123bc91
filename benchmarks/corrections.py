# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
What corrections find in simulated arms, and what else was tried on what parameters leave.

Simulated arms have one effect each; they are identified from a lively motion and judged on another
of the same kind, and on rests and slow moves, another kind of motion. A null shifts the residuals
in time against the motion. Then alternatives to corrections are tried on these arms, and on the
two public recordings where ROBOT_IDENTIFICATION_DATA names their folder (first 60 % to identify,
the rest to judge).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
import os
from pathlib import Path
import sysconfig
import tempfile

import numpy as np
from robot_identification.estimation.choice import Choice
from robot_identification.estimation.correction_groups import (
    choose_groups, fit_groups, FoldedResiduals, residuals_at,
)
from robot_identification.estimation.corrections import independent_bodies
from robot_identification.estimation.inputs import read_inputs
from robot_identification.estimation.method import IdentifyOptions, PLAIN_FRICTION
from robot_identification.estimation.recipe import Recipe, thin_rows
from robot_identification.estimation.selection import choose
from robot_identification.model.corrections import CorrectionGroup, CORRECTIONS
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import observation_matrix, rigid_torque
from robot_identification.model.robot_model import RobotModel
from robot_identification.pipeline import identify, validate
from robot_identification.prediction.comparison import compare_effort
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.loading import load_for_model
from robot_identification.recording.simulated_run import write_simulated_bag
from robot_identification.simulation.ground_truth import SimulatedArmOptions
from robot_identification.simulation.mujoco_robot import MujocoRobot, Sensors
from robot_identification.simulation.run import driver_period, record_motion
from robot_identification.validation.bag_errors import BagErrors
from robot_identification.validation.folds import Folds
from robot_identification.validation.validation import errors_on, predict_effort
from scipy.signal import lfilter

from .controllers import CONTROL_RATE
from .figures import Figure
from .tracking import recorded_motion, tracked_motion

REPEATS = 1
STICKS = SimulatedArmOptions(static_friction=True)
EFFECTS = {
    'smooth friction': SimulatedArmOptions(),
    'joints that stick': STICKS,
    'sticks, velocity loops': replace(STICKS, velocity_loop=0.005),
    'sticks, torque ripple': replace(STICKS, torque_ripple=0.2),
    'sticks, torque of the angle': replace(STICKS, position_torque=0.2),
    'sticks, gain errors': replace(STICKS, gain_error=0.03),
}
# Different motions that an arm is identified from; of the others one, three times.
MOTIONS = {'sticks, torque of the angle': (1, 2, 3)}
DATA = 'ROBOT_IDENTIFICATION_DATA'
# Of a public recording: first seconds that are identified from [s].
UR10, UR10_TRAINED = 'ur10_exciting_trajectory', 16.5
PANDA, PANDA_TRAINED = 'panda_exciting_trajectory', 0.6 * 24.2
PANDA_JOINTS = tuple(f'panda_joint{number}' for number in range(1, 8))


@dataclass(frozen=True)
class Scene:
    """An arm with recordings to identify from, and one to judge on."""

    name: str
    robot: RobotModel
    training: tuple[Path, ...]
    judged: Path  # of another kind, of simulated arms
    alike: Path  # of the same kind
    options: IdentifyOptions = field(default_factory=IdentifyOptions)
    start: float | None = None  # of what is judged [s]

    def fit(self, **changes: object) -> IdentifiedModel:
        """Return what `identify` makes of it with some options changed."""
        return identify(self.robot, self.training, replace(self.options, **changes)).model

    def error(self, model: IdentifiedModel, *, alike: bool = False) -> float:
        """Return the mean NRMSE on what is judged."""
        return self._judge(model, alike).nrmse_mean

    def coverage(self, model: IdentifiedModel, *, alike: bool) -> tuple[float, float, float]:
        """Return the shares in the band in motion, at rest, and of live prediction."""
        details = self._judge(model, alike).details
        found, _ = compare_effort(model, self.alike if alike else self.judged, causal=True)
        later = found.stamps >= (self.start or 0.0)
        error = np.abs(found.measured - found.predicted)[later]
        known = np.isfinite(error) & np.isfinite(found.deviation[later])
        held = np.count_nonzero((error <= 1.96 * found.deviation[later]) & known)
        return (
            float(np.nanmean(details.covered_moving)), float(np.nanmean(details.covered_resting)),
            held / max(np.count_nonzero(known), 1),
        )

    def _judge(self, model: IdentifiedModel, alike: bool) -> BagErrors:
        bag = self.alike if alike else self.judged
        return validate(model, bag, start=self.start).validation.bags[0]


@contextmanager
def simulated(
    name: str, options: SimulatedArmOptions, seed: int, arm: str = 'ur5', motions: int = 1
) -> Iterator[Scene]:
    """Yield an arm with an effect, its bags in a folder that goes afterwards."""
    robot = load_robot(arm)
    period, truth = driver_period(robot), options.truth(robot, seed)
    lively, other, *more = (recorded_motion(robot, period, i) for i in range(1 + motions))
    rests = tracked_motion()
    rests = rests.rows(np.arange(0, len(rests), round(CONTROL_RATE * period)))
    with tempfile.TemporaryDirectory() as folder:
        bags = []
        for number, motion in enumerate((lively, rests, other, *more)):
            simulator = MujocoRobot(robot, truth, Sensors(), motion.q[0], seed + number)
            run = record_motion(
                robot, simulator, motion, period * np.arange(float(len(motion))), period
            )
            bags.append(Path(folder) / str(number))
            write_simulated_bag(bags[-1], robot, run)
        first, judged, alike, *others = bags
        yield Scene(name, robot, (first, *others), judged, alike)


def public_scenes() -> Iterator[Scene]:
    """Yield the public recordings that are there."""
    folder = Path(os.environ.get(DATA, '/nowhere'))
    if (folder / UR10).is_dir():
        options = IdentifyOptions(effort_unit='Nm', stop=UR10_TRAINED)
        bag = folder / UR10
        yield Scene('UR10, real', load_robot('ur10'), (bag,), bag, bag, options, UR10_TRAINED)
    # Of the PyPI package example-robot-data.
    urdf = Path(
        sysconfig.get_path('purelib'), 'cmeel.prefix', 'share', 'example-robot-data', 'robots',
        'panda_description', 'urdf', 'panda.urdf',
    )
    if (folder / PANDA).is_dir() and urdf.is_file():
        names = {f'fer_joint{i}': joint for i, joint in enumerate(PANDA_JOINTS, start=1)}
        options = IdentifyOptions(effort_unit='Nm', joint_names=names, stop=PANDA_TRAINED)
        bag = folder / PANDA
        yield Scene(
            'Panda, real', load_robot(urdf=urdf, joints=PANDA_JOINTS), (bag,), bag, bag, options,
            PANDA_TRAINED,
        )


# --- corrections of known effects ----------------------------------------------------------------


def measure_effects(seeds: range) -> list[Figure]:
    """Return errors, coverage and accepted groups of arms with one effect each."""
    figures = []
    cases = [(name, motions) for name in EFFECTS for motions in MOTIONS.get(name, (1,))]
    for name, motions in cases:
        rows = []
        for seed in seeds:
            with simulated(name, EFFECTS[name], seed, motions=motions) as scene:
                model, plain = scene.fit(), scene.fit(corrections='none')
                accepted = [one.group.name for one in model.corrections.offline]
                rows.append((
                    *(
                        value for alike in (True, False) for value in (
                            scene.error(plain, alike=alike), scene.error(model, alike=alike),
                            *scene.coverage(model, alike=alike),
                        )
                    ),
                    *(float(accepted.count(kind)) for kind in CORRECTIONS),
                ))
        heads = (
            *(
                f'{head}, {kind}' for kind in ('same kind', 'another kind') for head in (
                    'NRMSE without corrections', 'NRMSE with them', 'in the band, in motion',
                    'in the band, at rest', 'in the band, live',
                )
            ),
            *(f'joints with {kind}' for kind in CORRECTIONS),
        )
        figures += [
            Figure(f'{name}, motions {motions}: {head}', '', values)
            for head, values in zip(heads, zip(*rows, strict=True), strict=True)
        ]
    return figures


def residuals_of(scene: Scene) -> tuple[Choice, FoldedResiduals]:
    """Return the choice without corrections, and its residuals on held-out blocks."""
    options = replace(scene.options, corrections='none')
    inputs = read_inputs(scene.robot, scene.training, options)
    choice = choose(inputs.robot, inputs.recordings, inputs.unit, options, with_prior=True)
    rows = thin_rows([one.fitted for one in choice.datasets], options.recipe.samples_in_choice)
    return choice, residuals_at(
        inputs.robot, choice.datasets, rows, choice.trial.predictions,
        Folds(options.recipe.folds, options.recipe.gap), independent_bodies(inputs.robot),
    )


def shifted(choice: Choice, residuals: FoldedResiduals, share: float) -> FoldedResiduals:
    """Return residuals moved round by a share of the recording, or of the motion it repeats."""
    (dataset,), (torque,) = choice.datasets, residuals.torque
    whole = len(torque)
    if dataset.period is not None:
        whole *= dataset.period * dataset.rate / len(dataset)
    return replace(residuals, torque=(np.roll(torque, round(share * whole), axis=0),))


def null_shares(scene: Scene) -> dict[str, float]:
    """Return the share of joints that accept each group where nothing is to be found."""
    choice, residuals = residuals_of(scene)
    counts = dict.fromkeys(CORRECTIONS, 0)
    shifts = (0.2, 0.35, 0.5, 0.65, 0.8)
    for share in shifts:
        moved = shifted(choice, residuals, share)
        for joint in range(scene.robot.n):
            for name, kind in CORRECTIONS.items():
                counts[name] += bool(choose_groups(moved, [kind], joint, Recipe().huber))
    return {name: count / (len(shifts) * scene.robot.n) for name, count in counts.items()}


# --- what else was tried -------------------------------------------------------------------------


class Tried(CorrectionGroup):
    """Columns that were tried as corrections; none of them has a live form."""

    ridges = (0.1,)

    @classmethod
    def candidates(cls, residuals, joint):
        """See `CorrectionGroup`."""
        return (cls(),)

    @property
    def size(self):
        """See `CorrectionGroup`."""
        return self.count

    def add_to(self, sums, joint, coefficients):
        """Add nothing: what was refused has no live form."""

    def columns(self, robot, signals, joint):
        """See `CorrectionGroup`; parts without a gap begin anew."""
        edges = signals.edges
        parts = [
            self.of_part(robot, signals.part(slice(first, last)), joint)
            for first, last in pairwise(edges)
        ]
        return np.vstack(parts)


class Elasticity(Tried):
    """Rates of the rigid torque: what a joint that bends adds to the motor's inertia, friction."""

    name, count = 'joint elasticity', 2

    def of_part(self, robot, signals, joint):
        """Return first and second derivative of the rigid torque."""
        torque = rigid_torque(robot, signals.motion)[:, joint]
        first = np.gradient(torque) * signals.rate
        return np.column_stack([first, np.gradient(first) * signals.rate])


def memories(signals, inputs, seconds):
    """Return low-passes of first order of columns, for each of some time constants [s]."""
    kept = [np.exp(-1.0 / (signals.rate * constant)) for constant in seconds]
    return np.column_stack([
        lfilter([1.0 - one], [1.0, -one], column) for one in kept for column in inputs.T
    ])


class Creep(Tried):
    """Slow memories of the direction of motion, as friction that creeps after a reversal has."""

    name, count = 'creep', 4

    def of_part(self, robot, signals, joint):
        """Return the direction, remembered for 0.3 to 10 s."""
        direction = np.tanh(signals.motion.dq[:, joint] / 0.02)[:, None]
        return memories(signals, direction, (0.3, 1.0, 3.0, 10.0))


class StateSpace(Tried):
    """Linear states with poles from 20 ms to 1 s, driven by the motion of the joint."""

    name, count = 'linear state space', 20

    def of_part(self, robot, signals, joint):
        """Return the states."""
        motion = signals.motion
        dq = motion.dq[:, joint]
        inputs = np.column_stack([
            np.sin(motion.q[:, joint]), dq, motion.ddq[:, joint], np.tanh(dq / 0.05),
            rigid_torque(robot, motion)[:, joint],
        ])
        return memories(signals, inputs, (0.02, 0.08, 0.3, 1.0))


class Recurrent(Tried):
    """A recurrent network of 60 units with fixed weights, driven by all joints (echo state)."""

    name, count = 'recurrent network', 60

    def of_part(self, robot, signals, joint):
        """Return the units."""
        motion, rng = signals.motion, np.random.default_rng(joint)
        inputs = np.hstack([np.sin(motion.q), motion.dq, np.tanh(motion.dq / 0.05), motion.ddq])
        inputs = inputs / np.maximum(np.std(inputs, axis=0), 1e-9)
        within = rng.normal(size=(self.count, self.count))
        within *= 0.9 / np.max(np.abs(np.linalg.eigvals(within)))
        drive = inputs @ rng.normal(size=(inputs.shape[1], self.count)) * 0.3
        kept, units = np.exp(-20.0 / signals.rate), np.zeros((len(inputs), self.count))
        for row in range(1, len(units)):
            units[row] = kept * units[row - 1] + (1.0 - kept) * np.tanh(
                units[row - 1] @ within + drive[row]
            )
        return units


def try_groups(scene: Scene, plain: IdentifiedModel) -> dict[str, tuple[float, float]]:
    """Return by what factor each changes the unseen error, and in which share of the joints."""
    _, residuals = residuals_of(scene)
    dataset, _ = load_for_model(plain, scene.judged, start=scene.start)
    predicted = predict_effort(plain, dataset)
    before = errors_on(dataset, predicted, dataset.scored, detailed=False).nrmse_mean
    found = {}
    for kind in (Elasticity, Creep, StateSpace, Recurrent):
        effort, taken = predicted.copy(), 0
        for joint in range(scene.robot.n):
            groups = choose_groups(residuals, [kind], joint, Recipe().huber)
            taken += bool(groups)
            for one in fit_groups(residuals, groups, Recipe().huber):
                effort[:, joint] += (
                    one.torque(scene.robot, dataset.correction_signals)
                    * plain.effort_per_torque[joint]
                )
        after = errors_on(dataset, effort, dataset.scored, detailed=False).nrmse_mean
        found[kind.name] = after / before, taken / scene.robot.n
    return found


def whitened_over_plain(scene: Scene) -> float:
    """
    Return by what factor whitening the residuals changes the unseen error of plain laws.

    Rows of each joint are less the row before times the correlation of neighbours, and over the
    deviation that is left, found in three passes.
    """
    plain = scene.fit(friction=PLAIN_FRICTION, corrections='none')
    training, _ = load_for_model(plain, scene.training[0], stop=scene.options.stop)
    judged, _ = load_for_model(plain, scene.judged, start=scene.start)

    def columns(dataset: Dataset) -> np.ndarray:
        W = observation_matrix(plain.robot, plain.parameters, dataset.motion)
        return W[:, plain.reduction.independent].reshape(*dataset.motion.q.shape, -1)

    W, rows = columns(training), training.fitted
    y = training.effort * training.torque_per_effort(plain.robot)
    errors = []
    for whiten in (False, True):
        kept, deviation = np.zeros((2, plain.robot.n))
        deviation += 1.0
        for _ in range(3):
            x, z = (
                ((one[1:].swapaxes(1, -1) - kept * one[:-1].swapaxes(1, -1)) / deviation)
                [rows[1:] & rows[:-1]].swapaxes(1, -1)
                for one in (W, y[:, :, None])
            )
            theta = np.linalg.lstsq(x.reshape(-1, x.shape[-1]), z.ravel(), rcond=None)[0]
            left = (y - W @ theta)[rows]
            kept = np.sum(left[1:] * left[:-1], axis=0) / np.sum(left**2, axis=0) * whiten
            deviation = np.std(left[1:] - kept * left[:-1], axis=0)
        predicted = columns(judged) @ theta / judged.torque_per_effort(plain.robot)
        errors.append(
            errors_on(judged, predicted, judged.scored, detailed=False).nrmse_mean
        )
    return errors[1] / errors[0]


def smoothed(order: int, cutoff: float) -> dict[str, object]:
    """Return the options of kinematics by a filter of an order."""
    return {'kinematic_filter': KinematicFilter(order=order, cutoff=cutoff)}


def low_passed(cutoff: float) -> dict[str, object]:
    """Return the options of an effort that is low-passed before the fit."""
    return {'recipe': Recipe(effort_filter=KinematicFilter(order=2, cutoff=cutoff))}


# A smoother of Rauch, Tung and Striebel of a constant acceleration with white jerk has, away from
# the ends, the response 1 / (1 + (f / cutoff)^6): that of a Butterworth filter of order 3, there
# and back.
OPTIONS: dict[str, Callable[[], dict[str, object]]] = {
    'RTS smoother, 5 Hz': lambda: smoothed(3, 5.0),
    'RTS smoother, 9 Hz': lambda: smoothed(3, 9.0),
    'effort low-passed at 5 Hz': lambda: low_passed(5.0),
    'effort low-passed at 9 Hz': lambda: low_passed(9.0),
}


def try_scene(scene: Scene) -> dict[str, float]:
    """Return the unseen error of each alternative over that of parameters alone."""
    plain = scene.fit(corrections='none')
    before = scene.error(plain)
    found = {
        'corrections': scene.error(scene.fit()) / before,
        'whitened residuals, plain laws': whitened_over_plain(scene),
    }
    for name, make in OPTIONS.items():
        found[name] = scene.error(scene.fit(corrections='none', **make())) / before
    if plain.theta_consistent is not None:
        found['consistent bodies'] = (
            scene.error(plain.with_consistent_parameters()) / before
        )
    for name, (factor, share) in try_groups(scene, plain).items():
        found[name] = factor
        found[f'{name}: joints that accept it'] = share
    return found


def measure(repeats: int) -> list[Figure]:
    """Return what corrections find, what they find in nothing, and what else was tried."""
    seeds = range(1, repeats + 1)
    figures = measure_effects(seeds)
    tried: dict[str, dict[str, float]] = {}
    nulls = []
    for name in ('sticks, velocity loops', 'sticks, torque of the angle'):
        with simulated(name, EFFECTS[name], 1) as scene:
            nulls.append(null_shares(scene))
            tried[name] = try_scene(scene)
    for scene in public_scenes():
        nulls.append(null_shares(scene))
        tried[scene.name] = try_scene(scene)
    figures += [
        Figure(f'shifted residuals: joints with {kind}', '', tuple(one[kind] for one in nulls))
        for kind in CORRECTIONS
    ]
    return figures + [
        Figure(f'{scene}: {name}', '', (value,))
        for scene, found in tried.items() for name, value in found.items()
    ]
