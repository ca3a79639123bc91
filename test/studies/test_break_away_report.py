# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""The files of break-away tests: text, page and box plots, drawn from the repeats."""

import base64

import numpy as np
import pytest
from robot_identification.errors import UsageError
from robot_identification.studies.break_away.estimate import (
    BreakAwayRun, estimate_break_away, load_break_away,
)
from robot_identification.studies.break_away.options import BreakAwaySettings
from robot_identification.studies.break_away.procedure import BreakAwayRepeat
from robot_identification.studies.break_away.report import (
    BREAK_AWAY_FILES, draw_boxes, save_break_away,
)


@pytest.fixture(scope='module')
def found():
    """Return two joints, one name with what could be markup."""
    rng = np.random.default_rng(0)
    settings = BreakAwaySettings(torque_cap=1.9, torque_limit=4.0, inertia=0.4)
    return [
        estimate_break_away(BreakAwayRun(joint, 'free', settings, tuple(
            BreakAwayRepeat(sign, 1.02 * torque, torque, 0.0, 0.0, torque, 5e-4, 0.095, 0.1)
            for torque in rng.normal(median, 0.02, size=25) for sign in (1, -1)
        )))
        for joint, median in (('arm_joint_1', 1.26), ('<b>wheel</b>', 0.126))
    ]


def test_the_files_tell_the_medians(found, tmp_path):
    """Every joint and direction has its row; names are text, whatever is in them."""
    save_break_away(tmp_path, 'youbot', found, force=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(BREAK_AWAY_FILES)
    text = (tmp_path / 'results.txt').read_text()
    page = (tmp_path / 'report.html').read_text()
    for joint in found:
        for box in joint.boxes.values():
            for content in (text, page):
                assert f'{box.median:#.4g}' in content
        for box in joint.uncorrected.values():
            for content in (text, page):
                assert f'{box.median:#.4g}' in content
    assert max(map(len, text.splitlines())) <= 100
    assert 'Break-away torque of youbot' in text
    assert '<b>wheel' not in page
    assert '&lt;b&gt;wheel' in page
    assert page.count('data:image/png;base64,') == 2
    assert '://' not in page
    robot, read = load_break_away(tmp_path / 'break_away.yaml')
    assert (robot, [joint.run for joint in read]) == ('youbot', [one.run for one in found])


def test_results_are_not_overwritten_without_a_word(found, tmp_path):
    save_break_away(tmp_path, '', found[:1], force=False)
    with pytest.raises(UsageError, match='exists already'):
        save_break_away(tmp_path, '', found[:1], force=False)
    save_break_away(tmp_path, '', found, force=True)
    assert len(load_break_away(tmp_path / 'break_away.yaml')[1]) == 2


def test_the_picture_is_drawn_from_the_repeats(found):
    """It is a PNG that changes with one of them; who does not see it is told all medians."""
    first = draw_boxes(found[0])
    assert base64.b64decode(first.source.partition(',')[2]).startswith(b'\x89PNG')
    assert first.title == 'arm_joint_1'
    assert (
        f'{found[0].boxes[1].median:.3f} N m in direction + (uncorrected '
        f'{found[0].uncorrected[1].median:.3f} N m)'
    ) in first.alternative
    moved = {1: found[0].values[1].copy(), -1: found[0].values[-1]}
    moved[1][3] += 0.05
    other = draw_boxes(type(found[0])(
        found[0].run, found[0].correction, moved, found[0].boxes, found[0].uncorrected, ()
    ))
    assert other.source != first.source
