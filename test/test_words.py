# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Words that the field does not use: not in the package, its messages, its pages and reports."""

import ast
from pathlib import Path
import re

ROOT = Path(__file__).resolve().parents[1]
# With what is said instead.
ODD = {
    r'[Nn]obody|[Ss]omebody': 'name the role: operator, publisher, subscriber, or use the passive',
    r'[Ss]trangers?': 'untrusted source',
    r'told (apart|from)': 'distinguished',
    r'[Mm]end(s|ed)?': 'repair, prevent',
    r'warmth': 'temperature',
    r'counts? as touched': 'contact is detected',
    r'(general|linear|maxim|minim|normal|optim|penal|quant|serial)is(e[drs]?|ing|ation)': '-ize',
    r'bodies that can exist': 'physically consistent bodies',
    r'lean(s|ing)? on the URDF': 'regularize towards the URDF',
    r'raviola_wls': 'limit_weighted',
}
OPENING = re.compile(r'(What|Who|Whether|How|Tell|Let)\b')
SOURCES = sorted([
    *(ROOT / 'robot_identification').rglob('*.py'), *(ROOT / 'launch').glob('*.py'),
])
PAGES = sorted([
    *ROOT.glob('*.md'), *(ROOT / 'docs').rglob('*.md'), *(ROOT / 'config').rglob('*.yaml'),
    *(ROOT / 'robot_identification').rglob('*.j2'),
])
CODE = re.compile(r'`[^`]*`')


def odd_words(text):
    """Return odd words with the lines they stand in."""
    return [
        f'line {number}: {match.group()}; better: {better}'
        for number, line in enumerate(text.splitlines(), 1)
        for word, better in ODD.items()
        for match in re.finditer(rf'\b({word})\b', line)
    ]


def test_the_words_of_the_field_are_used():
    """In names, docstrings, comments, help and messages; in pages outside of code."""
    found = {
        str(path.relative_to(ROOT)): odd
        for path in (*SOURCES, *PAGES)
        if (odd := odd_words(
            path.read_text() if path.suffix == '.py' else CODE.sub('', path.read_text())
        ))
    }
    assert found == {}


def test_docstrings_say_what_is_done_or_what_it_is():
    """In the imperative for functions, a noun for classes and modules; no question words."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    found = {
        (str(path.relative_to(ROOT)), getattr(node, 'name', 'module')): first
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)
        for first in (ast.get_docstring(node) or '').splitlines()[:1] if OPENING.match(first)
    }
    assert found == {}
