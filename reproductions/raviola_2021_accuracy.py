# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Tables 3 and 8 of Raviola et al. 2021 on simulated arms: errors before and after, mountings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
import time

import numpy as np
from reproductions.known_motion import known_problem, map_base_parameters, torque_of_base
from reproductions.pieces import Pieces
from reproductions.raviola_2021_arms import (
    delay_effort, identify_run, load_arm, LS, manufacturer_torque, read_for, record, ROTOR_SHARES,
    Score, WLS,
)
from reproductions.raviola_2021_motions import Motions
from reproductions.raviola_2021_printed import ROBOTS, TITLES
from reproductions.raviola_2021_structure import (
    find_structure, ORDER, published_observations, Structure,
)
from robot_identification.arrays import FloatArray
from robot_identification.estimation.estimators.least_squares import OrdinaryLeastSquares
from robot_identification.estimation.judgement import Identification
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.frames import link_frames
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.regressor import Motion
from robot_identification.recording.simulated_run import simulate
from robot_identification.simulation.ground_truth import prior_truth
from robot_identification.simulation.mujoco_robot import inverse_dynamics, NOISE_FREE
from robot_identification.validation.bag_errors import normalized_error

TRAINING_NOISE, VALIDATION_NOISE = 1, 2
# Samples by which the current may be late, at 8 ms each.
DELAYS = (0, 3, 6, 9, 12)
SAMPLE = 0.008
# Rotor inertias of the last four joints by size of rotor, a row for each motion [kg m^2].
RotorTrials = dict[str, list[list[float]]]
# The last four joints, whose rotor inertias the paper finds negative.
ROTORS = (2, 3, 4, 5)


@dataclass(frozen=True, eq=False)
class Arm:
    """
    One arm before and after identification.

    Attributes
    ----------
    found : Identification
        By least squares.
    weighted : Identification
        By the paper's weighted ones.
    score : Score
        The validation recording.
    before, after, after_weighted : ndarray, shape (N, n)
        Predicted torques [N m].
    structure : Structure
        The paper's base parameters.
    values, errors, unit_errors : ndarray, shape (52,)
        Of these, in the order of appendix A: value, standard error, and the paper's d_i.

    """

    found: Identification
    weighted: Identification
    score: Score
    before: FloatArray
    after: FloatArray
    after_weighted: FloatArray
    structure: Structure
    values: FloatArray
    errors: FloatArray
    unit_errors: FloatArray

    @property
    def normalized_errors(self) -> tuple[float, ...]:
        """Return the paper's e_N before, by LS and by WLS [N m]."""
        return tuple(
            error_of(self.score.measured - predicted)
            for predicted in (self.before, self.after, self.after_weighted)
        )


@dataclass(frozen=True, eq=False)
class Mountings:
    """
    The noise-free UR5 under a ceiling.

    Attributes
    ----------
    score : Score
        Recorded under the ceiling.
    ceiling, ground : ndarray, shape (N, n)
        Torques by the regressor of either mounting [N m].
    errors : tuple of float
        The paper's e_N: ground, ceiling, ground against ceiling [N m].
    exact : tuple of float
        The same where the motion is known exactly, instead of recorded 125 times a second.

    """

    score: Score
    ceiling: FloatArray
    ground: FloatArray
    errors: tuple[float, ...]
    exact: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Accuracy:
    """
    Sections 4, 5 and 7 on simulated arms.

    Attributes
    ----------
    arms : mapping of str to Arm
        By name.
    delayed : mapping of str to mapping of int to ndarray, shape (4,)
        Rotor inertias from currents that are late, by arm and samples of delay.
    rotors : mapping of str to RotorTrials
        Rotor inertias by least squares, by arm.
    mountings : Mountings
        The arm under a ceiling.

    """

    arms: Mapping[str, Arm]
    delayed: Mapping[str, Mapping[int, FloatArray]]
    rotors: Mapping[str, RotorTrials]
    mountings: Mountings


def error_of(residual: FloatArray) -> float:
    """Return the paper's normalized error over the points of a motion [N m]."""
    _, total = normalized_error(residual)
    return total * int(residual.shape[1])


def unit_errors(structure: Structure, score: Score) -> FloatArray:
    """Return the roots of the diagonal of (W'W)^-1 in the order of appendix A, shape (52,)."""
    W = published_observations(structure, score.motion)[:, structure.reduction.independent]
    triangle = np.linalg.qr(W, mode='r')
    inverse = np.linalg.solve(triangle, np.eye(len(triangle)))
    errors: FloatArray = np.linalg.norm(inverse, axis=1)[structure.rows]
    return errors


def published_values(
    model: IdentifiedModel, structure: Structure
) -> tuple[FloatArray, FloatArray]:
    """Return base parameters and standard errors in the order of appendix A, each (52,)."""
    T = link_frames(model.robot, ORDER.frames).to_joint_frames()
    M = map_base_parameters(
        model.reduction, structure.reduction,
        np.asarray(np.linalg.solve(T, np.eye(len(T))), dtype=float),
    )
    errors = np.sqrt(np.diag(M @ model.covariance @ M.T))
    return (M @ model.theta_base)[structure.rows], errors[structure.rows]


def study_arm(name: str, motions: Motions) -> Arm:
    """Identify one arm by both methods, and predict a motion that neither has seen."""
    robot = load_arm(name)
    run = record(robot, motions.excitation[name], seed=TRAINING_NOISE)
    found, weighted = (identify_run(robot, run, method) for method in (LS, WLS))
    score = read_for(found.model, record(robot, motions.validation[name], seed=VALIDATION_NOISE))
    structure = find_structure(name, parameters=found.model.parameters)
    values, errors = published_values(found.model, structure)
    return Arm(
        found, weighted, score, manufacturer_torque(robot, score.motion),
        found.model.torque(score.motion), weighted.model.torque(score.motion), structure,
        values, errors, unit_errors(structure, read_for(found.model, run)),
    )


def rotor_inertias(model: IdentifiedModel) -> FloatArray:
    """Return the rotor inertias of the last four joints on the joint's side [kg m^2]."""
    names = list(model.reduction.names)
    rows = [names.index(f'Ia{joint + 1}') for joint in ROTORS]
    inertias: FloatArray = model.theta_base[rows]
    return inertias


def delayed_rotors(name: str, motions: Motions) -> dict[int, FloatArray]:
    """Return the rotor inertias that are identified from late currents, by samples of delay."""
    robot = load_arm(name)
    run = record(robot, motions.excitation[name], seed=TRAINING_NOISE)
    return {
        samples: rotor_inertias(identify_run(robot, delay_effort(run, samples)).model)
        for samples in DELAYS
    }


def try_rotors(name: str, motions: Motions, pieces: Pieces) -> RotorTrials:
    """Return the rotor inertias that least squares find, small and large, with every motion."""
    robot = load_arm(name)

    def identified(trajectory: Trajectory, rotor_share: float) -> list[float]:
        once = replace(trajectory, periods=1)
        run = record(robot, once, rotor_share=rotor_share, seed=TRAINING_NOISE)
        values: list[float] = rotor_inertias(identify_run(robot, run).model).tolist()
        return values

    return {
        size: [
            pieces.get(f'rotors_{name}_{size}_{seed}', partial(identified, trajectory, share))
            for seed, trajectory in enumerate(motions.found[name])
        ]
        for size, share in ROTOR_SHARES.items()
    }


def study_mountings(motions: Motions) -> Mountings:
    """
    Repeat the experiment of section 7 on an arm without noise and friction, like URSim.

    Parameters are identified on the ground; the regressor of the ceiling, or wrongly that of the
    ground, then predicts the motion under the ceiling.
    """
    ground, ceiling = load_arm('ur5'), load_arm('ur5', 'ceiling')
    truth = prior_truth(ground)
    model = identify_run(
        ground, simulate(ground, motions.excitation['ur5'], truth, NOISE_FREE)
    ).model
    scores = {
        mounting: read_for(model, simulate(robot, motions.validation['ur5'], truth, NOISE_FREE))
        for mounting, robot in (('ground', ground), ('ceiling', ceiling))
    }
    hung = replace(model, robot=model.robot.with_gravity(ceiling.gravity))
    standing = model.torque(scores['ground'].motion)
    right, wrong = (one.torque(scores['ceiling'].motion) for one in (hung, model))
    return Mountings(
        scores['ceiling'], right, wrong,
        (
            error_of(scores['ground'].measured - standing),
            error_of(scores['ceiling'].measured - right),
            error_of(scores['ceiling'].measured - wrong),
        ),
        exact_mountings(
            model, *(
                trajectory.sample(trajectory.times(1.0 / SAMPLE))
                for trajectory in (motions.excitation['ur5'], motions.validation['ur5'])
            ),
        ),
    )


def exact_mountings(model: IdentifiedModel, training: Motion, unseen: Motion) -> tuple[float, ...]:
    """
    Return the errors of section 7 where motions and torques are known exactly.

    Parameters
    ----------
    model : IdentifiedModel
        Of the arm on the ground; only its set of base parameters is used.
    training, unseen : Motion
        To identify from, and to predict.

    Returns
    -------
    tuple of float
        Ground, ceiling, regressor of the ground under the ceiling [N m].

    """
    arms = {mounting: load_arm('ur5', mounting) for mounting in ('ground', 'ceiling')}
    truth = prior_truth(arms['ground'])

    def torque(mounting: str, motion: Motion) -> FloatArray:
        return inverse_dynamics(arms[mounting], truth, motion)

    problem = known_problem(
        arms['ground'], model.reduction, training, torque('ground', training), 1.0 / SAMPLE
    )
    theta = OrdinaryLeastSquares().estimate(problem).theta
    return tuple(
        error_of(
            torque(true, unseen) - torque_of_base(arms[used], model.reduction, theta, unseen)
        )
        for true, used in (('ground', 'ground'), ('ceiling', 'ceiling'), ('ceiling', 'ground'))
    )


def solving_times(arm: Arm) -> tuple[float, ...]:
    """Return how long both estimators take from the same rows [s]; never written to files."""
    times = []
    for options in (LS, WLS):
        datasets = arm.found.datasets
        rows = options.observe(
            arm.found.model.robot, options.laws[0], datasets, [data.fitted for data in datasets]
        )
        started = time.perf_counter()
        options.used_estimator.estimate(rows.factor())
        times.append(time.perf_counter() - started)
    return tuple(times)


def study_accuracy(
    motions: Motions, report: Callable[[float, str], None], pieces: Pieces
) -> Accuracy:
    """Return sections 4, 5 and 7 on simulated arms; `report` as that of a reproduction."""
    arms = {}
    for number, name in enumerate(ROBOTS):
        report(0.2 * number, f'identifying the {TITLES[name]}')
        arms[name] = study_arm(name, motions)
    plain, weighted = solving_times(arms['ur5'])
    report(0.5, f'late currents (least squares took {plain:.3f} s, weighted {weighted:.3f} s)')
    delayed = {name: delayed_rotors(name, motions) for name in ROBOTS}
    report(0.6, 'small and large rotors')
    rotors = {name: try_rotors(name, motions, pieces) for name in ROBOTS}
    report(0.9, 'the UR5 under a ceiling')
    return Accuracy(arms, delayed, rotors, study_mountings(motions))
