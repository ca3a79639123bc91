# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The page of benchmarks has the figures on drift, and they show what it states."""

import json
from pathlib import Path

from benchmark_pages import page_table
import numpy as np
import pytest

RESULTS = Path(__file__).resolve().parents[2] / 'benchmarks' / 'results' / 'drift.json'
OURS, THEIRS = 'ours, MJCF plain', 'mujoco.sysid'
FROM_OURS = 'mujoco.sysid from ours'


@pytest.fixture(scope='module')
def measured():
    """Return the values of every figure, by arm, model and quantity."""
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


def test_ours_stays_nearer_under_a_pd_and_predicts_better(measured):
    """Than MuJoCo's identification, from the usual start and from ours, on every arm."""
    for arm in {name[0] for name in measured}:
        for quantity in ('torque', 'closed, 2 s, tool', 'closed, 0.5 s, tool'):
            ours, *theirs = (
                np.median(measured[arm, model, quantity]) for model in (OURS, THEIRS, FROM_OURS)
            )
            assert ours < min(theirs), (arm, quantity)


def test_theirs_has_more_inertia_and_a_constant_velocity_less_drift_where_ours_has_more(measured):
    """Why an open loop of theirs drifts less in two cases, on two arms, at one horizon each."""
    for arm, horizon in (('UR10 twin', '0.5 s'), ('Panda, real', '2 s')):
        quantity = f'open, {horizon}, tool'
        ours, theirs, constant = (
            np.median(measured[arm, model, quantity])
            for model in (OURS, FROM_OURS, 'constant velocity')
        )
        assert theirs < ours and constant < ours
        assert measured[arm, FROM_OURS, 'inertia / ours'].min() > 3.0
