# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The page on feed-forward has the figures of the study, whose motion an arm can make."""

import numpy as np
import pytest
from study_pages import medians, page_table

study = pytest.importorskip('studies.tracking')


@pytest.fixture(scope='module')
def measured():
    return medians('tracking', repeats=5)


def of_joints(measured, name, kind='rms'):
    """Return the errors of a controller's joints, shape (6,)."""
    return np.array([measured[f'{name}: joint {joint}, {kind}'] for joint in range(1, 7)])


def test_the_page_has_the_figures_of_the_study(measured):
    """Digit by digit, every controller and nothing else."""
    header, *rows = page_table('feed_forward', 'controller')
    assert header[1:] == [*(f'joint {joint}' for joint in range(1, 7)), 'slow moves']
    assert [row[0] for row in rows] == list(dict.fromkeys(
        name.partition(': ')[0] for name in measured
    ))
    for name, *cells in rows:
        rms, worst = (of_joints(measured, name, kind) for kind in ('rms', 'worst'))
        expected = [f'{a:.2f} / {b:.1f}' for a, b in zip(rms, worst, strict=True)]
        slow = measured[f'{name}: slow moves, rms of all joints']
        assert cells == [*expected, f'{slow:.2f}'], name
