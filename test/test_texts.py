# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Texts of strangers, and errors with their names, neither steer a terminal nor fill it."""

from builders import joint_states, run_command, two_link_urdf, write_bag
from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest
from robot_identification.errors import DataError, DescriptionError, IdentificationError
from robot_identification.model.urdf import parse_urdf
from robot_identification.texts import csv_cell, LONGEST_LINE, MOST_LINES, shown


@given(st.text())
def test_what_is_shown_has_line_breaks_and_printable_letters_only(text):
    found = shown(text)
    assert found.replace('\n', '').isprintable()
    assert found.count('\n') == text.count('\n')


@given(st.text(alphabet=st.characters(exclude_categories=('C', 'Z')), max_size=LONGEST_LINE))
def test_a_usual_text_is_shown_as_it_is(text):
    assert shown(text) == text


def test_an_endless_text_is_shown_with_its_ends_and_what_is_left_out():
    found = shown('a' * 5_000_000 + 'b')
    assert found.startswith('aaa') and found.endswith('ab')
    assert f'({5_000_001 - LONGEST_LINE} characters)' in found
    assert len(found) < LONGEST_LINE + 50
    lines = shown('a\n' * 1_000_000).split('\n')
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == f'.. and {1_000_001 - MOST_LINES} more lines'
    error = str(DataError(f'no joint {", ".join(["elbow"] * 500_000)}: choose'))
    assert error.startswith('no joint elbow, elbow') and error.endswith('elbow: choose')
    assert len(error) < LONGEST_LINE + 50


@given(st.text())
def test_no_text_is_a_formula(text):
    """A spreadsheet calculates what begins with one of four letters; nothing is lost of it."""
    cell = csv_cell(text)
    assert not cell.startswith(('=', '+', '-', '@'))
    assert cell.isprintable()
    assert len(cell) == len(text) + text.startswith(('=', '+', '-', '@'))


def test_doctor_shows_no_letter_of_a_name_that_steers_a_terminal(tmp_path):
    """Names of a megabyte with escapes, zeros and lines that look like ours."""
    names = ['\x1b[2J\x07', 'a\x00b', 'c\n  usable', 'long' * 250_000]
    times = 0.01 * np.arange(200)
    values = np.random.default_rng(1).normal(size=(200, 4))
    bag = write_bag(
        tmp_path / 'bag', joint_states(names, times, values, values, values),
        {'robot': '\x1b]0;title\x07'},
    )
    found = run_command('doctor', bag)
    assert found.code == 0, found.err
    assert found.out.replace('\n', '').isprintable()
    assert [line for line in found.out.splitlines() if line == '  usable'] == ['  usable']
    assert len(found.out) < 30 * LONGEST_LINE
    assert found.err == ''


@given(text=st.text())
def test_an_error_cannot_forge_a_line_or_steer_a_terminal(text):
    """Every letter can be printed, and a line after the first one begins with spaces."""
    said = str(DataError(text))
    first, *others = said.split('\n')
    assert all(line.isprintable() for line in (first, *others))
    assert all(line.startswith('  ') for line in others)
    # An error within an error says the same.
    assert str(IdentificationError(said)) == said


def test_plain_messages_stay_as_they_are():
    assert str(DataError('joint ä: 3.0 > 2.0\n  in line 3')) == 'joint ä: 3.0 > 2.0\n  in line 3'
    assert str(DataError()) == ''


@pytest.mark.parametrize('name', ['a&#10;[ERROR] b', 'a&#9;b', 'a\u200bb', 'a\u202eb'])
def test_names_of_a_urdf_can_be_printed(name):
    """Line breaks, tabs, and what turns or hides text are refused where names enter."""
    with pytest.raises(DescriptionError, match=r'cannot be printed'):
        parse_urdf(two_link_urdf(name=name), 'text')
