# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Repeats of a break-away test: against NumPy and Matplotlib; their file."""

from dataclasses import replace
import math

from builders import changed, DELETE
from hypothesis import given, settings, strategies as st
from matplotlib.cbook import boxplot_stats
import numpy as np
import pytest
from robot_identification.errors import DescriptionError, UsageError
from robot_identification.files import dump_yaml, to_plain
from robot_identification.studies.break_away.estimate import (
    box_statistics, break_away_content, BreakAwayRun, corrected_torque, estimate_break_away,
    largest_excess, load_break_away,
)
from robot_identification.studies.break_away.options import BreakAwaySettings
from robot_identification.studies.break_away.procedure import BreakAwayRepeat
import scipy

SETTINGS = BreakAwaySettings(torque_cap=1.9, torque_limit=4.0, inertia=0.4)


def repeat(direction=1, torque=1.3, **changes):
    return BreakAwayRepeat(**{
        'direction': direction, 'torque': torque, 'measured': torque, 'gravity': 0.0,
        'position': 0.01, 'onset_torque': 1.28, 'onset_travel': 5e-4, 'ramp_rate': 0.095,
        'acceleration': 0.3, **changes,
    })


def run_of(up, down, **changes):
    return BreakAwayRun(
        'arm_joint_1', 'free', SETTINGS,
        tuple(repeat(sign, torque) for pair in zip(up, down, strict=True)
              for sign, torque in zip((1, -1), pair, strict=True)),
        **changes,
    )


@settings(max_examples=50)
@given(st.lists(st.floats(-5.0, 5.0).map(lambda x: round(x, 3)), min_size=2, max_size=60))
def test_boxes_are_those_of_others(values):
    """Quartiles as NumPy's, their range as SciPy's, whiskers and outliers as Matplotlib's."""
    box = box_statistics(np.array(values))
    assert (box.lower_quartile, box.median, box.upper_quartile) == tuple(
        np.percentile(values, [25, 50, 75])
    )
    assert box.interquartile_range == pytest.approx(scipy.stats.iqr(values), abs=1e-12)
    # Matplotlib lets whiskers end at a quartile where there is no value between.
    (drawn,) = boxplot_stats(values, whis=1.5)
    assert min(box.lower_whisker, box.lower_quartile) == pytest.approx(drawn['whislo'], abs=1e-12)
    assert max(box.upper_whisker, box.upper_quartile) == pytest.approx(drawn['whishi'], abs=1e-12)
    assert list(box.outliers) == sorted(drawn['fliers'])
    assert box.count == len(values)


@pytest.mark.parametrize('travel', [1e-5, 1e-3])
def test_corrections_are_exact_where_friction_is_constant(travel):
    """A ramp beyond constant friction: x = r t^3 / (6 I), v = r t^2 / (2 I), v' = r t / I."""
    # Both corrections return the friction; without one the excess is the largest there can be.
    friction, inertia, rate = 1.26, SETTINGS.inertia, SETTINGS.rate
    at_threshold = math.sqrt(2.0 * inertia * SETTINGS.threshold / rate)
    at_onset = (6.0 * inertia * travel / rate)**(1.0 / 3.0)
    one = repeat(
        torque=friction + rate * at_threshold, acceleration=rate * at_threshold / inertia,
        onset_torque=friction + rate * at_onset, onset_travel=travel, ramp_rate=rate,
    )
    for correction in ('inertia', 'onset'):
        assert corrected_torque(one, inertia, correction) == pytest.approx(friction, rel=1e-12)
    assert corrected_torque(one, inertia, 'none') - friction == pytest.approx(
        largest_excess(SETTINGS), rel=1e-12
    )
    with pytest.raises(UsageError, match='no correction'):
        corrected_torque(one, inertia, 'magic')


@pytest.fixture
def content():
    found = [
        estimate_break_away(run_of([1.2, 1.3, 1.25], [1.2, 1.3, 1.27], aborted='by hand')),
        estimate_break_away(
            replace(run_of([0.2, 0.3], [0.2, 0.3]), joint='arm_joint_5'), correction='onset'
        ),
    ]
    return to_plain(break_away_content('youbot', found)), found


def test_the_file_comes_back(content, tmp_path):
    written, found = content
    path = tmp_path / 'break_away.yaml'
    path.write_text(dump_yaml(written))
    robot, read = load_break_away(path)
    assert robot == 'youbot'
    assert [joint.run for joint in read] == [joint.run for joint in found]
    assert [joint.boxes for joint in read] == [joint.boxes for joint in found]
    assert [joint.uncorrected for joint in read] == [joint.uncorrected for joint in found]
    assert [entry['uncorrected_torque'] for entry in written['joints']] == [
        joint.uncorrected_torque for joint in found
    ]
    assert [joint.notes for joint in read] == [joint.notes for joint in found]
    assert to_plain(break_away_content(robot, read)) == written


@pytest.mark.parametrize(('path', 'value', 'words'), [
    (('schema_version',), 7, 'schema_version is 7'),
    (('robot',), DELETE, 'missing robot'),
    (('joints', 0, 'gravity'), 'none', "gravity is 'none'"),
    (('joints', 0, 'settings', 'threshold'), -1.0, 'threshold is -1'),
    (('joints', 0, 'repeats', 0, 'ramp_rate'), 1e200, 'an entry is damaged'),
    (('joints', 0, 'repeats', 0, 'direction'), 0, 'a direction is 0'),
    (('joints', 1, 'correction'), 'magic', "no correction 'magic'"),
])
def test_damaged_files_are_refused_in_words(content, tmp_path, path, value, words):
    file = tmp_path / 'break_away.yaml'
    file.write_text(dump_yaml(changed(content[0], (*path, value))))
    with pytest.raises(DescriptionError, match=words):
        load_break_away(file)
