# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The page of benchmarks has the figures on drift."""

import json
from pathlib import Path

from benchmark_pages import page_table
import numpy as np
import pytest

RESULTS = Path(__file__).resolve().parents[2] / 'benchmarks' / 'results' / 'drift.json'


@pytest.fixture(scope='module')
def measured():
    figures = json.loads(RESULTS.read_text(encoding='utf-8'))['figures']
    return {tuple(one['name'].split(': ')): np.array(one['values']) for one in figures}


def cell(values):
    """Return median, and what 90 % are below, as the page has them."""
    middle, high = (np.quantile(values, share, method='higher') for share in (0.5, 0.9))
    return 'breaks down' if middle >= 1e4 else f'{middle:.3g} ({high:.3g})'


def test_the_page_has_the_figures_of_the_benchmark(measured):
    """Digit by digit, every arm and model."""
    header, *rows = page_table('benchmarks', 'arm')
    arms = {name[0] for name in measured}
    assert {row[0] for row in rows} == arms
    quantities = {
        'torque [N m]': 'torque', 'tool, 0.1 s [mm]': 'open, 0.1 s, tool',
        'tool, 0.5 s [mm]': 'open, 0.5 s, tool', 'tool, 2 s [mm]': 'open, 2 s, tool',
        'tool, PD, 2 s [mm]': 'closed, 2 s, tool', 'joints, 0.5 s [mrad]': 'open, 0.5 s, joints',
    }
    for arm, model, *cells, took, inertia in rows:
        for title, text in zip(header[2:-2], cells, strict=True):
            values = measured.get((arm, model, quantities[title]))
            assert text == ('' if values is None else cell(values)), (arm, model, title)
        seconds = measured.get((arm, model, 'processor time'))
        assert took == ('' if seconds is None else f'{seconds[0]:.0f}'), (arm, model)
        ratio = measured.get((arm, model, 'inertia / ours'))
        assert inertia == ('' if ratio is None or model == 'ours' else (
            f'{np.median(ratio):.3g} ({ratio.min():.2g} to {ratio.max():.2g})'
        )), (arm, model)
