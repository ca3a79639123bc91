# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""report.html of a validation: does the model predict what it has not seen."""

from __future__ import annotations

from collections.abc import Sequence

from robot_identification.arrays import FloatArray
from robot_identification.model import IdentifiedModel
from robot_identification.processing import Dataset
from robot_identification.report.answers import compare_with_urdf, sort_reasons
from robot_identification.report.contributions import joint_contributions, PARTS
from robot_identification.report.data_quality import recording_quality
from robot_identification.report.explanation import explain_worst_joint, Scored
from robot_identification.report.figures import (
    drawn_bags, effort_pictures, points_of_curve, sample_intervals,
)
from robot_identification.report.page import render_page
from robot_identification.report.residual_section import residual_section
from robot_identification.report.rollout_section import rollout_sections
from robot_identification.report.tables import error_table, training_bags, urdf_words
from robot_identification.report.truth import GroundTruthComparison
from robot_identification.validation import Validation


def render_validation_report(
    model: IdentifiedModel,
    validation: Validation,
    datasets: Sequence[Dataset],
    predictions: Sequence[FloatArray],
    notes: Sequence[str],
    command_line: str = '',
    truth: GroundTruthComparison | None = None,
) -> str:
    """
    Return the report of a validation, one HTML file that needs no network.

    `datasets` and `predictions`, the model's effort (N, n) in the bag's unit, are in the order of
    ``validation.bags``; `truth` is that of a simulated robot.
    """
    scored = [
        Scored(dataset, predicted, dataset.scored, errors)
        for dataset, predicted, errors in zip(
            datasets, predictions, validation.bags, strict=True
        )
    ]
    drawn = drawn_bags(model.robot.n, len(scored))
    points = points_of_curve((model.robot.n + 1) * drawn)
    return render_page(
        'validation.html.j2',
        model=model,
        verdict=validation.verdict,
        reasons=sort_reasons(validation.verdict),
        beside_urdf=compare_with_urdf(
            [bag for bag in validation.bags if bag.bag not in validation.training]
            or validation.bags
        ),
        command_line=command_line,
        notes=notes,
        truth=truth,
        training_bags=training_bags(model),
        data=[recording_quality(dataset) for dataset in datasets],
        residuals=residual_section(scored),
        contributions=joint_contributions(model, scored),
        parts_of_effort=PARTS,
        error_tables=[error_table(errors) for errors in validation.bags],
        training=validation.training,
        urdf_words=urdf_words(model),
        worst_joint=explain_worst_joint(model, scored),
        intervals=[sample_intervals(d, points) for d in datasets[:drawn]],
        pictures=[
            effort_pictures(model, bag.dataset, bag.predicted, points) for bag in scored[:drawn]
        ],
        left_out=len(scored) - drawn,
        rollouts=rollout_sections(validation.rollouts[:drawn]),
    )
