# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Words of the field, and texts that neither steer a terminal nor fill it."""

from hypothesis import given, strategies as st
from robot_identification.errors import DataError, IdentificationError
from robot_identification.texts import csv_cell, LONGEST_LINE, MOST_LINES, shown


@given(st.text())
def test_what_is_shown_has_line_breaks_and_printable_letters_only(text):
    found = shown(text)
    assert found.replace('\n', '').isprintable()
    assert found.count('\n') == text.count('\n')


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


@given(text=st.text())
def test_an_error_cannot_forge_a_line_or_steer_a_terminal(text):
    """Every letter can be printed, and a line after the first one begins with spaces."""
    said = str(DataError(text))
    first, *others = said.split('\n')
    assert all(line.isprintable() for line in (first, *others))
    assert all(line.startswith('  ') for line in others)
    # An error within an error says the same.
    assert str(IdentificationError(said)) == said


@given(st.text())
def test_no_text_is_a_formula(text):
    """A spreadsheet calculates what begins with one of four letters; nothing is lost of it."""
    cell = csv_cell(text)
    assert not cell.startswith(('=', '+', '-', '@'))
    assert cell.isprintable()
    assert len(cell) == len(text) + text.startswith(('=', '+', '-', '@'))
