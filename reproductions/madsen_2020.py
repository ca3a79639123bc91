# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Madsen et al. on a UR5e with two encoders a joint: base set, rotor compensation, accuracy."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from reproductions.known_motion import map_base_parameters
from reproductions.madsen_2020_arm import (
    calibrate, Calibration, design_motions, DURATION, elastic_arm, ElasticArm, FITS, RATE, ROBOT,
    STIFFNESS, write_bags, WRONG_SIGN,
)
from reproductions.madsen_2020_figures import draw_friction, draw_motion, draw_torques
from reproductions.madsen_2020_findings import (
    find_claims, Findings, IMPROVEMENT, MISPRINTS, NMSE, NMSE_CAD,
)
from reproductions.pieces import Pieces
from reproductions.reproduction import Cell, Report, Reproduction, Table
from robot_identification.excitation.trajectory import Trajectory
from robot_identification.model.base_parameters import (
    BaseReduction, reduce_to_base, upper_bound,
)
from robot_identification.model.base_structure import (
    find_symbols, linear_classes, PUBLISHED_ORDERS, published_rows, to_text,
)
from robot_identification.model.frames import link_frames
from robot_identification.model.parameters import make_standard_parameters
from robot_identification.model.registry import load_robot
from robot_identification.model.robot_model import RobotModel
from robot_identification.processing import decimation_step
from robot_identification.simulation.mujoco_robot import true_inertial_parameters

TITLE = 'Madsen et al. 2020: a UR5e with two encoders a joint'
REFERENCE = (
    'E. Madsen, S. A. Timm, N. A. Ujfalusi, O. S. Rosenlund, D. Brandt and X. Zhang, "Dynamics '
    'parametrization and calibration of flexible-joint collaborative industrial robot '
    'manipulators", Mathematical Problems in Engineering, 2020'
)
WALL = (0.0, -9.81, 0.0)
# Cut-off that keeping every 20th of 1000 rows a second implies [Hz].
CUTOFF = 20.0
KILO = 1000.0
MOTION_NAMES = ('estimation', 'validation 1', 'validation 2', 'validation 3')


def reproduce(report: Report, pieces: Pieces) -> Reproduction:
    """
    Return the paper's results beside those of the simulated arm.

    Parameters
    ----------
    report : callable
        Is told the share that is done, from 0 to 1, and the stage.
    pieces : Pieces
        Of other reproductions; this one has no long searches.

    """
    report(0.0, 'base parameters')
    arm = elastic_arm()
    report(0.05, 'motions')
    motions = design_motions(arm.robot)
    fits = {}
    with TemporaryDirectory() as folder:
        report(0.35, 'recordings')
        write_bags(arm, motions, Path(folder))
        for number, fit in enumerate((*FITS, WRONG_SIGN)):
            report(0.5 + 0.1 * number, fit)
            fits[fit] = calibrate(arm, fit, Path(folder))
        wrong = fits.pop(WRONG_SIGN)
    report(0.92, 'tables and figures')
    compensated = fits[FITS[0]]
    base = base_table(arm, compensated)
    first = compensated.scores[1]
    step = decimation_step(RATE, CUTOFF)
    wall = load_robot(ROBOT, gravity=WALL)
    findings = Findings(
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
        relative=np.array([row[base.columns.index('relative [%]')] for row in base.rows]),
        stiffness=STIFFNESS,
    )
    return Reproduction(
        'madsen_2020',
        (
            counts_table(arm.robot), base, motions_table(motions, compensated),
            accuracy_table(compensated), encoders_table(fits), stiffness_table(arm, compensated),
        ),
        (
            draw_motion(motions[0]),
            draw_torques(
                'calibrated', 'Figures 7 to 12: torques of motion 1 by the identified model',
                first, first.predicted,
            ),
            draw_torques(
                'cad', 'Figures 13 to 18: torques of motion 1 with the bodies of CAD', first,
                first.cad,
            ),
            *draw_friction(arm, compensated.model),
        ),
        find_claims(findings),
        MISPRINTS,
    )


def inertial_reduction(robot: RobotModel, frames: str) -> BaseReduction:
    """Return the base parameters of the bodies alone."""
    return reduce_to_base(
        robot, make_standard_parameters(robot.n, (), False), frames=link_frames(robot, frames)
    )


def count_appearing(robot: RobotModel, frames: str) -> int:
    """Return how many of the 60 inertial parameters have an effect, stated in some frames."""
    classes = linear_classes(inertial_reduction(robot, frames))
    return len(classes['identifiable']) + len(classes['combined'])


def counts_table(robot: RobotModel) -> Table:
    """Return tables 2 and 3 in numbers: what appears and what is a base parameter."""
    wall = load_robot(ROBOT, gravity=WALL)
    rows: list[tuple[Cell, ...]] = []
    for frames, name in (('mdh', 'modified'), ('dh', 'standard')):
        for mounted, arm in (('on the ground', robot), ('on a wall', wall)):
            is_printed = mounted == 'on the ground' and frames == 'mdh'
            rows.append((
                f'{name} frames, {mounted}', 49 if is_printed else None,
                count_appearing(arm, frames),
                {'on the ground': 36, 'on a wall': 38}[mounted],
                inertial_reduction(arm, frames).rank, upper_bound(arm),
            ))
    return Table(
        'counts', 'Tables 2 and 3 in numbers: inertial parameters of the UR5e',
        ('frames and mounting', 'appear, paper', 'appear', 'base, paper', 'base', 'base, formula'),
        tuple(rows),
        'The numbers of base parameters do not depend on the frames, what appears does.',
    )


def base_table(arm: ElasticArm, calibration: Calibration) -> Table:
    """Return tables 3 and 4: the base parameters in modified frames, with values and errors."""
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
    return Table(
        'base', 'Tables 3 and 4: base parameters, two encoders',
        (
            'number', 'expression, derived here', 'true', 'found', 'standard error',
            'relative [%]',
        ),
        tuple(
            (
                place, to_text(found.expressions[row]), float(true[row]), float(theta[row]),
                float(errors[row]), float(100.0 * errors[row] / abs(theta[row])),
            )
            for place, row in enumerate(
                published_rows(published, PUBLISHED_ORDERS['madsen']), start=1
            )
        ),
        'The order is that of the reference which the paper takes its rules from; its own table '
        'is lost. SI units.',
    )


def motions_table(motions: tuple[Trajectory, ...], calibration: Calibration) -> Table:
    """Return what the four motions are like."""
    rows: list[tuple[Cell, ...]] = []
    for name, motion in zip(MOTION_NAMES, motions, strict=True):
        speeds = np.abs(motion.sample(np.linspace(0.0, motion.duration, 3101)).dq).max(axis=0)
        rows.append((
            name, float(motion.duration),
            float(motion.certificate['criteria_dense']['condition_number']),
            float(speeds.min()), float(speeds.max()),
        ))
    return Table(
        'motions', 'The motions',
        (
            'motion', 'duration [s]', 'condition number', 'speed of the slowest joint [rad/s]',
            'of the fastest joint [rad/s]',
        ),
        tuple(rows),
        f'At 1 kHz; {calibration.rows} rows of each joint were fitted after decimation, samples '
        'at rest before the first motion and after the last one left out. Condition numbers are '
        'of the 36 base parameters with friction and rotors.',
    )


def accuracy_table(calibration: Calibration) -> Table:
    """Return the results of section 4.6 and table 5: NMSE with CAD and with what was found."""
    printed: tuple[tuple[Cell, ...], ...] = (
        (NMSE_CAD, NMSE, IMPROVEMENT), *3 * ((None, None, '16.5 to 28.5'),)
    )
    return Table(
        'accuracy', 'Section 4.6 and table 5: NMSE [N m], CAD against identified',
        (
            'motion', 'CAD, paper', 'identified, paper', 'improvement, paper [%]',
            'no model', 'CAD', 'identified', 'improvement [%]',
        ),
        tuple(
            (
                name, *paper, score.nmse_zero, score.nmse_cad, score.nmse, score.improvement,
            )
            for name, paper, score in zip(
                MOTION_NAMES, printed, calibration.scores, strict=True
            )
        ),
        'CAD is the description of the arm, with the drives of the identified model. Errors are '
        'taken on the raw torques, noise included.',
    )


def encoders_table(fits: dict[str, Calibration]) -> Table:
    """Return what the second encoder and the compensation are worth."""
    return Table(
        'encoders', 'What is gained: NMSE [N m] and errors of the bodies',
        (
            'identified with', *(f'NMSE, {name}' for name in MOTION_NAMES),
            'improvement over CAD, estimation [%]', 'least of the others [%]',
            'largest error over its standard error', 'root mean square of these',
        ),
        tuple(
            (
                name, *(score.nmse for score in fit.scores), fit.scores[0].improvement,
                min(score.improvement for score in fit.scores[1:]),
                float(np.abs(fit.deviations).max()),
                float(np.sqrt(np.mean(fit.deviations**2))),
            )
            for name, fit in fits.items()
        ),
        'Compensated: rotor inertias and the friction of the gears are known beforehand, the '
        'latter to 15 % in each coefficient. Not compensated: sign and viscous friction and rotor '
        'inertias are estimated with the bodies.',
    )


def stiffness_table(arm: ElasticArm, calibration: Calibration) -> Table:
    """Return the stiffness of the joints, true and found."""
    quality = calibration.model.quality['two_encoders']
    return Table(
        'stiffness', 'Stiffness of the joints [kN m/rad], from both encoders',
        ('joint', 'true', 'found', 'standard error'),
        tuple(
            (name, STIFFNESS / KILO, float(value) / KILO, float(error) / KILO)
            for name, value, error in zip(
                arm.robot.joint_names, quality['stiffness'], quality['stiffness_standard_errors'],
                strict=True,
            )
        ),
        'The paper gives none; this is what its two encoders show beside the parameters.',
    )
