# Copyright 2026 The robot_identification developers
# SPDX-License-Identifier: Apache-2.0

"""What is public says what it is."""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / 'robot_identification'


def undocumented(node: ast.Module | ast.ClassDef, name: str) -> Iterator[str]:
    """Yield the public names in a module or class that have no docstring, itself included."""
    if not ast.get_docstring(node):
        yield name
    for child in node.body:
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if child.name.startswith('_'):
                continue
            inner = f'{name}.{child.name}'
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, inner)
            elif not ast.get_docstring(child):
                yield inner


def test_every_public_name_has_a_docstring():
    """Modules, classes, functions and methods that do not begin with an underscore."""
    paths = sorted(PACKAGE.rglob('*.py'))
    assert len(paths) > 150
    assert [
        lost for path in paths
        for lost in undocumented(
            ast.parse(path.read_text(encoding='utf-8')),
            path.relative_to(PACKAGE.parent).with_suffix('').as_posix().replace('/', '.'),
        )
    ] == []
