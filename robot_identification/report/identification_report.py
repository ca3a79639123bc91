# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""report.html of an identification: is the model good, why, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from robot_identification.estimation import Identification
from robot_identification.model import IdentifiedModel
from robot_identification.report.answers import compare_with_fitted_urdf, sort_reasons
from robot_identification.report.bodies import link_bodies
from robot_identification.report.contributions import joint_contributions, PARTS
from robot_identification.report.corrections_section import corrections_section
from robot_identification.report.correlation import correlation_picture, strongest_pairs
from robot_identification.report.data_quality import recorder_notes, recording_quality
from robot_identification.report.explanation import (
    explain_worst_joint, neighbour_correlation, score_fit, Scored,
)
from robot_identification.report.figures import (
    drawn_bags, effort_pictures, points_of_curve, sample_intervals, scores_differ,
    singular_value_picture,
)
from robot_identification.report.friction_figures import friction_picture, friction_points
from robot_identification.report.needed_terms import find_needed_terms
from robot_identification.report.page import render_page
from robot_identification.report.parameter_table import (
    largest_change, parameter_classes, parameter_rows,
)
from robot_identification.report.residual_section import residual_section
from robot_identification.report.tables import (
    compared_error_table, friction_table, inertial_coefficients, training_bags, urdf_words,
)
from robot_identification.validation import BagErrors

# With more coefficients a joint, one line for each is easier to read than a wide table.
MOST_FRICTION_COLUMNS = 4


def render_identification_report(
    identification: Identification,
    fitted: Sequence[Scored] | None = None,
    *,
    command_line: str = '',
) -> str:
    """
    Return the report of an identification, one HTML file that needs no network.

    `fitted` is of `score_fit`.
    """
    model, datasets = identification.model, identification.datasets
    fitted = score_fit(identification) if fitted is None else fitted
    scored = [
        replace(one, errors=errors)
        for one, errors in zip(fitted, identification.cross_validation, strict=True)
    ]
    beside_urdf = compare_with_fitted_urdf(identification.cross_validation, identification.prior)
    residuals = residual_section(fitted)
    shown = {entry.name for entry in inertial_coefficients(model)}
    rows = parameter_rows(model, identification.decided_by_prior)
    pairs, strong = strongest_pairs(model)
    return render_page(
        'identification.html.j2',
        identification=identification,
        model=model,
        verdict=identification.verdict,
        reasons=sort_reasons(identification.verdict),
        command_line=command_line,
        error_tables=list(map(
            compared_error_table, identification.cross_validation,
            [one.errors for one in fitted], identification.prior,
        )),
        beside_urdf=beside_urdf,
        prior_better=beside_urdf.lost,
        nrmse_mean=_mean(identification.cross_validation),
        urdf_words=urdf_words(model),
        worst_joint=explain_worst_joint(model, scored),
        correlation=neighbour_correlation(scored),
        residuals=residuals,
        contributions=joint_contributions(model, fitted),
        parts_of_effort=PARTS,
        scores_differ=scores_differ,
        corrections=corrections_section(identification, fitted),
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
        singular_values=singular_value_picture(identification.estimate.singular_values),
        **_effort_section(model, fitted),
    )


def _effort_section(model: IdentifiedModel, fitted: Sequence[Scored]) -> dict[str, Any]:
    """Return pictures of recorded and predicted effort, as many as a page can hold."""
    drawn = drawn_bags(model.robot.n, len(fitted))
    points = points_of_curve((model.robot.n + 1) * drawn)
    return {
        'intervals': [sample_intervals(one.dataset, points) for one in fitted[:drawn]],
        'pictures': [
            effort_pictures(model, one.dataset, one.predicted, points) for one in fitted[:drawn]
        ],
        'left_out': len(fitted) - drawn,
    }


def _mean(bags: Sequence[BagErrors]) -> float:
    return sum(bag.nrmse_mean for bag in bags) / len(bags)
