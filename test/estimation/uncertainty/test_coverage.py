# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Intervals of 95 % hold the truth in 95 % of all recordings, and the page says how often."""

from study_pages import medians, page_table


def columns():
    """Return the names of the figures that the page has."""
    return page_table('statistics', 'intervals')[0][1:]


def test_the_page_has_the_figures_of_the_benchmark():
    """Digit by digit, where the benchmark was run."""
    measured = medians('coverage', repeats=1000)
    shown = {}
    for name, *cells in page_table('statistics', 'intervals')[1:]:
        for column, cell in zip(columns(), cells, strict=True):
            shown[f'{name.replace("`", "")}: {column}'] = cell
    assert set(shown) == set(measured)
    for name, cell in shown.items():
        digits = 2 if name.endswith('ideal') else 1
        assert cell == f'{measured[name]:.{digits}f}', name
