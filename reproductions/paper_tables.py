# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""
The tables of a paper, each as CSV and as LaTeX: parameters, friction, errors.

`table_files` of `identification_tables` or `validation_tables` are their names and contents.
"""

from __future__ import annotations

from collections.abc import Sequence
import csv
from dataclasses import dataclass
import io
import math

from robot_identification.arrays import FloatArray
from robot_identification.estimation import Identification
from robot_identification.report import number
from robot_identification.report.formatting import effort_unit_text
from robot_identification.report.friction import friction_table
from robot_identification.report.parameters import inertial_coefficients
from robot_identification.texts import csv_cell, printable
from robot_identification.validation import BagErrors, Validation

Cell = str | int | float
FOLDER = 'tables'
# Too wide for a page, in CSV only.
CSV_ONLY = ('combination',)
DIGITS = 4  # significant
_ESCAPES = {
    '\\': r'\textbackslash{}', '{': r'\{', '}': r'\}', '$': r'\$', '&': r'\&', '#': r'\#',
    '_': r'\_', '%': r'\%', '~': r'\textasciitilde{}', '^': r'\textasciicircum{}',
    '<': r'\textless{}', '>': r'\textgreater{}',
}


@dataclass(frozen=True)
class PaperTable:
    """One table."""

    name: str  # of its files
    caption: str  # what it shows
    columns: tuple[str, ...]  # titles, with the unit in brackets where there is one
    rows: tuple[tuple[Cell, ...], ...]  # texts, and numbers; NaN where one is not known


def identification_tables(identification: Identification) -> tuple[PaperTable, ...]:
    """Return the tables of an identification."""
    tables = [_parameters(identification), _friction(identification)]
    tables.append(_errors(
        identification.cross_validation, 'Errors on held-out blocks of the training recording',
        [errors.nrmse for errors in identification.prior],
    ))
    return tuple(table for table in tables if table.rows)


def validation_tables(validation: Validation) -> tuple[PaperTable, ...]:
    """Return the tables of a validation."""
    urdf = [bag.urdf_nrmse for bag in validation.bags]
    seen = ', training data among them' if validation.training else ' the model has not seen'
    return (_errors(validation.bags, f'Errors on recordings{seen}', urdf),)


def table_files(tables: Sequence[PaperTable]) -> dict[str, str]:
    """Return the contents of the files of some tables by their names below the results."""
    files = {}
    for table in tables:
        files[f'{FOLDER}/{table.name}.csv'] = csv_text(table)
        files[f'{FOLDER}/{table.name}.tex'] = latex_text(table)
    return files


def csv_text(table: PaperTable) -> str:
    """
    Return a table as CSV: full numbers, nothing where one is not known.

    A text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator='\n')
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow([
            csv_cell(cell) if isinstance(cell, str)
            else f'{cell:.10g}' if math.isfinite(cell) else ''
            for cell in row
        ])
    return stream.getvalue()


def latex_text(table: PaperTable) -> str:
    r"""
    Return a table for LaTeX with the package booktabs; ``\input`` it.

    Names are escaped, and numbers rounded; units stand in the header.
    """
    kept = [index for index, title in enumerate(table.columns) if title not in CSV_ONLY]
    letters = ''.join(
        'l' if all(isinstance(row[index], str) for row in table.rows) else 'r' for index in kept
    )
    lines = [
        '% needs \\usepackage{booktabs}',
        r'\begin{table}',
        r'  \centering',
        rf'  \caption{{{escape_latex(table.caption)}.}}',
        rf'  \label{{tab:{table.name}}}',
        rf'  \begin{{tabular}}{{{letters}}}',
        r'    \toprule',
        _latex_row([escape_latex(table.columns[index]) for index in kept]),
        r'    \midrule',
        *(_latex_row([_latex_cell(row[index]) for index in kept]) for row in table.rows),
        r'    \bottomrule',
        r'  \end{tabular}',
        r'\end{table}',
    ]
    return '\n'.join(lines) + '\n'


def escape_latex(text: str) -> str:
    """Return a text that LaTeX prints as it is; powers of units become superscripts."""
    escaped = ''.join(_ESCAPES.get(letter, letter) for letter in printable(text))
    return escaped.replace(r'\textasciicircum{}2', '$^2$')


def _latex_row(cells: Sequence[str]) -> str:
    return f'    {" & ".join(cells)} \\\\'


def _latex_cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return escape_latex(cell)
    if isinstance(cell, int):
        return f'${cell}$'
    if not math.isfinite(cell):
        return '--'
    digits, _, exponent = number(cell, DIGITS).partition('e')
    power = rf' \times 10^{{{int(exponent)}}}' if exponent else ''
    return f'${digits}{power}$'


def _parameters(identification: Identification) -> PaperTable:
    model = identification.model
    return PaperTable(
        'parameters',
        f'Base parameters of {model.robot.name}',
        (
            'parameter', 'combination', 'unit', 'URDF', 'estimate', 'standard error',
            'relative [%]', '95 % from', '95 % to', 'known from',
        ),
        tuple(
            (
                row.name, row.expression, row.unit, row.urdf, row.value, row.standard_error,
                100.0 * row.relative, row.low, row.high,
                'prior' if row.by_prior else 'data',
            )
            for row in inertial_coefficients(model, identification.decided_by_prior)
        ),
    )


def _friction(identification: Identification) -> PaperTable:
    model = identification.model
    rows: list[tuple[Cell, ...]] = []
    for joint, entries in friction_table(model).groups:
        for entry in entries:
            found = entry.coefficient
            rows.append((
                joint, entry.term, entry.constant,
                math.nan if found is None else found.value,
                math.nan if found is None else found.standard_error,
                '' if found is None else found.unit,
            ))
    return PaperTable(
        'friction',
        f'Friction of {model.robot.name}',
        ('joint', 'term', 'constant', 'coefficient', 'standard error', 'unit'),
        tuple(rows),
    )


def _errors(
    bags: Sequence[BagErrors], caption: str, urdf: Sequence[FloatArray]
) -> PaperTable:
    unit = effort_unit_text(bags[0].unit)
    rows: list[tuple[Cell, ...]] = []
    for place, bag in enumerate(bags):
        for joint, name in enumerate(bag.joints):
            nrmse = float(bag.nrmse[joint])
            rows.append((
                bag.bag, name, bag.samples, nrmse, 100.0 * (1.0 - nrmse),
                float(bag.rmse[joint]), float(bag.rmse_moving[joint]), float(bag.bias[joint]),
                float(urdf[place][joint]),
            ))
    return PaperTable(
        'errors',
        caption,
        (
            'recording', 'joint', 'samples', 'NRMSE', 'fit [%]', f'RMSE [{unit}]',
            f'RMSE moving [{unit}]', f'bias [{unit}]', 'NRMSE of the URDF',
        ),
        tuple(rows),
    )
