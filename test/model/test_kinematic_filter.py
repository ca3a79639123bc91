# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""A filter says what it needs, and only that is in a file."""

import pytest
from robot_identification.errors import DescriptionError
from robot_identification.model.kinematic_filter import (
    kinematic_filter_from_options, KinematicFilter, OPTIONS_BY_KIND,
)

EXAMPLES = {
    'butterworth': {'kind': 'butterworth', 'order': 2, 'cutoff': 9.0},
    'fourier': {'kind': 'fourier', 'period': 10.0, 'harmonics': 5},
    'rloess': {'kind': 'rloess', 'span': 0.2},
    'savitzky_golay': {'kind': 'savitzky_golay', 'order': 3, 'span': 0.1},
    'none': {'kind': 'none'},
}


@pytest.mark.parametrize('kind', OPTIONS_BY_KIND)
def test_a_file_holds_what_the_kind_needs(kind):
    """No more, no less: the round trip is exact."""
    options = EXAMPLES[kind]
    made = kinematic_filter_from_options(options)
    assert made.options() == options
    assert KinematicFilter(**options) == made


@pytest.mark.parametrize('options', EXAMPLES.values(), ids=EXAMPLES)
def test_options_that_are_missing_or_superfluous_are_refused(options):
    for name in set(options) - {'kind'}:
        with pytest.raises(DescriptionError, match=f'missing {name}'):
            kinematic_filter_from_options({k: v for k, v in options.items() if k != name})
    other = 'span' if 'span' not in options else 'cutoff'
    with pytest.raises(DescriptionError, match=f'unknown key {other}'):
        kinematic_filter_from_options({**options, other: 1.0})


@pytest.mark.parametrize('options', [
    {'kind': 'magic'}, {'kind': None}, {}, {'kind': ['none']},
])
def test_unknown_kinds_are_refused_with_the_known_ones(options):
    with pytest.raises(DescriptionError, match='known are butterworth, fourier, rloess'):
        kinematic_filter_from_options(options)


@pytest.mark.parametrize('wrong', [
    {'order': 0}, {'order': 11}, {'order': 2.0}, {'order': True}, {'cutoff': 0.0},
    {'cutoff': float('nan')}, {'cutoff': float('inf')}, {'cutoff': 'low'}, {'cutoff': True},
    {'span': 0.0}, {'span': -1.0}, {'span': 11.0}, {'span': None}, {'period': 0.0},
    {'period': 'long'}, {'period': 4000.0}, {'harmonics': 0}, {'harmonics': 501},
    {'harmonics': 2.5},
])
def test_values_outside_their_range_are_refused(wrong):
    name, = wrong
    with pytest.raises(DescriptionError, match='filter') as refusal:
        KinematicFilter(**wrong)
    assert {'cutoff': 'cut-off', 'harmonics': 'harmonics'}.get(name, name) in str(refusal.value)


def test_a_series_needs_its_period():
    with pytest.raises(DescriptionError, match='needs the period'):
        KinematicFilter('fourier')
