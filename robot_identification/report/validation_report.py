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

"""report.html of a validation: does the model predict what it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from robot_identification.model.identified_model import IdentifiedModel
from robot_identification.processing.dataset import Dataset
from robot_identification.processing.dataset import FloatArray
from robot_identification.report.data_quality import recording_quality
from robot_identification.report.explanation import explain_worst_joint
from robot_identification.report.explanation import Scored
from robot_identification.report.figures import choose_resolution
from robot_identification.report.figures import drawn_bags
from robot_identification.report.figures import effort_pictures
from robot_identification.report.figures import interval_picture
from robot_identification.report.page import render_page
from robot_identification.report.residual_section import residual_section
from robot_identification.report.tables import error_table
from robot_identification.report.tables import training_bags
from robot_identification.validation.validation import Validation


def render_validation_report(
    model: IdentifiedModel,
    validation: Validation,
    datasets: Sequence[Dataset],
    predictions: Sequence[FloatArray],
    notes: Sequence[str],
    command_line: str = '',
) -> str:
    """
    Return the report of a validation, one HTML file that needs no network.

    Parameters
    ----------
    model : IdentifiedModel
        The model that was scored.
    validation : Validation
        Errors and verdict.
    datasets : sequence of Dataset
        The bags in the order of ``validation.bags``.
    predictions : sequence of ndarray, shape (N, n)
        The model's effort on each of them in the bag's unit.
    notes : sequence of str
        What a reader should know.
    command_line : str
        What was typed.

    """
    scored = [
        Scored(dataset, predicted, dataset.scored, errors)
        for dataset, predicted, errors in zip(
            datasets, predictions, validation.bags, strict=True
        )
    ]
    drawn = drawn_bags(model.robot.n, len(scored))
    resolution = choose_resolution((model.robot.n + 1) * drawn)
    return render_page(
        'validation.html.j2',
        model=model,
        verdict=validation.verdict,
        command_line=command_line,
        notes=notes,
        training_bags=training_bags(model),
        data=[recording_quality(dataset) for dataset in datasets],
        residuals=residual_section(scored),
        error_tables=[error_table(errors) for errors in validation.bags],
        trained_on=bags_trained_on(model, datasets),
        worst_joint=explain_worst_joint(model, scored),
        intervals=[(d.source, interval_picture(d, resolution)) for d in datasets[:drawn]],
        pictures=[
            effort_pictures(bag.dataset, bag.predicted, resolution) for bag in scored[:drawn]
        ],
        left_out=len(scored) - drawn,
    )


def bags_trained_on(model: IdentifiedModel, datasets: Sequence[Dataset]) -> tuple[str, ...]:
    """Return the bags that the model was also identified from, by their paths."""
    training = {Path(path).absolute() for path, _ in training_bags(model)}
    return tuple(
        dataset.source for dataset in datasets if Path(dataset.source).absolute() in training
    )
