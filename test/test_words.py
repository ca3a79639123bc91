# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Words of the field, and texts that neither steer a terminal nor fill it."""

from pathlib import Path
import re

from hypothesis import given, strategies as st
from robot_identification.errors import DataError, IdentificationError
from robot_identification.texts import csv_cell, LONGEST_LINE, MOST_LINES, shown

ROOT = Path(__file__).resolve().parents[1]
# With what is said instead.
ODD = {
    r'([Nn]o|[Ss]ome|[Aa]ny|[Ee]very)body': 'name the role: operator, publisher, subscriber',
    r'[Ss]trangers?': 'untrusted source',
    r'told (apart|from)': 'distinguished',
    r'[Mm]end(s|ed)?': 'repair, prevent',
    r'warmth': 'temperature',
    r'counts? as touched': 'contact is detected',
    r'(general|linear|maxim|minim|normal|optim|penal|quant|serial)is(e[drs]?|ing|ation)': '-ize',
    r'bodies that can exist': 'physically consistent bodies',
    r'[Ll]ean(s|ing)? on the URDF': 'regularize towards the URDF',
    r'(?<!~/)[Aa]dvice': 'recommendation',
    r'[Dd]oubt(s|ed|ful|fully)?': 'warning, question, uncertain',
    r'(is|are|was|were|be|been) (not )?told': 'is given, is commanded, is stated',
    r'[Ww]hat may': 'name what it is',
    r'Who|(for|only|to) who': 'name the role: operator, publisher, subscriber, or use the passive',
    r'beyond all measure': 'unbounded',
    r'locked where': 'held fixed',
    r'(is|was) no number': 'is not a number, is undefined',
}
# Also, but in the pages of the papers, which are made of stored results.
ODD_BESIDES = {
    r'[Ww]ho(ever|m)?': 'name the role: operator, publisher, subscriber, or use the passive',
    r'[Ww](hat|hich)ever': 'any, every, for all',
    r'(counts?|good) for nothing': 'has no effect',
    r'turn(s|ed)? round': 'reverses',
    r'[Aa]gain and again': 'repeatedly',
    r'no safety function': 'not a safety function',
    r'[Oo]f no (matter|use)': 'without effect, not usable',
    r'(cannot|not to) be had': 'is not available',
}
SOURCES = sorted([
    *(ROOT / 'robot_identification').rglob('*.py'), *(ROOT / 'launch').glob('*.py'),
])
PAGES = sorted([
    *ROOT.glob('*.md'), *(ROOT / 'docs').rglob('*.md'), *(ROOT / 'config').rglob('*.yaml'),
    *(ROOT / 'robot_identification').rglob('*.j2'),
])
CODE = re.compile(r'`[^`]*`')


def odd_words(text, words):
    if not re.search(rf'\b({"|".join(words)})\b', text):
        return []
    return [
        f'line {number}: {match.group()}; better: {better}'
        for number, line in enumerate(text.splitlines(), 1)
        for word, better in words.items()
        for match in re.finditer(rf'\b({word})\b', line)
    ]


def test_the_words_of_the_field_are_used():
    """In names, docstrings, comments, help and messages; in pages outside of code."""
    found = {
        str(path.relative_to(ROOT)): odd
        for path in (*SOURCES, *PAGES)
        if (odd := odd_words(
            path.read_text() if path.suffix == '.py' else CODE.sub('', path.read_text()),
            ODD if path.parent.name == 'reproductions' else ODD | ODD_BESIDES,
        ))
    }
    assert found == {}


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
