# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The truth of a simulated robot and what was identified: only possible in simulation."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from robot_identification.arrays import FloatArray
from robot_identification.model import IdentifiedModel
from robot_identification.processing import Dataset
from robot_identification.recording import read_recording
from robot_identification.report import percent
from robot_identification.simulation import GroundTruth, true_inertial_parameters
from robot_identification.validation import measure_errors, predict_effort

# Where an estimate and the truth agree within chance.
AGREEMENT = 2.0


@dataclass(frozen=True, eq=False)
class GroundTruthComparison:
    """True parameters of a simulated robot with the identified ones."""

    # The parameters compared.
    names: tuple[str, ...]
    units: tuple[str, ...]
    # (b,): in these units; `standard_errors` are those of the estimate.
    true_values: FloatArray
    estimated_values: FloatArray
    standard_errors: FloatArray
    # (n,): joint torque per motor current [N m/A]: those of the simulated robot, and the nominal
    # ones that the identification used.
    true_drive_gains: FloatArray
    used_drive_gains: FloatArray
    # (n,): error of the model against the noise-free effort of a motion it has not seen, over the
    # standard deviation of that effort; NaN where that was not done.
    unseen_nrmse: FloatArray

    @property
    def errors(self) -> FloatArray:
        """Estimated minus true values, shape (b,)."""
        return self.estimated_values - self.true_values

    @property
    def normalized_errors(self) -> FloatArray:
        """Errors in standard errors, shape (b,); NaN where these are zero."""
        return _ratio(self.errors, self.standard_errors)

    @property
    def gain_errors(self) -> FloatArray:
        """Return the used over true drive gains minus 1, shape (n,)."""
        return _ratio(self.used_drive_gains, self.true_drive_gains) - 1.0

    def summary(self) -> str:
        """Return in words how far the estimate is from the truth, and why."""
        agreeing = int(np.count_nonzero(np.abs(self.normalized_errors) <= AGREEMENT))
        sizes = np.abs(self.gain_errors)
        largest = np.max(sizes, initial=0.0, where=np.isfinite(sizes))
        return (
            f'{agreeing} of {len(self.names)} parameters lie within {AGREEMENT:g} standard errors '
            'of the truth. Parameters were estimated with the nominal drive gains, which differ '
            f'from the true ones by up to {percent(float(largest))}; a wrong gain scales every '
            'torque of its joint and with it the parameters, and standard errors do not '
            'know of it.'
        )


def compare_with_truth(
    model: IdentifiedModel, truth: GroundTruth, unseen: Dataset, truth_topic: str
) -> GroundTruthComparison:
    """
    Compare a model of a simulated robot with the truth of that robot.

    Friction terms without a true value of their own are left out. `unseen` is of a recording that
    was not used for the identification, with noise-free joint states on `truth_topic` in addition
    to the measured ones.
    """
    robot, parameters = model.robot, model.parameters
    theta = np.zeros(parameters.size)
    theta[: 10 * robot.n] = true_inertial_parameters(robot, truth)
    for term, columns in parameters.friction_columns:
        if term.law.plain is not None:
            theta[columns] = np.dot(
                term.law.plain, [truth.coulomb[term.joint], truth.viscous[term.joint]]
            )
    theta[parameters.reflected_inertia_slice] = truth.reflected_inertia
    # Single terms of a dictionary have no true value; what they add up to is judged by torque.
    unknown = {
        column
        for term, columns in parameters.friction_columns
        if not term.law.is_structural
        for column in range(columns.start, columns.stop)
    }
    rows = np.array([
        row for row, column in enumerate(model.reduction.independent) if column not in unknown
    ])
    bag = Path(unseen.source)
    measured, noise_free = (
        read_recording(bag, robot.joint_names, topic=topic, encoders=robot.encoders)
        for topic in (model.source.topic, truth_topic)
    )
    shift = (measured.start - noise_free.start) * 1e-9
    common = (
        unseen.scored
        & (unseen.stamps + shift >= 0.0)
        & (unseen.stamps + shift <= noise_free.duration)
    )
    stamps = unseen.stamps[common] + shift
    true_effort = np.column_stack([
        np.interp(stamps, noise_free.stamps, column) for column in noise_free.effort.T
    ])
    errors = measure_errors(
        true_effort,
        predict_effort(model, unseen)[common],
        unseen.moving[common],
        bag=unseen.source,
        unit=model.effort_unit,
        joints=robot.joint_names,
    )
    return GroundTruthComparison(
        names=tuple(model.reduction.names[row] for row in rows),
        units=tuple(model.reduction.units_of(robot)[row] for row in rows),
        true_values=(model.reduction.K @ theta)[rows],
        estimated_values=model.theta_base[rows],
        standard_errors=model.standard_errors[rows],
        true_drive_gains=truth.drive_gain,
        used_drive_gains=robot.drives.drive_gain,
        unseen_nrmse=errors.nrmse,
    )


def _ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    result = np.full(len(numerator), np.nan)
    np.divide(numerator, denominator, out=result, where=denominator != 0.0)
    return result
