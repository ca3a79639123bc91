# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""Numeric constants of modules say in a comment what they are: unit, and where they come from."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def is_numeric(node):
    """Return whether a value is made of numbers alone, so that its name says not enough."""
    parts = list(ast.walk(node))
    constants = [part.value for part in parts if isinstance(part, ast.Constant)]
    return all(not isinstance(part, (ast.Call, ast.Subscript)) for part in parts) and bool(
        constants
    ) and all(isinstance(value, (int, float)) for value in constants)


def bare_constants(text):
    """Return the names without a comment at their end, or above them and their neighbours."""
    lines, bare = text.splitlines(), []
    for node in ast.parse(text).body:
        target = getattr(node, 'target', None) or next(iter(getattr(node, 'targets', [])), None)
        name = getattr(target, 'id', '')
        if not (isinstance(node, (ast.Assign, ast.AnnAssign)) and name.isupper()
                and node.value is not None and is_numeric(node.value)):
            continue
        block = node.lineno - 1
        while block and lines[block - 1].strip() and not lines[block - 1].startswith('#'):
            block -= 1
        is_said = block and lines[block - 1].startswith('#')
        if not is_said and not any('#' in line for line in lines[node.lineno - 1:node.end_lineno]):
            bare.append(name)
    return bare


def test_numeric_constants_say_unit_and_source():
    """All but those in a block of constants that has one comment."""
    found = {
        str(path.relative_to(ROOT)): bare
        for path in sorted((ROOT / 'robot_identification').rglob('*.py'))
        if (bare := bare_constants(path.read_text(encoding='utf-8')))
    }
    assert found == {}


@pytest.mark.parametrize(('text', 'bare'), [
    ('LIMIT = 3.0', ['LIMIT']),
    ('LIMIT = 3.0  # [s]; chosen', []),
    ('# Longest pause [s]; chosen.\nLIMIT = 3.0\nOTHER = 4', []),
    ('# Something else.\n\nLIMIT = (1, 2)', ['LIMIT']),
    ('NAME = "text"\nlower = 3.0\nSUM = sum([1, 2])', []),
])
def test_a_bare_constant_is_found(text, bare):
    """The check can fail."""
    assert bare_constants(text) == bare
