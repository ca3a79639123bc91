# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""report.html of an identification and of a validation: is the model good, why, what next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from robot_identification.arrays import FloatArray
from robot_identification.estimation import find_needed_terms, Identification
from robot_identification.files import AnyPath, write_atomically, write_results
from robot_identification.model import dump_model, IdentifiedModel
from robot_identification.processing import Dataset
from robot_identification.report.corrections import corrections_section
from robot_identification.report.data_quality import (
    recorder_notes, recording_quality, training_bags,
)
from robot_identification.report.effort_figures import effort_section
from robot_identification.report.explanation import (
    compare_with_urdf, explain_worst_joint, joint_contributions, PARTS, score_fit, Scored,
    sort_reasons, urdf_words,
)
from robot_identification.report.figures import singular_value_picture
from robot_identification.report.friction import friction_picture, friction_points, friction_table
from robot_identification.report.page import render_page
from robot_identification.report.parameters import (
    body_rows, correlation_picture, inertial_coefficients, largest_change, parameter_classes,
    strongest_pairs,
)
from robot_identification.report.residuals import residual_section
from robot_identification.report.text_report import results_text
from robot_identification.validation import Validation, Verdict

RESULT_FILES = ('identified_model.yaml', 'report.html', 'results.txt')


def save_identification(
    found: Identification, directory: Path, command_line: str, *, force: bool
) -> None:
    """
    Write model, report and results into a folder.

    Raises UsageError if one of the files exists already and `force` is not set.
    """
    fitted = score_fit(found)
    page = render_identification_report(found, fitted, command_line=command_line)
    contents = (dump_model(found.model), page, results_text(found, fitted))
    write_results(directory, dict(zip(RESULT_FILES, contents, strict=True)), force)


def write_report(found: Identification, path: AnyPath) -> None:
    """
    Write the report of an identification, one HTML file that needs no network.

    A file that is there is replaced.
    """
    write_atomically(Path(path), render_identification_report(found))


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
    model, held_out = identification.model, identification.cross_validation
    fitted = score_fit(identification) if fitted is None else fitted
    scored = [
        replace(one, errors=errors) for one, errors in zip(fitted, held_out, strict=True)
    ]
    beside_urdf = compare_with_urdf(held_out, identification.prior)
    shared = _shared_content(model, identification.verdict, fitted)
    entries = inertial_coefficients(model, identification.decided_by_prior)
    pairs, strong = strongest_pairs(model)
    classes, reasons = parameter_classes(model)
    return render_page(
        'identification.html.j2',
        **shared,
        identification=identification,
        command_line=command_line,
        error_tables=[
            (held, prior.nrmse, prior.nrmse_mean, one.errors)
            for held, prior, one in zip(held_out, identification.prior, fitted, strict=True)
        ],
        beside_urdf=beside_urdf,
        prior_better=beside_urdf.lost,
        nrmse_mean=sum(bag.nrmse_mean for bag in held_out) / len(held_out),
        worst_joint=explain_worst_joint(model, scored),
        corrections=corrections_section(identification, fitted),
        parameters=entries,
        largest_change=largest_change(entries),
        classes=classes,
        unidentifiable_reasons=reasons,
        bodies=body_rows(model),
        needed=find_needed_terms(identification, shared['residuals'].independent_share),
        pairs=pairs,
        strong_pairs=strong,
        correlations=correlation_picture(model),
        friction_pictures=[friction_picture(one) for one in friction_points(model, fitted)],
        friction=friction_table(model),
        white=model.covariance_kind == 'residual',
        wider_gap=model.quality.get('cross_validation', {}).get('wider_gap'),
        recorder_notes=recorder_notes(model),
        data=[recording_quality(one.dataset, model.provenance) for one in fitted],
        singular_values=singular_value_picture(identification.estimate.singular_values),
    )


def render_validation_report(
    model: IdentifiedModel,
    validation: Validation,
    datasets: Sequence[Dataset],
    predictions: Sequence[FloatArray],
    notes: Sequence[str],
    command_line: str = '',
    truth: Any = None,
    rollouts: Sequence[Any] = (),
) -> str:
    """
    Return the report of a validation, one HTML file that needs no network.

    `datasets` and `predictions`, the model's effort (N, n) in the bag's unit, are in the order of
    ``validation.bags``; `truth` is that of a simulated robot, `rollouts` are sections on
    simulations of the recordings.
    """
    scored = [
        Scored(dataset, predicted, dataset.scored, errors)
        for dataset, predicted, errors in zip(
            datasets, predictions, validation.bags, strict=True
        )
    ]
    shared = _shared_content(model, validation.verdict, scored)
    return render_page(
        'validation.html.j2',
        **shared,
        beside_urdf=compare_with_urdf(
            [bag for bag in validation.bags if bag.bag not in validation.training]
            or validation.bags
        ),
        command_line=command_line,
        notes=notes,
        truth=truth,
        data=[recording_quality(dataset) for dataset in datasets],
        error_tables=[
            (bag, bag.urdf_nrmse, bag.urdf_nrmse_mean, None) for bag in validation.bags
        ],
        training=validation.training,
        worst_joint=explain_worst_joint(model, scored),
        rollouts=rollouts[:len(shared['pictures'])],
    )


def _shared_content(
    model: IdentifiedModel, verdict: Verdict, scored: Sequence[Scored]
) -> dict[str, Any]:
    """Return what both pages show of a model and the recordings that it was scored on."""
    return {
        'model': model,
        'verdict': verdict,
        'reasons': sort_reasons(verdict),
        'urdf_words': urdf_words(model),
        'residuals': residual_section(scored),
        'contributions': joint_contributions(model, scored),
        'parts_of_effort': PARTS,
        'training_bags': training_bags(model),
        **effort_section(model, scored),
    }
