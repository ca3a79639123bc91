# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What people type: positional descriptions, result folders, units, and misspelt words."""

import json
import math

from builders import refusal, run_command
from hypothesis import given
from hypothesis import strategies as st
import pytest
from recordings import write_small_arm
from robot_identification.cli.command import MOST_USAGE_LINES
from robot_identification.cli.main import parse_arguments
from robot_identification.options import angle, duration

UNITS = {'': 1.0, 's': 1.0, 'ms': 1e-3, 'm': 60.0, 'min': 60.0, 'h': 3600.0}


@given(st.floats(-1e6, 1e6), st.sampled_from(list(UNITS)))
def test_times_have_their_unit_behind_them(value, unit):
    assert duration(f'{value!r}{unit}') == pytest.approx(value * UNITS[unit], rel=1e-15)


@given(st.floats(-720.0, 720.0))
def test_angles_may_be_in_degrees(value):
    assert angle(f'{value!r}deg') == pytest.approx(math.radians(value), rel=1e-15)
    assert angle(repr(value)) == value


@pytest.mark.parametrize(('typed', 'hint'), [
    (('identfy',), 'did you mean identify?'),
    (('identify', 'bag', '--frction', 'none', '-o', 'x'), 'did you mean --friction?'),
    (('identify', 'bag', '--estimator', 'wsl', '-o', 'x'), 'did you mean wls?'),
    (('identify', 'bag', '--robot', 'ur5ee', '-o', 'x'), 'did you mean ur5e?'),
    (('excite', '--robot', 'ur5', '--experiment', 'dmo', '-o', 'x'), 'did you mean demo?'),
    (('excite', '--robot', 'ur5', '--time-limit', '1d', '-o', 'x'), "'1d' is not a time"),
])
@pytest.mark.parametrize('as_json', [False, True])
def test_an_error_comes_first_and_suggests(typed, hint, as_json):
    """Then where help is; with --json it is an object on stdout, too."""
    outcome = run_command(*typed, *(['--json'] if as_json else []))
    assert outcome.code == 2
    first, *others = outcome.err.splitlines()
    assert first.startswith('error: ') and hint in first
    if others:
        command = f' {typed[0]}' if typed[0] != 'identfy' else ''
        assert others[-1] == f'robot-identification{command} --help explains every option'
        assert len(others) <= MOST_USAGE_LINES + 1, 'the error stays in view'
    if as_json:
        content = json.loads(outcome.out)
        assert hint in content['error'] and content['exit_code'] == 2
    else:
        assert outcome.out == ''


@pytest.mark.parametrize('name', ['arm.urdf', 'arm.yaml'])
def test_an_arm_needs_no_option_in_front(tmp_path, name):
    """A URDF or a robot YAML among the words is the arm; with one more it is refused."""
    write_small_arm(tmp_path)
    option = '--urdf' if name.endswith('urdf') else '--robot'
    plain, named = (
        run_command('base-parameters', *words, '--json')
        for words in ((tmp_path / name,), (option, tmp_path / name))
    )
    assert plain.code == named.code == 0, plain.err
    assert plain.out == named.out
    refusal('base-parameters', tmp_path / name, option, tmp_path / name)


def test_a_result_folder_stands_for_its_model(tmp_path):
    (tmp_path / 'identified_model.yaml').touch()
    for command in ('validate', 'export', 'predict', 'payload'):
        args = parse_arguments([
            command, str(tmp_path), *([] if command == 'export' else ['bag', '-o', 'x']),
        ])
        assert args.model == tmp_path / 'identified_model.yaml'
    assert parse_arguments(['export', str(tmp_path / 'none')]).model == tmp_path / 'none'
