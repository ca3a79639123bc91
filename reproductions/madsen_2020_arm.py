# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A simulated UR5e with elastic joints, recorded with two encoders a joint and identified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from reproductions.elastic import inverse_elastic
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.estimation.estimators.least_squares import WeightedLeastSquares
from robot_identification.estimation.method import IdentifyOptions
from robot_identification.estimation.recipe import Recipe
from robot_identification.estimation.two_encoders import KnownFriction, TwoEncoders
from robot_identification.excitation.design import design_excitation
from robot_identification.excitation.experiment_file import find_experiment, load_experiment
from robot_identification.excitation.optimizers import DEFAULT_OPTIMIZER
from robot_identification.excitation.optimizers.search import Budget
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.friction import StrainWaveFriction
from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.model.kinematic_filter import KinematicFilter
from robot_identification.model.registry import load_robot
from robot_identification.model.regressor import Motion, standard_torque
from robot_identification.model.robot_model import Drives, RobotModel
from robot_identification.pipeline import identify
from robot_identification.processing.loading import load_for_model
from robot_identification.recording.simulated_run import write_simulated_bag
from robot_identification.simulation.ground_truth import (
    draw_truth, GroundTruth, with_elastic_joints, with_static_friction,
)
from robot_identification.simulation.mujoco_robot import Sensors, true_inertial_parameters
from robot_identification.simulation.run import SimulatedRun
from robot_identification.validation.bag_errors import square_over_mean
from robot_identification.validation.joint_stiffness import with_bodies_of_urdf

ROBOT, EXPERIMENT = 'ur5e', 'madsen_2020_ur5e'
# Its equations and numbers are lost in our copy: sections 4.1 and 4.2 have a Butterworth filter of
# order 4 at five times a dynamics of 10 Hz, and keep every 20th of 1000 rows a second.
FILTER, DECIMATION = KinematicFilter(order=4, cutoff=50.0), 20.0
DURATION, RATE = 31.0, 1000.0
# Not published for this arm: those of the UR5 (Porcelli 2020, table 2.5).
GEAR_RATIO, TORQUE_CONSTANTS = 101.0, (0.125, 0.125, 0.125, 0.0922, 0.0922, 0.0922)
# Of every joint [N m/rad]; of the size that strain-wave gears of this size have.
STIFFNESS = 1.0e4
# Friction: Stribeck velocity [rad/s], share of the load, change of viscous friction [1/K].
STRIBECK_VELOCITY, LOAD_SHARE, VISCOUS_SLOPE = 0.1, 0.05, -0.012
# Joints while they are recorded [deg C].
TEMPERATURES = (30.0, 31.0, 32.0, 33.0, 34.0, 35.0)
# Each coefficient of the friction that was found beforehand is off by up to this share.
FRICTION_ERROR = 0.15
TRUTH_SEED, FRICTION_SEED = 0, 1
# Motions: optimizer, seed, evaluations. The first is fitted.
MOTIONS = ((DEFAULT_OPTIMIZER, 0, 100), ('random', 1, 30), ('random', 2, 30), ('random', 3, 30))
FITS = ('two encoders, compensated', 'one encoder, compensated', 'one encoder, not compensated')
# A negative control: friction as it was found beforehand, with its sign turned round.
WRONG_SIGN = 'two encoders, compensated with the wrong sign'


@dataclass(frozen=True, eq=False)
class ElasticArm:
    """
    The arm and what was found of its drives beforehand.

    Attributes
    ----------
    robot : RobotModel
        Description, with drive gains and rotor inertias known as in the paper.
    truth : GroundTruth
        What it really is; masses are up to a fifth from the description.
    friction : mapping of str to tuple of KnownFriction
        The friction of its gears as it was found beforehand, by joint.

    """

    robot: RobotModel
    truth: GroundTruth
    friction: Mapping[str, tuple[KnownFriction, ...]]

    def recipe(self, fit: str) -> Recipe:
        """Return what an identification knows: nothing where it does not compensate."""
        if fit.endswith('not compensated'):
            return Recipe(
                kinematic_filter=FILTER, decimation=DECIMATION, two_encoders=TwoEncoders()
            )
        sign = -1.0 if fit == WRONG_SIGN else 1.0
        known = TwoEncoders('known', {
            joint: tuple(
                replace(one, coefficients=tuple(sign * value for value in one.coefficients))
                for one in of_joint
            )
            for joint, of_joint in self.friction.items()
        })
        return Recipe(kinematic_filter=FILTER, decimation=DECIMATION, two_encoders=known)

    def true_inertial_rows(self, model: IdentifiedModel) -> tuple[IntArray, FloatArray]:
        """Return which base parameters of a model are led by inertial ones, and true values."""
        n, parameters = self.robot.n, model.parameters
        theta = np.zeros(parameters.size)
        theta[: 10 * n] = true_inertial_parameters(self.robot, self.truth)
        theta[parameters.reflected_inertia_slice] = self.truth.reflected_inertia
        rows = np.flatnonzero(model.reduction.independent < 10 * n)
        return rows, model.reduction.K[rows] @ theta


def elastic_arm() -> ElasticArm:
    """Return the arm that is reproduced on."""
    robot = replace(
        load_robot(ROBOT), sampling_rate=RATE,
        drives=Drives(np.full(6, GEAR_RATIO), np.array(TORQUE_CONSTANTS), np.zeros(6)),
    )
    drawn = draw_truth(robot, TRUTH_SEED)
    sticking = with_static_friction(
        replace(
            drawn, drive_gain=robot.drives.drive_gain, stribeck_velocity=STRIBECK_VELOCITY,
            viscous_slope=np.full(robot.n, VISCOUS_SLOPE),
        ),
        load_share=LOAD_SHARE,
    )
    truth = with_elastic_joints(sticking, STIFFNESS)
    inertia = truth.reflected_inertia / GEAR_RATIO**2
    robot = replace(robot, drives=replace(robot.drives, rotor_inertia=inertia))
    return ElasticArm(robot, truth, found_friction(robot, truth))


def true_coefficients(truth: GroundTruth) -> FloatArray:
    """Return the friction of the truth as coefficients of law strain_wave, shape (n, 7)."""
    nothing = np.zeros(len(truth.coulomb))
    assert truth.static is not None and truth.load_share is not None
    assert truth.viscous_slope is not None  # of a truth that elastic_arm has made
    return np.column_stack([
        truth.coulomb, truth.load_share, truth.static - truth.coulomb, nothing, nothing,
        truth.viscous, truth.viscous * truth.viscous_slope,
    ])


def gear_law(truth: GroundTruth) -> StrainWaveFriction:
    """Return the law with the constants of the truth."""
    return StrainWaveFriction(
        velocity=truth.stribeck_velocity, exponent=2.0, width=truth.velocity_width,
        viscous_exponent=1.0, reference=truth.reference_temperature,
    )


def found_friction(robot: RobotModel, truth: GroundTruth) -> dict[str, tuple[KnownFriction, ...]]:
    """Return the friction that sweeps before the experiment found, somewhat wrong."""
    true = true_coefficients(truth)
    wrong = np.random.default_rng(FRICTION_SEED).uniform(
        1.0 - FRICTION_ERROR, 1.0 + FRICTION_ERROR, true.shape
    )
    return {
        joint: (KnownFriction(gear_law(truth), tuple(float(value) for value in row)),)
        for joint, row in zip(robot.joint_names, true * wrong, strict=True)
    }


def design_motions(robot: RobotModel) -> tuple[Trajectory, ...]:
    """Return the motion to estimate from and three others, 31 s each."""
    experiment = load_experiment(find_experiment(EXPERIMENT))
    return tuple(
        design_excitation(
            robot, replace(experiment, optimizer=name, optimizer_options={}), seed=seed,
            budget=Budget(evaluations),
        )
        for name, seed, evaluations in MOTIONS
    )


def record(arm: ElasticArm, trajectory: Trajectory, seed: int) -> SimulatedRun:
    """
    Return what both encoders and the drives measure along a motion of the links, at 1 kHz.

    Parameters
    ----------
    arm : ElasticArm
        The arm; MuJoCo has its bodies, the springs and rotors follow exactly.
    trajectory : Trajectory
        Periodic in its duration.
    seed : int
        Of the noise.

    """
    t = np.arange(round(trajectory.duration * RATE)) / RATE
    links, sensors = trajectory.sample(t), Sensors()
    temperature = np.tile(TEMPERATURES, (len(t), 1))
    drives = inverse_elastic(
        arm.robot, arm.truth, links, trajectory.duration, temperature=temperature
    )
    rng = np.random.default_rng(seed)

    def noisy(values: FloatArray, deviation: FloatArray | float) -> FloatArray:
        return values + deviation * rng.standard_normal(values.shape)

    share, gain = sensors.rotor_share, arm.truth.drive_gain
    return SimulatedRun(
        t,
        (
            noisy(links.q, sensors.position_noise), noisy(links.dq, sensors.velocity_noise),
            noisy(drives.current, sensors.effort_noise * arm.robot.limits.effort / gain),
        ),
        (links.q, links.dq, drives.current),
        (
            noisy(drives.rotor_q, share * sensors.position_noise),
            noisy(drives.rotor_dq, share * sensors.velocity_noise),
        ),
        (drives.rotor_q, drives.rotor_dq),
        temperature=temperature,
    )


def write_bags(arm: ElasticArm, trajectories: tuple[Trajectory, ...], folder: Path) -> None:
    """Write every motion twice: with both encoders, and with those of the links alone."""
    for number, trajectory in enumerate(trajectories):
        run = record(arm, trajectory, number)
        write_simulated_bag(folder / bag_name('two', number), arm.robot, run)
        write_simulated_bag(
            folder / bag_name('one', number), arm.robot,
            replace(run, rotors=None, true_rotors=None),
        )


def bag_name(encoders: str, number: int) -> str:
    """Return the name of a bag, by its encoders and motion."""
    return f'{encoders}_encoders_{number}'


@dataclass(frozen=True, eq=False)
class Scored:
    """
    A model on one motion.

    Attributes
    ----------
    nmse, nmse_cad, nmse_zero : float
        NMSE of the model, of its drives with the bodies of the URDF, and of no model [N m].
    stamps : ndarray, shape (N,)
        [s].
    measured, predicted, cad : ndarray, shape (N, n)
        Joint torques [N m].

    """

    nmse: float
    nmse_cad: float
    nmse_zero: float
    stamps: FloatArray
    measured: FloatArray
    predicted: FloatArray
    cad: FloatArray

    @property
    def improvement(self) -> float:
        """Return how much less the NMSE is than with the bodies of the URDF [%]."""
        return 100.0 * (1.0 - self.nmse / self.nmse_cad)


@dataclass(frozen=True, eq=False)
class Calibration:
    """
    A model and how it does.

    Attributes
    ----------
    model : IdentifiedModel
        Identified from the first motion.
    rows : int
        Rows that were fitted, of each joint.
    deviations : ndarray, shape (36,)
        Inertial base parameters less their true values, over their standard errors.
    scores : tuple of Scored
        On all motions, the first being the one it was estimated from.

    """

    model: IdentifiedModel
    rows: int
    deviations: FloatArray
    scores: tuple[Scored, ...]


def calibrate(arm: ElasticArm, fit: str, folder: Path) -> Calibration:
    """
    Identify the arm from the first motion, and predict all.

    Parameters
    ----------
    arm : ElasticArm
        The arm.
    fit : str
        One of FITS, or WRONG_SIGN.
    folder : Path
        With the bags.

    """
    encoders = fit.split()[0]
    found = identify(
        arm.robot, [folder / bag_name(encoders, 0)],
        IdentifyOptions(
            estimator=WeightedLeastSquares(reweightings=1), friction='coulomb_sign,viscous',
            recipe=arm.recipe(fit),
        ),
    )
    model, problem = found.model, found.estimate.problem
    assert problem is not None  # of an estimate that was just made
    rows, true = arm.true_inertial_rows(model)
    return Calibration(
        model, int(problem.samples[0]),
        (model.theta_base[rows] - true) / model.standard_errors[rows],
        tuple(
            score(model, folder / bag_name(encoders, number)) for number in range(len(MOTIONS))
        ),
    )


def score(model: IdentifiedModel, bag: Path) -> Scored:
    """Return how a model predicts the raw torques of a bag, and how others would."""
    dataset, _ = load_for_model(model, bag)
    measured = dataset.effort * model.robot.drives.drive_gain
    predicted = model.torque(dataset.motion)
    cad = standard_torque(
        model.robot, model.parameters, with_bodies_of_urdf(model), dataset.motion
    )
    return Scored(
        square_over_mean(measured, measured - predicted),
        square_over_mean(measured, measured - cad),
        square_over_mean(measured, measured),
        dataset.stamps, measured, predicted, cad,
    )


def friction_curve(
    arm: ElasticArm, model: IdentifiedModel, joint: int, speeds: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """
    Return the friction of a joint without load at steady speeds.

    Parameters
    ----------
    arm : ElasticArm
        For the truth and what was known.
    model : IdentifiedModel
        For what was found.
    joint : int
        From 0.
    speeds : ndarray, shape (m,)
        [rad/s].

    Returns
    -------
    true, known, found : ndarray, shape (m,)
        [N m].

    """
    truth, n = arm.truth, arm.robot.n
    dq = np.zeros((len(speeds), n))
    dq[:, joint] = speeds
    temperature = np.tile(TEMPERATURES, (len(speeds), 1))
    true = truth.friction(dq, np.zeros(dq.shape), temperature)[:, joint]
    motion = Motion(np.zeros(dq.shape), dq, np.zeros(dq.shape), temperature)
    theta = model.theta_lifted.copy()
    # Without bodies nothing is left but friction, and that has no load.
    theta[: 10 * n] = 0.0
    found = standard_torque(arm.robot, model.parameters, theta, motion)[:, joint]
    for term, columns in model.parameters.friction_columns:
        if term.law.name != 'strain_wave':
            theta[columns] = 0.0
    known = standard_torque(arm.robot, model.parameters, theta, motion)[:, joint]
    return true, known, found
