# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The tables of a paper: full numbers as CSV, and LaTeX that any name survives."""

import csv
import io

import pytest
from report import report_cases
from reproductions.paper_tables import csv_text, identification_tables, PaperTable, table_files


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


def test_texts_are_no_formulas_and_numbers_stay_numbers():
    """A joint may be named `=1+1`; only texts that begin so get an apostrophe."""
    cells = ('=1+1', '+a', '-m2 + 0.5 mx3', '@a', 'plain', "'", -2.5, 1.0)
    table = PaperTable('t', 'c', tuple(map(str, range(len(cells)))), (cells,))
    assert list(read(csv_text(table))[0].values()) == [
        "'=1+1", "'+a", "'-m2 + 0.5 mx3", "'@a", 'plain', "'", '-2.5', '1',
    ]
