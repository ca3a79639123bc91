# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Write the files of an identification."""

from __future__ import annotations

from pathlib import Path

from robot_identification.estimation import Identification
from robot_identification.files import write_results
from robot_identification.model import dump_model
from robot_identification.report.explanation import score_fit
from robot_identification.report.identification_report import render_identification_report
from robot_identification.report.text_report import results_text

RESULT_FILES = ('identified_model.yaml', 'report.html', 'results.txt')


def save_identification(
    found: Identification, directory: Path, command_line: str, *, force: bool
) -> None:
    """
    Write model, report and results into a folder.

    Raises UsageError if one of the files exists already and `force` is not set.
    """
    fitted = score_fit(found)
    write_results(
        directory,
        {
            'identified_model.yaml': dump_model(found.model),
            'report.html': render_identification_report(
                found, fitted, command_line=command_line
            ),
            'results.txt': results_text(found, fitted),
        },
        force,
    )
