# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The tables of a paper: full numbers as CSV, and LaTeX that any name survives."""

import csv
import io
import math
import re

import pytest
from report import report_cases
from reproductions.paper_tables import (
    csv_text, escape_latex, identification_tables, latex_text, PaperTable, table_files,
    validation_tables,
)
from robot_identification.validation.validation import validate

AWKWARD = 'a_b & 50% $x$ #1 {y} ~ ^2 \\end{table} <z>'


@pytest.fixture(scope='module')
def found():
    return report_cases.identify_chain(2, 1, samples=300)


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_holds_the_numbers_of_the_model(found):
    """All base parameters that are not friction, friction term by term, errors by joint."""
    files = table_files(identification_tables(found))
    assert set(files) == {
        f'tables/{name}.{kind}' for name in ('parameters', 'friction', 'errors')
        for kind in ('csv', 'tex')
    }
    model = found.model
    errors = dict(zip(model.reduction.names, model.standard_errors, strict=True))
    values = dict(zip(model.reduction.names, model.theta_base, strict=True))
    rows = read(files['tables/parameters.csv'])
    for row in rows:
        assert float(row['estimate']) == pytest.approx(values[row['parameter']], rel=1e-9)
        assert float(row['standard error']) == pytest.approx(errors[row['parameter']], rel=1e-9)
        assert float(row['95 % from']) < float(row['estimate']) < float(row['95 % to'])
    friction = read(files['tables/friction.csv'])
    assert len(rows) + len(friction) == model.reduction.rank
    assert [row['joint'] for row in friction[:3]] == [model.robot.joint_names[0]] * 3
    scores = read(files['tables/errors.csv'])
    expected = found.cross_validation[0]
    for row, rmse, nrmse in zip(scores, expected.rmse, expected.nrmse, strict=True):
        assert float(row['RMSE [N m]']) == pytest.approx(rmse, rel=1e-9)
        assert float(row['fit [%]']) == pytest.approx(100.0 * (1.0 - nrmse), rel=1e-9)
        assert int(row['samples']) == expected.samples


def test_what_is_not_known_is_left_empty():
    table = PaperTable('t', 'c', ('name', 'value [N m]'), (('one', math.nan),))
    assert csv_text(table) == 'name,value [N m]\none,\n'
    assert r'one & --' in latex_text(table)


def test_latex_has_as_many_cells_in_every_row(found):
    """Units stand in the header, rules are those of booktabs."""
    for name, text in table_files(identification_tables(found)).items():
        if name.endswith('.tex'):
            columns = re.search(r'\\begin\{tabular\}\{([lr]+)\}', text)[1]
            rows = [line for line in text.splitlines() if line.endswith(r'\\')]
            assert {len(re.split(r'(?<!\\)&', row)) for row in rows} == {len(columns)}
            assert [rule in text for rule in (r'\toprule', r'\midrule', r'\bottomrule')] == (
                [True] * 3
            )
    errors = table_files(identification_tables(found))['tables/errors.tex']
    assert 'RMSE [N m]' in errors and r'fit [\%]' in errors


def test_any_name_is_text():
    """Every letter that LaTeX takes for a command is escaped, each exactly once."""
    escaped = escape_latex(AWKWARD)
    plain = escaped
    for command, letter in (
        (r'\textbackslash{}', '\\'), (r'\textasciitilde{}', '~'), ('$^2$', '^2'),
        (r'\textless{}', '<'), (r'\textgreater{}', '>'),
    ):
        plain = plain.replace(command, letter)
    assert re.sub(r'\\([{}$&#_%])', r'\1', plain) == AWKWARD
    assert '\n' not in escape_latex('a\nb') and '\x1b' not in escape_latex('\x1b[31m')


def test_texts_are_no_formulas_and_numbers_stay_numbers():
    """A joint may be named `=1+1`; only texts that begin so get an apostrophe."""
    cells = ('=1+1', '+a', '-m2 + 0.5 mx3', '@a', 'plain', "'", -2.5, 1.0)
    table = PaperTable('t', 'c', tuple(map(str, range(len(cells)))), (cells,))
    assert list(read(csv_text(table))[0].values()) == [
        "'=1+1", "'+a", "'-m2 + 0.5 mx3", "'@a", 'plain', "'", '-2.5', '1',
    ]


def test_small_and_large_numbers_are_powers_of_ten():
    table = PaperTable(
        't', 'c', ('value',), ((-2.21e-5,), (123456.0,), (0.5,), (12345,)),
    )
    assert [line.strip() for line in latex_text(table).splitlines() if '$' in line] == [
        r'$-2.210 \times 10^{-5}$ \\', r'$1.235 \times 10^{5}$ \\', r'$0.5000$ \\', r'$12345$ \\',
    ]


def test_a_validation_has_its_errors(found):
    dataset = report_cases.record(found.model.robot, 'unseen', 9, 200)
    validation = validate(found.model, [dataset])
    files = table_files(validation_tables(validation))
    assert set(files) == {'tables/errors.csv', 'tables/errors.tex'}
    assert [row['recording'] for row in read(files['tables/errors.csv'])] == ['unseen'] * 2
