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

"""report.html of an identification: is the model good, why, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
import math

import numpy as np
from robot_identification.estimation.identification import Identification
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.dataset import FloatArray
from robot_identification.report.bodies import link_bodies
from robot_identification.report.correlation import correlation_picture
from robot_identification.report.correlation import strongest_pairs
from robot_identification.report.data_quality import recorder_notes
from robot_identification.report.data_quality import recording_quality
from robot_identification.report.explanation import explain_worst_joint
from robot_identification.report.explanation import neighbour_correlation
from robot_identification.report.explanation import Scored
from robot_identification.report.figures import choose_resolution
from robot_identification.report.figures import drawn_bags
from robot_identification.report.figures import effort_pictures
from robot_identification.report.figures import interval_picture
from robot_identification.report.figures import singular_value_picture
from robot_identification.report.friction_figures import friction_picture
from robot_identification.report.friction_figures import friction_points
from robot_identification.report.needed_terms import find_needed_terms
from robot_identification.report.page import render_page
from robot_identification.report.parameter_table import largest_change
from robot_identification.report.parameter_table import parameter_classes
from robot_identification.report.parameter_table import parameter_rows
from robot_identification.report.residual_section import residual_section
from robot_identification.report.tables import compared_error_table
from robot_identification.report.tables import error_table
from robot_identification.report.tables import friction_table
from robot_identification.report.tables import inertial_coefficients
from robot_identification.report.tables import training_bags
from robot_identification.report.truth import TruthComparison
from robot_identification.validation.metrics import BagErrors
from robot_identification.validation.validation import errors_on
from robot_identification.validation.validation import predict_effort
from robot_identification.validation.validation import Validation

# With more coefficients a joint, one line for each is easier to read than a wide table.
MOST_FRICTION_COLUMNS = 4


def render_identification_report(
    identification: Identification,
    *,
    command_line: str = '',
    has_tables: bool = False,
    truth: TruthComparison | None = None,
    unseen: Sequence[tuple[Dataset, FloatArray]] = (),
    unseen_validation: Validation | None = None,
) -> str:
    """
    Return the report of an identification, one HTML file that needs no network.

    Parameters
    ----------
    identification : Identification
        What was found.
    command_line : str
        What was typed.
    has_tables : bool
        Whether tables/ is written beside the page.
    truth : TruthComparison, optional
        Of a simulated robot.
    unseen : sequence of (Dataset, ndarray of shape (N, n))
        Recordings that were not used for the identification, with the model's effort there in
        the bag's unit.
    unseen_validation : Validation, optional
        Errors on them.

    """
    model, datasets = identification.model, identification.datasets
    predictions = [predict_effort(model, dataset) for dataset in datasets]
    fits = [
        errors_on(dataset, predicted, dataset.fitted, detailed=False)
        for dataset, predicted in zip(datasets, predictions, strict=True)
    ]
    scored = [
        Scored(dataset, predicted, dataset.fitted, errors)
        for dataset, predicted, errors in zip(
            datasets, predictions, identification.cross_validation, strict=True
        )
    ]
    unseen_bags = unseen_validation.bags if unseen_validation else ()
    training = list(zip(datasets, predictions, strict=True))
    drawn, drawn_unseen = (
        drawn_bags(model.robot.n, len(pairs)) for pairs in (training, unseen)
    )
    resolution = choose_resolution(model.robot.n * (drawn + drawn_unseen) + drawn)
    fitted = [
        Scored(bag.dataset, bag.predicted, bag.rows, errors)
        for bag, errors in zip(scored, fits, strict=True)
    ]
    residuals = residual_section(fitted)
    shown = {entry.name for entry in inertial_coefficients(model)}
    rows = parameter_rows(model, identification.decided_by_prior)
    pairs, strong = strongest_pairs(model)
    return render_page(
        'identification.html.j2',
        identification=identification,
        model=model,
        verdict=identification.verdict,
        command_line=command_line,
        has_tables=has_tables,
        truth=truth,
        error_tables=[
            compared_error_table(*errors)
            for errors in zip(
                identification.cross_validation, fits, identification.prior, strict=True
            )
        ],
        nrmse_mean=_mean(identification.cross_validation),
        prior_mean=_mean(identification.prior),
        prior_better=_joints_won_by_prior(identification),
        unseen_validation=unseen_validation,
        unseen_mean=_mean(unseen_bags),
        unseen_tables=[error_table(errors) for errors in unseen_bags],
        worst_joint=explain_worst_joint(model, scored),
        correlation=neighbour_correlation(scored),
        residuals=residuals,
        parameters=[row for row in rows if row.coefficient.name in shown],
        largest_change=largest_change(rows),
        classes=parameter_classes(model),
        bodies=link_bodies(model),
        needed=find_needed_terms(identification, residuals.independent_share),
        pairs=pairs,
        strong_pairs=strong,
        correlations=correlation_picture(model),
        friction_pictures=[friction_picture(one) for one in friction_points(model, fitted)],
        friction=friction_table(model),
        most_friction_columns=MOST_FRICTION_COLUMNS,
        white=model.covariance_kind == 'residual',
        wider_gap=model.quality.get('cross_validation', {}).get('wider_gap'),
        training_bags=training_bags(model),
        recorder_notes=recorder_notes(model),
        data=[recording_quality(dataset, model.provenance) for dataset in datasets],
        intervals=[(d.source, interval_picture(d, resolution)) for d in datasets[:drawn]],
        training_pictures=[effort_pictures(d, p, resolution) for d, p in training[:drawn]],
        training_left_out=len(training) - drawn,
        unseen_pictures=[effort_pictures(d, p, resolution) for d, p in unseen[:drawn_unseen]],
        unseen_left_out=len(unseen) - drawn_unseen,
        singular_values=singular_value_picture(identification.estimate.singular_values),
    )


def _mean(bags: Sequence[BagErrors]) -> float:
    return float(np.mean([bag.nrmse_mean for bag in bags])) if bags else math.nan


def _joints_won_by_prior(identification: Identification) -> tuple[str, ...]:
    """Return the joints whose error is larger with the model than with the URDF, on average."""
    ours, prior = (
        np.mean([bag.nrmse for bag in bags], axis=0)
        for bags in (identification.cross_validation, identification.prior)
    )
    names = identification.model.robot.joint_names
    return tuple(name for name, won in zip(names, prior < ours, strict=True) if won)
