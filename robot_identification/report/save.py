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

"""Write the files of an identification."""

from __future__ import annotations

from pathlib import Path

from robot_identification.estimation.identification import Identification
from robot_identification.files import write_results
from robot_identification.model.model_file import dump_identified_model
from robot_identification.report.identification_report import render_identification_report
from robot_identification.report.paper_tables import identification_tables
from robot_identification.report.paper_tables import table_files
from robot_identification.report.results_text import results_text

RESULT_FILES = ('identified_model.yaml', 'report.html', 'results.txt')


TABLE_FILES = tuple(
    f'tables/{name}.{kind}' for name in ('parameters', 'friction', 'errors')
    for kind in ('csv', 'tex')
)


def save_identification(
    found: Identification, directory: Path, command_line: str, *, force: bool,
    with_tables: bool = False,
) -> None:
    """
    Write model, report and results into a folder.

    Parameters
    ----------
    found : Identification
        What was found.
    directory : Path
        Where they go.
    command_line : str
        What was typed.
    force : bool
        Whether files that are there are overwritten.
    with_tables : bool
        Whether the tables of a paper are written below it, too.

    Raises
    ------
    UsageError
        If one of them exists already and `force` is not set.

    """
    tables = table_files(identification_tables(found)) if with_tables else {}
    write_results(
        directory,
        {
            'identified_model.yaml': dump_identified_model(found.model),
            'report.html': render_identification_report(
                found, command_line=command_line, has_tables=with_tables
            ),
            'results.txt': results_text(found),
            **tables,
        },
        force,
    )
