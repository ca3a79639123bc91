# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
Madsen et al. on a simulated UR5e with elastic joints and two encoders a joint.

Base set, rotor compensation and accuracy: the arm is recorded with both encoders and with those
of the links alone, identified, and compared with the bodies of CAD.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from reproductions.elastic import inverse_elastic
from reproductions.known_motion import map_base_parameters
from reproductions.paper import Cell, Paper, Pieces, printed_values, Report
from robot_identification.arrays import FloatArray, IntArray
from robot_identification.estimation import IdentifyOptions, Recipe, WeightedLeastSquares
from robot_identification.estimation.two_encoders import KnownFriction, TwoEncoders
from robot_identification.excitation import (
    Budget, design_excitation, find_experiment, load_experiment, Trajectory,
)
from robot_identification.excitation.optimizers import DEFAULT_OPTIMIZER
from robot_identification.model import (
    BaseReduction, find_symbols, IdentifiedModel, KinematicFilter, linear_classes, link_frames,
    load_robot, make_standard_parameters, PUBLISHED_ORDERS, published_rows, reduce_to_base,
    RobotModel, standard_torque, to_text, upper_bound,
)
from robot_identification.model.friction import StrainWaveFriction
from robot_identification.model.robot_model import Drives
from robot_identification.pipeline import identify
from robot_identification.processing import decimation_step, load_for_model
from robot_identification.recording import write_simulated_bag
from robot_identification.simulation import (
    draw_truth, GroundTruth, Sensors, SimulatedRun, true_inertial_parameters, with_elastic_joints,
    with_static_friction,
)
from robot_identification.validation import square_over_mean
from robot_identification.validation.joint_stiffness import with_bodies_of_urdf

printed = printed_values('madsen_2020')
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
WALL = (0.0, -9.81, 0.0)
# Cut-off that keeping every 20th of 1000 rows a second implies [Hz].
CUTOFF = 20.0
# Up to this factor sizes of errors of two arms are the same.
SIZE = 2.0


@dataclass(frozen=True, eq=False)
class Findings:
    """The numbers of a reproduction that the paper says something about."""

    appear: int  # inertial parameters that have an effect
    base: int  # base parameters
    wall: int  # the same on a wall
    bound: int  # base parameters by the formula
    appear_standard: int  # parameters that have an effect, in standard frames
    bound_wall: int  # base parameters by the formula on a wall
    step: int  # rows of which one is kept
    step_twice: int  # the same with twice the cut-off
    samples: int  # rows that this leaves of the motion
    fits: dict[str, Calibration]  # by the names in FITS
    wrong_sign: Calibration  # with the friction known beforehand turned round
    relative: np.ndarray  # relative standard deviations of the base parameters [%], shape (36,)
    stiffness: float  # true stiffness [N m/rad]


def reproduce(paper: Paper, report: Report, pieces: Pieces) -> None:
    """Add the paper's results beside those of the simulated arm; there are no long searches."""
    report(0.0, 'motions')
    arm = elastic_arm()
    motions = design_motions(arm.robot)
    fits = {}
    with TemporaryDirectory() as folder:
        report(0.35, 'recordings')
        write_bags(arm, motions, Path(folder))
        for number, fit in enumerate((*FITS, WRONG_SIGN)):
            report(0.5 + 0.1 * number, fit)
            fits[fit] = calibrate(arm, fit, Path(folder))
    wrong = fits.pop(WRONG_SIGN)
    report(0.92, 'tables')
    compensated = fits[FITS[0]]
    base = list(base_rows(arm, compensated))
    step = decimation_step(RATE, CUTOFF)
    wall = load_robot(ROBOT, gravity=WALL)
    add_claims(paper, Findings(
        appear=count_appearing(arm.robot, 'mdh'),
        appear_standard=count_appearing(arm.robot, 'dh'),
        base=inertial_reduction(arm.robot, 'mdh').rank,
        wall=inertial_reduction(wall, 'mdh').rank,
        bound=upper_bound(arm.robot),
        bound_wall=upper_bound(wall),
        step=step,
        step_twice=decimation_step(RATE, 2.0 * CUTOFF),
        samples=round(DURATION * RATE) // step,
        fits=fits,
        wrong_sign=wrong,
        relative=np.array([row[-1] for row in base]),
        stiffness=STIFFNESS,
    ))
    paper.table('counts', counts_rows(arm.robot, wall))
    paper.table('base', base)
    paper.table('accuracy', accuracy_rows(compensated))
    paper.table('encoders', encoders_rows(fits))
    quality = compensated.model.quality['two_encoders']
    paper.table('stiffness', (
        (name, STIFFNESS / 1000.0, float(value) / 1000.0, float(error) / 1000.0)
        for name, value, error in zip(
            arm.robot.joint_names, quality['stiffness'], quality['stiffness_standard_errors'],
            strict=True,
        )
    ))
    first, drawn = compensated.scores[1], slice(None, None, 50)
    paper.picture(
        'calibrated', first.stamps[drawn], {
            'measured': first.measured[drawn], 'predicted': first.predicted[drawn],
            'error': (first.measured - first.predicted)[drawn],
        }, [f'joint {joint}' for joint in range(1, 7)],
    )
    paper.misprints()


def inertial_reduction(robot: RobotModel, frames: str) -> BaseReduction:
    """Return the base parameters of the bodies alone."""
    return reduce_to_base(
        robot, make_standard_parameters(robot.n, (), False), frames=link_frames(robot, frames)
    )


def count_appearing(robot: RobotModel, frames: str) -> int:
    """Return how many of the 60 inertial parameters have an effect, stated in some frames."""
    classes = linear_classes(inertial_reduction(robot, frames))
    return len(classes['identifiable']) + len(classes['combined'])


def counts_rows(ground: RobotModel, wall: RobotModel) -> Iterator[tuple[Cell, ...]]:
    """Yield tables 2 and 3 in numbers: what appears and what is a base parameter."""
    for frames, name in (('mdh', 'modified'), ('dh', 'standard')):
        for mounted, arm, base in (('on the ground', ground, 36), ('on a wall', wall, 38)):
            is_printed = arm is ground and frames == 'mdh'
            yield (
                f'{name} frames, {mounted}', 49 if is_printed else None,
                count_appearing(arm, frames), base, inertial_reduction(arm, frames).rank,
                upper_bound(arm),
            )


def base_rows(arm: ElasticArm, calibration: Calibration) -> Iterator[tuple[Cell, ...]]:
    """Yield tables 3 and 4: the base parameters in modified frames, with values and errors."""
    robot, model = arm.robot, calibration.model
    published, ours = (inertial_reduction(robot, frames) for frames in ('mdh', 'joint'))
    back = np.asarray(
        np.linalg.inv(link_frames(robot, 'mdh').to_joint_frames()), dtype=np.float64
    )
    M = map_base_parameters(ours, published, back)
    rows = [model.reduction.names.index(name) for name in ours.names]
    theta = M @ model.theta_base[rows]
    errors = np.sqrt(np.diag(M @ model.covariance[np.ix_(rows, rows)] @ M.T))
    true = published.K @ back @ true_inertial_parameters(robot, arm.truth)
    found = find_symbols(robot, published, link_frames(robot, 'mdh'))
    for place, row in enumerate(published_rows(published, PUBLISHED_ORDERS['madsen']), start=1):
        yield (
            place, to_text(found.expressions[row]), float(true[row]), float(theta[row]),
            float(errors[row]), float(100.0 * errors[row] / abs(theta[row])),
        )


def accuracy_rows(calibration: Calibration) -> Iterator[tuple[Cell, ...]]:
    """Yield the results of section 4.6 and table 5: NMSE with CAD and with what was found."""
    said: tuple[tuple[Cell, ...], ...] = (
        (printed.nmse_cad, printed.nmse, printed.improvement), *3 * ((None, None, '16.5 to 28.5'),)
    )
    names = ('estimation', *(f'validation {number}' for number in range(1, 4)))
    for name, paper, score in zip(names, said, calibration.scores, strict=True):
        yield (name, *paper, score.nmse_zero, score.nmse_cad, score.nmse, score.improvement)


def encoders_rows(fits: Mapping[str, Calibration]) -> Iterator[tuple[Cell, ...]]:
    """Yield what the second encoder and the compensation are worth."""
    for name, fit in fits.items():
        yield (
            name, *(score.nmse for score in fit.scores), fit.scores[0].improvement,
            min(score.improvement for score in fit.scores[1:]),
            float(np.abs(fit.deviations).max()), float(np.sqrt(np.mean(fit.deviations**2))),
        )


def add_claims(paper: Paper, found: Findings) -> None:
    """Add what the paper says, with ours and the outcome."""
    paper.compare('appear', found.appear, found.appear_standard)
    paper.compare('base', found.base, found.wall)
    paper.compare('formula', found.bound, found.bound_wall)
    paper.compare('wall', found.wall, found.base)
    paper.compare('decimation', found.step, found.step_twice)
    paper.compare('rows', found.samples, found.samples * found.step // found.step_twice)
    least, count = printed.relative_deviations[0], len(printed.relative_deviations)
    uncertain, any_size = (int(np.sum(found.relative > limit)) for limit in (least - 0.5, 1.0))
    paper.statement(
        'relative', uncertain == count, any_size != count, uncertain=uncertain,
        size=printed.base_size, any_size=any_size,
    )
    _claim_accuracy(paper, found)
    _claim_encoders(paper, found)


def _claim_accuracy(paper: Paper, found: Findings) -> None:
    fitted, *unseen = found.fits['two encoders, compensated'].scores
    gains = [one.improvement for one in unseen]
    turned = [turned_improvement(one) for one in unseen]
    share = printed.nmse / printed.nmse_cad
    paper.compare('improvement_printed', 100.0 * (1.0 - share), 100.0 * (1.0 - np.sqrt(share)))
    _claim_size(paper, 'the bodies of CAD', printed.nmse_cad, fitted.nmse_cad, fitted.nmse)
    _claim_size(paper, 'the identified bodies', printed.nmse, fitted.nmse, fitted.nmse_cad)
    paper.untested('improvement', found=fitted.improvement)
    paper.statement(
        'unseen', min(gains) > 0.0, max(turned) <= 0.0, least=min(gains), most=max(gains),
        turned=min(turned), most_turned=max(turned),
    )
    paper.statement(
        'less_than_half', max(gains) < 0.5 * fitted.improvement, least=min(gains),
        most=max(gains), fitted=fitted.improvement,
    )


def turned_improvement(scored: Scored) -> float:
    """Return the improvement over CAD where its correction has the wrong sign [%]."""
    wrong = 2.0 * scored.cad - scored.predicted
    nmse = square_over_mean(scored.measured, scored.measured - wrong)
    return 100.0 * (1.0 - nmse / scored.nmse_cad)


def _claim_size(paper: Paper, model: str, nmse: float, ours: float, other: float) -> None:
    """Add the claim that a printed NMSE is a sum over rows; control is the other model."""
    summed = nmse / printed.samples

    def is_of_size(value: float) -> bool:
        return bool(1.0 / SIZE <= summed / value <= SIZE)

    paper.statement(
        'size', is_of_size(ours), not is_of_size(other), model=model, printed_nmse=nmse,
        found=ours, summed=printed.samples * ours, samples=printed.samples, mean=summed,
        other=summed / other,
    )


def _claim_encoders(paper: Paper, found: Findings) -> None:
    two, one, plain = (fit.scores for fit in found.fits.values())
    quality = found.fits['two encoders, compensated'].model.quality['two_encoders']
    apart = np.abs(quality['stiffness'] - found.stiffness) / quality['stiffness_standard_errors']
    gain, all_of_it, turned = (
        [100.0 * (1.0 - a.nmse / b.nmse) for a, b in zip(*pair, strict=True)]
        for pair in ((two, one), (two, plain), (found.wrong_sign.scores, plain))
    )
    paper.statement(
        'compensation', min(all_of_it) > 0.0, min(turned) <= 0.0, least=min(all_of_it),
        most=max(all_of_it), turned=min(turned), most_turned=max(turned),
    )
    paper.untested('second_encoder', least=min(gain), most=max(gain))
    paper.untested(
        'stiffness', least=quality['stiffness'].min(), most=quality['stiffness'].max(),
        true=found.stiffness, apart=apart.max(),
    )


@dataclass(frozen=True, eq=False)
class ElasticArm:
    """The arm and what was found of its drives beforehand."""

    robot: RobotModel  # description, with drive gains and rotor inertias known as in the paper
    truth: GroundTruth  # what it really is; masses are up to a fifth from the description
    # The friction of its gears as it was found beforehand, by joint.
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
    """Return what both encoders and the drives measure along a motion of the links, at 1 kHz."""
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
    """A model on one motion."""

    nmse: float  # of the model [N m]
    nmse_cad: float  # of its drives with the bodies of the URDF [N m]
    nmse_zero: float  # of no model [N m]
    stamps: FloatArray  # [s], shape (N,)
    measured: FloatArray  # joint torques [N m], shape (N, n)
    predicted: FloatArray  # by the model
    cad: FloatArray  # with the bodies of the URDF

    @property
    def improvement(self) -> float:
        """Return how much less the NMSE is than with the bodies of the URDF [%]."""
        return 100.0 * (1.0 - self.nmse / self.nmse_cad)


@dataclass(frozen=True, eq=False)
class Calibration:
    """A model and how it does."""

    model: IdentifiedModel  # identified from the first motion
    rows: int  # rows that were fitted, of each joint
    # Inertial base parameters less their true values, over their standard errors, shape (36,).
    deviations: FloatArray
    scores: tuple[Scored, ...]  # on all motions, the first being the one it was estimated from


def calibrate(arm: ElasticArm, fit: str, folder: Path) -> Calibration:
    """Identify the arm from the first motion, and predict all."""
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
